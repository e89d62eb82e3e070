"""Losses that sum several means, when each of several processes has a share of the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

Mean = Callable[[float], float]
_mean: ContextVar[Mean | None] = ContextVar("mean", default=None)


@contextmanager
def over_processes(mean: Mean) -> Iterator[None]:
    """A step of training in which `mean` gives the mean of a number over all processes."""
    before = _mean.set(mean)
    try:
        yield
    finally:
        _mean.reset(before)


def counted(part: Tensor, terms: Tensor, batch) -> Tensor:
    r"""A part of a loss that is a mean over other terms than the batch's, weighed for several processes.

    The trainer weighs the whole loss by the batch's :math:`b_p` terms. This part is a mean over
    :math:`n_p` others, and so it gets the factor

    .. math:: \frac{n_p / b_p}{\sum_q n_q / \sum_q b_q}

    Every process has to ask, also one that has no such term. With one process nothing changes.
    """
    mean = _mean.get()
    if mean is None:
        return part
    here, rows = float(terms), float(batch.terms)
    everywhere = mean(here) / mean(rows)
    return part * (here / rows / everywhere if everywhere else 0.0)
