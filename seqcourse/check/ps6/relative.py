"""Exercise 9: attention that knows how far apart two places are (Shaw et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inputs import normal


def relative_arguments(
    batch: int,
    heads: int,
    n: int,
    m: int,
    d: int,
    reach: int,
    d_v: int = 3,
    masked: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `relative_attention`; with `masked` no query looks ahead."""
    sizes = {"q": (batch, heads, n, d), "k": (batch, heads, m, d), "v": (batch, heads, m, d_v)}
    tables = {"key_rows": (2 * reach + 1, d), "value_rows": (2 * reach + 1, d_v)}
    mask = functional.causal_mask(n, m - n) if masked else None
    return {**normal({**sizes, **tables}, seed, dtype), "mask": mask}


def _relative(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    key_rows: Tensor,
    value_rows: Tensor,
    mask: Tensor | None,
    *,
    sign: int = 1,
    late: bool = True,
    wrap: bool = False,
    on: tuple[bool, bool] = (True, True),
    inside: bool = True,
    root: bool = True,
    spread: Callable[[Tensor], Tensor] = lambda a: a,
) -> Tensor:
    """Attention with rows for distances; the options make mistakes."""
    n, m, reach = q.shape[-2], k.shape[-2], len(key_rows) // 2
    own = torch.arange(n) + (m - n if late else 0)
    apart = sign * (torch.arange(m) - own[:, None])
    place = apart % len(key_rows) if wrap else apart.clamp(-reach, reach) + reach  # (N, M)
    scores = q @ k.mT
    extra = torch.einsum("bhnd,nmd->bhnm", q, key_rows[place]) if on[0] else 0.0
    width = q.shape[-1] ** 0.5 if root else 1.0
    scores = (scores + extra) / width if inside else scores / width + extra
    weights = functional.softmax(scores, mask=mask)
    y = weights @ v
    if on[1]:
        y = y + torch.einsum("bhnm,nmd->bhnd", spread(weights), value_rows[place])
    return y


def reference_relative_attention(q, k, v, key_rows, value_rows, mask) -> Tensor:
    """(B, H, N, D_V), keys and values each with the row of their distance from the query."""
    return _relative(q, k, v, key_rows, value_rows, mask)


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _relative(*arguments, **mistake)


# The questions ask about what can be seen from outside; where the fault is, is the exercise.
_LIKELY = {
    "Is left taken for right? A key that comes later than its query is at a positive distance.": _with(
        sign=-1
    ),
    "Where do the queries stand when there are fewer of them than keys? They are the last ones.": _with(
        late=False
    ),
    "What happens to a key that is further away than the tables reach? It gets the outermost row.": (
        _with(wrap=True)
    ),
    "Do the weights know of the distances? They come into the scores.": _with(on=(False, True)),
    "Do the outputs know of the distances? Each value brings its row along.": _with(on=(True, False)),
    "Are both parts of a score divided by the root of D?": _with(inside=False),
    "Is no score divided by the root of D?": _with(root=False),
    "Is the mask not used?": lambda *given: _relative(*given[:-1], None),
    "Is every row of value_rows counted alike? Each counts with the weight of its key.": _with(
        spread=lambda a: torch.full_like(a, 1 / a.shape[-1])
    ),
}


relative_attention = Exercise(
    "relative_attention",
    make=relative_arguments,
    reference=reference_relative_attention,
    likely=_LIKELY,
    cases=cases_of(
        relative_arguments,
        {
            "the first example": dict(batch=2, heads=2, n=5, m=5, d=4, reach=2),
            "a mask": dict(batch=2, heads=1, n=4, m=4, d=3, reach=2, masked=True, seed=10),
            "fewer queries than keys": dict(batch=1, heads=2, n=2, m=6, d=3, reach=3, seed=20),
            "tables that reach further than the sentence": dict(
                batch=2, heads=2, n=3, m=3, d=4, reach=6, masked=True, seed=30
            ),
            "float32": dict(batch=2, heads=2, n=4, m=4, d=4, reach=1, dtype=torch.float32, seed=40),
        },
    ),
    gradient=("q", "k", "v", "key_rows", "value_rows"),
    idea="What matters of two words is often how far apart they are, not where they stand.",
    see=("07", "Positions"),
)
