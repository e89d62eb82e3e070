"""CIDEr-D: how much of what people agree on about a picture a caption says."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seqcourse.metrics.pairs import references_of

LONGEST = 4  # words of an n-gram
SIGMA = 6.0  # words; how fast the score falls where a caption is longer or shorter
_WORD = re.compile(r"\w+(?:['-]\w+)*")

_Grams = tuple[str, ...]


@dataclass(frozen=True)
class CIDEr:
    """A corpus score, 0 to 10, and the score of every picture."""

    score: float
    each: tuple[float, ...]

    def __str__(self) -> str:
        return f"CIDEr-D = {self.score:.3f} (of 10; {len(self.each)} pictures)"


def cider(
    hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]], plain: bool = False
) -> CIDEr:
    r"""CIDEr-D of captions (Vedantam, Zitnick and Parikh 2015).

    Every n-gram of a caption weighs as much as it is frequent in it and rare among the pictures,

    .. math:: g_k(c) = h_k(c) \, \log \frac{|I|}{\max(1, \sum_p [k \in \text{references of } p])}

    with h_k(c) the count of n-gram k in c and |I| the number of pictures. For n-grams of each length

    .. math:: \text{CIDEr-D}_n(c, S) = \frac{10}{m} \sum_j e^{-(l(c) - l(s_j))^2 / 2 \sigma^2} \,
              \frac{\min(g(c), g(s_j)) \cdot g(s_j)}{\lVert g(c) \rVert \, \lVert g(s_j) \rVert}

    over the m references s_j, and the score is the mean over n = 1 to 4. Words are compared in lower
    case and without punctuation. The rarity of an n-gram comes from these references, so scores of
    different sets of pictures cannot be compared.

    Args:
        hypotheses: a caption per picture.
        references: one right caption per picture, or several.
        plain: the first version, CIDEr: no minimum and no factor for the length, and 0 to 10 too.

    Raises:
        ValueError: the lists do not fit or hold no texts, a picture has no reference, or there is only
            one picture (then no n-gram is rarer than another).
    """
    several = references_of(hypotheses, references, "picture")
    if len(several) < 2:
        raise ValueError(
            "CIDEr weighs words by how rare they are among the pictures; expected at least two."
        )
    counted = [[_count(text) for text in texts] for texts in several]
    found_in = Counter(gram for known in counted for gram in set().union(*known))
    rarity = {gram: math.log(len(several) / found) for gram, found in found_in.items()}
    unknown = math.log(len(several))  # an n-gram that no reference has
    each = []
    for text, known in zip(hypotheses, counted, strict=True):
        ours = _vectors(_count(text), rarity, unknown)
        scores = [_similarity(ours, _vectors(one, rarity, unknown), plain) for one in known]
        each.append(10 * sum(scores) / len(scores))
    return CIDEr(sum(each) / len(each), tuple(each))


def _count(text: str) -> Counter[_Grams]:
    words = _WORD.findall(text.lower())
    return Counter(
        tuple(words[at : at + n]) for n in range(1, LONGEST + 1) for at in range(len(words) - n + 1)
    )


def _vectors(
    counts: Counter[_Grams], rarity: dict[_Grams, float], unknown: float
) -> tuple[list[dict[_Grams, float]], int]:
    """The weights of the n-grams for n = 1 to 4, and how many words the text has."""
    vectors: list[dict[_Grams, float]] = [{} for _ in range(LONGEST)]
    for gram, count in counts.items():
        vectors[len(gram) - 1][gram] = count * rarity.get(gram, unknown)
    return vectors, sum(count for gram, count in counts.items() if len(gram) == 1)


def _similarity(ours: tuple, theirs: tuple, plain: bool) -> float:
    (our_vectors, our_length), (their_vectors, their_length) = ours, theirs
    total = 0.0
    for mine, other in zip(our_vectors, their_vectors, strict=True):
        norm = math.sqrt(_square(mine) * _square(other))
        if norm:
            both = mine.keys() & other.keys()
            total += sum((mine[k] if plain else min(mine[k], other[k])) * other[k] for k in both) / norm
    if not plain:
        total *= math.exp(-((our_length - their_length) ** 2) / (2 * SIGMA**2))
    return total / LONGEST


def _square(vector: dict[_Grams, float]) -> float:
    return sum(weight**2 for weight in vector.values())
