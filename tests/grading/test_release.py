"""What a release refuses and warns of, and how exercises come and go after work was graded."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from nbgrader.api import Grade, Gradebook, SubmittedNotebook

from cellgrader.course.records import GRADED, Record
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.export import final_grades, read_course
from cellgrader.marks.history import read_history
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.platforms.canvas import fill
from cellgrader.release import sample
from cellgrader.release.generate import release

from .here import examine_here
from .toy import answer, code, hidden_test, solved


def change(course, *more: dict, without: str = "nothing") -> None:
    """Change the toy's notebook: leave out an exercise, add cells before the written answer."""
    path = course.solution("ps1")
    book = notebooks.read(path)
    kept = [cell for cell in book["cells"] if not cell["id"].startswith(without)]
    path.write_text(json.dumps(book | {"cells": [*kept[:-1], *more, kept[-1]]}))


def test_a_graded_cell_without_check_is_named_at_once(toy):
    release(toy)
    before = (toy.assignments / "ps1" / "ps1.ipynb").read_bytes()
    change(toy, answer("triple", solved("triple", "x", "3 * x")), hidden_test("triple", 2))
    with pytest.raises(CourseError, match="but triple-test has neither"):
        release(toy)
    assert (toy.assignments / "ps1" / "ps1.ipynb").read_bytes() == before


def test_other_points_than_the_text_says_are_warned_of(toy):
    text = {"cell_type": "markdown", "id": "text", "metadata": {}}
    text["source"] = "## Exercise 9 · Twice\n\n**3 + 2 points · about 5 minutes**"
    change(toy, text)
    (released,) = release(toy)
    (warning,) = released.warnings
    assert "'Exercise 9 · Twice' says 5 points, but its cells have 2" in warning
    change(toy, without="text")
    assert release(toy)[0].warnings == ()


def test_exercises_come_and_go_after_grading_and_points_by_hand_stay(toy):
    release(toy)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission("ps1", "ada")
        for grade in gradebook.find_submission_notebook("ps1", "ps1", "ada").grades:
            grade.auto_score, grade.needs_manual_grade = 1.0, False
        gradebook.find_grade("why", "ps1", "ps1", "ada").manual_score = 1.5
        gradebook.find_comment("why", "ps1", "ps1", "ada").manual_comment = "Good."
        gradebook.db.commit()
    checks = toy.solutions / "checks" / "ps1.py"
    more = 'CHECKS.append(check("triple", {"a number": {"x": 3}}, lambda x: 3 * x))\n'
    checks.write_text(checks.read_text() + more)
    triple = answer("triple", solved("triple", "x", "3 * x")), hidden_test("triple", 2)
    change(toy, *triple, without="poll")
    (released,) = release(toy)
    assert released.warnings == (
        f"No longer in ps1: poll-test. The points are kept in {toy.grading}/removed-ps1-1.json.",
        "triple-test is new: grade again, and everybody gets its points.",
    )
    (kept,) = json.loads((toy.folder / "removed-ps1-1.json").read_text(encoding="utf-8"))
    assert (kept["student"], kept["cell"], kept["automatic"]) == ("ada", "poll-test", 1.0)
    row = read_scores(toy, "ps1", [Record("ps1", "ada", GRADED, "")]).row("ada")
    assert row.points == {"double": 1, "half": 1, "quadruple": 1, "triple": 0, "why": 1.5}
    with Gradebook(toy.gradebook_url) as gradebook:
        assert gradebook.find_comment("why", "ps1", "ps1", "ada").manual_comment == "Good."
        assert gradebook.find_grade("triple-test", "ps1", "ps1", "ada").max_score == 2
        assert gradebook.find_comment("triple", "ps1", "ps1", "ada")
    assert release(toy)[0].warnings == ()


