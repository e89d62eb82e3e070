"""What a self-check says of a wrong answer, in stages: where, a question, the fix, what to read."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seqcourse.check.told.finding import Finding

# By self-check: the last answer that failed it, and how many hints it has had.
_failed: dict[str, tuple[str, int]] = {}


class ShownMistake(NamedTuple):
    """What is shown of a mistake.

    hint: whether that holds a hint more than the last time.
    left: how many hints are left.
    """

    text: str
    hint: bool
    left: int


def shown(
    name: str,
    student: Any,
    finding: Finding,
    hints: Sequence[str],
    ask: bool = True,
    questions: str = "",
) -> ShownMistake:
    """What is shown of a mistake that a self-check found.

    A changed answer that fails again gets the next hint: first the mistake's question (where the mistake
    is not known, the ``questions`` of the exercise), then where to look and the section to read. An
    unchanged answer gets what it got before. Without ``ask`` there is no hint.
    """
    if not ask:
        return ShownMistake(finding.where, False, left=1)
    attempt, (last, times) = attempt_of(student), _failed.get(name, ("", -1))
    again = attempt == last
    times += not again
    _failed[name] = attempt, times
    hints = [hint for hint in (finding.question or questions, *hints) if hint]
    more = f"Change your answer: the next one that fails gets {'another' if times else 'a'} hint."
    more = more if times < len(hints) else ""
    text = "\n".join([finding.where, *hints[:times], more]).strip()
    return ShownMistake(text, 0 < times <= len(hints) and not again, max(0, len(hints) - times))


def passed(name: str) -> None:
    """A self-check passed: its hints begin anew."""
    _failed.pop(name, None)


def attempt_of(student: Any) -> str:
    """An answer's code without comments and blank lines: two texts differ if two attempts do.

    In a notebook it is the whole cell, helpers included.
    """
    inside = vars(student).values() if isinstance(student, type) else [inspect.unwrap(student)]
    code = next((part.__code__ for part in inside if hasattr(part, "__code__")), None)
    source = "".join(linecache.getlines(code.co_filename)) if code else ""
    try:
        if code and Path(code.co_filename).is_file():
            source = inspect.getsource(student)
        return ast.dump(ast.parse(textwrap.dedent(source))) if source else f"{id(student)}"
    except (OSError, TypeError, ValueError, SyntaxError, RecursionError):
        return source or f"{id(student)}"
