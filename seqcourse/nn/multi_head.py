"""Multi-head attention: several attentions side by side, each in a small space of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from seqcourse import functional as F

Cache = tuple[Tensor, Tensor]  # keys and values of what came before, each (B, H, T, D_head)


class MultiHeadAttention(nn.Module):
    r"""H attentions on projections of the input, concatenated and projected back (Vaswani et al. 2017).

    .. math:: \mathrm{head}_h = \mathrm{softmax}\!\left(
        \frac{X W_Q^h (X' W_K^h)^\top}{\sqrt{D/H}}\right) X' W_V^h, \qquad
        Y = [\mathrm{head}_1; \dots; \mathrm{head}_H]\, W_O

    The H projections are one matrix, whose result is reshaped. With ``memory`` the queries come from
    one set and the keys and values from another (cross-attention); without, all come from ``x``
    (self-attention).

    Args:
        width: D, of input and output.
        heads: H; each has D / H coordinates.
        dropout: share of the attention weights set to 0 while training.

    Raises:
        ValueError: if the heads do not divide the width, or the dropout is not at least 0 and below 1.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(f"heads should divide the width, {width}, but there are {heads}.")
        F.check_share(dropout)
        self.width, self.heads, self.dropout = width, heads, dropout
        # W_Q, W_K and W_V, one above the other.
        self.in_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_bias = nn.Parameter(torch.zeros(3 * width))
        self.out = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.in_weight)
        nn.init.xavier_uniform_(self.out.weight)
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
            q, k, v = map(self.split, linear(x, self.in_weight, self.in_bias).chunk(3, dim=-1))
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
        """The part behind the projections: q (B, H, N, D_head), k and v (B, H, M, D_head)."""
        dropout = self.dropout if self.training else 0.0
        mask = None if mask is None else _for_heads(F.boolean_mask(mask, q), len(k), q, k)
        y, weights = F.attention(
            q, k, v, mask, causal=causal, need_weights=need_weights, dropout=dropout
        )
        return self.out(y.transpose(1, 2).flatten(2)), weights  # (B, N, D)

    def queries(self, x: Tensor) -> Tensor:
        """The queries of x (B, N, D), (B, H, N, D_head)."""
        return self.split(linear(x, self.in_weight[: self.width], self.in_bias[: self.width]))

    def keys_values(self, memory: Tensor) -> Cache:
        """Keys and values of a memory (B, M, D), each (B, H, M, D_head): computed once, used often."""
        F.check_width("The memory of multi-head attention", memory, self.width)
        both = linear(memory, self.in_weight[self.width :], self.in_bias[self.width :])
        k, v = both.chunk(2, dim=-1)
        return self.split(k), self.split(v)

    def step(self, x: Tensor, past: Cache) -> tuple[Tensor, Cache]:
        """Self-attention of the next vectors x (B, n, D) when keys and values before them are known.

        Returns:
            (B, n, D), equal to the last n rows of the causal :meth:`forward` over everything, and the
            longer cache.
        """
        q, k, v = map(self.split, linear(x, self.in_weight, self.in_bias).chunk(3, dim=-1))
        past = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        return self.attend(q, *past, causal=True)[0], past

    def empty_cache(self, batch_size: int) -> Cache:
        """The cache before the first vector."""
        empty = self.in_weight.new_zeros(batch_size, self.heads, 0, self.width // self.heads)
        return empty, empty

    def split(self, x: Tensor) -> Tensor:
        """(B, N, D) to (B, H, N, D / H): each head gets its own coordinates."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


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
