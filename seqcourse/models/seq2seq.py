"""Recurrent encoder and decoder without attention.

The decoder of every model here predicts a word from what it knows at that step: its own state s_t, the
context c_t and the previous word. The three go through one hidden layer, the *readout*, and then meet
the target embeddings, which serve as output weights too (tied embeddings, Press and Wolf 2017).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Memory, Output, Step, embed
from seqcourse.nn import FirstState, Recurrent, average
from seqcourse.nn.dropout import Dropout

CONTEXTS = ("state", "separate", "average")


class Seq2Seq(nn.Module):
    """The part that all recurrent translators share: embeddings, encoder, first state, readout.

    Args:
        source_size: source vocabulary.
        target_size: target vocabulary.
        embed_size: E, width of both embeddings.
        hidden_size: D_S, width of the decoder's state and of each direction of the encoder.
        bidirectional: whether the encoder also reads from the right; then D_H = 2 D_S, else D_S.
        first_state: "zeros", "learned", "mean" or "last", see :class:`seqcourse.nn.FirstState`.
        has_context: whether the readout sees a context c_t beside the state.
        kind: recurrent unit of the encoder, "rnn", "gru" or "lstm".
        dropout: on embeddings and readout, while training.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        bidirectional: bool = True,
        first_state: str = "last",
        has_context: bool = True,
        kind: str = "gru",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.source_embedding = nn.Parameter(torch.randn(source_size, embed_size) * 0.1)
        self.target_embedding = nn.Parameter(torch.randn(target_size, embed_size) * 0.1)
        self.encoder = Recurrent(kind, embed_size, hidden_size, bidirectional=bidirectional)
        self.memory_size = self.encoder.output_size  # D_H
        self.hidden_size = hidden_size  # D_S
        self.first_state = FirstState(first_state, self.memory_size, hidden_size)
        self.context_size = self.memory_size if has_context else 0
        self.readout = nn.Linear(hidden_size + self.context_size + embed_size, embed_size)
        self.output_bias = nn.Parameter(torch.zeros(target_size))
        self.dropout = Dropout(dropout)

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        """Read the source: ids (B, T) and lengths (B,) to a :class:`Memory`."""
        x = self.dropout(embed(self.source_embedding, src))  # (B, T, E)
        states, last = self.encoder(x, src_lengths)
        last = last[0] if isinstance(last, tuple) else last  # (B, directions, D_S)
        mask = F.length_mask(src_lengths, src.shape[1])
        return Memory(states=states, mask=mask, final=last.flatten(1))

    def start(self, memory: Memory, batch_size: int | None = None) -> Tensor:
        """The decoder's first state s_0, (B, D_S); the memory knows the batch size."""
        return self.first_state(memory.states, memory.mask, memory.final)

    def predict(self, s: Tensor, context: Tensor | None, embedded: Tensor) -> Tensor:
        r"""Logits (..., V) from the state s_t, the context c_t and the embedded previous word y_{t-1}.

        .. math:: r_t = \tanh(W_r [s_t; c_t; y_{t-1}] + b_r), \qquad \mathrm{logits}_t = U r_t + b

        with U (V, E) the target embeddings. Without a context c_t is left out.
        """
        known = [s, embedded] if context is None else [s, context, embedded]
        hidden = torch.tanh(self.readout(torch.cat(known, dim=-1)))  # (..., E)
        return nn.functional.linear(self.dropout(hidden), self.target_embedding, self.output_bias)


class EncoderDecoder(Seq2Seq):
    r"""Encoder-decoder with one fixed context per sentence (Sutskever et al. 2014; Cho et al. 2014).

    ============  ==========================================================================
    context       what the decoder knows of the source
    ============  ==========================================================================
    "state"       only its first state s_0, made from h_T: s must carry source *and* progress
    "separate"    besides, c = h_T is an input of every step, so that s is free for its own work
    "average"     c is the average of all encoder states, at every step
    ============  ==========================================================================

    Because c never changes, the whole teacher-forced pass is one run of a recurrent layer.

    Args:
        context: one of the three.
        options: see :class:`Seq2Seq`.

    Raises:
        ValueError: if the context is unknown.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        context: str = "separate",
        **options,
    ) -> None:
        if context not in CONTEXTS:
            raise ValueError(f"context should be one of {', '.join(CONTEXTS)}, not {context!r}.")
        super().__init__(
            source_size, target_size, embed_size, hidden_size, has_context=context != "state", **options
        )
        self.context = context
        self.decoder = Recurrent("gru", embed_size + self.context_size, hidden_size)

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        """As :meth:`Seq2Seq.encode`, with the one context that every step is given."""
        memory = super().encode(src, src_lengths)
        if self.context == "separate":
            memory.context = memory.final
        elif self.context == "average":
            memory.context = average(memory.states, memory.mask)
        return memory

    def step(self, tokens: Tensor, state: Tensor, memory: Memory) -> Step:
        """One word further: previous words (B,), state (B, D_S)."""
        embedded = self.dropout(embed(self.target_embedding, tokens))  # (B, E)
        logits, state = self._run(embedded[:, None], state, memory)
        return Step(logits[:, 0], state)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Output:
        """Teacher forcing: source (B, T), previous target words (B, T') to logits (B, T', V)."""
        memory = self.encode(src, src_lengths)
        embedded = self.dropout(embed(self.target_embedding, tgt_in))  # (B, T', E)
        logits, _ = self._run(embedded, self.start(memory), memory)
        return Output(logits)

    def _run(self, embedded: Tensor, state: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        inputs, context = embedded, memory.context
        if context is not None:
            context = context[:, None].expand(-1, embedded.shape[1], -1)  # the same at every step
            inputs = torch.cat([embedded, context], dim=-1)
        s, last = self.decoder(inputs, state=state[:, None])
        return self.predict(s, context, embedded), last[:, 0]


class DelayedModel(Seq2Seq):
    """The first idea: read the source, then go on without input and emit one word per step.

    Its outputs ignore each other: word t does not know which word t - 1 was chosen. So where several
    translations are possible it mixes them.

    Args:
        options: see :class:`Seq2Seq`.
    """

    def __init__(
        self, source_size: int, target_size: int, embed_size: int, hidden_size: int, **options
    ) -> None:
        super().__init__(source_size, target_size, embed_size, hidden_size, has_context=False, **options)
        self.decoder = Recurrent("gru", embed_size, hidden_size)

    def step(self, tokens: Tensor, state: Tensor, memory: Memory) -> Step:
        """One step further; ``tokens`` (B,) are ignored, which is what is wrong with this model."""
        logits, state = self._run(state, 1)
        return Step(logits[:, 0], state)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Output:
        """Source (B, T) to logits (B, T', V); of ``tgt_in`` only the length counts."""
        state = self.start(self.encode(src, src_lengths))
        return Output(self._run(state, tgt_in.shape[1])[0])

    def _run(self, state: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        silence = state.new_zeros(state.shape[0], steps, self.target_embedding.shape[1])
        s, last = self.decoder(silence, state=state[:, None])
        return self.predict(s, None, silence), last[:, 0]
