"""Exercise 6: scheduled sampling, a run in which a coin says what the decoder hears."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.calls.compare import Likely, Mistake, Stopped, compare, is_right
from seqcourse.check.calls.gradients import compare_gradients, gradients, place_in_words
from seqcourse.check.calls.inputs import handed_on, normal
from seqcourse.check.calls.naming import explaining
from seqcourse.check.calls.recording import unchanged
from seqcourse.check.calls.values import result
from seqcourse.check.exercise import Exercise, cases_of
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


def _run(
    step: Step,
    state: Tensor,
    y: Tensor,
    heads: Callable[[int], Any],
    *,
    truth: Callable[[int], int] = lambda t: t,
    guess: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(dim=-1),
    keep: bool = True,
    first: bool = True,
) -> tuple[Tensor, Tensor]:
    """Logits and what was fed; heads(t) says for every sentence whether the truth is."""
    logits: list[Tensor] = []
    fed: list[Tensor] = []
    for t in range(y.shape[1] - 1):
        tokens = y[:, truth(t)]
        if t > 0:
            tokens = torch.where(torch.as_tensor(heads(t)), tokens, guess(logits[-1]))
        elif not first:
            tokens = torch.zeros_like(tokens)
        scores, new = step(tokens, state)
        state = new if keep else state
        logits.append(scores)
        fed.append(tokens)
    return torch.stack(logits, dim=1), torch.stack(fed, dim=1)


def reference_scheduled_sampling(
    step: Step, state: Tensor, y: Tensor, epsilon: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Logits (B, N - 1, V) and the words that were fed (B, N - 1)."""
    return _run(step, state, y, lambda t: torch.rand(len(y), generator=generator) < epsilon)


def _sure(change: Callable[[float], float] = lambda e: e, **mistake: Any) -> Callable[..., Any]:
    """A run for epsilon 0 or 1, where the coin has nothing to say."""
    return lambda step, state, y, epsilon, generator: _run(
        step, state, y, lambda t: change(epsilon) > 0.5, **mistake
    )


def _two_passes(step, state, y, epsilon, generator):
    """Own words from a teacher-forced run."""
    guesses = unroll(step, state, y).argmax(dim=-1)
    fed = torch.cat([y[:, :1], (y[:, 1:-1] if epsilon > 0.5 else guesses[:, :-1])], dim=1)
    return unroll(step, state, torch.cat([fed, fed[:, :1]], dim=1)), fed


def _heard_only(step, state, y, epsilon, generator):
    """Feeds the truth, but writes the mixture down."""
    logits = unroll(step, state, y)
    guesses = logits.argmax(dim=-1)
    mixed = y[:, :-1] if epsilon > 0.5 else torch.cat([y[:, :1], guesses[:, :-1]], dim=1)
    return logits, mixed


_RANDN = "A coin is torch.rand(...) < epsilon, between 0 and 1, and not torch.randn."
_CERTAIN = [
    Likely(
        "Is the coin the wrong way round? epsilon is the probability of the true word.",
        _sure(lambda e: 1 - e),
    ),
    Likely("Is the true word fed at every step? Look at epsilon.", _sure(lambda e: 1.0)),
    Likely("Is the own word fed at every step? Look at epsilon.", _sure(lambda e: 0.0)),
    Likely(
        "Is y[:, t + 1] fed at step t? That is the word the decoder is asked for; it hears y[:, t].",
        _sure(truth=lambda t: t + 1),
    ),
    Likely(
        "Does every step start from the first state? Hand on the state that step returns.",
        _sure(keep=False),
    ),
    Likely(
        "Do the own words come from a teacher-forced run? The decoder's own word is the likeliest "
        "one after what it really heard.",
        _two_passes,
    ),
    Likely("Is the mixture written down but never fed? Hand it to step.", _heard_only),
    Likely(
        "Is the first word not <sos>? At the first step there is no own word yet: feed y[:, 0].",
        _sure(first=False),
    ),
    Likely(
        "Is the true word written down, whatever was fed? Return what step was given.",
        lambda *a: (_sure()(*a)[0], a[2][:, :-1]),
    ),
    Likely("Did you return the logits only?", lambda *a: _sure()(*a)[0]),
    Likely(
        "Did you swap the two? The logits come first, then the words that were fed.",
        lambda *a: _sure()(*a)[::-1],
    ),
    Likely(
        "Did you stack along the first axis? The batch comes first: torch.stack(..., dim=1).",
        lambda *a: tuple(part.transpose(0, 1) for part in _sure()(*a)),
    ),
    Likely(
        "Is there one step too many? The last word of y is never fed: there are N - 1 steps.",
        lambda step, state, y, *rest: _sure()(step, state, torch.cat([y, y[:, :1]], dim=1), *rest),
    ),
    Likely(
        "Is the last step missing? There are N - 1 steps.",
        lambda step, state, y, *rest: _sure()(step, state, y[:, :-1], *rest),
    ),
]


def _replay(given: Mapping[str, Any], fed: Tensor) -> Tensor:
    """The logits that follow from what was fed, (B, N - 1, V)."""
    return unroll(given["step"], given["state"], torch.cat([fed, fed[:, :1]], dim=1))


def judge_scheduled(found: Mapping[str, numpy.ndarray], made: Mapping[str, dict[str, Any]]) -> None:
    """Judge all of CALLS from what `record` wrote down; raise Mistake.

    made: kind of input -> arguments, in the order of CALLS; the arrays of call k begin with "k.".
    """
    calls = dict(zip(CALLS, made.values(), strict=True))
    results = {call: result(found, f"{k}.result") for k, call in enumerate(CALLS)}
    for k, given in enumerate(calls.values()):
        unchanged(NAME, found, given, f"{k}.")
    certain = ("truth", "own", "one")
    likely = explaining(_CERTAIN, [results[call] for call in certain], [calls[call] for call in certain])
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


def _check_gradients(found: Mapping[str, numpy.ndarray], given: Mapping[str, Any]) -> None:
    """Raise Mistake if the first call, which hears the truth only, has other gradients.

    One that stops with an error misleads nobody: the text does not ask for a training.
    """
    right = gradients(reference_scheduled_sampling, given, TRAINED)
    reached = {place: result(found, f"0.gradient.{place}") for place in right}
    if not any(isinstance(one, Stopped) for one in reached.values()):
        compare_gradients(
            NAME, *({place_in_words(p): g for p, g in half.items()} for half in (reached, right))
        )


def _check_heard(label: str, got: Any, given: Mapping[str, Any]) -> None:
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


def _check_coin(fed: Tensor, given: Mapping[str, Any]) -> None:
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
    cases=cases_of(scheduled_arguments, {kind: dict(call=call, seed=3) for call, kind in CALLS.items()}),
    forbid=("scheduled_sampling_loss", "seqcourse.train.unroll"),
    variants={"scheduled": {"cases": scheduled_cases}},
)
