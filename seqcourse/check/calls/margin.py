"""How far results are from the right ones, noted while checks compare them.

    with noted() as distances:
        judge.verdict(data)

`seqcourse audit` measures right and wrong answers with it: a tolerance has to lie between the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Distance:
    """How far one result is from the right one, and how far it may be.

    error: the largest |result - right| / (1 + |right|); infinite where only one of the two is a number.
    """

    error: float
    tolerance: float

    @property
    def ratio(self) -> float:
        """The error in units of the tolerance: above 1 the result is refused."""
        if not self.error:
            return 0.0
        return self.error / self.tolerance if self.tolerance else float("inf")


_open: list[list[Distance]] = []


@contextmanager
def noted() -> Iterator[list[Distance]]:
    """Collect the distances of all results that are compared with right ones inside the `with`."""
    found: list[Distance] = []
    _open.append(found)
    try:
        yield found
    finally:
        _open.remove(found)


@contextmanager
def aside() -> Iterator[None]:
    """Inside the `with`, comparisons are not noted: they are not with right results."""
    kept, _open[:] = _open[:], []
    try:
        yield
    finally:
        _open[:] = kept


def note(result: Tensor, right: Tensor, tolerance: float) -> None:
    """Note how far a result is from the right one of the same shape, if anybody collects."""
    if _open:
        distance = Distance(error_between(result, right), tolerance)
        for found in _open:
            found.append(distance)


def error_between(result: Tensor, right: Tensor) -> float:
    """The largest |result - right| / (1 + |right|) of two tensors of one shape."""
    one, other = result.detach().double(), right.detach().double()
    same = (one == other) | (one.isnan() & other.isnan())
    errors = torch.where(same, 0.0, (one - other).abs() / (1 + other.abs()))
    return errors.nan_to_num(nan=float("inf"), posinf=float("inf")).amax().item() if one.numel() else 0.0
