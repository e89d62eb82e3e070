"""`seqcourse practice`: every answer is what happens when the code runs, whatever that code does."""

from __future__ import annotations

import json
import os
import re
import traceback

import pytest
import torch
from typer.testing import CliRunner

from cellgrader.errors import CourseError
from cellgrader.viva.questions import LINE, LOOK, NEW_SHAPE, WORD
from seqcourse.check import ps5
from seqcourse.check.calls.compare import Mistake
from seqcourse.check.cards import mistakes
from seqcourse.check.grade import versions
from seqcourse.check.inside import changed
from seqcourse.cli.app import app
from seqcourse.cli.practice.items import HARMLESS, REVIEW, WHERE, PracticeQuestion, items
from seqcourse.cli.practice.running import asked

CAUSAL = """def causal_mask(size, past=0):
    rows = torch.arange(size)[:, None] + past
    columns = torch.arange(past + size)
    return columns <= rows
"""
SPLIT = """def split_heads(x, heads):
    b, n, d = x.shape
    cut = x.reshape(b, n, heads, d // heads)
    return cut.transpose(1, 2)
"""
STEP = """def generate(step, prompt, count):
    written, cache = [prompt], None
    while len(written) <= count:
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    return torch.cat(written, dim=1)
"""
SOURCES = {"causal_mask": CAUSAL, "split_heads": SPLIT, "generate": STEP}
BECOMES = re.compile(r"Line (\d+) (?:becomes `(.+?)`|is deleted)\.")


@pytest.fixture(scope="module")
def made() -> list[PracticeQuestion]:
    made = (items("ps5", name, source, "import torch", 1) for name, source in SOURCES.items())
    return [item for each in made for item in each]


def function(source: str, name: str):
    space = {"torch": torch, "__name__": "answer"}
    exec(compile(source, "<again>", "exec"), space)
    return space[name]


def after(item: PracticeQuestion, words: str):
    """The function after the change that these words name."""
    line, reads = BECOMES.match(words).groups()
    lines = item.code.splitlines()
    old = lines[int(line) - 1]
    lines[int(line) - 1] = old[: len(old) - len(old.lstrip())] + (reads or "pass")
    return function("\n".join(lines), item.name)


def result(answer, case):
    """What a call gives, or where it stops."""
    try:
        return answer(**case.make())
    except Exception as error:
        return [x.lineno for x in traceback.extract_tb(error.__traceback__) if x.filename == "<again>"][
            -1
        ]


def alike(one, other) -> bool:
    return isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and torch.equal(one, other)


def test_every_kind_is_asked(made):
    kinds = {item.kind for item in made}
    assert kinds >= {LOOK, NEW_SHAPE, LINE, HARMLESS, WHERE, REVIEW} and WORD not in kinds
    assert all(len(set(item.options)) == len(item.options) > 2 and item.why for item in made)


def test_what_is_right_is_what_another_run_gives(made):
    for item in made:
        first, right = ps5.EXERCISES[item.name].cases[0], item.options[item.right]
        if item.kind == NEW_SHAPE:
            assert str(tuple(result(after(item, item.words), first).shape)) == right
            assert f"and is {right}." in item.why
        if item.kind == LINE:
            assert f"line {result(after(item, item.words), first)}." in right
            assert item.why.startswith(right[:-1])
        if item.kind == LOOK:
            expression = re.search(r"shape of `(.+)` in line", item.words)[1]
            seen = []
            code = item.code.replace(expression, f"seen({expression})")
            answer = function(code, item.name)
            answer.__globals__["seen"] = lambda value, seen=seen: seen.append(value) or value
            answer(**first.make())
            assert str(tuple(seen[0].shape)) == right and f"`{expression}` {right}" in item.why


def test_one_change_has_no_effect_and_one_input_shows_one_that_had_none(made):
    for item in made:
        cases, right = ps5.EXERCISES[item.name].cases, item.options[item.right]
        if item.kind == HARMLESS:
            was = result(function(item.code, item.name), cases[0])
            assert [x for x in item.options if alike(result(after(item, x), cases[0]), was)] == [right]
        if item.kind == WHERE:
            shown = next(case for case in cases[1:] if right.startswith(case.label))
            old, new = function(item.code, item.name), after(item, item.words)
            assert alike(result(new, cases[0]), result(old, cases[0]))
            assert not alike(result(new, shown), result(old, shown))


def test_the_mistake_to_find_is_the_one_that_the_self_check_finds(made):
    space: dict = {}
    exec(mistakes.IMPORTS, space)
    reviews = [item for item in made if item.kind == REVIEW]
    for item in reviews:
        exec(item.code, space)
        with pytest.raises(Mistake) as caught:
            ps5.EXERCISES[item.name](space[item.name], ask=False)
        assert caught.value.finding.question == item.options[item.right]
    assert {item.name for item in reviews} == set(SOURCES)


