"""The list of an assignment's hidden checks: solutions/checks/psN/checks.txt, in plain text.

    === attention-grade
    see: 08, Do not look ahead
    share: by case
    no mask: batch=2, heads=3, queries=4, keys=5, d=6, d_v=2
    a causal mask: batch=2, heads=2, queries=4, keys=4, d=5, d_v=3, kind="causal"

    === poll_1-grade
    see: 09, Several heads
    right: a

A header names a grade cell: the exercise, then "-grade" and perhaps a number. `see` is the chapter and
the section to read again; `share: by case` makes each case worth the same part of the points; `variant`
names one of the exercise's variants; `hint` takes the place of the exercise's own; `no gradients of`
names arguments whose gradients another cell compares. Every other line is a case: the kind of input in
the student's words, then what the exercise's `make` is called with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import ALL_OR_NOTHING, BY_CASE, Check, HiddenCheck, Poll
from seqcourse.check.kinds import GRADIENTS
from seqcourse.errors import CourseError

OPTIONS = ("see", "share", "variant", "no gradients of", "hint", "right")


def read_checks(path: Path, exercises: Mapping[str, Exercise]) -> list[Check]:
    """The hidden checks that a file lists, in its order.

    Args:
        exercises: those of the assignment by name; polls need none.

    Raises:
        CourseError: a line that says nothing, an unknown exercise or variant, a check without cases.
    """
    return [
        _check(cell, options, cases, exercises, f"{path.parent.name}/{path.name}")
        for cell, options, cases in _blocks(path)
    ]


def _blocks(path: Path) -> Iterator[tuple[str, dict[str, str], dict[str, dict]]]:
    """Every block of the file: grade cell, options, cases."""
    for block in f"\n{path.read_text(encoding='utf-8')}".split("\n=== ")[1:]:
        cell, *lines = block.splitlines()
        options: dict[str, str] = {}
        cases: dict[str, dict] = {}
        for line in filter(str.strip, lines):
            name, colon, rest = line.partition(":")
            if not colon:
                raise CourseError(
                    f"{path}: under {cell}, a line should be `name: ...`, but is {line!r}."
                )
            if name in OPTIONS:
                options[name] = rest.strip()
            else:
                cases[name] = _keywords(rest, f"{path}: {cell}, {name}")
        yield cell.strip(), options, cases


def _keywords(text: str, where: str) -> dict[str, Any]:
    """`batch=2, kind="mask"` as a dict."""
    try:
        call = ast.parse(f"f({text.strip()})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise CourseError(
            f"{where}: a case should be plain values by name, such as batch=2, but is {text.strip()!r}."
        ) from error


def _check(
    cell: str,
    options: Mapping[str, str],
    cases: Mapping[str, dict],
    exercises: Mapping[str, Exercise],
    where: str,
) -> Check:
    name = cell.partition("-grade")[0]
    chapter, _, section = options.get("see", "").partition(",")
    see = (chapter.strip(), section.strip())
    if "right" in options:
        return Poll(cell, name, options["right"], see)
    if name not in exercises:
        raise CourseError(f"{where}: {cell} should belong to an exercise, but there is no {name}.")
    exercise = exercises[name]
    changes = dict(_variant(exercise, options.get("variant", ""), where))
    for argument in options.get("no gradients of", "").replace(",", " ").split():
        excused = {f"{GRADIENTS} of {argument}": "another cell compares them"}
        changes["excused"] = {**changes.get("excused", exercise.excused), **excused}
    if "hint" in options:
        changes["hint"] = options["hint"]
    chosen = changes.pop("cases", cases)
    if not chosen:
        raise CourseError(f"{where}: {cell} should have cases, but has none.")
    share = options.get("share", ALL_OR_NOTHING)
    if share not in (ALL_OR_NOTHING, BY_CASE):
        raise CourseError(f"{where}: the share of {cell} should be {BY_CASE!r}, but is {share!r}.")
    return HiddenCheck(
        cell, replace(exercise, **changes), chosen, see if any(see) else exercise.see, share
    )


def _variant(exercise: Exercise, name: str, where: str) -> Mapping[str, Any]:
    if name and name not in exercise.variants:
        known = ", ".join(exercise.variants) or "none"
        raise CourseError(f"{where}: {exercise.name} has no variant {name!r}; it has {known}.")
    return exercise.variants.get(name, {})
