"""The questions about one answer: those of `cellgrader.viva`, and four kinds for practice alone.

Every right option is what happened when the code ran, and so is `Item.why`. This runs a student's own code.
"""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
from torch import Tensor

from cellgrader.viva.changes import Change, changes, marked
from cellgrader.viva.outcomes import SAME, UNCLEAR, Planned, Tried, effect
from cellgrader.viva.questions import BATCH, LOOK, WORD, WORDS, questions
from cellgrader.viva.table import setting
from seqcourse.check import mistakes, versions
from seqcourse.check.compare import Mistake
from seqcourse.check.exercise import Exercise
from seqcourse.check.finding import Finding
from seqcourse.check.inside import changed

HARMLESS, WHERE, ROW, REVIEW = "change without effect", "input that matters", "row", "mistake to find"
BUDGET = 15.0  # seconds of processor time for all versions of one answer
REVIEWS = 3  # wrong answers of one exercise that its self-check judges
SHOWN = 6  # numbers of a row that are written out


@dataclass(frozen=True)
class Item:
    """A question about some code, its options with the index of the right one, and what running gave.

    kind: one of viva's or of ours.     about: two items about the same are not asked together.
    """

    kind: str
    name: str
    code: str
    words: str
    options: tuple[str, ...]
    right: int
    why: str
    about: str


def items(assignment: str, name: str, source: str, before: str, seed: int) -> list[Item] | Finding:
    """All questions that an answer gives, or what its self-check finds wrong with it.

    Args:
        source: the answer alone.     before: what it uses: imports, constants, helpers.
    Raises:
        Exception: it cannot run at all.
    """
    module = import_module(f"seqcourse.check.{assignment}")
    exercise, space = module.EXERCISES[name], {}
    exec(before, space)
    exec(source, space)
    if finding := _checked(exercise, space[name]):
        return finding
    planned = Planned(source, changes(source, seed), marked(source, changed.MARK))
    calls = versions.calls_of(exercise)
    sources = [source, *(change.source for change in planned.changes)]
    request = versions.request(exercise, calls, sources, planned.marked.source, BUDGET)
    tried = Tried(name, exercise.is_class, planned, calls, changed.run(request, space, changed.here))
    found = [*_of_viva(tried, seed), *_without_effect(tried, seed), *_rows(tried, seed)]
    return [*found, *_reviews(module.EXERCISES, name, Path(module.__file__).parent, seed)]


def _checked(exercise: Exercise, answer: Any) -> Finding | None:
    """What the self-check finds wrong with an answer."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exercise(answer, ask=False)
    except Mistake as mistake:
        return mistake.finding
    return None


def _item(
    kind: str, name: str, code: str, words: str, options: Sequence[str], why: str, about: str
) -> Item:
    """The item with its options mixed; the first one is right."""
    mixed = random.Random(f"{words} {about}").sample(options, len(options))
    return Item(kind, name, code, words, tuple(mixed), mixed.index(options[0]), why, about)


def _of_viva(tried: Tried, seed: int) -> Iterator[Item]:
    """Viva's questions, but for "what happens?" and for shapes that the question itself tells."""
    made = {(each.line, each.reads): k for k, each in enumerate(tried.planned.changes, start=1)}
    single = next((k for k, call in enumerate(tried.calls) if call.label == versions.SINGLE), 0)
    for one in questions(tried, "", seed):
        right = one.options[one.right]
        if one.kind == WORD or one.plain or one.kind == LOOK and right in one.words:
            continue
        if one.reads is not None:
            version = made[one.line, one.reads]
            why = _compared(tried, version, single if one.kind == BATCH else _call(tried, version))
        else:
            places = enumerate(tried.planned.marked.places)
            shapes = {text: tried.shape(key) for key, (line, text) in places if line == one.line}
            listed = [f"`{text}` {shape}" for text, shape in shapes.items() if shape is not None]
            why = one.note or f"As line {one.line} ran: {', '.join(listed)}."
        options = [right, *(option for option in one.options if option != right)]
        words = f"{setting(one)} {one.words}".strip()
        yield _item(
            one.kind, tried.name, tried.planned.source, words, options, why, f"{one.line} {one.reads}"
        )


def _call(tried: Tried, version: int) -> int | None:
    """The first call in which a changed line runs, as viva chooses it."""
    change = tried.planned.changes[version - 1]
    lines = set(range(change.start, change.end + 1))
    ran = [k for k, call in enumerate(tried.calls) if call.asked and tried.outcome(0, k).ran & lines]
    return next((k for k in ran if tried.outcome(0, k).parts), None)


def _compared(tried: Tried, version: int, call: int) -> str:
    """What a change did on a call: the first row that differs, the shapes, or the error."""
    before, after = tried.outcome(0, call), tried.outcome(version, call)
    if after.error:
        return f"It stops in line {after.line}: {after.error}."
    for name, old in before.parts.items():
        new = after.parts[name]
        if old.shape != new.shape:
            return f"The shape was {old.shape} and is {new.shape}."
        width = old.shape[-1] if old.ndim else 1
        for row, (was, now) in enumerate(
            zip(old.reshape(-1, width), new.reshape(-1, width), strict=True)
        ):
            if _written(was) != _written(now):
                place = (
                    [int(k) for k in numpy.unravel_index(row, old.shape[:-1])] if old.ndim > 1 else ""
                )
                return f"{f'Row {place} was' if place else 'It was'} {_written(was)} and is {_written(now)}."
    return WORDS[SAME]


