"""Exercise 6: the loss of masked words, also where none was chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Mistake, outcome, same
from seqcourse.check.calls.gradients import gradients
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.recording import judge
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise, Kind
from seqcourse.check.ps7.ids import FIRST, IGNORE


def masked_arguments(
    batch: int,
    time: int,
    v: int = 8,
    share: float = 0.4,
    scale: float = 1.0,
    single: bool = False,
    first: int = FIRST,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `masked_word_loss`: logits (B, T, V) and labels (B, T) at a share of the places.

    With a share above 0 the rows have different numbers of labels; with 0 there is none.
    single: one place of the whole batch alone has a label.  first: the number of the first word, which
    is a label once.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = scale * normal({"logits": (batch, time, v)}, seed)["logits"]
    labels = torch.randint(first, v, (batch, time), generator=generator)
    labels[0, 0] = first
    chosen = torch.rand(batch, time, generator=generator) < share
    if share:
        chosen[0] = torch.arange(time) < time - 1  # almost all of the first row
        if batch > 1:
            chosen[1] = torch.arange(time) == time // 2  # a single one of the second
    if single:
        chosen = torch.arange(batch * time).reshape(batch, time) == seed % (batch * time)
    return {"logits": logits.to(dtype), "labels": labels.where(chosen, IGNORE)}


def reference_masked_word_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean of minus the log-probability over the chosen places; 0 where there is none."""
    chosen = labels != IGNORE
    words = labels.clamp(min=0)[..., None]
    losses = -logits.log_softmax(dim=-1).gather(-1, words)[..., 0]
    return (losses * chosen).sum() / chosen.sum().clamp(min=1)


def judge_gradient(gradient: Any) -> None:
    """Raise Mistake when the gradient of logits at which nothing was asked is not zero or none."""
    if isinstance(gradient, Tensor) and not bool((gradient == 0).all()):
        raise Mistake(
            "masked_word_loss: with no place chosen the loss is 0, as it should be, but its gradient is "
            "not, and one NaN spoils every parameter. nan_to_num() at the end, or `if loss.isnan()`, "
            "covers it up on the way forward only: divide by the larger of the number and 1."
        )


def judge_nothing(found: Found, given: Given, prefix: str) -> None:
    """Judge one case with no place chosen: the loss, then that no gradient is NaN; raise Mistake."""
    judge(masked_word_loss, found, given, prefix)
    judge_gradient(result(found, f"{prefix}gradient.logits"))


def _look(student: Callable[..., Tensor]) -> None:
    """Raise Mistake when the loss is 0 with no place chosen, but its gradient is not."""
    nothing = {"batch": 2, "time": 4, "share": 0.0, "seed": 4}
    right = reference_masked_word_loss(**masked_arguments(**nothing))
    got = outcome(student, tuple(masked_arguments(**nothing).values()))
    if not isinstance(got, Tensor) or not same(got, right):
        return
    reached = outcome(gradients, (student, masked_arguments(**nothing), ["logits"]))
    if isinstance(reached, dict):
        judge_gradient(reached["logits"])


masked_word_loss = Exercise(
    "masked_word_loss",
    make=masked_arguments,
    reference=reference_masked_word_loss,
    look=_look,
    cases={
        "the first example": dict(batch=2, time=5),
        "other sizes": dict(batch=4, time=4, v=6, seed=1),
        "a batch of 1": Kind(dict(batch=1, time=6, seed=2), "Does a squeeze() or [0] drop the batch?"),
        "logits in the hundreds": dict(batch=3, time=5, scale=300.0, seed=3),
        "words numbered from 0 on": dict(batch=2, time=4, v=3, first=0, seed=6),
        "a single place chosen": dict(batch=2, time=4, single=True, seed=5),
        "float32": Kind(
            dict(batch=2, time=5, dtype=torch.float32), "Create new tensors like the old ones."
        ),
        "no place chosen": dict(batch=2, time=4, share=0.0, seed=4),
    },
    forbid=("masked_word_loss", "sequence_loss", "language_model_loss"),
    variants={"nothing": {"judge": judge_nothing}},
)
