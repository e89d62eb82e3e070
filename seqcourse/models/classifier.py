"""A pre-trained model with a new last layer: which of C classes does a text belong to?"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.bert import BERT
from seqcourse.models.gpt import GPT
from seqcourse.nn.dropout import Dropout


@dataclass
class Classified:
    """Logits of the classes, (B, C), and of the words at every place, (B, T, V), or None."""

    classes: Tensor
    words: Tensor | None


class Classifier(nn.Module):
    """One linear layer on the vector with which a body sums up a text.

    Args:
        body: a :class:`GPT` (its last token's state) or a :class:`BERT` (its first one's, pooled).
        classes: C.
        dropout: on that vector, while training.
    """

    def __init__(self, body: GPT | BERT, classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(body.width, classes)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, lengths: Tensor, need_words: bool = False) -> Classified:
        """Classify texts.

        Args:
            tokens: (B, T), padded at the end.
            lengths: of each text, (B,), 1 to T.
            need_words: also give the language model's logits, for an auxiliary loss.

        Raises:
            ValueError: if there is not one length for each text, or one is not between 1 and T.
        """
        F.check_lengths(lengths, *tokens.shape)
        if isinstance(self.body, BERT):
            states = self.body.states(tokens, F.length_mask(lengths, tokens.shape[1])[:, None])
        else:
            states = self.body.states(tokens)
        summary = self.body.summary(states, lengths)
        words = self.body.logits(states) if need_words else None
        return Classified(self.head(self.dropout(summary)), words)
