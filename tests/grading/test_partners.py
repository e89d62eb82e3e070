"""Partners: one submission, a grade and a page for each; what contradicts itself is not graded."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from cellgrader.course.folders import Course
from cellgrader.course.records import GRADED, UNCLEAR, Record, read_record
from cellgrader.course.small_files import MARK, MARKED, SECRET, TIMESTAMP
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.plain_nbgrader import no_attempt_left
from cellgrader.grade.preview import preview
from cellgrader.grade.submissions import grade
from cellgrader.grade.who import to_grade
from cellgrader.marks.export import NOTHING, REMOVED, as_table, final_grades, read_course
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.pages.report import as_page, make_report
from cellgrader.people.enrolment import drop, extend
from cellgrader.platforms import moodle
from cellgrader.platforms.template import Grade
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.run.examine import Examiner
from cellgrader.similar.compare import compare, fingerprints
from cellgrader.submission.collected import Submission
from cellgrader.submission.partners import FILE, LONGEST, find_submissions, read_names
from cellgrader.submission.shared_work import whose_work
from cellgrader.viva.sheet import Sheet, keep
from seqcourse.cli.app import app

from .here import examine_here
from .test_feedback import words

DUE = datetime(2026, 1, 10, 12)
PEOPLE = ("ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal", "ida")


def settings(course: Course, text: str) -> None:
    (course.root / "course.toml").write_text(text, encoding="utf-8")


def names(course: Course, student: str, text: str, file: str = FILE) -> None:
    notebooks.write_text(course.submitted / student / "ps1" / file, text)


@pytest.fixture
def course(toy) -> Course:
    """A class with a list; files may name two."""
    with Gradebook(toy.gradebook_url) as gradebook:
        for who in PEOPLE:
            gradebook.update_or_create_student(who, first_name=who.title(), email=f"{who}@example.org")
    for who in ("ada", "ben", "cleo"):
        (toy.submitted / who / "ps1").mkdir(parents=True)
    settings(toy, "group_size = 2\n")
    return toy


# ---- who works with whom


def test_without_settings_nobody_has_partners(course):
    settings(course, "")
    names(course, "ada", "ben")
    assert find_submissions(course, "ps1").known == {}
    assert to_grade(course, "ps1") == ["ada", "ben", "cleo"]


@pytest.mark.parametrize(
    "text",
    [
        "dan", "Dan\n", "\ufeffDAN\r\n", "- dan\n- ada\n", "ada, dan", "ada; dan;", "ada dan", '"dan"',
        "DAN@Example.org", "\n\n  dan  \n\n", "ada,\ndan,\n",
    ],
)  # fmt: skip
def test_a_file_may_name_a_partner_in_many_ways(course, text):
    names(course, "ada", text)
    names(course, "dan", "ada")
    assert find_submissions(course, "ps1").of("dan") == Submission(("ada", "dan"))
    assert to_grade(course, "ps1") == ["ada", "ben", "cleo", "dan"]
    assert to_grade(course, "ps1", ["dan"]) == ["ada", "dan"]


def test_other_encodings_spaces_in_names_and_numbered_files(course):
    assert read_names("dan\n".encode("utf-16"), {"dan": "dan"}.get) == (["dan"], [])
    known = {"Ada Byron": "Ada Byron", "dan": "dan"}
    said = b"Ada Byron\nAda Byron, dan; Ada\n\xff\xffx"
    assert read_names(said, lambda text: known.get(text, "")) == (
        ["Ada Byron", "dan"], ["Ada", "\ufffd\ufffdx"],
    )  # fmt: skip
    names(course, "ada", "dan", file="Partners-1.txt")
    names(course, "dan", "ada")
    assert find_submissions(course, "ps1").of("ada").members == ("ada", "dan")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zoe", "ada names zoe, which is no student of this class"),
        ("dan\x1b[2J", "which is no student"),
        ("dan\neve", "names a group of 3, but at most 2 may hand in together"),
        ("dan " * LONGEST, "should be an ordinary file of at most 1,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_meant_holds_up_its_student_only(course, text, said):
    names(course, "ada", text)
    found = find_submissions(course, "ps1")
    assert said in found.of("ada").unclear and "\x1b" not in found.of("ada").unclear
    assert found.of("ada").members == ("ada",) and found.of("dan") == Submission(("dan",))
    assert found.of("ben") == Submission(("ben",))


def test_links_pipes_and_two_files_name_nobody(course, tmp_path):
    notebooks.write_text(tmp_path / "elsewhere", "dan")
    (course.submitted / "ada" / "ps1" / FILE).symlink_to(tmp_path / "elsewhere")
    os.mkfifo(course.submitted / "ben" / "ps1" / FILE)
    for number in (1, 2):
        names(course, "cleo", "eve", file=f"partners-{number}.txt")
    found = find_submissions(course, "ps1")
    assert all("should be an ordinary file" in found.of(who).unclear for who in ("ada", "ben"))
    assert "should be one file, but there are partners-1.txt, partners-2.txt" in found.of("cleo").unclear


@pytest.mark.parametrize(
    ("said", "unclear"),
    [
        ({"ada": "ben"}, ("ada",)),
        ({"ada": "ben", "ben": "ada"}, ()),
        ({"ada": "ben", "ben": "cleo"}, ("ada", "ben")),
        ({"ada": "dan", "ben": "dan"}, ("ada", "ben")),
        ({"ada": "ben", "ben": "ad"}, ("ada", "ben")),
        ({"ada": "ben", "ben": "ben"}, ("ada",)),
        ({"ada": "ben", "ben": "ada", "cleo": "ada"}, ("cleo",)),
        ({"ada": "ada"}, ()),
    ],
)
def test_nobody_speaks_for_another(course, said, unclear):
    """A claim that its partner's own file does not repeat holds up whoever makes it, and nobody else."""
    for who, text in said.items():
        names(course, who, text)
    found = find_submissions(course, "ps1")
    assert tuple(who for who in PEOPLE if found.of(who).unclear) == unclear
    for who in unclear:
        assert found.of(who).members == (who,)
        assert re.search("every partner's own file|no student of this class", found.of(who).unclear)
    claimed = {member for who in set(said) - set(unclear) for member in found.of(who).members}
    assert claimed <= set(said)


