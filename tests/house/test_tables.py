"""Pages of the appendices that are made from other files, or name commands and settings, are true."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest
import typer

from cellgrader.class_settings import read_settings
from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.release.adapt import check_settings, class_notebook
from seqcourse.cli.app import app
from seqcourse.zoo.published import PACKAGES
from tests.house.tables import BOOK, FILES, LAWS, ROOT, TABLES, ZOO, filled, trained_on

PAGES = sorted(BOOK.glob("appendix_*.md"))
NEW = ["adapting", "audit", "errata", "licences", "on_your_own", "syllabus"]
BLOCK = re.compile(r"```(sh|toml)\n(.*?)```", re.S)


def blocks(page, kind: str) -> list[str]:
    """The examples of a kind on a page: commands for a shell, or lines for course.toml."""
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == kind]


@pytest.mark.parametrize("page", TABLES)
def test_the_tables_are_up_to_date(page):
    text = (BOOK / page).read_text(encoding="utf-8")
    assert text == filled(page), "run `make house`"


@pytest.mark.parametrize("page", [f"appendix_{name}.md" for name in NEW])
def test_the_page_is_in_the_book(page):
    assert f"book/{page.removesuffix('.md')}\n" in (ROOT / "_toc.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_on_the_pages_exist(page):
    """Every line with `seqcourse` in an example, or quoted in running text, names what there is."""
    text = page.read_text(encoding="utf-8")
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    lines += re.findall(r"`(seqcourse [a-z][^`\n]*)`", text)
    program = typer.main.get_command(app)
    for line in lines:
        if not line.startswith("seqcourse "):
            continue
        command, rest = program, shlex.split(line, comments=True)[1:]
        while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
            assert rest[0] in command.commands, line
            command, rest = command.commands[rest[0]], rest[1:]
        known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
        options = {word for word in rest if word.startswith("-")}
        assert options <= known, line
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        assert not rest or rest[0] in known or arguments, line


@pytest.mark.parametrize("page", ["adapting", "syllabus", "teaching"])
def test_settings_on_the_pages_are_settings(page, tmp_path):
    found = blocks(BOOK / f"appendix_{page}.md", "toml")
    assert found
    for text in found:
        (tmp_path / "course.toml").write_text(text, encoding="utf-8")
        settings = read_settings(tmp_path)
        assert settings.sources and tomllib.loads(text)


def test_every_data_set_has_its_licence_beside_it():
    for note in FILES.glob("*/source.json"):
        licence = json.loads(note.read_text(encoding="utf-8"))["licence"]
        names = {path.name for path in note.parent.iterdir()}
        assert names & LAWS, note.parent.name
        for named in re.findall(r"see (\w+)", licence):
            assert named in names, f"{note.parent.name}: {licence}"


def test_every_checkpoint_names_data_of_the_package():
    records = list(ZOO.glob("*/figures.json"))
    assert len(records) == len([path for path in ZOO.iterdir() if path.is_dir()])
    for record in records:
        for name in trained_on(json.loads(record.read_text(encoding="utf-8"))["recipe"]):
            assert (FILES / name / "source.json").is_file(), record.parent.name


def test_libraries_and_published_models_are_named_with_their_licences():
    page = (BOOK / "appendix_licences.md").read_text(encoding="utf-8")
    vendored = (ROOT / "book/_static/vendor/README.md").read_text(encoding="utf-8")
    for licence in re.findall(r"\b(?:MIT|BSD-3-Clause|SIL OFL 1\.1)\b", vendored):
        assert licence in page
    for folder in (path for path in (ROOT / "book/_static/vendor").iterdir() if path.is_dir()):
        assert f"`book/_static/vendor/{folder.name}/`" in page
    katex = (ROOT / "seqcourse/pages/katex/LICENSE").read_text(encoding="utf-8")
    assert "MIT License" in katex and "KaTeX, with its fonts | `seqcourse/pages/katex/` | MIT" in page
    for package in PACKAGES.values():
        assert re.split(r"[ ,]", package.about)[0] in page and package.licence == "Apache-2.0"


def test_plans_of_the_syllabus_can_be_released(tmp_path):
    """Their lines for course.toml leave the exercises of the tables; no name is missing in the code."""
    short, weekend = blocks(BOOK / "appendix_syllabus.md", "toml")
    text = (BOOK / "appendix_syllabus.md").read_text(encoding="utf-8")
    text = text.replace("1 to 6", "1, 2, 3, 4, 5, 6")
    kept = {
        name: {int(number) for number in numbers.split(", ")}
        for name, numbers in re.findall(r"(ps\d): (\d+(?:, \d+)*) \|", text)
    }
    assert set(kept) == {"ps3", "ps4", "ps5", "ps6"}
    for plan in (short, weekend):
        course = Course(tmp_path / ("weekend" if plan is weekend else "short"))
        weights = shutil.ignore_patterns("*.safetensors")
        shutil.copytree(ROOT / "solutions", course.solutions, ignore=weights)
        (course.root / "course.toml").write_text(plan, encoding="utf-8")
        check_settings(course)
        assert course.names() == (sorted(kept) if plan is weekend else [f"ps{n}" for n in range(1, 9)])
        for name in course.names():
            book = class_notebook(course, name)
            code = [notebooks.text(cell) for cell in book["cells"] if cell["cell_type"] == "code"]
            (course.root / f"{name}.py").write_text("\n\n".join(code), encoding="utf-8")
            if plan is weekend:
                headings = notebooks.HEADING.findall("\n".join(map(notebooks.text, book["cells"])))
                assert set(map(int, headings)) == kept[name]
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821"]
        done = subprocess.run([*command, str(course.root)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
