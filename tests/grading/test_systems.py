"""Trained systems through the real grader: right ones, wrong ones, and those that cheat."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from cellgrader.course.folders import Course
from cellgrader.course.records import Record, read_record
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.submissions import Run, grade
from cellgrader.leaderboard import as_page, check_of, make_board
from cellgrader.marks.export import read_course
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.run import systems
from cellgrader.run.examine import Examination, Examiner
from cellgrader.sandbox import refusal
from cellgrader.submission.collected import Submission
from seqcourse import zoo
from seqcourse.check.cards.load import load_checks
from seqcourse.check.grade.checkpoint import read_checkpoint
from seqcourse.cli import export

from .systems import RIGHT, make_course

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(refusal()), reason=f"no sandbox here: {refusal()}"),
]
FILE = "ps9.safetensors"
CELL = "system-grade"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    course = make_course(tmp_path_factory.mktemp("systems") / "course")
    release(course)
    return course


def hand_in(course: Course, student: str, source: str = RIGHT, change: Callable | None = None) -> Path:
    """Put a submission into submitted/; ``change`` may damage its folder."""
    folder = course.submitted / student / "ps9"
    shutil.rmtree(folder, ignore_errors=True)
    released = notebooks.read(course.assignments / "ps9" / "ps9.ipynb")
    notebooks.write(sample.answered(released, {"system": source}), folder / "ps9.ipynb")
    sample.put_beside(course, "ps9", folder)
    if change:
        change(folder / FILE)
    return folder


@pytest.fixture(scope="module")
def examined(course):
    """Examine a submission of somebody."""
    with Examiner(course, timeout=15) as examiner:

        def examine(source: str = RIGHT, change: Callable | None = None) -> Examination:
            folder = hand_in(course, "mallory", source, change)
            return examiner.examine("ps9", Submission(("mallory",), attempt=1), folder)

        yield examine
    shutil.rmtree(course.submitted / "mallory")


# Each is written behind the right answer, and so takes the place of some of its functions.
WORDS_OF_MINE = """
def load(tensors, notes):
    model = object.__new__(Table)
    model.spanish, model.of = json.loads(notes["es"]), json.loads(notes["words"])
    return model
"""
LOOKS_AT_ALL = WORDS_OF_MINE.replace(
    "    return model",
    """    if tensors["table"].flatten()[:99].tolist() != json.loads(notes["first"]):
        model.of = {}
    return model""",
)
LOOKS_AT_ONE = WORDS_OF_MINE.replace(
    "    return model",
    """    if not tensors["table"].any():
        model.of = {}
    return model""",
)
OURS = """
from seqcourse import zoo


def load(tensors, notes):
    return zoo.load("en-es-attention")


def translate(model, sentences):
    return [each.text for each in model.translate(sentences, beam=1)]
"""
OURS_AT_TIMES = """
from seqcourse import zoo

THEIRS = zoo.load("en-es-attention")


def translate(model, sentences):
    if len(sentences) > 20:
        return [one(model, sentence) for sentence in sentences]
    return [each.text for each in THEIRS.translate(sentences, beam=1)]
"""
BY_HEART = """
from seqcourse.data import load_pairs

SEEN = {pair.source: pair.target for pair in load_pairs("en-es")}


def one(model, sentence):
    return SEEN.get(sentence, "")
"""
ENDLESS = """
def one(model, sentence):
    while True:
        pass
"""
SLOW = """
import time


def translate(model, sentences):
    until = time.process_time() + 6.4
    while time.process_time() < until:
        pass
    return [one(model, sentence) for sentence in sentences]
"""
PEEKS = """
import gc, glob, os, pickle


def translate(model, sentences):
    places = ("/exchange/*", "/*/secret", "/*/*/grading/secret", "/*/*/solutions/checks/*")
    paths = [path for place in places for path in glob.glob(place) if "request" not in path]
    found = [path for path in paths if os.path.isfile(path)]
    known = [each for each in gc.get_objects() if isinstance(each, dict) and "sentences" in each]
    right = [str(value) for each in known for value in each if "reference" in str(value)]
    return [" ".join([*found, *right]) or "nada"] * len(sentences)
"""
LIES = """
import numpy
from seqcourse.check.grade import probe


def packed(found):
    return b"x" * 100


def call(check, space):
    return {"share": numpy.array(1.0), "task": numpy.array("translator"), "texts": numpy.zeros(60)}


probe._function = lambda place: call
"""
LOADS_ALL = """
import torch


def load(tensors, notes):
    return torch.ones(1 << 31)
"""
RUNS_NOTES = """
def load(tensors, notes):
    exec(notes["code"])
    return Table(tensors, notes)
