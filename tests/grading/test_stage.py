"""Finding and reading what was handed in: what can be graded is, the rest gets a sentence."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys

import pytest

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import mark
from cellgrader.notebook.mend import mend
from cellgrader.notebook.search import NotGradable, find_submission, links, read_submission
from cellgrader.notebook.shown_outputs import LEFT_OUT, OWN, own_outputs
from cellgrader.release import sample

from .toy import ROOT

COURSE = Course(ROOT)
RELEASE = notebooks.read(COURSE.assignments / "ps1" / "ps1.ipynb")
RIGHT = sample.right_answers(notebooks.read(COURSE.solution("ps1")))
FULL = sample.answered(RELEASE, RIGHT)
HALF = sample.answered(RELEASE, dict(list(RIGHT.items())[:5]))
OTHER = notebooks.read(COURSE.assignments / "ps2" / "ps2.ipynb")
BARE = {
    "cells": [{"cell_type": "code", "source": RIGHT[name]} for name in list(RIGHT)[:7]],
    "metadata": {},
}


@pytest.fixture
def folder(tmp_path):
    """A student's folder, empty."""
    place = tmp_path / "submitted" / "anna" / "ps1"
    place.mkdir(parents=True)
    return place


def put(path, notebook=FULL):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(notebook, bytes):
        path.write_bytes(notebook)
    else:
        path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def find(folder):
    found = find_submission(folder, "ps1", RELEASE)
    return found.path.relative_to(folder).as_posix(), " ".join(found.remarks)


def refused(folder) -> tuple[str, str]:
    with pytest.raises(NotGradable) as caught:
        found = find_submission(folder, "ps1", RELEASE)
        read_submission(found.path)
    return caught.value.status, str(caught.value)


def test_the_notebook_is_there(folder):
    put(folder / "ps1.ipynb")
    put(folder / ".ipynb_checkpoints" / "ps1-checkpoint.ipynb", HALF)
    put(folder / "timestamp.txt", b"2026-11-20")
    assert find(folder) == ("ps1.ipynb", "")


def test_others_beside_it_are_not_graded(folder):
    put(folder / "ps1.ipynb", HALF)
    put(folder / "Untitled.ipynb", FULL)
    put(folder / "helpers.py", b"x = 1")
    path, remarks = find(folder)
    assert path == "ps1.ipynb"
    assert "Only ps1.ipynb is graded, not Untitled.ipynb." in remarks and "helpers.py" in remarks


@pytest.mark.parametrize(
    "name",
    [
        "PS1.ipynb",
        "my work.ipynb",
        "ps1 (1).ipynb",
        "sub/ps1.ipynb",
        "ps1.ipynb.txt",
        "ps1.json",
        "a.IPYNB",
    ],
)
@pytest.mark.parametrize("notebook", [FULL, BARE, RELEASE], ids=["full", "bare", "empty"])
def test_another_name_or_place(folder, name, notebook):
    put(folder / name, notebook)
    path, remarks = find(folder)
    assert path == name and "ps1.ipynb" in remarks


@pytest.mark.parametrize("first", [RELEASE, b'{"cells": [', OTHER], ids=["empty", "broken", "other"])
def test_the_answers_are_in_a_copy(folder, first):
    put(folder / "ps1.ipynb", first)
    put(folder / "ps1-Copy1.ipynb", FULL)
    path, remarks = find(folder)
    assert path == "ps1-Copy1.ipynb" and "was graded in its place" in remarks


def test_the_fullest_of_several_counts(folder):
    put(folder / "a.ipynb", RELEASE)
    put(folder / "b.ipynb", FULL)
    put(folder / "c.ipynb", HALF)
    put(folder / "d.ipynb", OTHER)
    put(folder / "e.ipynb", b"no notebook")
    assert find(folder)[0] == "b.ipynb"


def test_equal_ones_are_one_and_different_ones_a_question(folder):
    put(folder / "a.ipynb", FULL)
    put(folder / "b.ipynb", FULL)
    assert find(folder)[0] == "a.ipynb"
    put(folder / "c.ipynb", sample.answered(RELEASE, {**RIGHT, "poll_1": "poll_1 = 'z'"}))
    status, sentence = refused(folder)
    assert status == "missing" and "a.ipynb, c.ipynb" in sentence


