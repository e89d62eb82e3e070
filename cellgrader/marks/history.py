"""Keep every change of a mark, with its reason and date: grading/history/psN/STUDENT.jsonl.

``note`` compares the gradebook with each student's last line and adds a line where the mark differs. So
points that were given in the formgrader are noticed, and a killed run neither loses nor doubles a line:
the next command that reads the gradebook adds what is missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import handed_in, opened
from cellgrader.course.records import FAILED, LONGEST_NAME, read_record
from cellgrader.marks.appeal_points import AppealAnswer, read_answers
from cellgrader.marks.by_hand import counted, pending
from cellgrader.marks.in_gradebook import grades_of, is_graded, penalty_of, total
from cellgrader.marks.late import renew_penalties
from cellgrader.notebook import document as notebooks
from cellgrader.printable import printable
from cellgrader.release.adapt import class_notebook
from cellgrader.submission.attempts import newest

if TYPE_CHECKING:
    from nbgrader.api import SubmittedAssignment

FIRST = "first mark"
VERSION = "version {} was handed in"
CHECK = "a check changed"
WORTH = "the points of an exercise changed"
EXERCISES = "the exercises of the assignment changed"
APPEAL = "an appeal was answered"
HAND = "points were given by hand"
LATE = "what being late costs changed (the policy, an extension or a date)"
GONE = "no grade: {}"
AGAIN = "it could be graded again"
# The most characters of the words that an instructor gives as a reason.
MOST_WORDS = 300


@dataclass(frozen=True)
class Mark:
    """The points of one exercise; None while a part waits for a grade by hand.

    of: what the exercise is worth.     by_hand: whether a person gave points in it.
    """

    points: float | None
    of: float
    by_hand: bool = False


@dataclass(frozen=True)
class State:
    """A student's mark: by exercise (None: there is no grade), and what being late costs.

    attempt: the version that it belongs to, None where nobody knows.
    status: why there is no grade, in a word.
    """

    marks: Mapping[str, Mark] | None
    penalty: float = 0.0
    attempt: int | None = None
    status: str = ""

    @property
    def total(self) -> float | None:
        if self.marks is None:
            return None
        points = sum(mark.points or 0.0 for mark in self.marks.values())
        return round(total(points, self.penalty), 4)

    def points(self, exercise: str) -> float | None:
        mark = (self.marks or {}).get(exercise)
        return None if mark is None else mark.points

    def differs(self, other: State) -> bool:
        """Whether a student would see another mark."""
        if (self.marks is None) != (other.marks is None):
            return True
        return bool(changed(other, self)) or abs(self.penalty - other.penalty) > 1e-4


@dataclass(frozen=True)
class Entry:
    """One line: the mark from then on, and what changed.

    time: in UTC, ISO 8601.     reason: found by comparing.     words: an instructor's own.
    changed: exercise -> (points before, after).
    kept: whether regrades of this version may not lower the mark, see ``cellgrader.marks.only_gains``.
    """

    time: str
    reason: str
    state: State
    words: str = ""
    before: float | None = None
    changed: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    kept: bool = False

    @property
    def only_waited(self) -> bool:
        """Whether the entry only has the first points of what waited for a grade by hand."""
        return bool(self.changed) and all(pair[0] is None for pair in self.changed.values())


def history_path(course: Course, name: str, student: str) -> Path:
    """Where a student's changes are kept. A long name is cut."""
    file = f"{os.fsdecode(os.fsencode(student)[:LONGEST_NAME])}.jsonl"
    return course.folder / "history" / name / file


def read_history(course: Course, name: str, student: str) -> list[Entry]:
    """The entries of a student, oldest first; a line that is not one is passed over."""
    return [entry for line in _lines(history_path(course, name, student)) if (entry := _parsed(line))]


def kept_for(course: Course, name: str) -> list[str]:
    """The students who have a history of an assignment."""
    return sorted(path.stem for path in (course.folder / "history" / name).glob("[!.]*.jsonl"))


def note(
    course: Course,
    name: str,
    students: Collection[str] | None = None,
    *,
    words: str = "",
    again: bool = False,
) -> list[str]:
    """Add an entry for everybody whose mark is not that of the last entry; returns their names.

    Penalties are computed again first.

    Args:
        students: only these; without, the class.
        words: an instructor's reason.
        again: a changed mark may be lowered again from now on, whatever was kept before.
    """

    noted = []
    with writing(course), opened(course) as gradebook:
        renew_penalties(gradebook, name, course.config())
        submissions = handed_in(gradebook, name)
        owner = owners(course, name)
        announced = _announced(course, name)
        for student in submissions if students is None else [s for s in students if s in submissions]:
            last = (read_history(course, name, student) or [None])[-1]
            now = state_of(course, name, submissions[student], owner)
            if now is None or last is None and now.marks is None:
                continue
            if last is None or now.differs(last.state) or _is_next(course, name, student, now, last):
                kept = last is not None and last.kept and last.state.attempt == now.attempt
                kept = kept and not again
                answers = read_answers(course, name, student)
                new = entry(last, now, words=words, kept=kept, answers=answers)
                if announced and not words and HAND not in new.reason and APPEAL not in new.reason:
                    new = replace(new, words=announced)
                append(course, name, student, new)
                noted.append(student)
    return noted


def _reason_path(course: Course, name: str) -> Path:
    return course.folder / "history" / f"{name}.reason.txt"


def _announced(course: Course, name: str) -> str:
    """The reason of a run that has not ended, or was killed before it noted what it had changed."""
    try:
        return _reason_path(course, name).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


