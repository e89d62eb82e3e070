"""One notebook, saved by every editor and graded: the same points for all.

Nightly: that every form is the same notebook is what test_editors says in every run.
"""

from __future__ import annotations

import json

import pytest

from cellgrader.course.records import Record
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.scores import Scores, read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import mark
from cellgrader.release.generate import release
from cellgrader.release.sample import answered, right_answers
from tests.grading.confining import need_sandbox
from tests.grading.editors import EDITS, FORMS, saved
from tests.grading.toy import copy_real_course, make_toy_course

pytestmark = pytest.mark.nightly
# Those that differ most: one that drops everything, one in another format.
SOME = ("Colab", "jupytext, page")


def graded(course, plan: dict[str, tuple[str, str]]) -> tuple[Scores, dict[str, Record]]:
    """Grade ps1, solved and handed in by students: name -> (form, edit)."""
    release(course, ["ps1"])
    given = notebooks.read(course.assignments / "ps1" / "ps1.ipynb")
    solved = answered(given, right_answers(notebooks.read(course.solution("ps1"))))
    # One wrong answer, so that points could also become too many.
    wrong = next(cell for cell in solved["cells"] if mark(cell).get("grade_id") in ("half", "draw"))
    name = mark(wrong)["grade_id"]
    wrong["source"] = f"def {name}(*arguments):\n    return arguments[0]"
    for student, (form, edit) in plan.items():
        path = course.submitted / student / "ps1" / "ps1.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(saved(solved, form, edit))
    records = grade(course, "ps1", how=How(timeout=30))
    return read_scores(course, "ps1", records), {record.student: record for record in records}


def check(course, plan: dict[str, tuple[str, str]], lost: float) -> dict[str, Record]:
    """Everybody has the same status and points, exercise by exercise; the written answer waits."""
    plan = {"plain": ("JupyterLab", "")} | plan
    scores, records = graded(course, plan)
    plain = scores.row("plain")
    assert plain.total == scores.automatic - lost
    for student in plan:
        assert records[student].status == "graded", (plan[student], records[student].sentence)
        assert scores.row(student).points == plain.points, (plan[student], records[student].messages)
        assert scores.row(student).waiting == plain.waiting == ("why",), plan[student]
        assert records[student].messages == records["plain"].messages, plan[student]
    assert (records["plain"].remarks, records["plain"].to_review) == ((), ())
    return records


def students(forms, edits) -> dict[str, tuple[str, str]]:
    mixed = [(form, edit) for form in forms for edit in edits]
    return {f"student-{number:03}": pair for number, pair in enumerate(mixed)}


def test_some_forms_of_the_toy_earn_the_same(toy):
    need_sandbox()
    plan = students(SOME, [""]) | {
        "installs": ("VS Code", "packages installed"),
        "mounts": ("Colab", "on Colab's drive"),
    }
    records = check(toy, plan, lost=3)
    said = {student: " ".join(record.remarks) for student, record in records.items()}
    assert "Cells 2, 3 install packages: nothing is installed" in said["installs"]
    assert "Cells 1, 14 use" not in said["mounts"] and "Cell 1 uses google.colab" in said["mounts"]
    notebook = json.loads((toy.autograded / "mounts" / "ps1" / "ps1.ipynb").read_text())
    assert "was passed over: only Colab has it" in json.dumps(notebook["cells"][0]["outputs"])


@pytest.mark.slow
def test_every_form_with_every_edit_of_the_toy_earns_the_same(tmp_path):
    need_sandbox()
    check(make_toy_course(tmp_path), students(FORMS, ["", *EDITS]), lost=3)


@pytest.mark.slow
def test_every_form_of_a_real_assignment_earns_the_same(tmp_path):
    need_sandbox()
    real = copy_real_course(tmp_path / "course")
    check(real, students(FORMS, [""]) | students(["Colab, copied"], EDITS), lost=5)
