"""Right and wrong answers as text: a wrong answer is a small change to a right one.

The card of an exercise (`card`) holds the answers that test its checks::

    === right: by hand
    def causal_mask(size, past=0):
        return torch.ones(size, past + size).tril(diagonal=past).bool()

    === wrong: one ahead | the one behind it
    diagonal=past  =>  diagonal=past + 1

A wrong answer has a name and, after ``|``, the words that the checks must say. Headed ``=== mistake:
NAME | QUESTION`` it is also how the checks find that mistake: whoever returns the same is asked the
question (see `mistakes`). Where another question comes first, its words follow after a second ``|``.
Headed ``=== held out:`` it is neither read by a check nor tested: `seqcourse audit` counts how many of
these are named, with one of the words between `` / ``. Below stands one of:

- pieces to replace in the right answer above: ``old  =>  new``. The old piece must occur exactly once,
  or as often as ``3x old  =>  new`` says. Without a new piece the old one is deleted.
- lines to replace, as in a diff: ``- `` before an old line, ``+ `` before a new one, two spaces before
  a line that stays and shows the place. A blank line separates two places.
- a whole answer, where no small change makes it. Where every line is indented it is the body of the
  function alone, and the right answer above has the ``def`` line.

A right answer may be written in each of these ways, too.

``=== survives: DropCall, line 5 | why`` explains an operator mutant that may keep every point; below
stands what line 5 of the solution then reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from seqcourse.check.hidden import Poll

HEADER = re.compile(r"=== (right|wrong|mistake|held out|survives): (.+?)(?: \| (.+))?")
PIECE = re.compile(r"(?:(\d+)x )?(\S.*?) +=>(?: +(\S.*))?")
DIFF = re.compile(r"(?!.* =>)(?:[-+](?: |$)|  )", re.MULTILINE)
BODY = re.compile(r"(?:(?: {4}.*)?\n)+")
CHANGE = re.compile(rf"{DIFF.pattern}|.* =>", re.MULTILINE)  # how a change begins, and nothing else
LETTERS = "abcd"


class Answers(NamedTuple):
    """The answers to one exercise, each a tuple."""

    wrong: list[tuple[str, ...]]  # (name, source, words that the checks must say)
    right: list[tuple[str, str]]  # (style, source)
    survives: list[tuple[str, int, str, str]]  # (operator, line, text of the line, why)
    mistakes: list[tuple[str, str]]  # (question, source), of the wrong ones that name a mistake
    held_out: list[
        tuple[str, ...]
    ]  # as `wrong`; no check reads them, and how many are named is measured

    def add(self, exercise: str, header: str, source: str) -> None:
        """Put the answer below a header to the others.

        Raises:
            ValueError: something does not fit.
        """
        match = HEADER.fullmatch(header)
        if not match or not source.strip():
            raise ValueError(
                "it should be '=== right: style' or '=== wrong: name | words', with lines below"
            )
        kind, name, says = match.groups()
        if kind == "survives":
            operator, _, line = name.partition(", line ")
            if not (line.isdigit() and says):
                raise ValueError("it should be '=== survives: operator, line 3 | why'")
            self.survives.append((operator, int(line), source.strip(), says))
            return
        if any(name == other for other, *_ in self.right + self.wrong + self.held_out):
            raise ValueError("another answer has this name")
        body = BODY.fullmatch(source)
        if body or CHANGE.match(source):
            if not self.right:
                raise ValueError("there is no right answer above to change")
            above = self.right[-1][1]
            source = _first_line(exercise, above) + source if body else changed(above, source)
        if kind == "mistake":
            question, *first = re.split(r"(?<=[?.)]) \| ", says or "", maxsplit=1)
            if not question.endswith(("?", ".", ")")):
                raise ValueError("a mistake should have its question behind a |")
            self.mistakes.append((question, source))
            says = (
                first[0] if first else max(re.split(r"\d+", question), key=len).strip()
            )  # a grader hides the numbers
        if kind == "right":
            self.right.append((name, source))
        else:
            there = self.held_out if kind == "held out" else self.wrong
            there.append((name, source, *([says] if says else [])))


def poll_answers(poll: Poll) -> list[tuple[str, str]]:
    """Every wrong letter, and what is not one letter."""
    wrong = [(f"the letter {letter}", letter) for letter in LETTERS if letter != poll.right]
    wrong += [("no answer", None), ("all letters at once", LETTERS), ("a list of letters", [*LETTERS])]
    wrong += [("a letter that is no answer", "x"), ("a capital letter", poll.right.upper())]
    return [(name, f"{poll.answer} = {value!r}\n") for name, value in wrong]


def _first_line(exercise: str, source: str) -> str:
    found = re.search(rf"^def {exercise}\(.*:\n", source, re.MULTILINE)
    if not found:
        raise ValueError(f"the right answer above has no line 'def {exercise}(...):'")
    return found[0]


def changed(source: str, change: str) -> str:
    """A right answer after a change.

    Raises:
        ValueError: a line is no change, or what it replaces does not occur as often as it says.
    """
    for block in re.split(r"\n\n+", change):
        lines = block.splitlines()
        if all(DIFF.match(line) for line in lines):
            old, new = (_side(lines, sign) for sign in "-+")
            source = _replaced(source, old, new, start="^")
            continue
        for line in lines:
            piece = PIECE.fullmatch(line)
            if not piece:
                raise ValueError(f"{line!r} is no change, which would be 'old  =>  new'")
            times, old, new = piece.groups("")
            source = _replaced(source, old, new, int(times or 1))
    return source


def _side(lines: Sequence[str], sign: str) -> str:
    """The lines of a diff before (-) or after (+) the change."""
    return "".join(f"{line[2:]}\n" for line in lines if line[0] in (sign, " "))


def _replaced(source: str, old: str, new: str, times: int = 1, start: str = "") -> str:
    source, found = re.subn(start + re.escape(old), lambda _: new, source, flags=re.MULTILINE)
    if found != times:
        raise ValueError(f"{old!r} occurs {found} times in the right answer above, not {times}")
    return source
