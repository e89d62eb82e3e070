"""Where the files of a watched assignment are: watch/psN/ in the class's folder."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from cellgrader.course.folders import Course
from cellgrader.course.records import LONGEST_NAME


def folder_of(course: Course, name: str) -> Path:
    """The folder with all about one watched assignment."""
    return course.folder / "watch" / name


def tries_path(course: Course, name: str, student: str) -> Path:
    """The file with a student's attempts."""
    return folder_of(course, name) / "tries" / f"{_short(student)}.json"


def best_path(course: Course, name: str, student: str) -> Path:
    """The file that says which attempt counts, if it is the best one."""
    return folder_of(course, name) / "best" / f"{_short(student)}.json"


def best_folder(course: Course, name: str, student: str) -> Path:
    """A copy of the files of that attempt."""
    return folder_of(course, name) / "best" / "files" / _short(student)


def places_of(course: Course, name: str, student: str) -> list[Path]:
    """All that is kept here about one student."""
    return [place(course, name, student) for place in (tries_path, best_path, best_folder)]


def read_json(path: Path) -> dict[str, Any]:
    """The content of a file; {} if there is none or it is damaged."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def _short(student: str) -> str:
    """A long name is cut, as in the paths of records."""
    return os.fsdecode(os.fsencode(student)[:LONGEST_NAME])
