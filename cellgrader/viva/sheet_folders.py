"""Where the sheets of a class are: viva/psN/STUDENT/ in the class's folder."""

from __future__ import annotations

from pathlib import Path

from cellgrader.course.folders import Course

ANSWERS = "answers.json"  # the instructor's
PAGE = "questions.html"  # the student's


def called(name: str) -> str:
    """The name of a sheet's notebook, and of its assignment in the gradebook."""
    return f"viva-{name}"


def folder_of(course: Course, name: str) -> Path:
    """The folder with everybody's sheets about one assignment."""
    return course.folder / "viva" / name


def sheet_folder(course: Course, name: str, student: str) -> Path:
    """The folder with all about one student."""
    return folder_of(course, name) / student
