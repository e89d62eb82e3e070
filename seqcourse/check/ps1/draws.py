"""Exercise 5: drawing the next character, a function whose result is random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check import core
from seqcourse.check.core import Likely, Mistake

DRAWS = 20_000  # so many draws that a frequency is within 0.015 of its probability


def draw_calls(logits: Tensor, temperature: float, seed: int) -> dict[str, dict[str, Any]]:
    """The calls that tell how `draw` draws: the same row many times, twice with one seed, ...

    logits: one row, (V,), float64.
    """

    def call(rows: Tensor, tau: float, number: int) -> dict[str, Any]:
        generator = torch.Generator().manual_seed(number)
        return {"logits": rows, "temperature": tau, "generator": generator}

    size = len(logits)
    return {
        "many": call(logits.expand(DRAWS, size).clone(), temperature, seed),
        "again": call(logits.expand(DRAWS, size).clone(), temperature, seed),
        "other": call(logits.expand(DRAWS, size).clone(), temperature, seed + 1),
        "one": call(logits[None].float(), temperature, seed),
        "rows": call(50.0 * torch.eye(size, dtype=torch.float64).flip(0), 1.0, seed),
        "cold": call(10.0 * logits.expand(3, size).clone(), 0.001, seed),
        "none": {"logits": logits[None].clone(), "temperature": 1.0, "generator": None},
    }


def _frequency_question(found: Tensor, logits: Tensor, temperature: float) -> str:
    """Which mistake gives these frequencies?"""
    size = len(logits)
    mistakes = {
        "Did you multiply by the temperature? Divide by it.": (logits * temperature).softmax(-1),
        "Is the temperature missing, or applied after the softmax? It divides the logits.": (
            logits.softmax(-1)
        ),
        "Do you take the likeliest entry (argmax)? It should be a random draw.": (
            torch.nn.functional.one_hot(logits.argmax(), size).double()
        ),
        "Are all entries equally likely? Perhaps the softmax is over the batch: dim=-1.": (
            torch.full((size,), 1 / size, dtype=torch.float64)
        ),
        "Is the sign wrong? Large logits should be likely.": (-logits / temperature).softmax(-1),
    }
    for question, probabilities in mistakes.items():
        if (found - probabilities).abs().max() < 0.02:
            return question
    return "The probabilities are softmax(logits / temperature)."


NO_SOFTMAX = Likely(
    "torch.multinomial wants probabilities: is the softmax missing?",
    lambda logits, tau, generator: torch.multinomial(logits / tau, 1, generator=generator),
)
OVERFLOW = Likely(
    "A temperature of 0.001 makes exp(logits / temperature) overflow: use torch.softmax, or "
    "subtract the largest logit first.",
    lambda logits, tau, generator: torch.multinomial(
        (logits / tau).exp() / (logits / tau).exp().sum(dim=-1, keepdim=True), 1
    ),
)


def judge_draw(found: Mapping[str, numpy.ndarray], made: Mapping[str, dict[str, Any]]) -> None:
    """Judge the calls of `draw_calls` from what `core.record` wrote down; raise Mistake."""
    draws = {name: core.result(found, f"{name}.result") for name in made}
    for name, given in made.items():
        core.unchanged("draw", found, given, f"{name}.")
        if name != "cold":
            _check_entries(draws[name], given, NO_SOFTMAX)
    _check_shares(draws["many"], made["many"])
    if torch.equal(draws["many"], draws["other"]):
        raise Mistake("draw: two seeds give the same draws. Is a seed fixed inside?")
    if not torch.equal(draws["many"], draws["again"]):
        raise Mistake("draw: the same seed gives other draws each time. Do you pass the generator on?")
    if not torch.equal(draws["rows"], made["rows"]["logits"].argmax(dim=-1)):
        raise Mistake(
            "draw: rows with quite different logits get the wrong draws. "
            "Is every row drawn from its own probabilities?"
        )
    _check_entries(draws["cold"], made["cold"], OVERFLOW)
    if not torch.equal(draws["cold"], made["cold"]["logits"].argmax(dim=-1)):
        raise Mistake(
            "draw: at temperature 0.001 every draw should be the likeliest entry. " + OVERFLOW.question
        )


def _check_entries(got: Any, given: Mapping[str, Any], likely: Likely) -> None:
    """Raise Mistake unless `got` holds one entry's number per row, whichever it is."""
    rows, size = given["logits"].shape
    if isinstance(got, Tensor) and got.shape == (rows,):
        if got.dtype != torch.int64 or got.min() < 0 or got.max() >= size:
            raise Mistake(
                f"draw: the result should be numbers of entries, int64 from 0 to {size - 1}, "
                f"but is {got.dtype} from {got.min()} to {got.max()}."
            )
        return
    anything = torch.zeros(rows, dtype=torch.int64)
    core.compare("draw", got, anything, given.values(), [likely])


def _check_shares(draws: Tensor, given: Mapping[str, Any]) -> None:
    """Raise Mistake unless every entry comes up as often as its probability says."""
    logits, temperature = given["logits"][0], given["temperature"]
    shares = torch.bincount(draws, minlength=len(logits)).double() / len(draws)
    wanted = (logits / temperature).softmax(-1)
    if (shares - wanted).abs().max() > 0.02:
        worst = int((shares - wanted).abs().argmax())
        raise Mistake(
            f"draw: at temperature {temperature} entry {worst} should come up in "
            f"{wanted[worst]:.1%} of {len(draws)} draws, but came up in {shares[worst]:.1%}. "
            + _frequency_question(shares, logits, temperature)
        )


def draw(student: Callable[..., Tensor]) -> None:
    """Check exercise 5: drawing with a temperature."""
    logits = torch.tensor([0.3, -1.0, 1.4, 0.8], dtype=torch.float64)
    found: dict[str, numpy.ndarray] = {}
    for name, given in draw_calls(logits, temperature=0.6, seed=3).items():
        found |= core.record(student, given, f"{name}.")
    judge_draw(found, draw_calls(logits, temperature=0.6, seed=3))
    print(f"✓ draw: {DRAWS} draws, seeds, rows, a batch of 1, a low temperature: all as expected.")
