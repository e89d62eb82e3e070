"""The inputs of a check in other forms, which no right answer may notice.

A form changes tensors among the arguments, wherever they are: in lists, dicts, in the arguments of a
function (`functools.partial`), in the fields of a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from seqcourse.audit import second
from seqcourse.check.calls import inputs
from seqcourse.check.calls.inputs import noncontiguous
from seqcourse.check.grade.verdict import Judge

Change = Callable[[Tensor], Tensor]
AS_MADE = "as made"
EXPANDED = "expanded"


def each_tensor(change: Change, value: Any) -> Any:
    """A value whose tensors are changed."""
    return inputs.each_tensor(lambda _, tensor: change(tensor), value)


def _cast(dtype: torch.dtype) -> Change:
    return lambda value: value.to(dtype) if value.is_floating_point() else value


def _sliced(value: Tensor) -> Tensor:
    """Every second number of a tensor twice as wide."""
    return torch.stack([value, value], dim=-1)[..., 0] if value.ndim else value


def _expanded(value: Tensor) -> Tensor:
    """The first row as all rows, which share its memory."""
    fits = value.is_floating_point() and value.ndim > 1 and len(value)
    return value[:1].expand(value.shape) if fits else value


# The right result is computed from the changed inputs. Only "expanded" makes other inputs of them: it is
# nothing for real data that an exercise has no reference for.
FORMS: Mapping[str, Change] = {
    "float32": _cast(torch.float32),
    "float64": _cast(torch.float64),
    "transposed": noncontiguous,
    "sliced": _sliced,
    EXPANDED: _expanded,
}
# Tensors that a function carries keep their strides: rows that are all alike would make a model of ties.
STRIDES = ("transposed", "sliced", EXPANDED)
SECOND = "second device"
ROUNDED = ("float32", "float64", SECOND)


def in_form(judge: Judge, form: str) -> Judge:
    """A judge of the same check with its inputs in a form. The second device has no 64-bit numbers.

    Raises:
        CourseError: the exercise has no right result for these inputs.
    """
    change = FORMS["float32" if form == SECOND else form]
    shallow = form in STRIDES
    return judge.changed(
        lambda given: {
            name: value if shallow and callable(value) else each_tensor(change, value)
            for name, value in given.items()
        }
    )


def differs(one: Any, other: Any) -> bool:
    """Whether a form changed anything: a dtype, a stride."""
    seen: list[list[tuple]] = [[], []]
    for found, value in zip(seen, (one, other), strict=True):
        each_tensor(lambda part, found=found: found.append((part.dtype, part.stride())) or part, value)
    return seen[0] != seen[1]


def moved(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call on the second device, which the process knows from then on."""
    second.install()
    return each_tensor(lambda value: value.to(second.NAME), given)


def can_move(made: Any) -> bool:
    """Whether there is a tensor to move, and none whose numbers the device lacks."""
    kinds: list[torch.dtype] = []
    each_tensor(lambda part: kinds.append(part.dtype) or part, made)
    return bool(kinds) and not set(kinds) & set(second.WIDE)
