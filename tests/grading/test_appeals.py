"""Appeals: a line in appeal.md, listed beside what the check saw, answered by points that stay."""

from __future__ import annotations

import shutil

import pytest
from nbgrader.api import Gradebook

from cellgrader import bounds
from cellgrader.appeals import requests
from cellgrader.appeals.answering import answer
from cellgrader.appeals.requests import cases, parse, read_appeals, told_of_appeals
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import GRADED, Record, write_record
from cellgrader.course.small_files import APPEAL
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.errors import CourseError
from cellgrader.marks import history
from cellgrader.marks.appeal_points import give_points, read_answers, restore
from cellgrader.marks.export import read_course
from cellgrader.marks.history import note, read_history
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise
from cellgrader.people.enrolment import drop
from cellgrader.release.generate import release
from cellgrader.submission.attempts import attempt
from seqcourse.cli.regrade import answer_one, list_appeals

EXERCISES = [Exercise("forward", True, number="4"), Exercise("pool", True, number="5a")]


@pytest.fixture
def course(marked, tmp_path, monkeypatch):
    shutil.copytree(marked.root, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return Course(tmp_path / "course")


@pytest.fixture(scope="module")
def marked(released_toy, tmp_path_factory) -> Course:
    """Ada got nothing for half, which the check found wrong."""
    toy = Course(tmp_path_factory.mktemp("appeals") / "course")
    shutil.copytree(released_toy.root, toy.root)
    (toy.root / "book").mkdir()
    folder = toy.submitted / "ada" / "ps1"
    shutil.copytree(toy.assignments / "ps1", folder)
    shutil.copytree(toy.assignments / "ps1", toy.autograded / "ada" / "ps1")
    give_mark(toy)
    write_record(toy, Record("ps1", "ada", GRADED, "", messages={"half-test": "half: no."}))
    note(toy, "ps1")
    (folder / APPEAL).write_text("2: my answer is right\nfor odd numbers, too\n", encoding="utf-8")
    return toy


def give_mark(course) -> None:
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission("ps1", "ada")
        for one in gradebook.find_submission_notebook("ps1", "ps1", "ada").grades:
            one.auto_score, one.needs_manual_grade = 0.0 if one.name == "half-test" else 1.0, False
        gradebook.db.commit()


def points(course, cell: str = "half-test"):
    (line,) = read_course(course, "ps1")
    return line.cells[cell]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4: empty rows", {"4": "empty rows"}),
        ("Exercise 4: empty rows\nEXERCISE 5A - mean", {"4": "empty rows", "5a": "mean"}),
        ("## Exercise 4\n\nIt takes\nempty rows.\n", {"4": "It takes empty rows."}),
        ("- **5a**: mean\n- 4: rows\n- 5a: and max", {"4": "rows", "5a": "mean and max"}),
        ("pool: mean\r\n2: of 3", {"5a": "mean"}),
        ("4: it says: 'no'\nforward: again", {"4": "it says: 'no' again"}),
        ("\ufeff4: \x1b[31mred\u202e", {"4": "?[31mred?"}),
        ("4:" + 2000 * "x", {"4": 997 * "x" + "..."}),
        ("Dear all,\nplease look", {}),
        ("", {}),
    ],
)
def test_lines_are_read_as_people_write_them(text, said):
    found, unclear = parse(requests._decoded(text.encode()), EXERCISES)
    assert {each.exercise.number: each.words for each in found} == said
    assert len(unclear) <= 5 and all(line.isprintable() for line in unclear)


def test_what_is_unclear_is_said(course):
    found, unclear = parse("9: x\nplease\n", EXERCISES)
    assert not found and unclear == ["There is no exercise 9; the exercises are 4, 5a."]
    assert parse("please look", EXERCISES)[1] == [
        "A line should begin with an exercise, such as 3, and a colon: please look"
    ]
    file = course.submitted / "ada" / "ps1" / APPEAL
    file.write_bytes("1: ja".encode("utf-16"))
    assert [each.words for each in read_appeals(course, "ps1", "ada")[0]] == ["ja"]
    file.write_bytes(b"1: \xff\n" * bounds.APPEAL)
    assert "at most 20,000 bytes" in read_appeals(course, "ps1", "ada")[1][0]
    file.unlink()
    file.symlink_to("/etc/passwd")
    assert not read_appeals(course, "ps1", "ada")[0]


def test_an_appeal_is_no_new_version_and_no_work(course):
    folder = course.submitted / "ada" / "ps1"
    with_it = folder_snapshot(folder)
    assert APPEAL not in with_it.files and not with_it.left_out
    first = attempt(course, "ps1", "ada", with_it.digest())
    (folder / APPEAL).rename(folder / "Appeal.md")
    assert read_appeals(course, "ps1", "ada")[0], "however its name is capitalised"
    assert attempt(course, "ps1", "ada", folder_snapshot(folder).digest()) == first
    (folder / "Appeal.md").unlink()
    assert attempt(course, "ps1", "ada", folder_snapshot(folder).digest()) == first


