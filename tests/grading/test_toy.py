"""The grading engine on a small assignment: every kind of trouble gives a status, and no more.

Time-outs, copied cells and the like are tested on a real assignment, in test_real and test_honest.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console
from traitlets.log import get_logger

from cellgrader.course import gradebook
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import read_record
from cellgrader.course.snapshot import Snapshot
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.grade.who import to_grade
from cellgrader.marks import export
from cellgrader.marks.export import read_course
from cellgrader.marks.scores import Row, Scores, as_table, read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise
from cellgrader.notebook.shown_outputs import OWN
from cellgrader.pages.feedback import make_feedback
from cellgrader.pages.report import as_page, make_report
from cellgrader.pages.safe import MakeSafe
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.run.examine import Examination
from cellgrader.submission.collected import Submission
from cellgrader.with_nbgrader.save import Saver
from seqcourse.cli import grading as commands
from seqcourse.cli.doctor import others_may_enter
from seqcourse.cli.export import check_csv

from .as_user import USER
from .toy import ROOT, drawn, make_toy_course, picture

KILLS_ITS_GRADER = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The toy, handed in by some of the sample class and by some whose work is broken in other ways."""
    course = make_toy_course(tmp_path_factory.mktemp("toy") / "course")
    release(course)
    sample.make_submissions(course, "ps1", [who for who in sample.STUDENTS if who != "slow"])
    released = notebooks.read(course.assignments / "ps1" / "ps1.ipynb")
    right = sample.right_answers(notebooks.read(course.solution("ps1")))

    def hand_in(student: str, content: bytes, name: str = "ps1.ipynb") -> None:
        folder = course.submitted / student / "ps1"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(content)

    def dump(notebook: dict) -> bytes:
        return json.dumps(notebook).encode()

    everything = sample.answered(released, right)
    hand_in("renamed", dump(everything), name="my ps1.ipynb")
    (course.submitted / "nothing" / "ps1").mkdir(parents=True)
    hand_in("binary", b"\xff\xfe\x00")
    hand_in("no-notebook", b'{"cells": 3}')
    killer = sample.answered(released, {**right, "double": KILLS_ITS_GRADER + right["double"]})
    hand_in("killer", dump(killer))
    hand_in("drawn", dump(drawn(json.loads(dump(everything)))))
    without = json.loads(dump(everything))
    without["cells"] = [c for c in without["cells"] if c["id"] not in ("double-test", "why")]
    hand_in("deleted", dump(without))
    records = grade(course, "ps1", how=How(workers=1, timeout=10))
    return course, records, read_scores(course, "ps1", records)


def test_points_by_hand_counted(graded):
    """Numbers that no code of the project computed."""
    scores = graded[2]
    assert scores.automatic == 10 and scores.points == 12
    assert scores.row("perfect").total == 10
    assert scores.row("half").points == {
        "double": 3, "half": 3, "quadruple": 0, "poll": 0, "why": 0,
    }  # fmt: skip
    assert scores.row("empty").total == 0
    assert scores.row("wrong").points["double"] == 0
    assert scores.row("wrong").points["half"] == 3
    assert scores.row("broken").total is None


@pytest.mark.parametrize(
    ("student", "status", "words"),
    [
        ("nothing", "missing", "ps1.ipynb"),
        ("binary", "unreadable", "UTF-8"),
        ("no-notebook", "unreadable", "list of cells"),
        ("broken", "unreadable", "breaks off"),
        ("killer", "crashed", "double (was ended by a signal (SIGKILL))"),
        ("crashing", "crashed", "ModuleNotFoundError"),
        ("deleted", "graded", "deleted the cell why; what it carries counts 0"),
    ],
)
def test_trouble_gets_a_status_and_a_sentence(graded, student, status, words):
    course, records, _ = graded
    record = next(record for record in records if record.student == student)
    assert record.status == status
    assert words in record.sentence and record.sentence.endswith(".")
    assert read_record(course, "ps1", student) == record


def test_what_ends_a_kernel_costs_its_own_exercise_only(graded):
    points = {"double": 0, "half": 3, "quadruple": 0, "poll": 1, "why": 0}
    assert graded[2].row("killer").points == points  # quadruple calls double