def test_a_second_notebook_in_solutions_is_no_part_of_the_assignment(toy, monkeypatch, tmp_path):
    """JupyterLab's "Duplicate": passed over by name, also where the gradebook took it in before."""
    examine_here(monkeypatch)
    copy = toy.solution("ps1").with_name("ps1-Copy1.ipynb")
    shutil.copy(toy.solution("ps1"), copy)
    (released,) = release(toy)
    (warning,) = released.warnings
    assert warning.startswith("Passed over: solutions/ps1/ps1-Copy1.ipynb.")
    assert not (toy.assignments / "ps1" / copy.name).exists()
    sample.make_submissions(toy, "ps1", ("perfect",))
    records = grade(toy, "ps1", how=How(workers=1))

    def every_total() -> set[float]:
        """The total of the table, the export, Canvas's file, the history, and the feedback page."""
        table = tmp_path / "canvas.csv"
        header = "Student,ID,SIS User ID,SIS Login ID,Section,ps1 (1)"
        table.write_text(f"{header}\nPoints Possible,,,,,12\nP,1,2,perfect,S,\n")
        (line,) = read_course(toy, "ps1")
        assert line.maximum == 12
        canvas = fill(table, "ps1", final_grades([line])).text.splitlines()[-1]
        page = make_feedback(toy, "ps1", "perfect").read_text(encoding="utf-8")
        return {
            read_scores(toy, "ps1", records).row("perfect").total,
            line.total,
            float(canvas.rsplit(",")[-1]),
            read_history(toy, "ps1", "perfect")[-1].state.total,
            float(re.search(r"<b>([\d.]+)</b> <span>of 12 points", page)[1]),
        }

    with Gradebook(toy.gradebook_url) as gradebook:
        grade_of_why = gradebook.find_grade("why", "ps1", "ps1", "perfect")
        grade_of_why.manual_score, grade_of_why.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    assert every_total() == {11.5}

    with Gradebook(toy.gradebook_url) as gradebook:  # as an earlier release left it
        book = gradebook.update_or_create_notebook("ps1-Copy1", "ps1")
        whose = gradebook.find_submission("ps1", "perfect")
        copied = SubmittedNotebook(notebook_id=book.id, assignment_id=whose.id)
        gradebook.db.add(copied)
        for name, points in (("double-test", 3), ("why", 2)):
            options = {"max_score": points, "cell_type": "code"}
            cell = gradebook.add_grade_cell(name, "ps1-Copy1", "ps1", **options)
            gradebook.db.add(Grade(cell_id=cell.id, notebook=copied, auto_score=0.0))
        gradebook.db.commit()
    assert every_total() == {11.5}

    copy.unlink()
    (released,) = release(toy)
    assert released.warnings == (
        "ps1-Copy1.ipynb is no part of ps1: it was taken out of the gradebook.",
    )
    assert every_total() == {11.5} and not release(toy)[0].warnings


def test_a_folder_is_an_assignment_by_its_notebook(toy):
    toy.solution("ps1").rename(toy.solution("ps1").with_name("Untitled.ipynb"))
    assert toy.names() == []
    with pytest.raises(CourseError, match=r"notebook in solutions/ps1/ps1\.ipynb, but there are none"):
        release(toy, ["ps1"])


def test_what_is_not_meant_for_students_stays(toy):
    """A list of what goes out: rubrics, exports, editors' copies and names of people are not on it."""
    path = toy.solution("ps1")
    book = notebooks.read(path)
    picture = {"image/png": "iVBORw0KGgo="}
    title, *cells, why = book["cells"]
    title["source"] += "\n\n![the task](<attachment:the task.png>)\n\nRead `numbers.csv`, then answer."
    title["attachments"] = {"the task.png": picture, "answer.png": picture}
    why["source"] += "\n\n![](attachment:rubric.png)"
    why["attachments"] = {"rubric.png": picture}
    cells[0]["metadata"] |= {"executionInfo": {"user": {"displayName": "Prof"}}, "outputId": "7"}
    book["metadata"] |= {"widgets": {"state": "SECRET"}, "colab": {"authorship_tag": "Prof"}}
    book["metadata"]["kernelspec"]["path"] = "/srv/prof"
    imports = code("helper", "from helper import twice", "helper", {"locked": True, "grade": False})
    imports["metadata"]["nbgrader"] |= {"solution": False, "task": False}
    path.write_text(json.dumps(book | {"cells": [title, imports, *cells, why]}))
    stays = ["ps1.html", "ps1.md", "ps1.py", "ps1.ipynb.orig", ".ps1.ipynb.swp", "rubric.pdf"]
    stays += ["numbers.csv.bak", "old numbers.csv", "ps1_files/ps1_7_0.png", "old/ps1.ipynb.txt"]
    for name in ("numbers.csv", "helper.py", "AGENTS.md", *stays):
        (path.parent / name).parent.mkdir(exist_ok=True)
        (path.parent / name).write_text("What the instructor wrote.")
    (released,) = release(toy)
    files = {each.relative_to(released.folder).as_posix() for each in released.folder.rglob("*")}
    assert {"ps1.ipynb", "numbers.csv", "helper.py", "AGENTS.md"} <= files and not files & set(stays)
    assert all(name in released.warnings[0] for name in stays if name != ".ps1.ipynb.swp")
    text = (released.folder / "ps1.ipynb").read_text()
    assert not [word for word in ("Prof", "SECRET", "rubric", "answer.png", "/home") if word in text]
    (given,) = (cell for cell in json.loads(text)["cells"] if cell.get("attachments"))
    assert given["id"] == "title" and list(given["attachments"]) == ["the task.png"]
