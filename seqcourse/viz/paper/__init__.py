"""Small calculations for a pencil, their numbers, and what is said of an answer.

A question is one record, such as `context` in 05.toml: its numbers, the right formula, the likely
mistakes as formulas, and the words. The formulas are written once, in Python: a page gets some draws
with all results, a notebook draws anew for ever.
"""

from __future__ import annotations

import html
import random
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, product
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.html import inline, plain
from seqcourse.viz.paper.names import DRAWN, NAMES, written_out
from seqcourse.viz.poll import folded, written

PAPER = Path(__file__).parent
RECENT = 8  # draws that do not come again at once
TRIES = 2000  # draws in a row that fit no question
TOLERANCE = 0.015  # what rounding to two decimals on the way costs
UNKNOWN = (
    "We know no mistake that gives these numbers. Write every step down once more, with at least two "
    "decimals."
)
WORKED = "The worked sum:"
EMPTY = "Fill in every box first."
MALFORMED = "should be a number such as 0.25 or −3, but it is"
NEXT = ("Change your numbers, or check again for a hint.", "Check again to see the worked sum.", "")
NUMBER = re.compile(r"([+-]?(?:\d+[.,]?\d*|[.,]\d+))(?:/(\d+))?")  # as in by_hand.js
_FIELD, _END = "\ue000", "\ue001"  # around the number of a field: signs that no text has


@dataclass(frozen=True)
class Calculation:
    """A calculation, without its numbers.

    asked, given, where, worked, so: texts with fields such as {q @ k}. ``where`` says where to look,
        ``worked`` is the whole sum, ``so`` what follows from a right answer.
    rows, columns: what the boxes are called.
    numbers: names and formulas, in order; whole(low, high, *shape) and the like draw.
    right: the formula; mistakes: (formula, question that names the mistake).
    keep: a condition on a draw.
    """

    name: str
    asked: str
    columns: Sequence[str]
    numbers: Mapping[str, str]
    right: str
    mistakes: Sequence[tuple[str, str]]
    where: str
    worked: str
    given: Sequence[str] = ()
    rows: Sequence[str] = ()
    so: str = ""
    keep: str = "True"
    tolerance: float = TOLERANCE

    def texts(self) -> list[str]:
        """All texts that may have fields, in the order of their fields."""
        asked = [question for _, question in self.mistakes]
        return [self.asked, *self.given, self.where, self.worked, self.so, *asked]

    def labels(self) -> list[str]:
        """What each box is called, row by row."""
        rows = [f"{plain(row)}, " for row in self.rows] or [""]
        labels = (row + plain(column) for row, column in product(rows, self.columns))
        return [re.sub(r"[{}\\]", "", label) for label in labels]


@dataclass(frozen=True)
class Draw:
    """The numbers of a question: what its fields say, all results, row by row, and its own names."""

    fields: list[str]
    right: list[float]
    mistakes: list[list[float]]
    numbers: dict[str, Any] = field(compare=False)


def load_question(name: str) -> Calculation:
    """The record of a calculation; a line break in a text is a space."""
    known = written(PAPER, name, "calculation")
    mistakes = [(each["gives"], folded(each["ask"])) for each in known.pop("mistake")]
    known = {key: folded(value) if isinstance(value, str) else value for key, value in known.items()}
    known["given"] = [folded(line) for line in known.get("given", ())]
    return Calculation(name, mistakes=mistakes, **known)


def draws(question: Calculation) -> Iterator[Draw]:
    """Draw numbers for ever, the same ones each time.

    A draw is left out if two of its results (the right one and those of the mistakes) lie so near that
    an answer could be taken for both, and so is one of the last few. Raises CourseError when none fits.
    """
    last: deque[Draw] = deque(maxlen=RECENT)
    for number in count():
        for attempt in range(TRIES):
            made = _draw(question, random.Random(f"{question.name} {number} {attempt}"))
            if made and made not in last:
                last.append(made)
                yield made
                break
        else:
            raise CourseError(
                f"The calculation {question.name!r} has no draw that tells its mistakes apart."
            )


