"""Worked answers at the self-check: which key opens one, what a notebook shows, and when nothing."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from base64 import b64decode
from dataclasses import replace

import nbformat
import numpy
import pytest
import torch

from cellgrader.answers import folded, sheet
from cellgrader.answers.sealing import seal, unseal
from seqcourse import functional, progress
from seqcourse.check import Mistake, ps5, right, worked
from seqcourse.check.told import stages
from tests.house.test_house import ROOT

NAMES = [f"ps{number}" for number in range(1, 9)]


def beside(name: str) -> sheet.Sheet:
    return sheet.read(ROOT / "assignments" / name / f"{name}.ipynb")


def of_code(found: sheet.Sheet) -> dict[str, sheet.Sealed]:
    return {name: entry for name, entry in found.answers.items() if entry.kind == sheet.CODE}


def padding(lengths, size):
    return torch.arange(size) < lengths[:, None]


def wrong(lengths, size):
    return torch.arange(size) <= lengths[:, None]


def changed():
    """The wrong answer as another attempt: a function from no file that can be read."""
    space = {"torch": torch}
    exec("def padding_mask(lengths, size): return torch.arange(size) <= lengths[:, None]", space)
    return space["padding_mask"]


@pytest.fixture(autouse=True)
def first_attempt(monkeypatch):
    """Hints begin anew, whatever was tried before in this process."""
    monkeypatch.setattr(stages, "_failed", {})


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Assignment 5 in an editor, in a folder of its own; `shown` collects what it displays."""
    for name in ("ps5.ipynb", sheet.FILE):
        shutil.copy(ROOT / "assignments" / "ps5" / name, tmp_path)
    path = tmp_path / "ps5.ipynb"
    monkeypatch.setattr(progress, "current_notebook", lambda: path)
    monkeypatch.setattr(progress, "_show", lambda *_, **__: None)
    return path


@pytest.fixture
def displayed(monkeypatch):
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: found.append(data))
    return found


def test_a_text_opens_with_its_key_only_and_a_lock_is_always_the_same():
    locked = seal("An answer, with ω.", "key", "salt")
    assert locked == seal("An answer, with ω.", "key", "salt") and "answer" not in locked
    assert unseal(locked, "key", "salt") == "An answer, with ω."
    assert unseal(locked, "Key", "salt") is None and unseal(locked, "key", "other") is None
    for damaged in (locked[:-4], locked[4:], "", "?" * 40, locked.swapcase()):
        assert unseal(damaged, "key", "salt") is None


def test_two_texts_under_one_key_have_different_noise():
    one, other = (b64decode(seal(text, "key", "salt")) for text in ("a" * 60, "a" * 59 + "b"))
    assert sum(a == b for a, b in zip(one, other, strict=True)) < 8


@pytest.mark.parametrize("name", NAMES)
def test_the_right_result_opens_every_worked_answer_also_with_rounding_errors(name, monkeypatch):
    exercises = importlib.import_module(f"seqcourse.check.{name}").EXERCISES
    sealed, results, draw = beside(name), right._results, numpy.random.default_rng(1)
    assert len(sealed.answers) > 5

    def roughly(array):
        noise = draw.uniform(-2e-5, 2e-5, array.shape)
        return array * (1 + noise) if array.dtype.kind == "f" else array

    for answer, entry in of_code(sealed).items():
        exact = results(exercises[answer])
        for changed in (exact, [(key, roughly(array)) for key, array in exact]):
            monkeypatch.setattr(right, "_results", lambda _, changed=changed: changed)
            found = sealed.open(answer, right.key(exercises[answer], entry.shift))
            assert found and answer in found.code and answer in found.other, answer


