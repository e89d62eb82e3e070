"""Exercise 3: attention that neither looks where it may not nor makes NaN where it may look nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core, masked
from seqcourse.check.calls.compare import outcome, stopping
from seqcourse.check.calls.gradients import compare_gradients
from seqcourse.check.calls.values import Found, Given
from seqcourse.check.core import Mistake
from seqcourse.check.exercise import Exercise, standard_cases

WANTED = ("q", "k", "v")
Pair = tuple[Tensor, Tensor]


def attention_arguments(
    batch: int,
    heads: int | None,
    queries: int,
    keys: int,
    d: int,
    d_v: int,
    kind: str = "none",
    axes: str = "",
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `attention`. Without heads the tensors have three axes.

    kind: "none" (no mask), "causal" (one mask (N, M) for all), "mask" (about half of each row, never
    nothing), "hidden" (the same, and the last key, never allowed, is far more similar than the others),
    "low" (every query may look at one key, and no key is similar to it), "nothing" (the first row and
    every third after it see nothing; where all queries share a row, those of some sentences).
    axes: those of the last three kinds' mask, such as "HNM", or "B11M" for padding; one (N, M) per
    sentence if nothing is said.
    """
    front = (batch,) if heads is None else (batch, heads)
    sizes = {"q": (*front, queries, d), "k": (*front, keys, d), "v": (*front, keys, d_v)}
    drawn: dict[str, Any] = core.normal(sizes, seed)
    if kind == "none":
        mask = None
    elif kind == "causal":
        mask = functional.causal_mask(queries, keys - queries)
    else:
        axes = axes or ("BNM" if heads is None else "B1NM")
        sizes = {"B": batch, "H": heads or 1, "N": queries, "M": keys, "1": 1}
        mask = _drawn_mask(axes, sizes, kind, seed + 1)
    if kind == "hidden":  # all queries point one way, and so does the last key
        drawn["q"][..., 0] = 4 + drawn["q"][..., 0].abs()
        drawn["k"][..., -1, :] = 0.0
        drawn["k"][..., -1, 0] = 1500.0
    if kind == "low":
        mask = torch.arange(queries)[:, None] % keys == torch.arange(keys)
        masked.set_far_apart(drawn["q"], drawn["k"])
    return {**{name: value.to(dtype) for name, value in drawn.items()}, "mask": mask}


def _drawn_mask(axes: str, sizes: Mapping[str, int], kind: str, seed: int) -> Tensor:
    """A mask with these axes; one of size 1 is called 1."""
    queries, keys = sizes["N"], sizes["M"]
    whole = [sizes[axis] for axis in axes[:-2]]
    mask = core.normal({"mask": (*whole, queries, keys)}, seed)["mask"] > 0
    rows = torch.arange(queries)
    allowed = keys - 1 if kind == "hidden" else keys
    for shift in (0, 2):  # two of a row, so that the sum counts
        mask[..., rows, (rows + shift) % allowed] = True
    mask[..., rows, keys - 1 if kind == "hidden" else (rows + 1) % keys] = False
    if axes[-2] == "1":
        mask = mask[..., :1, :]
    if kind == "nothing" and axes[-2] == "1":
        mask[::3] = False
    elif kind == "nothing":
        mask[..., ::3, :] = False
    return mask.any(dim=-1, keepdim=True) if axes[-1] == "1" else mask


def reference_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Pair:
    """Outputs (..., N, D_V) and weights (..., N, M)."""
    return functional.attention(q, k, v, mask, need_weights=True)


_SPOILED = (
    "attention: rows with nothing to attend to give zeros, as they should, but the gradient of {name} "
    "holds NaN, and one NaN spoils every parameter. {why}"
)
_WHY_VALUES = (
    "Is the NaN removed from the outputs only? Weights that are NaN meet the values on the way back: "
    "make the weights zero first."
)
_WHY_SCORES = (
    "Covering NaN up at the end helps on the way forward only: fill with masked_fill in place of "
    "adding -inf."
)


