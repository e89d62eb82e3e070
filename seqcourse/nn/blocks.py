"""The Transformer's block: attention, where vectors meet, and an MLP, where each is alone."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.multi_head import Cache, MultiHeadAttention

ACTIVATIONS = {"relu": torch.relu, "gelu": F.gelu, "gelu_tanh": F.gelu_tanh, "silu": F.silu}
GATED = {"swiglu": F.silu, "geglu": F.gelu}
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


class RMSNorm(nn.Module):
    """Root-mean-square normalisation with its scales gamma, see :func:`functional.rms_norm`."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        return F.rms_norm(x, self.gamma, self.eps)


NORMALISATIONS = {"layer": LayerNorm, "rms": RMSNorm}


def made_norm(name: str, width: int, eps: float = 1e-5) -> nn.Module:
    """A normalisation of vectors (..., D) by its name in ``NORMALISATIONS``."""
    if name not in NORMALISATIONS:
        known = ", ".join(NORMALISATIONS)
        raise ValueError(f"normalisation should be one of {known}, but it is {name!r}.")
    return NORMALISATIONS[name](width, eps)


class FeedForward(nn.Module):
    r"""The same two layers on every vector alone, :math:`W_2\, \phi(W_1 x + b_1) + b_2`.

    Args:
        width: D.
        hidden: d_ff, usually 4 D.
        activation: phi, a name in ``ACTIVATIONS``.
        dropout: on the hidden layer, while training.
        bias: whether the layers have biases.
    """

    activations = ACTIVATIONS

    def __init__(
        self, width: int, hidden: int, activation: str = "relu", dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        _check_activation(activation, self.activations)
        self.inner = nn.Linear(width, hidden, bias=bias)
        self.outer = nn.Linear(hidden, width, bias=bias)
        self.activation = activation
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        F.check_width("The MLP", x, self.inner.in_features)
        return self.outer(self.dropout(ACTIVATIONS[self.activation](self.inner(x))))


class GatedFeedForward(FeedForward):
    r"""An MLP in which one projection opens and closes another (Shazeer 2020).

    .. math:: W_2 \left(\phi(W_g\, x) \odot W_1\, x\right)

    Three matrices instead of two, so the hidden width is usually 8/3 of the width instead of 4 times it.

    Args:
        width, hidden, dropout, bias: as of a plain MLP.
        activation: phi, of the gate: a name in ``GATED``.
    """

    activations = GATED

    def __init__(
        self,
        width: int,
        hidden: int,
        activation: str = "swiglu",
        dropout: float = 0.0,
        bias: bool = False,
    ) -> None:
        super().__init__(width, hidden, activation, dropout, bias)
        self.gate = nn.Linear(width, hidden, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        F.check_width("The MLP", x, self.inner.in_features)
        return self.outer(self.dropout(GATED[self.activation](self.gate(x)) * self.inner(x)))


def _check_activation(name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ValueError(
            f"activation should be one of {', '.join(known)}, but it is {name!r}. A plain MLP has "
            f"{', '.join(ACTIVATIONS)}, a gated one {', '.join(GATED)}."
        )


class Block(nn.Module):
    r"""One layer of a Transformer: sublayers, each with a residual connection and a normalisation.

    .. math:: \text{post: } x \leftarrow \mathrm{LN}(x + f(x)) \qquad
        \text{pre: } x \leftarrow x + f(\mathrm{LN}(x))

    with f in turn self-attention, cross-attention (in a decoder) and the MLP. "post" is the paper's
    (Vaswani et al. 2017); "pre" leaves a path on which nothing but sums happens (Xiong et al. 2020).

    Args:
        width: D.
        heads: H.
        hidden: d_ff of the MLP; 0 leaves the MLP out.
        cross: whether it also attends to a memory, as a decoder does.
        norm: "pre" or "post".
        normalisation: "layer" (2016) or "rms" (2019).
        activation: of the MLP: "relu" (2017), "gelu", "gelu_tanh" or "silu"; gated: "swiglu" (2020) or
            "geglu".
        groups, rotary, window: of the self-attention, see :class:`MultiHeadAttention`.
        bias: whether the linear layers have biases.
        eps: of the normalisations.
        dropout: on each sublayer's output, the attention weights and the MLP, while training.

    Raises:
        ValueError: if a name is unknown, or the heads do not divide the width or the groups the heads.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int,
        *,
        cross: bool = False,
        norm: str = "pre",
        normalisation: str = "layer",
        activation: str = "relu",
        groups: int | None = None,
        rotary: float | None = None,
        window: int | None = None,
        bias: bool = True,
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm should be one of {', '.join(NORMS)}, but it is {norm!r}.")
        self.norm = norm
        self.self_attention = MultiHeadAttention(
            width, heads, dropout, groups=groups, bias=bias, rotary=rotary, window=window
        )
        self.self_norm = made_norm(normalisation, width, eps)
        self.cross_attention = MultiHeadAttention(width, heads, dropout, bias=bias) if cross else None
        self.cross_norm = made_norm(normalisation, width, eps) if cross else None
        mlp = GatedFeedForward if activation in GATED else FeedForward
        self.mlp = mlp(width, hidden, activation, dropout, bias) if hidden else None
        self.mlp_norm = made_norm(normalisation, width, eps) if hidden else None
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
        """The sublayer of the MLP, if there is one."""
        if self.mlp is None:
            return x
        return self._after(x, self.mlp(self._before(x, self.mlp_norm)), self.mlp_norm)

    def _before(self, x: Tensor, norm: LayerNorm) -> Tensor:
        """What a sublayer is given."""
        return norm(x) if self.norm == "pre" else x

    def _after(self, x: Tensor, y: Tensor, norm: LayerNorm) -> Tensor:
        """A sublayer's input x with its output y: the residual connection."""
        x = x + self.dropout(y)
        return x if self.norm == "pre" else norm(x)
