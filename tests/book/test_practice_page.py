"""The page of questions about public code: each answer is computed here once more, in another way."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import traceback
from importlib import import_module

import pytest
import torch
from bs4 import BeautifulSoup

from cellgrader.viva.questions import BATCH, LINE, LOOK, NEW_SHAPE, NUMBERS, ROWS, WORDS
from seqcourse.cli.practice.items import HARMLESS
from seqcourse.cli.practice.page import card
from seqcourse.cli.practice.public import PUBLIC, asked
from tests.notebooks.finding import ROOT

BECOMES = re.compile(r"Line (\d+) (?:becomes `(.+?)`|is deleted)\.")


@pytest.fixture(scope="module")
def made() -> list:
    """Each question with the code that it is about."""
    return [(code, item) for code, items in asked() for item in items]


def changed(source: str, words: str) -> str:
    """The source after the change that these words name."""
    line, reads = BECOMES.search(words).groups()
    lines = source.splitlines()
    old = lines[int(line) - 1]
    lines[int(line) - 1] = old[: len(old) - len(old.lstrip())] + (reads or "pass")
    return "\n".join(lines)


def run(code, source: str, label: str = "the first example", **names):
    """What a call gives, or the line in which it stops."""
    space = {**vars(inspect.getmodule(code.exercise.reference)), **names}
    exec(compile(source, "<again>", "exec"), space)
    (given,) = [case.make() for case in code.exercise.cases if case.label == label]
    try:
        if "build" not in given:
            return space[code.exercise.name](**given)
        built = space[code.exercise.name](**given["build"]).double()
        built.load_state_dict(given["weights"])
        return built(**given["calls"][0])
    except Exception as error:
        return [x.lineno for x in traceback.extract_tb(error.__traceback__) if x.filename == "<again>"][
            -1
        ]


def outcome(before, after) -> str:
    """The words for what a change did."""
    if isinstance(after, int):
        return WORDS["stops"]
    if before.shape != after.shape:
        return WORDS["shape"]
    return WORDS["same" if torch.allclose(before, after, equal_nan=True) else "values"]


def test_running_it_gives_the_right_option(made):
    for code, item in made:
        check(code, item)


def check(code, item) -> None:
    right, source = item.options[item.right], item.code
    before = run(code, source)
    if item.kind == LOOK:
        expression, line = re.search(r"shape of `(.+)` in line (\d+)", item.words).groups()
        lines, seen = source.splitlines(), []
        lines[int(line) - 1] = lines[int(line) - 1].replace(expression, f"seen({expression})", 1)
        run(code, "\n".join(lines), seen=lambda value: seen.append(value) or value)
        assert str(tuple(seen[0].shape)) == right
    elif item.kind == HARMLESS:
        same = [
            outcome(before, run(code, changed(source, option))) == WORDS["same"]
            for option in item.options
        ]
        assert [place for place, is_same in enumerate(same) if is_same] == [item.right]
        assert [why == WORDS["same"] for why in item.whys] == same
    elif item.kind == BATCH:
        pair = (run(code, each, "a batch of 1") for each in (source, changed(source, item.words)))
        assert outcome(*pair) == right
    else:
        after = run(code, changed(source, item.words))
        if item.kind == LINE:
            assert right == f"It stops in line {after}." and item.why.startswith(right[:-1])
        elif item.kind == NEW_SHAPE:
            assert str(tuple(after.shape)) == right and f"is {right}." in item.why
        elif item.kind == NUMBERS:
            fits = [torch.allclose(before * float(x), after, rtol=5e-3) for x in item.options]
            assert [place for place, fit in enumerate(fits) if fit] == [item.right]
        else:
            assert item.kind == ROWS
            rows = ((before - after).abs() > 1e-3).any(dim=-1).nonzero()[:, 0].tolist()
            assert right == ", ".join(map(str, rows))


def test_a_card_has_one_right_option_and_a_reason_for_each(made):
    for _, item in made:
        shown = BeautifulSoup(card(item), "html.parser")
        options = shown.select("details")
        assert len(options) == len(item.options) == len(set(item.options)) > 2
        (right,) = shown.select("details.sq-is-right")
        assert right is options[item.right] and right.p.text.startswith("✓")
        assert all(len(option.p.text) > len("✗ Not this one. ") for option in options)
        assert shown.select_one("[data-asked]")["data-asked"] == ""  # so the browser keeps no answer


def test_there_are_enough_questions_of_many_kinds_over_many_chapters(made):
    assert 12 <= len(made) <= 30 and len({item.kind for _, item in made}) >= 6
    assert len({code.page[:2] for code, _ in made}) >= 7


def test_nothing_of_a_solution_is_shown():
    """No asked piece is an answer or does an exercise's work, and no line of one is in a solution."""
    taken = set()
    for number in range(1, 9):
        for name, exercise in import_module(f"seqcourse.check.ps{number}").EXERCISES.items():
            taken |= {name, *(called.rpartition(".")[2] for called in exercise.forbid)}
    cells = []
    for path in (ROOT / "solutions").glob("ps*/*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            cells.append("".join(cell["source"]))
    answers = [path.read_text(encoding="utf-8") for path in (ROOT / "solutions/checks").rglob("*.txt")]
    solved = {
        "".join(line.split("#")[0].split()) for text in (*cells, *answers) for line in text.split("\n")
    }
    for code in PUBLIC:
        assert code.exercise.name not in taken
        lines = {"".join(line.split("#")[0].split()) for line in code.source.splitlines()[1:]}
        assert not {line for line in lines & solved if len(line) > 30}, code.exercise.name


def test_the_page_links_to_each_chapter_and_shows_the_code(made, tmp_path):
    """Sphinx builds it, with warnings as errors; another process asks the same."""
    page = (ROOT / "book/appendix_practice.md").read_text(encoding="utf-8")
    page = page.replace("(appendix_on_your_own.md)", "(index.md)")
    chapters = "\n".join(["appendix_practice", *(code.page for code in PUBLIC)])
    (tmp_path / "conf.py").write_text('extensions = ["myst_parser", "seqcourse.cli.practice.page"]\n')
    (tmp_path / "index.md").write_text(f"# Book\n\n```{{toctree}}\n{chapters}\n```\n")
    (tmp_path / "appendix_practice.md").write_text(page, encoding="utf-8")
    for code in PUBLIC:
        assert (ROOT / f"book/{code.page}.ipynb").is_file()
        (tmp_path / f"{code.page}.md").write_text(f"# Of {code.page}\n")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(tmp_path), str(tmp_path / "html")]
    subprocess.run(command, check=True, timeout=300)
    built = BeautifulSoup((tmp_path / "html/appendix_practice.html").read_text("utf-8"), "html.parser")
    shown = [poll.text for poll in built.select(".sq-poll")]
    assert shown == [BeautifulSoup(card(item), "html.parser").text for _, item in made]
    for code in PUBLIC:
        section = built.select_one(f"#practice-{code.exercise.name.lower().replace('_', '-')}")
        link = section.select_one(f'a[href="{code.page}.html"]')
        assert link.text == f"Of {code.page}"
        block = section.select_one("pre")
        for number in block.select(".linenos"):
            number.extract()
        assert block.text.rstrip() == code.source.rstrip()