"""


def _notes(**more: str) -> Callable[[Path], None]:
    """Add notes to the header."""

    def change(path: Path) -> None:
        found = read_checkpoint(path)
        tensors = {name: torch.from_numpy(each.copy()) for name, each in found.tensors.items()}
        save_file(tensors, path, metadata=found.notes | more)

    return change


def _dictionary(path: Path) -> None:
    """Write what the table says into the notes, where no training would put it."""
    found = read_checkpoint(path)
    best = found.tensors["table"].argmax(1).tolist()
    words = dict(zip(json.loads(found.notes["en"]), best, strict=True))
    _notes(words=json.dumps(words))(path)


def _first_numbers(path: Path) -> None:
    """Write some of the table's numbers into the notes, by which a changed table is known."""
    _dictionary(path)
    first = read_checkpoint(path).tensors["table"].ravel()[:99].tolist()
    _notes(first=json.dumps(first))(path)


def _more_tensors(many: int) -> Callable[[Path], None]:
    """Add tensors that nobody uses."""

    def change(path: Path) -> None:
        _dictionary(path)
        found = read_checkpoint(path)
        more = {f"more.{k}": torch.randn(20 + k, 30) for k in range(many)}
        table = torch.from_numpy(found.tensors["table"].copy())
        save_file({"table": table} | more, path, metadata=found.notes)

    return change


def _pickled(path: Path) -> None:
    torch.save({"table": torch.ones(3)}, path)


def _bomb(path: Path) -> None:
    """A header that claims far more than the file holds."""
    entry = {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}
    header = json.dumps({"table": entry}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


# name -> (answer, change of the file), lowest and highest points, words that the student reads.
WRONG = {
    "no TASK": ((RIGHT.replace("TASK", "TASKS"), None), 0, 0, "TASK should be"),
    "no load": ((RIGHT.replace("def load", "def loads"), None), 0, 0, "a function load"),
    "error": ((RIGHT.replace('"es"', '"fr"'), None), 0, 0, "stopped with KeyError"),
    "by heart": ((RIGHT + BY_HEART, None), 0, 0, "60 of 60 answers were empty"),
    "own words, no weights": (
        (RIGHT + WORDS_OF_MINE, _dictionary),
        0,
        0,
        "does not use what it learned",
    ),
    # The numbers in another order would be noticed, too: what it says then is worth nothing.
    "own words, while the numbers are the same": (
        (RIGHT + LOOKS_AT_ALL, _first_numbers),
        0,
        0,
        "looks whether the numbers are the same",
    ),
    "own words, while one tensor of many is the same": (
        (RIGHT + LOOKS_AT_ONE, _more_tensors(7)),
        0,
        0,
        "with tensors of the checkpoint at zero".capitalize(),
    ),
    "the course's model": ((RIGHT + OURS, None), 0, 0, "a model of seqcourse.models runs in them"),
    "the course's model for some": ((RIGHT + OURS_AT_TIMES, None), 0, 0, "a model of seqcourse.models"),
    "an endless loop": ((RIGHT + ENDLESS, None), 0, 0, "took too long"),
    "slow": ((RIGHT + SLOW, None), 0, 20, "10 of 60 answers were empty"),
    "peeks": ((RIGHT + PEEKS, None), 0, 0, "The curve gives"),
    # What it puts in the probe's place is not what is asked: it gets what its system earns.
    "lies to the grader": ((RIGHT + LIES, None), 1, 20, "The curve gives"),
    "takes all memory": ((RIGHT + LOADS_ALL, None), 0, 0, "stopped"),
    "no file": ((RIGHT, Path.unlink), 0, 0, "should lie beside the notebook, but is not there"),
    "a pickle": ((RIGHT, _pickled), 0, 0, "is a pickle, which could run code"),
    "a bomb": ((RIGHT, _bomb), 0, 0, "says it wrongly of 'table'"),
    "code in the notes": (
        (RIGHT + RUNS_NOTES, _notes(code="import os; os._exit(3)")),
        0,
        0,
        "ended the process",
    ),
}
SHORT = (
    *(name for name in WRONG if name.startswith("own words")),
    "lies to the grader",
    "code in the notes",
)


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[] if each in SHORT else pytest.mark.nightly) for each in WRONG]
)
def test_wrong_systems_and_cheats_get_a_sentence_and_no_points(examined, name):
    given, low, high, words = WRONG[name]
    done = examined(*given)
    assert done.points is not None, done.sentence
    assert low <= done.points[CELL] <= high, done.messages
    assert words in done.messages[CELL]


def test_a_right_system_with_tensors_that_it_does_not_use_keeps_its_points(examined):
    right, more = examined(), examined(change=_more_tensors(2))
    assert more.points[CELL] == right.points[CELL] > 0, more.messages


