"""What stands around a token, as a vector."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from seqcourse import functional as F


class NGrams(nn.Module):
    r"""A vector for the n-grams around each token, looked up in tables by their hashes.

    .. math:: y_t = W\,[m_{t1} E_1(b_{t1}); \ldots; m_{tK} E_K(b_{tK})]

    with b from :func:`functional.ngram_bucket`, a window k for each table, and dropout's m: while
    training each of the rows is left out with the probability ``dropout``, so that no word is known by
    its longest n-gram alone. A look-up costs next to nothing, so for one small product, W, the model can
    remember many thousand pieces of words. Added to the embeddings of
    letters, as the subword n-grams of Bojanowski et al. (2017) and Pagnoni et al. (2025) are.

    Args:
        base: V, size of the vocabulary.
        width: D, of the result.
        windows: (l, r) of each table: tokens before and after that belong to the n-gram.
        buckets: M, rows of each table.
        size: length of the rows.
        dropout: share of the rows that are left out while training, at least 0 and below 1.

    Raises:
        ValueError: if there is no window or the dropout is out of range.
    """

    def __init__(
        self,
        base: int,
        width: int,
        windows: Sequence[Sequence[int]] = ((1, 1), (1, 2), (2, 1), (2, 2)),
        buckets: int = 16_381,
        size: int = 48,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if not windows or not 0 <= dropout < 1:
            raise ValueError(
                f"N-grams need at least one window and a dropout of at least 0 and below 1, "
                f"but got {len(windows)} windows and {dropout}."
            )
        self.base, self.buckets, self.dropout = base, buckets, dropout
        self.windows = tuple((left, right) for left, right in windows)
        made = (torch.randn(buckets, size) * 0.3 for _ in windows)
        self.tables = nn.ParameterList(nn.Parameter(table) for table in made)
        self.out = nn.Linear(size * len(windows), width, bias=False)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Ids (B, N), and which of them are real ones (B, N), to vectors (B, N, D)."""
        rows = []
        for window, table in zip(self.windows, self.tables, strict=True):
            numbers = F.ngram_bucket(tokens, *window, self.base, self.buckets, mask)
            rows.append(self._drop(nn.functional.embedding(numbers, table)))
        return self.out(torch.cat(rows, -1))

    def _drop(self, rows: Tensor) -> Tensor:
        """Rows (B, N, size), some of them whole rows of zeros while training."""
        if not self.training or not self.dropout:
            return rows
        return rows * F.dropout(torch.ones_like(rows[..., :1]), self.dropout)
