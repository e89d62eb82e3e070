"""Find similar submissions: copydetect on the answers of every pair of students.

copydetect compares code as a sequence of tokens, ignoring names, and finds the passages that two
programs share, so renaming does not hide a copy. Written answers are compared character by character.
Common text is excluded first: the released notebook, the reference solution, the known right and wrong
answers of solutions/checks, and passages that more than ``COMMON`` students wrote.

Every cell is compared with everything that the other student wrote, whatever cell it is in: a copy in
an added cell, in that of another exercise or below a harmless answer runs like one in its place.

Students can read the package, and its functions answer many exercises. So each answer is also compared
with the reference solution and with every function of the package.

A similar pair is a reason to look, not a verdict: short exercises have few solutions.
"""

from __future__ import annotations

import ast
import copy
import io
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError, in_words
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.cells import squeeze
from cellgrader.notebook.document import mark, text
from cellgrader.printable import printable
from cellgrader.processes.limited import limited
from cellgrader.profile import program, the_course
from cellgrader.run.examine import READING, read
from cellgrader.submission.partners import Submissions, find_submissions

if TYPE_CHECKING:
    from pathlib import Path

    from copydetect import CodeFingerprint
    from rich.table import Table

# The shortest passage that counts, in tokens of code (characters of a written answer).
STRETCH = 25
# A passage that more students than this share is common knowledge and does not count.
COMMON = 10
# Passages in different cells count from here on: short ones are common turns of phrase.
ELSEWHERE = 40
# Pairs that share fewer tokens than this over all exercises are not reported.
LEAST = 100

# The same for an answer and the course's own: it is about one exercise.
LEAST_OURS = 40

# exercise, or "cell 7" for code that is in no answer's cell -> source, and -> its fingerprint
Answers = Mapping[str, str]
Prints = Mapping[str, "CodeFingerprint"]


@dataclass(frozen=True)
class SharedPassages:
    """One exercise of a pair: the two answers, and the shared passages of each as (begin, end).

    An answer is empty where only one of the two has such a cell.
    """

    exercise: str
    sources: tuple[str, str]
    places: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class SimilarPair:
    """Two students, the share of each one's work that also appears in the other's, and where."""

    students: tuple[str, str]
    shares: tuple[float, float]
    shared: tuple[SharedPassages, ...]


@dataclass(frozen=True)
class Similar:
    """The result for a class: the pairs above the threshold, the most similar first.

    ours: answers that are alike the course's own, with what they are alike to as the second "student".
    """

    assignment: str
    threshold: float
    compared: int
    pairs: tuple[SimilarPair, ...]
    skipped: tuple[str, ...] = ()
    ours: tuple[SimilarPair, ...] = ()

    @property
    def every(self) -> tuple[SimilarPair, ...]:
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
            f"Submissions of {name} should lie at {course.submitted}/STUDENT/{name}/"
            f"{name}.ipynb, but there are none."
        )
    path = course.released(name)
    release = notebooks.read(path) if path else solution
    works, skipped = {}, []
    for student in students:
        try:
            folder = course.submitted / student / name
            works[student], long = limited(READING, _work_of, folder, name, release, code)
            skipped += [f"{student}: {sentence}" for sentence in long]
        except Exception as error:  # one bad submission is a line, and no end
            why = error if isinstance(error, CourseError) else in_words(error)
            skipped.append(f"{student}: {why}")
    right = answers_in(solution, code)
    given = "\n".join(text(cell) for cell in release["cells"] if cell["cell_type"] == "code")
    texts = [answers_in(release, code), {"given": given}, *_known_answers(course, name)]
    known = [fingerprints(each, code) for each in texts]
    anybodys = [fingerprints(right, code), *known]
    pairs = compare(works, anybodys, threshold, find_submissions(course, name))
    written = {task: right[task] for task in right if code[task]}
    ours = {**{f"the solution of {task}": text for task, text in written.items()}, **_package(name)}
    in_code = {
        student: {task: made for task, made in work.items() if code.get(task, True)}
        for student, work in works.items()
    }
    like_ours = compare_with_ours(in_code, known, fingerprints(ours, {}), threshold)
    return Similar(name, threshold, len(works), tuple(pairs), tuple(skipped), tuple(like_ours))


