"""Word alignments: links out of attention weights, and how far they are from a person's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqcourse.metrics.pairs import same_length

Link = tuple[int, int]
"""(source position, target position), both counted from 0."""


@dataclass(frozen=True)
class AlignmentError:
    """The alignment error rate of a corpus and what it is made of.

    aer: 0 (perfect) to 1.
    precision: |A & P| / |A|, the share of predicted links that are possible; NaN without any link.
    recall: |A & S| / |S|, the share of sure links that were predicted; NaN without any sure link.
    predicted, sure, possible: how many links there are, |A|, |S| and |P|.
    """

    aer: float
    precision: float
    recall: float
    predicted: int
    sure: int
    possible: int

    def __str__(self) -> str:
        return (
            f"AER = {self.aer:.3f} (precision {self.precision:.3f}, recall {self.recall:.3f}; "
            f"{self.predicted} links against {self.sure} sure and {self.possible} possible)"
        )


def alignment_error_rate(
    predicted: Sequence[Iterable[Link]],
    sure: Sequence[Iterable[Link]],
    possible: Sequence[Iterable[Link]],
) -> AlignmentError:
    r"""AER of a corpus (Och and Ney 2003): links A against sure links S and possible links P.

    AER = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|},   S \subseteq P

    Missing a sure link costs; a link that is possible but not sure may be made or left. Counts are
    summed over all sentences before dividing.

    predicted, sure, possible: for every sentence its links (source position, target position).

    Raises ValueError where the lists do not fit, where a sure link is not among the possible ones,
    and where there is neither a predicted nor a sure link in the whole corpus.
    """
    same_length(predicted=predicted, sure=sure, possible=possible)
    a = s = p = in_sure = in_possible = 0
    for sentence, links in enumerate(zip(predicted, sure, possible, strict=True)):
        ours, certain, allowed = (_links(each, sentence) for each in links)
        if not certain <= allowed:
            raise ValueError(
                f"sentence {sentence} has sure links that are not among its possible ones: "
                f"{sorted(certain - allowed)}. Every sure link is possible, too: put it into both."
            )
        a, s, p = a + len(ours), s + len(certain), p + len(allowed)
        in_sure += len(ours & certain)
        in_possible += len(ours & allowed)
    if a + s == 0:
        raise ValueError("there are no predicted and no sure links at all, so AER is undefined.")
    return AlignmentError(
        aer=1 - (in_sure + in_possible) / (a + s),
        precision=in_possible / a if a else math.nan,
        recall=in_sure / s if s else math.nan,
        predicted=a,
        sure=s,
        possible=p,
    )


def links_from_weights(
    weights: Any, threshold: float | None = None, source_length: int | None = None
) -> set[Link]:
    """Links (source position, target position) read off one sentence's attention weights.

    weights: (T', T), a row per target word and a column per source word; a tensor or an array.
    threshold: None links every target word to the source word with the largest weight (the first of
        equals); a number in (0, 1] links all whose weight is at least that.
    source_length: links to this column or later (<eos>, padding) are left out: attention that rests on
        <eos> aligns with no word. None keeps all columns.

    A row of zeros gives no link. Raises ValueError for another shape, weights that are not finite
    and non-negative, or a threshold outside (0, 1].
    """
    # single precision stays single: the threshold is then rounded as the weights were
    matrix = np.asarray(weights.detach().cpu().float() if hasattr(weights, "detach") else weights)
    if matrix.ndim != 2:
        raise ValueError(
            f"weights should have two dimensions, target and source words, but the shape is "
            f"{matrix.shape}. Pass one sentence at a time."
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise ValueError("weights should be finite and at least 0: pass them after the softmax.")
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"threshold should lie above 0 and be at most 1, but it is {threshold!r}.")
    if source_length is not None and not 0 < source_length <= matrix.shape[1]:
        raise ValueError(
            f"source_length should lie between 1 and the {matrix.shape[1]} columns of weights, "
            f"but it is {source_length!r}."
        )
    if matrix.shape[1] == 0:
        return set()
    if threshold is None:
        columns = matrix.argmax(axis=1)
        found = [(i, t) for t, i in enumerate(columns.tolist()) if matrix[t, i] > 0]
    else:
        found = [(i, t) for t, i in zip(*np.nonzero(matrix >= threshold), strict=True)]
    end = matrix.shape[1] if source_length is None else source_length
    return {(int(i), int(t)) for i, t in found if i < end}


def _links(links: Iterable[Link], sentence: int) -> set[Link]:
    found = set()
    for link in links:
        if len(link) != 2 or any(isinstance(x, bool) or int(x) != x or x < 0 for x in link):
            raise ValueError(
                f"a link should be (source position, target position) counted from 0, but "
                f"sentence {sentence} has {link!r}."
            )
        found.add((int(link[0]), int(link[1])))
    return found