@pytest.mark.parametrize(
    "name, what",
    [
        ("ps1.zip", "Unpack it"),
        ("ps1.html", "hand in the .ipynb file"),
        ("ps1.py", "That is a script"),
        ("ps2.ipynb", "name it ps1.ipynb"),
        ("notes.odt", "Hand in the notebook"),
    ],
)
def test_something_else_instead(folder, name, what):
    put(folder / name, OTHER)
    status, sentence = refused(folder)
    assert status == "missing" and name in sentence and what in sentence


def test_nothing(folder):
    assert refused(folder) == ("missing", "ps1.ipynb should be in the folder, but there is nothing.")
    assert refused(folder / "not there")[0] == "missing"


def test_another_assignment_under_this_name(folder):
    put(folder / "ps1.ipynb", OTHER)
    status, sentence = refused(folder)
    assert status == "unreadable" and "another assignment" in sentence


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such links and pipes")
class TestLinks:
    def test_a_linked_notebook(self, folder, tmp_path):
        (folder / "ps1.ipynb").symlink_to(put(tmp_path / "other.ipynb"))
        assert refused(folder) == (
            "unreadable",
            "ps1.ipynb should be an ordinary file, but is a link. Hand in the notebook itself.",
        )
        with pytest.raises(NotGradable, match="refuses to open"):
            read_submission(folder / "ps1.ipynb")
        assert links(folder) == [folder / "ps1.ipynb"]

    def test_a_link_to_nothing(self, folder):
        (folder / "ps1.ipynb").symlink_to("nowhere")
        assert refused(folder)[0] == "unreadable"

    @pytest.mark.parametrize("level", ["assignment", "student"])
    def test_a_linked_folder(self, folder, tmp_path, level):
        put(folder / "ps1.ipynb")
        place = tmp_path / "submitted" / "eve"
        if level == "student":
            place.symlink_to(folder.parent)
        else:
            place.mkdir()
            (place / "ps1").symlink_to(folder)
        status, sentence = refused(place / "ps1")
        assert status == "unreadable" and "is a link to another place" in sentence
        snapshot = folder_snapshot(place / "ps1")
        assert not snapshot.files and "a link to another place" in snapshot.sentence()
        assert folder_snapshot(folder).files, "the folder itself is what it was"

    def test_links_beside_and_below_are_passed_over(self, folder, tmp_path):
        put(tmp_path / "elsewhere" / "other.ipynb")
        (folder / "below").symlink_to(tmp_path / "elsewhere")
        (folder / "beside.ipynb").symlink_to(tmp_path / "elsewhere" / "other.ipynb")
        assert refused(folder)[0] == "missing"
        assert links(folder) == [folder / "below", folder / "beside.ipynb"]

    def test_a_pipe_and_a_folder(self, folder):
        os.mkfifo(folder / "ps1.ipynb")
        assert refused(folder)[0] == "unreadable"
        with pytest.raises(NotGradable):
            read_submission(folder / "ps1.ipynb")
        os.unlink(folder / "ps1.ipynb")
        (folder / "ps1.ipynb").mkdir()
        assert "is a folder" in refused(folder)[1]


def test_names_of_files_cannot_break_a_sentence(folder):
    put(folder / ("x" * 200 + ".ipynb"), OTHER)
    if os.name != "nt":
        put(folder / "a\nb\x1b[31m.txt", b"")
    sentence = refused(folder)[1]
    assert "\n" not in sentence and "\x1b" not in sentence and len(sentence) < 500


def test_many_files_and_deep_folders_end(folder):
    for number in range(bounds.SEARCHED + 50):
        (folder / f"{number}.txt").touch()
    put(folder / "a" / "b" / "c" / "d" / "e" / "ps1.ipynb")
    assert refused(folder)[0] == "missing"
    put(folder / "ps1.ipynb")
    assert find(folder)[0] == "ps1.ipynb"


# Reading


def read(folder, content) -> dict:
    return read_submission(put(folder / "ps1.ipynb", content))


def answers(notebook: dict) -> dict[str, str]:
    """What is in the answer cells after mending."""
    mended = mend(notebook, RELEASE).notebook
    return {mark(c)["grade_id"]: c["source"] for c in mended["cells"] if mark(c).get("solution")}