def _work_of(
    folder: Path, name: str, release: dict, code: Mapping[str, bool]
) -> tuple[dict[str, CodeFingerprint], list[str]]:
    """The fingerprints of what the grader would grade, and what is too long to compare.

    Call it through ``limited``: a few kilobytes can keep a lexer busy for minutes.
    """
    mended, _ = read(folder, name, release)
    kept, long = _bounded(work_in(mended.notebook, code, release))
    return fingerprints(kept, code), long


def answers_in(notebook: dict, exercises: Iterable[str]) -> dict[str, str]:
    """The answers of a notebook, without solution markers."""
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        name = mark(cell).get("grade_id")
        if mark(cell).get("solution") and name in exercises:
            answer = notebooks.without_markers(text(cell))
            found[name] = f"{found[name]}\n{answer}" if name in found else answer
    return found


def work_in(notebook: dict, exercises: Iterable[str], release: dict) -> dict[str, str]:
    """The answers of a mended notebook, and every other code cell that was not given like that."""
    given = {squeeze(text(cell)) for cell in release["cells"]}
    found = answers_in(notebook, exercises)
    for number, cell in enumerate(notebook["cells"], start=1):
        answer = mark(cell).get("solution") or mark(cell).get("grade")
        if cell["cell_type"] == "code" and not answer and squeeze(text(cell)) not in given:
            found[f"cell {number}"] = text(cell)
    return found


def _bounded(work: Answers) -> tuple[dict[str, str], list[str]]:
    """The work without what is too long to compare, and a sentence for each such cell."""
    kept, long, left = {}, [], bounds.ALL_COMPARED
    for task, source in work.items():
        if len(source) > min(left, bounds.COMPARED):
            long.append(f"{task} has {len(source):,} characters, too many to compare; look at it.")
        else:
            kept[task] = source
            left -= len(source)
    return kept, long


def _known_answers(course: Course, name: str) -> list[dict[str, str]]:
    """The right and wrong answers of solutions/checks."""
    from cellgrader.release.sample import load_checks

    checks = load_checks(course, name)
    found = []
    for table in (getattr(checks, "WRONG", {}), getattr(checks, "RIGHT", {})):
        for exercise, entries in table.items():
            found += [{exercise: entry[1]} for entry in entries]
    return found