def test_a_claim_takes_neither_points_nor_attempts_nor_a_turn(course, monkeypatch):
    examine_here(monkeypatch)
    release(course)
    right = sample.right_answers(notebooks.read(course.solution("ps1")))
    hand_in(course, "ada", right)
    grade(course, "ps1", ["ada"], How(workers=1))
    hand_in(course, "ben", {}, partners="ada")
    hand_in(course, "cleo", right, partners="dan")
    found = {record.student: record for record in grade(course, "ps1", how=How(workers=1))}
    assert found["ada"].before and found["ada"].attempt == 1 and {*found} == {"ada", "ben", "cleo"}
    assert lines(course)["ada"].total == 10
    assert found["ben"].status == found["cleo"].status == UNCLEAR
    assert "ada, who has no partners.txt that says so" in found["ben"].sentence
    # The other's own file settles it, without a notebook beside it.
    names(course, "dan", "cleo")
    found = {record.student: record for record in grade(course, "ps1", how=How(workers=1))}
    assert (lines(course)["cleo"].total, lines(course)["dan"].total) == (10, 10)
    assert found["ben"].status == UNCLEAR and found["ada"].before


def test_course_toml_comes_before_files(course):
    names(course, "ada", "ben")
    names(course, "cleo", "ada")
    settings(course, 'group_size = 3\n[ps1]\npartners = [["ada"], ["ben", "dan"]]\n')
    found = find_submissions(course, "ps1")
    assert [found.of(who).members for who in ("ada", "ben", "dan")] == [
        ("ada",), ("ben", "dan"), ("ben", "dan"),
    ]  # fmt: skip
    assert "names ada, whom course.toml, line 3 has in another group" in found.of("cleo").unclear
    assert not found.of("ada").unclear, "a claim holds up whoever makes it"


