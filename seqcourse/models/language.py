"""A recurrent language model: what comes next?"""

from __future__ import annotations

from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Output, Step, embed
from seqcourse.nn import Recurrent
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.recurrent import State
from seqcourse.tokens import PAD


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
        """All characters at once: tokens (B, T) to logits (B, T, V) for what follows each.

        Padding on the right changes nothing at the characters before it. Padding on the left would be
        read like any other character.
        """
        return self._read(tokens, None, state)[0]

    def run(
        self, tokens: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Output, State]:
        """As :meth:`forward`, and the state after each text's last character, to go on from there.

        Args:
            tokens: (B, T), padded on the right.
            state: before the first character, zeros if it is not given.
            lengths: real length of each text, (B,), 1 to T, or None when none is padded.

        Raises:
            ValueError: if there is padding, and the lengths do not say so (looked for on a CPU only).
        """
        looks = F.looks_at_values(tokens)
        if looks and lengths is None and (tokens[:, [0, -1]] == PAD).any():
            raise ValueError(
                f"The texts are padded: <pad> (id {PAD}) stands at an end, and the state would be that "
                f"after reading it. Give lengths=, the real length of each, with padding on the right. "
                f"If id {PAD} is a character of yours, give torch.full((B,), T)."
            )
        hidden = None if lengths is None else ~F.length_mask(lengths, tokens.shape[1])
        if looks and hidden is not None and (tokens[hidden] != PAD).any():
            raise ValueError(
                f"Behind the length of each text there should be nothing but <pad> (id {PAD}): padding "
                f"goes on the right."
            )
        return self._read(tokens, lengths, state)

    def _read(self, tokens: Tensor, lengths: Tensor | None, state: State | None) -> tuple[Output, State]:
        x = self.dropout(embed(self.embedding.weight, tokens))  # (B, T, E)
        outputs, state = self.recurrent(x, lengths, state)
        return Output(self.output(self.dropout(outputs))), state
