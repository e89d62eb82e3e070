"""Examine one submission: mend it, run it confined, ask the probes, judge what they hand over."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import nbformat

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.mend import Mended, mend
from cellgrader.notebook.parse import SMALLER, UNREADABLE, NotGradable
from cellgrader.notebook.search import find_submission, read_submission
from cellgrader.processes.limited import TooCostly, limited
from cellgrader.profile import program, the_course
from cellgrader.run import hard_to_read, systems
from cellgrader.run.kernels import ProbeResult, Runner
from cellgrader.run.outcome import as_data, grade_cells, outputs, points_for, some, status_of, told

if TYPE_CHECKING:
    from cellgrader.checks import Check, Judge, Verdict
    from cellgrader.submission.collected import Submission

READING, JUDGING = "To read the notebook", "To judge the result"


@dataclass(frozen=True)
class Examination:
    """What one submission is worth, and why: plain data, made without the gradebook.

    notebook: the executed notebook as JSON text, its grade cells with the verdicts as outputs; None
        where there is no grade.
    points: by grade cell; only those that are given automatically.
    messages: by grade cell, why not all points; empty where all are given.
    remarks: what was mended in the notebook, in sentences for the student.
    to_review: what an instructor should look at in the code, in sentences; it costs no points.
    measured: what a whole system reached, see ``cellgrader.run.systems``; {} for other assignments.
    """

    assignment: str
    student: str
    status: str
    sentence: str = ""
    notebook: str | None = None
    points: dict[str, float] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    findings: dict[str, dict] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    to_review: tuple[str, ...] = ()
    seconds: float = 0.0
    measured: dict[str, Any] = field(default_factory=dict)

    def graded(self) -> dict:
        """The notebook with what students are told besides outputs, for nbgrader to save."""
        assert self.notebook is not None
        book = json.loads(self.notebook)
        book.setdefault("metadata", {})[program()] = {
            "remarks": list(self.remarks),
            "status": self.status,
            "sentence": self.sentence,
            "findings": self.findings,
        }
        return book


class Examiner:
    """The tools of one process that examines: a warm process, and each check with its inputs.

    Use it in a ``with`` statement: it ends the warm process.

    Args:
        course: where solutions/ and the released assignments/ lie.
        confined: run students' code in a sandbox. False is for systems that have none.
        timeout: seconds that one cell may take; without it, what course.toml says.
        everything: run the cells too that only show something.
        limits: what a student's process may use; the defaults of ``Limits`` without it.
        secret: the class's secret where its folder is not at hand, on another machine.
        door: that of a warm process which the workers of this machine share.
        final: the final half of a hidden split earns the points, see ``cellgrader.run.systems``.
    """

    def __init__(
        self,
        course: Course,
        *,
        confined: bool = True,
        timeout: int | None = None,
        everything: bool = False,
        limits: Any = None,
        secret: bytes | None = None,
        door: Path | None = None,
        final: bool = False,
    ) -> None:
        from cellgrader.sandbox import Limits

        self.course = course
        self.confined = confined
        self.timeout = timeout or course.settings["timeout"]
        self.everything = everything
        self.limits = limits or Limits()
        self._secret = secret
        self._door = door
        self.final = final
        self._warm: Any = None
        self._checks: dict[str, list[Check]] = {}
        self._releases: dict[str, dict] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Examiner:
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()
        self._warm = None

    def new_kernel(self) -> Any:
        """The manager of a kernel that was not started yet."""
        from cellgrader.sandbox import SharedWarm, Warm, kernel_manager, refusal

        if not self.confined:
            return kernel_manager(confined=False, limits=self.limits)
        if self._warm is None:
            why = refusal()
            if why:
                raise CourseError(why)
            warm = SharedWarm(self._door) if self._door else Warm()
            self._warm = self._stack.enter_context(warm)
        return kernel_manager(limits=self.limits, warm=self._warm)

    def judges(self, name: str, student: str = "", attempt: int = 1) -> dict[str, Judge]:
        """The checks of an assignment with the inputs of one student's attempt, by grade cell."""
        if name not in self._checks:
            found = getattr(the_course().load_checks(self.course.root, name), "CHECKS", ())
            self._checks[name] = [systems.with_half(check, self.final) for check in found]
        made, judges = the_course().check_part("grade.verdict").Judge, {}
        for check in self._checks[name]:
            who = ("", 0) if systems.is_system(check) else (student, attempt)
            judges[check.cell] = made(check, self.seed(name, check.cell, *who))
        return judges

    def seed(self, name: str, cell: str, student: str, attempt: int) -> int:
        """The seed of a check's inputs: its own for each student and attempt, known to nobody there."""
        message = json.dumps([name, cell, student, attempt]).encode()
        digest = hmac.digest(self.secret, message, hashlib.sha256)
        return int.from_bytes(digest[:4], "big") >> 2

    @property
    def secret(self) -> bytes:
        """The class's secret."""
        return self._secret or self.course.secret()

    def release(self, name: str) -> dict:
        """The notebook that students were given: the frame of every submission."""
        if name not in self._releases:
            path = self.course.released(name)
            if path is None:
                raise CourseError(
                    f"{name} should have been released before it is graded, but there is no "
                    f"assignments/{name}/{name}.ipynb. Run: {program()} release {name}"
                )
            self._releases[name] = notebooks.read(path)
        return copy.deepcopy(self._releases[name])

    def examine(self, name: str, submission: Submission, folder: Path) -> Examination:
        """Examine what was handed in; hidden inputs depend on the first member and on the attempt.

        Args:
            folder: where the files are, STUDENT/psN; nothing in it is changed, nothing of it is trusted.
        """
        student = submission.first
        started = time.monotonic()
        try:
            mended, to_review = limited(READING, read, folder, name, self.release(name))
        except NotGradable as problem:
            return Examination(name, student, problem.status, str(problem))
        except TooCostly as problem:
            return Examination(name, student, UNREADABLE, f"{problem} {SMALLER}")
        book = nbformat.from_dict(mended.notebook)
        judges = self.judges(name, student, submission.attempt)
        # A class may leave exercises out.
        judges = {cell: judge for cell, judge in judges.items() if cell in grade_cells(book)}
        beside = systems.handed_in(folder, judges)
        done = self.examine_notebook(name, student, book, judges, beside, submission.wall)
        to_review += systems.to_review(beside, self.course.solutions / "checks" / name)
        if mended.older:
            done = dict(done, sentence=f"{done['sentence']} {mended.older}".strip())
        if mended.lost:
            cells = some(list(mended.lost)).replace("cell", "the cell", 1)
            carry = "it carries" if len(mended.lost) == 1 else "they carry"
            lost = f"The student deleted {cells}; what {carry} counts 0."
            done = dict(done, sentence=f"{done['sentence']} {lost}".strip())
        return Examination(
            name,
            student,
            remarks=mended.remarks,
            to_review=to_review,
            seconds=round(time.monotonic() - started, 2),
            **done,
        )

    def examine_notebook(
        self,
        name: str,
        student: str,
        book: nbformat.NotebookNode,
        judges: dict[str, Judge],
        beside: Mapping[str, systems.Handed] = MappingProxyType({}),
        wall: float = 0.0,
    ) -> dict[str, Any]:
        """Run and judge a mended notebook; puts the outputs into it. Returns fields of Examination.

        Args:
            beside: by grade cell, the file that a system's check needs.
            wall: seconds that the whole notebook may take, if less than by ``limits``; 0 for those.
        """
        graded = grade_cells(book)
        requests = {cell: judges[cell].request for cell in graded if cell in judges}
        requests = systems.with_files(requests, beside)
        runner = Runner(
            book,
            self.new_kernel,
            timeout=self.timeout,
            wall=min(wall or self.limits.wall, self.limits.wall),
            everything=self.everything,
        )
        ran = runner.run(requests)
        for cell in graded:
            if cell not in judges:
                raise CourseError(
                    f"A card in solutions/checks/{name} should have a check for the grade cell "
                    f"{cell}, but none has. Write one, or take the cell out of the notebook."
                )
        verdicts = _judged({cell: (judges[cell], ran.answers[cell]) for cell in requests})
        verdicts |= {cell: _none(each.problem) for cell, each in beside.items() if each.problem}
        measured = systems.measured(verdicts, ran.answers, beside)
        points, messages, findings = {}, {}, {}
        for cell, place in graded.items():
            node = book.cells[place]
            worth = float(node.metadata.nbgrader.points)
            verdict = verdicts[cell]
            points[cell] = points_for(verdict.share, worth)
            messages[cell] = "" if verdict.share >= 1 else told(verdict, judges[cell])
            node.outputs = outputs(points[cell], worth, messages[cell])
            findings[cell] = as_data(verdict, judges[cell])
        status, sentence = status_of(book, ran)
        return {
            "status": status,
            "sentence": f"{sentence} {systems.told(measured, self.secret, student)}".strip(),
            "measured": measured,
            "notebook": nbformat.writes(book),
            "points": points,
            "messages": messages,
            "findings": findings,
        }