def test_an_assignment_has_groups_of_its_own(course):
    settings(course, 'partners = [["ada", "ben"]]\n[ps2]\npartners = []\n')
    assert find_submissions(course, "ps1").of("ben").members == ("ada", "ben")
    assert find_submissions(course, "ps2").known == {}


def test_a_name_that_the_class_does_not_know_is_asked_about(course):
    settings(course, 'partners = [["ada", "bne"]]\n')
    found = find_submissions(course, "ps1")
    assert found.of("ada") == Submission(("ada",)) and found.of("bne") == Submission(("bne",))
    (question,) = found.questions
    assert "Who is bne? course.toml, line 1: partners has this name" in question


@pytest.mark.parametrize(
    "text",
    ['partners = ["ada"]', 'partners = [["ada", "ada"]]', "partners = [[]]", "partners = [[3]]",
     'partners = [["ada", "ben"], ["ben"]]', "group_size = 0", '[ps1]\ngroup_size = "2"'],
)  # fmt: skip
def test_settings_that_cannot_be_meant(course, text):
    settings(course, text)
    with pytest.raises(CourseError, match=r"(partners|group_size) should be"):
        find_submissions(course, "ps1")


# ---- whose work counts


def hand_in(course: Course, student: str, right: dict | None = None, **more: str) -> dict:
    """Hand in the released notebook with these answers; files beside it by name, without .txt."""
    path = course.released("ps1")
    notebook = sample.answered(notebooks.read(path), right or {})
    folder = course.submitted / student / "ps1"
    notebooks.write_text(folder / "ps1.ipynb", json.dumps(notebook))
    for name, text in more.items():
        notebooks.write_text(folder / f"{name}.txt", text)
    return notebook


def test_the_same_work_may_have_other_outputs_and_the_first_one_counts(course):
    release(course)

    def whose() -> Submission:
        return whose_work(course, "ps1", Submission(("ada", "ben")), Examiner(course).release)

    right = sample.right_answers(notebooks.read(course.solution("ps1")))
    hand_in(course, "ada", right, timestamp="2026-01-12 12:00:00 UTC", partners="ben")
    book = hand_in(course, "ben", right, timestamp="2026-01-09 12:00:00 UTC")
    book["cells"][1] |= {"execution_count": 7, "outputs": []}
    notebooks.write_text(course.submitted / "ben" / "ps1" / "ps1.ipynb", json.dumps(book, indent=4))
    assert whose().source == "ben"
    (course.submitted / "ada" / "ps1" / TIMESTAMP).unlink()
    assert whose().source == "ada", "without a time nobody is late"
    names(course, "ada", f"{MARKED}.", file=MARK)
    assert whose().source == "ben"
    hand_in(course, "ben", right | {"double": "def double(x):\n    return 2 * x"})
    why = whose().unclear
    assert not whose().source and "ada and ben are partners, but handed in different work" in why
    assert 'under [ps1]: partners = [["ada"], ["ben"]]' in why
    (course.submitted / "ben" / "ps1" / "ps1.ipynb").write_text("{")
    assert whose().unclear, "nor is a broken one passed over"
    (course.submitted / "ben" / "ps1" / "ps1.ipynb").unlink()
    names(course, "ben", "ada")
    assert whose().source == "ada", "a file with names is no work"


# ---- graded once, for all


@pytest.fixture(scope="module")
def whole(empty_toy, tmp_path_factory) -> Course:
    """Ada and Ben by a file, Cleo with Dan and Eve by course.toml, Fay and Gus at odds, Hal alone."""
    toy = Course(tmp_path_factory.mktemp("pairs") / "course")
    shutil.copytree(empty_toy.root, toy.root)
    release(toy)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=DUE)
        for who in PEOPLE:
            gradebook.update_or_create_student(who, first_name=who.title(), last_name="of Class")
    settings(
        toy,
        'group_size = 2\npartners = [["dan", "cleo", "eve"]]\n'
        "[late]\nshare_per_day = 0.1\ndays = 1\nfloor = 0\n",
    )
    right = sample.right_answers(notebooks.read(toy.solution("ps1")))
    late = {"timestamp": f"{DUE + timedelta(days=2)} UTC", "submission_secret": "abc"}
    hand_in(toy, "ada", right, partners="ben", **late)
    names(toy, "ben", "ada")
    hand_in(toy, "dan", {"half": right["half"]})
    hand_in(toy, "fay", right, partners="gus")
    hand_in(toy, "gus", {}, partners="fay")
    hand_in(toy, "hal", right)
    extend(toy, "ps1", "ben", "1d")
    told: list[Record] = []
    records = grade(toy, "ps1", how=How(workers=1), tell=told.append)
    assert [record.student for record in records] == [*PEOPLE[:8]] and len(told) == 8
    return toy


