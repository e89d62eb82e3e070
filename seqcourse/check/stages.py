"""What a self-check says of a wrong answer, in stages: where, a question, the fix, what to read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_INPUT = re.compile(r"\s*(\(Input: .*\))$", re.S)
# The last sentences of a message, from the first that asks something.
_QUESTION = re.compile(r"(?P<where>.*?\.)\s+(?P<question>(?:(?!\.\s).)*\?.*)", re.S)

# The last answer that failed each self-check, and how often that very answer did.
_failed: dict[str, tuple[Any, int]] = {}


class Shown(NamedTuple):
    """What is shown of a mistake.

    hint: whether that holds a hint more than the last time.
    left: how many hints are left, if the answer is checked again unchanged.
    """

    text: str
    hint: bool
    left: int


def split(message: str, asks: str = "") -> tuple[str, str]:
    """A message as what it says, and what it asks: its end, if it is known, or its last question."""
    given = _INPUT.search(message)
    said = _INPUT.sub("", message)
    if asks and said.endswith(asks):
        where = said.removesuffix(asks).strip()
    elif found := _QUESTION.fullmatch(said):
        where, asks = found["where"], found["question"]
    else:
        return message, ""
    return f"{where} {given[1] if given else ''}".strip(), asks


def shown(
    name: str,
    student: Any,
    mistake: Exception,
    hints: Sequence[str],
    ask: bool = True,
    questions: str = "",
) -> Shown:
    """What is shown of a mistake.

    An answer that is checked again, unchanged, gets the next hint: first the mistake's question (where
    the mistake is not known, the ``questions`` of the exercise), then the fix and the section to read.
    Without ``ask`` it gets none.
    """
    where, question = split(str(mistake), getattr(mistake, "asks", ""))
    if not ask:
        return Shown(where, False, left=1)
    last, times = _failed.get(name, (None, 0))
    times = times + 1 if last is student else 0
    _failed[name] = student, times
    hints = [hint for hint in (question or questions, *hints) if hint]
    more = f"Run this check again for {'another' if times else 'a'} hint." if times < len(hints) else ""
    text = "\n".join([where, *hints[:times], more]).strip()
    return Shown(text, 0 < times <= len(hints), max(0, len(hints) - times))