def _written(row: numpy.ndarray) -> str:
    """A row as it is read: "(0.21, 0.50, ...)"."""
    numbers = [f"{x + 0.0:.3g}" if x.dtype.kind in "fiu" else str(x) for x in row[:SHOWN]]
    return f"({', '.join([*numbers, *['...'] * (len(row) > SHOWN)])})"


def _effect(tried: Tried, version: int, call: int) -> str:
    """What a change does on a call; UNCLEAR where that depends on the numbers."""
    same = [k for k, each in enumerate(tried.calls) if k == call or each.like == call]
    found = {effect(tried.outcome(0, k), tried.outcome(version, k))[0] for k in same} - {UNCLEAR}
    return found.pop() if len(found) == 1 else UNCLEAR


def _without_effect(tried: Tried, seed: int) -> Iterator[Item]:
    """Changes that leave the first result as it is: which one of four does, and which input shows it."""
    known = [k for k in range(1, len(tried.planned.changes) + 1) if _call(tried, k) == 0]
    what = {version: _effect(tried, version, 0) for version in known}
    reads = dict(enumerate(map(_reads, tried.planned.changes), start=1))
    cases = {k: call for k, call in enumerate(tried.calls) if k and call.like is None}
    sizes, code = tried.calls[0].sizes, tried.planned.source
    for version in (version for version in known if what[version] == SAME):
        chance = random.Random(f"{seed} {reads[version]}")
        others = [k for k in known if what[k] not in (SAME, UNCLEAR)]
        shown = [version, *chance.sample(others, min(3, len(others)))]
        if len(shown) == 4:
            words = f"Which of these changes leaves the result for {sizes} as it is?"
            why = " ".join(f"{reads[k]} {WORDS[what[k]]}" for k in shown)
            options = [reads[k] for k in shown]
            yield _item(HARMLESS, tried.name, code, words, options, why, reads[version])
        found = {k: _effect(tried, version, k) for k in cases}
        same = [k for k in cases if found[k] == SAME]
        for right in [k for k in cases if found[k] not in (SAME, UNCLEAR)][: len(same) > 1]:
            words = (
                f"{reads[version]} For {sizes} nothing changes. Which other input shows a difference?"
            )
            options = [cases[k].label for k in (right, *chance.sample(same, min(3, len(same))))]
            why = f"That input is {cases[right].sizes}. {_compared(tried, version, right)}"
            yield _item(WHERE, tried.name, code, words, options, why, reads[version])


def _reads(change: Change) -> str:
    return f"Line {change.line} {f'becomes `{change.reads}`' if change.reads else 'is deleted'}."


def _rows(tried: Tried, seed: int) -> Iterator[Item]:
    """A row of the result, where all that is handed over can be read in the question."""
    for number, call in enumerate(tried.calls):
        parts = list(tried.outcome(0, number).parts.values())
        if not call.asked or len(parts) != 1 or tried.is_class or _has_tensor(call.given.values()):
            continue
        wrong = [
            list(tried.outcome(k + 1, number).parts.values()) for k in range(len(tried.planned.changes))
        ]
        others = [other[0] for other in wrong if other and other[0].shape == parts[0].shape]
        rows = [value.reshape(-1, value.shape[-1] if value.ndim else 1) for value in (parts[0], *others)]
        place = random.Random(seed).randrange(len(rows[0])) if rows[0].size else 0
        options = list(dict.fromkeys(_written(row[place]) for row in rows if row.size))[:4]
        if len(options) == 4 and rows[0].shape[1] <= SHOWN:
            what = f"row {place} of the result (rows count from 0)" if len(rows[0]) > 1 else "the result"
            words = f"`{tried.name}` is called with {call.sizes}. What is {what}?"
            why = f"All that it gives: {parts[0].tolist()}"
            yield _item(ROW, tried.name, tried.planned.source, words, options, why, words)


def _has_tensor(values: Any) -> bool:
    return any(isinstance(value, (Tensor, Mapping, list, tuple)) or callable(value) for value in values)


def _reviews(exercises: Mapping[str, Exercise], name: str, folder: Path, seed: int) -> Iterator[Item]:
    """Wrong answers of the course: what is the mistake? The self-check knows."""
    right = {key: one.reference for key, one in exercises.items() if one.reference}
    written = mistakes.likely(name, mistakes.read(folder), right)
    chance = random.Random(f"{seed} {name}")
    for wrong in chance.sample(written, min(REVIEWS, len(written))):
        finding, source = _checked(exercises[name], wrong.answer.made()), wrong.answer.source
        asked = dict.fromkeys(one.question for one in written)
        others = [question for question in asked if finding and question != finding.question]
        if finding and finding.question and len(others) > 2:
            words = "Somebody wrote this, and it is wrong. Which question leads to the mistake?"
            options = [finding.question, *chance.sample(others, 3)]
            why = f"The self-check says: {finding.where}"
            yield _item(REVIEW, name, source, words, options, why, source)