def test_the_students_own_figures_are_kept_and_marked(graded):
    """In the graded notebook, as the formgrader shows it, and on the feedback page."""
    course, _, scores = graded
    assert scores.row("drawn").status == "graded", "an error elsewhere is no error here"
    path = course.autograded / "drawn" / "ps1" / "ps1.ipynb"
    book, _ = MakeSafe().preprocess(nbformat.read(path, 4), {})
    (outputs,) = (cell.outputs for cell in book.cells if cell.source.startswith("plt.plot"))
    assert [output.get("text") for output in outputs] == [OWN, None, "it failed there"]
    assert outputs[1].data == {"image/png": picture(), "text/plain": "<Figure 2x1>"}
    page = make_feedback(course, "ps1", "drawn").read_text(encoding="utf-8")
    text = page[: page.index(picture()[:70])]
    assert text.rindex(OWN.strip()) > text.rindex("plt")
    for cell in nbformat.read(course.autograded / "perfect" / "ps1" / "ps1.ipynb", 4).cells:
        assert cell.source[:4] != "plt." or cell.outputs == []


def test_everybody_has_a_row_and_a_record(graded):
    course, records, scores = graded
    students = sorted(path.name for path in course.submitted.iterdir())
    assert sorted(record.student for record in records) == students
    assert sorted(row.student for row in scores.rows) == students


def test_written_answers_wait_for_a_person(graded):
    scores = graded[2]
    assert scores.row("perfect").waiting == ("why",)
    assert scores.row("empty").waiting == ()


def exported(course: Course) -> dict[str, dict[str, str]]:
    """The lines of the file for spreadsheets, by student."""
    text = export.as_table(read_course(course, "ps1"), "ps1")
    return {line["student"]: line for line in csv.DictReader(io.StringIO(text))}


def test_the_table_and_the_file(graded):
    course, _, scores = graded
    console = Console(width=100, file=io.StringIO())
    console.print(as_table(scores))
    told = console.file.getvalue()
    assert "unreadable" in told and "1 double, 2 half" in told
    by_student = exported(course)
    assert by_student["perfect"]["total"] == "10" and by_student["perfect"]["maximum"] == "12"
    assert by_student["broken"]["total"] == ""
    # The sentence has commas and comes back whole.
    assert by_student["broken"]["sentence"] == scores.row("broken").sentence


def test_feedback_shows_the_failure_and_hides_the_check(graded):
    course = graded[0]
    page = make_feedback(course, "ps1", "wrong").read_text(encoding="utf-8")
    assert "double: the result is a number, but not the right one." in page
    assert "a secret fraction" in page, "the kind of input is told"
    for secret in ("3.5", "7.0", "HIDDEN TESTS", "verdict.here"):
        assert secret not in re.sub(r"<style.*?</style>", "", page, flags=re.S)
    with pytest.raises(CourseError, match="should have a graded ps1"):
        make_feedback(course, "ps1", "broken")


def test_generated_twice_is_byte_identical(toy):
    first = release(toy)[0]
    assert first.changed == (".vscode/settings.json", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "ps1.ipynb")
    content = (toy.assignments / "ps1" / "ps1.ipynb").read_bytes()
    assert b"x * 2" not in content and b"secret" not in content and b"BEGIN" not in content
    assert release(toy)[0].changed == ()
    assert (toy.assignments / "ps1" / "ps1.ipynb").read_bytes() == content


def test_files_beside_the_notebook_travel_and_old_ones_go(toy):
    release(toy)
    path = toy.solution("ps1")
    book = notebooks.read(path)
    book["cells"][0]["source"] = f"{notebooks.text(book['cells'][0])}\n\nThe words are in `words.txt`."
    notebooks.write(book, path)
    (toy.solutions / "ps1" / "words.txt").write_text("one two")
    (toy.solutions / "ps1" / "GEMINI.md").write_text("of the class")
    (toy.solutions / "ps1" / "ps1.safetensors").write_text("of the instructor's own run")
    (toy.solutions / "ps1" / "ps1-run" / "checkpoint").mkdir(parents=True)
    (toy.assignments / "ps1" / "old.txt").write_text("stale")
    assert release(toy)[0].changed == ("GEMINI.md", "old.txt", "ps1.ipynb", "words.txt")
    names = {path.name for path in (toy.assignments / "ps1").iterdir()}
    assert names == {".vscode", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "ps1.ipynb", "words.txt"}
    assert (toy.assignments / "ps1" / "GEMINI.md").read_text() == "of the class"
    assert [path.name for path in toy.assignments.iterdir()] == ["ps1"]