def _package(name: str) -> dict[str, str]:
    """The functions and classes of the package that could answer an exercise: name -> source."""
    found = {}
    package = the_course().folder
    checks = "/".join(the_course().checks.split(".")[1:])
    for room in (*the_course().alike, f"{checks}/{name}"):
        for path in sorted((package / room).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            for node in ast.parse(source).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    where = f"{package.name}/{room}/{path.name}, {node.name}"
                    found[where] = ast.get_source_segment(source, node) or ""
    return found


def compare_with_ours(
    works: Mapping[str, Prints], known: Sequence[Prints], ours: Prints, threshold: float
) -> list[SimilarPair]:
    """Answers in code that are alike the course's own, each with the source that it shares most with.

    Args:
        works: student -> fingerprints.
        known: answers that anybody may write; what they share with ours does not count.
        ours: where a source of the course stands -> its fingerprint.
    """
    found = []
    for student, work in sorted(_without(works, known).items()):
        for task, made in work.items():
            where = max(ours, key=lambda one: len(made.hashes & ours[one].hashes))
            pair = _pair(student, where, _Work({task: made}), _Work({task: ours[where]}), LEAST_OURS)
            if pair is not None and pair.shares[0] >= threshold:
                found.append(pair)
    return sorted(found, key=lambda pair: (-pair.shares[0], pair.students))


def compare(
    works: Mapping[str, Prints],
    known: Sequence[Prints],
    threshold: float,
    submissions: Submissions = Submissions(),  # noqa: B008 (it cannot be changed)
) -> list[SimilarPair]:
    """The pairs of students above the threshold, the most similar first. Partners are no pair.

    Args:
        works: student -> fingerprints.
        known: answers to exclude from the comparison.
        submissions: who handed in together.
    """
    own = {student: _Work(made) for student, made in _without(works, known).items()}
    found = []
    for first, second in itertools.combinations(sorted(own), 2):
        if second in submissions.of(first).members:
            continue
        pair = _pair(first, second, own[first], own[second])
        if pair is not None and max(pair.shares) >= threshold:
            found.append(pair)
    return sorted(found, key=lambda pair: (-max(pair.shares), pair.students))


def fingerprints(answers: Answers, code: Mapping[str, bool]) -> dict[str, CodeFingerprint]:
    """The fingerprints of answers; ``code`` says whether an exercise's is code rather than text."""
    return {task: _fingerprint(source, code.get(task, True)) for task, source in answers.items()}


def _fingerprint(source: str, is_code: bool) -> CodeFingerprint:
    try:
        import numpy
        from copydetect import CodeFingerprint
    except ImportError:
        raise CourseError(
            "Comparing submissions needs copydetect, but it is not installed. "
            f"Install it: pip install '{program()}[grading]'"
        ) from None
    # A window of 1 keeps every passage, so that the result is deterministic.
    made = CodeFingerprint(
        "answer.py", STRETCH, 1, filter=is_code, language="python", fp=io.StringIO(source)
    )
    if len(made.offsets):
        # copydetect miscounts offsets at a class's name; offsets must never decrease.
        made.offsets[:, 1] = numpy.maximum.accumulate(made.offsets[:, 1])
    return made


def _without(
    works: Mapping[str, Prints], known: Sequence[Prints]
) -> dict[str, dict[str, CodeFingerprint]]:
    """The fingerprints without known passages and those that many students share."""
    from copydetect.utils import get_token_coverage

    counts = Counter(itertools.chain(*(_Work(work).hashes for work in works.values())))
    common = {value for value, count in counts.items() if count > COMMON}
    common = common.union(*(_Work(each).hashes for each in known))

    def own(made: CodeFingerprint) -> CodeFingerprint:
        made = copy.copy(made)
        made.hashes = made.hashes - common
        made.hash_idx = {value: made.hash_idx[value] for value in made.hashes}
        made.token_coverage = get_token_coverage(made.hash_idx, STRETCH, len(made.filtered_code))
        return made

    return {who: {task: own(made) for task, made in work.items()} for who, work in works.items()}


class _Work:
    """All that one student wrote: its fingerprints by cell, and together as one for copydetect."""

    k, filtered_code, offsets = STRETCH, "", ()

    def __init__(self, cells: Prints) -> None:
        self.cells = cells
        self.hashes = set().union(*(made.hashes for made in cells.values()))
        self.hash_idx = dict.fromkeys(self.hashes, (0,))  # where it is does not matter
        self.own = sum(float(made.token_coverage) for made in cells.values())


def _overlap(task: str, made: CodeFingerprint, other: _Work) -> tuple:
    """What copydetect finds of a cell in the same cell of another student, or in all that one wrote."""
    from copydetect import compare_files

    same = compare_files(made, other.cells[task]) if task in other.cells else (0, (), ())
    anywhere = compare_files(made, other)
    return anywhere if anywhere[0] - same[0] >= ELSEWHERE else same


def _pair(first: str, second: str, left: _Work, right: _Work, least: int = LEAST) -> SimilarPair | None:
    """Compare the work of two students; None if they share too little."""
    if left.hashes.isdisjoint(right.hashes):
        return None
    common, marked = [], []
    for one, other in ((left, right), (right, left)):
        overlaps = {task: _overlap(task, made, other) for task, made in one.cells.items()}
        common.append(float(sum(tokens for tokens, _, _ in overlaps.values())))
        found = {task: slices[0].T for task, (tokens, _, slices) in overlaps.items() if tokens}
        marked.append({task: tuple(map(tuple, places.tolist())) for task, places in found.items()})
    if min(common) < least:
        return None
    shared = []
    for task in dict.fromkeys((*left.cells, *right.cells)):
        if task in marked[0] or task in marked[1]:
            made = [side.cells.get(task) for side in (left, right)]
            sources = tuple(one.raw_code if one else "" for one in made)
            shared.append(SharedPassages(task, sources, tuple(found.get(task, ()) for found in marked)))
    return SimilarPair((first, second), (common[0] / left.own, common[1] / right.own), tuple(shared))


def as_table(found: Similar) -> Table:
    """A table for the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    caption = f"{found.compared} submissions compared; a share is of the student's own work. "
    caption += "Alike is a reason to look, not a verdict."
    for sentence in found.skipped:
        caption += f"\nNot compared: {escape(printable(sentence))}"
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
        names = (escape(printable(student)) for student in (first, second))
        table.add_row(next(names), f"{one:.0%}", next(names), f"{other:.0%}", escape(tasks))
    if not found.every:
        table.add_row("none", "", "", "", "")
    return table
