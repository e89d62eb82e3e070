r"""Several readers decide together: one proposes, and all of them judge what it proposes.

.. math:: \hat y = \arg\max_{y \in Y(x)} \log P_0(y \mid x) + \sum_m \lambda_m \log P_m(y \mid x)

with Y(x) the N best outputs of the proposer, P_0: a log-linear model (Och and Ney 2002), used to put
N-best lists into a better order. A judge may give log P(x, y) instead: the input is the same for all
outputs, so only a constant is added.

::

    together = zoo.reranker("g2p-transformer")
    together.translate(["cough"])[0].text
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from seqcourse import data
from seqcourse.data import Vocabulary
from seqcourse.decode import Hypothesis
from seqcourse.errors import CourseError
from seqcourse.models import JointNgrams
from seqcourse.zoo.system import System, Translation

NGRAMS = "joint n-grams"
JUDGES: dict[str, dict[str, float]] = {"g2p-transformer": {"g2p-attention": 1.0, NGRAMS: 1.0}}
"""Who judges what a recipe's model proposes, and with which weight. The weights are not tuned."""


class Judge(Protocol):
    """A :class:`System` of the zoo or an :class:`NgramReader`."""

    source: Vocabulary
    target: Vocabulary

    def log_probs(self, sources: list[list[str]], targets: list[list[str]]) -> list[float]: ...

    def translate(self, texts: list[str]) -> list[Translation]: ...


Judges = Mapping[str, tuple[Judge, float]]
"""By name: who, and the weight of what they say."""


@dataclass(frozen=True)
class NgramReader:
    """Joint n-grams of letters and phonemes, with the vocabularies of the zoo's other readers.

    Attributes:
        model: the n-grams.
        source: letters.
        target: phonemes without stress.
    """

    model: JointNgrams
    source: Vocabulary
    target: Vocabulary

    def log_probs(self, sources: list[list[str]], targets: list[list[str]]) -> list[float]:
        """log P(source, target) in nats, for tokens of N words and of one pronunciation of each."""
        letters = [self.source.encode(tokens, eos=False) for tokens in sources]
        phonemes = [self.target.encode(tokens, eos=False) for tokens in targets]
        return self.model.log_probs(letters, phonemes).tolist()

    def cut(self, word: str, phonemes: list[str]) -> list[tuple[str, list[str]]]:
        """The units of a word and its pronunciation: letters and phonemes of each."""
        ids = self.source.encode(list(word), eos=False), self.target.encode(phonemes, eos=False)
        return [
            ("".join(self.source.decode(letters)), self.target.decode(spoken))
            for letters, spoken in self.model.cut(*ids)
        ]

    def translate(self, texts: list[str], beam: int = 20, n_best: int = 1) -> list[Translation]:
        """Pronounce words; scores are log P(x, y) per phoneme, the end counted.

        Args:
            texts: words of the letters a to z (a single string counts as a list of one).
            beam: how many beginnings are kept for each letter read.
            n_best: how many outputs to keep of each.

        Raises:
            CourseError: if a word cannot be read.
            ValueError: if beam or n_best is below 1.
        """
        if isinstance(texts, str):
            texts = [texts]
        return [self._translate(text, beam, n_best) for text in texts]

    def _translate(self, text: str, beam: int, n_best: int) -> Translation:
        letters = [letter for letter in text.lower() if not letter.isspace()]
        found = self.model.read(self.source.encode(letters, eos=False), n_best, beam)
        if not letters or not found:
            raise CourseError(f"Expected a word of the letters a to z, but got {text!r}.")
        outputs = [self.target.decode(ids) for ids, _ in found]
        scored = [
            (" ".join(o), value / (len(o) + 1)) for o, (_, value) in zip(outputs, found, strict=True)
        ]
        return Translation(letters, outputs[0], *scored[0], None, scored)


@cache
def ngram_reader(*, order: int = 8, every: int = 8) -> NgramReader:
    """Joint n-grams of CMUdict's training words, counted now: no file is read but the dictionary.

    Args:
        order: n.
        every: the units are learned from every so many-th pronunciation; all of them are counted.
    """
    pairs = [(list(e.word), list(p)) for e in data.load_pronunciations("train") for p in e.phones]
    words, spoken = zip(*pairs, strict=True)
    source, target = Vocabulary.build(words), Vocabulary.build(spoken)
    letters = [source.encode(tokens, eos=False) for tokens in words]
    phonemes = [target.encode(tokens, eos=False) for tokens in spoken]
    model = JointNgrams(len(source), len(target), order)
    model.learn_units(letters[::every], phonemes[::every])
    model.count(letters, phonemes)
    return NgramReader(model, source, target)


def load_judges(name: str) -> Judges:
    """The judges of a recipe's model; none for most."""
    from seqcourse import zoo

    return {
        judge: (ngram_reader() if judge == NGRAMS else zoo.load(judge), weight)
        for judge, weight in JUDGES.get(name, {}).items()
    }


@dataclass(frozen=True)
class Reranker:
    """A system that proposes, and those who judge.

    Attributes:
        proposer: finds the N best outputs by beam search.
        judges: who else is asked, with positive weights. The proposer's own weight is 1.

    Raises:
        CourseError: if a judge reads or writes other tokens than the proposer, or has another weight.
    """

    proposer: System
    judges: Judges

    def __post_init__(self) -> None:
        mine = self.proposer
        for name, (judge, weight) in self.judges.items():
            if not 0 < weight < math.inf:
                raise CourseError(f"The weight of {name} should be above 0, but it is {weight}.")
            if (set(judge.source.tokens), set(judge.target.tokens)) != (
                set(mine.source.tokens),
                set(mine.target.tokens),
            ):
                raise CourseError(
                    f"{name} cannot judge what {mine.recipe.name} proposes: their tokens differ."
                )

    def translate(self, texts: list[str], beam: int = 8) -> list[Translation]:
        """Translate (or pronounce) texts; ``n_best`` of each is the list in its new order.

        Scores are the sums of the formula above, in nats.

        Args:
            texts: a list, one sentence or word each.
            beam: width of the proposer's beam, and how many of its outputs are judged.

        Raises:
            CourseError: as :meth:`System.translate`.
        """
        sources = self.proposer.sources(texts)
        judged = self.judge(sources, self.proposer.search(sources, beam, n_best=beam))
        return [self.proposer.translation(s, h) for s, h in zip(sources, judged, strict=True)]

    def judge(
        self, sources: list[list[str]], proposed: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """Proposed outputs with their scores by all together, best first.

        What one judge rules out has the score -inf and comes last; among equals the proposer's order
        stays.

        Args:
            sources: the tokens of each input.
            proposed: what :meth:`System.search` found for each.
        """
        inputs, outputs, totals = [], [], []
        for source, hypotheses in zip(sources, proposed, strict=True):
            for hypothesis in hypotheses:
                inputs.append(source)
                outputs.append(self.proposer.target.decode(hypothesis.tokens))
                totals.append(hypothesis.log_prob)
        for judge, weight in self.judges.values():
            values = judge.log_probs(inputs, outputs)
            totals = [total + weight * value for total, value in zip(totals, values, strict=True)]
        scores = iter(totals)
        return [
            sorted((replace(h, score=next(scores)) for h in hypotheses), key=lambda h: -h.score)
            for hypotheses in proposed
        ]
