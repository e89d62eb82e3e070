"""The half of a hidden check that the student's code cannot reach: it compares and says why.

Probe output is untrusted.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from seqcourse.check.calls.compare import Mistake, Stopped
from seqcourse.check.calls.forbidden import refuse
from seqcourse.check.calls.inputs import packed
from seqcourse.check.calls.payload import pack, unpack
from seqcourse.check.calls.recording import quiet, record
from seqcourse.check.calls.values import Found
from seqcourse.check.cards.load import load_checks
from seqcourse.check.grade.probe import BROKE, MISSING, RAN, UNSOLVED, probe
from seqcourse.check.hidden import BY_CASE, Check, HiddenCheck, Poll
from seqcourse.check.told.discreet import discreet, error_in_words, public
from seqcourse.check.told.finding import Finding
from seqcourse.errors import CourseError

UNSOLVED_WORDS = "is not solved yet."


@dataclass(frozen=True)
class Verdict:
    """What a check found: the share of the points, from 0 to 1, and why not all of them.

    findings: what is wrong, each with its inputs.
    measured: of a whole system, what it reached; plain data for the record.
    """

    share: float
    findings: tuple[Finding, ...] = ()
    solved: bool = True  # False for an exercise that is still as it was handed out
    measured: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def sentence(self) -> str:
        return " ".join(map(str, self.findings))

    @classmethod
    def none(cls, what: str, solved: bool = True) -> Verdict:
        """No points, for this reason."""
        return cls(0.0, (Finding(what),), solved)


class Judge:
    """A check with the inputs that a seed gives; made once, used for every submission of a class."""

    def __init__(self, check: Check, seed: int) -> None:
        self.check = check
        self._take(lambda: check.make(check.choose(seed)))

    def changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Judge:
        """Another judge of the same check, with the arguments of every case changed."""
        other = copy.copy(self)
        other._take(lambda: {kind: change(given) for kind, given in self.given().items()})
        return other

    def given(self) -> dict[str, dict[str, Any]]:
        """The arguments of every case, by the kind of input; a fresh copy, as a call may use them up."""
        return pickle.loads(self._made)

    def _take(self, make: Callable[[], dict[str, dict[str, Any]]]) -> None:
        """Keep the arguments of every case. The oracle is asked once: no student pays if it fails."""
        exercise = getattr(self.check, "exercise", None)
        try:
            with quiet(), torch.random.fork_rng(devices=[]):
                made = make()
                self._made = packed(made)
                if exercise and exercise.reference and exercise.record is record:
                    for arguments in self.given().values():
                        exercise.reference(*arguments.values())
        except Exception as error:
            raise CourseError(
                f"The check of {self.check.cell} should have an answer to every input of its own, but "
                f"it stopped with {type(error).__name__}: {error}"
            ) from error
        self.request = self.check.request(made)

    def verdict(self, data: bytes | None, ending: str = "") -> Verdict:
        """Judge what a probe handed over.

        Args:
            data: the file of plain arrays, or None when there is none.
            ending: how the probe ended when it did not end well: "timeout", "exit 3", "signal 9".
        """
        name = self.check.answer
        if data is None:
            return Verdict.none(_ended(name, ending))
        try:
            found = unpack(data)
        except ValueError as error:
            return Verdict.none(f"{name} should hand over tensors, but it handed over {error}.")
        with discreet(), quiet(), torch.random.fork_rng(devices=[]):
            try:
                return self._judge(found)
            except Exception as error:  # such as parts within parts that no recursion reaches the end of
                return Verdict.none(_unjudged(error))

    def _judge(self, found: Found) -> Verdict:
        check, name = self.check, self.check.answer
        if MISSING in found:
            return Verdict.none(
                f"There is no {name}: its cell stopped with an error, or it has another name."
            )
        if BROKE in found:
            return Verdict.none(f"{name} handed over something that no check was made for.")
        if UNSOLVED in found:
            return Verdict.none(f"{name} {UNSOLVED_WORDS}", solved=False)
        if isinstance(check, Poll):
            return _all_or_nothing(_finding(check.judge_letter, found))
        if hasattr(check, "judge_system"):
            measured: dict[str, Any] = {}
            why = _finding(lambda: measured.update(check.judge_system(found, self.given())))
            findings = (why,) if why else tuple(map(Finding, measured.pop("reasons")))
            return Verdict(0.0 if why else measured.pop("share"), findings, measured=measured)
        if RAN not in found:
            return Verdict.none(f"{name} handed over something that no check was made for.")
        ran = found[RAN].ravel() if found[RAN].dtype.kind == "U" else ()
        why = _finding(refuse, name, ran, check.forbid)
        if why:
            return _all_or_nothing(why)
        given = self.given()
        if check.exercise.judge_all:
            return _all_or_nothing(_finding(check.exercise.judge_all, found, given))
        return self._judge_cases(check, found, given)

    def _judge_cases(self, check: HiddenCheck, found: Mapping, given: Mapping) -> Verdict:
        wrong: dict[Finding, list[str]] = {}  # what is wrong -> the kinds of input on which it is
        narrowed: HiddenCheck | None = None
        for number, (kind, arguments) in enumerate(given.items()):
            prefix = f"{number}."
            why = _finding(check.judge_case, found, arguments, prefix)
            if why and f"{prefix}result.error" not in found:
                narrowed = narrowed or self._narrowed(check, found)
                why = _finding(narrowed.judge_case, found, arguments, prefix)
            if why:
                wrong.setdefault(why, []).append(kind)
                if check.share != BY_CASE:
                    break
        findings = tuple(replace(why, inputs=tuple(kinds)) for why, kinds in wrong.items())
        if wrong and check.share != BY_CASE:
            return Verdict(0.0, findings)
        return Verdict(1 - sum(map(len, wrong.values())) / max(1, len(given)), findings)

    def _narrowed(self, check: HiddenCheck, found: Found) -> HiddenCheck:
        """The check with those likely mistakes that fit all cases; on one case many look the same."""
        made = list(self.given().values())
        results = [(found, f"{number}.result") for number in range(len(made))]
        return replace(check, exercise=check.exercise.narrowed(results, made))


def _all_or_nothing(why: Finding | None) -> Verdict:
    return Verdict(0.0, (why,)) if why else Verdict(1.0)


def _finding(judge: Any, *arguments: Any) -> Finding | None:
    """What a judge finds, if anything."""
    try:
        judge(*arguments)
    except Mistake as mistake:
        return mistake.finding.told(public)
    except Stopped as stopped:
        return Finding(public(f"The answer stopped with {error_in_words(stopped.kind, str(stopped))}."))
    except Exception as error:  # a result that no judge was made for
        return Finding(_unjudged(error))
    return None


def _unjudged(error: Exception) -> str:
    return f"The result could not be judged ({type(error).__name__}): it has an unexpected form."


def _ended(name: str, ending: str) -> str:
    """Why there is no result, in words."""
    if ending == "timeout":
        return f"{name} took too long on the hidden inputs and was stopped. Does a loop never end?"
    if ending.startswith("signal"):
        return f"{name} was stopped by the system: it used too much memory or time, or ended itself."
    return f"{name} ended the process that called it. An answer should return, and never exit."


def here(assignment: str, cell: str, space: Mapping[str, Any], seed: int = 20_001) -> None:
    """Run both halves of one check in this process: what the grade cells of solutions/ do.

    It is how an instructor's notebook tests itself; a class is graded by the pipeline, which never
    runs these cells.

    Raises:
        Mistake: the check found something.
        NotImplementedError: the exercise is not solved.
        CourseError: solutions/checks is not in this folder or above it.
    """
    root = next(
        (place for place in (Path.cwd(), *Path.cwd().parents) if (place / "solutions/checks").is_dir()),
        Path.cwd(),
    )
    judge = Judge(_find(load_checks(root, assignment).CHECKS, cell), seed)
    with quiet():
        beside = getattr(judge.check, "files", lambda *folders: {})
        request = judge.request | beside(Path.cwd(), root / "solutions/checks" / assignment)
        outcome = judge.verdict(pack(probe(request, space)))
    if not outcome.solved:
        raise NotImplementedError(outcome.sentence)
    if outcome.share < 1:
        raise Mistake(outcome.sentence)


def _find(checks: Sequence[Check], cell: str) -> Check:
    for check in checks:
        if check.cell == cell:
            return check
    raise CourseError(f"CHECKS should hold a check of the cell {cell}, but holds none.")
