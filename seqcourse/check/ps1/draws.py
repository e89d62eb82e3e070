"""Exercise 5: drawing the next character, a function whose result is random."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Likely, Mistake, compare
from seqcourse.check.calls.inputs import handed_on
from seqcourse.check.calls.recording import unchanged
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.told.discreet import is_discreet

DRAWS = 20_000  # so many draws that a frequency is within 0.015 of its probability
FEW = 500  # enough to tell two seeds apart; more would keep an answer busy that draws row by row
# The calls that tell how `draw` draws, and the kind of input in words; the small ones come first.
CALLS = {
    "one": "a batch of one",
    "none": "no generator",
    "fresh": "no generator, once more",
    "rows": "rows with quite different logits",
    "many": "many draws from the same row",
    "few": "some draws of many entries, with a seed",
    "again": "the same draws with the same seed",
    "other": "the same draws with another seed",
    "cold": "a temperature close to 0",
}


def draw_cases(seed: int) -> dict[str, dict[str, Any]]:
    """The calls of a hidden check: all from one row of logits, so from one seed."""
    return {kind: {"call": call, "seed": seed} for call, kind in CALLS.items()}


def draw_arguments(call: str, seed: int) -> dict[str, Any]:
    """Arguments of `draw` for one of CALLS, with logits that come from the seed."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.tensor([-1.3, -0.4, 0.2, 0.9, 1.5], dtype=torch.float64)
    return _call(call, logits[torch.randperm(5, generator=generator)], 0.7, seed)


def _call(call: str, logits: Tensor, temperature: float, seed: int) -> dict[str, Any]:
    """The arguments of one of CALLS; logits is one row, (V,)."""
    size = len(logits)
    number: int | None = seed
    if call == "one":
        rows = logits[None].float()
    elif call in ("none", "fresh"):
        rows, temperature, number = logits.expand(60, size).clone(), 1.0, None
    elif call == "rows":
        rows, temperature = 50.0 * torch.eye(size, dtype=torch.float64).flip(0), 1.0
    elif call == "cold":
        rows, temperature = 5 + 0.1 * logits.expand(40, size), 0.001  # forty times right is no luck
    elif call == "many":
        rows = logits.expand(DRAWS, size).clone()
    else:  # so many entries, all of them nearly as likely, that some are left out by who takes the best
        rows, number = (0.1 * logits).repeat(FEW, 6), seed + (call == "other")
    generator = None if number is None else handed_on(number)
    return {"logits": rows, "temperature": temperature, "generator": generator}


def _frequency_question(found: Tensor, logits: Tensor, temperature: float) -> str:
    """Which mistake gives these frequencies?"""
    size = len(logits)
    mistakes = {
        "Did you multiply by the temperature? Divide by it.": (logits * temperature).softmax(-1),
        "Is the temperature missing, or applied after the softmax? It divides the logits.": (
            logits.softmax(-1)
        ),
        "Are all entries equally likely? Perhaps the softmax is over the batch: dim=-1.": (
            torch.full((size,), 1 / size, dtype=torch.float64)
        ),
        "Are these places among the sorted probabilities? The entries' own numbers are asked for.": (
            (logits / temperature).softmax(-1).sort(descending=True).values
        ),
        "Is the sign wrong? Large logits should be likely.": (-logits / temperature).softmax(-1),
    }
    if found.max() == 1:  # the one random number of all rows may have drawn the likeliest entry
        likeliest = int(found.argmax()) == int(logits.argmax())
        argmax = ", or do you take the likeliest entry (argmax)" if likeliest else ""
        return f"Do all rows share one random number{argmax}? Each row draws its own."
    for question, probabilities in mistakes.items():
        if (found - probabilities).abs().max() < 0.02:
            return question
    return "The probabilities are softmax(logits / temperature)."


NO_SOFTMAX = Likely(
    "torch.multinomial wants probabilities: is the softmax missing?",
    lambda logits, tau, generator: torch.multinomial(logits / tau, 1, generator=generator),
)
OVERFLOW = Likely(
    "A temperature close to 0 makes exp(logits / temperature) overflow: use torch.softmax, or "
    "subtract the largest logit first.",
    lambda logits, tau, generator: torch.multinomial(
        (logits / tau).exp() / (logits / tau).exp().sum(dim=-1, keepdim=True), 1
    ),
)