@pytest.fixture
def here(monkeypatch) -> None:
    """What is graded again is examined in this process: how ``whole`` was graded is shown once."""
    examine_here(monkeypatch)


@pytest.fixture
def graded(whole, tmp_path) -> Course:
    shutil.copytree(whole.root, tmp_path / "course")
    return Course(tmp_path / "course")


def records(course: Course) -> list[Record]:
    found = (read_record(course, "ps1", who) for who in PEOPLE)
    return [record for record in found if record is not None]


def lines(course: Course) -> dict:
    return {line.student: line for line in read_course(course, "ps1")}


def by_hand(course: Course, student: str, points: float | None, comment: str | None = None) -> None:
    """What the formgrader does when somebody leaves a field."""
    course.config()  # as the formgrader, which reads the settings when it starts
    with Gradebook(course.gradebook_url) as gradebook:
        grade = gradebook.find_grade("why", "ps1", "ps1", student)
        grade.manual_score, grade.needs_manual_grade = points, points is None
        if comment is not None:
            gradebook.find_comment("why", "ps1", "ps1", student).manual_comment = comment
        gradebook.db.commit()


def given(course: Course) -> dict[str, tuple]:
    found = {}
    with Gradebook(course.gradebook_url) as gradebook:
        for who in ("cleo", "dan", "eve", "hal"):
            grade = gradebook.find_grade("why", "ps1", "ps1", who)
            comment = gradebook.find_comment("why", "ps1", "ps1", who).manual_comment
            found[who] = (grade.manual_score, grade.needs_manual_grade, comment)
    return found


def test_each_partner_has_a_record_a_line_and_a_page(graded):
    scores = read_scores(graded, "ps1", records(graded))
    assert {row.student: row.points and sum(row.points.values()) for row in scores.rows} == {
        "ada": 10, "ben": 10, "cleo": 3, "dan": 3, "eve": 3, "fay": None, "gus": None, "hal": 10,
    }  # fmt: skip
    assert read_record(graded, "ps1", "eve").partners == ("cleo", "dan")
    table = {
        row["student"]: row
        for row in csv.DictReader(io.StringIO(as_table(read_course(graded, "ps1"), "ps1")))
    }
    assert (table["ben"]["half-test"], table["ben"]["sentence"]) == ("3", "Handed in with ada.")
    assert table["ida"]["status"] == "nothing handed in"
    page = words(make_feedback(graded, "ps1", "cleo").read_text(encoding="utf-8"))
    assert "Cleo of Class, handed in with Dan of Class and Eve of Class 3 of 12 points" in page
    assert "def half" in page
    page = words(make_feedback(graded, "ps1", "hal").read_text(encoding="utf-8"))
    assert "handed in with" not in page


def test_each_partner_has_an_own_extension_and_late_days(graded):
    """Two days late; a tenth for each that no late day pays, and Ben has a day more."""
    ada, ben = lines(graded)["ada"], lines(graded)["ben"]
    assert (ada.penalty, ada.days.here("ps1"), ben.penalty, ben.days.here("ps1")) == (1, 1, 0, 1)
    assert ben.handed_in == ada.handed_in == "2026-01-12 12:00:00"
    page = words(make_feedback(graded, "ps1", "ben").read_text(encoding="utf-8"))
    assert "Handed in 1 day after the due date; it costs nothing." in page


