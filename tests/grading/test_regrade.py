"""A regrade: what it would change is seen before, and what --only-gains keeps stays kept."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import handed_in as submissions_of
from cellgrader.course.records import FAILED, GRADED, UNREADABLE, Record, read_record, write_record
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.preview import Preview, as_table, by_exercise, preview
from cellgrader.grade.submissions import Run, grade
from cellgrader.marks import history, in_words
from cellgrader.marks.history import note, read_history
from cellgrader.marks.in_words import numbers_of
from cellgrader.marks.only_gains import Difference, Gains, compare
from cellgrader.notebook import document as notebooks
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.run.examine import Examination
from cellgrader.sandbox import refusal
from seqcourse.cli.regrade import preview_grades

from .here import examine_here

confined = pytest.mark.skipif(bool(refusal()), reason=refusal() or "there is a sandbox")

RIGHT, WRONG = "lambda x: x / 2", "lambda x: x // 2"
ROUNDS = "def half(x):\n    return x // 2\n"


def content(course: Course) -> str:
    """A digest of all files of the class and of their names."""
    found = hashlib.sha256()
    for path in sorted(course.folder.rglob("*")):
        found.update(str(path).encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


def set_check(course: Course, old: str, new: str) -> None:
    checks = course.solutions / "checks" / "ps1.py"
    assert old in checks.read_text()
    checks.write_text(checks.read_text().replace(old, new))


def regrade(course: Course, only_gains: bool = False, **told) -> None:
    release(course, target=course.folder / "released")
    grade(course, "ps1", how=How(workers=1, only_gains=only_gains), **told)


def totals(course: Course) -> dict[str, float | None]:
    return {
        who: read_history(course, "ps1", who)[-1].state.total for who in history.kept_for(course, "ps1")
    }


def printed(course: Course, found) -> str:
    console = Console(width=110)
    with console.capture() as captured:
        console.print(as_table(found, numbers_of(course, "ps1")))
    return captured.get()


@pytest.fixture(
    params=["here", pytest.param("sandbox", marks=[confined, pytest.mark.slow, pytest.mark.nightly])]
)
def examined_there(request, monkeypatch) -> None:
    """Where work is examined: in this process, and at night by workers in the sandbox."""
    if request.param == "here":
        examine_here(monkeypatch)


def test_a_preview_begins_with_what_changes_for_many():
    """Exercise by exercise; a mark that --only-gains keeps changes nothing."""

    def state(**marks: float | None) -> history.State:
        found = {name: history.Mark(points, 3.0, False) for name, points in marks.items()}
        return history.State(found, 0.0, 1)

    polls = [
        Difference(f"s{number}", state(poll_1=1.0, why=2.0), state(poll_1=0.0, why=2.0), {})
        for number in range(89)
    ]
    others = [
        Difference("ada", state(poll_1=1.0, half=1.0), state(poll_1=3.0, half=2.5), {}),
        Difference("ben", state(why=2.0), state(why=None), {}),
        Difference("cleo", state(half=3.0), state(half=0.0), {}, kept=True),
    ]
    assert by_exercise(Preview("ps1", (*others, *polls), 0), {"half": "2"}) == [
        "poll_1: 89 lose 1, 1 gain 2",
        "2 half: 1 gain 1.5",
        "why: 1 wait for a grade by hand",
    ]


class Killed(BaseException):
    """As kill -9: nothing of ours runs after it."""


def test_a_run_that_is_killed_keeps_its_reason(released, monkeypatch):
    """The marks are saved, the history is not written yet; whatever command comes next writes it."""
    toy = released
    examine_here(monkeypatch)
    sample.make_submissions(toy, "ps1", ("perfect",))
    regrade(toy)
    set_check(toy, RIGHT, WRONG)
    with monkeypatch.context() as patched:
        patched.setattr(
            "cellgrader.grade.submissions.restore", lambda *given: (_ for _ in ()).throw(Killed)
        )
        with pytest.raises(Killed):
            regrade(toy, reason="Halves are whole.")
    assert totals(toy) == {"perfect": 10}, "the change is not noted yet"
    note(toy, "ps1")
    last = read_history(toy, "ps1", "perfect")[-1]
    assert (last.state.total, last.words, last.reason) == (7, "Halves are whole.", history.CHECK)
    # What a person gives afterwards has another reason, and so has the next run.
    with Gradebook(toy.gradebook_url) as gradebook:
        why = gradebook.find_grade("why", "ps1", "ps1", "perfect")
        why.manual_score, why.needs_manual_grade = 2, False
        gradebook.db.commit()
    note(toy, "ps1")
    last = read_history(toy, "ps1", "perfect")[-1]
    assert (last.words, last.reason) == ("", history.HAND)
    set_check(toy, WRONG, RIGHT)
    regrade(toy)
    last = read_history(toy, "ps1", "perfect")[-1]
    assert (last.state.total, last.words) == (12, "")
    assert not list((toy.folder / "history").glob("*reason*"))


def test_a_planted_wrong_check_is_seen_before_it_takes_points(released, monkeypatch, examined_there):
    """Preview before and after; --only-gains; a plain run and another change take nothing away."""
    toy = released
    sample.make_submissions(toy, "ps1", ("perfect", "broken"))
    released = notebooks.read(toy.assignments / "ps1" / "ps1.ipynb")
    right = sample.right_answers(notebooks.read(toy.solution("ps1")))
    eve = toy.submitted / "eve" / "ps1" / "ps1.ipynb"
    notebooks.write(sample.answered(released, right | {"half": ROUNDS}), eve)
    regrade(toy)
    assert totals(toy) == {"eve": 7, "perfect": 10}

    # Before: nothing would change, so nothing is examined.
    with monkeypatch.context() as patched:
        patched.setattr(Run, "examining", pytest.fail)
        found = preview(toy, "ps1", how=How(workers=1))
    assert not found.differences and found.same == 2 and found.without == ("broken",)
    assert found.summary[0] == "0 would gain, 0 would lose, 2 would stay."

    # After: who would gain and lose, how much and why; nothing is written, not even an attempt.
    set_check(toy, RIGHT, WRONG)
    notebooks.write(sample.answered(released, right), toy.submitted / "broken" / "ps1" / "ps1.ipynb")
    before = content(toy)
    found = preview(toy, "ps1", how=How(workers=1))
    assert content(toy) == before
    text = printed(toy, found)
    print(text, *found.summary, sep="\n")
    up, down = found.differences
    assert (up.student, up.gain, down.student, down.gain) == ("eve", 3, "perfect", -3)
    assert up.why["half"].startswith("passes now; said before: half: ")
    assert down.why["half"].startswith("says now: half: ") and "; passed before" in down.why["half"]
    for words in ("2 half", "gains 3", "loses 3"):
        assert words in text
    assert by_exercise(found, numbers_of(toy, "ps1")) == ["2 half: 1 gain 3, 1 lose 3"]
    summary = " ".join(found.summary)
    assert "1 would gain (3 points in all, at most 3), 1 would lose, 0 would stay." in summary
    assert "Would lose: perfect (3)." in summary and "Nothing was written." in summary

    # Only the gains are written, and the others keep their marks.
    told = []
    regrade(toy, only_gains=True, reason="Whole halves are right.", tell=told.append)
    assert totals(toy) == {"broken": 7, "eve": 10, "perfect": 10}, "a first mark is written as it is"
    (kept,) = (record for record in told if record.student == "perfect")
    assert "would now give 7 points (2 half: 0 instead of 3)" in kept.sentence
    assert read_history(toy, "ps1", "eve")[-1].words == "Whole halves are right."
    with monkeypatch.context() as patched:
        patched.setattr(Run, "examining", pytest.fail)
        regrade(toy)  # a plain run of unchanged work: nobody is examined again
    assert totals(toy)["perfect"] == 10

    # Nor does a plain run after another change; a mended check gives nothing twice.
    checks = toy.solutions / "checks" / "ps1.py"
    checks.write_text(checks.read_text() + "# another change\n")
    regrade(toy)
    assert totals(toy) == {"broken": 7, "eve": 10, "perfect": 10}
    reasons = [entry.reason.split(" (")[0] for entry in read_history(toy, "ps1", "perfect")]
    assert reasons == [history.FIRST, "--only-gains kept the mark; the checks would now give 7 points"]
    assert not in_words.for_student(toy, "ps1", "perfect"), "the mark never changed"
    assert [line.what for line in in_words.for_student(toy, "ps1", "eve")] == ["7 → 10 points"]


# The same without workers: an examination is made up.


@pytest.fixture
def course(released):
    """Ada has 3 of 3 for half and 2 by hand for why; a quarter of all is lost for being late."""
    toy = released
    book = notebooks.read(toy.assignments / "ps1" / "ps1.ipynb")
    notebooks.write(book, toy.autograded / "ada" / "ps1" / "ps1.ipynb")
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.add_student("ada")
        gradebook.update_or_create_submission("ps1", "ada")
        for one in gradebook.find_submission_notebook("ps1", "ps1", "ada").grades:
            one.auto_score = 3.0 if one.name == "half-test" else 0.0
            one.needs_manual_grade = False
            one.manual_score = 1.0 if one.name == "why" else None
        gradebook.db.commit()
    write_record(toy, Record("ps1", "ada", GRADED, "", fingerprint="old"))
    note(toy, "ps1")
    return toy


def examined(
    course, half: float, *, answer: str = "", of: float = 3, status: str = GRADED
) -> Examination:
    book = notebooks.read(course.assignments / "ps1" / "ps1.ipynb")
    points, messages = {}, {}
    for cell in book["cells"]:
        mark = notebooks.mark(cell)
        if mark.get("grade_id") == "half-test":
            mark["points"] = of
        if answer and mark.get("grade_id") in ("half", "why"):
            cell["source"] = answer
        if mark.get("grade") and not mark.get("solution"):
            points[mark["grade_id"]] = half if mark["grade_id"] == "half-test" else 0.0
            messages[mark["grade_id"]] = "" if mark["grade_id"] == "half-test" and half >= of else "no."
    return Examination("ps1", "ada", GRADED, "", json.dumps(book), points, messages)


@contextmanager
def submission(course):
    with Gradebook(course.gradebook_url) as gradebook:
        yield submissions_of(gradebook, "ps1")["ada"]


def compared(course, found: Examination, attempt: int = 1):
    with submission(course) as one:
        return compare(course, "ps1", one, found, attempt)


def test_points_by_hand_stay_as_long_as_the_answer_stays(course):
    assert compared(course, examined(course, 3.0)).gain == 0
    one = compared(course, examined(course, 1.0))
    assert (one.before.total, one.now.total, one.gain) == (4, 2, -2)
    one = compared(course, examined(course, 3.0, answer="new"), attempt=2)
    assert one.now.points("why") is None and one.why == {"why": "version 2 was handed in"}
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.find_grade("half-test", "ps1", "ps1", "ada").manual_score = 2.5
        gradebook.db.commit()
    assert compared(course, examined(course, 0.0)).now.points("half") == 2.5


def test_points_that_an_exercise_is_worth_now_are_the_reason(course):
    one = compared(course, examined(course, 4.0, of=4))
    assert one.gain == 1 and one.why["half"].startswith("worth 4 instead of 3")


def test_being_late_costs_the_same_share(course):
    with Gradebook(course.gradebook_url) as gradebook:
        (book,) = gradebook.find_submission("ps1", "ada").notebooks
        book.late_submission_penalty = 1.0
        gradebook.db.commit()
    one = compared(course, examined(course, 1.0))
    assert (one.before.total, one.now.penalty, one.now.total) == (3, 0.5, 1.5)


def test_a_mark_that_was_kept_stays_for_this_version_only(course):
    lower, higher = examined(course, 1.0), examined(course, 3.0)
    plain = Gains(course, "ps1", only_gains=False, again=False)
    careful = Gains(course, "ps1", only_gains=True, again=False)
    assert plain.kept(lower, 1, "new") is None and careful.kept(higher, 1, "new") is None
    record = careful.kept(lower, 1, "new")
    assert record.stands_for("new") and read_record(course, "ps1", "ada") == record
    assert record.sentence == (
        "--only-gains kept the mark; the checks would now give 2 points (2 half: 1 instead of 3)."
    )
    # It is kept from now on, also if the record was lost, and once in the history.
    assert plain.kept(lower, 1, "newer").stands_for("newer")
    (course.records / "ps1" / "ada.json").unlink()
    notebooks.write_text(
        course.folder / "attempts" / "ps1" / "ada.json", '{"attempt": 1, "submission": "00"}'
    )
    assert plain.kept(lower, 1, "newest").stands_for("newest")
    assert len(read_history(course, "ps1", "ada")) == 2
    # A gain is written and still protects; a new version and --again do not ask.
    assert plain.kept(higher, 1, "x") is None and plain.kept(lower, 2, "x") is None
    assert Gains(course, "ps1", only_gains=False, again=True).kept(lower, 1, "x") is None
    assert plain.kept(replace(lower, status=FAILED, notebook=None), 1, "x") is None
    assert plain.kept(replace(lower, status=UNREADABLE, notebook=None), 1, "x") is not None
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.find_grade("half-test", "ps1", "ps1", "ada").auto_score = 2.0
        gradebook.db.commit()
    note(course, "ps1", again=True)
    assert plain.kept(lower, 1, "x") is None, "--again took the decision back"


def test_a_preview_without_marks_and_one_that_should_write_say_so(released, monkeypatch):
    toy = released
    with pytest.raises(CourseError, match="nothing was graded yet"):
        preview(toy, "ps1")
    (toy.root / "book").mkdir()
    monkeypatch.chdir(toy.root)
    with pytest.raises(CourseError, match="--preview writes nothing, but --feedback"):
        preview_grades(["ps1"], [], How(), db_url="", feedback=True)
    with pytest.raises(CourseError, match="eve should have handed in ps1"):
        preview(toy, "ps1", ["eve"])