@pytest.mark.parametrize("disabled", [False, True], ids=["its own log", "a log that was switched off"])
def test_a_solution_that_cannot_be_released_changes_nothing(toy, disabled):
    """The sentence is nbgrader's cause, also where another program has switched off its log."""
    release(toy)
    get_logger().disabled = disabled
    before = (toy.assignments / "ps1" / "ps1.ipynb").read_bytes()
    notebook = notebooks.read(toy.solution("ps1"))
    notebook["cells"][1]["source"] = notebook["cells"][1]["source"].replace("### END SOLUTION", "")
    notebooks.write(notebook, toy.solution("ps1"))
    with pytest.raises(CourseError, match="should have generated ps1.*no end solution"):
        release(toy)
    assert (toy.assignments / "ps1" / "ps1.ipynb").read_bytes() == before
    assert not list(toy.folder.glob("release-*"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda toy: release(toy, ["ps9"]), "'ps9' should be an assignment"),
        (lambda toy: grade(toy, "ps1"), "but there are none"),
        (lambda toy: grade(toy, "ps1", ["nobody"]), "nobody should have handed in ps1"),
        (lambda toy: sample.make_submissions(toy, "ps1", ["perfect"]), "ps1.ipynb should be in"),
    ],
)
def test_bad_input_gets_a_sentence(toy, call, words):
    with pytest.raises(CourseError, match=words):
        call(toy)


def test_a_class_without_submissions_says_which_folder_was_looked_into(toy):
    for students in ([], ["nobody"]):
        with pytest.raises(CourseError, match=re.escape(f"{toy.submitted}/")):
            grade(toy, "ps1", students)


def test_an_unknown_made_up_student_is_refused(toy):
    release(toy)
    with pytest.raises(CourseError, match="A made-up student should be one of"):
        sample.make_submissions(toy, "ps1", ["genius"])


def test_deleted_cells_count_nothing_and_wait_for_nobody(graded):
    course, _, scores = graded
    row = scores.row("deleted")
    # The test cell is put back; the written answer is gone.
    assert row.points == {"double": 3, "half": 3, "quadruple": 3, "poll": 1, "why": 0}
    assert row.waiting == ()
    page = make_feedback(course, "ps1", "deleted").read_text(encoding="utf-8")
    assert "The cell of why is missing: it counts as not answered." in page


def test_points_given_by_hand_stay_until_the_answer_changes(graded):
    """Then they are held back in the table, the file and the feedback, until somebody has looked."""
    course = graded[0]
    with Gradebook(course.gradebook_url) as grades:
        grades.find_grade("why", "ps1", "ps1", "renamed").manual_score = 2.0
        grades.find_grade("why", "ps1", "ps1", "renamed").needs_manual_grade = False
        grades.db.commit()
    book = notebooks.read(course.autograded / "renamed" / "ps1" / "ps1.ipynb")
    saver = Saver(course, "ps1")
    # Some code changes, then the answer, then nothing: held back until somebody looks.
    for old, new, held in (("0.5", ".5", ()), ("Because", "Since", ("why",)), ("", "", ("why",))):
        for cell in book["cells"]:
            cell["source"] = notebooks.text(cell).replace(old, new)
        done = Examination("ps1", "renamed", "graded", notebook=json.dumps(book))
        submission = Submission(("renamed",), "renamed", 1, Snapshot({}, {}))
        scores = read_scores(course, "ps1", [saver.save(done, submission, "")])
        assert scores.row("renamed").changed == held
        assert scores.row("renamed").total == (10 if held else 12)
    console = Console(width=100, file=io.StringIO())
    console.print(as_table(scores))
    assert "↻ changed since it was graded by hand" in " ".join(console.file.getvalue().split())
    row = exported(course)["renamed"]
    assert (row["why"], row["total"]) == ("", "10")
    assert row["status"] == "graded, why changed since it was graded by hand"
    page = make_feedback(course, "ps1", "renamed").read_text(encoding="utf-8")
    assert "changed since it was graded by hand" in page and ">10</b>" in page


