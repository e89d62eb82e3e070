"""Whatever lies in a submitted folder: it becomes a notebook to grade or a sentence, and nothing else.

The steps are those of a run outside the sandbox: the snapshot is taken, sent and unpacked on a worker,
the notebook found, read, mended and written, the time read. `test_grade_run` has what fails elsewhere.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, GRADED, Record, read_record, unfit_name, write_record
from cellgrader.course.small_files import TIMESTAMP, kept
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.mend import mend
from cellgrader.notebook.parse import NotGradable
from cellgrader.notebook.search import find_submission, read_submission

from .toy import toy_notebook

ODD = st.characters(codec=None, exclude_characters="/\0", categories=("L", "N", "P", "S", "Z", "C"))
NAMES = st.one_of(
    st.sampled_from(["ps1.ipynb", "PS1.IPYNB", "ps1 (1).ipynb", "ps1.html", "timestamp.txt"]),
    st.binary(min_size=1, max_size=20).map(lambda raw: os.fsdecode(raw.translate(None, b"/\0"))),
).filter(lambda name: name not in ("", ".", ".."))
HOSTILE = st.sampled_from(["\ud800", "\udfff\ud800", "\0", "\x1b[2J", [], {}])
VALUES = st.recursive(
    st.one_of(
        HOSTILE,
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(ODD, max_size=8)),
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(ODD, max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("cell_type", "id", "metadata", "source", "outputs", "execution_count", "attachments")
TIMES = st.text(ODD, max_size=30) | st.text("0123456789-: UTCZ+./", max_size=400)


@st.composite
def submissions(draw) -> bytes:
    """A notebook of the toy in which some fields have any value, as JSON; some break off."""
    book = toy_notebook()
    for _ in range(draw(st.integers(0, 6))):
        cell = draw(st.sampled_from(book["cells"]))
        if draw(st.booleans()):
            cell[draw(st.sampled_from(["source", *KEYS]))] = draw(HOSTILE | VALUES)
        else:
            kinds = st.sampled_from(["stream", "error", "display_data", "execute_result", "?"])
            output = draw(st.dictionaries(st.sampled_from(["text", "data", "traceback"]), VALUES))
            cell["outputs"] = [{"output_type": draw(kinds), **output}]
    if draw(st.integers(0, 5)) == 0:
        book[draw(st.sampled_from(["cells", "metadata", "nbformat"]))] = draw(VALUES)
    content = json.dumps(book).encode()
    return content[: draw(st.integers(0, len(content)))] if draw(st.integers(0, 5)) == 0 else content


@pytest.mark.parametrize("cases", [50, pytest.param(2000, marks=pytest.mark.nightly)])
def test_any_submission_is_a_notebook_or_a_sentence(cases):
    release = toy_notebook()

    @settings(max_examples=cases, deadline=None, suppress_health_check=list(HealthCheck))
    @given(NAMES, st.dictionaries(NAMES, submissions(), max_size=3), TIMES)
    def submit(student: str, files: dict[str, bytes], time: str) -> None:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "in" / student / "ps1"
            folder.mkdir(parents=True)
            for name, content in files.items():
                (folder / name).write_bytes(content)
            (folder / TIMESTAMP).write_bytes(time.encode(errors="surrogatepass"))
            assert len(b"".join(kept(folder).values())) <= bounds.TIME
            snapshot = pickle.loads(pickle.dumps(folder_snapshot(folder)))
            snapshot.digest(), snapshot.sentence().encode()
            record = Record("ps1", student, FAILED, unfit_name(student))
            if not record.sentence:
                there = Path(place) / "worker" / student / "ps1"
                snapshot.unpack(there)
                record = _graded(student, there, release)
            course = Course(Path(place))
            write_record(course, record)
            assert read_record(course, "ps1", student) == record
            record.sentence.encode()

    def _graded(student: str, folder: Path, release: dict) -> Record:
        try:
            found = find_submission(folder, "ps1", release)
            mended = mend(read_submission(found.path), release)
        except NotGradable as told:
            assert str(told).strip().endswith(".")
            return Record("ps1", student, told.status, str(told))
        book = nbformat.from_dict(mended.notebook)
        nbformat.validate(book)
        nbformat.writes(book).encode()
        notebooks.write(json.loads(nbformat.writes(book)), folder / "mended.ipynb")
        return Record("ps1", student, GRADED, "", remarks=(*found.remarks, *mended.remarks))

    submit()
