"""The attention layer's one formula, with a readable path and PyTorch's fused one behind it."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from itertools import zip_longest

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seqcourse.functional.dropout import check_share
from seqcourse.functional.dropout import dropout as drop
from seqcourse.functional.masks import boolean_mask, causal_mask, check_hidden
from seqcourse.functional.precision import widened
from seqcourse.functional.scores import softmax


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    need_weights: bool = False,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor | None]:
    r"""Scaled dot-product attention (Vaswani et al. 2017).

    .. math:: Y = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{D}}\right) V

    The softmax runs over the keys. Divided by :math:`\sqrt{D}`, the similarity of two vectors with
    independent entries of variance 1 has variance 1, whatever their width.

    Args:
        q: queries, (..., N_Q, D).
        k: keys, (..., N_X, D).
        v: values, (..., N_X, D_V). All must be numbers, even where the mask hides them: 0 times NaN is
            NaN.
        mask: boolean, broadcastable to (..., N_Q, N_X); True = may attend. A query that may attend to
            nothing gets the output 0, and its gradients are 0 too.
        causal: no query looks ahead: query i sees the keys up to i, counted from the end of both, so
            that the last query sees every key. The same as ``causal_mask(N_Q, N_X - N_Q)`` as (part of)
            the mask.
        need_weights: return the weights; then the readable path computes them. Without, PyTorch's fused
            kernel computes the same output and never holds all N_Q N_X weights in memory.
        dropout: share of the weights that are set to 0 while training; the others grow by the same
            factor. 0 when a model is used.

    Returns:
        Outputs, (..., N_Q, D_V), and weights (..., N_Q, N_X), or None if they were not asked for.

    Raises:
        ValueError: if the shapes do not fit, the mask is not boolean or hides NaN (looked for on a CPU
            only), or the dropout is not at least 0 and below 1.
    """
    mask = None if mask is None else boolean_mask(mask, q)
    _check(q, k, v, mask)
    check_share(dropout)
    if causal and k.shape[-2] < q.shape[-2]:
        raise ValueError(
            f"Causal attention needs a key for each query, but there are {q.shape[-2]} queries and "
            f"{k.shape[-2]} keys."
        )
    one = q.shape[-2] == 1
    causal = causal and not one  # the last query sees every key
    mask = mask if mask is None else torch.atleast_2d(mask)  # the kernel takes no mask of one axis
    weights = None
    if need_weights:
        y, weights = _readable(q, k, v, _both(mask, causal, q, k), dropout)
    elif one and mask is not None and q.device.type == "cpu":  # two products beat the kernel
        y = _readable(q, k, v, mask, dropout)[0]
    else:
        y = _fused(q, k, v, mask, causal, dropout)
    check_hidden(y, mask, keys=k, values=v)
    return y, weights


def _readable(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float
) -> tuple[Tensor, Tensor]:
    """The formula as it is written, in at least 32 bits, as the kernel computes it."""
    given = q.dtype
    with _without_autocast(q.device.type):
        q, k, v = widened(q), widened(k), widened(v)
        similarities = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., N_Q, N_X)
        weights = softmax(similarities, dim=-1, mask=mask)
        return (drop(weights, dropout) @ v).to(given), weights.to(given)


def _without_autocast(device: str) -> AbstractContextManager:
    """Mixed precision would bring the two products back to 16 bits, of which the softmax is NaN."""
    mixed = torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
    return torch.autocast(device, enabled=False) if mixed else nullcontext()


def _fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, dropout: float) -> Tensor:
    """The same by PyTorch's kernel, which works through the keys block by block."""
    square = q.shape[-2] == k.shape[-2]
    if causal and mask is None and square:
        return scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
    mask = _both(mask, causal, q, k)
    return scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)


def _both(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask that was given, and no look ahead."""
    if not causal:
        return mask
    size = q.shape[-2]
    ahead = causal_mask(size, k.shape[-2] - size, device=q.device)
    return ahead if mask is None else mask & ahead


def _check(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    vectors = min(q.dim(), k.dim(), v.dim()) >= 2
    if not vectors or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"attention takes queries (..., N_Q, D), keys (..., N_X, D) and values (..., N_X, D_V), but "
            f"they are {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}."
        )
    if k.shape[-2] == 0 and q.shape[-2]:
        raise ValueError("attention needs at least one key, but there is none.")
    for sizes in zip_longest(*(reversed(x.shape[:-2]) for x in (q, k, v)), fillvalue=1):
        if len({size for size in sizes if size != 1}) > 1:
            raise ValueError(
                f"Queries, keys and values should agree in the axes before the last two, but they are "
                f"{tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}."
            )
    if mask is None:
        return
    wanted = (*q.shape[:-1], k.shape[-2])
    sizes = zip(reversed(mask.shape), reversed(wanted), strict=False)
    if mask.dim() > len(wanted) or any(m not in (1, size) for m, size in sizes):
        heads = len(wanted) > 3 and mask.dim() == 3 and mask.shape[0] == wanted[0]
        for_heads = " A mask (B, N_Q, N_X) needs an axis for the heads: mask[:, None]." if heads else ""
        raise ValueError(
            f"A mask should fit the similarities, {wanted}, but it is {tuple(mask.shape)}.{for_heads}"
        )
