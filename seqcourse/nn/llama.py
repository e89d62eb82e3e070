"""What decoders have changed since 2017: rotary positions, shared keys, RMS norm, a gated MLP.

Together they are the layer of Llama (Touvron et al. 2023) and of most open models after it. No layer has
a bias.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.nn.multi_head import Cache


class RMSNorm(nn.Module):
    """Root-mean-square normalisation with its scales gamma, see :func:`functional.rms_norm`."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        return F.rms_norm(x, self.gamma, self.eps)


class GatedMLP(nn.Module):
    r"""An MLP in which one projection opens and closes another (SwiGLU, Shazeer 2020).

    .. math:: W_{down}\left(\mathrm{silu}(W_{gate}\, x) \odot W_{up}\, x\right)

    Three matrices instead of two, so the hidden width is usually 8/3 of the width instead of 4 times it.

    Args:
        width: D.
        hidden: width of the gated layer.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., D) to vectors (..., D)."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class GroupedQueryAttention(nn.Module):
    r"""Causal self-attention in which several heads share one set of keys and values.

    .. math:: \mathrm{head}_h = \mathrm{attention}\left(R(X W_Q^h),\; R(X W_K^{g(h)}),\;
        X W_V^{g(h)}\right), \qquad g(h) = \lfloor h\, G / H \rfloor

    R turns each query and key by its position (:func:`functional.rotate`), so nothing is added to
    the vectors that says where they stand. With G < H groups the key-value cache, which bounds how many
    texts can be written at once, is H / G times smaller (Ainslie et al. 2023). G = H is multi-head
    attention, G = 1 is multi-query attention.

    Args:
        width: D.
        heads: H queries per vector, each with D / H coordinates.
        groups: G keys and values per vector.
        base: of the rotary positions.

    Raises:
        ValueError: if the heads do not divide the width, or the groups the heads.
    """

    def __init__(self, width: int, heads: int, groups: int, base: float = 10_000.0) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(f"heads should divide the width, {width}, but there are {heads}.")
        if groups < 1 or heads % groups:
            raise ValueError(f"groups should divide the heads, {heads}, but there are {groups}.")
        size = width // heads
        self.heads, self.groups, self.size, self.base = heads, groups, size, base
        self.query = nn.Linear(width, heads * size, bias=False)
        self.key = nn.Linear(width, groups * size, bias=False)
        self.value = nn.Linear(width, groups * size, bias=False)
        self.out = nn.Linear(heads * size, width, bias=False)

    def forward(
        self, x: Tensor, past: Cache | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Cache, Tensor | None]:
        """Attend to everything up to oneself.

        Args:
            x: the vectors that are new, (B, n, D).
            past: keys and values of what stands before them, (B, G, T, D / H) each; or None.
            need_weights: return the weights too.

        Returns:
            (B, n, D), the cache with the new keys and values, and weights (B, H, n, T + n) or None.
        """
        first = 0 if past is None else past[0].shape[2]
        positions = torch.arange(first, first + x.shape[1], device=x.device)
        q = F.rotate(self._split(self.query(x), self.heads), positions, self.base)  # (B, H, n, D / H)
        k = F.rotate(self._split(self.key(x), self.groups), positions, self.base)  # (B, G, n, D / H)
        v = self._split(self.value(x), self.groups)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        times = self.heads // self.groups
        shared = (kept.repeat_interleave(times, dim=1) for kept in (k, v))  # (B, H, T + n, D / H)
        y, weights = F.attention(q, *shared, causal=True, need_weights=need_weights)
        return self.out(y.transpose(1, 2).flatten(2)), (k, v), weights

    def empty_cache(self, batch_size: int) -> Cache:
        """The cache before the first vector."""
        empty = self.key.weight.new_zeros(batch_size, self.groups, 0, self.size)
        return empty, empty

    @staticmethod
    def _split(x: Tensor, parts: int) -> Tensor:
        return x.unflatten(-1, (parts, -1)).transpose(1, 2)


class LlamaBlock(nn.Module):
    r"""One layer: pre-norm, as in :class:`seqcourse.nn.Block`, made of the parts of this file.

    .. math:: x \leftarrow x + \mathrm{attention}(\mathrm{RMS}(x)), \qquad
        x \leftarrow x + \mathrm{MLP}(\mathrm{RMS}(x))

    Args:
        width: D.
        heads: H.
        groups: G, see :class:`GroupedQueryAttention`.
        hidden: of the gated MLP.
        base: of the rotary positions.
        eps: of the normalisations.
    """

    def __init__(
        self, width: int, heads: int, groups: int, hidden: int, base: float, eps: float
    ) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(width, eps)
        self.attention = GroupedQueryAttention(width, heads, groups, base)
        self.mlp_norm = RMSNorm(width, eps)
        self.mlp = GatedMLP(width, hidden)

    def forward(
        self, x: Tensor, past: Cache | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Cache, Tensor | None]:
        """New vectors (B, n, D), and what :class:`GroupedQueryAttention` takes and gives."""
        y, cache, weights = self.attention(self.attention_norm(x), past, need_weights)
        x = x + y
        return x + self.mlp(self.mlp_norm(x)), cache, weights
