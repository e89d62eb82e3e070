"""What assistants read beside an assignment, and what students say that they used."""

from __future__ import annotations

import json

import pytest

from cellgrader.marks.scores import Scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.report import as_page, make_report
from cellgrader.release import assistants
from tests.house.test_house import ROOT

NAMES = sorted(path.name for path in (ROOT / "assignments").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_name_every_exercise_of_the_notebook(name):
    rules = (ROOT / "assignments" / name / "AGENTS.md").read_text(encoding="utf-8")
    book = notebooks.read(ROOT / "solutions" / name / f"{name}.ipynb")
    known = assistants.exercises(ROOT, name)
    for task in notebooks.exercises(book):
        if task.name in known:
            idea, _, questions = known[task.name]
            assert f"### `{task.name}`\n\n{idea} " in rules
            assert len(questions) == 3 and all(f"- {question}\n" in rules for question in questions)
    checked = {task.name for task in notebooks.exercises(book) if task.code} - {"system"}
    assert checked - known.keys() == {one for one in checked if one.startswith("poll_")}
    # No line of a solution that tells something stands in the rules.
    for cell in book["cells"]:
        for part in notebooks.regions(notebooks.text(cell), "SOLUTION"):
            lines = [line.strip() for line in part.splitlines() if len(line.strip()) > 30]
            assert not [line for line in lines if line in rules]


@pytest.mark.parametrize("choice", assistants.CHOICES)
def test_a_class_chooses(choice):
    record = {"context": ("Its idea.", ("05", "A section"), ("One?", "Two?", "Three?"))}
    made = assistants.files(choice, "ps3", record)
    rules = made["AGENTS.md"].decode()
    assert made["CLAUDE.md"] == made["GEMINI.md"] == b"@AGENTS.md\n"
    assert "chapter 05, “A section”" in rules
    assert ("Never write an exercise" in rules, "- One?" in rules) == (choice == "tutor",) * 2
    assert ("Do not help" in rules) == (choice == "off")
    settings = json.loads(made.get(assistants.EDITOR, b"{}"))
    assert ("editor.inlineSuggest.enabled" in settings) == (choice != "allowed")
    assert ("chat.disableAIFeatures" in settings) == (choice == "off")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, ""),
        ("Ben, who asked me\nwhat `dim` is.", "Ben, who asked me what `dim` is."),
        ("x" * 2000, "x" * 997 + "..."),
        ("a \u001b[31mred\u202e line", "a ?[31mred? line"),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_what_a_student_says_is_read(written, read, below, tmp_path):
    book = notebooks.read(ROOT / "assignments" / "ps3" / "ps3.ipynb")
    title, cell = book["cells"][-2:]
    if written and below:
        title["source"] = notebooks.text(title) + "\n\n" + written
    elif written:
        cell["source"] = written
    for one in book["cells"]:
        del one["id"]  # as some editors do
    notebooks.write(book, tmp_path / "ps3.ipynb")
    assert assistants.declared(tmp_path / "ps3.ipynb") == read


def test_no_notebook_is_nothing_said(tmp_path):
    assert assistants.declared(tmp_path / "ps3.ipynb") == ""
    (tmp_path / "ps3.ipynb").write_bytes(b"\xff{")
    assert assistants.declared(tmp_path / "ps3.ipynb") == ""


def test_the_report_shows_what_students_used():
    report = make_report(Scores("ps3", (), ()), [])
    assert "What students used" not in as_page(report)
    page = as_page(report, {"ada": "<b>Ben</b> & a book", "joe": ""})
    assert "<li>ada: &lt;b&gt;Ben&lt;/b&gt; &amp; a book</li>" in page
    assert "<li>joe: <em>nothing said</em></li>" in page
