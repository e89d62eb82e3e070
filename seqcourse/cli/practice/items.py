"""The questions about one answer: those of `cellgrader.viva`, and three kinds for practice alone.

What is right is what happened when the code ran; `Item.why` says it. This runs a student's own code.
"""

from __future__ import annotations

import ast
import contextlib
import io
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy

from cellgrader.printable import printable
from cellgrader.viva.changes import changes, marked
from cellgrader.viva.kinds import CALL
from cellgrader.viva.outcomes import SAME, STOPS, UNCLEAR, Planned, Tried, effect
from cellgrader.viva.questions import BATCH, LOOK, NUMBERS, WORD, WORDS, questions
from cellgrader.viva.table import setting
from seqcourse.check.calls.compare import Mistake
from seqcourse.check.cards import mistakes, shipped
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade import versions
from seqcourse.check.inside import changed
from seqcourse.check.told.finding import Finding

HARMLESS, WHERE, REVIEW = "change without effect", "input that matters", "mistake to find"
BUDGET = 30.0  # seconds of processor time for all versions of one answer
REVIEWS = 3  # wrong answers of one exercise that its self-check judges
LONGEST = 300  # letters of what a self-check says
SHOWN = 6  # numbers of a row that are written out


@dataclass(frozen=True)
class PracticeQuestion:
    """A question about some code, its options with the index of the right one, and what running gave.

    kind: one of viva's or of ours.     about: two items about the same are not asked together.
    whys: what running gave for each option, where that differs from one to the next; else ().
    """

    kind: str
    name: str
    code: str
    words: str
    options: tuple[str, ...]
    right: int
    why: str
    about: str
    whys: tuple[str, ...] = ()


def items(
    assignment: str, name: str, source: str, before: str, seed: int
) -> list[PracticeQuestion] | Finding:
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
    reviews = _reviews(module.EXERCISES, name, Path(module.__file__).parent, seed)
    return [*about_code(exercise, source, space, seed), *reviews]


def about_code(
    exercise: Exercise, source: str, space: Mapping[str, Any], seed: int
) -> list[PracticeQuestion]:
    """The questions about a source that running it answers, of changes in it and without a change.

    Args:
        exercise: how the source is called.     space: the names that it uses.
    """
    planned = Planned(source, changes(source, seed), marked(source, changed.MARK))
    calls = versions.calls_of(exercise)
    sources = [source, *(change.source for change in planned.changes)]
    request = versions.request(exercise, calls, sources, planned.marked.source, BUDGET)
    found = changed.run(request, space, forks=False)
    tried = Tried(exercise.name, exercise.is_class, planned, calls, found)
    return [*_of_viva(tried, seed), *_without_effect(tried, seed)] if _as_called(tried) else []


