"""The leaderboard of an assignment in which students train a system: one page, no scripts.

The scores come from the records, so nothing is run again but the course's own models, which are the
lines to beat. Until the class closes the leaderboard it shows the public half of the hidden split.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from cellgrader.course.folders import Course
from cellgrader.course.records import Record, read_record
from cellgrader.errors import CourseError
from cellgrader.pages.frame import page
from cellgrader.printable import printable
from cellgrader.profile import program, the_course
from cellgrader.run import systems
from cellgrader.submission.partners import find_submissions

if TYPE_CHECKING:
    from cellgrader.checks import Check

# Task -> heading, measure and how the measure is made.
TABLES = {
    "translator": ("Translators", "BLEU", "Capital letters do not count."),
    "captioner": ("Captioners", "CIDEr", "Pointing: how many named things the maps' peaks hit."),
}


@dataclass(frozen=True)
class LeaderboardRow:
    """A row: a student's system, or with ``ours`` a model of the course."""

    name: str
    measures: Mapping[str, float]
    parameters: int
    seconds: float
    minutes: float = 0.0
    ours: bool = False


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard: the half that it shows, rows by task (best first), and what a person should look
    at, in sentences."""

    assignment: str
    half: str
    tables: Mapping[str, Sequence[LeaderboardRow]]
    looks: tuple[str, ...]


def check_of(course: Course, name: str) -> Check:
    """The check of the system in an assignment, with the class's own sentences if it has some.

    Raises:
        CourseError: the assignment has no system.
    """
    course.require(name)
    found = [
        check for check in the_course().load_checks(course.root, name).CHECKS if systems.is_system(check)
    ]
    if not found:
        raise CourseError(
            f"A leaderboard compares trained systems, but {name} asks for none. Name the assignment "
            f"that does: {program()} leaderboard ps9"
        )
    place = str(course.settings["leaderboard.sentences"])
    return replace(found[0], file=course.root / place) if place else found[0]


def graded_systems(course: Course, name: str) -> list[Record]:
    """The records of everybody whose system was measured.

    Raises:
        CourseError: there is none.
    """
    submissions = find_submissions(course, name).each(course.students(name))
    records = [read_record(course, name, each.first) for each in submissions]
    graded = [record for record in records if record and record.has_grade and record.measured]
    if not graded:
        raise CourseError(
            f"Somebody's system should have been graded before there is a leaderboard, but none was. "
            f"Grade first: {program()} grade {name}"
        )
    return graded


def make_board(course: Course, name: str, check: Check, graded: Sequence[Record]) -> Leaderboard:
    """The leaderboard of a class from its records."""
    from cellgrader.run.examine import Examiner

    examiner = Examiner(course)
    ours_of = the_course().system_part("course")
    made = check.make(examiner.seed(name, check.cell, "", 0))
    half = "final" if systems.is_final(course, name) else "public"
    tables: dict[str, list[LeaderboardRow]] = {}
    looks = [f"{record.student}: {line}" for record in graded for line in record.to_review]
    for task in TABLES:
        own = [record for record in graded if record.measured["task"] == task]
        ours = ours_of.lines(task, made) if own else []
        rows = [_entry(course, examiner.secret, record, half) for record in own]
        rows += [
            LeaderboardRow(each.name, each.halves[half], each.parameters, each.seconds, ours=True)
            for each in ours
        ]
        tables[task] = sorted(rows, key=lambda row: -row.measures["score"])
        for record in own:
            for line in ours:
                same = ours_of.same_mistakes(task, record.measured["texts"], line.texts, made)
                if same >= ours_of.SAME:
                    looks.append(
                        f"{record.student}: {same:.0%} of the mistakes are word for word those of the "
                        f"course's {line.name}."
                    )
        for one, other in itertools.combinations(own, 2):
            texts = one.measured["texts"], other.measured["texts"]
            same = min(ours_of.same_mistakes(task, *pair, made) for pair in (texts, texts[::-1]))
            if same >= ours_of.SAME:
                looks.append(
                    f"{one.student} and {other.student}: {same:.0%} of the mistakes are word for word "
                    "the same, as those of one model are."
                )
    return Leaderboard(name, half, {task: rows for task, rows in tables.items() if rows}, tuple(looks))


def _entry(course: Course, secret: bytes, record: Record, half: str) -> LeaderboardRow:
    found: dict[str, Any] = record.measured
    named = course.settings["leaderboard.names"]
    name = printable(record.student) if named else systems.pseudonym(secret, record.student)
    return LeaderboardRow(
        name, found[half], found["parameters"], found["seconds"], found.get("minutes", 0.0)
    )


def as_page(board: Leaderboard) -> str:
    """The page. It never names what a person should look at."""
    when = (
        "These are the scores on the final half of the hidden split. They earn the points."
        if board.half == "final"
        else "These are the scores on the public half of the hidden split. The final half decides at "
        "the end, and nobody sees it before: tuning a system to this table gains nothing."
    )
    tables = "".join(_table(task, rows) for task, rows in board.tables.items())
    return page(
        f"Leaderboard of {board.assignment}",
        f"<p>{when} The interval holds 95 % of the scores on test sets drawn again from the same half: "
        "systems whose intervals overlap widely may be equally good. Lines in italics are the course's "
        f"own models. Minutes of training are as the students state them.</p>{tables}",
    )


def _table(task: str, rows: Sequence[LeaderboardRow]) -> str:
    heading, measure, how = TABLES[task]
    pointing = any("pointing" in row.measures for row in rows)
    highest = max(row.measures["high"] for row in rows) or 1.0
    place, body = 0, ""
    for row in rows:
        place += not row.ours
        name = f"<em>{escape(row.name)}</em>" if row.ours else escape(row.name)
        low, high = row.measures["low"], row.measures["high"]
        cells = [
            str(place) if not row.ours else "",
            f"{row.measures['score']:g}",
            f"{low:g} to {high:g}",
            *([f"{row.measures['pointing']:.0%}"] if pointing else []),
            f"{row.parameters:,}",
            f"{row.seconds:.0f} s",
            f"{row.minutes:g} min" if row.minutes else "–",
        ]
        bar = (
            f'<span class="bar" style="margin-left: {8 * low / highest:.2f}rem; '
            f'width: {max(0.1, 8 * (high - low) / highest):.2f}rem"></span>'
        )
        numbers = [f'<td class="share">{cell}</td>' for cell in cells]
        body += f"<tr>{numbers[0]}<td>{name}</td>{numbers[1]}<td>{bar}</td>{''.join(numbers[2:])}</tr>"
    headers = ["place", "system", measure, "from 0", "interval", *["pointing"] * pointing]
    headers += ["numbers", "time to run", "training"]
    head = "".join(f"<th>{header}</th>" for header in headers)
    return (
        f"<h2>{heading}</h2><p>{how}</p><div class='wide' tabindex='0' role='region' "
        f"aria-label='{heading}'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
