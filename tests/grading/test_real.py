"""Every assignment of the course, from end to end, on the sample class.

Grading it is nightly: `make test` grades a real class in test_honest and in tests/attacks, a system
in test_systems, and every kind of submission on the toy in test_toy.
"""

from __future__ import annotations

import html
import re

import pytest

from cellgrader.course.folders import Course
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.release import sample
from cellgrader.release.generate import release

from .toy import ROOT, copy_real_course

NAMES = Course(ROOT).names()
# Seconds that a cell may take; the one answer that never ends takes all of them.
TIMEOUT = 30
# The first and last of a class: work that must get every point, and work with a typical mistake in every
# second exercise.
BOTH_ENDS = ("perfect", "wrong")


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Course:
    """A copy of the course in which everything was generated afresh."""
    course = copy_real_course(tmp_path_factory.mktemp("real"))
    release(course)
    return course


def classes() -> list:
    """Parameters (assignment, whether everybody hands in), all of them nightly."""
    night = pytest.mark.nightly
    ends = [pytest.param((name, False), id=f"{name}-both-ends", marks=night) for name in NAMES]
    return ends + [pytest.param((name, True), id=name, marks=night) for name in NAMES]


@pytest.fixture(scope="module", params=classes())
def graded(request, real):
    """A sample class, graded: its name, what all must get, the grades, and what the checks said."""
    name, everybody = request.param
    students = sample.who_hands_in(real, name) if everybody else BOTH_ENDS
    expected = sample.make_submissions(real, name, students)
    records = grade(real, name, list(expected), How(workers=2 if everybody else 1, timeout=TIMEOUT))
    said = {record.student: record.messages for record in records}
    return name, expected, read_scores(real, name, records), said


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_is_committed_is_what_is_generated(real, name):
    made = files(real.assignments / name)
    assert files(ROOT / "assignments" / name) == made, f"give: seqcourse release {name}"


def secret_lines(notebook: dict, kinds: tuple[str, ...] = ("SOLUTION", "HIDDEN TESTS")) -> set[str]:
    """Lines of solutions and hidden tests that stand nowhere else in the notebook."""
    secret: set[str] = set()
    given: set[str] = set()
    for cell in notebook["cells"]:
        source = notebooks.text(cell)
        hidden = [line for kind in kinds for line in notebooks.regions(source, kind)]
        whole = notebooks.mark(cell).get("solution") and "BEGIN SOLUTION" not in source
        if whole and "SOLUTION" in kinds:
            hidden = source.split("\n")
        secret |= {line.strip() for line in hidden}
        rest = list(source.split("\n"))
        for line in hidden:
            rest.remove(line)
        given |= {line.strip() for line in rest}
    # Lines like "else:" or "return h" give nothing away.
    return {line for line in secret - given if len(line) > 12}


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_solution_or_hidden_test_is_released(name):
    solution = notebooks.read(Course(ROOT).solution(name))
    secret = secret_lines(solution)
    assert len(secret) > 5, "the notebook should have solutions and hidden tests"
    for path in sorted((ROOT / "assignments" / name).rglob("*")):
        if not path.is_file():
            continue
        if path.suffix == ".ipynb":
            cells = notebooks.read(path)["cells"]
            lines = [line for cell in cells for line in notebooks.text(cell).split("\n")]
        else:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        found = secret & {line.strip() for line in lines}
        assert not found, f"{path.name} gives away: {sorted(found)}"
        assert not any("BEGIN SOLUTION" in line or "HIDDEN TESTS" in line for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_each_assignment_has_a_written_answer_and_points(name):
    tasks = notebooks.exercises(notebooks.read(Course(ROOT).solution(name)))
    assert any(task.manual for task in tasks), "one answer is graded by hand"
    assert all(task.points > 0 for task in tasks)


def test_everybody_gets_what_they_must_get(graded):
    name, expected, scores, said = graded
    found = {}
    for student, outcome in expected.items():
        row = scores.row(student)
        wrong = sample.differences(outcome, row.status, row.points)
        if wrong:
            found[student] = [*wrong, row.sentence, *said[student].values()]
    assert not found, f"{name}: {found}"


def test_the_solution_gets_every_point_and_the_release_none(graded):
    name, expected, scores, _ = graded
    assert scores.automatic > 0
    assert scores.row("perfect").total == scores.automatic, name
    if "empty" in expected:
        assert scores.row("empty").total == 0, name


def test_feedback_never_shows_a_hidden_check(graded, real):
    name, expected, *_ = graded
    hidden = secret_lines(notebooks.read(real.solution(name)), ("HIDDEN TESTS",))
    assert len(hidden) >= 2  # a whole system has one check
    for student in {"wrong", "empty", "crashing"} & set(expected):
        page = make_feedback(real, name, student).read_text(encoding="utf-8")
        lines = {line.strip() for line in html.unescape(re.sub(r"<[^>]+>", "", page)).splitlines()}
        assert not hidden & lines, f"{student}: {sorted(hidden & lines)}"
        assert "Error" in page, "the page says what failed"
