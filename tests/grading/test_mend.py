"""Whatever happened to a notebook's structure, the answers come out in the released one's frame."""

from __future__ import annotations

import base64
import copy
import io
import json
import random
import re

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import determine_grade
from PIL import Image

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.cells import defined
from cellgrader.notebook.document import mark
from cellgrader.notebook.mend import Mended, mend
from cellgrader.notebook.parse import read_submission
from cellgrader.notebook.pictures import taken_out
from cellgrader.pages.safe import NOT_SHOWN, NOTE, MakeSafe, render
from cellgrader.release import sample
from seqcourse import __version__

from .toy import ROOT

COURSE = Course(ROOT)
NAMES = ["ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7", "ps8"]
RELEASE = {name: notebooks.read(COURSE.assignments / name / f"{name}.ipynb") for name in NAMES}
RIGHT = {name: sample.right_answers(notebooks.read(COURSE.solution(name))) for name in NAMES}


def full(name: str = "ps1") -> dict:
    """Every exercise solved."""
    return sample.answered(RELEASE[name], RIGHT[name])


def named(notebook: dict) -> dict[str, str]:
    """The sources of the cells that nbgrader knows."""
    return {mark(c)["grade_id"]: notebooks.text(c) for c in notebook["cells"] if mark(c)}


def at(notebook: dict, name: str) -> int:
    """Where a cell stands."""
    return [mark(cell).get("grade_id") for cell in notebook["cells"]].index(name)


def cell(notebook: dict, name: str) -> dict:
    return notebook["cells"][at(notebook, name)]


def own(notebook: dict, name: str = "ps1") -> list[dict]:
    """The student's own cells."""
    known = {each["id"] for each in RELEASE[name]["cells"]}
    return [each for each in notebook["cells"] if each["id"] not in known]


def code(source: object, **more: object) -> dict:
    return {"cell_type": "code", "id": "mine", "metadata": {}, "outputs": [], "source": source, **more}


def note(source: str, **more: object) -> dict:
    return {"cell_type": "markdown", "id": "note", "metadata": {}, "source": source, **more}


def check(submitted: dict, name: str = "ps1") -> tuple[dict, str, tuple[str, ...]]:
    """Mend, check what must hold of every result, and return notebook, remarks and lost answers."""
    before = copy.deepcopy(submitted)
    mended = mend(submitted, RELEASE[name])
    assert submitted == before, "what was handed in is left as it is"
    node = nbformat.from_dict(copy.deepcopy(mended.notebook))
    nbformat.validate(node)
    MetadataValidator().validate_nb(node)
    ids = [each["id"] for each in mended.notebook["cells"]]
    assert len(ids) == len(set(ids))
    given = [
        each
        for each in mended.notebook["cells"]
        if each["id"] not in {other["id"] for other in own(mended.notebook, name)}
    ]
    for one, other in zip(given, RELEASE[name]["cells"], strict=True):
        assert one["metadata"] == other["metadata"] and one["cell_type"] == other["cell_type"]
        if mark(other).get("locked"):
            assert notebooks.text(one) == notebooks.text(other)
    assert mended.notebook["metadata"] == RELEASE[name]["metadata"]
    assert mend(mended.notebook, RELEASE[name]).notebook == mended.notebook, "mending again"
    return mended.notebook, " ".join(mended.remarks), mended.lost


@pytest.mark.parametrize("name", NAMES)
def test_honest_work_stays_as_it_is(name):
    for submitted in (full(name), copy.deepcopy(RELEASE[name])):
        mended, remarks, lost = check(submitted, name)
        assert (remarks, lost) == ("", ())
        assert [notebooks.text(each) for each in mended["cells"]] == [
            notebooks.text(each) for each in submitted["cells"]
        ]


@pytest.mark.parametrize("name", NAMES)
def test_only_the_answers_are_left(name):
    cells = [
        {"cell_type": each["cell_type"], "source": each["source"]}
        for each in full(name)["cells"]
        if mark(each).get("solution")
    ]
    mended, _, lost = check({"cells": cells}, name)
    assert named(mended) == named(full(name)) and not lost


