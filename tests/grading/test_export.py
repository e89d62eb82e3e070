"""Grades as files: a table that survives a spreadsheet, and the form that Canvas imports."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import FAILED, Record, write_record
from cellgrader.errors import CourseError
from cellgrader.marks.export import Line, as_table, final_grades, left_out, read_course
from cellgrader.platforms import moodle
from cellgrader.platforms.canvas import fill
from cellgrader.platforms.spreadsheet import harmless
from cellgrader.platforms.template import Grade
from cellgrader.release.generate import release
from seqcourse.cli.app import app

NAMES = {
    "ada": ("Ada", "Lovelace"),
    "jose": ("José María", "Núñez, Ångström"),
    "pat": ('Pat "Paddy"', "O'Brien\nJr."),
    "kim": ("Kim", "Kang"),
    "zoë": ("Zoë", "=HYPERLINK(1)"),
}
HEADER = [
    "Student",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Section",
    "ps1 (77)",
    "ps10 (78)",
    "Final Score",
]
POINTS = ["    Points Possible", "", "", "", "", "12.00", "10.00", "(read only)"]


def rows(text: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator))


@pytest.fixture(scope="module")
def graded(empty_toy, tmp_path_factory) -> Course:
    """One complete, one to be graded by hand, one who changed it since, one broken, one absent."""
    toy = Course(tmp_path_factory.mktemp("export") / "course")
    shutil.copytree(empty_toy.root, toy.root)
    release(toy)
    with Gradebook(toy.gradebook_url) as gradebook:
        for who, (first, last) in NAMES.items():
            gradebook.update_or_create_student(who, first_name=first, last_name=last)
        for who in ("ada", "jose", "kim"):
            gradebook.update_or_create_submission("ps1", who)
            points = {"double-test": 3, "half-test": 0, "quadruple-test": 1 / 3, "poll-test": 0}
            for grade in gradebook.find_submission_notebook("ps1", "ps1", who).grades:
                grade.auto_score = points.get(grade.name)
                grade.needs_manual_grade = grade.name == "why"
        for who in ("ada", "kim"):
            gradebook.find_grade("why", "ps1", "ps1", who).manual_score = 2
        gradebook.find_grade("why", "ps1", "ps1", "ada").needs_manual_grade = False
        gradebook.db.commit()
    write_record(toy, Record("ps1", "pat", FAILED, "-it broke, alas"))
    return toy


def test_the_table_holds_everybody_as_they_are_called(graded):
    table = rows(as_table(read_course(graded, "ps1"), "ps1"))
    lines = {row[0]: dict(zip(table[0], row, strict=True)) for row in table[1:]}
    assert {who: (line["first_name"], line["last_name"]) for who, line in lines.items()} == {
        **NAMES,
        "pat": ('Pat "Paddy"', "O'Brien?Jr."),  # a name stays on one line
        "zoë": ("Zoë", "'=HYPERLINK(1)"),
    }
    ada = lines["ada"]
    assert (ada["double-test"], ada["quadruple-test"], ada["why"]) == ("3", "0.33", "2")
    assert (ada["points"], ada["late_penalty"], ada["total"], ada["maximum"]) == (
        "5.33",
        "0",
        "5.33",
        "12",
    )
    assert lines["jose"]["why"] == "" and "waits" in lines["jose"]["status"]
    kim = lines["kim"]
    assert (kim["why"], kim["total"]) == ("", "3.33"), "points held back stand in no total"
    assert kim["status"] == "graded, why changed since it was graded by hand"
    assert (lines["pat"]["status"], lines["pat"]["sentence"]) == (FAILED, "'-it broke, alas")
    assert (lines["zoë"]["status"], lines["zoë"]["total"]) == ("nothing handed in", "")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1+1", '=cmd|"/C calc"!A0'])
def test_no_text_is_a_formula(cell):
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell", ["a;=1+1", 'a;"=1+1"', "a|+1", "a; @b", '="a;=1+1"', '="a|=1"', 'a;""-1;=2', "a;=1|=2"]
)
@pytest.mark.parametrize("at", [";", "|", "\t"])
def test_no_text_is_a_formula_after_another_separator(cell, at):
    """As a spreadsheet reads the table that separates cells at semicolons, bars or tabs."""
    file = io.StringIO()
    csv.writer(file).writerow(["x", harmless(cell)])
    for part in file.getvalue().strip().split(at):
        assert not part.replace('"', "").lstrip().startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("cell", ["\t=1", "\r=1", "\n=1"])
def test_nothing_unprintable_hides_a_formula(cell):
    assert harmless(cell) == "?=1"


@pytest.mark.parametrize(
    "cell", ["O'Brien", "Núñez, Å", 'Pat "P"', "1-2", "", "'t Hooft", '="a name of Canvas"']
)
def test_names_stay_as_they_are(cell):
    assert harmless(cell) == cell


def test_an_assignment_that_was_never_graded_is_named(toy):
    open_gradebook(toy)
    with pytest.raises(CourseError, match="'ps1' should be an assignment in the gradebook"):
        read_course(toy, "ps1")


@pytest.fixture
def template(tmp_path) -> Path:
    """A file from Canvas."""
    students = [
        ["Lovelace, Ada", "101", "s1", "ada", "A", "", "9.00", "50"],
        ['="=1+1, Bob"', "102", "s2", "bob", "A", "7.00", "8.00", "60"],
        ["Excused, Eve", "103", "s3", "eve", "B", "EX", "8.00", "70"],
        ["Núñez, José", "104", "s4", "jose@example.org", "B", "", "8.00", "70"],
        ["Student, Test", "105", "", "", "B", "", "", ""],
    ]
    hidden = ["", "", "", "", "", "Manual Posting", "", ""]
    path = tmp_path / "canvas.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([HEADER, hidden, POINTS, *students])
    return path


def test_canvas_gets_its_own_file_with_one_column_filled_in(template):
    grades = [Grade("ada", 10.5, 12), Grade("104", 3, 12), Grade("nobody", 5, 12)]
    filled = fill(template, "ps1", grades)
    table = rows(filled.text)
    assert table[0] == HEADER[:6]
    assert [row[5] for row in table[1:]] == ["Manual Posting", "12.00", "10.5", "7.00", "EX", "3", ""]
    assert [row[3] for row in table[3:]] == ["ada", "bob", "eve", "jose@example.org", ""]
    assert filled.written == ("ada", "104")
    (sentence,) = filled.sentences
    assert sentence.startswith("Not in the file from Canvas") and sentence.endswith(": nobody.")


def test_nobody_is_guessed(template):
    """A name, a part of a login, and an identity that two rows have fit nobody."""
    with template.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(["Other, Ada", "106", "ada", "ada2", "B", "", "", ""])
    grades = [Grade(who, 1, 12) for who in ("ada", "jose", "Núñez, José", "106", "s2")]
    filled = fill(template, "ps1", grades)
    assert filled.written == ("s2",)
    assert filled.sentences[1].endswith(": ada, 106.")
    assert "jose, Núñez, José" in filled.sentences[0]


def test_an_excuse_stays_one(template):
    filled = fill(template, "ps1", [Grade("eve", 11, 12)])
    assert filled.written == () and filled.sentences == ("Left as excused (EX) in Canvas: eve.",)


def test_other_points_in_canvas_are_said_and_nothing_is_scaled(template):
    filled = fill(template, "ps10", [Grade("ada", 12, 12)])
    assert filled.column == "ps10 (78)"
    assert "has 10.00 points, but it has 12 here" in filled.sentences[0]
    assert rows(filled.text)[3][5] == "12"


def test_the_column_must_be_clear(template):
    with pytest.raises(CourseError, match="one column whose title begins with ps2.* but has none"):
        fill(template, "ps2", [])
    with pytest.raises(CourseError, match="should have a column 'ps1 \\(9\\)'"):
        fill(template, "ps1", [], column="ps1 (9)")
    text = template.read_text(encoding="utf-8").replace("ps10 (78)", "PS1: again (78)")
    template.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match="but has 'ps1 \\(77\\)', 'PS1: again \\(78\\)'"):
        fill(template, "ps1", [])
    assert fill(template, "ps1", [], column="PS1: again (78)").column == "PS1: again (78)"


def test_semicolons_of_canvas_are_kept(template):
    text = template.read_text(encoding="utf-8-sig")
    with template.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows(text))
    filled = fill(template, "ps1", [Grade("ada", 10.5, 12)])
    assert rows(filled.text, ";")[3][5] == "10.5"


WORKSHEET = """Identifier,Full name,ID number,Email address,Grade,Maximum grade,Grade can be changed,\
Last modified (grade),Feedback comments
Participant 11,Ada Lovelace,s1,ada@x.org,,20.00,Yes,-,
Participant 12,=José,s2,jose@x.org,7.50,20.00,Yes,"Monday, 5 October 2026",<p>=Good.</p>
Participant 13,Kim,s3,kim@x.org,3.00,20.00,No,-,
"""


def test_moodle_gets_its_own_worksheet_with_the_grades_filled_in(tmp_path):
    """Students by number, ID number or address; locked grades and all other rows stay."""
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(WORKSHEET, encoding="utf-8-sig")
    grades = [Grade(who, 10.5, 12) for who in ("11", "jose@x.org", "s3", "Ada Lovelace", "1")]
    filled = moodle.fill(sheet, "ps1", grades)
    assert rows(filled.text) == [
        ["Identifier", "Grade", "Last modified (grade)", "Full name"],
        ["Participant 11", "10.5", "-", "Ada Lovelace"],
        ["Participant 12", "10.5", "Monday, 5 October 2026", "'=José"],
        ["Participant 13", "3.00", "-", "Kim"],
    ]
    assert filled.written == ("11", "jose@x.org")
    unknown, locked, maximum = filled.sentences
    assert unknown.startswith("Not in the file from Moodle") and unknown.endswith("Ada Lovelace, 1.")
    assert locked.endswith("locked the grades: s3.") and "has 20.00 points" in maximum
    sheet.write_text("Identifier,Grade\nParticipant 11,\n")
    with pytest.raises(CourseError, match="grading worksheet of ps1.*but it lacks Last modified"):
        moodle.fill(sheet, "ps1", grades)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "but is empty"),
        (b"name,grade\nada,3\n", "should begin with the columns Student, ID"),
        ("Student,ID,Section\nN\xfa\xf1ez".encode("latin-1"), "should be a CSV file in UTF-8"),
    ],
)
def test_another_file_is_refused_in_words(tmp_path, content, words):
    path = tmp_path / "other.csv"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=words):
        fill(path, "ps1", [])


def test_unfinished_grades_do_not_leave_the_house(graded):
    lines = read_course(graded, "ps1")
    assert [grade.student for grade in final_grades(lines)] == ["ada"]
    assert left_out(lines) == [
        "Left out, because a part waits for a grade by hand: jose.",
        "Left out, because an answer changed since it was graded by hand: kim.",
    ]


@pytest.mark.nightly
def test_nbgraders_own_command_uses_it(graded, template):
    def export(exporter: str, *options: str) -> str:
        command = [sys.executable, "-m", "nbgrader", "export", "--assignment=['ps1']", *options]
        command.append(f"--exporter=cellgrader.marks.export.{exporter}")
        done = subprocess.run(command, cwd=graded.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    export("TableExport", "--to=table.csv")
    table = rows((graded.root / "table.csv").read_text(encoding="utf-8"))
    assert [row[0] for row in table[1:]] == [line.student for line in read_course(graded, "ps1")]
    said = export("CanvasExport", "--to=out.csv", f"--CanvasExport.template={template}")
    assert "waits for a grade by hand: jose" in said
    assert rows((graded.root / "out.csv").read_text(encoding="utf-8"))[3][5] == "5.33"


def test_a_total_is_never_below_nothing():
    line = Line("a", "", "", "", "graded", "", "", {"x": 1.0}, penalty=3.0, maximum=5)
    assert line.total == 0


@pytest.fixture
def command(graded, monkeypatch):
    """`seqcourse` in the course's folder; returns what it printed, raises what it raises."""
    (graded.root / "book").mkdir(exist_ok=True)
    monkeypatch.chdir(graded.root)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    return run


