"""What a class changes in course.toml: exercises left out, points, due dates; and updates that merge."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.export import read_course
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.release import adapt, sample
from cellgrader.release.generate import left_behind, release

from .toy import ROOT, make_toy_course

COURSE = Course(ROOT)
ORDER = ("double", "half", "quadruple", "poll", "why")
POINTS = {"double": 3, "half": 3, "quadruple": 3, "poll": 1, "why": 2}


def set_class(course: Course, text: str) -> None:
    (course.root / "course.toml").write_text(text, encoding="utf-8")


def with_headings(course: Course) -> Course:
    """The toy with a heading for each exercise and a table at the top, as real assignments have."""
    path = course.solution("ps1")
    book = notebooks.read(path)
    rows = [f"| {place} | `{name}` | {POINTS[name]} | 5 |" for place, name in enumerate(ORDER, 1)]
    cells = []
    for cell in book["cells"]:
        name = cell["id"].removesuffix("-answer")
        if name in ORDER:
            source = f"## Exercise {ORDER.index(name) + 1} · {name}\n\n**{POINTS[name]} points · about 5"
            cells.append({"cell_type": "markdown", "id": f"{name}-md", "metadata": {}, "source": source})
        if cell["id"] == "title":
            head = "| exercise | builds | points | minutes |\n|---|---|---|---|\n"
            cell["source"] += "\n\n" + head + "\n".join(rows)
        cells.append(cell)
    path.write_text(json.dumps(book | {"cells": cells}), encoding="utf-8")
    return course


def table(book: dict) -> dict[int, float]:
    """The points that the table at the top says, by exercise."""
    rows = [adapt.ROW.match(line) for line in notebooks.text(book["cells"][0]).split("\n")]
    return {
        int(row[1]): sum(map(float, row[0].split("|")[-3].split("+"))) for row in rows if row is not None
    }


def in_cells(book: dict) -> dict[int, float]:
    """The points of the graded cells, by exercise."""
    return {part.number: sum(adapt._graded(book, part).values()) for part in adapt._parts(book["cells"])}


@pytest.mark.parametrize(
    ("name", "left_out", "asks"),
    [
        ("ps1", 7, 8),
        ("ps2", 7, 8),
        ("ps3", 6, 9),
        ("ps3", 8, 9),
        ("ps4", 5, 9),
        ("ps5", 5, 9),
        ("ps6", 8, 10),
    ],
)
def test_a_written_question_about_an_exercise_that_is_left_out_is_named(name, left_out, asks, tmp_path):
    whole, course = notebooks.read(COURSE.solution(name)), Course(tmp_path)
    set_class(course, f"[{name}]\nleave_out = [{left_out}]\n")
    told = adapt.to_look_at(whole, adapt.adapt(whole, course, name))
    assert any(f"Exercise {asks} asks in words about exercise {left_out}" in each for each in told)
    set_class(course, f"[{name}]\nleave_out = [{left_out}, {asks}]\n")
    told = adapt.to_look_at(whole, adapt.adapt(whole, Course(tmp_path), name))
    assert not any(f"Exercise {asks} asks" in each for each in told)


def test_an_assignment_that_is_left_out_and_still_there_is_named(tmp_path):
    course = make_toy_course(tmp_path / "course")
    (course.assignments / "ps1").mkdir(parents=True, exist_ok=True)
    assert not left_behind(course)
    set_class(course, 'leave_out = ["ps1"]\n')
    (told,) = left_behind(Course(course.root))
    assert "assignments/ps1" in told and "delete the folder" in told


@pytest.mark.parametrize("name", COURSE.all_names())
def test_what_each_part_is_worth_is_said_with_the_points_of_the_class(name, tmp_path):
    """ "For 4 points" and "For 2 more" follow course.toml, also where two parts were worth the same."""
    whole = notebooks.read(COURSE.solution(name))
    course = Course(tmp_path)
    new, text = {}, [f"[{name}.points]"]
    for part in adapt._parts(whole["cells"]):
        old = adapt._graded(whole, part)
        new[part.number] = [20.0 + 3 * place for place in range(len(old))]
        text.append(f"{part.number} = {new[part.number]}")
    set_class(course, "\n".join(text) + "\n")
    book = adapt.adapt(whole, course, name)
    seen = 0
    for part in adapt._parts(book["cells"]):
        cells = [book["cells"][place] for place in part.places]
        said = re.findall(
            r"\b[Ff]or (\d+)(?: more(?: points?)?| points?)\b",
            "\n".join(notebooks.text(cell) for cell in cells if adapt._is_text(cell)),
        )
        assert list(map(float, said)) == new[part.number][: len(said)], part.number
        seen += len(said)
    assert seen > 0 or name == "ps9"


@pytest.mark.parametrize("name", COURSE.all_names())
def test_texts_table_and_cells_say_the_same_points(name, tmp_path):
    whole = notebooks.read(COURSE.solution(name))
    assert table(whole) == in_cells(whole) and not adapt.other_points(whole)
    course = Course(tmp_path)
    wanted = {part: 2 * points + 4 for part, points in in_cells(whole).items()}
    text = [f"[{name}.points]"]
    for part in adapt._parts(whole["cells"]):
        old = list(adapt._graded(whole, part).values())
        new = [2 * old[0] + 4, *(2 * each for each in old[1:])]
        text.append(f"{part.number} = {new if len(new) > 1 else new[0]}")
    set_class(course, "\n".join(text))
    book = adapt.adapt(copy.deepcopy(whole), course, name)
    assert in_cells(book) == table(book) == wanted
    assert not adapt.other_points(book)
    for cell in book["cells"]:
        if notebooks.mark(cell).get("grade") and cell["cell_type"] == "code":
            points = notebooks.mark(cell)["points"]
            assert f" {points:g} point" in notebooks.text(cell).split("\n")[0]


def test_code_that_later_parts_need_is_given(tmp_path):
    """Every exercise left out by itself: no name is missing, by ruff's own look at the code."""
    course = Course(tmp_path / "course")
    left = {}
    for name in COURSE.all_names():
        shutil.copytree(COURSE.solutions / name, course.solutions / name)
        for file in (COURSE.solutions / "checks").glob("ps*.py"):
            (course.solutions / "checks").mkdir(exist_ok=True)
            shutil.copy(file, course.solutions / "checks")
        whole = notebooks.read(COURSE.solution(name))
        for part in adapt._parts(whole["cells"]):
            set_class(course, f"[{name}]\nleave_out = [{part.number}]")
            book = adapt.class_notebook(course, name)
            assert in_cells(book) == table(book)
            assert in_cells(book).keys() == in_cells(whole).keys() - {part.number}
            code = [notebooks.text(cell) for cell in book["cells"] if cell["cell_type"] == "code"]
            (tmp_path / f"{name}_without_{part.number}.py").write_text("\n\n".join(code))
            left[name, part.number] = {cell["id"] for cell in book["cells"]}
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    # The last figure of assignment 1 draws with exercise 5, its measurement with exercise 7; nothing
    # needs exercise 2.
    assert "ps1-draw-solution" in left["ps1", 5] and "ps1-draw-grade" not in left["ps1", 5]
    assert "ps1-gradient_norms-solution" in left["ps1", 7]
    assert "ps1-training_pairs-solution" not in left["ps1", 2]
    # The hidden checks of a Transformer call the student's own blocks.
    assert "ps6-decoder_block-solution" in left["ps6", 6]