def _draw(question: Calculation, chance: random.Random) -> Draw | None:
    known: dict[str, Any] = {**NAMES, **{name: partial(draw, chance) for name, draw in DRAWN.items()}}
    for name, formula in question.numbers.items():
        known[name] = eval(formula, known)  # of the package's own records
    if not eval(question.keep, known):
        return None
    formulas = [question.right, *(formula for formula, _ in question.mistakes)]
    results = [np.ravel(np.asarray(eval(formula, known), dtype=float)) for formula in formulas]
    boxes = len(question.labels())
    if any(len(result) != boxes for result in results):
        raise CourseError(f"Every formula of {question.name!r} should give {boxes} numbers.")
    apart = 3 * question.tolerance
    for place, result in enumerate(results):
        if not all(np.abs(result - other).max() > apart for other in results[:place]):
            return None
    fields = [written_out(eval(part, known), spec) for part, spec in _fields(question)]
    right, *mistakes = ([round(float(x), 4) for x in result] for result in results)
    return Draw(fields, right, mistakes, {name: known[name] for name in question.numbers})


def _fields(question: Calculation) -> list[tuple[str, str]]:
    parts = (part for text in question.texts() for part in Formatter().parse(_code(text)))
    return [(part, spec or "") for _, part, spec, _ in parts if part is not None]


def _code(text: str) -> str:
    """A text in which the braces of mathematics are no fields."""
    pieces = re.split(r"(\$[^$]+\$)", text)
    pieces[1::2] = [piece.replace("{", "{{").replace("}", "}}") for piece in pieces[1::2]]
    return "".join(pieces)


def with_fields(question: Calculation) -> list[str]:
    """The texts of a question with a mark for every field."""
    made, places = [], count()
    for text in question.texts():
        parts = Formatter().parse(_code(text))
        made.append(
            "".join(
                before + (f"{_FIELD}{next(places)}{_END}" if part is not None else "")
                for before, part, _, _ in parts
            )
        )
    return made


def filled(text: str, fields: Sequence[str], tagged: bool = False) -> str:
    """A text as HTML with the numbers of a draw, each in an element of its own if ``tagged``."""

    def number(found: re.Match[str]) -> str:
        shown = html.escape(fields[int(found[1])])
        return f'<span data-n="{found[1]}">{shown}</span>' if tagged else shown

    return re.sub(f"{_FIELD}(\\d+){_END}", number, inline(text))


def parse(text: str) -> float | None:
    """A number as a reader writes it: with a point or a comma, with any minus sign, or as 1/3."""
    found = NUMBER.fullmatch(re.sub(r"\s", "", text).replace("−", "-").replace("–", "-"))
    if not found or (found[2] and not int(found[2])):
        return None
    return float(found[1].replace(",", ".")) / int(found[2] or 1)


def judge(question: Calculation, drawn: Draw, typed: Sequence[str], tries: int) -> tuple[str, str]:
    """What is said of typed numbers: "malformed", "right" or "wrong", and a text with fields.

    Args:
        tries: how many wrong answers to this draw came before. The first is told where to look, the
            second which mistake it is, the third sees the worked sum.
    """
    if not all(map(str.strip, typed)):
        return "malformed", EMPTY
    numbers = [parse(text) for text in typed]
    for label, text, found in zip(question.labels(), typed, numbers, strict=True):
        if found is None:
            return "malformed", f"{label} {MALFORMED} “{text.strip()}”."
    near = partial(np.isclose, numbers, rtol=0, atol=question.tolerance)
    texts = with_fields(question)
    where, worked, so, *asked = texts[1 + len(question.given) :]
    if near(drawn.right).all():
        return "right", so
    count_right = int(near(drawn.right).sum())
    part = f"{count_right} of {len(numbers)} numbers are right." if len(numbers) > 1 else ""
    mistake = next(
        (ask for ask, of in zip(asked, drawn.mistakes, strict=True) if near(of).all()), UNKNOWN
    )
    said = [[part, where], [mistake], [mistake, WORKED, worked]][min(tries, 2)]
    return "wrong", " ".join(filter(None, [*said, NEXT[min(tries, 2)]]))