def read(folder: Path, name: str, release: dict) -> tuple[Mended, tuple[str, ...]]:
    """Find, read and mend a submission: all that is parsed of it. Call it through ``limited``.

    Returns:
        The mended notebook, and what a person should look at: cells that could be matched in another
        way, and code that is hard to read.
    Raises:
        NotGradable: there is no notebook that can be graded.
    """
    found = find_submission(folder, name, release)
    mended = mend(read_submission(found.path), release)
    # An empty source for each locked cell, which is never the student's.
    sources = [
        "" if notebooks.mark(cell).get("locked") else cell["source"]
        for cell in mended.notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    remarks = (*found.remarks, *mended.remarks)
    to_review = (*found.uncertain, *mended.uncertain, *hard_to_read.remarks(sources))
    return replace(mended, remarks=remarks), to_review


def _judged(given: Mapping[str, tuple[Judge, ProbeResult]]) -> dict[str, Verdict]:
    """The verdicts of all cells; where they take too much together, each by itself."""
    with contextlib.suppress(TooCostly):
        return limited(JUDGING, _verdicts, given)
    found = {}
    for cell, one in given.items():
        try:
            found |= limited(JUDGING, _verdicts, {cell: one})
        except TooCostly as problem:
            found[cell] = _none(str(problem))
    return found


def _none(why: str) -> Verdict:
    """No points, for this reason."""
    return the_course().check_part("grade.verdict").Verdict.none(why)


def _verdicts(given: Mapping[str, tuple[Judge, ProbeResult]]) -> dict[str, Verdict]:
    return {cell: judge.verdict(answer.data, answer.ending) for cell, (judge, answer) in given.items()}
