"""Honest work that is broken in some way, through the whole pipeline: it gets what it earned.

One class of such students hands in the real ps1 and is graded in one run. Where what was earned cannot
be known, there is a status and a sentence. Every other name, form and damage of a file, and whatever
happened to its cells, is in test_stage, test_mend and test_editors.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import pytest

from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import mark, text
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.sandbox import refusal
from tests.sizes import nightly_but

from .toy import ROOT, copy_real_course

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(refusal()), reason=f"no sandbox here: {refusal()}"),
]

# Seconds that a cell may take; nothing honest here takes two.
TIMEOUT = 30

RELEASED = notebooks.read(ROOT / "assignments" / "ps1" / "ps1.ipynb")
SOLUTION = notebooks.read(ROOT / "solutions" / "ps1" / "ps1.ipynb")
RIGHT = sample.right_answers(SOLUTION)
# Exercise -> points that are given automatically.
FULL = {one.name: one.automatic for one in notebooks.exercises(SOLUTION) if one.automatic}

Change = Callable[[dict], dict | None]


@dataclass(frozen=True)
class Case:
    """One student: what was done to a solved notebook, and what must come of it.

    change: what happened to the notebook. write: how it was written into the folder; as psN.ipynb
    without it. status: one, or several with "or". lost: exercises that earn nothing, or None where
    there is no grade at all. says: parts of the record's sentence and remarks. quiet: there is
    nothing to remark.
    """

    change: Change | None = None
    write: Callable[[Path, dict], None] | None = None
    status: str = "graded"
    lost: tuple[str, ...] | None = ()
    says: tuple[str, ...] = ()
    quiet: bool = False


def at(notebook: dict, name: str) -> int:
    """Where a cell stands."""
    return [mark(cell).get("grade_id") for cell in notebook["cells"]].index(name)


def own(source: str, kind: str = "code") -> dict:
    """A cell of the student's own."""
    cell = {
        "cell_type": kind,
        "id": f"own-{crc32(source.encode())}",
        "metadata": {},
        "source": source,
    }
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def with_own(source: str, name: str = "lstm_step") -> Change:
    """A cell of the student's own before an answer, in the middle of the notebook."""
    return lambda notebook: notebook["cells"].insert(at(notebook, name), own(source))


def into(name: str, how: Callable[[str], str]) -> Change:
    """One cell's source, changed."""

    def change(notebook: dict) -> None:
        cell = notebook["cells"][at(notebook, name)]
        cell["source"] = how(text(cell))

    return change


def written_as(encode: Callable[[str], bytes], name: str = "ps1.ipynb") -> Callable[[Path, dict], None]:
    """The notebook's JSON text in other bytes, or under another name."""

    def write(folder: Path, notebook: dict) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(json.dumps(notebook, indent=1, ensure_ascii=False)))

    return write


def under(name: str) -> Callable[[Path, dict], None]:
    return written_as(str.encode, name)


def empty_and_a_copy(folder: Path, notebook: dict) -> None:
    under("ps1 (1).ipynb")(folder, notebook)
    notebooks.write(RELEASED, folder / "ps1.ipynb")


def only_a_page(folder: Path, notebook: dict) -> None:
    (folder / "ps1.html").write_text("<html></html>")


def deleted(notebook: dict) -> None:
    gone = ("draw", "draw-grade", "lstm_step-check", "setup-setup", "why")
    notebook["cells"] = [cell for cell in notebook["cells"] if mark(cell).get("grade_id") not in gone]


def retyped(notebook: dict) -> None:
    for name, kind in {
        "draw": "markdown",
        "rnn_step": "raw",
        "draw-grade": "raw",
        "why": "code",
    }.items():
        notebook["cells"][at(notebook, name)]["cell_type"] = kind


def elsewhere(notebook: dict) -> None:
    """Every answer in a cell of the student's own behind the stub, which is as it was."""
    for name in FULL:
        place = at(notebook, name)
        answer = text(notebook["cells"][place])
        notebook["cells"][place] = copy.deepcopy(RELEASED["cells"][at(RELEASED, name)])
        notebook["cells"].insert(place + 1, own(answer))


PRINTS = "for line in range(8000):\n    print('x' * 1000)"


def huge(notebook: dict) -> None:
    """Outputs of 40 MB in the file, and a cell that prints 8 MB when it is run again."""
    output = {"output_type": "stream", "name": "stdout", "text": "x" * 20_000_000}
    notebook["cells"].insert(at(notebook, "lstm_step"), own(PRINTS))
    for name in ("rnn_step", "lstm_step"):
        notebook["cells"][at(notebook, name)]["outputs"] = [output]


NOISE = """    import sys, time, warnings
    warnings.warn("this step is slow")
    for done in range(3):
        print(f"\\r{done}/3 done", end="", file=sys.stderr, flush=True)
    print("a step")
"""


def noisy(source: str) -> str:
    """The answer with warnings and a progress bar in it, at its start."""
    head, _, body = source.partition('"""\n')
    return f'{head}"""\n{NOISE}{body}'


