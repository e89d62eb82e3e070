"""`seqcourse solution`: what it prints, and what it says is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellgrader.answers import sheet as sheets
from cellgrader.errors import CourseError
from seqcourse import progress
from seqcourse.check import ps5, right
from seqcourse.cli.app import app
from tests.house.test_house import ROOT


@pytest.fixture
def notebook(tmp_path, monkeypatch) -> Path:
    """Assignment 5 alone in the current folder."""
    for name in ("ps5.ipynb", sheets.FILE):
        shutil.copy(ROOT / "assignments" / "ps5" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "ps5.ipynb"


def run(*words: str) -> str:
    """What the command prints; what it refuses comes as an error."""
    done = CliRunner().invoke(app, ["solution", *words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def refused(*words: str) -> str:
    with pytest.raises(CourseError) as caught:
        run(*words)
    return str(caught.value)


def key(name: str) -> str:
    shift = sheets.read(ROOT / "assignments" / "ps5" / "ps5.ipynb").answers[name].shift
    return right.key(getattr(ps5, name), shift)


def test_it_says_what_is_missing(notebook):
    said = refused("ps5", "1")
    assert "exercise 1 (causal_mask) is still closed" in said
    assert "when check.ps5.causal_mask(causal_mask) passes in ps5.ipynb" in said
    assert "Each changed answer gets another hint" in said and "ps5 1 --stuck" in said
    progress.write(notebook, of="causal_mask", passed=True, key="not this one")
    assert "still closed" in refused("ps5", "1")


def test_whoever_is_stuck_can_look_it_up_and_that_is_noted(notebook):
    assert "def causal_mask" in run("ps5", "1", "--stuck")
    assert "def causal_mask" in run("ps5", "1"), "it stays open"
    progress.write(notebook, of="causal_mask", passed=True)
    progress.write(notebook, of="padding_mask", passed=True, key=key("padding_mask"))
    assert "def padding_mask" in run("ps5", "2a", "--stuck")
    found = progress.read(notebook)
    assert [task.looked_up for task in found.tasks[:3]] == [True, False, False]
    assert "1 looked up" in str(found) and found.tasks[0].state is True


def test_polls_open_on_a_second_try_and_questions_beside_an_answer(notebook):
    assert "checked twice" in refused("ps5", "poll_1")
    assert "an answer of yours stands in its cell" in refused("ps5", "why")
    sheet = sheets.read(notebook)
    progress.write(notebook, of="poll_1", passed=True, key=sheet.public_key("poll_1"))
    assert "a is right." in run("ps5", "poll_1")
    assert "b is wrong." in run("ps5", "poll_2", "--stuck")
    notebook.write_text(notebook.read_text().replace(progress.STUB, "Two things went wrong."))
    assert len(run("ps5", "why")) > 300
    assert progress.read(notebook).points[0] == 0


def test_a_class_that_leaves_this_way_out_shows_nothing_to_whoever_is_stuck(notebook):
    path = notebook.with_name(sheets.FILE)
    path.write_text(path.read_text().replace('"after_hints": true', '"after_hints": false'))
    assert "still closed" in refused("ps5", "1", "--stuck")
    assert progress.latest(notebook) == {}


def test_it_prints_an_open_answer_plainly_where_nobody_looks(notebook):
    progress.write(notebook, of="causal_mask", passed=True, key=key("causal_mask"))
    said = run("ps5", "1")
    assert "Exercise 1 · " in said and "Another style: tril with a diagonal" in said
    assert "    return torch.arange(past + size) <= queries\n" in said and "\x1b" not in said
    listed = run("ps5").splitlines()
    assert " 1  open    causal_mask" in listed[0] and "2a  closed  padding_mask" in listed[1]


def test_of_several_answers_the_open_ones_are_shown(notebook):
    progress.write(notebook, of="split_heads", passed=True, key=key("split_heads"))
    said = run("ps5", "4")
    assert "def split_heads" in said and "def merge_heads" not in said
    assert "exercise 4b (merge_heads) is still closed" in said
    assert "merge_heads" not in run("ps5", "4A").split("A single `reshape`")[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ps5", "99"), "In ps5 these have one: 1 (causal_mask), 2a (padding_mask), 2b"),
        (("ps77", "1"), "'ps77' should be an assignment such as ps3"),
        (("../ps5", "1"), "should be an assignment such as ps3"),
        (("", "1"), "should be an assignment such as ps3"),
        (("ps5", "1", "--with", "ABCD"), "need no key of a class"),
    ],
)
def test_what_does_not_exist_is_refused_in_a_sentence(words, said, notebook):
    assert said in refused(*words)


@pytest.mark.parametrize("content", [None, "", "[1, 2]", '{"answers": {"x": {"number": 1}}}'])
def test_a_closed_class_and_a_damaged_file_are_named(content, notebook):
    path = notebook.with_name(sheets.FILE)
    path.unlink()
    if content is not None:
        path.write_text(content)
    assert "worked.json should hold worked answers, but there are none" in refused("ps5", "1")


def test_a_class_key_is_typed_once(notebook):
    found = sheets.read(notebook)
    locked = sheets.Sheet("ps5", sheets.CLASS, False, {})
    for name, entry in list(found.answers.items())[:2]:
        lines = locked.locked(name, sheets.Worked(f"Why {name}.", "code"), "ABCD-EFGH")
        locked.answers[name] = sheets.Sealed(entry.number, entry.title, 0, lines)
    notebook.with_name(sheets.FILE).write_bytes(locked.written())
    assert "opens it after the due date, with a key" in refused("ps5", "1")
    assert "does not fit" in refused("ps5", "1", "--with", "ABCD-EFGX")
    assert "Why causal_mask." in run("ps5", "1", "--with", " abcd-efgh")
    assert "Why padding_mask." in run("ps5", "2")


def test_an_instructor_gets_the_key_that_the_setting_calls_for(monkeypatch, tmp_path):
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "book").mkdir()
    shutil.copytree(ROOT / "solutions" / "ps5", tmp_path / "solutions" / "ps5")
    monkeypatch.chdir(tmp_path)
    assert 'when = "", and no assignment' in refused(
        "ps5", "--key"
    ) and "needs no key of yours" in refused("ps5", "--key")
    local = tmp_path / "course.local.toml"
    local.write_text('[answers]\nwhen = "never"\n')
    assert "course.local.toml, line 2" in refused("ps5", "--key")
    local.write_text('[answers]\nwhen = ""\n[ps5]\ndue = 2026-11-20T18:00:00Z\n')
    first, second = run("ps5", "--key").splitlines()
    assert len(first) == 19 and "after 20 November 2026, 18:00 UTC" in second
    assert "should be an assignment with a notebook in" in refused("ps8", "--key")
