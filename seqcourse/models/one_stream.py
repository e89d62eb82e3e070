"""A picture's places and a question's words in one row, read by a decoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import embed
from seqcourse.models.stack import small_normal_table
from seqcourse.models.two_stream import Answered
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.embedding import Positions


class OneStream(nn.Module):
    r"""Questions about pictures, answered as a language model would, by what comes next.

    .. math:: W x_1, \dots, W x_N, \; w_1, \dots, w_T \; \to \; \text{answer}

    The vectors of the picture's places become tokens by a linear map and stand in front of the words
    (as in LLaVA, Liu et al. 2023). Every token attends to those before it, the places also to each
    other, and the answer is read off at the last word.

    Args:
        vocabulary_size: V, of the questions.
        answers: A.
        places: N, of the grids.
        width, heads, layers, hidden: D, H, number of blocks and d_ff (2 D if it is not given).
        longest: number of positions of a question.
    """

    def __init__(
        self,
        vocabulary_size: int,
        answers: int,
        *,
        places: int = 64,
        width: int = 64,
        heads: int = 4,
        layers: int = 4,
        hidden: int | None = None,
        longest: int = 16,
    ) -> None:
        super().__init__()
        self.embedding = small_normal_table(vocabulary_size, width)
        self.positions = Positions(width, "learned", places + longest)
        self.project = nn.Linear(width, width)
        self.blocks = nn.ModuleList(
            Block(width, heads, hidden or 2 * width, activation="gelu") for _ in range(layers)
        )
        self.norm = LayerNorm(width)
        self.answer = nn.Linear(width, answers)

    def forward(self, grids: Tensor, tokens: Tensor, lengths: Tensor) -> Answered:
        """Answer questions (B, T), padded at the end, about grids (B, N, D)."""
        F.check_lengths(lengths, *tokens.shape)
        n, total = grids.shape[1], grids.shape[1] + tokens.shape[1]
        x = torch.cat([self.project(grids), embed(self.embedding, tokens)], 1)
        x = self.positions(x)
        mask = F.causal_mask(total).to(x.device)
        mask[:n, :n] = True  # the places see each other
        for block in self.blocks:
            x, _ = block(x, mask[None])
        last = n + lengths - 1  # the padding behind it is never looked at
        return Answered(self.answer(self.norm(x[range(len(x)), last])), None)