def test_the_command_writes_both_files(command, graded, template):
    sheet = template.with_name("sheet.csv")
    sheet.write_text(WORKSHEET.replace("s1", "ada"), encoding="utf-8")
    options = ("--csv", "a.csv", "--canvas", str(template), "--moodle", str(sheet))
    said = command("export", "ps1", *options)
    assert "1 grade in the column Grade" in said
    assert ",5.33," in template.with_name("sheet-ps1.csv").read_text(encoding="utf-8")
    assert "a.csv: 3 grades, 5 students" in said
    assert "1 grade in the column ps1 (77)" in said
    assert "waits for a grade by hand: jose" in said
    assert (graded.root / "a.csv").read_bytes().startswith("\ufeff".encode())
    filled = template.with_name("canvas-ps1.csv").read_text(encoding="utf-8")
    assert rows(filled)[3][5] == "5.33"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "ps1"), "no file was named"),
        (("export", "ps1", "--canvas-out", "x.csv"), "--canvas should name the CSV file"),
        (("export", "ps1", "--csv", "nowhere/x.csv"), "folder that exists"),
        (("export", "ps7", "--csv", "x.csv"), "'ps7' should be an assignment"),
        (("export", "ps1", "--canvas", "no.csv"), "cannot be read"),
        (("similar", "ps1", "--threshold", "2"), "a share above 0"),
        (("similar", "ps1"), "there are none"),
    ],
)
def test_the_commands_refuse_in_words(command, arguments, words):
    with pytest.raises(CourseError, match=words):
        command(*arguments)


