"""A picture in one stream, a question in another, and layers in which each reads the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import embed
from seqcourse.models.stack import small_normal_table
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.co_attention import CoAttention
from seqcourse.nn.embedding import Positions
from seqcourse.nn.grid import GridEncoder

FUSIONS = ("co-attention", "apart")


@dataclass
class Answered:
    """Logits of the answers, (B, A), and of what each place of the grid shows, (B, N, A), or None."""

    answers: Tensor
    regions: Tensor | None


class TwoStream(nn.Module):
    r"""Questions about pictures, answered by choosing one of A answers (after ViLBERT, Lu et al. 2019).

    The picture's stream begins with a grid of features, the question's with words and learned positions.
    Each of L layers is a block in each stream and then a co-attention, in which each stream reads the
    other; only the grid goes into the first co-attention as it is, for convolutions made it. The answer
    comes from both ends, multiplied:

    .. math:: \mathrm{logits} = \mathrm{MLP}(\bar x \odot y_1)

    with :math:`\bar x` the mean of the picture's stream and :math:`y_1` the first word's place, <sos>.

    In the paper the picture's stream begins with regions that a detector has found, and it was trained
    to name the things in them. Here a linear layer on each place of the grid names the thing that is
    there, for an auxiliary loss.

    The baseline "apart" has the same parameters and the same product at the end, but the streams never
    read each other: in each co-attention a stream takes keys and values from itself.

    Args:
        vocabulary_size: V, of the questions.
        answers: A.
        width: D of both streams.
        heads: H of every attention.
        layers: L.
        hidden: d_ff of the MLPs; 2 D if it is not given.
        size: sides of the pictures, in pixels.
        channels: of the convolutions of the picture's encoder, see :class:`seqcourse.nn.GridEncoder`;
            None if the model is given grids of vectors, (B, N, D), made by another model.
        blocks: residual blocks of that encoder.
        longest: number of positions of a question.
        fusion: "co-attention" or "apart".
        dropout: while training, on embeddings, sublayers, attention weights and MLPs.

    Raises:
        ValueError: if the fusion is unknown, or later for a question longer than ``longest``.
    """

    def __init__(
        self,
        vocabulary_size: int,
        answers: int,
        *,
        width: int = 64,
        heads: int = 4,
        layers: int = 2,
        hidden: int | None = None,
        size: int = 64,
        channels: Sequence[int] | None = (32, 64, 96),
        blocks: int = 1,
        longest: int = 16,
        fusion: str = "co-attention",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if fusion not in FUSIONS:
            raise ValueError(f"fusion should be one of {', '.join(FUSIONS)}, but it is {fusion!r}.")
        self.fusion = fusion
        made = dict(activation="gelu", dropout=dropout)
        inner = hidden or 2 * width
        looks = channels is not None
        self.embedding = small_normal_table(vocabulary_size, width)
        self.positions = Positions(width, "learned", longest)
        self.encoder = GridEncoder(width, size, tuple(channels), blocks, "noise") if looks else None
        self.region = nn.Linear(width, answers) if looks else None
        self.meetings = nn.ModuleList(CoAttention(width, heads, inner, **made) for _ in range(layers))
        self.picture_blocks = nn.ModuleList(
            Block(width, heads, inner, **made) for _ in range(layers - 1)
        )
        self.text_blocks = nn.ModuleList(Block(width, heads, inner, **made) for _ in range(layers))
        self.picture_norm = LayerNorm(width)
        self.text_norm = LayerNorm(width)
        self.answer = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, answers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, images: Tensor, tokens: Tensor, lengths: Tensor) -> Answered:
        """Answer.

        Args:
            images: pictures (B, 3, S, S), as :class:`seqcourse.nn.GridEncoder` takes them, or grids.
            tokens: questions (B, T), <sos> first, padded at the end.
            lengths: of each question, (B,).
        """
        grid = images if self.encoder is None else self.encoder(images)  # (B, N, D)
        x, y = self.streams(grid, tokens, lengths)
        regions = None if self.region is None else self.region(grid)
        return Answered(self.answer(x.mean(1) * y[:, 0]), regions)

    def streams(self, grid: Tensor, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The normed ends of both streams, of the grid's places (B, N, D) and of the words (B, T, D)."""
        x, y, _ = self._run(grid, tokens, lengths, need_weights=False)
        return self.picture_norm(x), self.text_norm(y)

    def maps(self, images: Tensor, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Weights of the co-attentions: the N places of the picture look at the words, (B, L, H, N, T),
        and the words at the places, (B, L, H, T, N).

        Raises:
            ValueError: if the model has no co-attention.
        """
        if self.fusion != "co-attention":
            raise ValueError(f"A model with fusion {self.fusion!r} has no co-attention to show.")
        grid = images if self.encoder is None else self.encoder(images)
        *_, found = self._run(grid, tokens, lengths, need_weights=True)
        at_words, at_places = zip(*found, strict=True)
        return torch.stack(at_words, 1), torch.stack(at_places, 1)

    def _run(self, x: Tensor, tokens: Tensor, lengths: Tensor, need_weights: bool):
        """Both streams to their ends, and the weights of each co-attention."""
        F.check_lengths(lengths, *tokens.shape)
        mask = F.length_mask(lengths, tokens.shape[1])
        y = self.dropout(self.positions(embed(self.embedding, tokens)))  # (B, T, D)
        found = []
        for number, text_block in enumerate(self.text_blocks):
            y, _ = text_block(y, mask[:, None])
            if number:
                x, _ = self.picture_blocks[number - 1](x)
            x, y, weights = self.meetings[number](
                x, y, y_mask=mask, meet=self.fusion == "co-attention", need_weights=need_weights
            )
            found.append(weights)
        return x, y, found


class GridNamer(nn.Module):
    """Names the thing at each place of a picture's grid: for us what a detector is for ViLBERT.

    Args:
        answers: A, names of things among them.
        width, size, channels, blocks: of its :class:`seqcourse.nn.GridEncoder`.
    """

    def __init__(
        self,
        answers: int,
        *,
        width: int = 64,
        size: int = 64,
        channels: Sequence[int] = (32, 64, 96),
        blocks: int = 1,
    ) -> None:
        super().__init__()
        self.encoder = GridEncoder(width, size, tuple(channels), blocks, "noise")
        self.region = nn.Linear(width, answers)

    def forward(self, images: Tensor) -> Tensor:
        """Pictures (B, 3, S, S) to grids of vectors (B, N, D)."""
        return self.encoder(images)
