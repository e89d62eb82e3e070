"""Sound in, letters out: Listen, Attend and Spell (Chan et al. 2016), a Transformer that spells, CTC."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Memory, Output, Step, embed
from seqcourse.models.writer import Writer
from seqcourse.nn import SCORES, Attention, LSTMCell, PyramidLSTM, Recurrent, embedding_table

State = tuple[Tensor, Tensor, Tensor]  # s, its cell, the last context


class Listener(nn.Module):
    """One bidirectional LSTM over the frames, and a :class:`seqcourse.nn.PyramidLSTM` on top.

    Args:
        input_size: D, numbers in a frame.
        listen_size: width of the LSTMs, of each direction.
        layers: L, how often the time axis is halved: one state is left for 2^L frames.
        dropout: of the states.
    """

    def __init__(self, input_size: int, listen_size: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.memory_size = 2 * listen_size
        self.register_buffer("mean", torch.zeros(input_size))
        self.register_buffer("std", torch.ones(input_size))
        self.bottom = Recurrent("lstm", input_size, listen_size, bidirectional=True)
        self.pyramid = PyramidLSTM(self.memory_size, listen_size, layers)
        self.dropout = nn.Dropout(dropout)

    def set_scale(self, frames: Tensor) -> None:
        """Take mean and standard deviation of every number in a frame from frames (N, D).

        What is heard later is shifted and scaled by them; they are stored with the weights.
        """
        self.mean.copy_(frames.mean(0))
        self.std.copy_(frames.std(0).clamp_min(1e-6))

    def listen(self, frames: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (B, T, D), their number (B,), to states (B, ceil(T / 2^L), D_H) and their mask."""
        x = self.bottom.outputs((frames - self.mean) / self.std, lengths)  # (B, T, D_H)
        states, lengths = self.pyramid(self.dropout(x), lengths)
        return self.dropout(states), F.length_mask(lengths, states.shape[1])


