"""Exercise 6: the loss of masked words, also where none was chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.compare import Mistake, gradients, outcome, same
from seqcourse.check.exercise import Case, Exercise
from seqcourse.check.inputs import normal
from seqcourse.check.ps7.ids import FIRST, IGNORE
from seqcourse.check.recording import judge
from seqcourse.check.values import result


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


def _minus_log(logits: Tensor, labels: Tensor) -> Tensor:
    """Minus the log-probability of the labels (B, T); of IGNORE, that of word 0."""
    return -logits.log_softmax(dim=-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]


def _per_word(losses: Tensor, chosen: Tensor) -> Tensor:
    return (losses * chosen).sum() / chosen.sum().clamp(min=1)


def _made(
    *,
    minus_log: Callable[[Tensor, Tensor], Tensor] = _minus_log,
    mean: Callable[[Tensor, Tensor], Tensor] = _per_word,
    chosen: Callable[[Tensor], Tensor] = lambda labels: labels != IGNORE,
) -> Callable[..., Tensor]:
    """The loss with one part put in another's place."""
    return lambda logits, labels: mean(minus_log(logits, labels), chosen(labels))


reference_masked_word_loss = _made()


def _shifted(logits: Tensor, labels: Tensor) -> Tensor:
    return reference_masked_word_loss(logits[:, :-1], labels[:, 1:])


_LIKELY = {
    "With no place chosen, is it 0 / 0, which is NaN? The loss is then 0.": (
        lambda logits, labels: torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), labels, ignore_index=IGNORE
        )
    ),
    "Is the sum divided by all places? Divide by the number of chosen ones.": _made(
        mean=lambda losses, chosen: (losses * chosen).mean()
    ),
    "Did you average the rows' own means? Every chosen word counts the same: divide the whole sum "
    "by the number of chosen places of the batch.": _made(
        mean=lambda losses, chosen: (
            (losses * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)
        ).mean()
    ),
    "Is the loss a sum? It is the mean per chosen place.": _made(
        mean=lambda losses, chosen: (losses * chosen).sum()
    ),
    "Is the sum divided by the number of rows? Divide by the number of chosen places.": _made(
        mean=lambda losses, chosen: (losses * chosen).sum() / len(losses)
    ),
    "Did you add 1 to the number of chosen places? Take the larger of the number and 1 instead.": _made(
        mean=lambda losses, chosen: (losses * chosen).sum() / (chosen.sum() + 1)
    ),
    "Is there a loss per row? One number is asked for, for the whole batch.": _made(
        mean=lambda losses, chosen: (losses * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)
    ),
    "Are the labels shifted by one, as in a language model? BERT is asked for the word at the very "
    "place.": _shifted,
    "Is that the perplexity? The loss is its logarithm.": (
        lambda *a: reference_masked_word_loss(*a).exp()
    ),
    "Is the sign wrong? The loss is minus the log-probability.": _made(
        minus_log=lambda *a: -_minus_log(*a)
    ),
    "Is the log missing? The loss is minus the log of the probability.": _made(
        minus_log=lambda z, y: -z.softmax(dim=-1).gather(-1, y.clamp(min=0)[..., None])[..., 0]
    ),
    "Did you take the logits for log-probabilities? log_softmax turns the one into the other.": _made(
        minus_log=lambda z, y: -z.gather(-1, y.clamp(min=0)[..., None])[..., 0]
    ),
    "Is the softmax over the wrong axis? It is over the words of the vocabulary: dim=-1.": _made(
        minus_log=lambda z, y: -z.log_softmax(dim=1).gather(-1, y.clamp(min=0)[..., None])[..., 0]
    ),
    "cross_entropy wants the words on the second axis: logits[chosen] has one row per chosen place.": (
        lambda logits, labels: torch.nn.functional.cross_entropy(logits, labels, ignore_index=IGNORE)
    ),
}


def judge_gradient(gradient: Any) -> None:
    """Raise Mistake when the gradient of logits at which nothing was asked is not zero or none."""
    if isinstance(gradient, Tensor) and not bool((gradient == 0).all()):
        raise Mistake(
            "masked_word_loss: with no place chosen the loss is 0, as it should be, but its gradient is "
            "not, and one NaN spoils every parameter. nan_to_num() at the end, or `if loss.isnan()`, "
            "covers it up on the way forward only: divide by the larger of the number and 1."
        )


def judge_nothing(found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str) -> None:
    """Judge one case with no place chosen: the loss, then that no gradient is NaN; raise Mistake."""
    judge("masked_word_loss", found, given, reference_masked_word_loss, masked_word_loss.likely, prefix)
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
    likely=_LIKELY,
    look=_look,
    cases=[
        Case("the first example", lambda: masked_arguments(2, 5)),
        Case("other sizes", lambda: masked_arguments(4, 4, 6, seed=1)),
        Case(
            "a batch of 1",
            lambda: masked_arguments(1, 6, seed=2),
            "Does a squeeze() or [0] drop the batch?",
        ),
        Case("logits in the hundreds", lambda: masked_arguments(3, 5, scale=300.0, seed=3)),
        Case("words numbered from 0 on", lambda: masked_arguments(2, 4, v=3, first=0, seed=6)),
        Case("a single place chosen", lambda: masked_arguments(2, 4, single=True, seed=5)),
        Case(
            "float32",
            lambda: masked_arguments(2, 5, dtype=torch.float32),
            "Create new tensors like the old ones.",
        ),
        Case("no place chosen", lambda: masked_arguments(2, 4, share=0.0, seed=4)),
    ],
    forbid=("masked_word_loss", "sequence_loss", "language_model_loss"),
    variants={"nothing": {"judge": judge_nothing}},
    idea="Only the chosen places are asked for their word; if none is chosen, the loss is 0.",
    see=("12", "Pre-train: masked words"),
)
