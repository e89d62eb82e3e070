"""Questions about one answer, with computed answers: every one has four options, one of them right."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy

from cellgrader.profile import the_course
from cellgrader.viva.changes import Change, squeezed
from cellgrader.viva.numbers import factor_between, views
from cellgrader.viva.outcomes import SAME, SHAPE, STOPS, UNCLEAR, VALUES, Outcome, Tried, effect

LETTERS = "abcd"
# The kinds of question.
LOOK, NEW_SHAPE, LINE = "shape at a line", "shape after a change", "line that stops"
NUMBERS, ROWS, WORD, BATCH = "numbers after a change", "rows that change", "in a word", "batch of one"
KINDS = (LOOK, NEW_SHAPE, LINE, NUMBERS, ROWS, WORD, BATCH)
# What happens, in a word; the order of the options of WORD and BATCH.
WORDS = {
    SAME: "The result stays the same.",
    VALUES: "The result keeps its shape, but has other numbers.",
    SHAPE: "The result has another shape.",
    STOPS: "The call stops with an error.",
}
RUNS = "It runs to its end."
NOWHERE = "No difference on any of"
ORDINALS = ("first", "second", "third", "fourth", "fifth")
SHORT = 4  # characters of a number that can be found in a notebook


@dataclass(frozen=True)
class Question:
    """One question about a student's own code.

    kind: one of KINDS.     exercise: the answer that it is about.
    line: the line of the cell, from 1.     reads: how it reads after the change; None without a change,
        "" for a line that is deleted.
    words: the question.     options: four answers.     right: the index of the right one.
    result: SAME, VALUES, SHAPE or STOPS: what the change did in truth.
    plain: a row of numbers among others like it, or a change without effect on any input; such a
        question is asked where no better one can be.
    note: what the instructor should know besides.
    """

    kind: str
    exercise: str
    line: int
    reads: str | None
    words: str
    options: tuple[str, ...] = ()
    right: int = 0
    result: str = ""
    note: str = ""
    plain: bool = False

    @property
    def letter(self) -> str:
        return LETTERS[self.right]

    @property
    def about(self) -> tuple[str, int, str | None]:
        """Two questions about the same thing are not asked together."""
        return self.exercise, self.line, self.words if self.reads is None else self.reads


def questions(tried: Tried, written: str, seed: int) -> list[Question]:
    """All questions that one answer gives.

    Args:
        written: all that is written in the notebook, without spaces; no answer stands there.
        seed: draws the wrong options and the order of all.
    """
    found = [*_looks(tried, seed), *_changes(tried, seed), *_stopping(tried, seed)]
    return [one for one in found if not _stands_in(written, one)]


def _stands_in(written: str, question: Question) -> bool:
    """Whether a shape, a row or a number is written in the notebook; "2" is in every one."""
    right = squeezed(question.options[question.right])
    return question.kind in (LOOK, NEW_SHAPE, NUMBERS) and len(right) >= SHORT and right in written


def _asked(question: Question, right: str, wrong: Sequence[str], seed: int) -> Iterator[Question]:
    """The question with its options, mixed, if there are three wrong ones."""
    distinct = [option for option in dict.fromkeys(wrong) if option != right][:3]
    if len(distinct) < 3:
        return
    options = [right, *distinct]
    random.Random(f"{seed} {question.line} {question.reads} {question.words}").shuffle(options)
    yield replace(question, options=tuple(options), right=options.index(right))


# --- what stands in a line --------------------------------------------------------------------------


# A line whose shapes may be read: what it returns is in the assignment's table, or a comment has sizes.
_TOLD = re.compile(r"^\s*return\b|#.*\(")


def _looks(tried: Tried, seed: int) -> Iterator[Question]:
    if not tried.calls or not tried.outcome(0, 0).parts:
        return
    shapes = [tried.shape(place) for place in range(len(tried.planned.marked.places))]
    known = [shape for shape in shapes if shape is not None]
    hidden = [name for name, value in tried.calls[0].given.items() if callable(value)]
    for (line, expression), shape in zip(tried.planned.marked.places, shapes, strict=True):
        if shape is None or len(shape) < 2 or len(set(shape)) < 2:
            continue
        if any(f"{name}(" in expression for name in hidden):
            continue  # what a function gives that the sheet does not show
        if _TOLD.search(tried.planned.source.splitlines()[line - 1]):
            continue
        words = (
            f"`{tried.name}` is {_call(tried, 0)}. What is the shape of `{expression}` in line {line}?"
        )
        wrong = _other_shapes(shape, known, random.Random(f"{seed} {words}"))
        yield from _asked(Question(LOOK, tried.name, line, None, words), _of(shape), wrong, seed)


def _other_shapes(
    shape: tuple[int, ...], known: Sequence[tuple[int, ...]], chance: random.Random
) -> list[str]:
    """Wrong shapes: of the same sizes in another order, with one axis less, and of other values."""
    turned = [order for order in itertools.permutations(shape) if order != shape]
    less = [shape[:place] + shape[place + 1 :] for place in range(len(shape))]
    ones = [(*shape[:-1], 1), (*shape[:-2], 1, shape[-1])]
    others = [one for one in known if one != shape]
    for group in (turned, less, ones, others):
        chance.shuffle(group)
    mixed = itertools.chain(turned[:2], others[:1], less, ones, turned[2:], others[1:])
    return [_of(one) for one in mixed if one != shape]


def _of(shape: tuple[int, ...]) -> str:
    return str(shape) if shape else "() (a single number)"


def _call(tried: Tried, call: int) -> str:
    """How it is called, as the end of a sentence."""
    given = tried.calls[call].sizes
    return given if tried.is_class else f"called with {given}" if given else "called"


# --- after a change ---------------------------------------------------------------------------------


def _changes(tried: Tried, seed: int) -> Iterator[Question]:
    for version, change in enumerate(tried.planned.changes, start=1):
        call = _call_for(tried, change)
        if call is None:
            continue
        what, part = effect(tried.outcome(0, call), tried.outcome(version, call))
        if what == UNCLEAR or not _by_sizes(tried, version, call, what):
            continue
        asker = _Asker(tried, seed, version, change, call, part)
        yield from asker.in_a_word(what)
        yield from asker.batch(what)
        if what == SHAPE:
            yield from asker.shape()
        if what == STOPS:
            yield from asker.line()
        if what == VALUES:
            yield from asker.rows()
            yield from asker.numbers()


def _call_for(tried: Tried, change: Change) -> int | None:
    """The first call in which the changed line runs, and to which there is a result."""
    for number, call in enumerate(tried.calls):
        before = tried.outcome(0, number)
        if call.asked and before.parts and before.ran & set(range(change.start, change.end + 1)):
            return number
    return None


def _by_sizes(tried: Tried, version: int, call: int, what: str) -> bool:
    """Whether the same happens with other numbers: a reader of the sheet knows the sizes alone."""
    return all(
        effect(tried.outcome(0, number), tried.outcome(version, number))[0] in (what, UNCLEAR)
        for number, other in enumerate(tried.calls)
        if other.like == call
    )


@dataclass(frozen=True)
class _Asker:
    """Questions about one change on one call."""

    tried: Tried
    seed: int
    version: int
    change: Change
    call: int
    part: str

    @property
    def before(self) -> Outcome:
        return self.tried.outcome(0, self.call)

    @property
    def after(self) -> Outcome:
        return self.tried.outcome(self.version, self.call)

    def ask(
        self, kind: str, words: str, right: str, wrong: Sequence[str], result: str, note: str = ""
    ) -> Iterator[Question]:
        change = self.change
        given = f"`{self.tried.name}` is {_call(self.tried, self.call)}. {words}"
        about = (self.tried.name, change.line, change.reads, given)
        return _asked(Question(kind, *about, result=result, note=note), right, wrong, self.seed)

    @property
    def where(self) -> str:
        """What the part of the result is called."""
        places = self.part.removeprefix("result.0" if self.tried.is_class else "result").split(".")[1:]
        if len(places) != 1 or not places[0].isdecimal() or int(places[0]) >= len(ORDINALS):
            return "the result"
        return f"the {ORDINALS[int(places[0])]} value it returns"

    def in_a_word(self, what: str) -> Iterator[Question]:
        note = (
            f"On line {self.after.line}: {self.after.error}." if what == STOPS else self._matters(what)
        )
        wrong = [words for key, words in WORDS.items() if key != what]
        plain = note.startswith(NOWHERE)
        for question in self.ask(WORD, "What happens?", WORDS[what], wrong, what, note):
            yield replace(question, plain=plain)

    def _matters(self, what: str) -> str:
        """For a change without effect: the inputs that were tried on which it has one."""
        if what != SAME:
            return ""
        labels = [
            call.label
            for number, call in enumerate(self.tried.calls)
            if call.like is None
            and effect(self.tried.outcome(0, number), self.tried.outcome(self.version, number))[0]
            in (VALUES, SHAPE, STOPS)
        ]
        if not labels:
            return f"{NOWHERE} {len(self.tried.calls)} inputs tried."
        return f"It matters for: {'; '.join(labels)}."

    def batch(self, what: str) -> Iterator[Question]:
        """The same change with a batch of one, where that makes a difference."""
        labels = [call.label for call in self.tried.calls]
        single = labels.index(_single()) if _single() in labels else self.call
        if single == self.call:
            return
        if not self.tried.outcome(0, single).ran & set(range(self.change.start, self.change.end + 1)):
            return  # the changed line does not run there
        outcome = self.tried.outcome(self.version, single)
        alone, _ = effect(self.tried.outcome(0, single), outcome)
        if alone in (UNCLEAR, what) or not _by_sizes(self.tried, self.version, single, alone):
            return
        words = f"{WORDS[what]} And with a batch of 1, {_call(self.tried, single)}: what happens then?"
        wrong = [text for key, text in WORDS.items() if key != alone]
        note = f"On line {outcome.line}: {outcome.error}." if alone == STOPS else ""
        yield from self.ask(BATCH, words, WORDS[alone], wrong, alone, note)

    def shape(self) -> Iterator[Question]:
        old, new = self.before.parts[self.part].shape, self.after.parts[self.part].shape
        if len(new) > 6:
            return
        words = f"Without the change {self.where} has the shape {_of(old)}. What is its shape now?"
        chance = random.Random(f"{self.seed} {self.version} {words}")
        wrong = [_of(old), *_other_shapes(new, [old], chance)] if new else [_of(old), "(1,)", "(1, 1)"]
        yield from self.ask(NEW_SHAPE, words, _of(new), wrong, SHAPE)

    def line(self) -> Iterator[Question]:
        """Where it stops, if that is not the changed line itself."""
        stops = self.after.line
        if not stops or stops == self.change.line:
            return
        others = sorted(self.before.ran - {stops}, key=lambda line: (abs(line - stops), line))
        wrong = [*(f"It stops in line {line}." for line in others[:2]), RUNS]
        wrong += [f"It stops in line {line}." for line in others[2:]]
        words = "Does it still run, and if not, in which line does it stop? (Lines keep their numbers.)"
        right = f"It stops in line {stops}."
        yield from self.ask(LINE, words, right, wrong, STOPS, f"{self.after.error}.")

    def rows(self) -> Iterator[Question]:
        """Which rows differ, where some do and some do not."""
        old, new = self.before.parts[self.part], self.after.parts[self.part]
        if "U" in (old.dtype.kind, new.dtype.kind) or not old.ndim:
            return
        axis = max(0, old.ndim - 2)
        many = old.shape[axis]
        with numpy.errstate(invalid="ignore"):
            differ = ~numpy.isclose(old.astype(float), new.astype(float), rtol=1e-6, equal_nan=True)
        changed = differ.any(axis=tuple(place for place in range(old.ndim) if place != axis))
        if not 3 <= many <= 8 or not 0 < changed.sum() < many:
            return
        what = "entries" if old.ndim == 1 else "rows"
        right = tuple(int(row) for row in numpy.flatnonzero(changed))
        every = [
            rows for size in range(1, many + 1) for rows in itertools.combinations(range(many), size)
        ]
        chance = random.Random(f"{self.seed} {self.version}")
        close = sorted(every, key=lambda rows: (abs(len(rows) - len(right)), chance.random()))
        wrong = [", ".join(map(str, rows)) for rows in close if rows != right]
        counted = "" if old.ndim < 2 else ", along the second-to-last axis"
        words = f"Which {what} of {self.where} change? ({what.title()} count from 0{counted}.)"
        yield from self.ask(ROWS, words, ", ".join(map(str, right)), wrong, VALUES)

    def numbers(self) -> Iterator[Question]:
        """A factor, sums, a row or a number: of all parts of the result, the most telling one."""
        found = []
        for part, old in self.before.parts.items():
            new = self.after.parts[part]
            if "U" not in (old.dtype.kind, new.dtype.kind) and not numpy.array_equal(old, new):
                found += replace(self, part=part)._numbers(old, new)
        yield from sorted(found, key=lambda one: one.plain)[:1]

    def _numbers(self, old: numpy.ndarray, new: numpy.ndarray) -> Iterator[Question]:
        factor = factor_between(old, new)
        if factor is not None:
            near = [1 / factor, -factor, factor * factor, 2 * factor, factor + 1]
            wrong = [f"{number:.3g}" for number in near]
            words = f"By which number is every entry of {self.where} multiplied?"
            yield from self.ask(NUMBERS, words, f"{factor:.3g}", wrong, VALUES)
            return
        for name, view, plain in views(old):
            right, was = view(new), view(old)
            if not right or right == was:
                continue
            others = dict.fromkeys(view(other) for other in self._others(old.shape))
            wrong = [text for text in others if text and text not in (right, was)]
            random.Random(f"{self.seed} {self.version}").shuffle(wrong)
            words = (
                f"Without the change, {name.format(self.where)} {was}. Which of these is it with the "
                "change?"
            )
            for question in self.ask(NUMBERS, words, right, [*wrong[:2], was], VALUES):
                yield replace(question, plain=plain)

    def _others(self, shape: tuple[int, ...]) -> Iterator[numpy.ndarray]:
        """The same part after the other changes, where it has this shape."""
        for version in range(1, len(self.tried.planned.changes) + 1):
            other = self.tried.outcome(version, self.call).parts.get(self.part)
            if version != self.version and other is not None and other.shape == shape:
                yield other


# --- a batch of one ---------------------------------------------------------------------------------


def _single() -> str:
    """The label of a call with a batch of one."""
    return the_course().check_part("grade.versions").SINGLE


def _stopping(tried: Tried, seed: int) -> Iterator[Question]:
    """For an answer that stops at a batch of one: in which line."""
    for number, call in enumerate(tried.calls):
        stopped = tried.outcome(0, number)
        if call.label != _single() or not stopped.error or not stopped.line:
            continue
        lines = sorted(tried.outcome(0, 0).ran - {stopped.line})
        wrong = [*(f"It stops in line {line}." for line in lines[:2]), RUNS]
        wrong += [f"It stops in line {line}." for line in lines[2:]]
        words = (
            f"`{tried.name}` is {_call(tried, number)}, a batch of 1. Does your code run, and if not, "
            "in which line does it stop?"
        )
        right = f"It stops in line {stopped.line}."
        note = f"{stopped.error}."
        about = (tried.name, stopped.line, None, words)
        yield from _asked(Question(BATCH, *about, result=STOPS, note=note), right, wrong, seed)
