"""Reading a row of distributions, one for each stretch of time, as a text (CTC, Graves et al. 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from torch import Tensor

from seqcourse.tokens import PAD

#: What a model of CTC writes where nothing is to be written. A target never contains padding.
BLANK = PAD


def collapse(path: Sequence[int], blank: int = BLANK) -> list[int]:
    """The text that a path writes: runs of a symbol become one, then blanks go.

    ::

        collapse("_aa_ab_", blank="_") == ["a", "a", "b"]
    """
    return [symbol for symbol, _ in groupby(path) if symbol != blank]


def best_path(logits: Tensor, lengths: Tensor, blank: int = BLANK) -> list[list[int]]:
    """The text of the likeliest symbol of each stretch; a sum over paths may prefer another one.

    Args:
        logits: (B, T, V).
        lengths: stretches of each row, (B,).
    """
    rows = zip(logits.argmax(-1).tolist(), lengths.tolist(), strict=True)
    return [collapse(row[:length], blank) for row, length in rows]
