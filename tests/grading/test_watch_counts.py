"""Which attempt counts: with "best" the gradebook keeps the better one, through everything."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.records import read_record
from cellgrader.grade.how import How
from cellgrader.grade.preview import preview
from cellgrader.grade.submissions import Run
from cellgrader.grade.which_counts import counting, worth
from cellgrader.notebook import document as notebooks
from cellgrader.people.enrolment import drop
from cellgrader.processes.forked import done_now
from cellgrader.release import sample
from cellgrader.run.examine import Examination
from cellgrader.run.outcome import outputs
from cellgrader.watch import feedback_pages
from cellgrader.with_nbgrader.save import Saver

from .test_regrade import content

BEST = '[watch]\ncounts = "best"\n'


@pytest.fixture
def course(released):
    toy = released
    (toy.root / "course.toml").write_text(BEST)
    return toy


def hand_in(course, passed: int) -> None:
    """Hand in work of which the first ``passed`` of four automatic cells are right."""
    sample.make_submissions(course, "ps1", ("perfect",))
    path = course.submitted / "perfect" / "ps1" / "ps1.ipynb"
    book = notebooks.read(path)
    book["cells"][1]["source"] += f"\n# right: {passed}"
    notebooks.write(book, path)


def made_up(course, passed: int, status: str = "graded") -> Examination:
    """What a worker would have found."""
    book = notebooks.read(course.submitted / "perfect" / "ps1" / "ps1.ipynb")
    points = {}
    for cell in book["cells"]:
        mark = notebooks.mark(cell)
        if mark.get("grade") and not mark.get("solution"):
            points[mark["grade_id"]] = float(mark["points"]) if len(points) < passed else 0.0
            cell["outputs"] = outputs(points[mark["grade_id"]], mark["points"], "It fails.")
    if status != "graded":
        return Examination("ps1", "perfect", status, "It breaks off.")
    return Examination("ps1", "perfect", status, "", json.dumps(book), points)


def graded(course, passed: int, status: str = "graded"):
    """Hand in, and save what a worker would have found; returns the record."""
    hand_in(course, passed)
    run = Run(course, "ps1", {}, tell=lambda record: None)
    (submission,) = map(run.load, run.submissions(["perfect"]))
    found = made_up(course, passed, status)
    return *run.save(Saver(course, "ps1"), submission, found), submission, found


def in_gradebook(course) -> float:
    with Gradebook(course.gradebook_url) as gradebook:
        return gradebook.find_submission("ps1", "perfect").score


def test_the_best_attempt_stays_and_a_better_one_takes_its_place(course):
    assert graded(course, 2)[0].attempt == 1 and in_gradebook(course) == 6
    record, _, _ = graded(course, 1)
    assert record.attempt == 1 and in_gradebook(course) == 6
    assert "Version 2 has 3 automatic points. Version 1, with 6, was better" in record.sentence
    assert read_record(course, "ps1", "perfect").sentence == "", "the record is that of version 1"
    record, _, _ = graded(course, 0, "unreadable")
    assert record.attempt == 1 and "Version 3 has no grade" in record.sentence
    assert graded(course, 3)[0].attempt == 4 and in_gradebook(course) == 9


def test_the_last_attempt_counts_where_the_class_says_so(course):
    (course.root / "course.toml").write_text("")
    graded(course, 2)
    record, submission, _ = graded(course, 1)
    assert record.attempt == 2 and in_gradebook(course) == 3
    assert counting(course, "ps1", submission) is submission


def test_grading_again_grades_the_attempt_that_counts(course):
    graded(course, 2)
    _, better, _ = graded(course, 3)
    run = Run(course, "ps1", {}, tell=lambda record: None)
    (submission,) = run.submissions(["perfect"])
    assert run.is_done(submission, again=False) and run.records["perfect"].attempt == 2
    graded(course, 1)
    run = Run(course, "ps1", {}, tell=lambda record: None)
    assert run.is_done(submission, again=False) and run.records["perfect"].attempt == 2
    assert run.load(submission) == better
    hand_in(course, 0)
    assert not run.is_done(submission, again=False) and run.load(submission).attempt == 4


def test_a_preview_compares_with_the_attempt_that_counts_and_writes_nothing(course, monkeypatch):
    graded(course, 2)
    graded(course, 1)
    now, examined = [3], []

    @contextmanager
    def examining(run, *given):
        def results(submissions):
            for each in submissions:
                examined.append(run.load(each))
                yield examined[-1], made_up(course, now[0])

        yield results

    monkeypatch.setattr(Run, "examining", examining)
    before = content(course)
    found = preview(course, "ps1", how=How(unsafe=True))
    (one,) = found.differences
    assert (one.before.total, one.now.total, one.now.attempt) == (6, 9, 1)
    assert examined[-1].attempt == 1 and content(course) == before
    # A new version that would be worse changes nothing; one that is better does.
    hand_in(course, 0)
    before = content(course)
    for now[0], differ in ((1, []), (2, []), (3, [3])):
        found = preview(course, "ps1", how=How(unsafe=True))
        assert [each.gain for each in found.differences] == differ and examined[-1].attempt == 3
        assert found.same == 1 - len(differ)
    assert found.differences[0].why == {"quadruple": "version 3 was handed in"}
    assert content(course) == before


def test_being_late_counts_in_the_comparison(course):
    (course.root / "course.toml").write_text(f"late.share_per_day = 0.5\n{BEST}")
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=datetime(2026, 11, 20))
    _, submission, found = graded(course, 2)
    assert worth(course, found, submission) == 6
    submission.work.files["timestamp.txt"] = b"2026-11-20 12:00:00 UTC"
    assert worth(course, found, submission) == 3
    submission.work.files["timestamp.txt"] = b"2026-11-19 12:00:00 UTC"
    assert worth(course, found, submission) == 6


def test_the_page_of_an_attempt_that_does_not_count_leaves_the_gradebook_alone(course):
    graded(course, 2)
    record, submission, found = graded(course, 1)
    done_now(feedback_pages.Aside(course, "ps1").show(found, submission, record.sentence))
    path = course.feedback / "perfect" / "ps1" / "ps1.html"
    text = path.read_text(encoding="utf-8")
    assert "Version 1, with 6, was better and counts." in text and "<b>3</b>" in text
    assert in_gradebook(course) == 6
    aside = course.folder / "watch" / "ps1" / "aside"
    left = [path for path in aside.rglob("*perfect*") if aside / "submitted" not in path.parents]
    assert not left


def test_who_is_erased_leaves_no_attempt(course):
    graded(course, 2)
    graded(course, 1)
    drop(course, "perfect", erase=True)
    assert not list((course.folder / "watch").rglob("*perfect*"))
