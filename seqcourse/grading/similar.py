"""Which submissions are alike: copydetect on the answers of every pair of students.

copydetect reads code as a row of tokens, in which names do not count, and finds the stretches that two
programs share; a renamed copy is still one. Written answers are compared letter by letter. What anybody
may have is left out first: the released notebook, the reference solution, the known right and wrong
answers of solutions/checks, and whatever more than ``COMMON`` students wrote.

A pair that is alike is a reason to look, not a verdict: short exercises have few solutions.
"""

from __future__ import annotations

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
from seqcourse.grading.stage import find_submission, read_submission

if TYPE_CHECKING:
    from copydetect import CodeFingerprint
    from rich.table import Table

# The shortest stretch that counts, in tokens of code (letters of a written answer).
STRETCH = 25
# What more students than this have in common is common knowledge.
COMMON = 10
# Fewer tokens than this in common, over all exercises, say nothing.
LEAST = 100

# exercise -> the answer's source
Answers = Mapping[str, str]


@dataclass(frozen=True)
class Shared:
    """One exercise of a pair: its two answers and where they are alike, as (begin, end) in each."""

    exercise: str
    sources: tuple[str, str]
    places: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Pair:
    """Two students, which share of each one's own work is in the other's too, and where."""

    students: tuple[str, str]
    shares: tuple[float, float]
    shared: tuple[Shared, ...]


@dataclass(frozen=True)
class Similar:
    """What the comparison of a class found: the pairs above the threshold, the most alike first."""

    assignment: str
    threshold: float
    compared: int
    pairs: tuple[Pair, ...]
    skipped: tuple[str, ...] = ()


def compare_class(course: Course, name: str, threshold: float = 0.5) -> Similar:
    """Compare everything that was handed in for an assignment.

    Args:
        threshold: pairs are listed in which this share of one student's own work is in the other's.
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
            # What the grader would grade, however it came.
            found = find_submission(course.submitted / folder / name, name, release)
            handed_in = mend(read_submission(found.path), release).notebook
            answers[student] = answers_in(handed_in, code)
        except CourseError as error:
            skipped.append(f"{student}: {error}")
    known = [answers_in(solution, code), answers_in(release, code), *_known_answers(course, name)]
    pairs = compare(answers, code, known, threshold)
    return Similar(name, threshold, len(answers), tuple(pairs), tuple(skipped))


def answers_in(notebook: dict, exercises: Iterable[str]) -> dict[str, str]:
    """The answers of a notebook, without the marks of a solution."""
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        name = mark(cell).get("grade_id")
        if mark(cell).get("solution") and name in exercises:
            answer = notebooks.without_markers(text(cell))
            found[name] = f"{found[name]}\n{answer}" if name in found else answer
    return found


def _known_answers(course: Course, name: str) -> list[dict[str, str]]:
    """The right and wrong answers of solutions/checks, which anybody may have thought of."""
    from seqcourse.grading.sample import load_checks

    checks = load_checks(course, name)
    found = []
    for table in (getattr(checks, "WRONG", {}), getattr(checks, "RIGHT", {})):
        for exercise, entries in table.items():
            found += [{exercise: entry[1]} for entry in entries]
    return found


def compare(
    answers: Mapping[str, Answers],
    code: Mapping[str, bool],
    known: Sequence[Answers],
    threshold: float,
) -> list[Pair]:
    """The pairs of students above the threshold, the most alike first.

    Args:
        answers: the answers by student.
        code: which exercises are code; the others are written answers.
        known: answers that anybody may have.
    """
    prints = {
        student: {task: _fingerprint(source, code[task]) for task, source in given.items()}
        for student, given in answers.items()
    }
    _take_away(prints, code, known)
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
    # Every stretch is kept (a window of 1), so that the result is the same in every run.
    made = CodeFingerprint(
        "answer.py", STRETCH, 1, filter=is_code, language="python", fp=io.StringIO(source)
    )
    if len(made.offsets):
        # copydetect counts wrongly at the name of a class; places never go backwards.
        made.offsets[:, 1] = numpy.maximum.accumulate(made.offsets[:, 1])
    return made


def _take_away(
    prints: Mapping[str, Mapping[str, CodeFingerprint]],
    code: Mapping[str, bool],
    known: Sequence[Answers],
) -> None:
    """Take out of every fingerprint what is known, and what many students have."""
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
    first: str, second: str, left: Mapping[str, CodeFingerprint], right: Mapping[str, CodeFingerprint]
) -> Pair | None:
    """Compare the answers of two students, exercise by exercise; None where nothing is alike."""
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
    if min(common, default=0) < LEAST:
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
    for pair in found.pairs:
        (first, second), (one, other) = pair.students, pair.shares
        tasks = ", ".join(part.exercise for part in pair.shared)
        table.add_row(escape(first), f"{one:.0%}", escape(second), f"{other:.0%}", escape(tasks))
    if not found.pairs:
        table.add_row("none", "", "", "", "")
    return table
