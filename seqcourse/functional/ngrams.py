"""Which n-gram stands around a token, as a number."""

from __future__ import annotations

from torch import Tensor, zeros_like
from torch.nn.functional import pad


def ngram_bucket(
    tokens: Tensor, left: int, right: int, base: int, buckets: int, mask: Tensor | None = None
) -> Tensor:
    r"""The n-gram around each token, read as a number in base V, and what is left of it modulo M.

    .. math:: b_t = \Big(\sum_{j=-l}^{r} x_{t+j}\, V^{\,r-j}\Big) \bmod M

    with x = 0 before the first token and after the last one. There are far more n-grams than
    buckets, so unlike ones may share a bucket: the hashing trick of Weinberger et al. (2009).

    Args:
        tokens: ids from 0 to V - 1, (B, N).
        left: l, how many tokens before it belong to the n-gram.
        right: r, how many tokens after it do; n = l + 1 + r.
        base: V, size of the vocabulary.
        buckets: M; a prime spreads the n-grams evenly.
        mask: boolean, (B, N), True = a real token; the others count as 0. None: all are real.

    Returns:
        Numbers from 0 to M - 1, (B, N).

    Raises:
        ValueError: if the tokens are no ids, or a number is out of range.
    """
    if tokens.is_floating_point():
        raise ValueError("N-grams are counted in ids; distributions over the vocabulary have none.")
    if min(left, right) < 0 or min(base, buckets) < 1:
        raise ValueError(
            f"left and right should be at least 0, base and buckets at least 1, "
            f"but they are {left}, {right}, {base} and {buckets}."
        )
    count = tokens.shape[1]
    around = pad(tokens if mask is None else tokens * mask, (left, right))  # (B, l + N + r)
    number = zeros_like(tokens)
    for offset in range(left + 1 + right):
        number = (number * base + around[:, offset : offset + count]) % buckets
    return number