def judge_empty_gradients(reached: Mapping[str, Any]) -> None:
    """Raise Mistake when a gradient holds NaN, where some rows have nothing to attend to."""
    for name, why in (("v", _WHY_VALUES), ("q", _WHY_SCORES), ("k", _WHY_SCORES)):
        gradient = reached.get(name)
        if isinstance(gradient, Tensor) and gradient.isnan().any():
            raise Mistake(_SPOILED.format(name=name, why=why))


def judge_nothing(found: Found, given: Given, prefix: str) -> None:
    """Judge one case of kind "nothing": the result, then that no gradient is NaN, then gradients."""
    core.judge(attention, found, given, prefix)
    reached = {name: core.result(found, f"{prefix}gradient.{name}") for name in WANTED}
    judge_empty_gradients(reached)
    compare_gradients("attention", reached, core.gradients(reference_attention, given, WANTED))


def _look(student: Callable[..., Pair]) -> None:
    """Raise Mistake when rows with nothing to attend to come out right, but their gradient does not."""
    nothing = dict(batch=2, heads=2, queries=4, keys=5, d=3, d_v=3, kind="nothing", seed=5)
    given = attention_arguments(**nothing)
    got = outcome(student, tuple(given.values()))
    if isinstance(got, Exception) or not core.same(got, reference_attention(**given)):
        return
    reached = outcome(core.gradients, (student, attention_arguments(**nothing), WANTED))
    if isinstance(reached, dict):
        judge_empty_gradients(reached)


attention = Exercise(
    "attention",
    make=attention_arguments,
    reference=reference_attention,
    likely={
        "The mask may be None: then every key may be looked at. Ask `if mask is not None` before you "
        "use it.": stopping(r"NoneType|got \(bool, ", lambda q, k, v, mask: mask is None)
    },
    look=_look,
    cases={
        **standard_cases(
            dict(batch=2, heads=3, queries=4, keys=6, d=5, d_v=7),
            dict(batch=3, heads=3, queries=3, keys=3, d=3, d_v=3),
        ),
        "no axis for heads": dict(batch=2, heads=None, queries=3, keys=5, d=4, d_v=2, seed=1),
        "a causal mask": dict(batch=2, heads=3, queries=4, keys=4, d=5, d_v=2, kind="causal", seed=2),
        "a mask per sentence": dict(
            batch=3, heads=2, queries=4, keys=5, d=3, d_v=4, kind="mask", seed=3
        ),
        "a mask per head, and masked scores far above the others": dict(
            batch=2, heads=2, queries=3, keys=5, d=4, d_v=3, kind="hidden", axes="HNM", seed=4
        ),
        "similarities far below 0": dict(
            batch=2, heads=2, queries=4, keys=5, d=3, d_v=2, kind="low", seed=6
        ),
        "rows with nothing to attend to": dict(
            batch=2, heads=2, queries=4, keys=5, d=3, d_v=3, kind="nothing", seed=5
        ),
        "a sentence without words": dict(
            batch=2, heads=2, queries=3, keys=4, d=3, d_v=2, kind="nothing", axes="B11M", seed=7
        ),
        "float32, and all or nothing to attend to, a mask with one column": dict(
            batch=1,
            heads=2,
            queries=3,
            keys=4,
            d=3,
            d_v=2,
            kind="nothing",
            axes="N1",
            dtype=torch.float32,
        ),
    },
    forbid=(
        "attention",
        "scaled_dot_product_attention",
        "MultiheadAttention",
        "multi_head_attention_forward",
        "seqcourse.functional.softmax",  # with its mask it is half of the answer
        "MultiHeadAttention",
        "MultiHeadAttentionPool",
        "SelfAttentionLayer",
        "FeatureMapAttention",
        "CoAttention",
        "Block",
    ),
    variants={"nothing": {"judge": judge_nothing}},
)
