"""Exercise 8: a decoder with three faults, of which only symptoms are told."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
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


def reference_decoder(tokens, cache, table, places, w_in, w_out, heads) -> tuple[Tensor, list[Tensor]]:
    """Logits (B, T, V) and the longer cache."""
    size, past = tokens.shape[1], cache[0].shape[2] if cache else 0
    x = table[tokens] + places[past : past + size]
    even = x / x.square().mean(dim=-1, keepdim=True).sqrt()
    q, k, v = (reference_split_heads(part, heads) for part in (even @ w_in.T).chunk(3, dim=-1))
    if cache:
        k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
    y, _ = functional.attention(q, k, v, functional.causal_mask(size, past))
    return (x + reference_merge_heads(y) @ w_out.T) @ table.T, [k, v]


decoder = Exercise(
    "decoder",
    make=decoder_arguments,
    reference=reference_decoder,
    cases={
        **standard_cases(
            dict(batch=2, size=5, heads=3, d=4), dict(batch=3, size=3, heads=2, d=2, past=4)
        ),
        "one token after a cache": dict(batch=2, size=1, heads=2, d=3, past=6, seed=3),
        "one head": dict(batch=2, size=4, heads=1, d=4, seed=4),
    },
)