class Speller(Listener):
    r"""A pyramid of bidirectional LSTMs listens, an LSTM with attention spells.

    .. math::
        h &= \mathrm{Listen}(x), \qquad
        s_t = \mathrm{LSTM}(s_{t-1}, [y_{t-1}; c_{t-1}]) \\
        c_t &= \sum_u a_{t,u} h_u, \qquad a_{t,\cdot} = \mathrm{softmax}_u f_{att}(s_t, h_u) \\
        P(y_t \mid x, y_{<t}) &= \mathrm{softmax}(W_2 \tanh(W_1 [s_t; c_t]))

    It listens as a :class:`Listener`. Unlike in chapter 5 the new state looks: the last context goes
    into the LSTM, and the next one comes out of it. The paper has L = 3, two LSTM layers that spell,
    and f_att a dot product of two small networks' outputs.

    Args:
        vocabulary_size: V, of what is written: letters, as a rule.
        input_size: D, numbers in a frame.
        listen_size: width of the listener's LSTMs, of each direction.
        spell_size: D_S, width of the LSTM that spells.
        embed_size: E, of the letters.
        layers: L, how often the time axis is halved.
        score: f_att, one of "additive", "general", "mlp" (and "dot" where D_S = 2 ``listen_size``).
        dropout: of the listener's states and before the output.

    Raises:
        ValueError: if the score is unknown; later if frames are not (B, T, D) or lengths do not fit.
    """

    def __init__(
        self,
        vocabulary_size: int,
        input_size: int = 13,
        listen_size: int = 96,
        spell_size: int = 192,
        embed_size: int = 32,
        layers: int = 2,
        score: str = "additive",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(input_size, listen_size, layers, dropout)
        if score not in SCORES:
            raise ValueError(f"score should be one of {', '.join(SCORES)}, but it is {score!r}.")
        self.spell_size = spell_size
        self.embedding = embedding_table(vocabulary_size, embed_size)
        self.attention = Attention(SCORES[score](spell_size, self.memory_size))
        self.cell = LSTMCell(embed_size + self.memory_size, spell_size)
        self.readout = nn.Linear(spell_size + self.memory_size, spell_size)
        self.out = nn.Linear(spell_size, vocabulary_size)

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        """Listen: frames (B, T, D), their number (B,), to states (B, ceil(T / 2^L), D_H)."""
        states, mask = self.listen(src, src_lengths)
        return Memory(states, mask, keys=self.attention.keys(states))

    def start(self, memory: Memory, batch_size: int | None = None) -> State:
        """State, cell and context before the first letter: zeros."""
        batch = memory.states.shape[0]
        zeros = memory.states.new_zeros(batch, self.spell_size)
        return zeros, zeros, memory.states.new_zeros(batch, self.memory_size)

    def step(self, tokens: Tensor, state: State, memory: Memory) -> Step:
        """One letter further: previous letters (B,), and what :meth:`start` or a step left."""
        s, cell, context = state
        x = torch.cat([embed(self.embedding, tokens), context], dim=-1)
        s, cell = self.cell(x, (s, cell))
        context, weights = self.attention(s, memory.states, memory.mask, memory.keys)
        return Step(self.predict(s, context), (s, cell, context), weights)

    def predict(self, s: Tensor, context: Tensor) -> Tensor:
        """Logits (..., V) of state (..., D_S) and context (..., D_H)."""
        hidden = torch.tanh(self.readout(torch.cat([s, context], dim=-1)))
        return self.out(self.dropout(hidden))

    def forward(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Output:
        """Teacher forcing: frames (B, T, D), previous letters (B, T') to logits (B, T', V).

        The same as T' calls of :meth:`step`, with the readout of all steps at once.
        """
        memory = self.encode(src, src_lengths)
        s, cell, context = self.start(memory)
        states, contexts, weights = [], [], []
        for letter in embed(self.embedding, tgt_in).unbind(1):  # T' times (B, E)
            s, cell = self.cell(torch.cat([letter, context], dim=-1), (s, cell))
            context, weight = self.attention(s, memory.states, memory.mask, memory.keys)
            states.append(s)
            contexts.append(context)
            weights.append(weight)
        logits = self.predict(torch.stack(states, 1), torch.stack(contexts, 1))
        return Output(logits, torch.stack(weights, 1))


class TransformerSpeller(Writer):
    """The same listener; a Transformer's decoder spells (Vaswani et al. 2017).

    Args:
        vocabulary_size, width, heads, layers, hidden: see :class:`seqcourse.models.Writer`.
        input_size, listen_size, halvings: of the :class:`Listener`.
        dropout: of both.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        heads: int,
        layers: int,
        *,
        hidden: int | None = None,
        input_size: int = 13,
        listen_size: int = 96,
        halvings: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocabulary_size, width, heads, layers, hidden=hidden, dropout=dropout)
        self.listener = Listener(input_size, listen_size, halvings, dropout)
        self.into = nn.Linear(self.listener.memory_size, width)
        self.set_scale = self.listener.set_scale

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        """Listen: frames (B, T, D), their number (B,), to states (B, ceil(T / 2^L), d_model)."""
        states, mask = self.listener.listen(src, src_lengths)
        return self.remember(self.into(states), mask)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Output:
        """Teacher forcing: frames (B, T, D), previous letters (B, T') to logits (B, T', V)."""
        return Output(*self.write(self.encode(src, src_lengths), tgt_in))


class CTCSpeller(Listener):
    """A listener that names a letter, or nothing, for every stretch of sound (Graves et al. 2006).

    Nothing is asked and nothing attends: each state of the pyramid gives a distribution of its own.
    :func:`seqcourse.train.ctc_loss` sums over all ways in which a text can be spread over the states,
    and :func:`seqcourse.decode.best_path` reads them. A text needs a state for each letter, and one
    more between two equal letters.

    Args:
        vocabulary_size: V, of letters; <pad> stands for the blank.
        input_size, listen_size, layers, dropout: of the :class:`Listener`.
    """

    def __init__(
        self,
        vocabulary_size: int,
        input_size: int = 13,
        listen_size: int = 96,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(input_size, listen_size, layers, dropout)
        self.out = nn.Linear(self.memory_size, vocabulary_size)

    def forward(self, src: Tensor, src_lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (B, T, D) to logits (B, ceil(T / 2^L), V), and the number of states (B,)."""
        states, mask = self.listen(src, src_lengths)
        return self.out(states), mask.sum(1)
