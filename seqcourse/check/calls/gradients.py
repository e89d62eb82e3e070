"""The gradients of one call of an answer, compared with those of the right answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Mistake, flatten, is_right
from seqcourse.check.calls.errors import error_kind
from seqcourse.check.calls.inputs import copied, copy, each_tensor, floating, normal
from seqcourse.check.told.discreet import error_in_words, sizes_told


def gradients(
    function: Callable[..., Any], given: Mapping[str, Any], wanted: Sequence[str]
) -> dict[str, Tensor | None]:
    """The gradients of `traced` alone."""
    return traced(function, given, wanted)[0]


def traced(
    function: Callable[..., Any], given: Mapping[str, Any], wanted: Sequence[str]
) -> tuple[dict[str, Tensor | None], Any, dict[str, Any]]:
    """One call: the gradients of a fixed weighted sum of the results, the results, and the arguments
    that it was called with.

    The gradients are those of all floating tensors in the wanted arguments, also in tuples and in what
    a function holds, by their places ("x", "state.0", "step.table"); None where no gradient arrives.
    """
    leaves, held = {}, []

    def follow(place: str, tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            return tensor
        leaves[place] = tensor.detach().requires_grad_()
        return copied(leaves[place])  # not the leaf: an answer may change it in place

    handed = {}
    for name, value in copy(dict(given)).items():
        if name in wanted and callable(value):  # what it holds is the caller's: on for this call only
            mine = floating(value, name)
            held += [leaf for leaf in mine.values() if not leaf.requires_grad]
            leaves |= mine
        elif name in wanted:
            value = each_tensor(follow, value, name)
        handed[name] = value
    for leaf in held:
        leaf.requires_grad_()
    try:
        with torch.enable_grad():  # a notebook cell may have disabled gradients globally
            results = function(*handed.values())
            return reached_from(results, leaves), results, handed
    finally:
        for leaf in held:
            leaf.requires_grad_(False)


def reached_from(results: Any, leaves: Mapping[str, Tensor]) -> dict[str, Tensor | None]:
    """The gradients of a fixed weighted sum of all floating results, by the leaves' names."""
    if not leaves:
        return {}
    total = sum(
        (part * normal({"w": part.shape}, 7 + k)["w"].to(part)).sum()
        for k, part in enumerate(flatten(results))
        if isinstance(part, Tensor) and part.is_floating_point()
    )
    if not isinstance(total, Tensor) or not total.requires_grad:
        return dict.fromkeys(leaves)
    reached = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return dict(zip(leaves, reached, strict=True))


def compare_gradients(
    name: str,
    got: Mapping[str, Tensor | Exception | None],
    expected: Mapping[str, Tensor | None],
    tolerance: float | None = None,
) -> None:
    """Raise Mistake if a gradient is wrong or missing (None), or computing it raised an error.

    Nobody can ask for one that the right answer has none of.
    """
    for argument, right in expected.items():
        if right is None:
            continue
        reached = got[argument]
        if reached is None and not right.any():
            continue
        if isinstance(reached, Exception):
            with sizes_told(*expected.values()):
                words = error_in_words(error_kind(reached), str(reached))
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}: on the way it "
                f"stops with {words}.",
                "Did you use NumPy, or change a tensor in place?",
            )
        if reached is None:
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}.",
                "Did you use .detach(), .data, .item(), NumPy or torch.no_grad() on the way?",
            )
        if not is_right(reached, right, tolerance):
            raise Mistake(
                f"{name}: the numbers are right, but the gradient of {argument} is not.",
                "Did a .detach(), .data or .item() cut off one of several paths?",
            )


def place_in_words(place: str) -> str:
    """ "state.0" as "part 1 of state", "step.table" as "the table of step"."""
    argument, _, inside = place.partition(".")
    if not inside:
        return argument
    return f"part {int(inside) + 1} of {argument}" if inside.isdigit() else f"the {inside} of {argument}"
