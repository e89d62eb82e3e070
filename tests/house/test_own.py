"""The last assignment's helpers: parts out of one's own notebooks, and the file that is handed in."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from seqcourse import CourseError, functional, own

ROOT = Path(__file__).resolve().parents[2]
CELLS = [
    "import math\nimport torch\nfrom torch import nn as layers\nraise SystemExit('this was run')",
    "SCALE = 2\n\n\ndef helper(x):\n    return SCALE * x",
    "def attention(q, k, v, mask=None):\n    return 'an earlier try'",
    "def unfinished(:\n    %magic",
    "def attention(q, k, v, mask=None):\n    # mine\n    return helper(math.floor(q))",
    "def causal_mask(size, past=0):\n    raise NotImplementedError()",
    "@torch.no_grad()\ndef merge_heads(y):\n    return 2 * layers.Identity()(y)",
]


@pytest.fixture()
def student(tmp_path) -> Path:
    """A folder with a student's assignment 5."""
    cells = [{"cell_type": "code", "source": text} for text in CELLS]
    (tmp_path / "ps5").mkdir()
    (tmp_path / "ps5" / "ps5.ipynb").write_text(json.dumps({"cells": cells}))
    return tmp_path


def made(text: str) -> dict:
    space: dict = {}
    exec(text, space)
    return space


def test_a_part_comes_with_what_it_uses_and_nothing_is_run(student):
    text = own.source("ps5: attention, merge_heads", student)
    space = made(text)
    assert space["attention"](3.7, None, None) == 6
    assert space["merge_heads"](torch.ones(2, requires_grad=True)).requires_grad is False
    assert "# mine" in text and "earlier" not in text and "SystemExit" not in text
    assert "# ps5: attention, merge_heads\n" in text


def test_an_answer_that_is_missing_or_unsolved_is_the_courses(student):
    text = own.source("ps5: causal_mask, split_heads; ps1: rnn_step", student)
    assert "causal_mask (the course's), split_heads (the course's)" in text
    space = made(text)
    assert torch.equal(space["causal_mask"](3), functional.causal_mask(3))
    assert space["split_heads"](torch.zeros(2, 5, 6), 3).shape == (2, 3, 5, 2)
    assert space["rnn_step"] is functional.rnn_step


def test_every_answer_of_the_course_can_be_taken_from_its_notebook_and_without_one(student):
    wanted = (
        "ps2: greedy; ps4: positional_encoding, SelfAttention; ps5: multi_head, padding_mask; "
        "ps6: encoder_block, label_smoothed_loss; ps8: caption_step"
    )
    for folder in (ROOT / "solutions", student):
        space = made(own.source(wanted, folder))
        lengths = torch.tensor([2, 4])
        assert torch.equal(space["padding_mask"](lengths, 4), functional.length_mask(lengths, 4))
        assert callable(space["caption_step"]) and callable(space["label_smoothed_loss"])
    assert "encoder_block is not solved in your notebook. Use seqcourse.nn.Block" in own.source(
        wanted, student
    )
    for place in own.INSTEAD.values():
        room, _, name = place.partition(".")
        assert hasattr(import_module(f"seqcourse.{room}"), name), place


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("attention", "names no assignment"),
        ("ps5:", "names no assignment or no answer"),
        ("ps5: attenton", "ps5 has no answer 'attenton'. It has attention, "),
        ("ps77: attention", "no assignment 'ps77'"),
        ("ps7: mask_words", "mask_words of ps7 is not solved in your notebook"),
        ("ps4: attention; ps5: attention", "attention is defined twice"),
    ],
)
def test_what_cannot_be_taken_is_a_sentence(student, wanted, sentence):
    with pytest.raises(CourseError, match=sentence):
        own.source(wanted, student)


def test_the_same_part_may_be_named_again(student):
    once, again = (
        own.source(wanted, student) for wanted in ("ps5: attention", "ps5: attention; ps5: attention")
    )
    assert once == again


def test_in_jupyter_the_cell_turns_into_the_source(student, monkeypatch, capsys):
    given = []
    shell = SimpleNamespace(set_next_input=lambda text, replace: given.append((text, replace)))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    own.parts("ps5: attention", student)
    assert given == [(own.source("ps5: attention", student), True)]
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    own.parts("ps5: attention", student)
    assert "# mine" in capsys.readouterr().out


def test_what_is_saved_is_what_load_gets(tmp_path):
    table = torch.randn(3, 4)
    tensors = {"a": table, "tied": table, "ids": torch.tensor([7, 9]), "turned": table.T}
    own.save(tmp_path / own.FILE, tensors, {"vocabulary": '["él"]'})
    found, notes = own.read(tmp_path / own.FILE)
    assert notes == {"vocabulary": '["él"]'}
    assert found["ids"].tolist() == [7, 9]
    assert found["a"].dtype == torch.float16
    assert torch.equal(found["turned"], table.half().T) and torch.equal(found["tied"], found["a"])


@pytest.mark.parametrize(
    ("tensors", "notes", "sentence"),
    [
        ({"a": torch.zeros(2)}, {"size": 3}, "'size' should be text, but is int"),
        ({"a": [1.0]}, {}, "'a' should be a tensor, but is list"),
        ({"a": torch.tensor([1e6])}, {}, "finite"),
        ({"a": torch.zeros(4_000_001)}, {}, "4,000,000 numbers"),
        ({"a": torch.zeros(2_500_000, dtype=torch.int64)}, {}, "16 MB, but would have 20.0"),
    ],
)
def test_what_the_grader_would_refuse_is_not_saved(tmp_path, tensors, notes, sentence):
    with pytest.raises(CourseError, match=sentence):
        own.save(tmp_path / own.FILE, tensors, notes)
    assert not list(tmp_path.iterdir())


def test_training_writes_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotImplementedError, match="no make yet"):
        own.trained({})
    budgets = []

    def make(budget):
        budgets.append(budget)
        return {"a": torch.ones(2)}, {}, [3.0, 2.0]

    assert own.trained({"make": make}) == [3.0, 2.0]
    assert budgets == ["quick"]
    assert "2 steps in all; this cell took 0.0 minutes" in capsys.readouterr().out
    assert own.read()[0]["a"].tolist() == [1, 1]
    own.save(own.FILE, {"a": torch.zeros(1)}, {})  # what took an hour
    own.trained({"make": make})
    assert own.read()[0]["a"].tolist() == [0]
    own.trained({"make": make}, "full")
    assert own.read()[0]["a"].tolist() == [1, 1]


def test_losses_without_a_curve_lose_no_training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own.trained({"make": lambda budget: ({"a": torch.ones(2)}, {}, [(1, 3.0), (2, 2.0)])}, "full")
    tensors, notes = own.read()
    assert tensors["a"].tolist() == [1, 1] and "losses" not in notes


def test_a_definition_that_no_compiler_takes_is_passed_over():
    assert list(own.with_needs(["def f(a, a): pass", "def g(): return 1"], "g")) == ["g"]
