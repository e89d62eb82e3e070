"""One exercise, one record: how its inputs are made, what is right, which calls are tried.

    causal_mask = Exercise(
        "causal_mask",
        make=causal_arguments,
        reference=reference_causal_mask,
        cases={"the first example": dict(size=4), ...},
        forbid=("causal_mask",),
    )

Students call it: `check.ps5.causal_mask(causal_mask)` is the self-check. Its words and its hidden cases
are on its card (`card`). Both record calls, and judge them, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy
import torch

from seqcourse import progress
from seqcourse.check import worked
from seqcourse.check.calls import kinds
from seqcourse.check.calls.compare import LikelyMistakes, Mistake, describe, listed, not_solved, outcome
from seqcourse.check.calls.forbidden import refuse
from seqcourse.check.calls.inputs import floating, noncontiguous
from seqcourse.check.calls.modules import judge_module, record_module
from seqcourse.check.calls.naming import explaining, size_question, written_numbers
from seqcourse.check.calls.recording import judge, observe, record
from seqcourse.check.calls.values import Found, result
from seqcourse.check.told.notebook_lines import never_ran, noted_lines
from seqcourse.check.told.stages import passed, shown

# What a graded cell says where the self-check has passed.
UNSEEN = "The hidden checks see more; they run when your work is graded."

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of input: what an exercise's `make` is called with, or what is called in its place.

    hint: a question for the case that only this call fails and no likely mistake explains it.
    scattered: the tensors are not contiguous.
    """

    options: Arguments | Callable[[], Arguments]
    hint: str = ""
    scattered: bool = False

    def case(self, label: str, make: Callable[..., Arguments]) -> Case:
        """A call with such inputs."""

        def made() -> Arguments:
            given = self.options() if callable(self.options) else make(**self.options)
            return {k: noncontiguous(v) for k, v in given.items()} if self.scattered else given

        return Case(label, made, self.hint)


@dataclass(frozen=True)
class Case:
    """One call of a student's function.

    label: goes into "works for the first example, but not for LABEL".
    make: makes the arguments anew at every call, by name, in the order of the signature.
    hint: a question for the case that this call fails and no likely mistake explains it.
    """

    label: str
    make: Callable[[], Arguments]
    hint: str = ""


