"""Attention inside a recurrent decoder: four scores, one softmax, one weighted sum.

All scores take one decoder state per sequence, s (B, D_S), and all encoder states, h (B, T, D_H), and
return one raw score per encoder state, e (B, T).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse.functional.masks import boolean_mask
from seqcourse.functional.precision import widened


def dot_score(s: Tensor, h: Tensor) -> Tensor:
    r"""Dot product, :math:`e_i = h_i^\top s` (Luong et al. 2015). Needs D_S = D_H.

    Args:
        s: decoder state, (B, D).
        h: encoder states, (B, T, D).

    Returns:
        Raw scores, (B, T).

    Raises:
        ValueError: if the shapes do not fit, as for all four scores.
    """
    _check_states("dot_score", s, h)
    if s.shape[-1] != h.shape[-1]:
        raise ValueError(
            f"dot_score needs states of one width, but s has {s.shape[-1]} and h has {h.shape[-1]}; "
            f"general_score bridges two widths with a matrix."
        )
    return torch.einsum("bd,btd->bt", s, h)


def general_score(s: Tensor, h: Tensor, w: Tensor) -> Tensor:
    r"""Bilinear score, :math:`e_i = h_i^\top W s` (Luong et al. 2015).

    Args:
        s: decoder state, (B, D_S).
        h: encoder states, (B, T, D_H).
        w: (D_H, D_S).

    Returns:
        Raw scores, (B, T).
    """
    _check_states("general_score", s, h)
    _check_parameters("general_score", w=(w, (h.shape[-1], s.shape[-1])))
    return dot_score(linear(s, w), h)


def additive_score(s: Tensor, h: Tensor, w_s: Tensor, w_h: Tensor, v: Tensor) -> Tensor:
    r"""Additive score (Bahdanau et al. 2015), :math:`e_i = v^\top \tanh(W_s s + W_h h_i)`.

    The paper's :math:`v^\top \tanh(W [h_i; s])` is the same with :math:`W = [W_h\; W_s]`: splitting the
    matrix lets :math:`W_h h_i` be computed once for all decoder steps.

    Args:
        s: decoder state, (B, D_S).
        h: encoder states, (B, T, D_H).
        w_s: (D_A, D_S).
        w_h: (D_A, D_H).
        v: (D_A,).

    Returns:
        Raw scores, (B, T).
    """
    _check_states("additive_score", s, h)
    _check_parameters(
        "additive_score", w_s=(w_s, (len(v), s.shape[-1])), w_h=(w_h, (len(v), h.shape[-1]))
    )
    return additive_score_from_keys(s, linear(h, w_h), w_s, v)


def additive_score_from_keys(s: Tensor, keys: Tensor, w_s: Tensor, v: Tensor) -> Tensor:
    """:func:`additive_score` when keys = W_h h (B, T, D_A) has been computed beforehand."""
    hidden = torch.tanh(linear(s, w_s)[:, None, :] + keys)  # (B, T, D_A)
    return hidden @ v


def mlp_score(s: Tensor, h: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    r"""A network with one hidden layer on both states.

    .. math:: e_i = w_2^\top \mathrm{relu}(W_1 [h_i; s] + b_1) + b_2

    Args:
        s: decoder state, (B, D_S).
        h: encoder states, (B, T, D_H).
        w1: (D_A, D_H + D_S), the columns of h first.
        b1: (D_A,).
        w2: (D_A,).
        b2: (1,).

    Returns:
        Raw scores, (B, T).
    """
    _check_states("mlp_score", s, h)
    _check_parameters("mlp_score", w1=(w1, (len(w2), h.shape[-1] + s.shape[-1])))
    both = torch.cat([h, s[:, None, :].expand(-1, h.shape[1], -1)], dim=-1)  # (B, T, D_H + D_S)
    return torch.relu(linear(both, w1, b1)) @ w2 + b2


def softmax(scores: Tensor, dim: int = -1, mask: Tensor | None = None) -> Tensor:
    r"""Softmax that neither overflows nor divides by zero.

    .. math:: a_i = \frac{\exp(e_i - \max_j e_j)}{\sum_k \exp(e_k - \max_j e_j)}

    Subtracting the maximum changes nothing (numerator and denominator shrink by the same factor) and
    keeps every exponent at or below 0.

    Args:
        scores: raw scores, any shape.
        dim: the dimension that sums to 1.
        mask: boolean, broadcastable to ``scores``; True = may attend. Scores where it is False count as
            minus infinity, so their weights are exactly 0.

    Returns:
        Weights of the shape of ``scores``. Where nothing may be attended to, all weights are 0 (and
        their gradients too), never NaN.

    Raises:
        ValueError: if the mask is not boolean, or does not broadcast to the shape of ``scores``.
    """
    wide = widened(scores)
    if mask is None:
        shifted = wide - wide.amax(dim, keepdim=True).detach()
        exponentials = shifted.exp()
        return (exponentials / exponentials.sum(dim, keepdim=True)).to(scores.dtype)
    mask = _fitting(mask, scores)
    wide = wide.masked_fill(~mask, float("-inf"))
    highest = wide.amax(dim, keepdim=True).detach()
    nothing = highest == float("-inf")
    exponentials = (wide - highest.masked_fill(nothing, 0.0)).exp()
    total = exponentials.sum(dim, keepdim=True)
    return (exponentials / total.masked_fill(nothing, 1.0)).to(scores.dtype)


def log_softmax(scores: Tensor, dim: int = -1) -> Tensor:
    r"""Logarithm of the softmax, :math:`e_i - \max_j e_j - \log \sum_k \exp(e_k - \max_j e_j)`.

    Args:
        scores: raw scores (logits), any shape.
        dim: the dimension whose exponentials sum to 1.

    Returns:
        Log-probabilities of the shape of ``scores``; finite even where the probability underflows.
    """
    wide = widened(scores)
    shifted = wide - wide.amax(dim, keepdim=True).detach()
    return (shifted - shifted.exp().sum(dim, keepdim=True).log()).to(scores.dtype)


def weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    r"""The context, :math:`c = \sum_i a_i h_i`.

    Args:
        weights: attention weights, (B, T).
        values: encoder states, (B, T, D).

    Returns:
        Context, (B, D).

    Raises:
        ValueError: if there is not one weight for each encoder state.
    """
    if weights.dim() != 2 or weights.shape != values.shape[:-1]:
        raise ValueError(
            f"weighted_sum needs one weight (B, T) for each of the values (B, T, D), but the weights "
            f"are {tuple(weights.shape)} and the values {tuple(values.shape)}."
        )
    return torch.einsum("bt,btd->bd", weights, values)


def gaussian_window(centre: Tensor, width: int, size: int) -> Tensor:
    r"""The bell that local attention multiplies its weights with (Luong et al. 2015).

    .. math:: \exp\left(-\frac{(t - p)^2}{2\sigma^2}\right), \qquad \sigma = D / 2

    Args:
        centre: predicted position p, (B,).
        width: half-width D of the window, greater than 0.
        size: padded length T.

    Returns:
        Factors between 0 and 1, (B, T).

    Raises:
        ValueError: if the width is not greater than 0.
    """
    if width <= 0:
        raise ValueError(f"gaussian_window needs a width above 0, but it is {width}.")
    wide = widened(centre)
    positions = torch.arange(size, device=wide.device, dtype=wide.dtype)[None, :]
    sigma = width / 2
    return torch.exp(-((positions - wide[:, None]) ** 2) / (2 * sigma**2)).to(centre.dtype)


def _check_states(name: str, s: Tensor, h: Tensor) -> None:
    if s.dim() != 2 or h.dim() != 3 or s.shape[0] != h.shape[0]:
        raise ValueError(
            f"{name} takes one decoder state per sentence, s (B, D_S), and all encoder states, "
            f"h (B, T, D_H), but s is {tuple(s.shape)} and h is {tuple(h.shape)}."
        )


def _check_parameters(name: str, **given: tuple[Tensor, tuple[int, ...]]) -> None:
    for letter, (parameter, shape) in given.items():
        if parameter.shape != shape:
            raise ValueError(
                f"{name} needs {letter} of shape {shape} for these states, "
                f"but it is {tuple(parameter.shape)}."
            )


def _fitting(mask: Tensor, scores: Tensor) -> Tensor:
    mask = boolean_mask(mask, scores)
    sizes = zip(reversed(mask.shape), reversed(scores.shape), strict=False)
    if mask.dim() > scores.dim() or any(m not in (1, size) for m, size in sizes):
        raise ValueError(
            f"A mask should fit the scores, {tuple(scores.shape)}, but it is {tuple(mask.shape)}."
        )
    return mask
