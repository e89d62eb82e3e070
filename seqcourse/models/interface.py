"""What every generator of tokens shares: three methods, and the records that pass between them.

::

    memory = model.encode(src, src_lengths)     # once per source sentence
    state = model.start(memory)                 # before the first token
    out = model.step(tokens, state, memory)     # one token further

A language model has no source: its memory is None, and ``start`` is told the batch size.
``decode`` knows a model by these methods only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn.functional import embedding


@dataclass
class Memory:
    """What the encoder leaves for the decoder.

    Attributes:
        states: h_1..h_T of every sentence, (B, T, D_H).
        mask: (B, T), True = a real word, may be attended to.
        final: the last state of each direction, side by side, (B, D_H); None if nothing is recurrent.
        keys: what the attention has prepared from ``states``, or None.
        context: the one context of a model without attention, (B, D_H), or None.
    """

    states: Tensor
    mask: Tensor
    final: Tensor | None = None
    keys: Any = None
    context: Tensor | None = None


@dataclass
class Step:
    """One decoding step: logits (B, V), the state after it, attention weights (B, T) or None."""

    logits: Tensor
    state: Any
    weights: Tensor | None = None


@dataclass
class Output:
    """A whole teacher-forced pass: logits (B, T', V), attention weights (B, T', T) or None."""

    logits: Tensor
    weights: Tensor | None = None


@dataclass
class Maps:
    """All attention weights of a Transformer, (B, layers, H, N_Q, N_X) each.

    Attributes:
        encoder: between source words.
        decoder: between target words; 0 where a word would look ahead.
        cross: from target words to source words.
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


def embed(table: Tensor, tokens: Tensor) -> Tensor:
    """Rows of an embedding table (V, D).

    Tokens are ids (...), or distributions over the vocabulary (..., V): then the result is the expected
    row, which lets a gradient through (used with the Gumbel-softmax).

    Raises:
        IndexError: on the CPU, if an id is outside the vocabulary.
    """
    if tokens.is_floating_point():
        return tokens @ table
    try:
        return embedding(tokens, table)
    except IndexError as error:
        raise IndexError(
            f"Ids should be between 0 and {len(table) - 1}, the vocabulary of this model, but they go "
            f"from {tokens.min()} to {tokens.max()}. Were they made with another vocabulary?"
        ) from error