@pytest.mark.parametrize("name", NAMES)
def test_a_likely_mistake_does_not_make_the_key(name):
    exercises = importlib.import_module(f"seqcourse.check.{name}").EXERCISES
    tried = 0
    for answer in of_code(beside(name)):
        exercise = exercises[answer]
        if exercise.likely and exercise.reference and not exercise.is_class:
            tried += 1
            mistaken = (replace(exercise, reference=one.answer) for one in exercise.likely)
            # One that shows only in a gradient, in later calls or in a sign may agree.
            assert any(right.key(one, 0) != right.key(exercise, 0) for one in mistaken), answer
    assert tried > 3


def test_a_passed_self_check_shows_the_answer_folded(notebook, displayed, capsys):
    ps5.padding_mask(padding)
    (data,) = displayed
    assert re.match(f"<details><summary[^>]*list-item[^>]*>{folded.TITLE}</summary>", data["text/html"])
    assert "torch.arange(size) &lt; lengths[:, None]" in data["text/html"]
    assert (
        "seqcourse solution ps5 padding_mask" in data["text/plain"]
        and "arange" not in data["text/plain"]
    )
    assert progress.latest(notebook)["padding_mask"].passed
    assert beside("ps5").open("padding_mask", progress.latest(notebook)["padding_mask"].key)
    assert "all as expected" in capsys.readouterr().out


def test_the_last_hint_opens_it_too_and_a_key_stays(notebook, displayed):
    left = []
    for _ in range(4):
        with pytest.raises(Mistake) as caught:
            ps5.padding_mask(changed())
        left.append(progress.latest(notebook)["padding_mask"].left)
        assert (worked.ABOVE in caught.value.shown) == bool(displayed)
    assert left == [3, 2, 1, 0] and len(displayed) == 1
    task = next(task for task in progress.read(notebook).tasks if "padding_mask" in task.points)
    assert task.looked_up and task.state is False
    ps5.padding_mask(padding)
    with pytest.raises(Mistake):
        ps5.padding_mask(wrong)  # after a right answer the hints begin anew
    last = progress.latest(notebook)["padding_mask"]
    assert last.left == 3 and beside("ps5").open("padding_mask", last.key)


def test_a_class_can_leave_the_way_by_hints_out(notebook, displayed):
    path = notebook.with_name(sheet.FILE)
    path.write_text(path.read_text().replace('"after_hints": true', '"after_hints": false'))
    for _ in range(5):
        with pytest.raises(Mistake):
            ps5.padding_mask(changed())
    assert not displayed and not progress.latest(notebook)["padding_mask"].key
    ps5.padding_mask(padding)
    assert len(displayed) == 1


def test_a_class_key_opens_and_nothing_else_does(notebook, displayed):
    path = notebook.with_name(sheet.FILE)
    locked = replace(beside("ps5"), opens=sheet.CLASS)
    answer = sheet.Worked("Why.", "def padding_mask(): ...")
    entry = replace(locked.answers["padding_mask"], sealed=locked.locked("padding_mask", answer, "K3Y"))
    path.write_bytes(replace(locked, answers={"padding_mask": entry}).written())
    ps5.padding_mask(padding)
    assert not displayed
    progress.write(notebook, of="", passed=False, key="K3Y")
    ps5.padding_mask(padding)
    assert "Why." in displayed[0]["text/html"]


def test_nothing_is_read_while_work_is_graded_or_validated(notebook, displayed, monkeypatch):
    def refused(*_):
        raise AssertionError("a file was looked at")

    monkeypatch.setattr(sheet, "read", refused)
    monkeypatch.setattr(right, "key", refused)
    ps5.padding_mask.validate(padding)  # nbgrader's Validate
    with pytest.raises(Mistake):
        ps5.padding_mask.validate(wrong)
    monkeypatch.setattr(progress, "current_notebook", lambda: None)  # a kernel without an editor
    ps5.padding_mask(padding)
    for _ in range(5):
        with pytest.raises(Mistake):
            ps5.padding_mask(changed())
    assert not displayed


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"answers": 1}', '{"answers": {"a": {}}}', "[" * 100_000, "\udcff"],
)
def test_a_damaged_or_missing_file_leaves_the_self_check_as_it_was(content, notebook, displayed):
    path = notebook.with_name(sheet.FILE)
    path.write_text(content, errors="surrogateescape")
    ps5.padding_mask(padding)
    path.unlink()
    ps5.padding_mask(padding)
    assert not displayed and progress.latest(notebook)["padding_mask"].passed


