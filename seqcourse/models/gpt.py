"""A decoder alone (Radford et al. 2018): what comes next, by attention to everything before."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Output, Step, embed
from seqcourse.models.stack import all_weights, small_normal_table
from seqcourse.nn.blocks import GATED, Block, made_norm
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.embedding import Positions
from seqcourse.nn.multi_head import Cache

#: What a decoder's parts are today; those of 2017 to 2020 are the defaults.
TODAY = {"positions": "rotary", "normalisation": "rms", "activation": "swiglu", "bias": False}


class GPT(nn.Module):
    r"""A language model made of masked self-attention: :math:`P(x_t \mid x_1 .. x_{t-1})`.

    The decoder of a Transformer without the look at an encoder. The logits are products with the
    embeddings, if these are tied. With its defaults it has the form of GPT-2 (Radford et al. 2019):
    learned positions, pre-norm, GELU; GPT itself normalised after each sublayer. With ``**TODAY`` it
    is the decoder of Llama (Touvron et al. 2023) and of most open models after it.

    Args:
        vocabulary_size: V.
        width: D.
        heads: H of every layer.
        layers: N.
        hidden: d_ff of the MLPs; 4 D if it is not given, 8/3 D of a gated one; 0 leaves them out.
        longest: number of learned positions, and so the longest text.
        norm, normalisation, activation, groups, window, bias, eps: see :class:`seqcourse.nn.Block`.
        positions: "learned", "sinusoidal", "rotary" or "none".
        base: of rotary positions.
        tied: whether the embeddings are the last layer's weights, too.
        dropout: while training, on embeddings, sublayers, attention weights and MLPs.
        soft_start: begin with learned positions that are sines and cosines, as large as the
            embeddings, and with blocks that add little. A small model then soon sees further back than
            one token.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        heads: int,
        layers: int,
        *,
        hidden: int | None = None,
        longest: int = 256,
        norm: str = "pre",
        normalisation: str = "layer",
        activation: str = "gelu",
        positions: str = "learned",
        base: float = 10_000.0,
        tied: bool = True,
        groups: int | None = None,
        window: int | None = None,
        bias: bool = True,
        eps: float = 1e-5,
        dropout: float = 0.0,
        soft_start: bool = False,
    ) -> None:
        super().__init__()
        self.width, self.longest = width, longest
        self.embedding = small_normal_table(vocabulary_size, width)
        self.output = None if tied else small_normal_table(vocabulary_size, width)
        turned = positions == "rotary"  # in the attention, so nothing is added here
        self.positions = Positions(width, "none" if turned else positions, longest)
        made = dict(norm=norm, normalisation=normalisation, activation=activation, dropout=dropout)
        made |= dict(groups=groups, rotary=base if turned else None, window=window, bias=bias, eps=eps)
        usual = 8 * width // 3 if activation in GATED else 4 * width
        hidden = usual if hidden is None else hidden
        self.blocks = nn.ModuleList(Block(width, heads, hidden, **made) for _ in range(layers))
        self.norm = made_norm(normalisation, width, eps) if norm == "pre" else nn.Identity()
        self.dropout = Dropout(dropout)
        if soft_start:
            self._begin_softly()

    def start(self, memory: None = None, batch_size: int | None = None) -> tuple[Cache, ...]:
        """The state before the first token: an empty key-value cache for each layer."""
        return tuple(b.self_attention.empty_cache(batch_size or 1) for b in self.blocks)

    def step(self, tokens: Tensor, state: tuple[Cache, ...], memory: None = None) -> Step:
        """One token further: tokens (B,)."""
        output, state = self.run(tokens[:, None], state)
        return Step(output.logits[:, -1], state)

    def run(self, tokens: Tensor, state: tuple[Cache, ...]) -> tuple[Output, tuple[Cache, ...]]:
        """As :meth:`forward` on tokens (B, n) that follow a state, and the state after them."""
        x = self._embed(tokens, first=state[0][0].shape[2])
        longer = []
        for block, past in zip(self.blocks, state, strict=True):
            x, past, _ = block.step(x, past)
            longer.append(past)
        return Output(self.logits(self.norm(x))), tuple(longer)

    def forward(self, tokens: Tensor) -> Output:
        """All tokens at once: (B, T) to logits (B, T, V) for what follows each.

        Padding on the right changes nothing at the tokens before it. Padding on the left would be read
        like any other token.
        """
        return Output(self.logits(self.states(tokens)))

    def states(self, tokens: Tensor) -> Tensor:
        """What the last layer knows at each place, (B, T, D): of that token and those before it."""
        x = self._embed(tokens)
        for block in self.blocks:
            x, _ = block(x, causal=True)
        return self.norm(x)

    def logits(self, states: Tensor) -> Tensor:
        """States (..., D) to logits of the next token, (..., V)."""
        return nn.functional.linear(states, self.embedding if self.output is None else self.output)

    def summary(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The state of each text's last token, (B, D): the only one that has read all of it."""
        rows = range(len(states))
        return states[rows, lengths - 1]

    def maps(self, tokens: Tensor) -> Tensor:
        """All attention weights, (B, layers, H, T, T)."""
        return all_weights(self.blocks, self._embed(tokens), causal=True)

    def _embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        return self.dropout(self.positions(embed(self.embedding, tokens), first))

    @torch.no_grad()
    def _begin_softly(self) -> None:
        self.embedding.mul_(5)
        if self.positions.table is not None:
            self.positions.table.copy_(0.1 * F.sinusoidal_encoding(self.longest, self.width))
        for block in self.blocks:
            block.self_attention.out.weight.mul_(0.1)
            if block.mlp is not None:
                block.mlp.outer.weight.mul_(0.1)