@pytest.mark.nightly
def test_a_platform_s_mark_holds_for_all(graded):
    names(graded, "dan", f"{MARKED}.\n", file=MARK)
    grade(graded, "ps1", how=How(workers=1))
    assert {who: lines(graded)[who].days.here("ps1") for who in ("cleo", "dan", "eve", "hal")} == {
        "cleo": 1, "dan": 1, "eve": 1, "hal": 0,
    }  # fmt: skip


def test_platforms_get_a_grade_for_each(graded):
    for who in ("ada", "cleo", "hal"):
        with Gradebook(graded.gradebook_url) as gradebook:
            for partner in read_record(graded, "ps1", who).partners:
                gradebook.find_grade("why", "ps1", "ps1", partner).needs_manual_grade = False
            gradebook.find_grade("why", "ps1", "ps1", who).needs_manual_grade = False
            gradebook.db.commit()
    found = final_grades(read_course(graded, "ps1"))
    assert Grade("ben", 10, 12) in found and Grade("eve", 3, 12) in found and len(found) == 6
    head = "Identifier,Full name,Username,Grade,Maximum grade,Last modified (grade)\n"
    rows = "".join(f"Participant {n},{who},{who},,12,-\n" for n, who in enumerate(PEOPLE))
    notebooks.write_text(graded.root / "sheet.csv", head + rows)
    filled = moodle.fill(graded.root / "sheet.csv", "ps1", found)
    assert filled.written == ("ada", "ben", "cleo", "dan", "eve", "hal")


def test_who_is_at_odds_is_not_graded_and_is_told_why(graded, here):
    for who in ("fay", "gus"):
        record = read_record(graded, "ps1", who)
        assert record.status == UNCLEAR and "fay and gus are partners, but" in record.sentence
        assert not lines(graded)[who].has_grade and lines(graded)[who].status == UNCLEAR
        assert not (graded.autograded / who).exists()
    scores = read_scores(graded, "ps1", records(graded))
    page = as_page(make_report(scores, records(graded)))
    assert "<h2>Without a grade</h2>" in page and "fay and gus are partners" in page
    # One line of the instructor's settles it.
    settings(graded, 'group_size = 2\npartners = [["dan", "cleo", "eve"], ["fay"], ["gus"]]\n')
    told: list[Record] = []
    grade(graded, "ps1", how=How(workers=1), tell=told.append)
    assert {who: lines(graded)[who].total for who in ("fay", "gus")} == {"fay": 10, "gus": 0}
    assert sorted(record.student for record in told if not record.before) == ["fay", "gus"]


def test_a_group_is_graded_again_together_and_only_if_something_changed(graded, here):
    told: list[Record] = []
    grade(graded, "ps1", how=How(workers=1), tell=told.append)
    assert all(record.before for record in told if record.status == GRADED) and len(told) == 8
    hand_in(graded, "ada", {})
    told.clear()
    grade(graded, "ps1", ["ben"], How(workers=1), tell=told.append)
    assert [(record.student, record.before, record.attempt) for record in told] == [
        ("ada", False, 2), ("ben", False, 2),
    ]  # fmt: skip
    assert lines(graded)["ben"].total == 0


@pytest.mark.nightly
def test_an_interrupted_group_is_graded_as_a_whole(graded):
    (graded.records / "ps1" / "eve.json").unlink()
    told: list[Record] = []
    grade(graded, "ps1", ["cleo"], How(workers=1), tell=told.append)
    assert [record.student for record in told if not record.before] == ["cleo", "dan", "eve"]
    assert {record.attempt for record in told} == {1}


def test_attempts_count_for_the_group(graded):
    (graded.root / "course.local.toml").write_text("attempts = 1\n")
    hand_in(graded, "dan", {})
    found = {record.student: record for record in grade(graded, "ps1", ["eve"], How(workers=1))}
    assert all("Version 2 was not graded" in record.sentence for record in found.values())
    assert lines(graded)["cleo"].points == 3
    # A new partner brings no new attempt.
    settings(graded, 'partners = [["dan", "ida"]]\n')
    found = {record.student: record for record in grade(graded, "ps1", ["dan"], How(workers=1))}
    assert (found["dan"].status, found["ida"].status) == (GRADED, UNCLEAR)
    assert lines(graded)["ida"].status == UNCLEAR and not lines(graded)["ida"].has_grade
    settings(graded, "")
    assert lines(graded)["ida"].status == NOTHING