LATIN = sample.answered(RELEASE, {**RIGHT, "poll_1": "poll_1 = 'c'  # très élégant"})
TEXT = json.dumps(LATIN, ensure_ascii=False, indent=1)


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode("utf-8"),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.encode("latin-1", "xmlcharrefreplace"),
        TEXT.replace("\n", "\r\n").encode(),
        json.dumps(LATIN).replace("\\n", "\\r\\n").encode(),
        b"\n\n" + TEXT.encode() + b"\n\n",
    ],
    ids=["utf-8", "bom", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "crlf", "crlf-inside", "space"],
)
def test_encodings(folder, content):
    assert answers(read(folder, content)) == {**RIGHT, "poll_1": "poll_1 = 'c'  # très élégant"}


def changed(**more) -> dict:
    return {**copy.deepcopy(FULL), **more}


def with_cell(**more) -> dict:
    notebook = changed()
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "x = 1", **more})
    return notebook


def format_3() -> dict:
    cells = []
    for cell in FULL["cells"]:
        key = "input" if cell["cell_type"] == "code" else "source"
        cells.append({"cell_type": cell["cell_type"], "metadata": cell["metadata"], key: cell["source"]})
    cells.append({"cell_type": "heading", "level": 2, "source": ["The", " end"]})
    cells += [7, {"cell_type": "html", "source": "<b>x</b>"}]
    sheets = [{"cells": cells[:20]}, None, {"cells": 3}, {"cells": cells[20:]}]
    return {"worksheets": sheets, "metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0}


@pytest.mark.parametrize(
    "notebook",
    [
        changed(nbformat=4, nbformat_minor=2),
        changed(nbformat="4", metadata=[]),
        {"cells": FULL["cells"]},
        changed(metadata={"big": float("nan"), "more": float("inf")}),
        with_cell(outputs=[{"output_type": "stream", "name": "stdout", "text": "x" * 20_000_000}]),
        with_cell(outputs=[{"data": {"application/json": list(range(200_000))}}]),
        with_cell(outputs="nonsense", attachments=7, source={"no": "text"}),
        with_cell(metadata={"deep": json.loads("[" * 300 + "]" * 300)}),
        {**FULL, "cells": [*FULL["cells"], None, 3, [], "cell"]},
        format_3(),
    ],
    ids=[
        "4.2",
        "types",
        "cells only",
        "nan",
        "output",
        "json output",
        "wrong types",
        "deep",
        "no cells",
        "3",
    ],
)
def test_notebooks_that_are_odd(folder, notebook):
    submitted = read(folder, notebook)
    assert answers(submitted) == RIGHT
    assert len(json.dumps(submitted)) < 100_000, "no output is kept"


def test_duplicate_keys_are_read_as_python_reads_them(folder):
    text = json.dumps(FULL)
    assert answers(read(folder, (text[:-1] + ', "metadata": {}}').encode())) == RIGHT


CONFLICT = TEXT.replace(' "nbformat": 4,', "<<<<<<< HEAD\n=======\n>>>>>>> theirs\n")


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "is empty"),
        (b" \n\0\0", "is empty"),
        (TEXT.encode()[:9000], "breaks off at line"),
        (b"# just text", "is not valid JSON"),
        (b"[1, 2]", "has none"),
        (b'{"cells": 3}', "has none"),
        (b'"cells"', "has none"),
        (b"\xff\xfe\x00", "is not valid UTF-8"),
        (b"PK\x03\x04\x14\x00\x99", "is not valid UTF-8"),
        (TEXT.encode() + b"\x80\x93", "is not valid UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"cells":' * 100_000, "nested too deeply"),
        (b'{"cells": [' + b"1" * 5000 + b"]}", "an invalid value"),
        (CONFLICT.encode(), "unfinished merge"),
        (json.dumps({"cells": [{}] * 2001}).encode(), "at most 2,000 cells"),
        (b'{"cells": [' + b"{}," * 1_000_000 + b"{}]}", "at most 2,000 cells"),
        (b'{"cells": [' + b'{"source": "x", "metadata": {}},' * 1_000_000, "3,000,000 parts"),
        (b"[[],[]," * 1_000_000, "3,000,000 parts"),
        (json.dumps({"cells": [{"source": "x" * 4_000_000}] * 3}).encode(), "10,000,000 characters"),
    ],
    ids=[
        "nothing",
        "space",
        "truncated",
        "text",
        "list",
        "no cells",
        "string",
        "half a letter",
        "zip",
        "windows",
        "lists",
        "dictionaries",
        "long number",
        "conflict",
        "2001 cells",
        "million",
        "million parts",
        "million lists",
        "long cells",
    ],  # fmt: skip
)
def test_what_cannot_be_read(folder, content, says):
    put(folder / "ps1.ipynb", content)
    status, sentence = refused(folder)
    assert status == "unreadable" and says in sentence and sentence.startswith("ps1.ipynb should ")


