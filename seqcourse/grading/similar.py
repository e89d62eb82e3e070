"""Find similar submissions: copydetect on the answers of every pair of students.

copydetect compares code as a sequence of tokens, ignoring names, and finds the passages that two
programs share, so renaming does not hide a copy. Written answers are compared character by character.
Common text is excluded first: the released notebook, the reference solution, the known right and wrong
answers of solutions/checks, and passages that more than ``COMMON`` students wrote.

Students can read the package, and its functions answer many exercises. So each answer is also compared
with the reference solution and with every function of the package.

A similar pair is a reason to look, not a verdict: short exercises have few solutions.
"""

from __future__ import annotations

import ast
import io
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.cells import clean
from seqcourse.grading.course import Course
from seqcourse.grading.mend import mend
from seqcourse.grading.notebook import mark, text
from seqcourse.grading.records import PACKAGE
from seqcourse.grading.stage import find_submission, read_submission

if TYPE_CHECKING:
    from copydetect import CodeFingerprint
    from rich.table import Table

# The shortest passage that counts, in tokens of code (characters of a written answer).
STRETCH = 25
# A passage that more students than this share is common knowledge and does not count.
COMMON = 10
# Pairs that share fewer tokens than this over all exercises are not reported.
LEAST = 100

# The same for an answer and the course's own: it is about one exercise.
LEAST_OURS = 40
# Rooms of the package whose functions answer exercises, beside the records of the assignment itself.
OURS = ("functional", "nn", "decode", "models", "metrics")

# exercise -> the answer's source
Answers = Mapping[str, str]


@dataclass(frozen=True)
class Shared:
    """One exercise of a pair: the two answers, and the shared passages of each as (begin, end)."""

    exercise: str
    sources: tuple[str, str]
    places: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Pair:
    """Two students, the share of each one's work that also appears in the other's, and where."""

    students: tuple[str, str]
    shares: tuple[float, float]
    shared: tuple[Shared, ...]


@dataclass(frozen=True)
class Similar:
    """The result for a class: the pairs above the threshold, the most similar first.

    ours: answers that are alike the course's own, with what they are alike to as the second "student".
    """

    assignment: str
    threshold: float
    compared: int
    pairs: tuple[Pair, ...]
    skipped: tuple[str, ...] = ()
    ours: tuple[Pair, ...] = ()

    @property
    def every(self) -> tuple[Pair, ...]:
        """The pairs of students, and those of a student's answer and the course's own."""
        return (*self.pairs, *self.ours)


def compare_class(course: Course, name: str, threshold: float = 0.5) -> Similar:
    """Compare all submissions of an assignment.

    Args:
        threshold: list a pair if at least this share of one student's work appears in the other's.
    Raises:
        CourseError: no such assignment, nobody handed anything in, or copydetect is missing.
    """
    course.require(name)
    solution = notebooks.read(course.solution(name))
    code = {task.name: task.code for task in notebooks.exercises(solution)}
    students = course.students(name)
    if not students:
        raise CourseError(
            f"Submissions of {name} should lie at {course.grading}/submitted/STUDENT/{name}/"
            f"{name}.ipynb, but there are none."
        )
    path = course.released(name)
    release = notebooks.read(path) if path else solution
    answers, skipped = {}, []
    for folder in students:
        student = clean(folder)
        try:
            # Compare what the grader would grade.
            found = find_submission(course.submitted / folder / name, name, release)
            handed_in = mend(read_submission(found.path), release).notebook
            answers[student] = answers_in(handed_in, code)
        except CourseError as error:
            skipped.append(f"{student}: {error}")
    right = answers_in(solution, code)
    known = [answers_in(release, code), *_known_answers(course, name)]
    pairs = compare(answers, code, [right, *known], threshold)
    written = {task: right[task] for task in right if code[task]}
    ours = {**{f"the solution of {task}": text for task, text in written.items()}, **_package(name)}
    like_ours = compare_with_ours(answers, code, known, ours, threshold)
    return Similar(name, threshold, len(answers), tuple(pairs), tuple(skipped), tuple(like_ours))


def answers_in(notebook: dict, exercises: Iterable[str]) -> dict[str, str]:
    """The answers of a notebook, without solution markers."""
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        name = mark(cell).get("grade_id")
        if mark(cell).get("solution") and name in exercises:
            answer = notebooks.without_markers(text(cell))
            found[name] = f"{found[name]}\n{answer}" if name in found else answer
    return found


def _known_answers(course: Course, name: str) -> list[dict[str, str]]:
    """The right and wrong answers of solutions/checks."""
    from seqcourse.grading.sample import load_checks

    checks = load_checks(course, name)
    found = []
    for table in (getattr(checks, "WRONG", {}), getattr(checks, "RIGHT", {})):
        for exercise, entries in table.items():
            found += [{exercise: entry[1]} for entry in entries]
    return found


