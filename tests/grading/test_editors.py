"""Whatever editor saved a notebook, its answers are found again, or a person is told.

`editors` has the forms and where each was taken from. Nothing is run here: what grading would run and
show is compared, cell by cell, with the notebook as JupyterLab saved it.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import mark, text
from cellgrader.notebook.matching import Matching
from cellgrader.notebook.mend import Mended, mend
from cellgrader.notebook.parse import read_submission
from cellgrader.notebook.slots import OPEN
from cellgrader.release import sample
from cellgrader.release.assistants import EMPTY
from seqcourse import progress
from tests.grading import editors
from tests.grading.editors import EDITS, FORMS, NOTHING, helper, own_code, saved
from tests.grading.toy import ROOT
from tests.sizes import nightly_but

COURSE = Course(ROOT)
NAMES = COURSE.names()
DECLARED = "Ada and I talked about exercise 2."
TRIED = "tried = [3]\nprint(tried)"


@cache
def released(name: str) -> dict:
    return notebooks.read(COURSE.assignments / name / f"{name}.ipynb")


@cache
def right(name: str) -> dict[str, str]:
    return sample.right_answers(notebooks.read(COURSE.solution(name)))


def solved(name: str) -> dict:
    """All exercises solved, every cell that is open to students changed, one cell of their own."""
    notebook = sample.answered(released(name), right(name))
    empty = Matching({"cells": []}, released(name)).slots
    for slot in empty:
        cell = notebook["cells"][slot.index]
        if slot.role == OPEN and text(cell) == EMPTY:
            cell["source"] = DECLARED
        elif slot.role == OPEN and slot.is_code:
            cell["source"] = f"{text(cell)}\nchosen = 3"
    place = next(k for k, cell in enumerate(notebook["cells"]) if mark(cell).get("grade"))
    notebook["cells"].insert(place, own_code(TRIED))
    return notebook


def mended(content: bytes, name: str, folder: Path) -> Mended:
    path = folder / f"{name}.ipynb"
    path.write_bytes(content)
    return mend(read_submission(path), released(name))


def cells(found: Mended, adds: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Kind and source of every cell, without white space at the ends of lines: some editors trim it."""
    plain = [
        (cell["cell_type"], "\n".join(line.rstrip() for line in cell["source"].split("\n")).strip())
        for cell in found.notebook["cells"]
    ]
    return [cell for cell in plain if cell[1] not in adds]


def under(found: Mended) -> dict[str, str]:
    """What stands under each of the course's marks, the answers of this student among it."""
    return {
        mark(cell)["grade_id"]: cell["source"].strip() for cell in found.notebook["cells"] if mark(cell)
    }


@pytest.mark.parametrize("name", nightly_but(["ps1", "ps7"], NAMES))
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_every_assignment_is_the_same_notebook(form, name, tmp_path):
    """Answers, polls, texts, what students were free to change, their own cells, and the order."""
    plain = mended(saved(solved(name), "JupyterLab"), name, tmp_path)
    found = mended(saved(solved(name), form), name, tmp_path)
    assert cells(found, FORMS[form].adds) == cells(plain)
    assert found.lost == ()
    assert (DECLARED in str(cells(found))) and EMPTY not in str(cells(found))
    if FORMS[form].keeps != NOTHING:
        assert (found.remarks, found.uncertain) == ((), ())


@pytest.mark.parametrize("name", nightly_but(["ps1"], NAMES))
@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_in_every_form_keeps_every_answer(edit, name, tmp_path):
    """The cells that are graded hold their answers; a helper or a check may have come along."""
    plain = under(mended(saved(solved(name), "JupyterLab"), name, tmp_path))
    for form in FORMS:
        found = mended(saved(solved(name), form, edit), name, tmp_path)
        run = "\n".join(cell["source"] for cell in found.notebook["cells"])
        assert found.lost == (), form
        for exercise, answer in right(name).items():
            # Assignment 9 asks for no names: all of a system's cells run, wherever its mark is.
            elsewhere = edit == "two answers in a cell" or name == "ps9" and "split" in edit
            where = run if elsewhere else under(found)[exercise]
            assert answer.strip() in where, (form, exercise)
            assert run.count(answer.strip()) == 1, f"{exercise} is run once"
        given = {key: source for key, source in plain.items() if key not in right(name)}
        assert {key: under(found)[key] for key in given} == given, form
        if "split" in edit:
            first = editors.code_answers(solved(name))[0]
            assert run.index(helper(first)) < run.index(text(first).strip()), form


