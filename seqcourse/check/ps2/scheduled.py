"""Exercise 6: scheduled sampling, a run in which a coin says what the decoder hears."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Mistake, Stopped, compare, is_right
from seqcourse.check.calls.gradients import compare_gradients, gradients, place_in_words
from seqcourse.check.calls.inputs import handed_on, normal
from seqcourse.check.calls.naming import explaining
from seqcourse.check.calls.recording import unchanged
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside.ps2 import TRAINED, record_scheduled
from seqcourse.check.ps2.decoders import Step, plain_decoder
from seqcourse.check.ps2.losses import sentences, unroll
from seqcourse.check.told.discreet import is_discreet

NAME = "scheduled_sampling"


# The calls that tell what a decoder hears, and the kind of input in words.
CALLS = {
    "truth": "epsilon 1: the truth only",
    "own": "epsilon 0: own words only",
    "one": "epsilon 0, a batch of one",
    "none": "no generator",
    "fresh": "no generator, once more",
    "many": "many coins",
    "again": "the same coins with the same seed",
    "other": "the same coins with another seed",
    "rare": "an epsilon below a half",
}


def scheduled_cases(seed: int) -> dict[str, dict[str, Any]]:
    """The calls of a hidden check: all of them from one seed."""
    return {kind: {"call": call, "seed": seed} for call, kind in CALLS.items()}


def scheduled_arguments(call: str, seed: int = 0) -> dict[str, Any]:
    """Arguments of `scheduled_sampling` for one of CALLS."""
    batch, words, epsilon, v, shift = {
        "truth": (3, 5, 1.0, 7, 0),
        "own": (3, 5, 0.0, 7, 0),
        "one": (1, 6, 0.0, 7, 1),
        "none": (1, 40, 0.5, 7, 0),
        "fresh": (1, 40, 0.5, 7, 0),
        "rare": (200, 20, 0.2, 9, 2),
    }.get(call, (300, 20, 0.7, 7, 0))
    generator = None if call in ("none", "fresh") else handed_on(seed + (call == "other"))
    return {
        "step": plain_decoder(v, 5, seed + shift),
        **normal({"state": (batch, 5)}, seed=seed + shift),
        "y": sentences([words] * batch, v, seed + shift),
        "epsilon": epsilon,
        "generator": generator,
    }


def reference_scheduled_sampling(
    step: Step, state: Tensor, y: Tensor, epsilon: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Logits (B, N - 1, V) and the words that were fed (B, N - 1)."""
    logits: list[Tensor] = []
    fed: list[Tensor] = []
    for t in range(y.shape[1] - 1):
        tokens = y[:, t]
        if t > 0:
            heads = torch.rand(len(y), generator=generator) < epsilon
            tokens = torch.where(heads, tokens, logits[-1].argmax(dim=-1))
        scores, state = step(tokens, state)
        logits.append(scores)
        fed.append(tokens)
    return torch.stack(logits, dim=1), torch.stack(fed, dim=1)


_RANDN = "A coin is torch.rand(...) < epsilon, between 0 and 1, and not torch.randn."


def _replay(given: Given, fed: Tensor) -> Tensor:
    """The logits that follow from what was fed, (B, N - 1, V)."""
    return unroll(given["step"], given["state"], torch.cat([fed, fed[:, :1]], dim=1))


def judge_scheduled(found: Found, made: Mapping[str, dict[str, Any]]) -> None:
    """Judge all of CALLS from what `record` wrote down; raise Mistake.

    made: kind of input -> arguments, in the order of CALLS; the arrays of call k begin with "k.".
    """
    calls = dict(zip(CALLS, made.values(), strict=True))
    results = {call: result(found, f"{k}.result") for k, call in enumerate(CALLS)}
    for k, given in enumerate(calls.values()):
        unchanged(NAME, found, given, f"{k}.")
    certain = ("truth", "own", "one")  # there the coin has nothing to say
    tried = [results[call] for call in certain], [calls[call] for call in certain]
    likely = explaining(scheduled_sampling.likely, *tried)
    for call in certain:
        arguments = calls[call].values()
        expected = reference_scheduled_sampling(*arguments)
        compare(f"{NAME} ({CALLS[call]})", results[call], expected, arguments, likely, hint=_RANDN)
    _check_gradients(found, calls["truth"])
    for call in ("none", "fresh", "many", "rare"):
        _check_heard(f"{NAME} ({CALLS[call]})", results[call], calls[call])
    for call in ("many", "rare"):
        _check_coin(results[call][1], calls[call])
    fed = [results[call][1] for call in ("many", "again", "other")]
    if torch.equal(fed[0], fed[2]):
        raise Mistake(f"{NAME}: two seeds give the same coins.", "Is a seed fixed inside?")
    if not torch.equal(fed[0], fed[1]):
        raise Mistake(
            f"{NAME}: the same seed gives other coins each time.", "Do you pass the generator on?"
        )
    if torch.equal(results["none"][1], results["fresh"][1]):
        raise Mistake(
            f"{NAME}: without a generator the coins of one sentence never change.",
            "Is a seed fixed inside, or is a fixed number of sentences taken at each step?",
        )


