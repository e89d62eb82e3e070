"""Exercise 8: a decoder with three faults, of which only symptoms are told."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.ps5.heads import reference_merge_heads, reference_split_heads


def decoder_arguments(
    batch: int,
    size: int,
    heads: int,
    d: int,
    past: int = 0,
    v: int = 11,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `decoder`: `size` tokens after `past` cached ones; d is a head's width."""
    width = heads * d
    known = normal({"k": (batch, heads, past, d), "v": (batch, heads, past, d)}, seed + 1, dtype)
    drawn = normal(
        {
            "table": (v, width),
            "places": (16, width),
            "w_in": (3 * width, width),
            "w_out": (width, width),
        },
        seed + 2,
        dtype,
    )
    generator = torch.Generator().manual_seed(seed)
    return {
        "tokens": torch.randint(v, (batch, size), generator=generator),
        "cache": list(known.values()) if past else None,
        **{name: value / width**0.5 if name[0] == "w" else value for name, value in drawn.items()},
        "heads": heads,
    }


def _decoder(
    *,
    first: Callable[[int], int] = lambda past: past,
    axis: int = -1,
    merge: Callable[[Tensor], Tensor] = reference_merge_heads,
    add: Callable[[Tensor, Tensor], Tensor] = lambda x, even: x,
    mask: Callable[[int, int], Tensor | None] = functional.causal_mask,
) -> Callable[..., tuple[Tensor, list[Tensor]]]:
    """The decoder, with one part put in another's place."""

    def decoder(tokens, cache, table, places, w_in, w_out, heads):
        size, past = tokens.shape[1], cache[0].shape[2] if cache else 0
        x = table[tokens] + places[first(past) : first(past) + size]
        even = x / x.square().mean(dim=axis, keepdim=True).sqrt()
        q, k, v = (reference_split_heads(part, heads) for part in (even @ w_in.T).chunk(3, dim=-1))
        if cache:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        y, _ = functional.attention(q, k, v, mask(size, past))
        return (add(x, even) + merge(y) @ w_out.T) @ table.T, [k, v]

    return decoder


reference_decoder = _decoder()

# What each fault changes, and what to ask of who has not found it.
_FAULTS = {}


def _faulty(*questions: str) -> Callable[..., Any]:
    return _decoder(**{part: wrong for asked in questions for part, wrong in _FAULTS[asked].items()})


_LIKELY = {
    **{asked: _faulty(asked) for asked in _FAULTS},
    **{
        f"{asked} (It is not the only fault left.)": tuple(
            _faulty(*some) for many in (2, 3) for some in combinations(_FAULTS, many) if some[0] == asked
        )
        for asked in list(_FAULTS)[:2]
    },
}

decoder = Exercise(
    "decoder",
    make=decoder_arguments,
    reference=reference_decoder,
    likely=_LIKELY,
    cases=[
        *standard_cases(
            decoder_arguments,
            dict(batch=2, size=5, heads=3, d=4),
            dict(batch=3, size=3, heads=2, d=2, past=4),
        ),
        *cases_of(
            decoder_arguments,
            {
                "one token after a cache": dict(batch=2, size=1, heads=2, d=3, past=6, seed=3),
                "one head": dict(batch=2, size=4, heads=1, d=4, seed=4),
            },
        ),
    ],
    idea="A decoder whose shapes are all right can be wrong: properties that must hold show where.",
    see=("08", "Train in parallel, write one by one"),
)
