"""The Transformer's block: attention, where vectors meet, and an MLP, where each is alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
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
        F.check_width("The MLP", x, self.inner.in_features)
        return self.outer(self.dropout(ACTIVATIONS[self.activation](self.inner(x))))


class Block(nn.Module):
    r"""One layer of a Transformer: sublayers, each with a residual connection and a normalisation.

    .. math:: \text{post: } x \leftarrow \mathrm{LN}(x + f(x)) \qquad
        \text{pre: } x \leftarrow x + f(\mathrm{LN}(x))

    with f in turn self-attention, cross-attention (in a decoder) and the MLP. "post" is the paper's
    (Vaswani et al. 2017); "pre" leaves a path on which nothing but sums happens (Xiong et al. 2020).

    Args:
        width: D.
        heads: H.
        hidden: d_ff of the MLP.
        cross: whether it also attends to a memory, as a decoder does.
        norm: "pre" or "post".
        activation: of the MLP.
        eps: of the normalisations.
        dropout: on each sublayer's output, the attention weights and the MLP, while training.

    Raises:
        ValueError: if the norm or the activation is unknown or the heads do not divide the width.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int,
        *,
        cross: bool = False,
        norm: str = "pre",
        activation: str = "relu",
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm should be one of {', '.join(NORMS)}, but it is {norm!r}.")
        self.norm = norm
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
        given = self._before(x, self.self_norm)
        y, own = self.self_attention(given, mask=mask, causal=causal, need_weights=need_weights)
        x = self._after(x, y, self.self_norm)
        x, look = self._look(x, memory, memory_mask, need_weights)
        return self._think(x), (own, look)

    def step(
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
        y, longer = self.self_attention.step(self._before(x, self.self_norm), past)
        x = self._after(x, y, self.self_norm)
        x, look = self._look(x, memory, memory_mask, need_weights)
        return self._think(x), longer, look

    def prepare(self, states: Tensor) -> Cache:
        """Keys and values of an encoder's states (B, M, D) for the cross-attention."""
        return self.cross_attention.keys_values(states)

    def _look(
        self, x: Tensor, memory: Cache | None, mask: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """The sublayer of cross-attention, if there is one, and its weights."""
        attention = self.cross_attention
        if attention is None:
            if memory is not None:
                raise ValueError(
                    "A block without cross-attention cannot look at a memory. Make it with cross=True, "
                    "or leave the memory out."
                )
            return x, None
        if memory is None:
            raise ValueError(
                "A block with cross-attention needs a memory: memory=block.prepare(states), with the "
                "encoder's states (B, M, D)."
            )
        if mask is not None and mask.ndim == 2:
            mask = mask[:, None]  # (B, 1, M): of the keys, whatever the number of queries
        queries = attention.queries(self._before(x, self.cross_norm))
        y, weights = attention.attend(queries, *memory, mask, need_weights=need_weights)
        return self._after(x, y, self.cross_norm), weights

    def _think(self, x: Tensor) -> Tensor:
        """The sublayer of the MLP."""
        return self._after(x, self.mlp(self._before(x, self.mlp_norm)), self.mlp_norm)

    def _before(self, x: Tensor, norm: LayerNorm) -> Tensor:
        """What a sublayer is given."""
        return norm(x) if self.norm == "pre" else x

    def _after(self, x: Tensor, y: Tensor, norm: LayerNorm) -> Tensor:
        """A sublayer's input x with its output y: the residual connection."""
        x = x + self.dropout(y)
        return x if self.norm == "pre" else norm(x)