def _check_gradients(found: Found, given: Given) -> None:
    """Raise Mistake if the first call, which hears the truth only, has other gradients.

    One that stops with an error misleads nobody: the text does not ask for a training.
    """
    right = gradients(reference_scheduled_sampling, given, TRAINED)
    reached = {place: result(found, f"0.gradient.{place}") for place in right}
    if not any(isinstance(one, Stopped) for one in reached.values()):
        compare_gradients(
            NAME, *({place_in_words(p): g for p, g in half.items()} for half in (reached, right))
        )


def _check_heard(label: str, got: Any, given: Given) -> None:
    """Raise Mistake unless every word that was fed is the true one or the decoder's own."""
    y = given["y"][:, :-1]
    shape = (_replay(given, y).zero_(), y)
    fits = isinstance(got, (tuple, list)) and len(got) == 2
    if not fits or any(
        not isinstance(a, Tensor) or a.shape != b.shape or a.dtype != b.dtype
        for a, b in zip(got, shape, strict=True)
    ):
        compare(label, got, shape, given.values())
    logits, fed = got
    if fed.min() < 0 or fed.max() >= logits.shape[-1]:
        raise Mistake(f"{label}: what is fed should be words of the vocabulary, 0 to V - 1.")
    wanted = _replay(given, fed)
    own = wanted.argmax(dim=-1)[:, :-1]
    allowed = (fed[:, 1:] == y[:, 1:]) | (fed[:, 1:] == own)
    if not torch.equal(fed[:, 0], y[:, 0]) or not allowed.all():
        raise Mistake(
            f"{label}: a word was fed that is neither the true one, y[:, t], nor the decoder's own, "
            "the likeliest one (argmax) after the step before. "
            + ("" if torch.equal(fed[:, 0], y[:, 0]) else "The first one is always y[:, 0].")
        )
    if not is_right(logits, wanted):
        raise Mistake(f"{label}: the logits are not those that follow from the words that were fed.")


def _check_coin(fed: Tensor, given: Given) -> None:
    """Raise Mistake unless every sentence and step has its own coin with the right probability."""
    y, epsilon = given["y"][:, 1:-1], given["epsilon"]
    own = _replay(given, fed).argmax(dim=-1)[:, :-1]
    told = own != y  # where the two differ one can tell which of them was fed
    true = (fed[:, 1:] == y) & told
    share = float(true.sum() / told.sum())
    steps = [float(true[:, t].sum() / told[:, t].sum()) for t in range(y.shape[1]) if told[:, t].any()]
    rows = [float(true[b].sum() / told[b].sum()) for b in range(len(y)) if told[b].any()]

    def all_or_nothing(shares: list[float]) -> bool:
        return all(value in (0.0, 1.0) for value in shares)

    if all_or_nothing([share]):
        question = "Is there one coin for everything? Every sentence throws its own at every step."
    elif all_or_nothing(steps):
        question = (
            "Do all sentences share one coin at each step? Every sentence throws its own: torch.rand(B)."
        )
    elif all_or_nothing(rows):
        question = "Is one coin thrown for a whole sentence? It is thrown anew at every step."
    elif abs(share - epsilon) < 0.05:
        return
    elif abs(share - (1 - epsilon)) < 0.05:
        question = "Is the coin the wrong way round? epsilon is the probability of the true word."
    elif abs(share - 0.5) < 0.05:
        question = "Is the coin always a fair one? epsilon is the probability of the true word."
    elif abs(share - float(torch.tensor(epsilon).sigmoid())) < 0.03 or share > epsilon:
        question = "Is the coin thrown with torch.randn? torch.rand is uniform between 0 and 1."
    else:
        question = "epsilon is the probability of the true word."
    told = "the decoder should hear the true word with probability epsilon, each time on its own."
    if not is_discreet():
        told = (
            f"with epsilon = {epsilon:g} the decoder should hear the true word in about {epsilon:.0%} "
            f"of the cases, each on its own, but heard it in {share:.0%}."
        )
    raise Mistake(f"{NAME}: {told}", question)


scheduled_sampling = Exercise(
    NAME,
    make=scheduled_arguments,
    record=record_scheduled,
    judge_all=judge_scheduled,
    cases={kind: dict(call=call, seed=3) for call, kind in CALLS.items()},
    forbid=("scheduled_sampling_loss", "seqcourse.train.unroll"),
    variants={"scheduled": {"cases": scheduled_cases}},
)
