"""A student's folder: made, brought up to date, and never robbed of anything."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from seqcourse import progress
from seqcourse.cli import front, handout, root
from seqcourse.errors import CourseError
from tests.house.test_house import tracked

ROOT = Path(__file__).resolve().parents[2]
CHAPTER, RUN, ANSWERS = "book/01_one.ipynb", "book/02_two.ipynb", "assignments/ps1/ps1.ipynb"
PAGE, LATER = "book/appendix_notation.md", "book/03_three.ipynb"


def notebook(text: str, output: str = "") -> str:
    cell = {"cell_type": "code", "source": [text], "metadata": {}, "outputs": [output] if output else []}
    return json.dumps({"cells": [cell]})


@pytest.fixture
def release(tmp_path, monkeypatch):
    """Make a version of the course, which is installed from now on: the texts of its files."""
    monkeypatch.setattr(handout, "PACKAGE", tmp_path / "package")

    def make(version: str, files: dict[str, str]) -> None:
        monkeypatch.setattr(handout, "__version__", version)
        for path in sorted((tmp_path / "package").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for name, text in files.items():
            path = tmp_path / "package" / "handout" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return make


def first() -> dict[str, str]:
    return {name: notebook(f"{name} 1") for name in (CHAPTER, RUN, ANSWERS)} | {PAGE: "signs"}


def second() -> dict[str, str]:
    return {name: notebook(f"{name} 2") for name in (CHAPTER, RUN, ANSWERS, LATER)}


@pytest.fixture
def mine(tmp_path, release) -> Path:
    """A folder with the first version, in which a student ran a chapter and answered an exercise."""
    release("1.0.0", first())
    folder = tmp_path / "my course"
    handout.start(folder)
    (folder / RUN).write_text(notebook(f"{RUN} 1", output="hours of training"), encoding="utf-8")
    (folder / ANSWERS).write_text(notebook("my answer"), encoding="utf-8")
    return folder


def texts(folder: Path) -> dict[str, str]:
    """All files but the manifest."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    found.pop(root.STARTED.as_posix(), None)
    found.pop(front.NAME, None)  # made from the others
    return found


def test_a_new_folder_has_all_and_says_what_is_next(tmp_path, release, capsys, monkeypatch):
    release("1.0.0", first())
    monkeypatch.chdir(tmp_path)
    handout.start(Path("my-course"))
    assert texts(tmp_path / "my-course") == first()
    assert "Next: cd my-course, then: seqcourse lab" in capsys.readouterr().out
    handout.start(Path("my course"))
    assert 'Next: cd "my course", then: seqcourse lab' in capsys.readouterr().out


def test_an_update_replaces_what_was_not_changed_and_keeps_what_was(mine, release, capsys):
    release("2.0.0", second())
    handout.update(mine)
    found = texts(mine)
    assert {name: found[name] for name in (CHAPTER, RUN, LATER)} == {
        name: second()[name] for name in (CHAPTER, RUN, LATER)
    }
    assert found[ANSWERS] == notebook("my answer"), "a student's work is the student's"
    assert found["assignments/ps1/ps1-2.0.0.ipynb"] == second()[ANSWERS]
    assert notebook(f"{RUN} 1", output="hours of training") in found.values(), "outputs are kept"
    assert found[PAGE] == "signs", "what is no longer a part of the course stays"
    told = capsys.readouterr().out
    for words in ("1 files are new, 2 are", "ps1-2.0.0.ipynb", "before", f"{PAGE} is no longer"):
        assert words in told
    handout.update(mine)
    assert texts(mine) == found, "there is nothing to do twice"
    assert "0 files are new, 0 are brought up to date" in capsys.readouterr().out


def test_what_a_student_deleted_comes_again_and_what_is_in_the_way_is_not_overwritten(mine, release):
    (mine / CHAPTER).unlink()
    (mine / LATER).write_text("my own notes", encoding="utf-8")
    beside = mine / "assignments/ps1/ps1-2.0.0.ipynb"
    beside.write_text("a copy of mine", encoding="utf-8")
    release("2.0.0", second())
    handout.update(mine)
    found = texts(mine)
    assert found[CHAPTER] == second()[CHAPTER]
    assert found[LATER] == "my own notes"
    assert beside.read_text(encoding="utf-8") == "a copy of mine"
    assert found["assignments/ps1/ps1-2.0.0-2.ipynb"] == second()[ANSWERS]


def test_new_metadata_brings_no_second_notebook(mine, release):
    """The version that a release writes into a notebook is no reason to bother who answered it."""
    again = {
        name: json.dumps(json.loads(first()[name]) | {"metadata": {}}) for name in (CHAPTER, ANSWERS)
    }
    release("1.0.1", again)
    handout.update(mine)
    found = texts(mine)
    assert found[CHAPTER] == again[CHAPTER] and found[ANSWERS] == notebook("my answer")
    assert not any("1.0.1" in name for name in found)


def test_an_update_that_is_killed_anywhere_is_finished_by_the_next(mine, release, monkeypatch):
    release("2.0.0", second())
    before, replace = texts(mine), os.replace
    stops = 0
    while True:
        left = [stops]

        def until_killed(source, target, left=left):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            replace(source, target)

        monkeypatch.setattr(handout.os, "replace", until_killed)
        try:
            handout.update(mine)
            break
        except KeyboardInterrupt:
            assert set(before.values()) <= set(texts(mine).values()), "nothing is ever lost"
        stops += 1
    assert stops > 0
    found = texts(mine)
    assert found[ANSWERS] == notebook("my answer")
    assert {found[name] for name in (CHAPTER, RUN, LATER)} == {
        second()[name] for name in (CHAPTER, RUN, LATER)
    }
    assert [name for name in found if "ps1-2.0.0" in name] == ["assignments/ps1/ps1-2.0.0.ipynb"]
    assert not [name for name in found if name.endswith(".part")]