def test_a_class_that_changes_nothing_has_the_notebook_as_it_is(tmp_path):
    whole = notebooks.read(COURSE.solution("ps3"))
    assert adapt.adapt(whole, Course(tmp_path), "ps3") is whole
    set_class(Course(tmp_path), "[ps4]\nleave_out = [1]")
    assert adapt.adapt(whole, Course(tmp_path), "ps3") is whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[ps1]\nleave_out = [7]", "line 2: ps1 has no exercise 7; its exercises are 1, 2, 3, 4, 5"),
        ("[ps1.points]\n9 = 4", "line 2: ps1 has no exercise 9"),
        ("[ps1.points]\n1 = [1, 2]", r"exercise 1 of ps1 has 1 graded part \(3 points\).* gives 1 \+ 2"),
        ("[ps12]\nleave_out = [1]", "line 2: 'ps12' should be an assignment .* the course has ps1"),
        ('leave_out = ["ps2"]', "line 1: 'ps2' should be an assignment"),
        ('leave_out = ["ps1"]', "line 1: leave_out takes ps1 out of this class"),
    ],
)
def test_what_does_not_exist_is_named_with_its_line(toy, text, words):
    set_class(with_headings(toy), text)
    with pytest.raises(CourseError, match=words):
        release(toy, ["ps1"])