def _package(name: str) -> dict[str, str]:
    """The functions and classes of the package that could answer an exercise: name -> source."""
    found = {}
    for room in (*OURS, f"check/{name}"):
        for path in sorted((PACKAGE / room).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            for node in ast.parse(source).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    where = f"seqcourse/{room}/{path.name}, {node.name}"
                    found[where] = ast.get_source_segment(source, node) or ""
    return found


def compare_with_ours(
    answers: Mapping[str, Answers],
    code: Mapping[str, bool],
    known: Sequence[Answers],
    ours: Mapping[str, str],
    threshold: float,
) -> list[Pair]:
    """Answers in code that are alike the course's own, each with the source that it shares most with.

    Args:
        known: answers that anybody may write; what they share with ours does not count.
        ours: name -> source.
    """
    sources = {where: _fingerprint(source, True) for where, source in ours.items()}
    prints = {
        student: {task: _fingerprint(source, True) for task, source in given.items() if code[task]}
        for student, given in answers.items()
    }
    _remove_common(prints, {task: True for task in code if code[task]}, known)
    found = []
    for student, given in sorted(prints.items()):
        for task, made in given.items():
            where = max(sources, key=lambda one: len(made.hashes & sources[one].hashes))
            pair = _pair(student, where, {task: made}, {task: sources[where]}, LEAST_OURS)
            if pair is not None and pair.shares[0] >= threshold:
                found.append(pair)
    return sorted(found, key=lambda pair: (-pair.shares[0], pair.students))


def compare(
    answers: Mapping[str, Answers],
    code: Mapping[str, bool],
    known: Sequence[Answers],
    threshold: float,
) -> list[Pair]:
    """The pairs of students above the threshold, the most similar first.

    Args:
        answers: student -> answers.
        code: exercise -> whether its answer is code rather than text.
        known: answers to exclude from the comparison.
    """
    prints = {
        student: {task: _fingerprint(source, code[task]) for task, source in given.items()}
        for student, given in answers.items()
    }
    _remove_common(prints, code, known)
    found = []
    for first, second in itertools.combinations(sorted(prints), 2):
        pair = _pair(first, second, prints[first], prints[second])
        if pair is not None and max(pair.shares) >= threshold:
            found.append(pair)
    return sorted(found, key=lambda pair: (-max(pair.shares), pair.students))


def _fingerprint(source: str, is_code: bool) -> CodeFingerprint:
    try:
        import numpy
        from copydetect import CodeFingerprint
    except ImportError:
        raise CourseError(
            "Comparing submissions needs copydetect, but it is not installed. "
            "Install it: pip install 'seqcourse[grading]'"
        ) from None
    # A window of 1 keeps every passage, so that the result is deterministic.
    made = CodeFingerprint(
        "answer.py", STRETCH, 1, filter=is_code, language="python", fp=io.StringIO(source)
    )
    if len(made.offsets):
        # copydetect miscounts offsets at a class's name; offsets must never decrease.
        made.offsets[:, 1] = numpy.maximum.accumulate(made.offsets[:, 1])
    return made


def _remove_common(
    prints: Mapping[str, Mapping[str, CodeFingerprint]],
    code: Mapping[str, bool],
    known: Sequence[Answers],
) -> None:
    """Remove known passages, and those shared by many students, from every fingerprint."""
    from copydetect.utils import get_token_coverage

    for task, is_code in code.items():
        common = {
            value
            for given in known
            if task in given
            for value in _fingerprint(given[task], is_code).hashes
        }
        counts = Counter(
            value for given in prints.values() if task in given for value in given[task].hashes
        )
        common |= {value for value, count in counts.items() if count > COMMON}
        for given in prints.values():
            if task not in given:
                continue
            made = given[task]
            made.hashes = made.hashes - common
            made.hash_idx = {value: made.hash_idx[value] for value in made.hashes}
            made.token_coverage = get_token_coverage(made.hash_idx, STRETCH, len(made.filtered_code))


def _pair(
    first: str,
    second: str,
    left: Mapping[str, CodeFingerprint],
    right: Mapping[str, CodeFingerprint],
    least: int = LEAST,
) -> Pair | None:
    """Compare the answers of two students; None if they share too little."""
    from copydetect import compare_files

    shared, common = [], [0.0, 0.0]
    for task in left.keys() & right.keys():
        _, shares, slices = compare_files(left[task], right[task])
        if not any(shares):
            continue
        for side, made in enumerate((left[task], right[task])):
            common[side] += float(shares[side]) * float(made.token_coverage)
        places = tuple(tuple((int(a), int(b)) for a, b in part.T) for part in slices)
        shared.append(Shared(task, (left[task].raw_code, right[task].raw_code), places))
    own = [sum(float(made.token_coverage) for made in side.values()) for side in (left, right)]
    if min(common, default=0) < least:
        return None
    order = list(left)
    shared.sort(key=lambda part: order.index(part.exercise))
    return Pair((first, second), (common[0] / own[0], common[1] / own[1]), tuple(shared))


def as_table(found: Similar) -> Table:
    """A table for the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    caption = f"{found.compared} submissions compared; a share is of the student's own work. "
    caption += "Alike is a reason to look, not a verdict."
    for sentence in found.skipped:
        caption += f"\nNot compared: {escape(sentence)}"
    table = Table(
        title=f"Alike by {found.threshold:.0%} or more: {found.assignment}",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
    )
    for column in ("student", "share", "student", "share", "exercises"):
        table.add_column(column, justify="right" if column == "share" else "left")
    for pair in found.every:
        (first, second), (one, other) = pair.students, pair.shares
        tasks = ", ".join(part.exercise for part in pair.shared)
        table.add_row(escape(first), f"{one:.0%}", escape(second), f"{other:.0%}", escape(tasks))
    if not found.every:
        table.add_row("none", "", "", "", "")
    return table