def test_a_start_that_is_killed_is_finished_by_an_update(tmp_path, release, monkeypatch):
    release("1.0.0", first())
    folder, replace = tmp_path / "mine", os.replace
    left = iter([True, True, True])
    monkeypatch.setattr(handout.os, "replace", lambda a, b: next(left) and replace(a, b))
    with pytest.raises(StopIteration):
        handout.start(folder)
    assert 0 < len(texts(folder)) < len(first()) + 1
    monkeypatch.setattr(handout.os, "replace", replace)
    with pytest.raises(CourseError, match="seqcourse update"):
        handout.start(folder)
    handout.update(folder)
    assert texts(folder) == first()


def test_a_damaged_list_makes_everything_that_differs_the_student_s(mine, release):
    release("2.0.0", second())
    for text in ("", "[]", '{"version": 1, "files": {"a": "b"}}', '{"version": "9", "files": 3}'):
        (mine / root.STARTED).write_text(text, encoding="utf-8")
        handout.update(mine)
        found = texts(mine)
        assert found[CHAPTER] == first()[CHAPTER] and found[ANSWERS] == notebook("my answer")
        assert found["book/01_one-2.0.0.ipynb"] == second()[CHAPTER]


def test_the_first_page_leads_to_everything_and_says_what_is_next(tmp_path):
    handout.start(tmp_path / "mine")
    page = tmp_path / "mine" / front.NAME
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((page.parent / link).is_file() for link in links)
    given = handout.names(ROOT)
    notebooks = {
        name for name in given if re.fullmatch(r"book/\d.*\.ipynb|assignments/(ps\d)/\1\.ipynb", name)
    }
    assert notebooks <= set(links) and "**Next**: chapter 1" in text
    assert re.search(r"\[1 · Recurrent networks\]\([^)]*\) \| \d+ \| \d+ \|", text)
    progress.write(page.parent / "assignments/ps5/ps5.ipynb", of="causal_mask", passed=True)
    front.write_front(page.parent)
    text = page.read_text(encoding="utf-8")
    assert "**Next**: [ps5, exercise 2 · Padding, and both at once](assignments/ps5/ps5.ipynb)" in text
    assert "1 of 11 exercises" in text


def test_bad_folders_get_a_sentence(tmp_path, mine, release, monkeypatch):
    (tmp_path / "file").touch()
    for folder, words in (
        (tmp_path, "should be new or empty, but it holds"),
        (tmp_path / "file", "should be a new folder, but it is a file"),
        (mine, "is a folder of the course already.*seqcourse update"),
        (Path("/proc/mine"), "could not be written: No such file or directory"),
        (tmp_path / "file" / "mine", "could not be written: Not a directory"),
    ):
        with pytest.raises(CourseError, match=words):
            handout.start(folder)
    for folder, words in (
        (tmp_path / "nowhere", "there is no such folder.*seqcourse start my-course"),
        (tmp_path, "it has no .seqcourse/manifest.json"),
        (tmp_path / "file", "it has no .seqcourse/manifest.json"),
        (ROOT, "it is a checkout of the course, where `git pull`"),
    ):
        with pytest.raises(CourseError, match=words):
            handout.update(folder)
    monkeypatch.setattr(root, "is_course", lambda folder: False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match="seqcourse start my-course"):
        handout.update()
    release("0.10.0", first())
    with pytest.raises(CourseError, match="has version 1.0.0 of the course, but version 0.10.0 is inst"):
        handout.update(mine)
    release("1.0.0", {})
    with pytest.raises(CourseError, match="without its notebooks"):
        handout.update(mine)
    release("2.0.0", second())
    (mine / CHAPTER).unlink()
    (mine / CHAPTER).mkdir()
    with pytest.raises(CourseError, match="could not be written: Is a directory.*Nothing is lost"):
        handout.update(mine)


def test_commands_find_a_student_s_folder_from_below(mine, monkeypatch):
    """Also where the package comes from a checkout, as here: what is nearer counts."""
    monkeypatch.chdir(mine / "assignments" / "ps1")
    assert root.find_work() == mine.resolve()
    assert root.find_root() == ROOT, "grading needs a checkout"
    monkeypatch.setattr(root, "is_course", lambda folder: False)
    with pytest.raises(CourseError, match="should run in a checkout.*What students do"):
        root.find_root()


def test_links_between_the_notebooks_lead_to_what_a_student_has():
    given = handout.names(ROOT)
    tracked_there = {name for name in tracked() if name.startswith("assignments/")}
    assert {name for name in given if name.startswith("assignments/")} == tracked_there
    assert not any(name.startswith("solutions") for name in given)
    for name in given:
        if not name.endswith(".ipynb"):
            continue
        cells = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)|<img[^>]*src=\"([^\"]+)\"", text):
            target = "".join(link)
            if re.match(r"https?:|attachment:", target) or "." not in target:  # "sec-mask" is a label
                continue
            found = os.path.normpath(Path(name).parent / target).replace(os.sep, "/")
            assert found in given, f"{name} leads to {target}, which no student has"