@pytest.mark.nightly
def test_the_same_seed_asks_the_same_in_every_process(monkeypatch):
    answers = {name: (source, "import torch") for name, source in list(SOURCES.items())[:2]}
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    first = list(asked("ps5", answers, 3, seed=5))
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    assert list(asked("ps5", answers, 3, seed=5)) == first
    assert [len({item.about for item in each}) for each in first] == [3, 3]


def test_an_endless_change_costs_only_its_own_question_where_nothing_forks(monkeypatch):
    monkeypatch.setattr(changed, "SECONDS", 0.2)
    monkeypatch.delattr(os, "fork")
    exercise = ps5.EXERCISES["causal_mask"]
    endless = CAUSAL.replace("    rows", "    while True:\n        size += 0\n    rows")
    calls, sources = versions.calls_of(exercise), [CAUSAL, endless, CAUSAL]
    request = versions.request(exercise, calls, sources, "", 60)
    found = changed.run(request, {"torch": torch}, forks=False)
    assert found["1.late"] and "1.0.result" not in found
    assert (found["2.0.result"] == found["0.0.result"]).all()


def test_a_wrong_notebook_gets_sentences():
    answers = {
        "split_heads": (SPLIT, "import a_package_that_is_missing"),
        "merge_heads": ("def merge_heads(y):\n    return y.flatten(2)", ""),
        "combine": ("def combine(padding, causal):\n    raise SystemExit", ""),
        "causal_mask": (CAUSAL.replace("    rows", "    print('said')\n    rows"), "import torch"),
    }
    missing, wrong, ended, good = asked("ps5", answers, 1, seed=5)
    assert "it does not run here. ModuleNotFoundError: No module named 'a_package_that_is" in missing
    assert "does not pass its self-check yet. merge_heads: the shape" in wrong
    assert "it does not run here. SystemExit" in ended
    assert len(good) == 1
    (late,) = asked("ps5", {"causal_mask": ("while True: pass", "")}, 1, seed=5, limit=0.5)
    assert late == "No question about causal_mask: it ran longer than 0.5 seconds."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    unsolved = "def rotate(x, positions):\n    raise NotImplementedError()"
    sources = ["import torch", *SOURCES.values(), unsolved]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (tmp_path / "ps5.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_answers_are_read_and_explained_and_the_end_of_the_input_ends_it(folder):
    words = ["practice", "ps5", "causal_mask", "--seed", "3", "--count", "4"]
    said = CliRunner().invoke(app, words, input="a\nno\nb\n\n").output
    assert said.count("Type one of a, b, c") == 1 and len(re.findall(r"^\d\. causal", said, re.M)) == 4
    right, wrong = said.count("✓ Right."), len(re.findall(r"It is [a-d]\) ", said))
    assert right + wrong == 3 and f"{right} of 3 right. The same questions again: " in said
    assert said.endswith(" seqcourse practice ps5 causal_mask --seed 3\n")
    record = folder / ".ps5.progress.jsonl"
    assert {path.name for path in folder.iterdir()} == {"ps5.ipynb", record.name}
    noted = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(note["asked"], note["right"]) for note in noted].count(("causal_mask", True)) == right
    assert len(noted) == 3


def test_what_is_due_is_asked_first(folder):
    long_ago = {"at": "2026-01-01T09:00:00+00:00", "of": "split_heads", "passed": True}
    (folder / ".ps5.progress.jsonl").write_text(json.dumps(long_ago) + "\n")
    for seed in "12":
        words = ["practice", "ps5", "--seed", seed, "--count", "3"]
        assert "\n1. split_heads" in CliRunner().invoke(app, words, input="").output


def test_a_sheet_has_its_answers_apart(folder):
    words = ["practice", "ps5", "causal_mask", "--seed", "3", "--count", "3", "--sheet", "quiz.md"]
    assert CliRunner().invoke(app, words).exit_code == 0
    sheet, answers = ((folder / name).read_text("utf-8") for name in ("quiz.md", "quiz-answers.md"))
    parts, told = sheet.split("## ")[1:], re.findall(r"^(\d\.) ([a-d]\) .{5})", answers, re.M)
    assert [number for number, _ in told] == ["1.", "2.", "3."]
    assert all(f"\n- {option}" in part for part, (_, option) in zip(parts, told, strict=True))
    assert "The shape was" not in sheet and "self-check says" not in sheet


def test_what_cannot_be_asked_is_said(folder):
    said = {
        "ps5 rotate": "rotate should be solved in ps5.ipynb",
        "ps5 nonsense": "'nonsense' should be an answer of ps5: ",
        "other.ipynb": "should have the name of an assignment",
        "ps77": "should be an assignment such as ps3",
    }
    for words, sentence in said.items():
        done = CliRunner().invoke(app, ["practice", *words.split()])
        assert isinstance(done.exception, CourseError) and sentence in str(done.exception)
