"""A small calculation for a pencil: the page says which mistake gives the numbers typed.

A question is one record, such as `context` in paper/05.toml: its numbers, the right formula, the likely
mistakes as formulas, and the words. The formulas are written once, in Python: the page gets some draws
with all results, a notebook draws anew for ever.
"""

from __future__ import annotations

import html
import json
import random
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice, product
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.html import STYLE, Shown, has_widgets, inline, new_id, plain
from seqcourse.viz.poll import folded, written

PAPER = Path(__file__).parent / "paper"
SCRIPT = Path(__file__).with_suffix(".js")
DRAWS = 24  # in a page
RECENT = 8  # draws that do not come again at once
TRIES = 2000  # draws in a row that fit no question
TOLERANCE = 0.015  # what rounding to two decimals on the way costs
UNKNOWN = "We know no mistake that gives these numbers. Write every step down once more."
WORKED = "The worked sum:"
EMPTY = "Fill in every box first."
MALFORMED = "should be a number such as 0.25 or −3, but it is"
NEXT = ("Change your numbers, or check again for a hint.", "Check again to see the worked sum.", "")
NUMBER = re.compile(r"([+-]?(?:\d+[.,]?\d*|[.,]\d+))(?:/(\d+))?")  # as in by_hand.js
_FIELD, _END = "\ue000", "\ue001"  # around the number of a field: signs that no text has
_STYLE = """<style>
.sq-given{list-style:none;margin:.3rem 0 .5rem;padding:0;display:flex;flex-wrap:wrap;gap:.1rem 1.4rem}
.sq-given li{margin:.1rem 0}
.sq-kind{font-size:.8em;letter-spacing:.03em;color:var(--sq-muted);margin-right:.5em}
.sq.sq-by-hand .sq-boxes table{margin:.2rem 0;border-collapse:separate;border-spacing:.35rem .2rem}
.sq.sq-by-hand .sq-boxes :is(th,td:not(.sq-box)){border:0!important}
.sq.sq-by-hand .sq-boxes :is(th,td){padding:.1rem .2rem;text-align:center!important;
 vertical-align:middle}
.sq.sq-by-hand .sq-boxes td.sq-box{border:1px solid var(--sq-muted);border-radius:4px;padding:0;
 width:4.4rem;height:2.2rem}
.sq-box input{width:4.3rem;height:2.1rem;border:0;padding:0 .3rem;font:inherit;color:inherit;
 background:none;text-align:center;border-radius:3px;margin:0;display:block}
.sq-box input[aria-invalid=true]{box-shadow:inset 0 -3px var(--sq-bad)}
.sq-by-hand .sq-controls{margin:.4rem 0}.sq-by-hand button{font:inherit;color:inherit;cursor:pointer;
 background:var(--sq-soft);border:1px solid var(--sq-line);border-radius:4px;padding:.25rem .8rem}
.sq-by-hand [role=status]:not(:empty){margin:.4rem 0}.sq-by-hand summary{cursor:pointer}
.sq.sq-card.sq-by-hand details{margin:.4rem 0 0;padding:0;border:0;background:none}
@media print{.sq-box input{display:none!important}}
</style>"""


@dataclass(frozen=True)
class Question:
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


def by_hand(name: str) -> Any:
    """Ask the calculation ``name`` of the book, for example "05-context", with fields to type into.

    Make the call the last line of its cell. Raises CourseError when there is no such calculation.
    """
    question = load_question(name)
    return widget_form(question) if has_widgets() else static_form(question)


def load_question(name: str) -> Question:
    """The record of a calculation; a line break in a text is a space."""
    known = written(PAPER, name, "calculation")
    mistakes = [(each["gives"], folded(each["ask"])) for each in known.pop("mistake")]
    known = {key: folded(value) if isinstance(value, str) else value for key, value in known.items()}
    known["given"] = [folded(line) for line in known.get("given", ())]
    return Question(name, mistakes=mistakes, **known)


def draws(question: Question) -> Iterator[Draw]:
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


def _draw(question: Question, chance: random.Random) -> Draw | None:
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


def _fields(question: Question) -> list[tuple[str, str]]:
    parts = (part for text in question.texts() for part in Formatter().parse(_code(text)))
    return [(part, spec or "") for _, part, spec, _ in parts if part is not None]


