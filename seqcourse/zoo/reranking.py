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
from typing import Protocol

from seqcourse.data import Vocabulary
from seqcourse.decode import Hypothesis
from seqcourse.errors import CourseError
from seqcourse.zoo.counting import NGRAMS, ngram_reader
from seqcourse.zoo.system import System, Translation

_READERS = {"g2p-attention": 1.0, NGRAMS: 1.0}
JUDGES: dict[str, dict[str, float]] = {"g2p-transformer": _READERS, "g2p-student": _READERS}
"""Who judges what a recipe's model proposes, and with which weight. The weights are not tuned."""


class Judge(Protocol):
    """A :class:`System` of the zoo or an :class:`~seqcourse.zoo.NgramReader`."""

    source: Vocabulary
    target: Vocabulary

    def log_probs(self, sources: list[list[str]], targets: list[list[str]]) -> list[float]: ...

    def translate(self, texts: list[str]) -> list[Translation]: ...


Judges = Mapping[str, tuple[Judge, float]]
"""By name: who, and the weight of what they say."""


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