def test_nothing_is_left():
    mended, remarks, lost = check({"cells": []})
    assert named(mended) == named(RELEASE["ps1"])
    assert lost == tuple(RIGHT["ps1"]) and "are missing" in remarks


def test_a_deleted_answer_is_lost_and_others_are_not():
    submitted = full()
    del submitted["cells"][at(submitted, "draw")]
    del submitted["cells"][at(submitted, "draw-grade")]
    mended, remarks, lost = check(submitted)
    assert lost == ("draw",) and "The cell of draw is missing" in remarks
    assert named(mended) == {**named(full()), "draw": named(RELEASE["ps1"])["draw"]}


def test_an_untouched_copy_does_not_override_the_answer():
    for place in (0, 60):
        submitted = full()
        submitted["cells"].insert(place, copy.deepcopy(cell(RELEASE["ps1"], "draw")))
        mended, remarks, lost = check(submitted)
        assert named(mended) == named(full()) and not own(mended)
        assert "2 times: the answered one counts" in remarks


def test_identical_copies_are_one():
    submitted = full()
    submitted["cells"].append(copy.deepcopy(cell(submitted, "draw")))
    mended, _, _ = check(submitted)
    assert named(mended) == named(full()) and not own(mended)


def test_of_two_answers_the_last_counts_and_both_run():
    submitted = full()
    first, place = cell(submitted, "draw"), at(submitted, "draw")
    later = copy.deepcopy(first)
    first["source"] = "def draw(logits, temperature=1.0, generator=None):\n    return 1"
    submitted["cells"].insert(place + 1, code("x = draw"))
    submitted["cells"].append(later)
    mended, remarks, lost = check(submitted)
    assert named(mended)["draw"] == RIGHT["ps1"]["draw"]
    assert [each["source"] for each in own(mended)] == [first["source"], "x = draw"]
    assert mended["cells"].index(own(mended)[0]) < at(mended, "draw")
    assert "draw was answered in 2 cells that differ: the last one counts" in remarks and not lost


def test_two_answers_in_one_cell():
    submitted = full()
    both = RIGHT["ps1"]["rnn_step"] + "\n\n\n" + RIGHT["ps1"]["lstm_step"]
    cell(submitted, "rnn_step")["source"] = both
    for untouched in (True, False):
        if untouched:
            cell(submitted, "lstm_step")["source"] = cell(RELEASE["ps1"], "lstm_step")["source"]
        else:
            del submitted["cells"][at(submitted, "lstm_step")]
        mended, remarks, lost = check(submitted)
        assert named(mended)["rnn_step"] == both and named(mended)["lstm_step"] == ""
        assert "The answer to lstm_step was in another cell: it counts." in remarks and not lost


@pytest.mark.parametrize("place", [2, 4, 51], ids=["before", "behind", "at the end"])
def test_an_answer_in_a_cell_of_ones_own(place):
    submitted = sample.answered(RELEASE["ps1"], {})
    submitted["cells"].insert(place, code(RIGHT["ps1"]["rnn_step"]))
    mended, remarks, lost = check(submitted)
    assert named(mended)["rnn_step"] == "" and not lost
    assert [each["source"] for each in own(mended)] == [RIGHT["ps1"]["rnn_step"]]
    assert "The answer to rnn_step was in another cell" in remarks


@pytest.mark.parametrize(
    "source",
    [
        "rnn_step = lambda *arguments: 1",
        "from math import (sin,\n    cos as rnn_step)",
        "rnn_step, other = 1, 2",
        "async def rnn_step(x): pass",
        "if True:\n    def rnn_step(x):\n        return x",
        "globals()['rnn_step'] = print",
    ],
)
def test_no_stub_overrides_an_answer_however_it_is_written(source):
    submitted = sample.answered(RELEASE["ps1"], {})
    submitted["cells"].insert(1, code(source))
    mended, _, lost = check(submitted)
    assert named(mended)["rnn_step"] == "" and not lost