@dataclass(frozen=True)
class Exercise:
    """All that checks one exercise, but for its hidden cases and its wrong and right answers.

    The card has `idea`, `see`, `fix`, `questions` and `excused`.

    name: of the function or class that students write.
    make: makes the arguments of one call by name, in the order of the signature. It runs where the
        student's code cannot reach; a callable among the arguments is made by a function of
        `seqcourse.check.inside`, so that it can travel.
    reference: the right answer, called with what `make` made.
    likely: mistakes that people make, tried when a result is wrong: a question that names one, and a
        function that makes it (or several, as a tuple). The wrong answers of `mistakes` come first; here
        are those that no wrong answer makes.
    cases: the calls of the self-check: what `make` is called with, by the label of the call.
    excused: what the checks of this exercise need not see, and why; see `seqcourse.check.calls.kinds`.
    forbid: functions that the answer may not use, because they are what it should build.
    tolerance: the largest difference that counts as equal; None for the usual one. `because`: why.
    fixed_precision: `seqcourse audit` tries no other precision: inputs lie exactly on borders, which
        rounding would move, or the answer has parameters of its own.
    hint: a question for the case that no likely mistake explains a wrong result.
    record: how the answer is called and what is written down; `record_module` for classes.
    through: makes of a wrong answer what `reference` is of the right one, where that is not the answer
        itself but some calls of it.
    parts: what a message calls the parts of the result, where `record` puts more into it than the answer
        returns.
    judge: another way to judge one case: judge(found, given, prefix) raises Mistake.
    judge_all: another way to judge all cases at once: judge_all(found, {kind: given}), where the
        arrays of case k begin with "k.".
    look: a first look of the self-check at the student's answer; raises Mistake.
    variants: what differs in some of the hidden checks, by a name of ours: fields of this record, or
        "cases", a function of the seed that chooses the cases (and gives their seeds).
    idea: what the exercise is about, in a sentence.     see: chapter and section to read again.
    questions: three that lead there, for whoever helps.     fix: what to do, in words.
    fixes: what to do, by the question that was asked, where that is not always the same.
    """

    name: str
    make: Callable[..., Arguments]
    reference: Callable[..., Any] | None = None
    likely: LikelyMistakes = ()
    cases: Mapping[str, Arguments | Callable[[], Arguments] | Kind] | Sequence[Case] = ()
    excused: Mapping[str, str] = field(default_factory=dict)
    forbid: Sequence[str] = ()
    tolerance: float | None = None
    because: str = ""
    fixed_precision: bool = False
    hint: str = ""
    record: Callable[..., Found] = record
    through: Callable[[Any], Callable[..., Any]] = lambda answer: answer
    parts: Sequence[str] = ()
    judge: Callable[[Found, Arguments, str], None] | None = None
    judge_all: Callable[[Found, Mapping[str, Arguments]], None] | None = None
    look: Callable[[Any], None] | None = None
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    idea: str = ""
    see: tuple[str, str] = ("", "")
    questions: tuple[str, ...] = ()
    fix: str = ""
    fixes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "likely", tuple(listed(self.likely)))
        if isinstance(self.cases, Mapping):
            kinds = {k: v if isinstance(v, Kind) else Kind(v) for k, v in self.cases.items()}
            cases = tuple(kind.case(label, self.make) for label, kind in kinds.items())
            object.__setattr__(self, "cases", cases)
        if not (self.reference or self.judge or self.judge_all):
            raise ValueError(f"The exercise {self.name} should have a reference or a judge.")

    def __call__(self, student: Any, ask: bool = True) -> None:
        """Check a student's answer and print a line when all is well.

        ask: whether an answer that fails again, changed, gets a hint.

        Raises:
            Mistake: with the likeliest reason; a notebook shows it in stages, see `stages`.
            NotImplementedError: the exercise is not solved yet, which is no mistake.
        """
        if broken := never_ran(self.name):
            raise Mistake(broken)
        try:
            with noted_lines():
                self._check(student)
        except Mistake as mistake:
            hints = self.hints(mistake.finding.question)
            mistake.shown, hint, left = shown(
                self.name, student, mistake.finding, hints, ask, " ".join(self.questions)
            )
            key, answer = ("", None) if left else worked.opened(self, by_hints=True)
            progress.note(
                self.name, passed=False, hint=hint, left=left, key=key, looked_up=answer is not None
            )
            if answer:
                worked.show(answer, self.name)
                mistake.shown += f"\n{worked.ABOVE}"
            raise
        except NotImplementedError:
            raise not_solved(self._unsolved) from None
        key, answer = worked.opened(self) if ask else ("", None)
        progress.note(self.name, passed=True, key=key)
        passed(self.name)
        gradients = "gradients, " if self.trained(self.cases[0].make()) else ""
        print(f"✓ {self.name}: {len(self.cases)} calls, {gradients}unchanged inputs: all as expected.")
        if answer:
            worked.show(answer, self.name)
        _passed[self.name] = student

    @property
    def _unsolved(self) -> str:
        return (
            f"{self.name} is not solved yet: your code goes where it says raise NotImplementedError()."
        )

    def _check(self, student: Any) -> None:
        wanted, right = (
            ("class", isinstance(student, type)) if self.is_class else ("function", callable(student))
        )
        if not right:
            raise Mistake(f"{self.name} should be a {wanted}, but is {describe(student)}.")
        if self.look:
            self.look(student)
        if self.judge_all:
            self._check_all(student)
        else:
            self._check_each(student)

    def hints(self, question: str = "") -> list[str]:
        """What is told in the end: what to do if this was asked, and the section of the book to read."""
        chapter, section = self.see
        read = f"Read again: chapter {int(chapter)}, “{section}”." if section else ""
        return [self.fixes.get(question, self.fix), read]

    def has_passed(self, student: Any) -> bool:
        """Whether this very answer was the last that passed the self-check."""
        return _passed.get(self.name) is student

    def validate(self, student: Any) -> None:
        """What nbgrader's Validate sees in a graded cell: the self-check, unless it has just passed.

        Raises:
            Mistake, NotImplementedError: as the self-check does.
        """
        if not self.has_passed(student):
            self(student, ask=False)
        print(UNSEEN)

    def _check_all(self, student: Any) -> None:
        found: dict[str, numpy.ndarray] = {}
        for number, case in enumerate(self.cases):
            found |= self._observe(student, case.make(), f"{number}.")
        self.judge_all(found, {case.label: case.make() for case in self.cases})

    def _check_each(self, student: Any) -> None:
        seen: list[Found] = []
        for number, case in enumerate(self.cases):
            label = f"{self.name} (right for the first example, wrong for {case.label})"
            found = self._observe(student, case.make())
            seen.append(found)
            sizes = None if case.hint or not number else written_numbers(student)
            label = label if number else self.name
            try:
                self.judge_case(found, case.make(), label, hint=case.hint, written=sizes)
            except Mistake as mistake:
                if self.judge:
                    found = mistake.finding
                    raise Mistake(found.what, found.question, (case.label,)) from None
                if "result.error" not in found:  # all calls tell one mistake from another
                    seen += [self._observe(student, one.make()) for one in self.cases[number + 1 :]]
                    made = [one.make() for one in self.cases]
                    narrowed = self.narrowed([(one, "result") for one in seen], made)
                    narrowed.judge_case(found, case.make(), label, hint=case.hint, written=sizes)
                raise
        first = self.cases[0]
        if names := self.trained(first.make()):  # last: a wrong result is told before a wrong gradient
            found = self._observe(student, first.make(), gradient=names)
            self.judge_case(found, first.make(), self.name, gradient=names)

    def _observe(
        self, student: Any, given: Arguments, prefix: str = "", gradient: Sequence[str] = ()
    ) -> Found:
        found, ran = observe(self.record, student, given, prefix, gradient)
        refuse(self.name, ran, self.forbid)
        return found

    def narrowed(self, results: Sequence[tuple[Found, str]], made: Sequence[Arguments]) -> Exercise:
        """The exercise with those likely mistakes that fit all of these calls.

        results: what was recorded of each call, and the name of its result.
        """
        if not self.likely or self.record is not record or self.judge:
            return self
        results = [outcome(result, one) for one in results]
        return replace(self, likely=explaining(self.likely, results, made))

    def size_question(self, written: numpy.ndarray) -> str:
        """Asks whether a size is written into the code, if the numbers in it give a reason to."""
        return size_question(written, self.cases[0].make()) if self.cases else ""

    @property
    def has_gradients(self) -> bool:
        """Whether gradients are compared, where an input has floating numbers."""
        takes = "gradient" in signature(self.record).parameters
        return takes and not self.judge_all and kinds.GRADIENTS not in self.excused

    def trained(self, given: Arguments) -> tuple[str, ...]:
        """The arguments of a call whose gradients are compared: all with floating numbers in them, but
        for those that are excused.
        """
        if not self.has_gradients:
            return ()
        return tuple(
            name
            for name, value in given.items()
            if floating(value) and f"{kinds.GRADIENTS} of {name}" not in self.excused
        )

    @property
    def once_more(self) -> bool:
        """Whether hidden checks call the answer once more with other numbers of the first case's sizes:
        where gradients are compared, there is a second call anyway.
        """
        return not (self.judge_all or self.is_class or self.has_gradients or kinds.AGAIN in self.excused)

    @property
    def is_class(self) -> bool:
        return self.record is record_module

    def judge_case(
        self,
        found: Found,
        given: Arguments,
        label: str,
        prefix: str = "",
        gradient: Sequence[str] = (),
        hint: str = "",
        written: numpy.ndarray | None = None,
    ) -> None:
        """Raise Mistake when what was recorded of one call under this prefix is wrong.

        written: the numbers in the answer's code, where one of them may be a size.
        """
        if self.judge:
            self.judge(found, given, prefix)
            return
        compare = judge_module if self.is_class else judge
        try:
            compare(self, found, given, prefix, gradient, label=label, hint=hint)
        except Mistake as mistake:
            size = self.size_question(written) if written is not None and mistake.sized else ""
            if not size:
                raise
            compare(self, found, given, prefix, gradient, label=label, hint=size)


# The answers that passed their self-checks in this process.
_passed: dict[str, Any] = {}


def hinted(hint: str, kinds: Mapping[str, Arguments]) -> dict[str, Kind]:
    """Kinds of input with one hint."""
    return {label: Kind(options, hint) for label, options in kinds.items()}


def standard_cases(
    first: Arguments, other: Arguments, alone: Mapping[str, Any] = MappingProxyType({"batch": 1})
) -> dict[str, Kind]:
    """The five kinds of input that most exercises share; the maker takes a dtype, too.

    first: sizes of the first example.    other: quite different sizes.
    alone: what makes a batch of 1 of the first.
    """
    return {
        "the first example": Kind(first),
        "other sizes": Kind(other),
        "a batch of 1": Kind({**first, **alone}, "Does a squeeze() or [0] drop the batch?"),
        "tensors that are not contiguous (a transpose or a slice makes such tensors)": Kind(
            first, "Use reshape instead of view.", scattered=True
        ),
        "float32": Kind(
            {**first, "dtype": torch.float32},
            "Create new tensors like the old ones: x.new_zeros(...), torch.zeros_like(x).",
        ),
    }