def judge_draw(found: Found, made: Mapping[str, dict[str, Any]]) -> None:
    """Judge all of CALLS from what `record` wrote down; raise Mistake.

    made: kind of input -> arguments, in the order of CALLS; the arrays of call k begin with "k.".
    """
    calls = dict(zip(CALLS, made.values(), strict=True))
    draws = {call: result(found, f"{k}.result") for k, call in enumerate(CALLS)}
    for k, (call, given) in enumerate(calls.items()):
        unchanged("draw", found, given, f"{k}.")
        if call != "cold":
            _check_entries(call, draws[call], given, NO_SOFTMAX)
    _check_shares(draws["many"], calls["many"])
    if torch.equal(draws["few"], draws["other"]):
        raise Mistake("draw: two seeds give the same draws.", "Is a seed fixed inside?")
    if not torch.equal(draws["few"], draws["again"]):
        raise Mistake(
            "draw: the same seed gives other draws each time.", "Do you pass the generator on?"
        )
    if torch.equal(draws["none"], draws["fresh"]):
        raise Mistake("draw: without a generator the draws never change.", "Is a seed fixed inside?")
    if len(torch.cat([draws["few"], draws["other"]]).unique()) < calls["few"]["logits"].shape[1]:
        raise Mistake(
            "draw: some of many entries never come up.", "Are only the likeliest ones drawn from?"
        )
    if not torch.equal(draws["rows"], calls["rows"]["logits"].argmax(dim=-1)):
        raise Mistake(
            "draw: rows with quite different logits get the wrong draws.",
            "Is every row drawn from its own probabilities?",
        )
    _check_entries("cold", draws["cold"], calls["cold"], OVERFLOW)
    if not torch.equal(draws["cold"], calls["cold"]["logits"].argmax(dim=-1)):
        raise Mistake(
            "draw: at a temperature close to 0 every draw should be the likeliest entry.",
            "Is the temperature kept away from 0, or does exp(logits / temperature) overflow?",
        )


def _check_entries(call: str, got: Any, given: Given, likely: Likely) -> None:
    """Raise Mistake unless `got` holds one entry's number per row, whichever it is."""
    rows, size = given["logits"].shape
    name = f"draw ({CALLS[call]})"
    if not (isinstance(got, Tensor) and got.shape == (rows,)):
        compare(name, got, torch.zeros(rows, dtype=torch.int64), given.values(), [likely])
    if got.dtype != torch.int64:
        raise Mistake(f"{name}: the result should be numbers of entries, int64, but is {got.dtype}.")
    if got.min() < 0 or got.max() >= size:
        raise Mistake(
            f"{name}: the result should be numbers of entries, from 0 to V - 1, but goes beyond."
        )


def _check_shares(draws: Tensor, given: Given) -> None:
    """Raise Mistake unless every entry comes up as often as its probability says."""
    logits, temperature = given["logits"][0], given["temperature"]
    shares = torch.bincount(draws, minlength=len(logits)).double() / len(draws)
    wanted = (logits / temperature).softmax(-1)
    if (shares - wanted).abs().max() > 0.02:
        worst = int((shares - wanted).abs().argmax())
        told = "many draws show other probabilities than the logits and the temperature give."
        if not is_discreet():
            told = (
                f"at temperature {temperature} entry {worst} should come up in {wanted[worst]:.1%} "
                f"of {len(draws)} draws, but came up in {shares[worst]:.1%}."
            )
        raise Mistake(f"draw: {told}", _frequency_question(shares, logits, temperature))


_ROW = torch.tensor([0.3, -1.0, 1.4, 0.8], dtype=torch.float64)
draw = Exercise(
    "draw",
    make=draw_arguments,
    judge_all=judge_draw,
    cases={kind: partial(_call, call, _ROW, temperature=0.6, seed=3) for call, kind in CALLS.items()},
    variants={"draw": {"cases": draw_cases}},
)
