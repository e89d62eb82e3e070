"""Two sequences that read each other: a picture and a sentence, each in a stream of its own."""

from __future__ import annotations

from torch import Tensor, nn

from seqcourse.nn.blocks import NORMS, FeedForward, LayerNorm
from seqcourse.nn.multi_head import MultiHeadAttention


class CoAttention(nn.Module):
    r"""Co-attention of two streams (ViLBERT, Lu et al. 2019).

    The queries come from one stream, keys and values from the other, in both directions at once:
    either stream reads the other as it was before the layer.

    .. math::
        x' = \mathrm{LN}(x + \mathrm{MHA}(Q = x, K = V = y)), \quad
        y' = \mathrm{LN}(y + \mathrm{MHA}(Q = y, K = V = x)), \quad
        x'' = \mathrm{LN}(x' + \mathrm{MLP}_x(x')), \quad y'' = \mathrm{LN}(y' + \mathrm{MLP}_y(y'))

    That is "post", the paper's; with "pre" the normalisations stand inside the residual connection:
    :math:`x' = x + \mathrm{MHA}(\mathrm{LN}_x(x), \mathrm{LN}_y(y))` and so on. The streams share no
    parameters. Inside a stream no vector sees another here: a ViLBERT layer is this and then an ordinary
    :class:`Block` in each stream. (The paper's streams differ in width; ours have the same.)

    Args:
        width: D of both streams.
        heads: H of both attentions.
        hidden: d_ff of both MLPs.
        norm: "pre" or "post".
        activation: of the MLPs.
        eps: of the normalisations.
        dropout: on each sublayer's output, the attention weights and the MLPs, while training.

    Raises:
        ValueError: if the norm or the activation is unknown or the heads do not divide the width.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int,
        *,
        norm: str = "pre",
        activation: str = "relu",
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm should be one of {', '.join(NORMS)}, but it is {norm!r}.")
        self.norm = norm
        self.x_attention = MultiHeadAttention(width, heads, dropout)  # queries x, keys and values y
        self.y_attention = MultiHeadAttention(width, heads, dropout)  # queries y, keys and values x
        self.x_norm, self.y_norm = LayerNorm(width, eps), LayerNorm(width, eps)
        self.x_mlp = FeedForward(width, hidden, activation, dropout)
        self.y_mlp = FeedForward(width, hidden, activation, dropout)
        self.x_mlp_norm, self.y_mlp_norm = LayerNorm(width, eps), LayerNorm(width, eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        y: Tensor,
        x_mask: Tensor | None = None,
        y_mask: Tensor | None = None,
        *,
        meet: bool = True,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor, tuple[Tensor | None, Tensor | None]]:
        """One layer.

        Args:
            x: one stream, (B, N, D), for instance the patches of a picture.
            y: the other stream, (B, M, D), for instance the words of a question.
            x_mask: boolean, (B, N), True = a real vector, the other stream may attend to it.
            y_mask: the same for y, (B, M).
            meet: False for a baseline of equal size: each stream takes keys and values from itself.
            need_weights: return the weights too.

        Returns:
            x (B, N, D), y (B, M, D), and the weights of both directions: x looks at y (B, H, N, M), y
            looks at x (B, H, M, N), or None and None. Without meeting x looks at x and y at y.
        """
        pre = self.norm == "pre"
        left, right = (self.x_norm(x), self.y_norm(y)) if pre else (x, y)
        x_mask, y_mask = (m if m is None else m[:, None] for m in (x_mask, y_mask))  # of the keys
        x_reads, y_reads = (right, y_mask), (left, x_mask)
        if not meet:
            x_reads, y_reads = y_reads, x_reads
        to_x, x_weights = self.x_attention(left, *x_reads, need_weights=need_weights)
        to_y, y_weights = self.y_attention(right, *y_reads, need_weights=need_weights)
        x, y = x + self.dropout(to_x), y + self.dropout(to_y)
        if pre:
            x = x + self.dropout(self.x_mlp(self.x_mlp_norm(x)))
            y = y + self.dropout(self.y_mlp(self.y_mlp_norm(y)))
        else:
            x, y = self.x_norm(x), self.y_norm(y)
            x = self.x_mlp_norm(x + self.dropout(self.x_mlp(x)))
            y = self.y_mlp_norm(y + self.dropout(self.y_mlp(y)))
        return x, y, (x_weights, y_weights)