# Points in three assignments: None waits for a person, a missing one was not handed in.
COURSE = {
    "ada": {"ps1": 12, "ps2": 4, "ps3": 30},
    "jose": {"ps1": 6, "ps3": 15.5},
    "kim": {"ps1": 3, "ps2": None, "ps3": 0},
    "pat": {"ps1": 1},
    "zoë": {},
}
MAXIMA = {"ps1": 12, "ps2": 8, "ps3": 30}


@pytest.fixture
def term(toy, monkeypatch) -> Course:
    """Three graded assignments, a fourth that nobody has a grade in; pat's ps2 is not graded yet."""
    (toy.root / "book").mkdir()
    monkeypatch.chdir(toy.root)
    for number in (2, 3, 4):
        shutil.copytree(toy.root / "solutions/ps1", toy.root / f"solutions/ps{number}")
        (toy.root / f"solutions/ps{number}/ps1.ipynb").rename(toy.solution(f"ps{number}"))
    with Gradebook(toy.gradebook_url) as gradebook:
        for who, (first, last) in NAMES.items():
            gradebook.update_or_create_student(who, first_name=first, last_name=last)
        for name, maximum in MAXIMA.items():
            gradebook.update_or_create_assignment(name)
            gradebook.update_or_create_notebook(name, name)
            gradebook.add_grade_cell("all", name, name, max_score=maximum, cell_type="code")
            for who, marks in COURSE.items():
                if name in marks:
                    gradebook.update_or_create_submission(name, who)
                    grade = gradebook.find_grade("all", name, name, who)
                    grade.auto_score = marks[name]
                    grade.needs_manual_grade = marks[name] is None
                    (toy.submitted / who / name).mkdir(parents=True)
        gradebook.db.commit()
    (toy.submitted / "pat" / "ps2").mkdir()
    return toy


