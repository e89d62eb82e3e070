"""The panel's button runs `seqcourse publish` and says what the command says."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from seqcourse import progress
from seqcourse.check import panel
from seqcourse.cli.app import app
from tests.publish.notebooks import SYSTEMS, notebook


def shown_beside(path, monkeypatch) -> list:
    """What the panel of a notebook displays below its HTML."""
    shown: list = []
    monkeypatch.setattr("IPython.display.display", lambda it, **more: shown.append(it))
    for module in (panel, progress):
        monkeypatch.setattr(module, "current_notebook", lambda: path)
    panel.progress()
    return [it for it in shown if hasattr(it, "children")]


@pytest.mark.parametrize("name", [f"ps{number}" for number in range(1, 10)])
def test_only_what_can_be_published_has_the_button(name, tmp_path, monkeypatch):
    path = tmp_path / f"{name}.ipynb"
    path.write_text('{"cells": []}', encoding="utf-8")
    assert len(shown_beside(path, monkeypatch)) == (name in progress.PUBLISHED)


def press(path, monkeypatch, names: str = "") -> str:
    """What stands below the button after a click."""
    (box,) = shown_beside(path, monkeypatch)
    (field, make), told = box.children[0].children, box.children[1]
    field.value = names
    make.click()
    assert not make.disabled
    return told.value


@pytest.mark.nightly  # in every run: the page itself, test_page
@pytest.mark.skipif(find_spec("onnxscript") is None, reason="needs onnxscript, of seqcourse[publish]")
def test_a_click_writes_the_page_beside_the_notebook(tmp_path, monkeypatch):
    said = press(notebook(tmp_path, SYSTEMS["captioner"]), monkeypatch, "--Ada & Ben")
    page = (tmp_path / "ps9.html").read_text(encoding="utf-8")
    assert said.startswith("Beside your notebook: ps9.html: ") and "--Ada &amp; Ben" in page


def test_without_a_page_it_says_the_commands_own_sentence(tmp_path, monkeypatch):
    path = tmp_path / "ps6.ipynb"
    path.write_text('{"cells": []}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    sentence = str(CliRunner().invoke(app, ["publish", "ps6"]).exception)
    said = press(path, monkeypatch)
    assert "ps6.ipynb should set TASK" in sentence
    assert said == f"No page yet. {panel.html.escape(sentence)}" and not (tmp_path / "ps6.html").exists()
    for told, last in (("Traceback\nMemoryError: <1>\n", "MemoryError: &lt;1&gt;"), ("", "a word.")):
        ended = SimpleNamespace(returncode=1, stdout="", stderr=told)
        monkeypatch.setattr(panel.subprocess, "run", lambda *given, ended=ended, **more: ended)
        assert press(path, monkeypatch).endswith(last)
