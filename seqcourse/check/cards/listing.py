"""The hidden checks of a card, in plain text.

    === hidden: attention-grade
    see: 08, Do not look ahead
    share: by case
    no mask: batch=2, heads=3, queries=4, keys=5, d=6, d_v=2
    a causal mask: batch=2, heads=2, queries=4, keys=4, d=5, d_v=3, kind="causal"

The header names a grade cell: the exercise, then "-grade" and perhaps a number. `see` is the chapter and
the section to read again, if it is not the exercise's; `share: by case` makes each case worth the same
part of the points; `variant` names one of the exercise's variants; `hint` takes the place of the
exercise's own, and `fix` says what to do if it is asked; `no gradients of` names arguments whose
gradients another cell compares. Every other line is a case: the kind of input in the student's words,
then what the exercise's `make` is called with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqcourse.check.calls.kinds import GRADIENTS
from seqcourse.check.cards.card import place, section, sections
from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import ALL_OR_NOTHING, BY_CASE, HiddenCheck, Poll
from seqcourse.errors import CourseError

OPTIONS = ("see", "share", "variant", "no gradients of", "hint", "fix")


def hidden_check(cell: str, lines: Iterable[str], exercise: Exercise) -> HiddenCheck:
    """The hidden check of a grade cell.

    Args:
        lines: what the card says of it.
    Raises:
        CourseError: a line that says nothing, an unknown variant, a check without cases.
    """
    options, cases = {}, {}
    for line in filter(str.strip, lines):
        name, colon, rest = line.partition(":")
        if not colon:
            raise CourseError(f"Under {cell}, a line should be `name: ...`, but is {line!r}.")
        if name in OPTIONS:
            options[name] = rest.strip()
        else:
            cases[name] = _keywords(rest, f"{cell}, {name}")
    changes = dict(_variant(exercise, options.get("variant", ""), cell))
    for argument in options.get("no gradients of", "").replace(",", " ").split():
        excused = {f"{GRADIENTS} of {argument}": "another cell compares them"}
        changes["excused"] = {**changes.get("excused", exercise.excused), **excused}
    if "hint" in options:
        changes["hint"] = options["hint"]
    chosen = changes.pop("cases", cases)
    if not chosen:
        raise CourseError(f"{cell} should have cases, but has none.")
    share = options.get("share", ALL_OR_NOTHING)
    if share not in (ALL_OR_NOTHING, BY_CASE):
        raise CourseError(f"The share of {cell} should be {BY_CASE!r}, but is {share!r}.")
    see = section(options["see"]) if "see" in options else exercise.see
    return HiddenCheck(cell, replace(exercise, **changes), chosen, see, share)


def polls(path: Path) -> tuple[list[Poll], dict[str, dict[str, str]]]:
    """The polls that a text lists, and the reasons of their options by letter; none without a file.

    Raises:
        CourseError: a poll has no right option, or reasons without one for it.
    """
    found, reasons = [], {}
    for header, body in list(sections(path))[1:] if path.is_file() else ():
        name = header.removeprefix("=== ").strip()
        told = dict(line.split(": ", 1) for line in body.splitlines() if ": " in line)
        right, see = told.pop("right", ""), section(told.pop("see", ""))
        if not right or told and right not in told:
            raise CourseError(
                f"{place(path)}: {name} should say which option is right, and give a reason for it. "
                f"It says: {right!r}, with reasons for: {', '.join(told) or 'none'}."
            )
        found.append(Poll(f"{name}-grade", name, right, see))
        reasons |= {name: told} if told else {}
    return found, reasons


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


def _variant(exercise: Exercise, name: str, cell: str) -> Mapping[str, Any]:
    if name and name not in exercise.variants:
        known = ", ".join(exercise.variants) or "none"
        raise CourseError(f"{cell}: {exercise.name} has no variant {name!r}; it has {known}.")
    return exercise.variants.get(name, {})