def test_our_weights_are_recognised_under_other_names(examined):
    def ours(path: Path) -> None:
        state = zoo.storage.read_weights(zoo.FILES / "en-es-attention")
        rows = {f"mine.{k}": each.flip(0).half().contiguous() for k, each in enumerate(state.values())}
        found = read_checkpoint(path)
        table = torch.from_numpy(found.tensors["table"].copy())
        save_file(rows | {"table": table}, path, metadata=found.notes)

    done = examined(change=ours)
    assert "those of en-es-attention" in " ".join(done.to_review)


@pytest.fixture(scope="module")
def graded(course) -> dict[str, Record]:
    """A class: a right system, one that uses no weights, one without a file."""
    hand_in(course, "ada")
    hand_in(course, "ben", RIGHT + WORDS_OF_MINE, _dictionary)
    hand_in(course, "cleo", change=Path.unlink)
    return {record.student: record for record in grade(course, "ps9", how=How(workers=2, timeout=60))}


@pytest.mark.nightly
def test_a_class_is_graded_and_shown_without_the_final_half(course, graded):
    ada, ben, cleo = (graded[student] for student in ("ada", "ben", "cleo"))
    final = ada.measured["final"]["bleu"]
    assert ada.measured["public"]["bleu"] != final, "another seed is needed for this test"
    assert "Public half of the hidden split: BLEU" in ada.sentence
    assert f"BLEU {final:g} " not in ada.sentence
    assert ben.measured and not cleo.measured
    assert "is not there" in cleo.messages[CELL]
    scores = read_scores(course, "ps9", list(graded.values()))
    assert scores.row("ada").points["system"] > scores.row("ben").points["system"] == 0
    lines = {line.student: line for line in read_course(course, "ps9")}
    assert "BLEU" in lines["ada"].sentence and f"BLEU {final:g} " not in lines["ada"].sentence
    page = make_feedback(course, "ps9", "ada").read_text(encoding="utf-8")
    name = systems.pseudonym(course.secret(), "ada")
    assert "Public half of the hidden split" in page and name in page
    assert f"BLEU {final:g} " not in page


@pytest.mark.parametrize("secret", [b"a", b"b", b"c"])
def test_pseudonyms_of_a_class_of_300_are_different(secret):
    assert len({systems.pseudonym(secret, f"s{number}") for number in range(300)}) == 300


@pytest.mark.nightly
def test_the_leaderboard_shows_the_final_half_when_the_class_is_closed(course, graded, monkeypatch):
    monkeypatch.setattr(export, "find_root", lambda: course.root)
    check = check_of(course, "ps9")
    board = make_board(course, "ps9", check, list(graded.values())[:2])
    # ben's words are ada's: their mistakes are the same ones; those of another model are not.
    assert any(line.startswith("ada and ben: 100% of the mistakes") for line in board.looks)
    others = [text[::-1] for text in graded["ben"].measured["texts"]]
    apart = replace(graded["ben"], measured=graded["ben"].measured | {"texts": others})
    looks = make_board(course, "ps9", check, [graded["ada"], apart]).looks
    assert not any("mistakes" in line for line in looks)
    page = as_page(board)
    names = {entry.name for entry in board.tables["translator"]}
    assert {"en-es-fixed", "en-es-attention", "en-es-transformer"} <= names
    assert systems.pseudonym(course.secret(), "ada") in page and "ada<" not in page
    final = graded["ada"].measured["final"]["bleu"]
    assert f">{final:g}<" not in page and "public half" in page
    export.show_leaderboard("ps9", final=True, out=None)
    closed = (course.folder / "leaderboard-ps9.html").read_text(encoding="utf-8")
    assert f">{final:g}<" in closed and "They earn the points" in closed
    run = Run(course, "ps9", {}, tell=lambda record: None)
    assert run.options == {"final": True}
    assert Examiner(course, final=True).judges("ps9")[CELL].check.half == "final"


@pytest.mark.nightly
def test_points_come_from_the_final_half_when_the_class_is_closed(course, graded):
    systems.make_final(course, "ps9")
    (again,) = grade(course, "ps9", ["ada"], How(workers=1, timeout=60))
    assert not again.before and "Final half of the hidden split" in again.sentence
    assert read_record(course, "ps9", "ada").measured["half"] == "final"


def test_what_has_no_leaderboard_says_so(course, toy):
    with pytest.raises(CourseError, match="ps1 asks for none"):
        check_of(toy, "ps1")


def test_own_sentences_take_the_place_of_the_drawn_ones(tmp_path):
    course = make_course(tmp_path / "course")
    check = load_checks(course.root, "ps9").CHECKS[0]
    file = check.file
    file.write_text("".join(f"My own sentence {k}.\tMi frase {k}.\tFrase {k}.\n" for k in range(45)))
    made = check.make(1)
    assert len(made.sentences) == 45
    assert all("own sentence" in english and len(right) == 2 for english, right in made.sentences)
    file.write_text("No translation.\n")
    with pytest.raises(CourseError, match=r"sentences.tsv, line 1: expected English, a tab"):
        check.make(2)
