"""A recurrent language model: what comes next?"""

from __future__ import annotations

from torch import Tensor, nn

from seqcourse.models.interface import Output, Step, embed
from seqcourse.nn import Recurrent
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.recurrent import State


class CharLM(nn.Module):
    r"""A language model over characters (or any tokens): :math:`P(x_t \mid x_1 .. x_{t-1})`.

    Args:
        vocabulary_size: V.
        embed_size: E.
        hidden_size: H.
        kind: "rnn", "gru" or "lstm".
        num_layers: recurrent layers.
        dropout: between layers and before the output, while training.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        kind: str = "lstm",
        num_layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embed_size)
        self.recurrent = Recurrent(kind, embed_size, hidden_size, num_layers, dropout=dropout)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.dropout = Dropout(dropout)

    def start(self, memory: None = None, batch_size: int | None = None) -> State:
        """The state before the first character: zeros."""
        return self.recurrent.zero_state(1 if batch_size is None else batch_size)

    def step(self, tokens: Tensor, state: State, memory: None = None) -> Step:
        """One character further: tokens (B,)."""
        x = embed(self.embedding.weight, tokens)[:, None]  # (B, 1, E)
        outputs, state = self.recurrent(x, state=state)
        return Step(self.output(self.dropout(outputs[:, 0])), state)

    def forward(self, tokens: Tensor, state: State | None = None) -> Output:
        """All characters at once: tokens (B, T) to logits (B, T, V) for what follows each."""
        return self.run(tokens, state)[0]

    def run(self, tokens: Tensor, state: State | None = None) -> tuple[Output, State]:
        """As :meth:`forward`, and the state after the last character, to go on from there."""
        x = self.dropout(embed(self.embedding.weight, tokens))  # (B, T, E)
        outputs, state = self.recurrent(x, state=state)
        return Output(self.output(self.dropout(outputs))), state
