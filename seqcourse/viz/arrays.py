"""From tensors, arrays and lists to numpy arrays, and sentences for what does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqcourse.errors import CourseError


def as_array(values: Any, name: str, dims: int | None = None) -> np.ndarray:
    """``values`` as a float array on the CPU; tensors are detached (torch need not be imported).

    Raises CourseError when the values are not numbers, or do not have ``dims`` dimensions.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise CourseError(
            f"{name} should be a rectangular array of numbers, but it could not be read as one "
            f"({error})."
        ) from error
    if dims is not None and array.ndim != dims:
        hint = ""
        if array.ndim == dims + 1:
            hint = " For a batch, pass one item of it, such as weights[0]."
        raise CourseError(
            f"{name} should have {dims} dimension{'s' * (dims > 1)}, but its shape is "
            f"{tuple(array.shape)}.{hint}"
        )
    if array.size == 0:
        raise CourseError(f"{name} is empty (shape {tuple(array.shape)}): nothing to draw.")
    return array


def as_labels(labels: Any, name: str) -> list[str]:
    """A list of strings; a bare string is refused, since it would be split into letters."""
    if isinstance(labels, str):
        raise CourseError(
            f"{name} should be a list of words, but it is the string {labels!r}. "
            f"Split it first, for example with data.tokenize."
        )
    if not isinstance(labels, Sequence) and not hasattr(labels, "__iter__"):
        raise CourseError(f"{name} should be a list of words, but it is {labels!r}.")
    return [str(label) for label in labels]
