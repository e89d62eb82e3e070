"""The records of all exercises in one file, and as a table of the book."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import torch

from seqcourse.audit.answers import HELD_OUT, OPERATOR, RIGHT, WRONG
from seqcourse.audit.rule import broken, nearest
from seqcourse.check.calls.compare import COARSE, FINE
from seqcourse.check.exercise import Exercise

NONE = {"tried": 0, "made": 0, "refused": 0, "explained": 0}  # mutants that were not tried so far
HELD_NONE = {"tried": 0, "refused": 0, "named": 0}
RESULTS = Path("benchmarks") / "results" / "audit.json"


def read(path: Path) -> dict[str, dict[str, Any]]:
    """What was measured before, by assignment and exercise; nothing if there is no such file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def merge(path: Path, assignment: str, exercise: Exercise, found: Mapping[str, Any], seed: int) -> None:
    """Put records of an exercise in the place of its old ones; the file is written whole or not at all.

    Args:
        found: by kind of answer; kinds that were not tried stay as they were measured before.
    """
    everything = read(path)
    there = everything.setdefault(assignment, {})
    told = {"tolerance": exercise.tolerance, "because": exercise.because}
    there[exercise.name] = there.get(exercise.name, {}) | told | dict(found) | stamp(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    text = json.dumps(dict(sorted(everything.items())), indent=1, ensure_ascii=False)
    beside.write_text(f"{text}\n", encoding="utf-8")
    beside.replace(path)


def stamp(seed: int) -> dict[str, Any]:
    """What the numbers were computed with."""
    versions = f"torch {torch.__version__}, python {platform.python_version()}"
    return {"seed": seed, "machine": f"{platform.machine()}, {versions}"}


def faults(record: Mapping[str, Any]) -> list[str]:
    """What is wrong with a check, in sentences: misjudged answers, tolerances off the rule."""
    found = [
        fault for kind in (RIGHT, WRONG, OPERATOR) for fault in record.get(kind, {}).get("faults", ())
    ]
    return found + (broken(record) if RIGHT in record else [])


def line(record: Mapping[str, Any]) -> str:
    """What came of one exercise, in a line."""
    parts = []
    if right := record.get(RIGHT):
        good, tried = trials(record)
        parts.append(
            f"{right['accepted']} of {right['tried']} right answers accepted ({good} of {tried} trials)"
        )
    for kind, words in ((WRONG, "wrong ones"), (HELD_OUT, "held out")):
        if (wrong := record.get(kind)) and wrong["tried"]:
            parts.append(
                f"{wrong['refused']} of {wrong['tried']} {words} refused, {wrong['named']} named"
            )
    if made := record.get(OPERATOR):
        parts.append(f"{made['refused']} of {made['tried']} mutants refused")
    return ", ".join(parts)


def trials(record: Mapping[str, Any]) -> tuple[int, int]:
    """How many trials of right answers in all forms were accepted, and how many there were."""
    pairs = [*record[RIGHT]["forms"].values()]
    return sum(good for good, _ in pairs), sum(tried for _, tried in pairs)


COLUMNS = ("exercise", "right", "trials", "wrong", "named", "mutants", "tolerance", "right up to")
COLUMNS += ("wrong from", "reason")


def table(exercises: Mapping[str, Any]) -> list[str]:
    """The records of one assignment as a table in Markdown."""
    return rows(COLUMNS, [list(_cells(name, record)) for name, record in exercises.items()])


def usual(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The shared tolerances as a table in Markdown, with the errors nearest to them on both sides."""
    shared = {f"{FINE:g}": "float64", f"{COARSE:g}": "float32"}
    columns = ("numbers", "tolerance", "largest error of a right answer", "smallest of a wrong one")
    lines = []
    for tolerance, kind in shared.items():
        above, below = [], []
        for assignment, exercises in found.items():
            for name, record in exercises.items():
                if record["tolerance"] is None and tolerance in record[RIGHT]["errors"]:
                    where = f"`{name}` of assignment {assignment.removeprefix('ps')}"
                    above.append((record[RIGHT]["errors"][tolerance], where))
                    below.append((nearest(record)[0], where))
        ends = [f"{error:.1g}, {where}" for error, where in (max(above), min(below))]
        lines.append([kind, tolerance, *ends])
    return rows(columns, lines)


def held_out(found: Mapping[str, Mapping[str, Any]]) -> str:
    """How many of the wrong answers that no check reads are refused, and named, in a sentence."""
    every = (record for exercises in found.values() for record in exercises.values())
    records = [record.get(HELD_OUT, HELD_NONE) for record in every]
    tried, refused, named = (sum(r[key] for r in records) for key in ("tried", "refused", "named"))
    return (
        f"Of {tried} wrong answers that no check reads, {refused} lose points, and {named}, "
        f"{100 * named / tried:.0f} %, are named by self-check and grader in words written down before."
    )


def ways(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the right answers of all exercises compute with, as a table in Markdown."""
    counts: dict[str, int] = {}
    for exercises in found.values():
        for record in exercises.values():
            for style, many in record[RIGHT]["styles"].items():
                counts[style] = counts.get(style, 0) + many
    names = {"PyTorch": "modules and functions of torch.nn", "products": "matrix products"}
    lines = [[names.get(style, style), f"{many}"] for style, many in sorted(counts.items())]
    return rows(("right answers with", "so many"), lines)


def rows(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, line by line."""
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *cells)]


def _cells(name: str, record: Mapping[str, Any]) -> Iterator[str]:
    right, wrong, made = record[RIGHT], record[WRONG], record.get(OPERATOR, NONE)
    yield f"`{name}`"
    yield f"{right['accepted']} of {right['tried']}"
    yield "{} of {}".format(*trials(record))
    yield f"{wrong['refused']} of {wrong['tried']}"
    yield f"{wrong['named']} of {wrong['tried']}"
    explained = f" + {made['explained']}" * (made["explained"] > 0)
    yield f"{made['refused']}{explained} of {made['tried']}" if made["tried"] else "–"
    errors = {float(tolerance): error for tolerance, error in right["errors"].items()}
    inexact = [tolerance for tolerance in sorted(errors) if tolerance]
    yield ", ".join(f"{tolerance:.1g}" for tolerance in inexact) or "exact"
    yield ", ".join(f"{errors[tolerance]:.1g}" for tolerance in inexact) or "–"
    smallest, _ = nearest(record)
    yield f"{smallest:.1g}" if inexact and isfinite(smallest) else "–"
    yield record["because"] or ("the usual" if inexact else "–")