def test_a_method_of_the_same_name_is_no_answer():
    submitted = sample.answered(RELEASE["ps1"], {})
    del submitted["cells"][at(submitted, "forward")]
    submitted["cells"].append(code("class Model:\n    def forward(self, x):\n        return x"))
    _, _, lost = check(submitted)
    assert lost == ("forward",)


def test_retyped_cells_get_their_type_back():
    submitted = full()
    cell(submitted, "draw")["cell_type"] = "markdown"
    cell(submitted, "rnn_step")["cell_type"] = "raw"
    cell(submitted, "why")["cell_type"] = "code"
    cell(submitted, "draw-grade")["cell_type"] = "markdown"
    submitted["cells"][0]["cell_type"] = "code"
    submitted["cells"].append(code("1", cell_type="heading"))
    mended, remarks, lost = check(submitted)
    assert named(mended) == named(full()) and not lost
    assert "The cell of draw had become a markdown cell: it was read as code." in remarks
    assert [each["cell_type"] for each in own(mended)] == ["raw"]


def test_metadata_come_from_the_release():
    submitted = full()
    for each in submitted["cells"]:
        each["metadata"] = {
            **each["metadata"],
            "tags": ["skip-execution", "remove-cell"],
            "collapsed": True,
            "nbgrader": {**mark(each), "points": 1000, "locked": False, "grade": True},
        }
    submitted["metadata"] = {"kernelspec": {"name": "julia"}, "toc": 1}
    submitted["cells"].insert(7, code("1", metadata={"tags": ["skip-execution"]}))
    mended, remarks, _ = check(submitted)
    assert named(mended) == named(full()) and not remarks
    assert own(mended)[0]["metadata"] == {}


def test_own_cells_keep_their_places():
    submitted = full()
    submitted["cells"].insert(4, code("%%time\n1 + 1"))
    submitted["cells"].insert(4, code("!ls\nget_ipython()"))
    submitted["cells"].insert(0, code("%matplotlib inline"))
    submitted["cells"].append(note("Done!"))
    submitted["cells"].append(code("  \n"))
    mended, remarks, _ = check(submitted)
    assert [notebooks.text(each) for each in mended["cells"]] == [
        notebooks.text(each) for each in submitted["cells"][:-1]
    ]
    assert not remarks


def test_a_second_answer_in_an_own_cell_stays_on_its_side():
    """Where cells were moved, what ran last still runs last."""
    submitted = full()
    place = at(submitted, "rnn_step")
    answer = submitted["cells"].pop(place)
    submitted["cells"].insert(at(submitted, "draw") + 1, code("rnn_step = None"))
    submitted["cells"].insert(at(submitted, "draw") + 2, answer)
    mended, _, _ = check(submitted)
    assert mended["cells"].index(own(mended)[0]) < at(mended, "rnn_step")


def test_an_import_added_to_the_setup_cell_is_kept():
    submitted = full()
    setup = cell(submitted, "setup-setup")
    setup["source"] = "import cmath\n" + notebooks.text(setup) + "\nunused = 1"
    answer = cell(submitted, "rnn_step")
    answer["source"] += "\n    # cmath.tanh"
    mended, remarks, _ = check(submitted)
    assert [each["source"] for each in own(mended)] == ["import cmath"]
    assert mended["cells"].index(own(mended)[0]) == at(mended, "setup-setup") + 1
    assert "The given cell setup-setup was changed" in remarks


def test_a_changed_experiment_is_as_it_was_released():
    submitted = full()
    given = cell(submitted, "write-given")
    given["source"] = notebooks.text(given).replace("Alice thought", "The cat said")
    mended, remarks, _ = check(submitted)
    assert not own(mended) and not remarks


def test_an_answer_typed_into_a_locked_cell():
    for name in ("draw-check", "draw-grade"):
        submitted = sample.answered(RELEASE["ps1"], {})
        cell(submitted, name)["source"] = RIGHT["ps1"]["draw"]
        mended, _, lost = check(submitted)
        assert [each["source"] for each in own(mended)] == [RIGHT["ps1"]["draw"]]
        assert named(mended)["draw"] == "" and not lost


