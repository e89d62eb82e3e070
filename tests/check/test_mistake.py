"""What a student sees of a mistake in a notebook: its sentence, not the check's own code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from seqcourse.check import Mistake

PACKAGE = Path(__file__).resolve().parents[2] / "seqcourse"
# Words of what people are told, and what takes a text apart.
WORDS = ("Read again", "Input:", "Input: ", "stopped with", "should be", "of the result", " points.")
TAKES_APART = set(
    "compile search match fullmatch findall finditer sub split rsplit partition rpartition find index "
    "removesuffix removeprefix startswith endswith".split()
)

SENTENCE = "rnn_step: the shape of the result is right, the numbers are not. Did you forget b_hh? "


def test_a_notebook_shows_the_sentence_alone(capsys):
    shell = InteractiveShell.instance()
    outcome = shell.run_cell(
        f"from seqcourse.check import Mistake\nraise Mistake({SENTENCE.strip()!r} * 3)"
    )
    InteractiveShell.clear_instance()
    assert type(outcome.error_in_exec).__name__ == "Mistake"
    told = capsys.readouterr().out
    assert "Did you forget b_hh?" in told.replace("\n", " ")
    assert "Traceback" not in told and "run_cell" not in told
    assert max(map(len, told.splitlines())) <= 88


def test_it_is_an_assertion_error_so_that_graders_take_it_for_a_failed_test():
    assert issubclass(Mistake, AssertionError)


def taken_apart(source: str) -> Iterator[str]:
    """Words of our own sentences that a program looks for in a text."""
    for node in ast.walk(ast.parse(source)):
        texts: list[ast.AST] = []
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            texts = node.args if called in TAKES_APART else []
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            texts = [node.left]
        for text in (part for given in texts for part in ast.walk(given)):
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield from (word for word in WORDS if word in text.value.replace("\\", ""))


def test_what_people_are_told_is_never_taken_apart():
    folders = (PACKAGE / "check", PACKAGE / "audit", PACKAGE.parent / "cellgrader")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    found = {path: [*taken_apart(path.read_text("utf-8"))] for path in files}
    assert len(found) > 100 and not {name: words for name, words in found.items() if words}


@pytest.mark.parametrize(
    "source",
    [
        're.compile(r"\\(Input: (.+)\\)")',
        'message.partition(" stopped with ")',
        '"Read again" in message',
        "message.removesuffix(f'{x} of the result')",
    ],
)
def test_a_sentence_that_is_taken_apart_is_seen(source):
    assert [*taken_apart(source)]
