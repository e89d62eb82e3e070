"""Exercises 1 and 2: what the encoder hands over, and one step of the decoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.tokens import PAD

# The models that hold an encoder's ends and a decoder of this kind.
_MODELS = ("Seq2Seq", "EncoderDecoder")


def final_arguments(
    batch: int, time: int, h: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `final_states`: states with numbers in the padding too, and lengths.

    The first sentence fills the batch's length, the others are shorter where they can be.
    """
    drawn = normal({"states": (batch, time, 2 * h)}, seed=seed, dtype=dtype)
    lengths = [time - (2 * k + k // 2) % time for k in range(batch)]
    return {**drawn, "lengths": torch.tensor(lengths)}


def reference_final_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Where either direction ended: (B, 2H), the forward half first."""
    forward, backward = states.chunk(2, dim=-1)
    return torch.cat([forward[torch.arange(len(states)), lengths - 1], backward[:, 0]], dim=-1)


final_states = Exercise(
    "final_states",
    make=final_arguments,
    reference=reference_final_states,
    cases=standard_cases(dict(batch=3, time=5, h=2), dict(batch=4, time=7, h=3)),
    forbid=_MODELS,
)


def decoder_arguments(
    batch: int,
    v: int,
    e: int,
    s: int,
    c: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `decoder_step`: previous words, state, context, the decoder's weights.

    The second word is <pad>, whose row of the embedding is one like any other.
    scale: how large the logits are.
    """
    sizes = {
        "s": (batch, s),
        "c": (batch, c),
        "embedding": (v, e),
        "w_y": (s, e),
        "w_s": (s, s),
        "w_c": (s, c),
        "b": (s,),
        "w_out": (v, s),
        "b_out": (v,),
    }
    tokens = torch.tensor([(5 * k + 3 + seed) % v for k in range(batch)])
    tokens[1:2] = PAD
    drawn = normal(sizes, seed=seed, dtype=dtype)
    return {"tokens": tokens, **drawn, "w_out": scale * drawn["w_out"]}


def reference_decoder_step(
    tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out
) -> tuple[Tensor, Tensor]:
    """Logits (B, V) and the new state (B, D_S)."""
    new = torch.tanh(embedding[tokens] @ w_y.T + s @ w_s.T + c @ w_c.T + b)
    return new @ w_out.T + b_out, new


decoder_step = Exercise(
    "decoder_step",
    make=decoder_arguments,
    reference=reference_decoder_step,
    cases={
        **standard_cases(dict(batch=2, v=7, e=3, s=4, c=5), dict(batch=5, v=4, e=6, s=3, c=2)),
        "large logits": dict(batch=2, v=7, e=3, s=4, c=5, scale=50.0),
    },
    forbid=_MODELS,
)