def test_a_copy_of_a_locked_cell_with_other_content_is_the_students():
    submitted = full()
    copied = copy.deepcopy(cell(submitted, "draw-check"))
    copied["source"] = "print(draw)"
    submitted["cells"].insert(at(submitted, "draw-check"), copied)
    mended, remarks, _ = check(submitted)
    assert [each["source"] for each in own(mended)] == ["print(draw)"] and not remarks


@pytest.mark.parametrize("where", ["below", "above", "in the question", "without its cell"])
def test_a_written_answer_beside_its_cell(where):
    submitted = sample.answered(RELEASE["ps1"], {})
    place = at(submitted, "why")
    if where == "in the question":
        question = submitted["cells"][place - 1]
        question["source"] = notebooks.text(question) + "\n\nThe product."
    else:
        submitted["cells"].insert(place + (where != "above"), note("The product."))
    if where == "without its cell":
        del submitted["cells"][place]
    mended, remarks, lost = check(submitted)
    assert named(mended)["why"].strip() == "The product." and not own(mended) and not lost
    assert "The answer to why was next to its cell" in remarks


@pytest.mark.parametrize("marks", [True, False])
def test_the_figure_of_a_measurement_is_kept_as_it_was_handed_in(marks, tmp_path):
    submitted = full()
    figure = {"output_type": "display_data", "data": {"image/png": "aGVsbG8="}, "metadata": {}}
    cell(submitted, "measurement")["outputs"] = [copy.deepcopy(figure)]
    if not marks:
        for each in submitted["cells"]:
            each["metadata"].pop("nbgrader", None)
            each.pop("id")
    path = tmp_path / "ps1.ipynb"
    path.write_text(json.dumps(submitted), encoding="utf-8")
    found = cell(mend(read_submission(path), RELEASE["ps1"]).notebook, "measurement")
    assert notebooks.text(found) == RIGHT["ps1"]["measurement"]
    assert found["outputs"][0]["text"].startswith("[As the student handed it in")
    assert found["outputs"][1]["data"]["image/png"] == "aGVsbG8="


def test_two_written_answers_are_both_kept():
    submitted = full()
    submitted["cells"].append(copy.deepcopy(cell(submitted, "why")))
    submitted["cells"][-1]["source"] = "One more thing."
    mended, remarks, _ = check(submitted)
    assert named(mended)["why"] == RIGHT["ps1"]["why"] + "\n\nOne more thing."
    assert "all were kept" in remarks


def test_a_blank_written_answer_is_as_it_was_released():
    """Otherwise nbgrader would ask somebody to grade nothing by hand."""
    submitted = full()
    cell(submitted, "why")["source"] = " \n"
    mended, _, lost = check(submitted)
    assert named(mended)["why"] == "*Your answer goes here.*" and not lost


def photograph(side: int, seed: int = 0) -> bytes:
    """A picture that cannot be compressed: three bytes for a pixel."""
    noise = random.Random(seed).randbytes(3 * side * side)
    file = io.BytesIO()
    Image.frombytes("RGB", (side, side), noise).save(file, "PNG")
    return file.getvalue()