def test_what_is_shown_cannot_become_markup():
    page = folded.as_html(sheet.Worked("1 < 2 & <b>", "x<script>", "a <i>", "</pre>"))
    assert "<b>" not in page and "<script>" not in page and "<i>" not in page
    assert page.count("</pre>") == 2


def test_the_key_needs_the_function_and_not_its_texts():
    other = replace(ps5.padding_mask, idea="another", fix="another", questions=())
    assert right.key(other, 0) == right.key(ps5.padding_mask, 0)
    reversed_ = replace(ps5.padding_mask, reference=lambda n, size: ~functional.length_mask(n, size))
    assert right.key(reversed_, 0) != right.key(ps5.padding_mask, 0)


def test_lines_of_a_record_that_are_damaged_give_no_key(notebook):
    record = progress.record_file(notebook)
    record.write_text(
        "\n".join(["{", "[1]", '{"of": 3}', '{"of": "a", "key": 4}', '{"of": "a", "left": "x"}'])
    )
    assert progress.latest(notebook) == {}
    assert json.loads(notebook.with_name(sheet.FILE).read_text())["about"].endswith("ps5 NUMBER")


def test_a_second_try_of_a_poll_shows_why_each_option_is_right_or_wrong(notebook, displayed, capsys):
    ps5.polls(poll_1="b", poll_2=None, poll_3=None, poll_4=None)
    assert not displayed, "the first try is told as answered"
    ps5.polls.validate(poll_1="b")
    ps5.polls(poll_1="c", poll_2="a", poll_3=None, poll_4=None)
    (data,) = displayed
    assert data["text/html"].startswith("<details") and folded.REASONS in data["text/html"]
    assert "a is right." in data["text/html"] and "b is wrong." in data["text/html"]
    assert "<pre" not in data["text/html"] and "ps5 poll_1" in data["text/plain"]
    assert "poll_1: answered." in capsys.readouterr().out
    assert progress.read(notebook).points[0] == 0


def test_a_poll_of_a_class_with_a_key_shows_nothing_without_it(notebook, displayed):
    path = notebook.with_name(sheet.FILE)
    path.write_bytes(replace(beside("ps5"), opens=sheet.CLASS).written())
    for _ in range(3):
        ps5.polls(poll_1="b", poll_2=None, poll_3=None, poll_4=None)
    path.unlink()
    ps5.polls(poll_1="b", poll_2=None, poll_3=None, poll_4=None)
    assert not displayed


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_every_poll_has_its_reason_and_every_question_its_model(name):
    book = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    texts = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
    found, polls, written = beside(name), 0, 0
    for answer, entry in found.answers.items():
        opened = found.open(answer, found.public_key(answer))
        if entry.kind == sheet.POLL:
            polls += 1
            number = answer.removeprefix("poll_")
            (text,) = (one for one in texts if f"**Poll {number}.**" in one)
            letters = re.findall(r"^- \*\*(\w)\*\*", text.split(f"**Poll {number}.**")[1], re.M)
            told = dict(re.findall(r"^(\w) is (right|wrong)\. \S.{20,}", opened.explained, re.M))
            assert list(told) == letters and list(told.values()).count("right") == 1
        elif entry.kind == sheet.WRITTEN:
            written += 1
            assert len(opened.explained) > 200 and "ubric" not in opened.explained
    assert (
        polls == len(importlib.import_module(f"seqcourse.check.{name}").polls.letters) and written >= 1
    )
