"""What a feedback page says: points, mistakes, kinds of input, where to read; never a hidden check."""

from __future__ import annotations

import html
import json
import re
import shutil
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_output
from nbgrader.api import Gradebook

from cellgrader.appeals.answering import answer
from cellgrader.course.folders import Course
from cellgrader.course.records import Record, write_record
from cellgrader.course.small_files import APPEAL, NEEDED
from cellgrader.errors import CourseError
from cellgrader.marks.appeal_points import answers_path
from cellgrader.marks.history import history_path, note
from cellgrader.marks.late import MARK, MARKED
from cellgrader.notebook import document as notebooks
from cellgrader.pages import feedback
from cellgrader.pages.feedback import ShowPoints, _duration, make_feedback
from cellgrader.processes.limited import begin
from cellgrader.release.generate import release
from cellgrader.run.outcome import as_data, outputs
from seqcourse.check.grade.verdict import Verdict
from seqcourse.check.told.finding import Finding
from seqcourse.cli.grading import write_feedback

WHAT, QUESTION = "double: expected the shape (2, 3), got (3,).", "Did you forget a dimension?"
FIRST = f"{WHAT} {QUESTION}"
SECOND = "double: the numbers are not right (at least not all)."
SEE = "Read again: chapter 3, “Greedy is not best”."
MESSAGE = f"{FIRST} (Input: a batch; one that is (nearly) empty.) {SECOND} (Input: long rows.) {SEE}"
FOUND = {
    "findings": [
        {"what": WHAT, "question": QUESTION, "inputs": ["a batch", "one that is (nearly) empty"]},
        {"what": SECOND, "question": "", "inputs": ["long rows"]},
    ],
    "see": [3, "Greedy is not best"],
}
REMARK = "Two cells had the name <double>: the last one counts."


@pytest.fixture(scope="module")
def graded(empty_toy, tmp_path_factory) -> Course:
    return as_graded(empty_toy, tmp_path_factory.mktemp("feedback") / "course")


def as_graded(empty_toy: Course, folder: Path) -> Course:
    """A submission as it lies in autograded/: one exercise right, one half right, one wrong."""
    course = Course(folder)
    shutil.copytree(empty_toy.root, course.root)
    (course.root / "book").mkdir()
    (course.root / "book" / "03_decoding.ipynb").touch()
    release(course)
    book = nbformat.from_dict(notebooks.read(course.solution("ps1")))
    told = {
        "double-test": outputs(0, 3, MESSAGE),
        "half-test": outputs(1.5, 3, MESSAGE),
        "quadruple-test": outputs(3, 3, ""),
    }
    book.cells = [
        cell for cell in book.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != "poll-test"
    ]
    for cell in book.cells:
        cell.outputs = told.get(cell.metadata.get("nbgrader", {}).get("grade_id"), [])
        if cell.cell_type == "markdown":
            del cell["outputs"]
    book.cells[1].outputs = [new_output("stream", text="what the student printed")]
    book.metadata["seqcourse"] = {
        "remarks": [REMARK],
        "status": "crashed",
        "sentence": "One cell crashed.",
        "findings": {"double-test": FOUND, "half-test": FOUND},
    }
    folder = course.autograded / "ada" / "ps1"
    folder.mkdir(parents=True)
    (folder / "ps1.ipynb").write_text(json.dumps(book))
    due = datetime(2026, 1, 10, 12)
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=due)
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Núñez & Söhne")
        late = due + timedelta(days=1, hours=3)
        gradebook.update_or_create_submission("ps1", "ada", timestamp=late)
        points = {"half-test": 1.5, "quadruple-test": 3.0}
        for grade in gradebook.find_submission_notebook("ps1", "ps1", "ada").grades:
            grade.auto_score = points.get(grade.name, 0.0)
            grade.needs_manual_grade = grade.name == "why"
        gradebook.find_comment("why", "ps1", "ps1", "ada").manual_comment = "See **chapter 1**: $x^2$"
        for comment in gradebook.find_submission_notebook("ps1", "ps1", "ada").comments:
            comment.auto_comment = "No response."  # as nbgrader does where nothing was changed
        gradebook.db.commit()
    return course


