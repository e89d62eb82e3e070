"""Attention for a recurrent decoder: score modules, global, local and with several heads.

Every score module splits its work in two: ``keys(h)`` is what depends on the encoder alone and is
computed once per sentence; ``from_keys(s, keys)`` is what every decoder step adds.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqcourse import functional as F


class Score(nn.Module):
    """Base of the four scores: ``forward(s, h)`` gives raw scores (B, T)."""

    def keys(self, h: Tensor) -> Tensor:
        """What can be computed from the encoder states h (B, T, D_H) alone."""
        return h

    def from_keys(self, s: Tensor, keys: Tensor) -> Tensor:
        """Raw scores (B, T) of the decoder state s (B, D_S) against prepared keys."""
        raise NotImplementedError

    def forward(self, s: Tensor, h: Tensor) -> Tensor:
        """Raw scores (B, T) of s (B, D_S) against h (B, T, D_H)."""
        return self.from_keys(s, self.keys(h))


class DotScore(Score):
    """:func:`seqcourse.functional.dot_score`; no parameters, needs D_S = D_H."""

    def __init__(self, state_size: int, memory_size: int, width: int | None = None) -> None:
        super().__init__()
        if state_size != memory_size:
            raise ValueError(
                f"DotScore needs decoder and encoder states of one width, but they have {state_size} "
                f"and {memory_size}. Use GeneralScore, or widths that agree."
            )

    def from_keys(self, s: Tensor, keys: Tensor) -> Tensor:
        return F.dot_score(s, keys)


class GeneralScore(Score):
    """:func:`seqcourse.functional.general_score`, with W (D_H, D_S)."""

    def __init__(self, state_size: int, memory_size: int, width: int | None = None) -> None:
        super().__init__()
        self.w = nn.Parameter(_uniform(memory_size, state_size))

    def from_keys(self, s: Tensor, keys: Tensor) -> Tensor:
        return F.general_score(s, keys, self.w)


class AdditiveScore(Score):
    """:func:`seqcourse.functional.additive_score`, with W_s, W_h and v of width D_A."""

    def __init__(self, state_size: int, memory_size: int, width: int | None = None) -> None:
        super().__init__()
        width = width or state_size
        self.w_s = nn.Parameter(_uniform(width, state_size))
        self.w_h = nn.Parameter(_uniform(width, memory_size))
        self.v = nn.Parameter(_uniform(width))

    def keys(self, h: Tensor) -> Tensor:
        return nn.functional.linear(h, self.w_h)  # (B, T, D_A)

    def from_keys(self, s: Tensor, keys: Tensor) -> Tensor:
        return F.additive_score_from_keys(s, keys, self.w_s, self.v)


class MLPScore(Score):
    """:func:`seqcourse.functional.mlp_score`, a hidden layer of width D_A on both states."""

    def __init__(self, state_size: int, memory_size: int, width: int | None = None) -> None:
        super().__init__()
        width = width or state_size
        self.w1 = nn.Parameter(_uniform(width, memory_size + state_size))
        self.b1 = nn.Parameter(torch.zeros(width))
        self.w2 = nn.Parameter(_uniform(width))
        self.b2 = nn.Parameter(torch.zeros(1))

    def from_keys(self, s: Tensor, keys: Tensor) -> Tensor:
        return F.mlp_score(s, keys, self.w1, self.b1, self.w2, self.b2)


SCORES = {"dot": DotScore, "general": GeneralScore, "additive": AdditiveScore, "mlp": MLPScore}


def _uniform(*shape: int) -> Tensor:
    bound = 1 / math.sqrt(shape[-1])
    return torch.empty(shape).uniform_(-bound, bound)


def _context(weights: Tensor, h: Tensor, mask: Tensor | None) -> Tensor:
    """The weighted sum; what the mask hides is no NaN."""
    context = F.weighted_sum(weights, h)
    F.check_hidden(context[:, None], mask if mask is None else mask[:, None], states=h)
    return context


class Attention(nn.Module):
    r"""Global attention: score every encoder state, softmax, weighted sum (Bahdanau et al. 2015).

    .. math::
        e_i = f_{att}(s, h_i), \qquad a = \mathrm{softmax}(e), \qquad c = \sum_i a_i h_i

    Args:
        score: f_att, the score module.
    """

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    def keys(self, h: Tensor) -> Tensor:
        """What the score can prepare from h (B, T, D_H), once for all decoder steps."""
        return self.score.keys(h)

    def scores(self, s: Tensor, h: Tensor, keys: Tensor | None = None) -> Tensor:
        """Raw scores e (B, T); ``keys`` as in :meth:`forward`."""
        return self.score.from_keys(s, self.keys(h) if keys is None else keys)

    def forward(
        self, s: Tensor, h: Tensor, mask: Tensor | None = None, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend once.

        Args:
            s: decoder state, (B, D_S).
            h: encoder states, (B, T, D_H).
            mask: (B, T), True = may attend.
            keys: ``self.keys(h)`` if it has been computed before.

        Returns:
            Context (B, D_H) and weights (B, T).
        """
        mask = None if mask is None else F.boolean_mask(mask, h)
        weights = F.softmax(self.scores(s, h, keys), mask=mask)
        return _context(weights, h, mask), weights


