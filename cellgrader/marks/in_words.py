"""Changes of a mark in words: for the terminal and a student's feedback page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from cellgrader.course.folders import Course
from cellgrader.marks.history import FIRST, Entry, read_history
from cellgrader.notebook import document as notebooks
from cellgrader.platforms.spreadsheet import number
from cellgrader.release.adapt import class_notebook


@dataclass(frozen=True)
class Told:
    """An entry in words: when, what happened to the total, why, and the exercises that changed."""

    when: str
    what: str
    why: str
    exercises: tuple[str, ...]


def in_words(each: Entry, numbers: Mapping[str, str], zone: tzinfo = UTC) -> Told:
    """An entry for a person.

    Args:
        numbers: exercise -> its number in the notebook.
        zone: the class's, in which the time is shown.
    """
    what = f"{points(each.state.total)} point{'' if each.state.total == 1 else 's'}"
    if each.before != each.state.total and each.reason != FIRST:
        what = f"{points(each.before)} → {what}"
    why = f"{each.reason} ({each.words.rstrip('.')})" if each.words else each.reason
    exercises = tuple(
        f"{label(exercise, numbers)}: {points(old)} → {points(new)}"
        for exercise, (old, new) in each.changed.items()
    )
    when = datetime.fromisoformat(each.time).astimezone(zone)
    return Told(f"{when:%Y-%m-%d %H:%M} {zone}", what, why, exercises)


def points(value: float | None) -> str:
    """Points as a person writes them; "–" where there are none."""
    return "–" if value is None else number(value)


def label(exercise: str, numbers: Mapping[str, str]) -> str:
    """An exercise by its number and name."""
    return f"{numbers[exercise]} {exercise}" if exercise in numbers else exercise


def numbers_of(course: Course, name: str) -> dict[str, str]:
    """Exercise -> its number in the notebook."""
    return {each.name: each.number for each in notebooks.exercises(class_notebook(course, name))}


def for_student(course: Course, name: str, student: str) -> list[Told]:
    """The changes that a feedback page shows: those after the first mark.

    The first points of an answer that waited for a grade by hand are not a change, and neither is a
    mark that stayed.
    """
    found = [
        each
        for each in read_history(course, name, student)[1:]
        if not each.only_waited and (each.changed or each.before != each.state.total)
    ]
    numbers = numbers_of(course, name) if found else {}
    zone = course.settings.zone
    return [in_words(each, numbers, zone) for each in found]
