"""Exercise 3: what asks a captioner to look at the whole picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Case, Exercise
from seqcourse.check.inputs import normal


def stochastic_arguments(
    lengths: Sequence[int], places: int = 5, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `doubly_stochastic`: weights (B, T, N), each row a softmax, and the real steps."""
    shape = (len(lengths), max(lengths), places)
    scores = normal({"weights": shape}, seed, dtype)["weights"]
    real = torch.arange(max(lengths)) < torch.tensor(list(lengths))[:, None]
    return {"weights": (1.5 * scores).softmax(dim=-1), "real": real}


def _received(weights: Tensor, real: Tensor) -> Tensor:
    """What each place got over the real steps, (B, N)."""
    return (weights * real[..., None]).sum(dim=1)


def _made(
    *,
    got: Callable[[Tensor, Tensor], Tensor] = _received,
    gap: Callable[[Tensor], Tensor] = lambda got: (1 - got) ** 2,
    over_places: Callable[[Tensor], Tensor] = lambda gaps: gaps.sum(dim=-1),
    over_batch: Callable[[Tensor], Tensor] = lambda sums: sums.mean(),
) -> Callable[[Tensor, Tensor], Tensor]:
    """The regulariser with one part put in another's place."""
    return lambda weights, real: over_batch(over_places(gap(got(weights, real))))


reference_doubly_stochastic = _made()


def _no_axis(weights: Tensor, real: Tensor) -> Tensor:
    raise AnyError(r"must match the size|shape of the mask|not broadcastable")


_LIKELY = {
    "Did you take the steps that are padding? True in real means a real word.": _made(
        got=lambda a, real: _received(a, ~real)
    ),
    "Did you add up over the places? That is 1 at every step anyway: add up over the steps, dim=1.": (
        _made(got=lambda a, real: a.sum(dim=2)),
        _made(got=lambda a, real: (a * real[..., None]).sum(dim=2)),
    ),
    "Is it the mean over the steps? What a place got over the whole sentence is a sum.": (
        _made(got=lambda a, real: _received(a, real) / real.sum(dim=1, keepdim=True)),
        _made(got=lambda a, real: (a * real[..., None]).mean(dim=1)),
    ),
    "Is the 1 missing? The square is that of the difference from 1.": _made(gap=lambda g: g**2),
    "Is it 1 minus the square? It is the square of the difference, (1 - sum)².": _made(
        gap=lambda g: 1 - g**2
    ),
    "Does real not fit the weights? It is (B, T), they are (B, T, N): real[..., None] is for all "
    "places alike.": _no_axis,
    "Is the sign wrong? This is added to the loss, so it is larger the worse the maps are.": _made(
        over_batch=lambda sums: -sums.mean()
    ),
}


doubly_stochastic = Exercise(
    "doubly_stochastic",
    make=stochastic_arguments,
    reference=reference_doubly_stochastic,
    likely=_LIKELY,
    cases=[
        Case("the first example", lambda: stochastic_arguments([3, 3])),
        Case("other sizes", lambda: stochastic_arguments([4, 4, 4], places=9, seed=1)),
        Case(
            "one sentence",
            lambda: stochastic_arguments([6], seed=2),
            "Does a squeeze() or [0] drop the batch?",
        ),
        Case("all sizes equal", lambda: stochastic_arguments([5, 5, 5, 5, 5], seed=3)),
        Case(
            "sentences of lengths 5, 2 and 4",
            lambda: stochastic_arguments([5, 2, 4], seed=4),
            "Sentences end at different steps: only the real ones count.",
        ),
        Case("a sentence without a word", lambda: stochastic_arguments([3, 0, 2], seed=6)),
        Case(
            "float32",
            lambda: stochastic_arguments([6, 3], dtype=torch.float32, seed=5),
            "Create new tensors like the old ones.",
        ),
    ],
    forbid=("doubly_stochastic", "captioning_loss"),
    idea="Over a whole sentence, every place of the picture should receive a total weight of about 1.",
    see=("13", "Look at everything once"),
)