def test_commas_inside_an_output_are_no_values(folder):
    text = ", ".join(["1"] * 4_000_000)
    assert (
        answers(read(folder, with_cell(outputs=[{"text": text, "more": 'a "quoted" \\ word'}]))) == RIGHT
    )


def test_a_file_that_is_too_large_is_not_even_read(folder):
    path = folder / "ps1.ipynb"
    with path.open("wb") as file:
        file.truncate(bounds.NOTEBOOK + 1)
    assert "at most 100 MB" in refused(folder)[1]


HOSTILE = """
import resource, sys
from pathlib import Path
limit = 1_200_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from cellgrader.notebook.search import NotGradable, read_submission
try:
    read_submission(Path(sys.argv[1]))
except NotGradable as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
@pytest.mark.parametrize(
    "content",
    [
        lambda: b"[" + b"0," * 40_000_000,
        lambda: b"[" + b'"",' * 30_000_000,
        pytest.param(lambda: b'"' + b"\\n" * 40_000_000, marks=pytest.mark.nightly),
        pytest.param(lambda: b'"' * 90_000_000, marks=pytest.mark.nightly),
        pytest.param(lambda: ('"' + "\U0001f600" * 20_000_000).encode(), marks=pytest.mark.nightly),
    ],
    ids=["numbers", "strings", "escapes", "quotes", "wide"],
)
def test_memory_is_bounded(folder, content):
    """In a process that may use little more than such a file takes."""
    path = put(folder / "ps1.ipynb", content())
    done = subprocess.run([sys.executable, "-c", HOSTILE, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.startswith("ps1.ipynb should be")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, []),
        ("no list", []),
        ([None, {}, {"output_type": "stream", "text": None}, {"output_type": "display_data"}], []),
        ([{"output_type": "display_data", "data": {"text/html": "x", "image/png": '"><b>'}}], []),
        ([{"output_type": "stream", "text": ["a\ud800", 3, "b"]}], [{"text": "a\ufffdb"}]),
        ([{"output_type": "error", "traceback": ["a", "b"]}], [{"text": "a\nb"}]),
        ([{"output_type": "error", "traceback": 3}], []),
        ([{"output_type": "stream", "text": "x" * 2_000_000}], [{"text": LEFT_OUT}]),
        (
            [{"output_type": "execute_result", "data": {"text/plain": "3"}}],
            [{"data": {"text/plain": "3"}}],
        ),
    ],
)
def test_own_outputs_are_text_and_pictures(sent, kept):
    made = own_outputs(sent)
    assert [output.get("text") for output in made[:1]] == [OWN] * bool(kept)
    assert [
        {key: output[key] for key in want} for output, want in zip(made[1:], kept, strict=True)
    ] == kept


def test_many_small_outputs_are_bounded():
    assert len(own_outputs([{"output_type": "stream", "text": "x"}] * 100_000)) < 20_000


def test_of_work_in_two_halves_a_person_is_told(folder):
    """Only one notebook is graded; an older one with fewer answers is no half."""
    names = list(RIGHT)
    halves = {"ps1.ipynb": names[:4], "part2.ipynb": names[4:], "old/ps1.ipynb": names[:2]}
    for file, answered in halves.items():
        cells = [{"cell_type": "code", "source": RIGHT[name]} for name in answered]
        put(folder / file, {"cells": cells, "metadata": {}})
    put(folder / "ps2.ipynb", OTHER)
    found = find_submission(folder, "ps1", RELEASE)
    assert found.path == folder / "ps1.ipynb"
    (sentence,) = found.uncertain
    assert sentence.startswith("part2.ipynb answers ") and "ps1.ipynb does not" in sentence
    assert f"{names[4]}, " in sentence or f", {names[4]}" in sentence, sentence
    (folder / "ps1.ipynb").unlink()
    found = find_submission(folder, "ps1", RELEASE)
    assert len(found.uncertain) == 1 and found.path.name in ("part2.ipynb", "ps1.ipynb")