CASES = {
    "solved": Case(quiet=True),
    "answers in a copy": Case(write=empty_and_a_copy, says=("ps1.ipynb holds no answer",)),
    "a page": Case(write=only_a_page, status="missing", lost=None, says=("hand in the .ipynb file",)),
    "another assignment": Case(
        change=lambda notebook: notebooks.read(ROOT / "assignments" / "ps2" / "ps2.ipynb"),
        status="unreadable",
        lost=None,
        says=("those of another assignment",),
    ),
    "deleted": Case(deleted, lost=("draw",), says=("draw, why are missing",)),
    "retyped": Case(retyped, says=("The cell of draw had become a markdown cell",)),
    "in own cells": Case(elsewhere, says=("The answer to lstm_step was in another cell",)),
    "noise": Case(into("rnn_step", noisy), quiet=True),
    "huge outputs": Case(huge, quiet=True),
    # The kernel is cut off; whether that shows at once or by its silence is the system's choice.
    "one huge output": Case(
        with_own("print('x' * 20_000_000)"), status="crashed or timed out", says=("cell number 15",)
    ),
    "truncated": Case(
        write=written_as(lambda content: content.encode()[:-9000]),
        status="unreadable",
        lost=None,
        says=("breaks off at line",),
    ),
    "exception": Case(
        with_own("data = open('my_data.csv').read()"), status="crashed", says=("FileNotFoundError",)
    ),
    "exception in an answer": Case(
        into("draw", lambda source: f"{source}\n\n\nassert_it = undefined_name"),
        status="crashed",
        says=("draw (NameError)",),
    ),
    "no Python": Case(
        into("draw", lambda source: source.replace("):", ")", 1)),
        status="crashed",
        lost=("draw",),
        says=("draw (SyntaxError)",),
    ),
    "endless": Case(with_own("while True:\n    pass"), status="timed out", says=("ran too long",)),
    "exit": Case(with_own("exit()"), status="crashed", says=("SystemExit",)),
    "sys.exit": Case(with_own("import sys\nsys.exit(1)"), status="crashed", says=("SystemExit",)),
    "input": Case(
        into("poll_1", lambda source: "poll_1 = input('a, b or c? ')"),
        status="crashed",
        lost=("poll_1",),
        says=("poll_1 (StdinNotImplementedError)",),
    ),
    "magics": Case(
        with_own("%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n!echo hello"), quiet=True
    ),
    "cell magic": Case(into("lstm_step", lambda source: f"%%capture\n{source}"), quiet=True),
    "pip": Case(with_own("!pip install --quiet numpy"), says=("Cell 15 installs packages",)),
    "files": Case(
        with_own("open('notes.txt', 'w').write('x')\nassert open('notes.txt').read() == 'x'"), quiet=True
    ),
    "import in the setup": Case(
        lambda notebook: (
            into("setup-setup", lambda source: f"import statistics\n{source}")(notebook),
            into("poll_1", lambda source: f"{source}\nassert statistics.mean([3, 4]) > 3")(notebook),
        ),
        says=("The given cell setup-setup was changed",),
    ),
}

# What others above come near to is handed in at night only.
NIGHTLY = {
    "exception", "sys.exit", "cell magic", "files", "endless", "pip", "one huge output", "solved",
    "magics", "no Python", "exit",
}  # fmt: skip


@pytest.fixture(scope="module")
def honest(request, tmp_path_factory):
    """The records and points of everybody whom this session's tests ask about, from one run."""
    asked = {item.callspec.params["name"] for item in request.session.items if item.path == request.path}
    course = copy_real_course(tmp_path_factory.mktemp("honest") / "course")
    release(course, ["ps1"])
    students = {name: f"student-{number:02}" for number, name in enumerate(CASES) if name in asked}
    for name in students:
        case = CASES[name]
        notebook = copy.deepcopy(sample.answered(RELEASED, RIGHT))
        changed = case.change(notebook) if case.change else None
        folder = course.submitted / students[name] / "ps1"
        folder.mkdir(parents=True)
        (case.write or under("ps1.ipynb"))(folder, changed if isinstance(changed, dict) else notebook)
    records = {
        record.student: record for record in grade(course, "ps1", how=How(workers=2, timeout=TIMEOUT))
    }
    scores = read_scores(course, "ps1", list(records.values()))
    return {name: (records[student], scores.row(student)) for name, student in students.items()}


@pytest.mark.parametrize("name", nightly_but(CASES.keys() - NIGHTLY, CASES))
def test_everybody_gets_what_was_earned(honest, name):
    case = CASES[name]
    record, row = honest[name]
    told = " ".join([record.sentence, *record.remarks])
    assert record.status in case.status.split(" or "), (told, record.messages)
    if case.lost is None:
        assert row.points is None and record.sentence
    else:
        points = {exercise: row.points[exercise] for exercise in FULL}
        assert points == {**FULL, **dict.fromkeys(case.lost, 0)}, (told, record.messages)
        hand = row.waiting if "why" not in told.split(" are missing")[0] else ("why",)
        assert hand == ("why",), "the written answer waits for somebody"
    for part in case.says:
        assert part in told
    if case.quiet:
        assert told.strip() == ""