@pytest.mark.parametrize("name", nightly_but(["ps1", "ps7"], NAMES))
def test_progress_reads_every_form(name, tmp_path):
    """`seqcourse progress` sees the same exercises, points and answers in whatever was saved."""
    path = tmp_path / f"{name}.ipynb"

    def seen(form: str, edit: str = "") -> tuple:
        path.write_bytes(saved(solved(name), form, edit))
        found = progress.read(path)
        # Without names, a text that belongs to an exercise with code is not seen: not begun.
        begun = [task.state or None for task in found.tasks]
        return found.points, [(task.number, task.title) for task in found.tasks], begun

    plain = seen("JupyterLab")
    assert plain[0][1] > 0 and any(plain[2]), "the written answer is there"
    for form in FORMS:
        if form == "format 3":
            with pytest.raises(CourseError, match="cannot be read as a notebook of the course"):
                seen(form)
        else:
            assert seen(form) == plain, form
    assert seen("Kaggle", "merged with checks") == plain


def test_a_check_merged_into_an_answer_runs_in_its_own_cell_only(tmp_path):
    """In the answer it would end in an error: the checks are not in the sandbox."""
    found = mended(saved(solved("ps1"), "Kaggle", "merged with checks"), "ps1", tmp_path)
    for exercise, answer in right("ps1").items():
        assert under(found)[exercise] == answer.strip()


# What is not certain


def without_marks(notebook: dict) -> dict:
    """The notebook as Databricks saves it: text and kind of each cell, and nothing else."""
    return json.loads(FORMS["Databricks"].save(copy.deepcopy(notebook)))


def at(notebook: dict, name: str) -> int:
    return [mark(cell).get("grade_id") for cell in notebook["cells"]].index(name)


def told(notebook: dict, name: str = "ps1") -> tuple[Mended, str]:
    """The mended notebook without any marks, and what a person is told."""
    found = mend(without_marks(notebook), released(name))
    return found, " ".join(found.uncertain)


def test_one_answer_defined_twice_goes_to_a_person():
    notebook = solved("ps1")
    notebook["cells"].insert(at(notebook, "draw"), own_code("def draw(logits):\n    return 1"))
    found, said = told(notebook)
    assert under(found)["draw"] == right("ps1")["draw"].strip()
    assert "draw is defined in 2 cells without marks, at last in cell" in said
    assert "the last one counts" in " ".join(found.remarks)


def test_a_renamed_function_is_found_by_its_likeness_and_said():
    notebook = solved("ps1")
    place = at(notebook, "draw")
    notebook["cells"][place]["source"] = right("ps1")["draw"].replace("def draw(", "def my_draw(")
    found, said = told(notebook)
    assert "def my_draw(" in under(found)["draw"] and found.lost == ()
    assert f"Cell {place + 1} resembles the given cell of draw, but does not define draw" in said


def test_two_cells_that_could_both_be_it_are_not_chosen_between():
    notebook = solved("ps1")
    place = at(notebook, "draw")
    for first in ("one", "two"):
        source = right("ps1")["draw"].replace("def draw(", f"def {first}(")
        notebook["cells"].insert(place, own_code(source))
    del notebook["cells"][at(notebook, "draw")]
    found, said = told(notebook)
    assert under(found)["draw"] == under(mend({"cells": []}, released("ps1")))["draw"]
    assert (
        f"Cells {place + 1}, {place + 2} resemble the given cell of draw alike: none was taken" in said
    )
    assert found.lost == ("draw",)


def test_a_stranger_in_an_answers_place_is_not_the_answer():
    notebook = solved("ps1")
    notebook["cells"][at(notebook, "poll_2")]["source"] = "letter = 'b'"
    found, said = told(notebook)
    assert "letter" not in under(found)["poll_2"] and "letter = 'b'" in str(cells(found))
    assert "The cell of poll_2 is missing, and in its place is something that does not" in said
    assert found.lost == ("poll_2",)


def test_a_mark_on_another_exercises_answer_is_not_believed():
    """As after a cell was copied with its metadata and rewritten."""
    notebook = solved("ps1")
    first, second = at(notebook, "rnn_step"), at(notebook, "lstm_step")
    notebook["cells"][second]["metadata"] = copy.deepcopy(notebook["cells"][first]["metadata"])
    del notebook["cells"][first], notebook["cells"][second - 1]["id"]
    found = mend(notebook, released("ps1"))
    assert under(found)["lstm_step"] == right("ps1")["lstm_step"].strip()
    assert found.lost == ("rnn_step",)
    assert "has the mark of rnn_step, but defines lstm_step" in " ".join(found.uncertain)


