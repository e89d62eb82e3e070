"""Exercises 1 and 2: the weighted sum, and a softmax that neither overflows nor looks at padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import masked
from seqcourse.check.calls.compare import Mistake, outcome, same, stopping
from seqcourse.check.calls.gradients import gradients
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.recording import judge
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise, standard_cases


def context_arguments(
    batch: int, time: int, d: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `context`: weights whose rows sum to 1, some of them tiny, and encoder states."""
    drawn = normal({"weights": (batch, time), "h": (batch, time, d)}, seed, dtype)
    return {"weights": (3 * drawn["weights"]).softmax(dim=-1), "h": drawn["h"]}


context = Exercise(
    "context",
    make=context_arguments,
    reference=functional.weighted_sum,
    cases=standard_cases(dict(batch=2, time=4, d=3), dict(batch=5, time=5, d=5)),
    forbid=(
        "weighted_sum",
        "scaled_dot_product_attention",
        "MultiheadAttention",
        "MultiHeadAttentionPool",
    ),
)


def softmax_arguments(
    batch: int,
    time: int,
    kind: str = "none",
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `softmax`.

    kind: "none" (no mask), "apart" (no mask, rows around 1000, -1000, 1000, ...), "mask" (about
    half of each row, never nothing), "hidden" (the same, and what is masked scores 900 more), "low" (one
    place of each row, and every score is far below 0), "nothing" (the first row and every third after
    it have nothing to attend to).
    """
    scores = scale * normal({"scores": (batch, time)}, seed)["scores"]
    if kind == "apart":
        signs = 1 - 2 * (torch.arange(batch) % 2)
        scores = scores + 1000.0 * signs[:, None]
    if kind in ("none", "apart"):
        return {"scores": scores.to(dtype), "mask": None}
    mask = normal({"mask": (batch, time)}, seed + 1)["mask"] > 0
    rows, columns = torch.arange(batch), torch.arange(time)
    if batch > 1:  # no column is all masked, so that a maximum over the batch is no NaN
        mask[columns % batch, columns] = True
    for allowed in (rows, rows + 2):  # two of a row, so that the sum counts
        mask[rows, allowed % time] = True
    mask[rows, (rows + 1) % time] = False
    if kind == "hidden":
        scores = scores + 900.0 * ~mask
    if kind == "low":
        scores, mask = scores - masked.FAR_BELOW, columns == rows[:, None] % time
    if kind == "nothing":
        mask[rows % 3 == 0] = False
    return {"scores": scores.to(dtype), "mask": mask}


def reference_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Weights (B, T); rows with nothing to attend to are zero."""
    return functional.softmax(scores, mask=mask)


def judge_empty_gradient(gradient: Any) -> None:
    """Raise Mistake when the gradient of rows with nothing to attend to holds NaN."""
    if isinstance(gradient, Tensor) and gradient.isnan().any():
        raise Mistake(
            "softmax: rows with nothing to attend to give zeros, as they should, but the gradient of "
            "their scores is NaN, and one NaN spoils every parameter. nan_to_num() at the end covers it "
            "up on the way forward only: fill with masked_fill in place of adding -inf, or make the "
            "exponent harmless before exp()."
        )


def judge_softmax_of_nothing(found: Found, given: Given, prefix: str) -> None:
    """Judge one case of kind "nothing": the weights, then that no gradient is NaN; raise Mistake."""
    judge(softmax, found, given, prefix)
    judge_empty_gradient(result(found, f"{prefix}gradient.scores"))


def _check_empty_rows(student: Callable[..., Tensor]) -> None:
    """Where the weights of rows with nothing to attend to are right, look at their gradient."""
    case = dict(batch=4, time=3, kind="nothing")
    got = outcome(student, tuple(softmax_arguments(**case).values()))
    if not isinstance(got, Tensor) or not same(got, reference_softmax(**softmax_arguments(**case))):
        return
    reached = outcome(gradients, (student, softmax_arguments(**case), ["scores"]))
    if isinstance(reached, dict):
        judge_empty_gradient(reached["scores"])


softmax = Exercise(
    "softmax",
    make=softmax_arguments,
    reference=reference_softmax,
    likely={
        "The mask may be None: then every position may be attended to. Ask `if mask is not None` "
        "before you use it.": stopping(r"NoneType|got \(bool, ", lambda scores, mask: mask is None)
    },
    look=_check_empty_rows,
    cases={
        **standard_cases(dict(batch=2, time=4), dict(batch=3, time=3)),
        "scores of some hundreds": dict(batch=3, time=5, scale=400.0),
        "rows whose scores lie far apart": dict(batch=4, time=5, kind="apart"),
        "a mask": dict(batch=3, time=4, kind="mask"),
        "masked scores far above the others": dict(batch=3, time=4, kind="hidden"),
        "a mask, and scores far below 0": dict(batch=3, time=4, kind="low"),
        "a mask and a batch of 1": dict(batch=1, time=6, kind="mask"),
        "rows with nothing to attend to": dict(batch=4, time=3, kind="nothing"),
        "a single row with nothing to attend to": dict(
            batch=1, time=3, kind="nothing", dtype=torch.float32
        ),
    },
    forbid=("softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin"),
    variants={"softmax_of_nothing": {"judge": judge_softmax_of_nothing}},
)
