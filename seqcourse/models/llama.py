"""A decoder as open models are made today, which runs their published weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse.models.interface import Output, Step, embed
from seqcourse.nn.llama import LlamaBlock, RMSNorm
from seqcourse.nn.multi_head import Cache

State = tuple[Cache, ...]  # of each layer: keys and values of what was read


class Llama(nn.Module):
    r"""Decoder-only language model of the Llama family (Touvron et al. 2023).

    The same idea as :class:`seqcourse.models.GPT`, :math:`P(x_t \mid x_1 .. x_{t-1})`, with other parts:
    rotary positions, grouped-query attention, RMS norm and a gated MLP, see :mod:`seqcourse.nn.llama`.
    The logits are products with the embeddings (tied).

    Args:
        vocabulary_size: V.
        width: D.
        heads: H queries of every vector.
        layers: N.
        groups: G keys and values of every vector; as many as heads if not given.
        hidden: of the gated MLPs; 8/3 D if not given.
        base: of the rotary positions.
        eps: of the RMS norms.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        heads: int,
        layers: int,
        *,
        groups: int | None = None,
        hidden: int | None = None,
        base: float = 10_000.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        groups, hidden = groups or heads, hidden or 8 * width // 3
        self.embedding = nn.Parameter(torch.randn(vocabulary_size, width) * 0.02)
        self.blocks = nn.ModuleList(
            LlamaBlock(width, heads, groups, hidden, base, eps) for _ in range(layers)
        )
        self.norm = RMSNorm(width, eps)

    def start(self, memory: None = None, batch_size: int | None = None) -> State:
        """The state before the first token: an empty key-value cache for each layer."""
        return tuple(block.attention.empty_cache(batch_size or 1) for block in self.blocks)

    def step(self, tokens: Tensor, state: State, memory: None = None) -> Step:
        """One token further: tokens (B,)."""
        output, state = self.run(tokens[:, None], state)
        return Step(output.logits[:, -1], state)

    def forward(self, tokens: Tensor) -> Output:
        """All tokens at once: (B, T) to logits (B, T, V) for what follows each.

        Padding on the right changes nothing at the tokens before it. Padding on the left would be read
        like any other token.
        """
        return self.run(tokens)[0]

    def run(self, tokens: Tensor, state: State | None = None) -> tuple[Output, State]:
        """As :meth:`forward` on tokens (B, n) that follow a state, and the state after them."""
        states, state = self._read(tokens, state)
        return Output(nn.functional.linear(states, self.embedding)), state

    def states(self, tokens: Tensor) -> Tensor:
        """The vectors after the last normalisation, (B, T, D)."""
        return self._read(tokens, None)[0]

    def maps(self, tokens: Tensor) -> Tensor:
        """All attention weights, (B, layers, H, T, T)."""
        x, found = embed(self.embedding, tokens), []
        for block in self.blocks:
            x, _, weights = block(x, need_weights=True)
            found.append(weights)
        return torch.stack(found, dim=1)

    def _read(self, tokens: Tensor, state: State | None) -> tuple[Tensor, State]:
        x, longer = embed(self.embedding, tokens), []
        for number, block in enumerate(self.blocks):
            x, cache, _ = block(x, None if state is None else state[number])
            longer.append(cache)
        return self.norm(x), tuple(longer)
