"""A language model without a network: counted runs of symbols."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from seqcourse.errors import CourseError


class CountedRuns:
    r"""The next symbol from what followed the same few symbols in a text.

    Long runs say more and are rarer, so each length is mixed with the next shorter one. The weights are
    those of Witten and Bell (1991): a run that many different symbols have followed says little.

    .. math:: P_n(x \mid c) = \frac{N(c\,x) + T(c)\, P_{n-1}(x \mid c')}{N(c) + T(c)}

    where N counts, T(c) is the number of different symbols that followed c, and c' is c without its
    first symbol. With no symbol before, :math:`P_{-1}` is the same for all symbols, and for one more.

    Args:
        text: to count, a string or any sequence.
        before: n, the symbols that it looks back.

    Raises:
        CourseError: if the text is empty or ``before`` is negative.
    """

    def __init__(self, text: Sequence, before: int = 4) -> None:
        if not len(text) or before < 0:
            raise CourseError(
                f"Runs need a text and a length of at least 0, but there are {len(text)} symbols and "
                f"the length {before}."
            )
        text, self.before = tuple(text), before
        self.even = 1 / (len(set(text)) + 1)
        runs = Counter(text[i : i + n + 1] for n in range(before + 1) for i in range(len(text) - n))
        self.after = runs  # N(c x)
        self.count, self.kinds = Counter(), Counter()  # N(c), T(c)
        for run, count in runs.items():
            self.count[run[:-1]] += count
            self.kinds[run[:-1]] += 1

    def probability(self, context: Sequence, symbol: object) -> float:
        """P(symbol | context), of which the last ``before`` symbols count."""
        context, found = tuple(context), self.even
        for n in range(min(self.before, len(context)) + 1):
            run = context[len(context) - n :]
            if run not in self.count:
                break  # and so is no longer one
            kinds = self.kinds[run]
            found = (self.after[(*run, symbol)] + kinds * found) / (self.count[run] + kinds)
        return found

    def bits(self, text: Sequence) -> float:
        """Mean of :math:`-\\log_2 P` over a text's symbols, without the first ``before``."""
        text, n = tuple(text), self.before
        places = range(n, len(text))
        return -sum(math.log2(self.probability(text[i - n : i], text[i])) for i in places) / len(places)