def test_the_class_at_a_glance(graded):
    """Numbers that no code of the project computed: 3 + 3 + 3 + 1 points of whoever has a grade."""
    course, records, _ = graded
    report = make_report(read_scores(course, "ps1", records), records)
    totals = {row.student: row.total for row in report.graded}
    assert report.summary[0].startswith(f"{len(records)} handed in, {len(totals)} have a grade. Mean ")
    assert f"of {12}." in report.summary[0]
    assert any(line.startswith("Waiting for a grade by hand: ") for line in report.summary)
    assert sum(count for _, count in report.distribution) == len(totals)
    assert report.distribution[0][1] == sum(total < 1.2 for total in totals.values())
    tasks = {task.name: task for task in report.tasks}
    double = [row.points["double"] for row in report.graded]
    assert tasks["double"].mean == pytest.approx(sum(double) / len(double))
    said = [record.messages["double-test"] for record in records if record.has_grade]
    assert tasks["double"].mistakes[0].count == max(said.count(one) for one in {*said} - {""})
    page = as_page(report)
    assert "ps1 at a glance" in page and "<script" not in page
    assert f"<li>{tasks['double'].mistakes[0].count} × " in page and "broken: unreadable" in page


def test_the_table_fits_a_narrow_terminal():
    labels = "1 2 3a 3b 4a 4b 5 6 7 8a 8b 10a 10b 10c".split()
    tasks = tuple(Exercise(f"exercise_{i}", True, (), 7.0, number=i) for i in labels)
    points = {task.name: 7.0 for task in tasks}
    rows = (Row("somebody", "timed out", "", points), Row("ada", "unreadable", "", None))
    console = Console(width=80, file=io.StringIO())
    console.print(as_table(Scores("ps1", tasks, rows)))
    lines = console.file.getvalue().splitlines()
    assert any(line.split()[:1] == ["somebody"] and "timed out" in line for line in lines)
    assert any("unreadable" in line for line in lines)
    assert not any("…" in line for line in lines)


def test_exercises_are_numbered_as_in_the_notebook():
    """The table's columns, the report and the notebook's headings say the same."""
    tasks = notebooks.exercises(notebooks.read(ROOT / "solutions" / "ps3" / "ps3.ipynb"))
    expected = "1 2 3 4a 4b 5 6 7 8a 8b 9 10a 10b 10c 11a 11b"
    assert [task.number for task in tasks] == expected.split()
    console = Console(width=80, file=io.StringIO())
    console.print(as_table(Scores("ps3", tuple(tasks), ())))
    told = console.file.getvalue()
    assert set(expected.split()) <= {*" ".join(told.splitlines()[:4]).split()}
    assert "4b mlp_score" in " ".join(told.split())


def test_a_name_that_is_a_pattern_grades_nobody_else(toy):
    release(toy)
    for student in ("ada", "*", "[b]"):
        folder = toy.submitted / student / "ps1"
        folder.mkdir(parents=True)
        (folder / "ps1.ipynb").write_bytes((toy.assignments / "ps1" / "ps1.ipynb").read_bytes())
    records = grade(toy, "ps1", ["*", "[b]"])
    assert [record.status for record in records] == ["failed", "failed"]
    assert "Rename the folder." in records[0].sentence
    assert not toy.autograded.exists()
    console = Console(width=80, file=io.StringIO())
    console.print(as_table(read_scores(toy, "ps1", records)))
    assert "[b]" in console.file.getvalue()


def test_a_student_named_twice_is_graded_once(toy):
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    (toy.submitted / "emil").mkdir()
    assert to_grade(toy, "ps1", ["ada", "ada"]) == ["ada"]
    assert toy.without("ps1") == ["emil"]


@pytest.mark.parametrize("call", ["release", "grade"])
def test_a_refusal_of_the_system_is_a_sentence(toy, monkeypatch, call):
    monkeypatch.setattr(commands, "find_root", lambda: toy.root)

    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(toy.folder / "gradebook.db"))

    monkeypatch.setattr(type(toy), "names", refuse)
    with pytest.raises(CourseError, match=r"refused at .*gradebook\.db: Permission denied"):
        if call == "release":
            commands.release_assignments([])
        else:
            commands.grade_submissions([], [], How())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights are another matter there")