def totals(said: str, path: Path) -> dict[str, dict[str, str]]:
    assert f"{path.name}: 5 students, 3 assignments" in said
    header, *lines = rows(path.read_text(encoding="utf-8"))
    return {line[0]: dict(zip(header, line, strict=True)) for line in lines}


@pytest.mark.parametrize(
    "weights", [{}, {"ps1": 1, "ps2": 1, "ps3": 2}, {"ps3": 0.5, "ps1": 0.25}, {"ps1": 0, "ps2": 3}]
)
def test_the_course_total_is_the_weighted_sum_of_what_each_assignment_exports(term, weights):
    """Not handed in counts 0; what waits for a person or for grading leaves the total open."""
    table = "".join(f"{name} = {weight}\n" for name, weight in weights.items())
    (term.root / "course.toml").write_text(f"[weights]\n{table}" if weights else "")
    done = CliRunner().invoke(app, ["export", "--csv", "all.csv"], catch_exceptions=False)
    found = totals(done.output, term.root / "all.csv")
    counts = {name: weights.get(name, 0) for name in MAXIMA} if weights else MAXIMA
    for who, marks in COURSE.items():
        is_open = (who == "kim" or who == "pat") and counts["ps2"]
        parts = [
            counts[name] * (marks.get(name) or 0) / maximum
            for name, maximum in MAXIMA.items()
            if counts[name]
        ]
        expected = 100 * sum(parts) / sum(counts.values())
        told = found[who]["total_percent"]
        assert told == "" if is_open else float(told) == pytest.approx(expected, abs=0.005), who
        assert [found[who][name] != "" for name in MAXIMA] == [name in marks for name in MAXIMA]
    assert found["ada"]["status"] == "" and found["jose"]["status"] == "ps2: nothing handed in"
    assert found["pat"]["status"] == "ps2: not graded yet; ps3: nothing handed in"
    assert "ps2: waits for a grade by hand" in found["kim"]["status"]
    assert "nobody has a grade yet: ps4." in done.output
    assert ("without a weight: ps2." in done.output) == (bool(weights) and not counts["ps2"])
    assert ("a mark is still to come" in done.output) == bool(counts["ps2"])
    # An assignment's own table says the same of the work that nobody has graded.
    (pat,) = (line for line in read_course(term, "ps2") if line.student == "pat")
    assert pat.status == "not graded yet"


@pytest.mark.parametrize(
    ("arguments", "content", "words"),
    [
        (("export",), "", "seqcourse export --csv grading/course.csv"),
        (("export", "--csv", "x.csv", "--canvas", "x.csv"), "", "a file of a platform was named"),
        (("export", "--csv", "x.csv"), "[weights]\nps1 = 0\nps4 = 1\n", "ps1, ps2, ps3 have none"),
        (
            ("export", "--csv", "x.csv"),
            "[weights]\nps1 = -1\n",
            "line 2: weights.ps1 should be a number",
        ),
        (
            ("export", "--csv", "x.csv"),
            "[weights]\nps1 = inf\n",
            "line 2: weights.ps1 should be a number",
        ),
        (("export", "--csv", "x.csv"), "[weights]\nessay = 1\n", "'weights.essay' is not a setting"),
    ],
)
def test_a_course_total_that_cannot_be_is_refused_in_words(term, arguments, content, words):
    (term.root / "course.toml").write_text(content)
    with pytest.raises(CourseError, match=words):
        CliRunner().invoke(app, list(arguments), catch_exceptions=False)
