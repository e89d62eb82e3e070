"""Multi-head attention: several attentions side by side, each in a small space of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from seqcourse import functional as F

Cache = tuple[Tensor, Tensor]  # keys and values of what came before, each (B, G, T, D_head)


class MultiHeadAttention(nn.Module):
    r"""H attentions on projections of the input, concatenated and projected back (Vaswani et al. 2017).

    .. math:: \mathrm{head}_h = \mathrm{softmax}\!\left(
        \frac{X W_Q^h (X' W_K^h)^\top}{\sqrt{D/H}}\right) X' W_V^h, \qquad
        Y = [\mathrm{head}_1; \dots; \mathrm{head}_H]\, W_O

    The H projections are one matrix, whose result is reshaped. With ``memory`` the queries come from
    one set and the keys and values from another (cross-attention); without, all come from ``x``
    (self-attention).

    What has changed since 2017 are options. With G < H groups, head h reads the keys and values of group
    :math:`\lfloor h\, G / H \rfloor`, so the cache is H / G times smaller (Ainslie et al. 2023; G = 1 is
    multi-query attention, Shazeer 2019). With rotary positions each query and key is turned by its
    position (Su et al. 2021, :func:`functional.rotate`), and nothing needs to be added to the vectors.

    Args:
        width: D, of input and output.
        heads: H; each has D / H coordinates.
        dropout: share of the attention weights set to 0 while training.
        groups: G sets of keys and values; None for as many as heads.
        bias: whether the projections have biases.
        rotary: the base of rotary positions, such as 10,000; None for no positions. For self-attention.
        window: how many vectors a query sees of those before it, itself among them, where attention is
            causal; None for all.

    Raises:
        ValueError: if the heads do not divide the width or the groups the heads, or the dropout is not
            at least 0 and below 1.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        dropout: float = 0.0,
        *,
        groups: int | None = None,
        bias: bool = True,
        rotary: float | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__()
        groups = heads if groups is None else groups
        if heads < 1 or width % heads:
            raise ValueError(f"heads should divide the width, {width}, but there are {heads}.")
        if groups < 1 or heads % groups:
            raise ValueError(f"groups should divide the heads, {heads}, but there are {groups}.")
        F.check_share(dropout)
        self.width, self.heads, self.groups, self.dropout = width, heads, groups, dropout
        self.size, self.rotary, self.window = width // heads, rotary, window
        rows = width + 2 * groups * self.size  # W_Q, W_K and W_V, one above the other
        self.in_weight = nn.Parameter(torch.empty(rows, width))
        self.in_bias = nn.Parameter(torch.zeros(rows)) if bias else None
        self.out = nn.Linear(width, width, bias=bias)
        nn.init.xavier_uniform_(self.in_weight)
        nn.init.xavier_uniform_(self.out.weight)
        if bias:
            nn.init.zeros_(self.out.bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            x: (B, N, D).
            memory: what the keys and values are made of, (B, M, D); ``x`` itself without it.
            mask: boolean, True = may attend: (B, 1, M) for all queries, (B, N, M), or (B, H, N, M). With
                two axes it is (B, M); where B = N > 1 it could as well be (N, M), and is refused.
            causal: no query looks ahead; needs M >= N.
            need_weights: return the weights too.

        Returns:
            (B, N, D), and weights (B, H, N, M) or None.

        Raises:
            ValueError: if the mask or a width does not fit.
        """
        F.check_width("Multi-head attention", x, self.width)
        if memory is None:
            q, k, v = self.project(x)
        else:
            q, (k, v) = self.queries(x), self.keys_values(memory)
        return self.attend(q, k, v, mask, causal=causal, need_weights=need_weights)

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The part behind the projections: q (B, H, N, D_head), k and v (B, G, M, D_head)."""
        dropout = self.dropout if self.training else 0.0
        mask = None if mask is None else _for_heads(F.boolean_mask(mask, q), len(k), q, k)
        if causal and self.window is not None:
            past = k.shape[2] - q.shape[2]
            near = F.causal_mask(q.shape[2], past, q.device, self.window)
            mask = near if mask is None else mask & near
        if self.groups < self.heads:
            k, v = (each.repeat_interleave(self.heads // self.groups, dim=1) for each in (k, v))
        y, weights = F.attention(
            q, k, v, mask, causal=causal, need_weights=need_weights, dropout=dropout
        )
        return self.out(y.transpose(1, 2).flatten(2)), weights  # (B, N, D)

    def queries(self, x: Tensor) -> Tensor:
        """The queries of x (B, N, D) for a memory, (B, H, N, D_head)."""
        bias = None if self.in_bias is None else self.in_bias[: self.width]
        return self.split(linear(x, self.in_weight[: self.width], bias))

    def keys_values(self, memory: Tensor) -> Cache:
        """Keys and values of a memory (B, M, D), each (B, G, M, D_head): computed once, used often."""
        F.check_width("The memory of multi-head attention", memory, self.width)
        bias = None if self.in_bias is None else self.in_bias[self.width :]
        k, v = linear(memory, self.in_weight[self.width :], bias).chunk(2, dim=-1)
        return self.split(k), self.split(v)

    def step(self, x: Tensor, past: Cache) -> tuple[Tensor, Cache]:
        """Self-attention of the next vectors x (B, n, D) when keys and values before them are known.

        Returns:
            (B, n, D), equal to the last n rows of the causal :meth:`forward` over everything, and the
            longer cache.
        """
        q, k, v = self.project(x, first=past[0].shape[2])
        past = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        return self.attend(q, *past, causal=True)[0], past

    def empty_cache(self, batch_size: int) -> Cache:
        """The cache before the first vector."""
        empty = self.in_weight.new_zeros(batch_size, self.groups, 0, self.size)
        return empty, empty

    def split(self, x: Tensor) -> Tensor:
        """(B, N, D) to (B, H, N, D_head): each head, or group, gets its own coordinates."""
        return x.unflatten(-1, (-1, self.size)).transpose(1, 2)

    def project(self, x: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of x (B, n, D) itself, whose first vector is at this position."""
        shared = self.groups * self.size
        parts = linear(x, self.in_weight, self.in_bias).split([self.width, shared, shared], dim=-1)
        q, k, v = map(self.split, parts)
        if self.rotary is not None:
            positions = torch.arange(first, first + x.shape[1], device=x.device)
            q, k = (F.rotate(each, positions, self.rotary) for each in (q, k))
        return q, k, v


def _for_heads(mask: Tensor, batch: int, q: Tensor, k: Tensor) -> Tensor:
    """A mask with an axis for the heads."""
    if mask.dim() == 4:
        return mask
    if mask.dim() == 3:
        return mask[:, None]
    queries, keys = q.shape[2], k.shape[2]
    if mask.shape == (batch, keys) and batch == queries > 1:
        raise ValueError(
            f"A mask {tuple(mask.shape)} has two readings here, as there are as many sequences as "
            f"queries. Say which with a third axis: mask[:, None] if it tells which keys of each "
            f"sequence are real, mask[None] if it tells which keys each query may see."
        )
    if mask.shape not in ((batch, keys), (1, keys)):
        raise ValueError(
            f"A mask with two axes tells which keys of each sequence are real, so it should be (B, M), "
            f"here {(batch, keys)}, but it is {tuple(mask.shape)}. "
            f"A mask (N, M) that holds for every sequence needs a third axis: mask[None]."
        )
    return mask[:, None, None, :]
