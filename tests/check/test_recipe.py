"""The example of `solutions/checks/README.md`, as it stands there, makes an exercise that works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from seqcourse.check import mistakes
from seqcourse.check.corpus import read
from seqcourse.check.exercise import Exercise, with_mistakes
from seqcourse.check.listing import read_checks
from seqcourse.check.plain import pack
from seqcourse.check.probe import probe
from seqcourse.check.verdict import Judge

README = Path(__file__).resolve().parents[2] / "solutions" / "checks" / "README.md"
BLOCKS = re.findall(r"^```\w+\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
NEIGHBOURS = """
from collections.abc import Sequence
from typing import Any
import torch
from torch import Tensor
from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inputs import normal
"""
SEEDS = (0, 1, 6, 11)  # three of them agree modulo 5


def block(words: str) -> str:
    """The one block of the page with these words."""
    (found,) = (each for each in BLOCKS if words in each)
    return found


@pytest.fixture
def written(tmp_path):
    """The record, its hidden check and the answers."""
    space: dict = {}
    exec(NEIGHBOURS + block("= Exercise("), space)
    (name,) = (key for key, value in space.items() if isinstance(value, Exercise))
    record = space[name]
    (tmp_path / "checks.txt").write_text(block(f"=== {name}-grade\n"), encoding="utf-8")
    (tmp_path / f"{name}.txt").write_text(block("=== right:"), encoding="utf-8")
    answers = read(tmp_path / f"{name}.txt")
    with_mistakes({name: record}, {name: answers.mistakes})
    (check,) = read_checks(tmp_path / "checks.txt", {name: record})
    return record, check, answers


def function(name: str, source: str):
    space: dict = {}
    exec(mistakes.IMPORTS + source, space)
    return space[name]


def shown(check, student, seed: int):
    judge = Judge(check, seed)
    return judge.verdict(pack(probe(judge.request, {check.answer: student})))


def test_right_answers_of_the_recipe_get_every_point(written):
    record, check, answers = written
    assert answers.right
    for _, source in answers.right:
        for seed in SEEDS:
            assert shown(check, function(record.name, source), seed).share == 1.0


def test_wrong_answers_of_the_recipe_lose_points_and_are_named(written):
    record, check, answers = written
    assert len(answers.mistakes) == 2 and len(answers.wrong) == 3
    for question, source in answers.mistakes:
        for seed in SEEDS:
            verdict = shown(check, function(record.name, source), seed)
            assert verdict.share < 1 and question in verdict.sentence
    for name, source, words in answers.wrong:
        verdict = shown(check, function(record.name, source), 0)
        assert verdict.share < 1, name
        assert all(each.strip() in verdict.sentence for each in words.split("|")), verdict.sentence


def test_the_self_check_of_the_recipe_takes_the_right_answer(written, capsys):
    record, _, answers = written
    record(function(record.name, answers.right[0][1]))
    assert "padding_mask" in capsys.readouterr().out
    with pytest.raises(Exception, match="."):
        record.validate(lambda lengths, size: torch.ones(len(lengths), size, dtype=torch.bool))


def test_inputs_of_the_recipe_differ_from_seed_to_seed(written):
    _, check, _ = written
    made = [check.make(check.choose(seed)) for seed in range(12)]
    kinds = {str([*case.values()]) for cases in made for case in cases.values()}
    assert len(kinds) > 0.8 * sum(map(len, made))  # a batch of one has seven sizes
