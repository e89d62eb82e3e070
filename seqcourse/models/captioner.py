"""Captioners: a picture's grid of vectors in, a sentence out (Vinyals et al. 2015; Xu et al. 2015).

The grid's vectors are the h_1..h_N that a translator's encoder would make of N words; all else is as in
translation. What the captioners differ in is where the context c_t comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Memory, Output, Step, embed
from seqcourse.nn import AdditiveScore, Attention, GridEncoder, LSTMCell

State = tuple[Tensor, Tensor]  # s and the LSTM's cell, (B, D_S) each
FIRST = ("mean", "learned")
GRADIENTS = ("reinforce", "straight")


@dataclass
class Captioned(Output):
    """A teacher-forced pass: besides logits and weights, ``drawn``, the log-probability (B, T') of the
    places that hard attention drew; None where nothing was drawn."""

    drawn: Tensor | None = None


class FixedCaptioner(nn.Module):
    r"""One context for all words: the mean of the grid, :math:`c = \frac{1}{N} \sum_i h_i`.

    .. math::
        s_0 &= \tanh(W_s \bar h + b_s), \qquad s_t = \mathrm{LSTM}([y_{t-1}; c_t], s_{t-1}) \\
        \mathrm{logits}_t &= U (y_{t-1} + L_s s_t + L_c c_t) + b

    the second line being the paper's deep output, with U the embeddings (tied).

    Args:
        vocabulary_size: V.
        embed_size: E, width of the words' vectors.
        hidden_size: D_S, of the LSTM.
        width: D, of the grid's vectors.
        size: sides of the pictures, in pixels.
        blocks: residual blocks of the encoder, see :class:`seqcourse.nn.GridEncoder`.
        first: where the first state comes from: "mean", as above and in the paper, or "learned", a
            parameter that is the same for every picture. Then whatever the decoder knows of the
            picture it has looked for.
        dropout: on the words' vectors and on the state that predicts, while training, but not on the
            context: what is said should be looked at when it is said, and not be remembered.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embed_size: int,
        hidden_size: int,
        width: int,
        *,
        size: int = 64,
        blocks: int = 1,
        first: str = "mean",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if first not in FIRST:
            raise ValueError(f"first should be one of {', '.join(FIRST)}, but it is {first!r}.")
        self.embedding = nn.Parameter(torch.randn(vocabulary_size, embed_size) * 0.1)
        self.encoder = GridEncoder(width, size, blocks=blocks)
        if first == "mean":
            self.first = nn.Linear(width, 2 * hidden_size)
        else:
            self.first = nn.Parameter(torch.zeros(2 * hidden_size))
        self.cell = LSTMCell(embed_size + width, hidden_size)
        self.from_state = nn.Linear(hidden_size, embed_size)
        self.from_context = nn.Linear(width, embed_size, bias=False)
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = nn.Dropout(dropout)

    @property
    def side(self) -> int:
        """Places on each side of the grid."""
        return self.encoder.side

    def encode(self, pictures: Tensor, lengths: Tensor | None = None) -> Memory:
        """Look at pictures (B, 3, S, S); ``lengths`` are those of sentences and mean nothing here."""
        grid = self.encoder(pictures)  # (B, N, D)
        everywhere = torch.ones(grid.shape[:2], dtype=torch.bool, device=grid.device)
        mean = grid.mean(1)
        return Memory(states=grid, mask=everywhere, final=mean, context=mean)

    def start(self, memory: Memory, batch_size: int | None = None) -> State:
        """The first state and the first cell, both from the mean of the grid or both learned."""
        if isinstance(self.first, nn.Parameter):
            both = self.first.expand(len(memory.final), -1)
        else:
            both = self.first(memory.final)
        s, cell = torch.tanh(both).chunk(2, -1)
        return s, cell

    def look(self, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Context (B, D), weights (B, N) and log-probability (B,) of what was drawn, or None."""
        return memory.context, None, None

    def step(self, tokens: Tensor, state: State, memory: Memory) -> Step:
        """One word further: previous words (B,)."""
        y = self.dropout(embed(self.embedding, tokens))  # (B, E)
        context, weights, _ = self.look(state[0], memory)
        state = self.cell(torch.cat([y, context], -1), state)
        return Step(self.predict(y, state[0], context), state, weights)

    def forward(self, pictures: Tensor, lengths: Tensor | None, tgt_in: Tensor) -> Captioned:
        """Teacher forcing: pictures (B, 3, S, S), previous words (B, T') to logits (B, T', V)."""
        memory = self.encode(pictures)
        embedded = self.dropout(embed(self.embedding, tgt_in))  # (B, T', E)
        state = self.start(memory)
        states, contexts, weights, drawn = [], [], [], []
        for y in embedded.unbind(1):
            context, weight, log_p = self.look(state[0], memory)
            state = self.cell(torch.cat([y, context], -1), state)
            states.append(state[0])
            contexts.append(context)
            weights.append(weight)
            drawn.append(log_p)
        logits = self.predict(embedded, torch.stack(states, 1), torch.stack(contexts, 1))
        return Captioned(logits, _stacked(weights), _stacked(drawn))

    def predict(self, y: Tensor, s: Tensor, context: Tensor) -> Tensor:
        """Logits (..., V) from previous word (..., E), state (..., D_S) and context (..., D)."""
        known = y + self.from_state(self.dropout(s)) + self.from_context(context)
        return nn.functional.linear(known, self.embedding, self.output_bias)


class SoftCaptioner(FixedCaptioner):
    r"""A new context for each word: the mean of the grid with weights (Xu et al. 2015, "soft").

    .. math::
        e_{t,i} = v^\top \tanh(W_s s_{t-1} + W_h h_i), \qquad a_t = \mathrm{softmax}(e_t), \qquad
        c_t = \beta_t \sum_i a_{t,i} h_i

    with a gate :math:`\beta_t = \sigma(w^\top s_{t-1} + b)` by which the decoder can look away,
    for a word that needs no picture.

    Args:
        score_size: D_A, of the score's hidden layer.
        options: see :class:`FixedCaptioner`.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embed_size: int,
        hidden_size: int,
        width: int,
        *,
        score_size: int | None = None,
        **options,
    ) -> None:
        super().__init__(vocabulary_size, embed_size, hidden_size, width, **options)
        self.attention = Attention(AdditiveScore(hidden_size, width, score_size))
        self.gate = nn.Linear(hidden_size, 1)

    def encode(self, pictures: Tensor, lengths: Tensor | None = None) -> Memory:
        """As :meth:`FixedCaptioner.encode`, with what the score prepares once per picture."""
        memory = super().encode(pictures)
        memory.context, memory.keys = None, self.attention.keys(memory.states)
        return memory

    def look(self, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        context, weights = self.attention(s, memory.states, memory.mask, memory.keys)
        return torch.sigmoid(self.gate(s)) * context, weights, None


class HardCaptioner(SoftCaptioner):
    r"""One place for each word, drawn (Xu et al. 2015, "hard").

    .. math:: i_t \sim a_t, \qquad c_t = \beta_t h_{i_t}

    A draw has no derivative. Two ways around it:

    ============  ================================================================================
    gradient      what teaches the weights
    ============  ================================================================================
    "reinforce"   :math:`(R_t - b_t)\, \partial \log a_{t,i_t}`: what follows a good draw becomes more
                  likely, see :func:`seqcourse.train.captioning_loss`; right on average, but noisy
    "straight"    forwards the drawn place, backwards as if it had been the soft context
                  (Bengio et al. 2013): never quite right, but calm
    ============  ================================================================================

    While it trains, a share ``soft`` of the pictures is looked at softly instead, as in the paper. In
    evaluation nothing is drawn: the place of the highest weight is taken.

    Args:
        gradient: one of the two.
        soft: share of the pictures of a batch that are looked at softly while training.
        options: see :class:`SoftCaptioner`.

    Raises:
        ValueError: if the gradient is unknown or the share is none.
    """

    def __init__(self, *sizes: int, gradient: str = "reinforce", soft: float = 0.5, **options) -> None:
        super().__init__(*sizes, **options)
        if gradient not in GRADIENTS:
            raise ValueError(f"gradient should be one of {', '.join(GRADIENTS)}, not {gradient!r}.")
        if not 0 <= soft <= 1:
            raise ValueError(f"soft should be a share between 0 and 1, but it is {soft}.")
        self.gradient, self.soft = gradient, soft

    def look(self, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        soft, weights = self.attention(s, memory.states, memory.mask, memory.keys)
        log_weights = weights.clamp_min(1e-9).log()
        place = F.gumbel_max(log_weights.detach()) if self.training else weights.argmax(-1)  # (B,)
        there = nn.functional.one_hot(place, weights.shape[-1]).to(weights.dtype)  # (B, N)
        if self.gradient == "straight":
            context = F.weighted_sum(there + weights - weights.detach(), memory.states)
        else:
            context = F.weighted_sum(there, memory.states)
        drawn = None
        if self.training:
            softly = torch.arange(len(s), device=s.device) < round(self.soft * len(s))  # (B,)
            context = torch.where(softly[:, None], soft, context)
            log_p = log_weights.gather(-1, place[:, None])[:, 0]
            drawn = torch.where(softly, 0.0, log_p) if self.gradient == "reinforce" else None
        return torch.sigmoid(self.gate(s)) * context, weights, drawn


def _stacked(parts: list[Tensor | None]) -> Tensor | None:
    return None if parts[0] is None else torch.stack(parts, 1)
