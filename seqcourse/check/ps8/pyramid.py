"""Exercise 5: a layer of the listener's pyramid, which halves the time axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Case, Exercise, cases_of
from seqcourse.check.inputs import normal
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


def _clean(x: Tensor, lengths: Tensor) -> Tensor:
    """Zeros in the padding, and one column more where the number of columns is odd."""
    x = x * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    return _even(x)


def _even(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_zeros(len(x), x.shape[1] % 2, x.shape[2])], dim=1)


def _halved(lengths: Tensor) -> Tensor:
    return (lengths + 1) // 2


def _neighbours(x: Tensor) -> Tensor:
    return torch.cat([x[:, ::2], x[:, 1::2]], dim=-1)


def _read(lstm: Reader, pairs: Tensor, lengths: Tensor, halved: Tensor) -> tuple[Tensor, Tensor]:
    return lstm(pairs, halved), halved


def _made(
    *,
    clean: Callable[[Tensor, Tensor], Tensor] = _clean,
    pair: Callable[[Tensor], Tensor] = _neighbours,
    halve: Callable[[Tensor], Tensor] = _halved,
    read: Callable[..., Any] = _read,
) -> Callable[..., Any]:
    """The layer with one part put in another's place."""

    def layer(x: Tensor, lengths: Tensor, lstm: Reader) -> Any:
        return read(lstm, pair(clean(x, lengths)), lengths, halve(lengths))

    return layer


reference_pyramid_layer = _made()


def _whole_pairs(x: Tensor, lengths: Tensor) -> Tensor:
    return x[:, : x.shape[1] // 2 * 2]


def _last_twice(x: Tensor, lengths: Tensor) -> Tensor:
    x = x * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    x, rows = _even(x), torch.arange(len(x))
    odd = (lengths % 2 == 1)[:, None]
    again = torch.where(odd, x[rows, lengths - 1], x[rows, lengths.clamp(max=x.shape[1] - 1)])
    x = x.clone()
    x[rows, lengths.clamp(max=x.shape[1] - 1)] = again
    return x


def _halves(x: Tensor) -> Tensor:
    middle = x.shape[1] // 2
    return torch.cat([x[:, :middle], x[:, middle:]], dim=-1)


def _interleaved(x: Tensor) -> Tensor:
    return torch.stack([x[:, ::2], x[:, 1::2]], dim=-1).flatten(2)


def _shapes(*arguments: Any) -> Any:
    raise AnyError("shapes cannot be multiplied")


def _odd(*arguments: Any) -> Any:
    raise AnyError(r"is invalid for input of size|Sizes of tensors must match|must match the size")


_ODD = "the last vector of an odd length is paired with zeros, (length + 1) // 2"

_LIKELY = {
    f"Are the lengths rounded down? Nothing that was said is lost: {_ODD}.": (
        _made(halve=lambda lengths: lengths // 2),
        _made(clean=lambda x, lengths: _even(x), halve=lambda lengths: lengths // 2),
    ),
    f"Is the last vector thrown away? Nothing that was said is lost: {_ODD}.": (
        _made(clean=_whole_pairs),
        _made(clean=_whole_pairs, halve=lambda lengths: lengths // 2),
    ),
    "Is the last vector of an odd length paired with itself? It is paired with zeros.": _made(
        clean=_last_twice
    ),
    "Are the lengths not halved? There are half as many states: (length + 1) // 2.": _made(
        halve=lambda lengths: lengths
    ),
    "Are the lengths broken numbers? (length + 1) // 2 are whole ones.": _made(
        halve=lambda lengths: lengths / 2
    ),
    "Does lstm get lengths as if there were no padding? Each sequence has its own.": _made(
        read=lambda lstm, pairs, old, halved: (
            lstm(pairs, torch.full_like(halved, pairs.shape[1])),
            halved,
        )
    ),
    "Did you return the lengths first? The order is states, lengths.": _made(
        read=lambda lstm, pairs, old, halved: (halved, lstm(pairs, halved))
    ),
    f"Does it only work for an even number of columns? Of an odd one {_ODD}.": _odd,
}


pyramid_layer = Exercise(
    "pyramid_layer",
    make=pyramid_arguments,
    reference=reference_pyramid_layer,
    likely=_LIKELY,
    cases=[
        Case("the first example", lambda: pyramid_arguments([4, 4])),
        Case("other sizes", lambda: pyramid_arguments([6, 6, 6], d=4, h=3, seed=1)),
        Case(
            "one sequence",
            lambda: pyramid_arguments([8], d=2, seed=2),
            "Does a squeeze() or [0] drop the batch?",
        ),
        Case(
            "float32",
            lambda: pyramid_arguments([4, 4], dtype=torch.float32),
            "Create new tensors like the old ones.",
        ),
        *cases_of(
            pyramid_arguments,
            {
                "an odd number of columns": dict(lengths=[5, 5], seed=3),
                "padding, of even lengths": dict(lengths=[6, 2, 4], seed=4),
                "padding, of odd lengths": dict(lengths=[6, 3, 5, 1], seed=5),
                "padding and an odd number of columns": dict(lengths=[4, 7, 3], seed=6),
            },
        ),
    ],
    forbid=("pair_neighbours", "PyramidLSTM"),
    idea="Each layer of the listener joins two neighbours in time, so that half as many states remain.",
    see=("15", "Listen: a pyramid"),
)
