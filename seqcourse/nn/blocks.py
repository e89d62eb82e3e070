"""The Transformer's block: attention, where vectors meet, and an MLP, where each is alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.nn.convolution import ConvolutionLayer
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.multi_head import Cache, MultiHeadAttention

ACTIVATIONS = {"relu": torch.relu, "gelu": F.gelu, "gelu_tanh": F.gelu_tanh, "silu": F.silu}
NORMS = ("pre", "post")


class LayerNorm(nn.Module):
    """Layer normalisation with its scales gamma and shifts beta, see :func:`functional.layer_norm`."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))
        self.beta = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        return F.layer_norm(x, self.gamma, self.beta, self.eps)


class FeedForward(nn.Module):
    r"""The same two layers on every vector alone, :math:`W_2\, \phi(W_1 x + b_1) + b_2`.

    Args:
        width: D.
        hidden: d_ff, usually 4 D.
        activation: phi, a name in ``ACTIVATIONS``.
        dropout: on the hidden layer, while training.
    """

    def __init__(self, width: int, hidden: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise ValueError(f"activation should be one of {known}, but it is {activation!r}.")
        self.inner, self.outer = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation = activation
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        return self.outer(self.dropout(ACTIVATIONS[self.activation](self.inner(x))))


class Block(nn.Module):
    r"""One layer of a Transformer: sublayers, each with a residual connection and a normalisation.

    .. math:: \text{post: } x \leftarrow \mathrm{LN}(x + f(x)) \qquad
        \text{pre: } x \leftarrow x + f(\mathrm{LN}(x))

    with f in turn a convolution (if there is one), self-attention, cross-attention (if there is one) and
    the MLP. "post" is the paper's (Vaswani et al. 2017); "pre" leaves a path on which nothing but sums
    happens (Xiong et al. 2020). The convolution, :math:`f(x) = \mathrm{ReLU}(W * x + b)`, hands each
    vector its neighbours before it looks further (a plain form of the Conformer's, Gulati et al. 2020).

    Args:
        width: D.
        heads: H.
        hidden: d_ff of the MLP.
        cross: whether it also attends to a memory, as a decoder does.
        kernel: odd, how many vectors the convolution sees, the one in the middle among them; it sees
            ahead, so it is for encoders. None: no convolution.
        norm: "pre" or "post".
        activation: of the MLP.
        eps: of the normalisations.
        dropout: on each sublayer's output, the attention weights and the MLP, while training.

    Raises:
        ValueError: if the norm or the activation is unknown, the heads do not divide the width or the
            kernel is even; and later if a block with a convolution should not look ahead.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int,
        *,
        cross: bool = False,
        kernel: int | None = None,
        norm: str = "pre",
        activation: str = "relu",
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm should be one of {', '.join(NORMS)}, but it is {norm!r}.")
        self.norm = norm
        self.convolution = ConvolutionLayer(width, kernel) if kernel else None
        self.convolution_norm = LayerNorm(width, eps) if kernel else None
        self.self_attention = MultiHeadAttention(width, heads, dropout)
        self.self_norm = LayerNorm(width, eps)
        self.cross_attention = MultiHeadAttention(width, heads, dropout) if cross else None
        self.cross_norm = LayerNorm(width, eps) if cross else None
        self.mlp = FeedForward(width, hidden, activation, dropout)
        self.mlp_norm = LayerNorm(width, eps)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        memory: Cache | None = None,
        memory_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, tuple[Tensor | None, Tensor | None]]:
        """One layer.

        Args:
            x: (B, N, D).
            mask: who may attend to whom in the self-attention, see :class:`MultiHeadAttention`.
            causal: no look ahead.
            memory: keys and values of the encoder, from :meth:`prepare`.
            memory_mask: real words of the source, (B, M).
            need_weights: also return the weights of both attentions.

        Returns:
            (B, N, D); weights of the self-attention (B, H, N, N) and of the cross-attention
            (B, H, N, M), None where there are none or they were not asked for.
        """
        maps: list[Tensor | None] = [None, None]

        def convolve(x: Tensor) -> Tensor:
            return torch.relu(self.convolution(self._without_padding(x, mask, causal)))

        def attend(x: Tensor) -> Tensor:
            y, maps[0] = self.self_attention(x, mask=mask, causal=causal, need_weights=need_weights)
            return y

        def look(x: Tensor) -> Tensor:
            y, maps[1] = self._look(x, memory, memory_mask, need_weights)
            return y

        if self.convolution is not None:
            x = self._sublayer(x, self.convolution_norm, convolve)
        x = self._sublayer(x, self.self_norm, attend)
        if self.cross_attention is not None:
            x = self._sublayer(x, self.cross_norm, look)
        return self._sublayer(x, self.mlp_norm, self.mlp), (maps[0], maps[1])

    def next(
        self,
        x: Tensor,
        past: Cache,
        memory: Cache | None = None,
        memory_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Cache, Tensor | None]:
        """The layer for the next vectors x (B, n, D) only, from the keys and values before them.

        Returns:
            (B, n, D), the longer cache, and the cross-attention's weights (B, H, n, M) or None.
        """
        if self.convolution is not None:
            raise ValueError("A block with a convolution needs the vectors behind, not one by one.")
        kept: list = [past, None]

        def attend(x: Tensor) -> Tensor:
            y, kept[0] = self.self_attention.next(x, past)
            return y

        def look(x: Tensor) -> Tensor:
            y, kept[1] = self._look(x, memory, memory_mask, need_weights)
            return y

        x = self._sublayer(x, self.self_norm, attend)
        if self.cross_attention is not None:
            x = self._sublayer(x, self.cross_norm, look)
        return self._sublayer(x, self.mlp_norm, self.mlp), kept[0], kept[1]

    def prepare(self, states: Tensor) -> Cache:
        """Keys and values of an encoder's states (B, M, D) for the cross-attention."""
        return self.cross_attention.keys_values(states)

    def _without_padding(self, x: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        """What the convolution may see of x (B, N, D): zeros for vectors that only fill the batch."""
        if causal:
            raise ValueError("A block with a convolution sees the next vectors, so it cannot be causal.")
        if mask is None:
            return x
        if mask.dim() != 2:
            raise ValueError(
                f"A block with a convolution needs a mask (B, N) that tells which vectors are real, but "
                f"it is {tuple(mask.shape)}."
            )
        return x * mask[..., None]

    def _look(self, x: Tensor, memory: Cache, mask: Tensor | None, need_weights: bool):
        attention = self.cross_attention
        return attention.attend(attention.queries(x), *memory, mask, need_weights=need_weights)

    def _sublayer(self, x: Tensor, norm: LayerNorm, function) -> Tensor:
        if self.norm == "post":
            return norm(x + self.dropout(function(x)))
        return x + self.dropout(function(norm(x)))
