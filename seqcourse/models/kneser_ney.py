"""n-grams of any tokens, counted and smoothed: what sequence models were before networks."""

from __future__ import annotations

import torch
from torch import Tensor


class KneserNey:
    r"""n-grams, n tokens in a row, with interpolated Kneser-Ney smoothing (Kneser and Ney 1995; Chen and
    Goodman 1999).

    .. math:: p_k(w \mid h) = \frac{\max(c_k(hw) - D_k, 0)}{\sum_v c_k(hv)}
        + \gamma_k(h)\, p_{k-1}(w \mid h') \qquad
        \gamma_k(h) = D_k \frac{|\{v: c_k(hv) > 0\}|}{\sum_v c_k(hv)}

    for a token w after the k - 1 tokens h; h' is h without the first of them, and p_0 = 1/V. Where h
    was never seen, p_k = p_{k-1}. For the longest n-grams, and for those that begin a sequence, c_k
    says how often one occurs; for the others, behind how many different tokens it stands: *Francisco*
    is frequent, but behind one word only. D_k = n_1 / (n_1 + 2 n_2), n_j being the number of k-grams
    with c_k = j; 1/2 where n_1 = 0.

    Args:
        tokens: sequences of ids from 0 to V - 1, one behind the other, (N,). What begins each of them
            is a token too, and stands nowhere else.
        places: the place of each token in its sequence, counted from 0, (N,).
        size: V.
        order: n, the length of the longest n-grams.

    Raises:
        ValueError: if tokens and places are not two rows of one length, an id is out of range, no
            sequence has a second token, or n is below 2.
    """

    def __init__(self, tokens: Tensor, places: Tensor, size: int, order: int) -> None:
        self.size, self.order = size, order
        self._check(tokens, places)
        if order < 2:
            raise ValueError(f"order should be at least 2, but it is {order}.")
        if not (places > 0).any():
            raise ValueError("There is nothing to count: no sequence has a second token.")
        # Of the k-grams, from k = 2 to n or as long as there are any: their keys, sorted; log p_k;
        # log gamma_k of the (k-1)-grams.
        self._keys: list[Tensor] = []
        self._log_p: list[Tensor] = []
        self._log_gamma: list[Tensor] = []

        grams = [tokens]  # the number of the k-gram that ends at each place
        ends = [tokens]  # a place where each k-gram ends (not needed for k = 1)
        for k in range(2, order + 1):
            here = (places >= k - 1).nonzero()[:, 0]
            if not len(here):
                break
            keys = self._key(grams[-1][here - 1], tokens[here])
            known, numbers = torch.unique(keys, return_inverse=True)
            self._keys.append(known)
            grams.append(torch.full_like(tokens, -1).index_copy_(0, here, numbers))
            ends.append(torch.zeros_like(known).scatter_(0, numbers, here))

        count = tokens[ends[1]].bincount(minlength=size)
        p, _ = _smooth(count, torch.zeros_like(count), 1, torch.full((size,), 1 / size).double())
        self._log_p1 = p.log()
        for k in range(2, len(grams) + 1):
            numbers, end = grams[k - 1], ends[k - 1]
            count = numbers[numbers >= 0].bincount(minlength=len(end))
            if k < len(grams):
                behind = numbers[ends[k]].bincount(minlength=len(end))
                count = torch.where(places[end] == k - 1, count, behind)
            shorter = grams[k - 2]
            p, gamma = _smooth(count, shorter[end - 1], len(p), p[shorter[end]])
            self._log_p.append(p.log())
            self._log_gamma.append(gamma.log())

    def log_probs(self, tokens: Tensor, places: Tensor) -> Tensor:
        """log p of each token after those before it in its sequence, (N,); 0 for what begins one.

        Args:
            tokens, places: as above.
        """
        self._check(tokens, places)
        value, gram = self._log_p1[tokens], tokens
        for k, (keys, log_p, log_gamma) in enumerate(
            zip(self._keys, self._log_p, self._log_gamma, strict=True), start=2
        ):
            context = gram.roll(1).masked_fill(places < k - 1, -1)
            key = self._key(context, tokens)
            at = torch.searchsorted(keys, key).clamp(max=len(keys) - 1)
            seen = (context >= 0) & (keys[at] == key)
            left = torch.where(context >= 0, log_gamma[context.clamp(min=0)], 0.0)
            value = torch.where(seen, log_p[at], value + left)
            gram = torch.where(seen, at, -1)
        return value.masked_fill(places == 0, 0.0)

    def _check(self, tokens: Tensor, places: Tensor) -> None:
        if tokens.shape != places.shape or tokens.dim() != 1:
            raise ValueError(
                f"tokens and places should be two rows of one length, but they are "
                f"{tuple(tokens.shape)} and {tuple(places.shape)}."
            )
        if len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) < self.size:
            raise ValueError(f"Ids should lie between 0 and {self.size - 1}.")

    def _key(self, context: Tensor, token: Tensor) -> Tensor:
        return context * self.size + token


def _smooth(count: Tensor, context: Tensor, contexts: int, below: Tensor) -> tuple[Tensor, Tensor]:
    """p of every n-gram and gamma of every context.

    Args:
        count: c(hw) of U n-grams, (U,).
        context: the number of h for each, (U,), of so many ``contexts``.
        below: p(w | h') for each, (U,).
    """
    count = count.double()
    once, twice = int((count == 1).sum()), int((count == 2).sum())
    discount = once / (once + 2 * twice) if once else 0.5
    total = torch.zeros(contexts).double().index_add_(0, context, count)
    kinds = context[count > 0].bincount(minlength=contexts)
    gamma = torch.where(total > 0, discount * kinds / total, 1.0)
    p = (count - discount).clamp(min=0) / total[context].clamp(min=1) + gamma[context] * below
    return p, gamma