def test_an_answer_is_listed_counted_and_shown_to_the_student(course, capsys):
    list_appeals("ps1", "", every=False)
    out = capsys.readouterr().out
    for words in (
        "ps1: 1 appeal, 1 to answer",
        "ada, exercise 2 (half), 0 of 3 points: waits for an answer",
        "the student says: my answer is right for odd numbers, too",
        "the check says:   half: no.",
        "seqcourse appeals ps1 --student ada --exercise 2 --points 3",
    ):
        assert words in out
    assert told_of_appeals(course, "ps1", "ada")[0]["waits"]
    answer_one("ps1", "ada", "2", 2.5, "Right, but\nslow.")
    assert "2.5 of 3 points. The mark of ps1 is 6.5 now." in capsys.readouterr().out
    assert points(course) == 2.5
    last = read_history(course, "ps1", "ada")[-1]
    assert (last.reason, last.words, last.before) == (history.APPEAL, "Right, but slow.", 4)
    list_appeals("ps1", "ada", every=True)
    assert "answered" in (out := capsys.readouterr().out) and "0 to answer" in out
    (told,) = told_of_appeals(course, "ps1", "ada")
    assert told["answer"] == "2.5 of 3 points. Right, but slow." and not told["waits"]
    # Without points, the check's count again.
    answer(course, "ps1", "ada", "half", None, "The check is right.")
    assert points(course) == 0 and read_history(course, "ps1", "ada")[-1].reason == history.APPEAL


def test_points_stay_when_the_gradebook_is_new_and_ask_again_when_the_work_is(course):
    answer(course, "ps1", "ada", "2", 2.5, "Right.")
    (course.folder / "gradebook.db").unlink()
    open_gradebook(course)
    release(course)
    give_mark(course)
    restore(course, "ps1", ["ada", "eve"])
    assert points(course) == 2.5
    # A point given in the formgrader since then is not overwritten.
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.find_grade("half-test", "ps1", "ps1", "ada").manual_score = 1.0
        gradebook.db.commit()
    restore(course, "ps1", ["ada"])
    assert points(course) == 1
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.find_grade("half-test", "ps1", "ps1", "ada").manual_score = None
        gradebook.db.commit()
    path = course.autograded / "ada" / "ps1" / "ps1.ipynb"
    book = notebooks.read(path)
    for cell in book["cells"]:
        cell["source"] = "new" if notebooks.mark(cell).get("grade_id") == "half" else cell["source"]
    notebooks.write(book, path)
    restore(course, "ps1", ["ada"])
    assert points(course) is None
    assert cases(course, "ps1")[0][0].state == requests.CHANGED


def test_new_words_ask_again(course):
    answer(course, "ps1", "ada", "2", 2.5, "Right.")
    (course.submitted / "ada" / "ps1" / APPEAL).write_text("2: and more\n1: this, too")
    found, _ = cases(course, "ps1")
    assert {each.appeal.exercise.number: each.state for each in found} == {
        "1": requests.OPEN,
        "2": requests.MORE,
    }
    assert found[0].mark.points == 1 and found[1].answer.comment == "Right."


def test_points_of_an_exercise_with_several_checks_fill_them_in_turn(course):
    exercise = Exercise("two", True, ("double-test", "half-test"), automatic=6.0, number="1")
    with Gradebook(course.gradebook_url) as gradebook:
        (book,) = gradebook.find_submission("ps1", "ada").notebooks
        grades = {grade.name: grade for grade in book.grades}
        give_points(grades, exercise, 4.5)
        assert [grades[test].manual_score for test in exercise.tests] == [3, 1.5]


@pytest.mark.parametrize(
    ("student", "exercise", "given", "words"),
    [
        ("eve", "2", 1, "eve should have handed in ps1, but ada did"),
        ("ada", "9", 1, "--exercise should be one of 1, 2, 3, 4, 5, but is 9"),
        ("ada", "1", 1, "an appeal about exercise 1 in appeal.md, but it is about 2"),
        ("ada", "2", 4, "--points should be from 0 to 3, what exercise 2 is worth, but is 4"),
        ("ada", "2", float("nan"), "--points should be from 0 to 3"),
        ("ada", "", 1, "but --exercise is missing"),
    ],
)
def test_a_wrong_answer_gets_a_sentence(course, student, exercise, given, words):
    with pytest.raises(CourseError, match=words):
        answer_one("ps1", student, exercise, given, "Right.")
    assert not read_answers(course, "ps1", "ada") and points(course) == 0


def test_who_is_erased_has_no_appeals_left(course):
    answer(course, "ps1", "ada", "2", 2.5, "Right.")
    drop(course, "ada", erase=True)
    assert not [path for path in course.folder.rglob("*ada*")]
