"""How the exercises of an assignment did as questions: difficulty, discrimination, counts to give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.table import Table

    from cellgrader.pages.report import Report

FEWEST = 10  # people, below whom nothing is said
Z = 1.959964  # of an interval of 95 %


@dataclass(frozen=True)
class ItemStatistics:
    """What a class did with one exercise.

    people: who have all of their points.
    share, interval: mean share of the points, the larger the easier, and its 95 % interval.
    discrimination, range: correlation with the rest of the assignment and its 95 % interval; None where
        everybody has the same.
    upper, lower: mean share of the best and of the weakest quarter by the rest of the assignment.
    """

    people: int
    share: float
    interval: tuple[float, float]
    discrimination: float | None
    range: tuple[float, float] | None
    upper: float
    lower: float

    @property
    def suspect(self) -> bool:
        """Whether the best quarter earned less than the weakest: the question may be wrong."""
        return self.upper < self.lower


def item_statistics(points: np.ndarray, maxima: np.ndarray) -> list[ItemStatistics | None]:
    r"""Statistics of every item.

    .. math::
        r_j = \operatorname{corr}\Big(x_j, \sum_{k \ne j} x_k\Big)

    For points of 0 or 1 that is the point-biserial correlation, of an item with the rest. The interval
    of a share is Wilson's (1927), which no points between 0 and 1 make too narrow; that of r is
    Fisher's (1921), tanh(artanh r ± z / √(n - 3)). Who ties with the last of a quarter belongs to it.

    Args:
        points: (people, items); NaN where points wait for a person, who is left out there.
        maxima: (items,), the most that there are.

    Returns:
        For each item its statistics, or None for fewer than ten people.
    """
    there = ~np.isnan(points)
    total, most = np.where(there, points, 0).sum(1), (there * maxima).sum(1)
    found = []
    for own, here, maximum in zip(points.T, there.T, maxima, strict=True):
        here = here & (most > maximum)  # who has points elsewhere, too
        rest = (total[here] - own[here]) / (most[here] - maximum)
        found.append(_of_item(own[here] / maximum, rest) if len(rest) >= FEWEST else None)
    return found


def _of_item(own: np.ndarray, rest: np.ndarray) -> ItemStatistics:
    """From the shares of the points here and in the rest of the assignment, both (people,)."""
    people, order, quarter = len(own), np.sort(rest), -(-len(own) // 4)
    share, spread = float(own.mean()), own.std() * rest.std()
    r = float(((own - share) * (rest - rest.mean())).mean() / spread) if spread > 1e-12 else None
    return ItemStatistics(
        people,
        share,
        _wilson(share, people),
        r,
        None if r is None else _fisher(r, people),
        upper=float(own[rest >= order[-quarter]].mean()),
        lower=float(own[rest <= order[quarter - 1]].mean()),
    )


def _wilson(share: float, people: int) -> tuple[float, float]:
    middle = share + Z**2 / (2 * people)
    half = Z * (share * (1 - share) / people + Z**2 / (4 * people**2)) ** 0.5
    return (middle - half) / (1 + Z**2 / people), (middle + half) / (1 + Z**2 / people)


def _fisher(r: float, people: int) -> tuple[float, float]:
    middle, half = np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)), Z / (people - 3) ** 0.5
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def of_report(report: Report) -> dict[str, ItemStatistics]:
    """The statistics of the exercises of a report; points that wait for a person are left out."""
    exercises = [each for each in report.scores.exercises if each.points]
    points = [
        [
            np.nan if e.name in row.waiting + row.changed else (row.points or {})[e.name]
            for e in exercises
        ]
        for row in report.graded
    ]
    maxima = np.array([each.points for each in exercises])
    found = item_statistics(np.array(points, float).reshape(-1, len(exercises)), maxima)
    return {each.name: of for each, of in zip(exercises, found, strict=True) if of is not None}


def as_table(found: Mapping[str, ItemStatistics]) -> Table:
    """A row for each exercise; where the best quarter earned less than the weakest, a mark."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    caption = (
        "share: mean share of the points; with the rest: correlation with the points of all other "
        "exercises; both with 95 % intervals. Quarters are by the other exercises. (!): look at it."
    )
    table = Table(
        title="The exercises as questions", caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for title in ("exercise", "share", "with the rest", "best quarter", "weakest"):
        table.add_column(title, justify="left" if title == "exercise" else "right")
    for name, of in found.items():
        low, high = of.interval
        share = f"{of.share:.0%} ({low:.0%} to {high:.0%})"
        rest = "–"
        if of.range is not None:
            rest = f"{of.discrimination:.2f} ({of.range[0]:.2f} to {of.range[1]:.2f})"
        mark = " (!)" if of.suspect else ""
        table.add_row(escape(name) + mark, share, rest, f"{of.upper:.0%}", f"{of.lower:.0%}")
    return table


def counts_of(report: Report, version: str) -> dict[str, Any]:
    """Counts of a class, nothing else. A count stands if at least ten people are in it, and ten not."""
    people = len(report.graded)

    def shown(count: int) -> int | None:
        return count if FEWEST <= count <= people - FEWEST else None

    def full(name: str, most: float) -> int:
        return sum((row.points or {})[name] >= most for row in report.graded)

    exercises: Mapping[str, Any] = {
        task.name: {
            "full points": shown(full(task.name, task.maximum)),
            "mistakes": {m.words: m.count for m in task.mistakes if shown(m.count)},
        }
        for task in report.tasks
    }
    return {
        "assignment": report.scores.assignment,
        "course": version,
        "people": people if people >= FEWEST else None,
        "exercises": exercises,
    }


def in_words(counts: Mapping[str, Any]) -> str:
    """The file that holds the counts."""
    return json.dumps(counts, indent=1, ensure_ascii=False) + "\n"