def test_who_leaves_a_group_has_no_grade_of_it(graded):
    settings(graded, 'group_size = 2\npartners = [["dan", "cleo"]]\n')
    assert lines(graded)["eve"].status == REMOVED and lines(graded)["cleo"].has_grade
    shutil.rmtree(graded.submitted / "dan")
    assert lines(graded)["cleo"].status == REMOVED


def test_plain_nbgrader_leaves_groups_alone(graded):
    assert "seqcourse grade ps1" in no_attempt_left(graded, "ps1", "ada")
    assert no_attempt_left(graded, "ps1", "hal") == ""


@pytest.mark.nightly
def test_secrets_stay_with_whom_they_belong_to(graded):
    """Feedback goes through the exchange by time and secret; Ben gets none of Ada's."""
    ada, ben = (graded.autograded / who / "ps1" for who in ("ada", "ben"))
    assert (ada / SECRET).is_file() and not (ben / SECRET).exists()
    hand_in(graded, "ben", sample.right_answers(notebooks.read(graded.solution("ps1"))),
            timestamp="2026-01-13 12:00:00 UTC", submission_secret="xyz")  # fmt: skip
    grade(graded, "ps1", ["ben"], How(workers=1, again=True))
    assert (ben / SECRET).read_text() == "xyz" and "01-13" in (ben / TIMESTAMP).read_text()
    assert lines(graded)["ben"].handed_in == "2026-01-12 12:00:00", "the first hand-in counts"


@pytest.mark.nightly
def test_a_preview_compares_each_partner_s_mark(graded):
    found = preview(graded, "ps1", how=How(workers=1, again=True))
    assert (found.same, found.differences, found.failed) == (6, (), ())
    assert set(found.without) == {"fay", "gus"}


# ---- points by hand


def test_points_and_a_comment_for_one_partner_are_for_all(graded):
    by_hand(graded, "dan", 2.0, "Good.")
    found = given(graded)
    assert found["cleo"] == found["dan"] == found["eve"] == (2.0, False, "Good.")
    assert found["hal"] == (None, True, None)
    assert not lines(graded)["eve"].waits and lines(graded)["hal"].waits


def test_what_was_changed_for_one_partner_stays(graded):
    """Eve's points are hers; Cleo is the first by name, and Dan has what she has."""
    by_hand(graded, "dan", 2.0, "Good.")
    by_hand(graded, "eve", 0.5, "Less of it is yours.")
    by_hand(graded, "cleo", 1.5, "Fine.")
    found = given(graded)
    assert found["cleo"] == found["dan"] == (1.5, False, "Fine.")
    assert found["eve"] == (0.5, False, "Less of it is yours.")
    by_hand(graded, "cleo", None)
    assert [given(graded)[who][:2] for who in ("cleo", "dan", "eve")] == [
        (None, True), (None, True), (0.5, False),
    ]  # fmt: skip


def test_two_partners_in_one_go_are_each_meant_as_they_are(graded):
    graded.config()
    with Gradebook(graded.gradebook_url) as gradebook:
        for who, points in (("dan", 2.0), ("eve", 0.5)):
            grade = gradebook.find_grade("why", "ps1", "ps1", who)
            grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
    assert [given(graded)[who][0] for who in ("dan", "eve")] == [2.0, 0.5]