@contextmanager
def announcing(course: Course, name: str, words: str) -> Iterator[None]:
    """Keep the reason on disk until the block ends: marks are saved long before they are noted."""
    path = _reason_path(course, name)
    path.unlink(missing_ok=True)
    if words:
        notebooks.write_text(path, printable(" ".join(words.split()), MOST_WORDS))
    yield
    path.unlink(missing_ok=True)


def append(course: Course, name: str, student: str, new: Entry) -> None:
    """Add an entry. The file is replaced as a whole, so a killed process leaves no half line."""
    path = history_path(course, name, student)
    notebooks.write_text(path, "".join([*_lines(path), _line(new)]))


def entry(
    last: Entry | None,
    now: State,
    *,
    reason: str = "",
    words: str = "",
    kept: bool = False,
    answers: Mapping[str, AppealAnswer] | None = None,
) -> Entry:
    """The entry for a mark that follows ``last``.

    Args:
        answers: those to the student's appeals, by exercise.
    """
    before = last.state if last else None
    return Entry(
        time=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        reason=reason or _reason(before, now, answers or {}),
        state=now,
        words=printable(" ".join(words.split()), MOST_WORDS),
        before=before.total if before else None,
        changed=changed(before, now) if before else {},
        kept=kept,
    )


def owners(course: Course, name: str) -> dict[str, str]:
    """Grade cell -> exercise."""
    found = notebooks.exercises(class_notebook(course, name))
    return {test: exercise.name for exercise in found for test in exercise.tests}


def state_of(
    course: Course, name: str, submission: SubmittedAssignment, owner: Mapping[str, str]
) -> State | None:
    """The mark that the gradebook has now; None if nothing was graded."""
    record = read_record(course, name, submission.student.id)
    if record is not None and not record.has_grade:
        return None if record.status == FAILED else State(None, status=record.status)
    if not is_graded(submission):
        return None
    marks: dict[str, Mark] = {}
    for grade in grades_of(submission):
        exercise = owner.get(grade.name, grade.name)
        old = marks.get(exercise, Mark(0.0, 0.0))
        marks[exercise] = Mark(
            None if pending(grade) or old.points is None else round(old.points + counted(grade), 4),
            old.of + float(grade.max_score),
            old.by_hand or grade.manual_score is not None,
        )
    order = {exercise: place for place, exercise in enumerate(owner.values())}
    marks = dict(sorted(marks.items(), key=lambda pair: order.get(pair[0], len(order))))
    attempt = record.attempt if record else newest(course, name, submission.student.id)[0] or None
    return State(marks, round(penalty_of(submission), 4), attempt)


def changed(before: State, now: State) -> dict[str, tuple[float | None, float | None]]:
    """Exercise -> (points before, after), of those that differ."""
    names = dict.fromkeys([*(before.marks or ()), *(now.marks or ())])
    pairs = {name: (before.points(name), now.points(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _is_next(course: Course, name: str, student: str, now: State, last: Entry) -> bool:
    """Whether the mark, though the same, belongs to a new version.

    Without a record, a run was killed and the new version may not be graded yet.
    """
    known = now.attempt is not None and last.state.attempt is not None
    return known and now.attempt != last.state.attempt and bool(read_record(course, name, student))


def _reason(before: State | None, now: State, answers: Mapping[str, AppealAnswer]) -> str:
    """Why a mark changed, as far as the two marks show it."""
    if now.marks is None:
        return GONE.format(now.status)
    if before is None:
        return FIRST
    if now.attempt is not None and before.attempt != now.attempt:
        return VERSION.format(now.attempt)
    if before.marks is None:
        return AGAIN
    reasons = []
    for exercise in changed(before, now):
        old, new = before.marks.get(exercise), now.marks.get(exercise)
        if old is None or new is None:
            reasons.append(EXERCISES)
        elif old.by_hand or new.by_hand:
            answer = answers.get(exercise)
            given = answer.points if answer else None
            answered = answer is not None and (new.points == given if new.by_hand else given is None)
            reasons.append(APPEAL if answered else HAND)
        else:
            reasons.append(CHECK if old.of == new.of else WORTH)
    return "; ".join(dict.fromkeys(reasons)) or LATE


# The file


@contextmanager
def writing(course: Course) -> Iterator[None]:
    """One process at a time compares and adds, so that no change is noted twice."""
    folder = course.folder / "history"
    course.make_folder()
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except ImportError:  # not available on Windows
            pass
        yield


def _lines(path: Path) -> list[str]:
    try:
        return [f"{line}\n" for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (FileNotFoundError, UnicodeDecodeError):
        return []


def _line(each: Entry) -> str:
    state = each.state
    marks = state.marks and {
        exercise: {"points": mark.points, "of": mark.of, "by hand": mark.by_hand}
        for exercise, mark in state.marks.items()
    }
    content = {
        "time": each.time,
        "reason": each.reason,
        "words": each.words,
        "from": each.before,
        "to": state.total,
        "changed": {exercise: list(pair) for exercise, pair in each.changed.items()},
        "version": state.attempt,
        "late": state.penalty,
        "status": state.status,
        "kept": each.kept,
        "marks": marks,
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


def _parsed(line: str) -> Entry | None:
    try:
        content = json.loads(line)
        marks = content["marks"]
        if marks is not None:
            marks = {
                exercise: Mark(each["points"], each["of"], each["by hand"])
                for exercise, each in marks.items()
            }
        state = State(marks, content["late"], content["version"], content["status"])
        pairs = {exercise: (old, new) for exercise, (old, new) in content["changed"].items()}
        texts = printable(content["time"]), printable(content["reason"])
        datetime.fromisoformat(texts[0])
        words = printable(content["words"])
        return Entry(*texts, state, words, content["from"], pairs, bool(content["kept"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