def test_points_of_several_parts():
    assert adapt.shared([10.0], [3.0, 2.0]) == [6, 4]
    assert adapt.shared([4.0, 1.0], [3.0, 2.0]) == [4, 1]
    assert adapt.shared([10.0], [3.0, 2.0, 1.0]) is None


@pytest.mark.nightly  # in every run: what is released and how points are shared, above
def test_an_adapted_assignment_is_released_graded_and_counted(toy):
    """Exercise 3 left out, exercise 1 for 5 points, a due date; then exercise 2 goes, after grading."""
    with_headings(toy)
    first = (
        'title = "Sequences"\nterm = "Spring 2027"\n'
        '[links]\n"Questions" = "https://example.org/forum"\n'
        "[ps1]\ndue = 2026-11-20T18:00:00+01:00\nleave_out = [3]\n[ps1.points]\n1 = 5\n5 = 4\n"
    )
    set_class(toy, first)
    (released,) = release(toy)
    assert released.warnings == (
        "why is worth 4 points in your class; its rubric in solutions/ shares out 2.",
        "ps1 is due 20 November 2026, 17:00 UTC.",
    )
    given = (toy.assignments / "ps1" / "ps1.ipynb").read_text(encoding="utf-8")
    assert "def quadruple" not in given and "exercise 3" not in given
    title = notebooks.text(json.loads(given)["cells"][0])
    assert title.startswith(
        "# A toy\n\n*Sequences, Spring 2027 · Due 20 November 2026, 17:00 UTC · "
        "[Questions](https://example.org/forum)*\n"
    )
    assert release(toy)[0].changed == (), "the same again"
    sample.make_submissions(toy, "ps1", ("perfect", "half"))
    records = grade(toy, "ps1", how=How(workers=1))
    scores = read_scores(toy, "ps1", records)
    assert (scores.automatic, scores.points) == (9, 13)
    assert scores.row("perfect").points == {"double": 5, "half": 3, "poll": 1, "why": 0}
    with Gradebook(toy.gradebook_url) as gradebook:
        assert gradebook.find_assignment("ps1").duedate == datetime(2026, 11, 20, 17)
        mine = gradebook.find_grade("why", "ps1", "ps1", "perfect")
        mine.manual_score, mine.needs_manual_grade = 3.5, False
        gradebook.db.commit()
    (line,) = [line for line in read_course(toy, "ps1") if line.student == "perfect"]
    assert (line.total, line.maximum) == (12.5, 13) and "quadruple-test" not in line.cells

    page = make_feedback(toy, "ps1", "perfect").read_text(encoding="utf-8")
    assert "perfect · Sequences, Spring 2027</p>" in page and "12.5" in page
    assert '<a href="https://example.org/forum">Questions</a>' in page

    set_class(toy, first.replace("[3]", "[2, 3]").replace("1 = 5", "1 = 2").replace("18:00", "20:00"))
    with pytest.raises(CourseError, match="they have half-test. Grade again: seqcourse grade ps1"):
        read_scores(toy, "ps1", records)
    open_gradebook(toy)  # as every command does: a new due date needs no release
    with Gradebook(toy.gradebook_url) as gradebook:
        assert gradebook.find_assignment("ps1").duedate == datetime(2026, 11, 20, 19)
    (released,) = release(toy)
    assert "No longer in ps1: half-test." in released.warnings[0]
    records = grade(toy, "ps1", how=How(workers=1))
    assert not any(record.before for record in records), "other points are graded anew"
    scores = read_scores(toy, "ps1", records)
    assert scores.points == 7
    assert scores.row("perfect").points == {"double": 2, "poll": 1, "why": 3.5}


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A class", "-c", "user.email=class@example.org"]
    command = ["git", "-C", str(folder), *who, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.nightly
def test_an_update_of_the_course_merges_without_conflicts(tmp_path):
    """As the page says: settings in course.toml, assignments released by the class, then git merge."""
    upstream, mine = tmp_path / "upstream", tmp_path / "class"
    shutil.copytree(ROOT / "solutions" / "ps1", upstream / "solutions" / "ps1")
    shutil.copytree(ROOT / "solutions" / "checks" / "ps1", upstream / "solutions" / "checks" / "ps1")
    shutil.copytree(ROOT / "assignments" / "ps1", upstream / "assignments" / "ps1")
    for name in ("course.toml", "nbgrader_config.py", ".gitattributes", ".gitignore"):
        shutil.copy(ROOT / name, upstream)
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", "-A")
    git(upstream, "commit", "-qm", "The course")
    git(tmp_path, "clone", "-q", str(upstream), str(mine))
    # the class
    text = (mine / "course.toml").read_text(encoding="utf-8")
    for old, new in (
        ('title = ""', 'title = "Sequences 101"'),
        ('term = ""', 'term = "Spring 2027"'),
        ("attempts = 0", "attempts = 3"),
        ("share_per_day = 0.0", "share_per_day = 0.1"),
        ('# "Questions" = ', '"Questions" = '),
        ("# [ps1]\n", "[ps1]\n"),
        ("# due = 2026-11-20T18:00:00+01:00", "due = 2027-02-01T18:00:00+01:00"),
        ("# leave_out = [5, 10] ", "leave_out = [5, 10] "),
    ):
        assert old in text
        text = text.replace(old, new)
    (mine / "course.toml").write_text(text, encoding="utf-8")
    (mine / "course.local.toml").write_text("timeout = 60\n", encoding="utf-8")
    course = Course(mine)
    release(course)
    git(mine, "add", "-A")
    git(mine, "commit", "-qm", "Our class")
    assert "course.local.toml" not in git(mine, "ls-files")
    # the course: a new setting, another text, released again
    (upstream / "course.toml").write_text(
        (ROOT / "course.toml")
        .read_text(encoding="utf-8")
        .replace("[leaderboard]\n", "[leaderboard]\n# A setting of a later version.\n# later = 1\n"),
        encoding="utf-8",
    )
    path = upstream / "solutions" / "ps1" / "ps1.ipynb"
    path.write_text(
        path.read_text(encoding="utf-8").replace("You build a recurrent", "Here you build a recurrent")
    )
    release(Course(upstream))
    git(upstream, "add", "-A")
    git(upstream, "commit", "-qm", "A later version")
    # the update, as the page says it
    git(mine, "config", "merge.ours.driver", "true")
    git(mine, "pull", "-q", "--no-rebase", "--no-edit", str(upstream), "main")
    assert git(mine, "status", "--porcelain") == ""
    release(course)
    given = notebooks.read(mine / "assignments" / "ps1" / "ps1.ipynb")
    title = notebooks.text(given["cells"][0])
    assert "Here you build a recurrent" in title and "*Sequences 101, Spring 2027 · Due 1 Feb" in title
    assert table(given).keys() == {1, 2, 3, 4, 6, 7, 8, 9}
    assert course.settings["attempts"] == 3 and course.settings["timeout"] == 60
    assert "# later = 1" in (mine / "course.toml").read_text(encoding="utf-8")