def test_folders_without_the_right_to_write_are_refused(toy, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(CourseError, match="where you may write"):
        check_csv(tmp_path / "grades.csv")
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    with pytest.raises(CourseError, match="you may not write there"):
        commands.check_before(toy, ["ps1"], [])


def test_nothing_is_written_where_nobody_handed_in(tmp_path, monkeypatch):
    course = make_toy_course(tmp_path / "course")
    monkeypatch.setattr(commands, "find_root", lambda: course.root)
    with pytest.raises(CourseError, match="but there are none"):
        commands.grade_submissions(["ps1"], [], How())
    assert not course.folder.exists()


def test_two_runs_at_once_are_refused(toy):
    fcntl = pytest.importorskip("fcntl")
    release(toy)
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    with (toy.folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CourseError, match="another one is still running"):
            grade(toy, "ps1")
    assert [record.status for record in grade(toy, "ps1")] == ["missing"]


def test_an_interrupted_run_stops_and_leaves_no_record_of_what_it_did_not_grade(toy):
    release(toy)
    for student in ("ada", "ben", "carla"):
        (toy.submitted / student / "ps1").mkdir(parents=True)

    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(toy, "ps1", how=How(workers=1), tell=interrupt)
    assert read_record(toy, "ps1", "ada") is not None
    assert read_record(toy, "ps1", "ben") is None or read_record(toy, "ps1", "ben").status == "missing"
    assert read_record(toy, "ps1", "carla") is None


def test_files_of_the_current_folder_do_not_stand_in_for_modules(toy, tmp_path, monkeypatch):
    release(toy)
    (tmp_path / "argparse.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    assert [record.status for record in grade(toy, "ps1")] == ["missing"]


def test_a_gradebook_in_use_is_waited_for_and_never_moved(toy, monkeypatch):
    assert gradebook.SOON <= 10
    monkeypatch.setattr(gradebook, "SOON", 0.1)
    with contextlib.closing(sqlite3.connect(toy.folder / "gradebook.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CourseError, match="another program is using it. Wait") as told:
            open_gradebook(toy)
        assert "move" not in str(told.value)
    open_gradebook(toy)


def test_no_other_account_may_enter_the_class(empty_toy):
    """Neither a new folder nor one that everybody could read; nbgrader's own commands close it too."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        course = Course(shutil.copytree(empty_toy.root, Path(place) / "course"))

        def others_may_read() -> bool:
            assert stat.S_IMODE(course.folder.stat().st_mode) in (0o755, 0o700)
            if os.geteuid():
                return bool(course.folder.stat().st_mode & 0o077)
            other = {"user": USER, "group": USER, "extra_groups": []}
            path = course.folder / "gradebook.db"
            return not subprocess.run(["cat", path], capture_output=True, **other).returncode

        for closes in (lambda: open_gradebook(course), course.config, course.make_folder):
            course.folder.chmod(0o755)
            assert others_may_read()
            closes()
            assert not others_may_read()
        # The solutions are the instructor's to close; the doctor says so.
        course.solutions.chmod(0o755)
        assert others_may_enter(course.solutions)
        course.solutions.chmod(0o700)
        assert not others_may_enter(course.solutions)
        Course(course.root, "new/sample").make_folder()
        assert (course.root / "new").stat().st_mode & 0o077 == 0


def test_released_feedback_passes_over_what_did_not_come_through_the_exchange(toy):
    (toy.folder / "exchange").mkdir()
    (toy.folder / "exchange").chmod(0o777)
    for student, beside in {
        "ada": (),
        "ben": ("timestamp.txt",),
        "cleo": ("submission_secret.txt", "timestamp.txt"),
    }.items():
        for name in ("ps1.html", *beside):
            notebooks.write_text(toy.feedback / student / "ps1" / name, "2026-01-10 12:00:00 UTC")
    done = toy.api().release_feedback("ps1")
    assert done["success"], done["error"]
    assert "ada should have timestamp.txt and submission_secret.txt beside the work" in done["log"]
    assert "ben should have submission_secret.txt beside the work" in done["log"]
    assert len(list((toy.folder / "exchange").glob("*/feedback/*.html"))) == 1


def test_feedback_is_written_again_only_by_force(graded):
    """nbgrader leaves a page that exists; `seqcourse feedback` forces it."""
    course = graded[0]
    page = make_feedback(course, "ps1", "half")
    page.chmod(0o644)
    page.write_text("old")
    assert course.api().generate_feedback("ps1", "half", force=False)["success"]
    assert page.read_text() == "old"
    assert course.api().generate_feedback("ps1", "half", force=True)["success"]
    assert page.read_text(encoding="utf-8") != "old"
