"""Exercises 1 and 2: what the encoder hands over, and one step of the decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Case, Exercise, standard_cases
from seqcourse.check.inputs import normal
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


def _last(states: Tensor, lengths: Tensor, shift: int = 1) -> Tensor:
    return states[torch.arange(len(states)), lengths - shift]  # (B, 2H)


def _halves(states: Tensor) -> tuple[Tensor, Tensor]:
    return states.chunk(2, dim=-1)


def _both(forward: Tensor, backward: Tensor) -> Tensor:
    return torch.cat([forward, backward], dim=-1)


def reference_final_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Where either direction ended: (B, 2H), the forward half first."""
    forward, backward = _halves(states)
    return _both(_last(forward, lengths), backward[:, 0])


_FINAL_LIKELY = {
    "Did you cut the batch or the time in half? The directions are halves of the last axis.": (
        lambda states, lengths: _both(states.chunk(2, dim=1)[0][:, 0], states.chunk(2, dim=1)[1][:, 0])
    ),
}


final_states = Exercise(
    "final_states",
    make=final_arguments,
    reference=reference_final_states,
    likely=_FINAL_LIKELY,
    cases=standard_cases(final_arguments, dict(batch=3, time=5, h=2), dict(batch=4, time=7, h=3)),
    forbid=_MODELS,
    idea="Each direction of the encoder ends at another place: at the last real word, and at the first.",
    see=("02", "The code, naive and then right"),
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


def _decode(
    tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out, *, squash=torch.tanh, old=False
) -> tuple[Tensor, Tensor]:
    """The step; the options make mistakes."""
    new = squash(embedding[tokens] @ w_y.T + s @ w_s.T + c @ w_c.T + b)
    return (s if old else new) @ w_out.T + b_out, new


def reference_decoder_step(*arguments: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (B, V) and the new state (B, D_S)."""
    return _decode(*arguments)


def _without(*names: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """The step with these weights taken for zero."""

    def step(tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out):
        weights = {"w_y": w_y, "w_s": w_s, "w_c": w_c, "b": b, "w_out": w_out, "b_out": b_out}
        weights |= {name: torch.zeros_like(weights[name]) for name in names}
        return _decode(tokens, s, c, embedding, *weights.values())

    return step


def _first_logits(change: Callable[[Tensor], Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    def step(*arguments):
        logits, state = _decode(*arguments)
        return change(logits), state

    return step


def _embedding_per_row(tokens, s, c, embedding, *weights):
    return _decode(torch.arange(len(tokens)), s, c, embedding, *weights)


_DECODER_LIKELY = {
    "Did you forget the bias b_out of the logits?": _without("b_out"),
    "Is there a tanh around the logits? Only the state has one.": _first_logits(torch.tanh),
    "Did you return the most likely word? The logits of all words are asked for.": _first_logits(
        lambda z: z.argmax(dim=-1)
    ),
    "Did you take the first B rows of the embedding? Take the rows of these words: "
    "embedding[tokens].": _embedding_per_row,
}


decoder_step = Exercise(
    "decoder_step",
    make=decoder_arguments,
    reference=reference_decoder_step,
    likely=_DECODER_LIKELY,
    cases=[
        *standard_cases(
            decoder_arguments, dict(batch=2, v=7, e=3, s=4, c=5), dict(batch=5, v=4, e=6, s=3, c=2)
        ),
        Case("large logits", lambda: decoder_arguments(2, 7, 3, 4, 5, scale=50.0)),
    ],
    forbid=_MODELS,
    idea="At every step the decoder hears the previous word, its own state and the context.",
    see=("02", "What passes between: the context vector"),
)
