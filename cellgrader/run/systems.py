"""Whole systems: the file handed in beside the notebook, and what is kept and told of its measures.

A check that has ``judge_system`` judges a system. What it measured is kept in the record: task, texts,
and for each half of the hidden split its score. The public half earns points until the class closes the
leaderboard; from then on the final half does.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgrader.errors import CourseError
from cellgrader.processes.limited import TooCostly, limited
from cellgrader.profile import the_course

if TYPE_CHECKING:
    from cellgrader.checks import Check, Judge, Verdict
    from cellgrader.course.folders import Course
    from cellgrader.run.kernels import ProbeResult

OPENING = "To read the checkpoint"
SUFFIX = ".safetensors"
# A pseudonym is two words and a number.
HOW = (
    "amber brave brisk calm clever cosy curious daring eager early fair gentle glad golden happy honest "
    "jolly keen kind lively lucky mellow merry mild modest neat nimble noble patient plucky polite "
    "quick quiet rapid ready rosy shy silver sly snowy spry steady sunny swift tidy vivid warm young"
).split()
WHO = (
    "badger bear bison buzzard cat crane crow deer dolphin duck eagle eel elk falcon ferret finch "
    "fox frog gecko goat goose hare hawk hedgehog heron horse ibis jackdaw kite lark lemur lion lizard "
    "lynx magpie marten mole moose mouse newt otter owl panda pike pony puffin quail rabbit raven robin "
    "rook salmon seal shrew sparrow stork swan tern thrush tiger toad trout turtle vole weasel wolf wren"
).split()


@dataclass(frozen=True)
class Handed:
    """A checkpoint that was handed in: its content, or in a sentence the problem with it."""

    data: bytes = b""
    notes: Mapping[str, str] | None = None
    parameters: int = 0
    sketch: Any = ()
    problem: str = ""


def is_system(check: Check) -> bool:
    """Whether a check judges a whole system."""
    return hasattr(check, "judge_system")


def with_half(check: Any, final: bool) -> Any:
    """The check, for a system with the half of the hidden split that earns the points."""
    return replace(check, half="final") if final and is_system(check) else check


def handed_in(folder: Path, judges: Mapping[str, Judge]) -> dict[str, Handed]:
    """By grade cell, the checkpoint that a system's check needs."""
    return {
        cell: _opened(folder, judge.check.beside)
        for cell, judge in judges.items()
        if is_system(judge.check)
    }


def _opened(folder: Path, name: str) -> Handed:
    """The file of this name, or the only one of its kind: learning platforms change names."""
    path = folder / name
    with suppress(OSError), os.scandir(folder) as entries:
        alike = [entry.path for entry in entries if entry.name.lower().endswith(SUFFIX)]
        if not os.path.lexists(path) and len(alike) == 1:
            path = Path(alike[0])
    try:
        return limited(OPENING, _read, path)
    except (CourseError, TooCostly) as problem:
        return Handed(problem=str(problem))


def _read(path: Path) -> Handed:
    checkpoint = the_course().check_part("grade.checkpoint")
    found = checkpoint.read_checkpoint(path)
    return Handed(found.data, found.notes, found.parameters, checkpoint.sketch(found.tensors))


def with_files(requests: Mapping[str, dict], beside: Mapping[str, Handed]) -> dict[str, dict]:
    """The requests with their checkpoints; those without a usable one are left out."""
    return {
        cell: request | {"checkpoint": beside[cell].data, "notes": dict(beside[cell].notes or {})}
        if cell in beside
        else request
        for cell, request in requests.items()
        if cell not in beside or not beside[cell].problem
    }


def to_review(beside: Mapping[str, Handed], checks: Path) -> tuple[str, ...]:
    """Which checkpoints hold the numbers of the course's own models, for a person to look at."""
    if not any(each.sketch for each in beside.values()):
        return ()
    taken = the_course().system_part("course").taken
    references = list(checks.glob(f"*{SUFFIX}"))
    reference = references[0] if references else None
    return tuple(line for each in beside.values() for line in taken(each.sketch, reference))


def measured(
    verdicts: Mapping[str, Verdict], answers: Mapping[str, ProbeResult], beside: Mapping[str, Handed]
) -> dict[str, Any]:
    """What is kept of the system in a submission; {} if there is none, or it did not run."""
    for cell, each in beside.items():
        if cell in verdicts and verdicts[cell].measured:
            minutes = 0.0
            with suppress(ValueError):
                minutes = float((each.notes or {}).get("minutes", "0")[:20])
            return verdicts[cell].measured | {
                "parameters": each.parameters,
                "seconds": round(answers[cell].seconds, 1),
                "minutes": round(minutes, 1) if math.isfinite(minutes) else 0.0,
            }
    return {}


def told(found: Mapping[str, Any], secret: bytes, student: str) -> str:
    """What students are told of their system: the score of the half that counts, never of the other."""
    if not found:
        return ""
    half, score_in_words = found["half"], the_course().system_part("system").score_in_words
    return (
        f"{half.capitalize()} half of the hidden split: {score_in_words(found['task'], found[half])}. "
        f"{found['parameters']:,} numbers, {found['seconds']:.0f} s. On the leaderboard: "
        f"{pseudonym(secret, student)}."
    )


def pseudonym(secret: bytes, student: str) -> str:
    """A student's name on the leaderboard: "quiet heron 421337"; only the class's secret gives it."""
    digest = hmac.digest(secret, f"pseudonym {student}".encode(errors="replace"), hashlib.sha256)
    value = int.from_bytes(digest[:8], "big")
    value, how = divmod(value, len(HOW))
    value, who = divmod(value, len(WHO))
    return f"{HOW[how]} {WHO[who]} {value % 900_000 + 100_000}"


def _mark(course: Course, name: str) -> Path:
    return course.folder / f"final-{name}"


def is_final(course: Course, name: str) -> bool:
    """Whether the final half of the hidden split earns the points of this class."""
    return _mark(course, name).exists()


def make_final(course: Course, name: str) -> None:
    """From now on the final half earns the points, and everybody may see it."""
    course.make_folder()
    _mark(course, name).touch()
