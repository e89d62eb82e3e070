"""`make exercise` lays out the example of `solutions/checks/README.md`: an exercise that works."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
import torch

from seqcourse import progress
from seqcourse.check.calls.payload import pack
from seqcourse.check.cards import card, mistakes
from seqcourse.check.cards.listing import hidden_check
from seqcourse.check.cards.shipped import FILE, fill, written_out
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge
from seqcourse.cli.exercise import lay_out
from seqcourse.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]
NAME = "laid_out"
SEEDS = (0, 1, 6, 11)  # three of them agree modulo 5


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    """A course with assignment 5, and its new card, record and notebook."""
    root = tmp_path_factory.mktemp("course")
    (root / "solutions" / "checks" / "ps5").mkdir(parents=True)
    for path in ("solutions/checks/README.md", "solutions/ps5/ps5.ipynb", f"seqcourse/check/ps5/{FILE}"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, root / path)
    return root, *lay_out(root, f"ps5/{NAME}")


@pytest.fixture
def written(laid_out):
    """The record, its hidden check and the answers."""
    _, text, code, _ = laid_out
    space: dict = {"__name__": "record"}
    exec(code.read_text(), space)
    record, found = space[NAME], card.read(text)
    assert isinstance(record, Exercise)
    fill({NAME: record}, {NAME: found.told})
    (check,) = (hidden_check(cell, lines, record) for cell, lines in found.hidden.items())
    return record, check, found.answers


def function(name: str, source: str):
    space: dict = {}
    exec(mistakes.IMPORTS + source, space)
    return space[name]


def shown(check, student, seed: int):
    judge = Judge(check, seed)
    return judge.verdict(pack(probe(judge.request, {check.answer: student})))


def test_right_answers_of_the_recipe_get_every_point(written):
    record, check, answers = written
    assert len(answers.right) == 2
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
    assert NAME in capsys.readouterr().out
    with pytest.raises(Exception, match="."):
        record.validate(lambda lengths, size: torch.ones(len(lengths), size, dtype=torch.bool))


def test_inputs_of_the_recipe_differ_from_seed_to_seed(written):
    _, check, _ = written
    made = [check.make(check.choose(seed)) for seed in range(12)]
    kinds = {str([kind, *case.values()]) for cases in made for kind, case in cases.items()}
    assert len(kinds) > 0.8 * sum(map(len, made))  # a batch of one has seven sizes


def test_the_notebook_of_the_recipe_is_whole_and_its_solution_right(written, laid_out):
    _, check, _ = written
    root, _, _, path = laid_out
    before, after = (nbformat.read(one, 4) for one in (ROOT / "solutions/ps5/ps5.ipynb", path))
    nbformat.validate(after)
    old = {cell.id: cell for cell in before.cells}
    new = [cell for cell in after.cells if old.get(cell.id) != cell]
    last = progress.read(ROOT / "solutions/ps5/ps5.ipynb").tasks[-1].number
    task = progress.read(path).tasks[-1]
    assert (task.number, task.points, task.minutes) == (last + 1, {NAME: 2}, 10)
    top, text, solution, self_check, grade = new
    assert f"\n| {last + 1} | `{NAME}` | 2 | 10 |\n\n" in top.source and NAME in text.source
    assert grade.metadata.nbgrader.grade_id == check.cell and NAME in self_check.source
    for seed in SEEDS:
        assert shown(check, function(NAME, solution.source), seed).share == 1.0
    assert after.cells[-2].id == "ps5-used-md"
    assert f'"{NAME}": {{"number": {last + 1}, "idea": ' in written_out(root, "ps5")


@pytest.mark.parametrize(
    "place", ["ps5", "ps5/my mask", "ps99/my_mask", "ps5/causal_mask", f"ps5/{NAME}"]
)
def test_a_name_that_is_none_or_is_taken_is_refused(laid_out, place):
    with pytest.raises(CourseError, match=r"named like ps5/my_mask|already"):
        lay_out(laid_out[0], place)
