"""BLEU, through sacrebleu, with the signature that makes a figure comparable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from numbers import Integral

import numpy
from sacrebleu.metrics import BLEU as _SacreBLEU

from seqcourse.metrics.pairs import references_of, same_length


@dataclass(frozen=True)
class BLEU:
    """A corpus BLEU score; printed, it shows its signature.

    score: 0 to 100.
    precisions: of 1- to 4-grams, in per cent.
    brevity_penalty: exp(1 - r/c) where the outputs (c words) are shorter than the references (r),
        otherwise 1.
    output_length, reference_length: c and r, in sacrebleu's tokens. With several references, r adds
        up, per sentence, the length closest to that of the output.
    signature: number of references, case, tokenisation, smoothing, version of sacrebleu. Two scores
        can be compared only where this agrees.
    """

    score: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    output_length: int
    reference_length: int
    signature: str

    def __str__(self) -> str:
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"BLEU = {self.score:.2f} {precisions} (BP = {self.brevity_penalty:.3f}, "
            f"{self.output_length} words against {self.reference_length}) {self.signature}"
        )


@dataclass(frozen=True)
class LengthBin:
    """BLEU of the sentences whose source has `shortest` to `longest` words, both included."""

    shortest: int
    longest: int
    count: int
    bleu: BLEU


@dataclass(frozen=True)
class Gain:
    """How much better the first outputs are than the second, and how sure that is.

    gain: corpus BLEU of the first outputs less that of the second.
    low, high: the middle 95 % of the gains over the resampled test sets.
    """

    gain: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.gain:+.2f} BLEU ({self.low:+.2f} to {self.high:+.2f})"


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    lowercase: bool = False,
) -> BLEU:
    r"""Corpus BLEU (Papineni et al. 2002), computed by sacrebleu (Post 2018).

    BLEU = BP \cdot \exp(\frac{1}{4} \sum_{n=1}^{4} \log p_n),   BP = \min(1, \exp(1 - r/c))

    where p_n is the share of the outputs' n-grams that are found in a reference, each counted at most
    as often as it stands in one of them. It is a measure of a corpus: the counts are summed over all
    sentences first. sacrebleu's defaults are kept: its "13a" tokenisation and exponential smoothing
    of zero counts.

    hypotheses: one text per sentence, as people write it (not split into tokens).
    references: one text per sentence, or a tuple of them; their number may differ.
    lowercase: ignore case (the signature then says case:lc).

    Raises ValueError where the lists do not fit, hold tokens in place of texts, or a sentence has no
    reference.
    """
    several = references_of(hypotheses, references, "sentence")
    streams = list(zip_longest(*several))  # sacrebleu wants a stream per reference, None for gaps
    metric = _SacreBLEU(lowercase=lowercase)
    result = metric.corpus_score(list(hypotheses), [list(stream) for stream in streams])
    return BLEU(
        score=result.score,
        precisions=tuple(result.precisions),
        brevity_penalty=result.bp,
        output_length=result.sys_len,
        reference_length=result.ref_len,
        signature=str(metric.get_signature()),
    )


def bleu_gain(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    samples: int = 1000,
    seed: int = 0,
) -> Gain:
    """The paired bootstrap (Koehn 2004): is a difference in BLEU more than luck with the test set?

    A test set of the same size is drawn from the sentences with replacement, and both systems are
    scored on it; `samples` times over.

    first, second: the outputs of two systems for the same sentences.
    references: as in `bleu`.

    Raises ValueError where the lists do not fit or are empty.
    """
    same_length(first=first, second=second, references=references)
    counts = [_counts(outputs, references) for outputs in (first, second)]
    draws = _draws(len(first), samples, seed)
    gains = [
        _from_counts(a) - _from_counts(b) for a, b in zip(*(draws @ c for c in counts), strict=True)
    ]
    whole = [_from_counts(c.sum(0)) for c in counts]
    low, high = numpy.percentile(gains, (2.5, 97.5))
    return Gain(whole[0] - whole[1], float(low), float(high))


def bleu_interval(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    samples: int = 300,
    seed: int = 0,
) -> tuple[float, float]:
    """The middle 95 % of the BLEU of test sets drawn from these sentences with replacement.

    Raises ValueError where the lists do not fit or are empty.
    """
    same_length(hypotheses=hypotheses, references=references)
    draws = _draws(len(hypotheses), samples, seed)
    scores = [_from_counts(row) for row in draws @ _counts(hypotheses, references)]
    low, high = numpy.percentile(scores, (2.5, 97.5))
    return float(low), float(high)


def _draws(count: int, samples: int, seed: int) -> numpy.ndarray:
    """(samples, sentences): how often each sentence is drawn."""
    generator = numpy.random.default_rng(seed)
    return generator.multinomial(count, numpy.full(count, 1 / count), size=samples)


def _counts(outputs: Sequence[str], references: Sequence) -> numpy.ndarray:
    """Per sentence: right n-grams and n-grams of 1 to 4 words, length, reference length; (S, 10)."""
    metric = _SacreBLEU(effective_order=True)  # only its counts are used
    rows = []
    for text, allowed in zip(outputs, references, strict=True):
        found = metric.sentence_score(text, [allowed] if isinstance(allowed, str) else list(allowed))
        rows.append([*found.counts, *found.totals, found.sys_len, found.ref_len])
    return numpy.array(rows)


def _from_counts(row: numpy.ndarray) -> float:
    values = [int(value) for value in row]
    return _SacreBLEU.compute_bleu(values[:4], values[4:8], *values[8:], smooth_method="exp").score


def bleu_by_length(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    sources: Sequence[str | Sequence[str] | int],
    edges: Sequence[int],
) -> list[LengthBin]:
    """Corpus BLEU of the sentences of each source length: does quality fall as sentences grow?

    sources: the source sentences as texts (words are split at spaces), as lists of tokens, or their
        lengths.
    edges: increasing lengths e_0 < e_1 < ...; bin i holds the sources of e_i to e_{i+1} - 1 words, so
        edges [1, 4, 7] make the bins 1-3 and 4-6.

    Returns the bins that hold a sentence, in order. Raises ValueError where the lists do not fit,
    edges do not increase, or a source lies outside them (nothing is left out silently).
    """
    same_length(hypotheses=hypotheses, references=references, sources=sources)
    if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)):
        raise ValueError(
            f"edges should be at least two increasing lengths, such as [1, 4, 7], but they are "
            f"{list(edges)}."
        )
    lengths = [_length(source) for source in sources]
    outside = [length for length in lengths if not edges[0] <= length < edges[-1]]
    if outside:
        raise ValueError(
            f"{len(outside)} sources have lengths outside {edges[0]} to {edges[-1] - 1}, "
            f"for instance {outside[0]}. Widen the edges, or leave these sentences out yourself."
        )
    members: dict[int, list[int]] = {}
    for sentence, length in enumerate(lengths):
        members.setdefault(bisect_right(edges, length) - 1, []).append(sentence)
    return [
        LengthBin(
            shortest=edges[place],
            longest=edges[place + 1] - 1,
            count=len(members[place]),
            bleu=bleu(
                [hypotheses[sentence] for sentence in members[place]],
                [references[sentence] for sentence in members[place]],
            ),
        )
        for place in sorted(members)
    ]


def _length(source: str | Sequence[str] | int) -> int:
    if isinstance(source, Integral):
        return int(source)
    return len(source.split() if isinstance(source, str) else source)