def settings(course: Course, *lines: str) -> None:
    (course.root / "course.toml").write_text("\n".join(lines), encoding="utf-8")


def words(page: str) -> str:
    """The page's words, with a space wherever an element begins or ends."""
    body = page[page.index("<body") :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture(scope="module")
def page(graded) -> str:
    return make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8")


def test_the_table_has_each_test_with_its_points_and_the_likely_mistake(page):
    text = words(page)
    assert "Ada Núñez & Söhne 4.5 of 12 points" in text
    assert f"double-test A toy 0 of 3 {FIRST}" in text
    assert f"half-test A toy 1.5 of 3 {FIRST}" in text
    assert "quadruple-test A toy 3 of 3" in text
    assert "why A toy 0 of 2 not graded yet" in text
    assert "poll-test 0 of 1 the cell was deleted from the notebook" in text
    assert "A part is not graded yet; its points are still to come." in text


def test_findings_as_data_keep_every_label_whole_and_are_empty_at_full_points():
    judge = SimpleNamespace(check=SimpleNamespace(see=("03", "Greedy is not best")))
    found = (Finding(WHAT, QUESTION, ("one row; two columns", "a batch")),)
    data = as_data(Verdict(0.5, found), judge)
    assert data["findings"][0]["inputs"] == ["one row; two columns", "a batch"]
    assert data["see"] == [3, "Greedy is not best"]
    assert as_data(Verdict(0.0, found, solved=False), judge)["see"] == []
    assert as_data(Verdict(1.0, found), judge) == {"findings": [], "see": []}


def test_a_verdict_says_what_on_which_input_and_where_to_read(page):
    text = words(page[page.index("<main") - 10 :].replace("<main", "<body", 1))
    kinds = f"{FIRST} On these kinds of input: a batch; one that is (nearly) empty."
    assert f"0 of 3 points · double-test {kinds} {SECOND} On this kind of input: long rows." in text
    assert "Read again: chapter 3, “Greedy is not best”" in text
    assert "3 of 3 points · quadruple-test · the hidden checks passed" in text
    assert "1.5 of 3 points · half-test Each kind of input is worth the same share" in text
    assert text.count("worth the same share") == 1 and "No response." not in text


def test_the_student_sees_their_own_work_and_what_was_written_to_them(page):
    text = words(page)
    assert "what the student printed" in text
    assert "Comment See chapter 1 :" in text and "<math" in page
    assert REMARK in text and "<double>" not in page
    assert "One cell crashed." in text


def test_no_hidden_check_is_on_the_page(page):
    for secret in ("half(3)", "quadruple(5)", "double(3.5)", "a secret", "HIDDEN TESTS"):
        assert secret not in words(page)


def test_late_work_is_told_with_its_price(graded, page):
    assert "Handed in 1 day 3 hours after the due date; it costs nothing." in words(page)
    assert '<p class="late">' in page, "what costs nothing is no warning"
    settings(graded, "late.share_per_day = 0.1")
    dear = make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8")
    assert '<p class="late costs">' in dear and ".late.costs { color: var(--none); }" in dear
    text = words(dear)
    assert "1 day 3 hours after the due date: 0.9 of your 4.5 points are taken off." in text
    assert "3.6 of 12 points" in text
    mark = graded.submitted / "ada" / "ps1" / MARK
    notebooks.write_text(mark, f"{MARKED}.\n")
    with Gradebook(graded.gradebook_url) as gradebook:
        submission = gradebook.find_submission("ps1", "ada")
        known, submission.timestamp = submission.timestamp, None
        gradebook.db.commit()
        text = words(make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8"))
        assert f"{MARKED}: 0.45 of your 4.5 points are taken off." in text
        mark.unlink()
        submission.timestamp = known
        gradebook.db.commit()
    settings(graded)


def test_the_page_says_what_changed_and_what_an_appeal_was_answered(graded):
    beside = graded.submitted / "ada" / "ps1" / APPEAL
    notebooks.write_text(beside, "2: <b>rows</b>\n1: this, too")
    write_record(graded, Record("ps1", "ada", "graded", ""))
    note(graded, "ps1")
    assert "Changes of this mark" not in words(make_feedback(graded, "ps1", "ada").read_text("utf-8"))
    answer(graded, "ps1", "ada", "2", 3, "You are <right>.")
    page = make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8")
    text = words(page)
    assert "Your appeals Exercise 1 double: “this, too” It waits for an answer." in text
    assert "“<b>rows</b>” Answer of 20" in text and ": 3 of 3 points. You are <right>." in text
    assert "Changes of this mark 4.5 → 6 points · 20" in text
    assert "an appeal was answered (You are <right>)." in text and "2 half: 1.5 → 3" in text
    assert "<b>rows" not in page and "<right>" not in page
    # Days and times are those of the class's clock.
    kept = answers_path(graded, "ps1", "ada")
    kept.write_text(re.sub(r'"time": "[^"]+"', '"time": "2026-01-10T23:30:00Z"', kept.read_text()))
    settings(graded, 'zone = "Asia/Tokyo"')
    text = words(make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8"))
    assert "Answer of 2026-01-11" in text and "Asia/Tokyo" in text
    settings(graded)
    answer(graded, "ps1", "ada", "2", None, "The check was right.")
    for path in (beside, history_path(graded, "ps1", "ada"), answers_path(graded, "ps1", "ada")):
        path.unlink()


def test_the_section_becomes_a_link_where_the_book_is_known(graded, page):
    assert "03_decoding" not in page
    settings(graded, "book = 'https://example.org/course/'")
    linked = make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8")
    assert 'href="https://example.org/course/book/03_decoding.html#greedy-is-not-best"' in linked
    second = graded.root / "book" / "03b_more.ipynb"
    second.write_text('["# More\\n", "## Greedy is not best\\n"]')
    linked = make_feedback(graded, "ps1", "ada").read_text(encoding="utf-8")
    assert 'href="https://example.org/course/book/03b_more.html#greedy-is-not-best"' in linked
    second.unlink()
    settings(graded)


def test_the_page_is_one_file_without_programs(page):
    assert "<script" not in page and "<link" not in page
    assert "default-src 'none'" in page
    assert len(page) < 200_000


def test_who_was_not_graded_gets_a_sentence_and_stops_nobody(graded, monkeypatch):
    with pytest.raises(CourseError, match="bob should have a graded ps1"):
        make_feedback(graded, "ps1", "bob")
    for student in ("bob", "ada"):
        write_record(graded, Record("ps1", student, "graded", ""))
    told = []
    write_feedback(graded, "ps1", ["bob", "ada"], told.append)
    assert told[0].startswith("bob: It was graded, but the gradebook") and told[1].endswith(
        "ada/ps1/ps1.html"
    )
    # Nor does a page that takes too long, in whatever step.
    monkeypatch.setattr(ShowPoints, "preprocess", lambda *given: next(k for k in count() if k < 0))
    monkeypatch.setattr(feedback, "begin", partial(begin, seconds=1))
    assert not write_feedback(graded, "ps1", ["ada", "bob"], told.append)
    assert "ada's feedback on ps1, but could not: To make the page takes more than 1 second" in told[3]
    assert told[2] == told[0]


def test_what_lies_beside_the_notebook_does_not_stop_the_page(graded):
    beside = graded.autograded / "ada" / "ps1" / "ps1.html"
    beside.mkdir()
    (beside / "saved.txt").write_text("a page that was saved as a folder")
    page = make_feedback(graded, "ps1", "ada")
    assert page.is_file() and list(page.parent.iterdir()) == [page]
    shutil.rmtree(beside)
    for file in NEEDED:
        (graded.autograded / "ada" / "ps1" / file).write_text("2026-01-11 15:00:00 UTC")
    page = make_feedback(graded, "ps1", "ada")
    for file in NEEDED:
        assert page.with_name(file).is_file(), "without it the page cannot be released"
        (graded.autograded / "ada" / "ps1" / file).unlink()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(1, "1 minute"), (3600, "1 hour"), (5400, "1 hour 30 minutes"), (200_000, "2 days 7 hours")],
)
def test_a_time_in_words(seconds, told):
    assert _duration(seconds) == told