@pytest.mark.nightly
def test_points_by_hand_stay_and_a_new_partner_gets_them(graded):
    by_hand(graded, "dan", 2.0, "Good.")
    settings(graded, 'partners = [["dan", "cleo", "eve", "ida"]]\n')
    grade(graded, "ps1", ["ida"], How(workers=1))
    found = lines(graded)
    assert {who: found[who].points for who in ("cleo", "dan", "eve", "ida")} == {
        "cleo": 5, "dan": 5, "eve": 5, "ida": 5,
    }  # fmt: skip
    # An answer that changed is looked at once, for all.
    folder = graded.submitted / "dan" / "ps1" / "ps1.ipynb"
    notebook = json.loads(folder.read_text())
    for cell in notebook["cells"]:
        if cell["id"] == "why":
            cell["source"] = "Because of something else."
    notebooks.write_text(folder, json.dumps(notebook))
    grade(graded, "ps1", ["ida"], How(workers=1))
    assert all(lines(graded)[who].changed == ("why",) for who in ("cleo", "dan", "eve", "ida"))
    by_hand(graded, "dan", 2.0)
    assert not any(lines(graded)[who].waits for who in ("cleo", "dan", "eve", "ida"))


# ---- who leaves


@pytest.mark.parametrize("erase", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_who_is_dropped_leaves_the_work_to_the_partners(graded, here, erase):
    make_feedback(graded, "ps1", "ben")
    keep(graded, Sheet("ps1", "ben", (), {}, source="ada"))
    told = drop(graded, "ada", erase=erase)
    assert "The work on ps1 stays with ben, in grading/submitted/ben/ps1." in told
    found = lines(graded)
    assert "ada" not in found and found["ben"].total == 10 and found["ben"].days.left == 0
    assert read_record(graded, "ps1", "ben").partners == ()
    files = sorted(path.name for path in (graded.submitted / "ben" / "ps1").iterdir())
    assert files == ["ps1.ipynb", TIMESTAMP]
    if erase:
        for path in graded.folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert path.name != "ada" and not re.search(rb"\bada\b|\bAda\b", content), path
    (record,) = grade(graded, "ps1", ["ben"], How(workers=1))
    assert (record.student, record.status, lines(graded)["ben"].total) == ("ben", GRADED, 10)
    told = drop(graded, "dan", erase=erase)
    assert "The work on ps1 stays with cleo, in grading/submitted/cleo/ps1." in told
    assert "course.toml, line 2 still has dan among the partners: take the name out." in told
    found = find_submissions(graded, "ps1")
    assert found.of("eve") == Submission(("cleo", "eve")) and "Who is dan?" in found.questions[0]
    assert {who: lines(graded)[who].points for who in ("cleo", "eve")} == {"cleo": 3, "eve": 3}


def test_a_dropped_partner_s_name_is_taken_out_of_files(graded):
    names(graded, "ada", "Ben, ")
    hand_in(graded, "ben", partners="ADA")
    drop(graded, "ada")
    assert not (graded.submitted / "ben" / "ps1" / FILE).exists()
    settings(graded, "group_size = 3\n")
    names(graded, "cleo", "dan, eve")
    drop(graded, "eve")
    assert (graded.submitted / "cleo" / "ps1" / FILE).read_text() == "dan\n"


# ---- similar work


def test_partners_are_no_pair_of_similar_work(graded):
    text = (
        "def double(x):\n"
        + "".join(f"    x{n} = x + {n} * x - {n}\n" for n in range(30))
        + "    return x"
    )
    works = {who: fingerprints({"double": text}, {}) for who in ("cleo", "dan", "hal")}
    pairs = compare(works, [], 0.5, find_submissions(graded, "ps1"))
    assert sorted(pair.students for pair in pairs) == [("cleo", "hal"), ("dan", "hal")]


@pytest.mark.nightly
def test_the_commands_say_it(graded, monkeypatch):
    """The table, the sentences beside it, pages for everybody, and nobody called absent."""
    monkeypatch.setattr("seqcourse.cli.grading.find_root", lambda: graded.root)
    monkeypatch.setattr("seqcourse.cli.export.find_root", lambda: graded.root)
    done = CliRunner().invoke(app, ["grade", "ps1", "--feedback", "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "fay: unclear" in done.output and "fay and gus are partners" in done.output
    assert "nothing of ps1 handed in: ida\n" in done.output
    for who in ("ada", "ben", "cleo", "dan", "eve", "hal"):
        assert (graded.feedback / who / "ps1" / "ps1.html").is_file()
    done = CliRunner().invoke(app, ["report", "ps1"])
    assert "8 handed in, 6 have a grade." in done.output