def test_texts_that_may_belong_to_a_written_answer_are_named():
    notebook = solved("ps1")
    place = at(notebook, "why")
    note = {"cell_type": "markdown", "id": "more", "metadata": {}, "source": "And one thing more."}
    notebook["cells"].insert(place + 1, note)
    kept = mend(notebook, released("ps1"))
    assert "And one thing more." not in under(kept)["why"]
    assert f"right below the answer to why (cell {place + 2}): it may belong" in " ".join(kept.uncertain)
    found, said = told(notebook)
    assert under(found)["why"].endswith("And one thing more.")
    assert f"2 texts stand where the answer to why should be, cells {place + 1}, {place + 2}" in said


def test_two_written_answers_with_nothing_between_them_are_named():
    notebook = solved("ps7")
    first, second = at(notebook, "design"), at(notebook, "which")
    between = notebook["cells"][first + 1 : second]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in between]
    found, said = told(notebook, "ps7")
    assert under(found)["design"] == right("ps7")["design"].strip()
    assert under(found)["which"] == right("ps7")["which"].strip()
    assert "The cells of design and which are missing" in said and "in their order" in said


def test_a_notebook_of_something_else_is_no_answer():
    """Assignment 9 asks for no names: without known cells around, nothing is taken for the system."""
    found = mend({"cells": [own_code("print('hello')")]}, released("ps9"))
    assert "system" in found.lost and "hello" not in under(found)["system"]


# Any mix


@st.composite
def mixes(draw):
    """An assignment with two written answers, a form, an edit, and damage to some cells."""
    size = st.integers(0, 10_000)
    kinds = ["bare", "move", "copy", "delete", "join", "cut", "exchange"]
    damage = st.lists(st.tuples(st.sampled_from(kinds), size, size), max_size=10)
    edit = st.sampled_from(["", *EDITS])
    return (
        draw(st.sampled_from(["ps3", "ps7"])),
        draw(st.sampled_from(list(FORMS))),
        draw(edit),
        draw(damage),
    )


def damaged(notebook: dict, damage: list[tuple[str, int, int]]) -> dict:
    found = notebook["cells"]
    for kind, first, second in damage:
        place, target = first % len(found), second % len(found)
        cell = found[place]
        if kind == "bare":
            cell["metadata"] = {}
            cell.pop("id", None)
        elif kind == "move":
            found.insert(target, found.pop(place))
        elif kind == "copy":
            found.insert(target, copy.deepcopy(cell))
        elif kind == "delete" and len(found) > 5:
            found.pop(place)
        elif kind == "join" and place + 1 < len(found):
            if found[place + 1]["cell_type"] == cell["cell_type"]:
                cell["source"] = f"{text(cell)}\n\n{text(found.pop(place + 1))}"
        elif kind == "cut":
            lines = text(cell).split("\n")
            half = copy.deepcopy(cell) | {"source": "\n".join(lines[len(lines) // 2 :])}
            cell["source"] = "\n".join(lines[: len(lines) // 2])
            found.insert(place + 1, half if second % 2 else half | {"metadata": {}, "id": None})
        elif kind == "exchange":
            cell["metadata"], found[target]["metadata"] = found[target]["metadata"], cell["metadata"]
    return notebook


def typical(name: str) -> dict[str, set[str]]:
    """Lines by which an answer is told from all others and from what was given."""
    given = {line.strip() for cell in released(name)["cells"] for line in text(cell).split("\n")}
    lines = {
        exercise: {line.strip() for line in answer.split("\n") if len(line.strip()) > 8} - given
        for exercise, answer in right(name).items()
    }
    return {
        exercise: some - set().union(*(more for other, more in lines.items() if other != exercise))
        for exercise, some in lines.items()
    }


@pytest.mark.parametrize("many", [50, pytest.param(500, marks=pytest.mark.nightly)])
def test_no_answer_goes_to_another_exercise_in_silence(tmp_path_factory, many):
    @settings(max_examples=many, deadline=None, phases=[Phase.generate])
    @given(mixes())
    def try_all(mix):
        assert untold(mix, tmp_path_factory.mktemp("mix")) == []

    try_all()


def untold(mix, folder) -> list[tuple[str, str, set[str]]]:
    """Where another exercise's answer stands under a mark and nobody is told of either."""
    name, form, edit, damage = mix
    notebook = damaged(solved(name), damage)
    found = mended(saved(notebook, form, edit), name, folder)
    said = " ".join([*found.remarks, *found.uncertain])
    lines, silent = typical(name), []
    for exercise in lines:
        here = {line.strip() for line in under(found)[exercise].split("\n")}
        for other in lines.keys() - {exercise}:
            if here & lines[other] and not here & lines[exercise]:
                if exercise not in said and other not in said:
                    silent.append((exercise, other, here))
    return silent
