"""Exercise 7: the calls that tell how a beam search works, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import torch

from seqcourse.check.calls.compare import compare, is_right, same
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.naming import explaining
from seqcourse.check.calls.recording import unchanged
from seqcourse.check.calls.values import Found, plainly, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside.ps2 import record_search, record_tidily
from seqcourse.check.ps2.decoders import ending_decoder
from seqcourse.check.ps2.searches import reference_beam_search, remembering, with_pushed_out
from seqcourse.check.told.discreet import is_discreet

NAME = "beam_search"
TOLERANCE = 3e-5


def beam_arguments(
    beam_width: int,
    max_len: int,
    alpha: float = 0.0,
    left: float = 3.0,
    v: int = 7,
    hurry: float = 0.7,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `beam_search`: a decoder for one sentence that may end early or late."""
    hidden = normal({"h": (1, 4)}, seed=seed + 2)["h"]
    return {
        "step": ending_decoder(v, 4, seed, hurry=hurry),
        "state": (hidden, torch.tensor([[left]], dtype=torch.float64)),
        "beam_width": beam_width,
        "max_len": max_len,
        "alpha": alpha,
    }


def telling(
    sizes: Mapping[str, Any], seed: int, mistake: str = "", others: Sequence[str] = ()
) -> dict[str, Any]:
    """What `beam_arguments` is called with: `sizes` and the first seed that tells the mistake.

    The seed is moved on until `mistake` gives another result than the reference and than the
    `others`, so that the call tells it, and until it makes no difference whether a finished path that
    was pushed out of the beam later is remembered: both are sensible, and the exercise need not tell
    them apart.
    """
    answers = [_making(words) for words in (mistake, *others) if words]
    while not _tells(tuple(beam_arguments(**sizes, seed=seed).values()), answers):
        seed += 1000
    return {**sizes, "seed": seed}


def _making(words: str) -> Callable[..., Any]:
    """The wrong answer of the card that makes the mistake with these words in its question."""
    return next(one.answer for one in beam_search.likely if words in one.question)


def _tells(arguments: tuple, answers: Sequence[Callable[..., Any]]) -> bool:
    arguments = (remembering(arguments[0]), *arguments[1:])
    right = reference_beam_search(*arguments)
    found = [answer(*arguments) for answer in answers]
    if any(same(wrong, other) for wrong in found[:1] for other in (right, *found[1:])):
        return False
    return same(right, with_pushed_out(*arguments))


# Kind of input: beam_width, max_len, how long sentences are, and the mistake that the search tells, by
# words of its question.
_PLAIN = {
    "a sentence that greedy decoding misses": (3, 6, 3.0, "follow one path only"),
    "paths whose states differ": (2, 8, 5.0, "grow from the same state"),
    "a path that ends before a better one": (3, 6, 3.0, "as soon as one path has ended"),
    "a beam that has to be pruned across its paths": (3, 5, 4.0, "nothing pruned across paths"),
    "paths that end early": (2, 7, 2.0, "finished paths grow on"),
    "a good path that max_len cuts off": (3, 3, 3.0, "a path that never ended win"),
    "a beam of one path": (1, 6, 3.0, ""),
    "a single step": (2, 1, 1.0, ""),
    "a wide beam": (5, 4, 2.0, ""),
    "a beam wider than the vocabulary": (9, 3, 2.0, ""),
}
_FIRST, _ASIDE = "as soon as one path has ended", "go out of the beam"
_PRUNED, _AFTERWARDS = "prune by the normalised score", "divided afterwards"
# The same with length normalisation: alpha comes third, and mistakes from which it is told apart last.
_NORMALISED = {
    "a longer sentence with the better score": (3, 6, 1.0, 2.0, _AFTERWARDS, (_FIRST,)),
    "paths whose scores change with their length": (3, 6, 1.0, 3.0, _PRUNED, (_ASIDE,)),
    "finished paths that push out growing ones": (2, 8, 1.0, 1.0, _ASIDE, (_PRUNED, _FIRST)),
    "an alpha between 0 and 1": (4, 5, 0.6, 3.0, _AFTERWARDS, (_PRUNED,)),
    "two steps": (2, 2, 1.0, 3.0, "", ()),
    "a path that ends before a better one": (2, 9, 1.0, 3.0, _FIRST, (_ASIDE,)),
    "a likeliest path that ends before one with the better score": (
        *(3, 7, 1.0, 2.0, "until all paths of the beam have ended"),
        (_FIRST,),
    ),
    "a good path that max_len cuts off": (3, 4, 1.0, 3.0, "a path that never ended win", ()),
}


