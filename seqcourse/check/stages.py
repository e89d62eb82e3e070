"""What a self-check says of a wrong answer, in stages: where, a question, the fix, what to read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_INPUT = re.compile(r"\s*(\(Input: .*\))$", re.S)
# The last sentences of a message, from the first that asks something.
_QUESTION = re.compile(r"(?P<where>.*?\.)\s+(?P<question>(?:(?!\.\s).)*\?.*)", re.S)

# The last answer that failed each self-check, and how often that very answer did.
_failed: dict[str, tuple[Any, int]] = {}


def split(message: str) -> tuple[str, str]:
    """A message as what it says, and what it asks ("" if nothing)."""
    given = _INPUT.search(message)
    found = _QUESTION.fullmatch(_INPUT.sub("", message))
    if not found:
        return message, ""
    return f"{found['where']} {given[1] if given else ''}".strip(), found["question"]


def shown(
    name: str, student: Any, message: str, hints: Sequence[str], ask: bool = True
) -> tuple[str, bool]:
    """What is shown of a message, and whether that holds a hint more than the last time.

    An answer that is checked again, unchanged, gets the next hint: first the message's question, then
    those of the exercise (the fix, the section to read). Without ``ask`` it gets none.
    """
    where, question = split(message)
    if not ask:
        return where, False
    last, times = _failed.get(name, (None, 0))
    times = times + 1 if last is student else 0
    _failed[name] = student, times
    hints = [hint for hint in (question, *hints) if hint]
    more = f"Run this check again for {'another' if times else 'a'} hint." if times < len(hints) else ""
    return "\n".join([where, *hints[:times], more]).strip(), 0 < times <= len(hints)