class LocalAttention(Attention):
    r"""Attention inside a window around a predicted position (Luong et al. 2015, "local-p").

    .. math::
        p = (T - 1) \cdot \sigma(v_p^\top \tanh(W_p s)), \qquad
        a_i = \mathrm{softmax}_{|i-p| \le D}(e_i) \cdot \exp\left(-\frac{(i-p)^2}{2 (D/2)^2}\right)

    The paper counts positions from 1 and has T in place of T - 1. The bell makes the position
    differentiable; because of it the weights sum to less than 1.

    Args:
        score: the score module.
        state_size: D_S.
        width: half-width D of the window, in words.

    Raises:
        ValueError: if the width is below 1.
    """

    def __init__(self, score: Score, state_size: int, width: int) -> None:
        super().__init__(score)
        if width < 1:
            raise ValueError(f"The window's half-width should be at least 1, but it is {width}.")
        self.width = width
        self.w_p = nn.Parameter(_uniform(state_size, state_size))
        self.v_p = nn.Parameter(_uniform(state_size))

    def centre(self, s: Tensor, lengths: Tensor) -> Tensor:
        """Predicted position of the window, (B,), between 0 and the last source position."""
        share = torch.sigmoid(torch.tanh(nn.functional.linear(s, self.w_p)) @ self.v_p)
        return share * (lengths - 1)

    def forward(
        self, s: Tensor, h: Tensor, mask: Tensor | None = None, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend once inside the window; arguments and result as in :class:`Attention`."""
        size = h.shape[1]
        everywhere = torch.ones(h.shape[:2], dtype=torch.bool, device=h.device)
        mask = everywhere if mask is None else F.boolean_mask(mask, h)
        centre = self.centre(s, mask.sum(-1))
        mask = mask & F.window_mask(centre, self.width, size)  # (B, T)
        weights = F.softmax(self.scores(s, h, keys), mask=mask)
        weights = weights * F.gaussian_window(centre, self.width, size)
        return _context(weights, h, mask), weights


class MultiHeadAttentionPool(nn.Module):
    r"""Several attentions for one recurrent decoder, each with its own score; contexts concatenated
    and brought back to the width of one by a matrix W_O, :math:`c = W_O [c^{(1)}; \dots; c^{(K)}]`.

    Args:
        scores: one score module per head.
        memory_size: D_H.

    Raises:
        ValueError: if there is no score module.
    """

    def __init__(self, scores: list[Score], memory_size: int) -> None:
        super().__init__()
        if not scores:
            raise ValueError("MultiHeadAttentionPool needs at least one score module, but got none.")
        self.heads = nn.ModuleList(Attention(score) for score in scores)
        self.out = nn.Linear(memory_size * len(scores), memory_size, bias=False)

    def keys(self, h: Tensor) -> tuple[Tensor, ...]:
        """What each head's score can prepare from h (B, T, D_H)."""
        return tuple(head.keys(h) for head in self.heads)

    def each(
        self, s: Tensor, h: Tensor, mask: Tensor | None = None, keys: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Contexts (B, heads, D_H) and weights (B, heads, T) of every head."""
        keys = self.keys(h) if keys is None else keys
        both = [head(s, h, mask, key) for head, key in zip(self.heads, keys, strict=True)]
        return torch.stack([c for c, _ in both], dim=1), torch.stack([w for _, w in both], dim=1)

    def forward(
        self, s: Tensor, h: Tensor, mask: Tensor | None = None, keys: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Context (B, D_H) and the mean of the heads' weights (B, T)."""
        contexts, weights = self.each(s, h, mask, keys)
        return self.out(contexts.flatten(1)), weights.mean(1)
