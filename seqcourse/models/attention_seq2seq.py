"""Encoder-decoder with attention: a new context at every step (Bahdanau et al. 2015)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Memory, Output, Step, embed
from seqcourse.models.seq2seq import Seq2Seq
from seqcourse.nn import SCORES, Attention, GRUCell, LocalAttention, MultiHeadAttentionPool


class AttentionSeq2Seq(Seq2Seq):
    r"""A recurrent decoder that looks at the source anew before every word.

    .. math::
        e_{t,i} &= f_{att}(s_{t-1}, h_i), \qquad a_{t,\cdot} = \mathrm{softmax}(e_{t,\cdot}) \\
        c_t &= \sum_i a_{t,i} h_i, \qquad s_t = g_U(y_{t-1}, s_{t-1}, c_t)

    Args:
        score: f_att, one of "dot", "general", "additive", "mlp".
        heads: number of attentions side by side, each with its own score.
        window: half-width of local attention; None means global.
        score_size: D_A, hidden width of the additive and the MLP score (default D_S).
        options: see :class:`seqcourse.models.seq2seq.Seq2Seq`.

    Raises:
        ValueError: if the score is unknown, there is no head, or a window is asked for with several.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        score: str = "additive",
        heads: int = 1,
        window: int | None = None,
        score_size: int | None = None,
        **options,
    ) -> None:
        super().__init__(source_size, target_size, embed_size, hidden_size, **options)
        if score not in SCORES:
            raise ValueError(f"score should be one of {', '.join(SCORES)}, but it is {score!r}.")
        if heads < 1:
            raise ValueError(f"heads should be at least 1, but it is {heads}.")
        if window is not None and heads > 1:
            raise ValueError("Local attention is built for one head: leave out heads or window.")
        scores = [SCORES[score](hidden_size, self.memory_size, score_size) for _ in range(heads)]
        if window is not None:
            self.attention = LocalAttention(scores[0], hidden_size, window)
        elif heads > 1:
            self.attention = MultiHeadAttentionPool(scores, self.memory_size)
        else:
            self.attention = Attention(scores[0])
        self.cell = GRUCell(embed_size + self.memory_size, hidden_size)

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        """As :meth:`Seq2Seq.encode`, with what the attention prepares once per sentence."""
        memory = super().encode(src, src_lengths)
        memory.keys = self.attention.keys(memory.states)
        return memory

    def step(self, tokens: Tensor, state: Tensor, memory: Memory) -> Step:
        """One word further, as the four equations say: previous words (B,), state (B, D_S)."""
        embedded = self.dropout(embed(self.target_embedding, tokens))  # (B, E)
        context, weights = self.attention(state, memory.states, memory.mask, memory.keys)
        state = self.cell(torch.cat([embedded, context], dim=-1), state)
        return Step(self.predict(state, context, embedded), state, weights)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Output:
        """Teacher forcing: source (B, T), previous words (B, T') to logits (B, T', V).

        The same as T' calls of :meth:`step`, but what does not depend on the state, the embeddings'
        part of the cell's input and the readout, is computed for all steps at once.
        """
        memory = self.encode(src, src_lengths)
        embedded = self.dropout(embed(self.target_embedding, tgt_in))  # (B, T', E)
        width = embedded.shape[-1]
        w_word, w_context = self.cell.weight_ih[:, :width], self.cell.weight_ih[:, width:]
        from_words = nn.functional.linear(embedded, w_word, self.cell.bias_ih)  # (B, T', 3 D_S)
        s = self.start(memory)
        states, contexts, weights = [], [], []
        for from_word in from_words.unbind(1):
            context, weight = self.attention(s, memory.states, memory.mask, memory.keys)
            from_x = from_word + nn.functional.linear(context, w_context)
            from_h = nn.functional.linear(s, self.cell.weight_hh, self.cell.bias_hh)
            s = F.gru_combine(from_x, from_h, s)
            states.append(s)
            contexts.append(context)
            weights.append(weight)
        logits = self.predict(torch.stack(states, 1), torch.stack(contexts, 1), embedded)
        return Output(logits, torch.stack(weights, 1))