def _code(text: str) -> str:
    """A text in which the braces of mathematics are no fields."""
    pieces = re.split(r"(\$[^$]+\$)", text)
    pieces[1::2] = [piece.replace("{", "{{").replace("}", "}}") for piece in pieces[1::2]]
    return "".join(pieces)


def with_fields(question: Question) -> list[str]:
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


def judge(question: Question, drawn: Draw, typed: Sequence[str], tries: int) -> tuple[str, str]:
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


def static_form(question: Question) -> Shown:
    """HTML with the first draw and its worked sum folded; a script makes the boxes answer."""
    drawn = list(islice(draws(question), DRAWS))
    texts = [filled(text, drawn[0].fields, tagged=True) for text in with_fields(question)]
    lines = 1 + len(question.given)
    asked, given, (where, worked, so, *asks) = texts[0], texts[1:lines], texts[lines:]
    bank = {
        "draws": [[draw.fields, draw.right, draw.mistakes] for draw in drawn],
        "tolerance": question.tolerance,
        "labels": question.labels(),
        "words": {
            "unknown": UNKNOWN,
            "empty": EMPTY,
            "malformed": MALFORMED,
            "worked": WORKED,
            "next": NEXT,
        },
    }
    stored = json.dumps(bank, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    root = new_id("by-hand", question.name)
    says = "".join(f"<p>{text}</p>" for text in (where, so, *asks))
    body = (
        f'<div class="sq sq-card sq-by-hand tex2jax_process" id="{root}" role="group" '
        f'aria-labelledby="{root}-asked">{_asked(asked, given, f"{root}-asked")}'
        f'<div class="sq-scroll sq-boxes">{_boxes(question, drawn)}</div>'
        f'<div class="sq-controls" hidden><button type="button">Check</button>'
        f'<button type="button">Other numbers</button></div><div role="status"></div>'
        f"<details><summary>The worked sum</summary><p>{worked}</p></details>"
        f"<div hidden>{says}</div>"
        f'<script type="application/json">{stored}</script></div>'
    )
    script = f"<script data-once>\n{SCRIPT.read_text(encoding='utf-8')}</script>\n"
    text = re.sub(r"<[^>]+>", "", " ".join([asked, *given]))
    return Shown(_STYLE + body + script, f"By hand: {html.unescape(text)}")


def _asked(asked: str, given: Sequence[str], name: str) -> str:
    lines = "".join(f"<li>{line}</li>" for line in given)
    lines = f'<ul class="sq-given">{lines}</ul>' if lines else ""
    return f'<p class="sq-question" id="{name}"><span class="sq-kind">By hand</span>{asked}</p>{lines}'


def _boxes(question: Question, drawn: Sequence[Draw]) -> str:
    """A table of fields; a telephone shows digits alone where no result has a minus sign."""
    least = min(min(map(min, [draw.right, *draw.mistakes])) for draw in drawn)
    mode = ' inputmode="decimal"' if least >= 0 else ""
    corner = "<td></td>" if question.rows else ""
    head = corner + "".join(f'<th scope="col">{inline(column)}</th>' for column in question.columns)
    labels, rows = iter(question.labels()), ""
    for row in question.rows or [""]:
        cells = "".join(
            f'<td class="sq-box"><input hidden autocomplete="off"{mode} '
            f'aria-label="{html.escape(next(labels))}"></td>'
            for _ in question.columns
        )
        rows += f"<tr>{f'<th scope=row>{inline(row)}</th>' if row else ''}{cells}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def widget_form(question: Question) -> Any:
    """An ipywidgets box: the question, its fields, two buttons, and what is said."""
    import ipywidgets as widgets

    texts, numbers = with_fields(question), draws(question)
    asked, said = widgets.HTMLMath(), widgets.HTMLMath()
    fields = [
        widgets.Text(description=label, layout=widgets.Layout(width="auto"), continuous_update=False)
        for label in question.labels()
    ]
    state: dict[str, Any] = {}

    def another(_button: Any = None) -> None:
        state.update(drawn=next(numbers), tries=0)
        shown = [filled(text, state["drawn"].fields) for text in texts[: 1 + len(question.given)]]
        asked.value = (
            f'{STYLE}{_STYLE}<div class="sq">{_asked(shown[0], shown[1:], new_id("asked", ""))}</div>'
        )
        said.value = ""
        for box in fields:
            box.value = ""

    def check(_button: Any = None) -> None:
        typed = [box.value for box in fields]
        kind, text = judge(question, state["drawn"], typed, state["tries"])
        state["tries"] += kind == "wrong"
        mark = {"right": "<strong>✓ Right.</strong> ", "wrong": "<strong>✗ Not yet.</strong> "}.get(
            kind, ""
        )
        good = " sq-is-right" if kind == "right" else ""
        text = mark + filled(text, state["drawn"].fields)
        said.value = f'{STYLE}<div class="sq sq-answer{good}" role="status">{text}</div>'

    buttons = [widgets.Button(description=name) for name in ("Check", "Other numbers")]
    for button, act in zip(buttons, (check, another), strict=True):
        button.on_click(act)
    another()
    columns = f"repeat({len(question.columns)}, minmax(0, 12rem))"
    grid = widgets.GridBox(fields, layout=widgets.Layout(grid_template_columns=columns))
    return widgets.VBox([asked, grid, widgets.HBox(buttons), said])


# What formulas may use -------------------------------------------------------------------------------


def written_out(value: Any, spec: str = "") -> str:
    """A number with at most two decimals, a vector in brackets, a text as it is."""
    if isinstance(value, str):
        return value
    if np.ndim(value):
        return f"({', '.join(written_out(part, spec) for part in value)})"
    value = round(float(value), 9) + 0.0  # no minus zero
    text = format(value, spec or ".2f")
    text = text if spec or "." not in text else text.rstrip("0").rstrip(".")
    return text.replace("-0", "0").replace("-", "−") if not float(text) else text.replace("-", "−")


def terms(a: Any, b: Any, spec: str = "") -> str:
    """A dot product written out: 2·1 + 3·(−1)."""
    pairs = zip(a, b, strict=True)
    return " + ".join("·".join(_in_brackets(written_out(x, spec)) for x in pair) for pair in pairs)


def plus(numbers: Any, spec: str = "") -> str:
    """A sum written out: 2 + (−1) + 3."""
    return " + ".join(_in_brackets(written_out(x, spec)) for x in numbers)


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def words(of: Sequence[str]) -> str:
    """Words with spaces between them."""
    return " ".join(of)


def found(output: Sequence[str], reference: Sequence[str], size: int) -> int:
    """How many runs of so many words a reference has, each at most as often as there."""
    runs = [Counter(zip(*(text[k:] for k in range(size)), strict=False)) for text in (output, reference)]
    return (runs[0] & runs[1]).total()


def edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """The fewest insertions, deletions and substitutions between two texts."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(output, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(reference, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1]


def _in_brackets(text: str) -> str:
    return f"({text})" if text.startswith("−") else text


def softmax(e: Any, axis: int = -1) -> np.ndarray:
    """Weights of scores."""
    return np.exp(e) / np.exp(e).sum(axis, keepdims=True)


def _whole(chance: random.Random, low: int, high: int, *shape: int) -> Any:
    size = int(np.prod(shape)) if shape else 1
    made = [chance.randint(low, high) for _ in range(size)]
    return np.array(made, dtype=float).reshape(shape) if shape else made[0]


def _tenths(chance: random.Random, low: float, high: float, *shape: int) -> Any:
    return np.round(_whole(chance, round(10 * low), round(10 * high), *shape) / np.float64(10), 1)


def _parts(chance: random.Random, size: int) -> np.ndarray:
    """Weights in tenths, none of them 0, that sum to 1."""
    cuts = sorted(chance.sample(range(1, 10), size - 1))
    return np.diff([0, *cuts, 10]) / 10


DRAWN = {
    "whole": _whole,
    "tenths": _tenths,
    "parts": _parts,
    "pick": lambda chance, *options: chance.choice(options),
    "sample": lambda chance, options, size: chance.sample(list(options), size),
}
_NUMPY = (
    "abs arange argmax array array_equal concatenate cos cumsum eye exp isclose log max maximum mean "
)
_NUMPY += "min minimum ones outer pi roll round sin sort sqrt sum tanh tril unique var where zeros"
NAMES = {
    **{name: getattr(np, name) for name in _NUMPY.split()},
    **{own.__name__: own for own in (int, len, zip, softmax, sigmoid, terms, plus, words, found, edits)},
}