def _as_called(tried: Tried) -> bool:
    """Whether the arguments are those of the answer: a training is checked by calls around it."""
    made = ast.walk(ast.parse(tried.planned.source))
    defined = [node for node in made if isinstance(node, ast.FunctionDef) and node.name == tried.name]
    taken = {one.arg for node in defined for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    return tried.is_class or not tried.calls or tried.calls[0].given.keys() <= taken


def _checked(exercise: Exercise, answer: Any) -> Finding | None:
    """What the self-check finds wrong with an answer."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exercise(answer, ask=False)
    except Mistake as mistake:
        return mistake.finding
    return None


def _item(
    kind: str, name: str, code: str, words: str, options: Sequence[str], why: str, about: str,
    whys: Sequence[str] = (),
) -> PracticeQuestion:  # fmt: skip
    """The item with its options mixed; the first one is right."""
    mixed = random.Random(f"{words} {about}").sample(options, len(options))
    whys = tuple(whys[options.index(option)] for option in mixed) if whys else ()
    right = mixed.index(options[0])
    return PracticeQuestion(kind, name, code, words, tuple(mixed), right, why, about, whys)


# What a reader who sees sizes alone can tell of numbers: factors, sums of rows, a small whole number.
_TOLD, _SMALL = re.compile(r"multiplied|sum to"), re.compile(r"-?\d{1,3}")


def _of_viva(tried: Tried, seed: int) -> Iterator[PracticeQuestion]:
    """Viva's questions, without "what happens?", shapes that the question tells, and guessed numbers."""
    made = {(each.line, each.reads): k for k, each in enumerate(tried.planned.changes, start=1)}
    single = next((k for k, call in enumerate(tried.calls) if call.label == versions.SINGLE), 0)
    for one in questions(tried, "", seed):
        right = one.options[one.right]
        if one.kind == WORD or one.plain or one.kind == LOOK and right in one.words:
            continue
        if one.kind == NUMBERS and not (_TOLD.search(one.words) or _SMALL.fullmatch(right)):
            continue
        if one.reads is not None:
            version = made[one.line, one.reads]
            why = _compared(tried, version, single if one.kind == BATCH else _call(tried, version))
        else:
            places = enumerate(tried.planned.marked.places)
            shapes = {text: tried.shape(key) for key, (line, text) in places if line == one.line}
            inner_first = sorted(shapes.items(), key=lambda pair: len(pair[0]))
            listed = [f"`{text}` {shape}" for text, shape in inner_first if shape is not None]
            why = one.note or f"As line {one.line} ran: {', '.join(listed)}."
        options = [right, *(option for option in one.options if option != right)]
        words, about = f"{setting(one)} {one.words}".strip(), f"{one.line} {one.reads}"
        yield _item(one.kind, tried.name, tried.planned.source, words, options, why, about)


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
        says = printable(after.says.strip().partition("\n")[0], LONGEST).rstrip(".")
        return f"It stops in line {after.line}: {after.error}{': ' if says else ''}{says}."
    for name, old in before.parts.items():
        new, width = after.parts[name], max(1, old.shape[-1]) if old.ndim else 1
        if old.shape != new.shape:
            return f"The shape was {old.shape} and is {new.shape}."
        pairs = zip(old.reshape(-1, width), new.reshape(-1, width), strict=True)
        for row, (was, now) in enumerate((_written(one), _written(other)) for one, other in pairs):
            if was != now:
                place = [int(k) for k in numpy.unravel_index(row, old.shape[:-1] or (1,))]
                return f"{f'Row {place}' if old.ndim > 1 else 'It'} was {was} and is {now}."
    return WORDS[SAME]


def _written(row: numpy.ndarray) -> str:
    """A row as it is read: "(0.21, 0.5, ...)"."""
    numbers = [f"{x + 0.0:.3g}" if x.dtype.kind == "f" else str(x) for x in row[:SHOWN]]
    return f"({', '.join([*numbers, *['...'] * (len(row) > SHOWN)])})"


def _effect(tried: Tried, version: int, call: int) -> str:
    """What a change does on a call; UNCLEAR where that depends on the numbers."""
    same = [k for k, each in enumerate(tried.calls) if k == call or each.like == call]
    found = {effect(tried.outcome(0, k), tried.outcome(version, k))[0] for k in same} - {UNCLEAR}
    return found.pop() if len(found) == 1 else UNCLEAR


def _without_effect(tried: Tried, seed: int) -> Iterator[PracticeQuestion]:
    """Changes that leave the first result as it is: which one of four does, and which input shows it."""
    known = [k for k in range(1, len(tried.planned.changes) + 1) if _call(tried, k) == 0]
    what = {version: _effect(tried, version, 0) for version in known}
    reads = dict(enumerate(map(setting, tried.planned.changes), start=1))
    cases = {k: call for k, call in enumerate(tried.calls) if k and call.like is None}
    first, code = tried.calls[0].sizes, tried.planned.source
    called = f"`{tried.name}` is {first if tried.is_class else f'called with {first}'}"
    same_value = [k for k in known if what[k] == SAME and tried.planned.changes[k - 1].kind != CALL]
    for version in same_value:  # without item() or detach() equal numbers are another result
        chance, about = random.Random(f"{seed} {reads[version]}"), reads[version]
        others = [k for k in chance.sample(known, len(known)) if what[k] not in (SAME, UNCLEAR)]
        others.sort(key=lambda k: what[k] == STOPS)
        if len(others) > 2:
            words = f"{called}. Which of these changes leaves the result as it is?"
            options = [reads[k] for k in (version, *others[:3])]
            why = " ".join(f"{reads[k]} {WORDS[what[k]]}" for k in others[:3])
            whys = [_compared(tried, k, 0) for k in (version, *others[:3])]
            yield _item(HARMLESS, tried.name, code, words, options, why, about, whys)
        found = {k: _effect(tried, version, k) for k in cases}
        same = [k for k in cases if found[k] == SAME]
        for right in [k for k in cases if found[k] not in (SAME, UNCLEAR)][: len(same) > 1]:
            words = f"{about} {called}, and nothing changes. Which other input shows a difference?"
            shown = [right, *chance.sample(same, min(3, len(same)))]
            options = [_differing(cases[k], first) for k in shown]
            why = _compared(tried, version, right)
            whys = [_compared(tried, version, k) for k in shown]
            yield _item(WHERE, tried.name, code, words, options, why, about, whys)


def _differing(call: versions.Call, first: str) -> str:
    """The label of a call, and the arguments that differ from the first call's."""
    parts = re.split(r", (?=[a-z_]\w* )", call.sizes)
    return ": ".join(filter(None, [call.label, ", ".join(part for part in parts if part not in first)]))


def _reviews(
    exercises: Mapping[str, Exercise], name: str, folder: Path, seed: int
) -> Iterator[PracticeQuestion]:
    """Wrong answers of the course: what is the mistake? The self-check knows."""
    right = {key: one.reference for key, one in exercises.items() if one.reference}
    written = mistakes.likely(name, shipped.read(folder)["exercises"][name].get("mistakes", ()), right)
    chance, asked = random.Random(f"{seed} {name}"), dict.fromkeys(one.question for one in written)
    for wrong in chance.sample(written, min(REVIEWS, len(written))):
        finding, source = _checked(exercises[name], wrong.answer.made()), wrong.answer.source
        others = [question for question in asked if finding and question != finding.question]
        if finding and finding.question and len(others) > 2:
            words = "Somebody wrote this, and it is wrong. Which question points to the mistake?"
            options = [finding.question, *chance.sample(others, 3)]
            why = printable(f"The self-check says: {finding.where}", LONGEST)
            yield _item(REVIEW, name, source, words, options, why, source)