def plain_cases(seed: int) -> dict[str, dict[str, Any]]:
    """Searches without length normalisation; most are chosen to tell one mistake."""
    return {
        kind: telling(dict(beam_width=width, max_len=size, left=left), seed + k, mistake)
        for k, (kind, (width, size, left, mistake)) in enumerate(_PLAIN.items())
    }


def normalised_cases(seed: int) -> dict[str, dict[str, Any]]:
    """Searches with length normalisation; most are chosen to tell one mistake."""
    found = {}
    for k, (kind, (width, size, alpha, left, mistake, others)) in enumerate(_NORMALISED.items()):
        sizes = dict(beam_width=width, max_len=size, alpha=alpha, left=left, hurry=0.4)
        found[kind] = telling(sizes, seed + k, mistake, others)
    return found


def judge_beams(found: Found, made: Mapping[str, Mapping[str, Any]]) -> None:
    """Judge searches from what `record_search` wrote down; raise Mistake.

    A mistake is named that explains the results of *all* calls: with a small beam one call alone
    often comes out the same for several mistakes.

    made: kind of input -> arguments; the arrays of call k begin with "k.".
    """
    results = [result(found, f"{k}.result") for k in range(len(made))]
    for k, given in enumerate(made.values()):
        unchanged(NAME, found, given, f"{k}.")
    made = {kind: {**given, "step": remembering(given["step"])} for kind, given in made.items()}
    for got, (kind, given) in zip(results, made.items(), strict=True):
        expected = reference_beam_search(*given.values())
        if not is_right(got, expected, TOLERANCE):
            label = f"{NAME} ({kind})"
            if not is_discreet():
                label = (
                    f"{NAME} (beam_width {given['beam_width']}, max_len {given['max_len']}, "
                    f"alpha {given['alpha']:g})"
                )
            likely = explaining(beam_search.likely, results, list(made.values()))
            compare(label, got, expected, given.values(), likely, tolerance=TOLERANCE)


@cache
def _own(normalised: bool) -> dict[str, dict[str, Any]]:
    return normalised_cases(4) if normalised else plain_cases(3)


def _own_case(kind: str, normalised: bool) -> dict[str, Any]:
    """A search of the self-check, chosen when it is first asked for: choosing takes a while."""
    return beam_arguments(**_own(normalised)[kind])


beam_search = Exercise(
    NAME,
    tolerance=TOLERANCE,
    because="Log-probabilities in single precision are good enough.",
    make=beam_arguments,
    record=record_search,
    through=lambda answer: plainly(record_tidily(answer)),
    judge_all=judge_beams,
    cases={
        **{kind: partial(_own_case, kind, False) for kind in _PLAIN},
        **{f"{kind}, normalised": partial(_own_case, kind, True) for kind in _NORMALISED},
        **{
            f"a beam so wide that nothing is pruned, alpha {alpha:g}": dict(
                beam_width=2000, max_len=4, alpha=alpha, v=5, seed=1
            )
            for alpha in (0.0, 1.0)
        },
    },
    forbid=("beam_search", "exhaustive_search"),
    variants={"plain": {"cases": plain_cases}, "normalised": {"cases": normalised_cases}},
)
