"""Exercise 5: a layer of the listener's pyramid, which halves the time axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind
from seqcourse.check.inside import ps8 as inside

Reader = Callable[[Tensor, Tensor], Tensor]


def pyramid_arguments(
    lengths: Sequence[int],
    d: int = 3,
    h: int = 2,
    extra: int = 0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `pyramid_layer`: vectors with something in the padding, lengths, a layer to read.

    extra: columns of padding that no sequence reaches.
    """
    x = normal({"x": (len(lengths), max(lengths) + extra, d)}, seed, dtype)["x"]
    w = normal({"w_in": (2, 2 * d, h), "w_again": (2, h, h)}, seed + 1, dtype)
    return {"x": x, "lengths": torch.tensor(list(lengths)), "lstm": partial(inside.lstm, **w)}


def reference_pyramid_layer(x: Tensor, lengths: Tensor, lstm: Reader) -> tuple[Tensor, Tensor]:
    """States of pairs of neighbours, and half the lengths, rounded up."""
    x = x * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    x = torch.cat([x, x.new_zeros(len(x), x.shape[1] % 2, x.shape[2])], dim=1)
    lengths = (lengths + 1) // 2
    return lstm(torch.cat([x[:, ::2], x[:, 1::2]], dim=-1), lengths), lengths


pyramid_layer = Exercise(
    "pyramid_layer",
    make=pyramid_arguments,
    reference=reference_pyramid_layer,
    likely={
        "Does it only work for an even number of columns? Of an odd one the last vector of an odd "
        "length is paired with zeros, (length + 1) // 2.": stopping(
            "is invalid for input of size|Sizes of tensors must match|must match the size"
        )
    },
    cases={
        "the first example": dict(lengths=[4, 4]),
        "other sizes": dict(lengths=[6, 6, 6], d=4, h=3, seed=1),
        "one sequence": Kind(dict(lengths=[8], d=2, seed=2), "Does a squeeze() or [0] drop the batch?"),
        "float32": Kind(
            dict(lengths=[4, 4], dtype=torch.float32), "Create new tensors like the old ones."
        ),
        "an odd number of columns": dict(lengths=[5, 5], seed=3),
        "padding, of even lengths": dict(lengths=[6, 2, 4], seed=4),
        "padding, of odd lengths": dict(lengths=[6, 3, 5, 1], seed=5),
        "padding and an odd number of columns": dict(lengths=[4, 7, 3], seed=6),
    },
    forbid=("pair_neighbours", "PyramidLSTM"),
)
