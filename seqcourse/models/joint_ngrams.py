"""Letters and phonemes cut into units together, and n-grams of these units."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seqcourse.functional import IMPOSSIBLE, log_segmentations
from seqcourse.models.kneser_ney import KneserNey

STEPS = ((1, 0), (1, 1), (1, 2), (2, 1))
"""How many source and target tokens a unit may have: a silent *e*, *b*: B, *x*: K S and *th*: TH."""

BEGIN, END, UNSEEN = 0, 1, 2
FIRST = 3  # number of the first real unit
LEAST = 1e-12  # of a unit that was never expected: pairs that need one can still be cut
NOTHING = (
    "No pair can be cut into units: expected some with at most two target tokens to each source token."
)

Ids = Sequence[Sequence[int]]


class JointNgrams:
    r"""A pair of sequences read as one sequence of units, and n-grams of these (Bisani and Ney 2008).

    .. math:: P(x, y) = \sum_{q \in Q(x, y)} \prod_i P(q_i \mid q_{i-n+1}, \dots, q_{i-1})

    Q holds the ways to cut x and y together, in order, into units with the numbers of tokens of
    ``STEPS``; what begins and what ends a pair are units, too. For n = 1 the sum is taken, to learn how
    likely each unit is by expectation-maximisation (Dempster et al. 1977). Then each pair is cut in the
    likeliest of these ways, and what comes out is counted and smoothed (:class:`KneserNey`); so does
    Phonetisaurus (Novak et al. 2016). Instead of the sum, :meth:`log_probs` takes that one way.
    All units that were never counted share one id, so P is too large for pairs that have one.

    Args:
        source_size: how many source tokens there are.
        target_size: how many target tokens there are.
        order: n, at least 2.

    Attributes:
        units: the numbers of the units that were counted; None before :meth:`count`.
        ngrams: their n-grams; None before :meth:`count`.
        rounds: mean log P(x, y) with n = 1 before each round of learning, of pairs that can be cut.

    Raises:
        ValueError: if n is below 2.
    """

    def __init__(self, source_size: int, target_size: int, order: int = 8) -> None:
        if order < 2:
            raise ValueError(f"order should be at least 2, but it is {order}.")
        self.source_size, self.target_size, self.order = source_size, target_size, order
        sizes = [source_size**a * target_size**b for a, b in STEPS]
        self._offsets = [FIRST + sum(sizes[:i]) for i in range(len(sizes))]
        self._log_unit = torch.zeros(FIRST + sum(sizes))  # one way to cut is as likely as another
        self.rounds: list[float] = []
        self.units: Tensor | None = None
        self.ngrams: KneserNey | None = None

    def learn_units(self, sources: Ids, targets: Ids, rounds: int = 6) -> None:
        """Learn from pairs how likely each unit is.

        Args:
            sources, targets: lists of ids.
            rounds: of expectation-maximisation.

        Raises:
            ValueError: if no pair can be cut.
        """
        for _ in range(rounds):
            expected, found = torch.zeros(len(self._log_unit)).double(), []
            for _, numbers, log_p, uses in self._lattices(sources, targets):
                for number, use in zip(numbers, uses, strict=True):
                    expected += number.flatten().bincount(use.flatten(), len(expected))
                found.append(log_p[_possible(log_p)])
            if not sum(map(len, found)):
                raise ValueError(NOTHING)
            self.rounds.append(torch.cat(found).mean().item())
            self._log_unit = (expected / expected.sum()).clamp(min=LEAST).log().float()

    def count(self, sources: Ids, targets: Ids) -> None:
        """Cut pairs in the likeliest way and count their n-grams.

        Pairs that cannot be cut (with more than two target tokens to one of the source) are left out.

        Raises:
            ValueError: if no pair can be cut.
        """
        numbers, places, _ = self._cut(sources, targets)
        if not len(numbers):
            raise ValueError(NOTHING)
        self.units = numbers[numbers >= FIRST].unique()
        self.ngrams = KneserNey(self._ids(numbers), places, FIRST + len(self.units), self.order)
        self._units_of = self._by_source()

    def log_probs(self, sources: Ids, targets: Ids) -> Tensor:
        """log P of pairs, each cut in the way that is likeliest with n = 1, (N,); -inf for those that
        cannot be cut."""
        self._need_counts()
        numbers, places, rows = self._cut(sources, targets)
        values = self.ngrams.log_probs(self._ids(numbers), places)
        total = torch.full((len(sources),), -torch.inf).double()
        total[rows] = 0.0
        return total.index_add_(0, rows, values)

    def read(
        self, source: Sequence[int], n_best: int = 1, beam: int = 20
    ) -> list[tuple[list[int], float]]:
        """The likeliest targets of a source, best first, each with log P of its best cut that was found.

        Args:
            source: ids.
            n_best: how many.
            beam: how many beginnings are kept for each number of tokens read.

        Returns:
            Fewer where there are no more; none where a token of the source stands in no unit.
        """
        self._need_counts()
        if min(n_best, beam) < 1:
            raise ValueError(f"n_best and beam should be at least 1, but are {n_best} and {beam}.")
        begun: list[dict] = [{} for _ in range(len(source) + 1)]  # (units, target): log P
        begun[0][(BEGIN,), ()] = 0.0
        for read in range(len(source)):
            kept = nlargest(beam, begun[read].items(), key=lambda item: item[1])
            longer = [
                (read + used, (*units, unit), (*target, *written), value)
                for (units, target), value in kept
                for used in sorted({a for a, _ in STEPS if a <= len(source) - read})
                for unit, written in self._units_of.get(tuple(source[read : read + used]), ())
            ]
            gains = self._last([units for _, units, _, _ in longer])
            for (now, units, target, value), gain in zip(longer, gains, strict=True):
                begun[now][units, target] = value + gain
        found: dict[tuple[int, ...], float] = {}
        gains = self._last([(*units, END) for units, _ in begun[-1]])
        for ((_, target), value), gain in zip(begun[-1].items(), gains, strict=True):
            found[target] = max(found.get(target, -torch.inf), value + gain)
        best = nlargest(n_best, found.items(), key=lambda item: item[1])
        return [(list(target), value) for target, value in best]

    def cut(
        self, source: Sequence[int], target: Sequence[int]
    ) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """A pair's units in its likeliest way to be cut: source and target tokens of each.

        Raises:
            ValueError: if the pair cannot be cut.
        """
        numbers, _, _ = self._cut([source], [target])
        if not len(numbers):
            raise ValueError(f"{list(source)} and {list(target)} cannot be cut into units.")
        return [self._tokens(number) for number in numbers[1:-1].tolist()]

    def _need_counts(self) -> None:
        if self.ngrams is None:
            raise ValueError("There are no n-grams yet: call count(sources, targets) first.")

    def _last(self, paths: list[tuple[int, ...]]) -> list[float]:
        """log P of the last unit of each path."""
        if not paths:
            return []
        seen = [torch.tensor(path[-self.order :]) for path in paths]
        places = torch.cat([torch.arange(len(units)) for units in seen])
        ends = torch.tensor([len(units) for units in seen]).cumsum(0) - 1
        return self.ngrams.log_probs(torch.cat(seen), places)[ends].tolist()

    def _by_source(self) -> dict[tuple[int, ...], list[tuple[int, tuple[int, ...]]]]:
        """For source tokens, the units that have them: id, and the target tokens."""
        found = defaultdict(list)
        for i, number in enumerate(self.units.tolist(), start=FIRST):
            source, target = self._tokens(number)
            found[source].append((i, target))
        return dict(found)

    def _tokens(self, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Source and target tokens of a unit: :meth:`_number` the other way round."""
        step = sum(number >= offset for offset in self._offsets) - 1
        (a, b), rest, digits = STEPS[step], number - self._offsets[step], []
        for base in [self.target_size] * b + [self.source_size] * a:
            rest, digit = divmod(rest, base)
            digits.insert(0, digit)
        return tuple(digits[:a]), tuple(digits[a:])

    def _ids(self, numbers: Tensor) -> Tensor:
        """Numbers of units as ids that leave no gaps: the special ones, then those that were cut out."""
        at = torch.searchsorted(self.units, numbers).clamp(max=len(self.units) - 1)
        ids = torch.where(self.units[at] == numbers, at + FIRST, UNSEEN)
        return torch.where(numbers < FIRST, numbers, ids)

    def _cut(self, sources: Ids, targets: Ids) -> tuple[Tensor, Tensor, Tensor]:
        """All pairs as units, one behind the other, between BEGIN and END.

        Returns:
            The units' numbers, their places in their pairs, and which pair each belongs to, (M,).
        """
        parts = [(torch.zeros(0, dtype=torch.int64),) * 3]
        for rows, numbers, log_p, uses in self._lattices(sources, targets, best=True):
            whole = rows[_possible(log_p)]
            for place, special in ((0, BEGIN), (1 + numbers[0].shape[1], END)):
                fill = torch.full_like(whole, special)
                parts.append((whole, torch.full_like(whole, place), fill))
            for number, use in zip(numbers, uses, strict=True):
                row, place, _ = there = use.nonzero(as_tuple=True)
                parts.append((rows[row], 1 + place, number[there]))
        row, place, number = (torch.cat(column) for column in zip(*parts, strict=True))
        if not len(row):
            return number, place, row
        order = (row * (int(place.max()) + 1) + place).argsort()
        row, number = row[order], number[order]
        lengths = row.unique_consecutive(return_counts=True)[1]
        starts = (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
        return number, torch.arange(len(row)) - starts, row

    def _lattices(
        self, sources: Ids, targets: Ids, best: bool = False, batch_size: int = 4096
    ) -> Iterator[tuple[Tensor, list[Tensor], Tensor, Sequence[Tensor]]]:
        """The ways to cut, of pairs of like lengths together.

        Yields:
            Which pairs, (B,); for each kind of unit the numbers of those that begin behind t source
            and s target tokens, (B, T + 1 - a, S + 1 - b); log P with n = 1 of the pairs, (B,); and the
            share of the ways that use each of the units, for ``best`` 1 on the way that was taken.
        """
        order = sorted(range(len(sources)), key=lambda i: (len(sources[i]), len(targets[i])))
        for at in range(0, len(order), batch_size):
            rows = order[at : at + batch_size]
            with torch.inference_mode(False), torch.enable_grad():
                source, source_lengths = _padded([sources[i] for i in rows])
                target, target_lengths = _padded([targets[i] for i in rows])
                numbers = [
                    offset + self._number(source, target, a, b)
                    for offset, (a, b) in zip(self._offsets, STEPS, strict=True)
                ]
                weights = [self._log_unit[number].requires_grad_() for number in numbers]
                log_p = log_segmentations(weights, STEPS, source_lengths, target_lengths, best)
                uses = torch.autograd.grad(log_p[_possible(log_p)].sum(), weights)
            yield torch.tensor(rows), numbers, log_p.detach(), uses

    def _number(self, source: Tensor, target: Tensor, a: int, b: int) -> Tensor:
        """a source tokens and b target tokens as one number, for each place where they can begin."""
        left = torch.zeros_like(source[:, a - 1 :])
        for j in range(a):
            left = left * self.source_size + source[:, j : source.shape[1] + 1 - a + j]
        right = target.new_zeros(len(target), target.shape[1] + 1 - b)
        for j in range(b):
            right = right * self.target_size + target[:, j : target.shape[1] + 1 - b + j]
        return left[:, :, None] * self.target_size**b + right[:, None, :]


def _possible(log_p: Tensor) -> Tensor:
    return log_p > IMPOSSIBLE / 2


def _padded(rows: Ids) -> tuple[Tensor, Tensor]:
    """Rows of ids, filled up with 0 to one length of at least 2, and their own lengths."""
    filled = pad_sequence([torch.tensor([*row, 0, 0][: max(2, len(row))]) for row in rows], True)
    return filled, torch.tensor([len(row) for row in rows])