def in_text(content: bytes, kind: str = "image/png") -> str:
    """A data URI, as Colab writes one."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def graded_by_hand(folder, *texts: str, attachments: dict | None = None) -> tuple[Mended, str]:
    """What is made of a written answer and of texts below it; the mended notebook, and their page."""
    submitted = full()
    why = cell(submitted, "why")
    why |= {"source": texts[0], "attachments": attachments or {}}
    place = at(submitted, "why") + 1
    submitted["cells"][place:place] = [
        {"cell_type": "markdown", "id": f"below-{k}", "metadata": {}, "source": text}
        for k, text in enumerate(texts[1:])
    ]
    notebooks.write(submitted, folder / "ps1.ipynb")
    mended = mend(read_submission(folder / "ps1.ipynb"), RELEASE["ps1"])
    assert not mended.lost
    book = nbformat.from_dict(copy.deepcopy(mended.notebook))
    nbformat.validate(book)
    place = at(mended.notebook, "why")
    # nbgrader gives None to what a person must grade.
    assert determine_grade(book.cells[place])[0] is None
    shown, _ = MakeSafe().preprocess(book, {})
    cells = shown.cells[place : place + len(texts)]
    return mended, "".join(render(each.source, each.get("attachments")) for each in cells)


SMALL = photograph(50)
ATTACHED = {"curve.png": SMALL, "my curve (1).png": SMALL}


@pytest.mark.parametrize(
    "written",
    [
        f"![c.png]({in_text(SMALL)})",
        f'<img src="{in_text(SMALL)}">',
        f"![c][1]\n\n[1]: {in_text(SMALL)}",
        "![curve.png](attachment:curve.png)",
        "![my curve](<attachment:my curve (1).png>)",
        "![my curve](attachment:my%20curve%20(1).png)",
        '<img src="attachment:curve.png" width="300"/>',
        "<p><img width=300 src='attachment:curve.png'></p>",
        "![curve][c]\n\n[c]: attachment:curve.png",
        '![curve]( attachment:curve.png "Curve")',
    ],
)
def test_a_picture_in_a_written_answer_is_shown_with_all_of_its_text(written, tmp_path):
    attachments = {
        name: {"image/png": base64.b64encode(content).decode()} for name, content in ATTACHED.items()
    }
    answer = f"What stands before it.\n\n{written}\n\nWhat follows it."
    mended, page = graded_by_hand(tmp_path, answer, attachments=attachments)
    assert "What stands before it." in page and "What follows it." in page
    (picture,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(picture) == SMALL and not mended.uncertain


def test_photographs_are_made_small_enough_for_a_page(tmp_path):
    one = in_text(photograph(700))
    assert len(one) > bounds.SOURCE
    _, page = graded_by_hand(tmp_path, f"![]({one})")
    assert base64.b64decode(re.search(r'base64,([^"]+)"', page)[1]).startswith(b"\x89PNG")
    texts = [f"![]({in_text(photograph(500, seed))})" for seed in range(12)]
    mended, page = graded_by_hand(tmp_path, "Twelve photographs follow.", *texts)
    pictures = [base64.b64decode(found) for found in re.findall(r'base64,([^"]+)"', page)]
    assert len(pictures) == 12 and sum(map(len, pictures)) <= bounds.PICTURES_SHOWN
    assert all(Image.open(io.BytesIO(each)).width > 200 for each in pictures)
    assert not any("picture" in sentence.lower() for sentence in mended.uncertain)


def test_what_cannot_be_shown_is_said_to_whoever_grades(tmp_path):
    drawn = in_text(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml")
    large = [in_text(random.Random(seed).randbytes(7 * bounds.MB)) for seed in range(3)]
    for written, why in (
        (f"![]({drawn})", "The picture cannot be shown here: it is not a PNG"),
        ("\n".join(f"![]({each})" for each in large), "an answer may have 20 MB together"),
    ):
        mended, page = graded_by_hand(tmp_path, f"{written}\n\nAnd so on.")
        assert "data:" not in page and "And so on." in page
        assert f"<strong>{NOTE}" in page and why in page
        assert any(sentence.startswith("why: ") and why in sentence for sentence in mended.uncertain)
    for elsewhere in (
        "![the curve](curve.png)",
        '<img alt="the curve" src="https://example.org/x.png">',
    ):
        assert f"[{NOT_SHOWN}the curve]" in graded_by_hand(tmp_path, elsewhere)[1]


@pytest.mark.parametrize("begins", ["It begins.", "*Your answer goes here.*", " "])
def test_a_written_answer_that_is_too_long_to_read_waits(begins, tmp_path):
    mended, page = graded_by_hand(tmp_path, f"{begins}\n\n{' ' * bounds.SOURCE}\n\nIt ends.")
    assert begins.strip("* ") in page and "was not read to its end" in page
    assert any("was not read to its end" in sentence for sentence in mended.uncertain)
    assert any("only its beginning was read" in sentence for sentence in mended.remarks)


def test_a_picture_of_the_assignment_itself_is_no_change():
    release = copy.deepcopy(RELEASE["ps1"])
    text = next(each for each in release["cells"] if each["cell_type"] == "markdown")
    text["source"] += "\n![a figure](attachment:figure.png)"
    text["attachments"] = {"figure.png": {"image/png": base64.b64encode(SMALL).decode()}}
    submitted = copy.deepcopy(release)
    for each in submitted["cells"]:
        if each["cell_type"] == "markdown":
            each["source"], _ = taken_out(each)
    mended = mend(submitted, release)
    assert [notebooks.text(each) for each in mended.notebook["cells"]] == [
        notebooks.text(each) for each in release["cells"]
    ]
    assert not mended.older and not mended.remarks


def test_text_is_cleaned():
    submitted = full()
    cell(submitted, "draw")["source"] = RIGHT["ps1"]["draw"].replace("\n", "\r\n") + "\r\n# \0\ud800é\r"
    mended, _, _ = check(submitted)
    assert named(mended)["draw"] == RIGHT["ps1"]["draw"] + "\n# \ufffdé\n"
    json.dumps(mended, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    "broken",
    [
        None,
        3,
        [],
        {},
        {"cell_type": ["code"], "source": {"a": 1}, "metadata": 7, "id": []},
        {"cell_type": "code", "source": [1, "x = 1", None], "metadata": {"nbgrader": "x"}},
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": ["draw"]}}},
        {"cell_type": "code", "metadata": {"nbgrader": None}, "source": None},
        {"cell_type": "code", "id": "not an id!", "source": "x = 2"},
        {"cell_type": "code", "id": "x" * 65, "source": "x = 3"},
    ],
)
def test_cells_that_are_none(broken):
    submitted = full()
    submitted["cells"] = [broken, *submitted["cells"], broken]
    mended, _, lost = check(submitted)
    assert named(mended) == named(full()) and not lost


@pytest.mark.parametrize("cells", [None, 1, "cells", {}])
def test_no_list_of_cells(cells):
    assert check({"cells": cells})[2] == tuple(RIGHT["ps1"])


@pytest.mark.parametrize("name", ["draw", "poll_1"])  # above it, and below it
def test_code_under_the_mark_of_the_written_answer_still_counts(name):
    submitted = full()
    written = submitted["cells"][at(submitted, "why")]
    submitted["cells"][at(submitted, name)]["metadata"] = copy.deepcopy(written["metadata"])
    mended, remarks, lost = check(submitted)
    assert not lost and f"The answer to {name} was in another cell: it counts." in remarks
    (written,) = [cell for cell in mended["cells"] if mark(cell).get("grade_id") == "why"]
    assert notebooks.text(written).strip() == RIGHT["ps1"]["why"].strip()


def test_a_cell_that_is_too_long_costs_no_other():
    submitted = full()
    submitted["cells"].insert(0, code("x = 1\n" * bounds.SOURCE))
    mended, remarks, lost = check(submitted)
    assert named(mended) == named(full()) and not own(mended) and not lost
    assert "Cell 1 is longer than a million characters" in remarks


def test_another_release_is_said_and_graded(tmp_path):
    """By the version in the notebook; without one, by many given cells with other texts."""

    def older(version: str, changed: int) -> str:
        submitted = full()
        submitted["metadata"]["seqcourse"] = {"version": version}
        for cell in [cell for cell in submitted["cells"] if not mark(cell).get("solution")][:changed]:
            cell["source"] = f"As it was. {notebooks.text(cell)}"
        notebooks.write(submitted, tmp_path / "ps1.ipynb")
        mended = mend(read_submission(tmp_path / "ps1.ipynb"), RELEASE["ps1"])
        assert named(mended.notebook) == named(full()) and not mended.lost
        return mended.older

    assert older(__version__, 0) == older(__version__, 20) == older("", 4) == ""
    told = f"its answers were graded in that of {__version__}."
    assert older("0.0.9", 0) == f"The notebook is of release 0.0.9: {told}"
    assert older("", 20) == older("\x1b[2J", 20) == f"The notebook is of another release: {told}"


@pytest.mark.parametrize(
    "source, names",
    [
        ("x == 1\nx.y = 2\nx[0] = 3\nf(x=1)", set()),
        ("a = b = 1\nc: int = 2\nd, e = 1, 2", {"a", "b", "c", "d", "e"}),
        ("import a.b, c as d\nfrom e import (f,  # a comment\n  g as h)", {"a", "d", "f", "h"}),
        ("class A:\n    def b(self): pass\nasync def c(): pass", {"A", "c"}),
        ("%%time\n!ls\ndef f(:", {"f"}),
    ],
)
def test_names_are_found_without_parsing(source, names):
    assert defined(source) == names


@st.composite
def damages(draw):
    """A list of things that happen to a notebook: which, where, and to where."""
    kinds = ["move", "copy", "delete", "retype", "strip", "blank", "own", "redefine", "edit", "mark"]
    size = st.integers(0, 10_000)
    return draw(st.lists(st.tuples(st.sampled_from(kinds), size, size), max_size=12))


def damaged(notebook: dict, plan: list[tuple[str, int, int]]) -> dict:
    cells = notebook["cells"]
    for kind, first, second in plan:
        place, target = first % max(1, len(cells)), second % (len(cells) + 1)
        if kind == "own" or not cells:
            cells.insert(target, code(f"own_{first} = 1", id=f"own-{first % 3}"))
        elif kind == "redefine":
            name = list(RIGHT["ps1"])[first % len(RIGHT["ps1"])]
            cells.insert(target, code(f"{name} = {first}", id=None))
        elif kind == "move":
            cells.insert(min(target, len(cells) - 1), cells.pop(place))
        elif kind == "copy":
            cells.insert(target, copy.deepcopy(cells[place]))
        elif kind == "delete":
            cells.pop(place)
        elif kind == "retype":
            cells[place]["cell_type"] = ("code", "markdown", "raw", "nonsense")[second % 4]
        elif kind == "strip":
            cells[place]["metadata"] = {}
            cells[place].pop("id", None)
        elif kind == "blank":
            cells[place]["source"] = ""
        elif kind == "edit":
            cells[place]["source"] = notebooks.text(cells[place]) + f"\nedited_{second} = 1"
        elif kind == "mark":
            cells[place]["metadata"] = copy.deepcopy(cells[second % len(cells)]["metadata"])
    return notebook


@settings(max_examples=120, deadline=None)
@given(damages())
def test_whatever_happens_the_answers_are_kept(plan):
    """Each answer that is in the file, as code, is in what comes out; and the rest of ``check``."""
    submitted = damaged(full(), plan)
    mended, _, lost = check(submitted)
    sent = {notebooks.text(each).strip() for each in submitted["cells"]}
    kept = {notebooks.text(each).strip() for each in mended["cells"]}
    marked = [each for each in submitted["cells"] if mark(each) or each.get("id")]
    for name, answer in RIGHT["ps1"].items():
        if name == "why" or answer.strip() not in sent:
            continue
        there = [each for each in marked if notebooks.text(each).strip() == answer.strip()]
        locked = {mark(each).get("grade_id", "") for each in there} & _locked()
        if not locked:
            assert answer.strip() in kept, name
            assert name not in lost


def _locked() -> set[str]:
    """Names under which an answer is taken for a changed locked cell."""
    return {mark(each)["grade_id"] for each in RELEASE["ps1"]["cells"] if mark(each).get("locked")}


def test_a_shuffled_notebook_keeps_every_answer():
    for seed in range(6):
        submitted = full()
        random.Random(seed).shuffle(submitted["cells"])
        mended, remarks, lost = check(submitted)
        assert named(mended) == named(full()) and not lost
        assert "The cells were in another order" in remarks
