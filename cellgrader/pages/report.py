"""The class at a glance: how an assignment went, what went wrong, and what to teach again."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any

from cellgrader.course.records import Record
from cellgrader.marks.in_gradebook import LOST
from cellgrader.marks.scores import Row, Scores
from cellgrader.notebook.parse import shown
from cellgrader.pages.frame import page
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable
from cellgrader.run.outcome import read_again

# Mistakes named per exercise, and the parts into which the points are divided.
MOST, PARTS = 3, 10


@dataclass(frozen=True)
class FrequentMistake:
    """What a check said to `count` students, and the section to teach again ("" if none is named)."""

    words: str
    count: int
    see: str


@dataclass(frozen=True)
class ExerciseResult:
    """How an exercise went: the mean of the points (None: all wait), and the most frequent mistakes."""

    name: str
    number: str
    mean: float | None
    maximum: float
    mistakes: tuple[FrequentMistake, ...]


@dataclass(frozen=True)
class Report:
    """An assignment at a glance. Points that wait for a person are left out.

    looks: (student, what a person should look at) of every submission with something to look at.
    absent: who handed in nothing.
    """

    scores: Scores
    graded: tuple[Row, ...]
    tasks: tuple[ExerciseResult, ...]
    looks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def totals(self) -> list[float]:
        return [row.total or 0.0 for row in self.graded]

    @property
    def summary(self) -> list[str]:
        """Sentences for the terminal and the top of the page."""
        rows = self.scores.rows
        told = [f"{len(rows)} handed in, {len(self.graded)} have a grade."]
        if self.totals:
            mean, middle = statistics.mean(self.totals), statistics.median(self.totals)
            told[0] += (
                f" Mean {number(mean)} and median {number(middle)} of {number(self.scores.points)}."
            )
        spent = [row for row in rows if row.days.here(self.scores.assignment)]
        if spent:
            used = sum(row.days.here(self.scores.assignment) for row in spent)
            told.append(f"Late days used here: {used} ({_some([row.student for row in spent])}).")
        for words, who in (
            ("Late", [row.student for row in rows if row.late]),
            ("No late day left", [row.student for row in rows if row.days.days and not row.days.left]),
            ("Waiting for a grade by hand", [row.student for row in rows if row.waiting]),
            ("Changed since graded by hand", [row.student for row in rows if row.changed]),
            (
                "Graded, but not in the gradebook, so grade again",
                [row.student for row in self.scores.rows if row.status == LOST],
            ),
            ("With something to look at", [student for student, _ in self.looks]),
            ("Handed in nothing", self.absent),
        ):
            if who:
                told.append(f"{words}: {len(who)} ({_some(who)}).")
        return told

    @property
    def commonest(self) -> list[str]:
        """The most frequent mistakes of all exercises, in a line each."""
        found = [(mistake, task.name) for task in self.tasks for mistake in task.mistakes]
        found.sort(key=lambda pair: -pair[0].count)
        many = len(self.graded)
        return [f"{one.count} of {many} in {name}: {one.words}" for one, name in found[:MOST]]

    @property
    def distribution(self) -> list[tuple[str, int]]:
        """How many students have how many points: (range, count)."""
        width = self.scores.points / PARTS
        counts = Counter(min(int(total / width), PARTS - 1) if width else 0 for total in self.totals)
        return [
            (f"{number(part * width)} to {number((part + 1) * width)}", counts[part])
            for part in range(PARTS)
        ]


def _some(students: Sequence[str]) -> str:
    return ", ".join(map(shown, students[:8])) + (", ..." if len(students) > 8 else "")


def make_report(scores: Scores, records: Sequence[Record], absent: Sequence[str] = ()) -> Report:
    """The report on a class from its scores and records, and from the list of who handed in nothing."""
    graded = tuple(row for row in scores.rows if row.points is not None)
    found = [record.findings for record in records if record.has_grade]
    tasks = []
    for exercise in scores.exercises:
        have = [row.points[exercise.name] for row in graded if exercise.name not in _held(row)]
        mean = statistics.mean(have) if have else None
        mistakes = _mistakes(exercise.tests, found)
        tasks.append(ExerciseResult(exercise.name, exercise.number, mean, exercise.points, mistakes))
    looks = tuple((record.student, record.to_review) for record in records if record.to_review)
    return Report(scores, graded, tuple(tasks), looks, tuple(absent))


def _held(row: Row) -> set[str]:
    return {*row.waiting, *row.changed}


def _mistakes(
    tests: Sequence[str], findings: Sequence[Mapping[str, Any]]
) -> tuple[FrequentMistake, ...]:
    """The most frequent mistakes of an exercise; each counts once for a student."""
    counts: Counter[str] = Counter()
    sections: dict[str, str] = {}
    for of_student in findings:
        said = set()
        for data in (of_student[test] for test in tests if test in of_student):
            for first in data["findings"][:1]:
                words = f"{first['what']} {first['question']}".strip()
                said.add(words)
                if data["see"]:
                    sections[words] = read_again(data["see"])
        counts.update(said)
    return tuple(
        FrequentMistake(words, count, sections.get(words, ""))
        for words, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST]
    )


def as_page(report: Report, used: Mapping[str, str] = MappingProxyType({})) -> str:
    """The page of a report.

    Args:
        used: student -> what the student says of people, pages and assistants that helped.
    """
    summary = "".join(f"<p>{escape(sentence)}</p>" for sentence in report.summary)
    most = max((count for _, count in report.distribution), default=0) or 1
    bars = "".join(
        f'<tr><td class="share">{span}</td><td class="share">{count}</td>'
        f'<td><span class="bar" style="width: {9 * count / most:.1f}rem"></span></td></tr>'
        for span, count in report.distribution
    )
    tasks = "".join(map(_task, report.tasks))
    rest = [row for row in report.scores.rows if row.points is None]
    without = "".join(
        f"<li>{escape(printable(row.student))}: {escape(row.status)}. {escape(row.sentence)}</li>"
        for row in rest
    )
    looks = "".join(
        f"<li>{escape(printable(student))}: {escape(' '.join(sentences))}</li>"
        for student, sentences in report.looks
    )
    absent = "".join(f"<li>{escape(printable(student))}</li>" for student in report.absent)
    told = "".join(
        f"<li>{escape(printable(student))}: {escape(words) or '<em>nothing said</em>'}</li>"
        for student, words in used.items()
    )
    return page(
        f"{report.scores.assignment} at a glance",
        f"{summary}<h2>Points</h2><table><thead><tr><th>points</th><th>students</th><th>share</th></tr>"
        f"</thead><tbody>{bars}</tbody></table>"
        "<h2>Exercises</h2><div class='wide' tabindex='0' role='region' aria-label='Exercises'><table>"
        "<thead><tr><th>exercise</th><th>mean</th><th>most frequent mistakes</th></tr></thead>"
        f"<tbody>{tasks}</tbody></table></div>"
        + (f"<h2>To look at</h2><ul>{looks}</ul>" if looks else "")
        + (f"<h2>What students used</h2><ul>{told}</ul>" if told else "")
        + (f"<h2>Without a grade</h2><ul>{without}</ul>" if rest else "")
        + (f"<h2>Handed in nothing</h2><ul>{absent}</ul>" if absent else ""),
    )


def _task(task: ExerciseResult) -> str:
    mistakes = "".join(
        f"<li>{mistake.count} × {escape(mistake.words)}"
        + (f" <em>Teach again: {escape(mistake.see)}.</em>" if mistake.see else "")
        + "</li>"
        for mistake in task.mistakes
    )
    mean = "–" if task.mean is None else number(task.mean)
    return (
        f"<tr><td>{task.number} {escape(task.name)}</td>"
        f"<td class='share'>{mean} of {number(task.maximum)}</td>"
        f"<td>{f'<ul>{mistakes}</ul>' if mistakes else ''}</td></tr>"
    )
