"""Archives of Canvas and Moodle, in the layouts of their source code; and hostile ones."""

from __future__ import annotations

import csv
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from cellgrader.course.folders import Course
from cellgrader.course.small_files import time
from cellgrader.errors import CourseError
from cellgrader.marks.late import MARKED
from cellgrader.people.collect import collect
from cellgrader.people.erase import places
from cellgrader.platforms import moodle
from cellgrader.platforms.canvas import fill
from cellgrader.platforms.moodle_times import is_late, read_time
from cellgrader.platforms.template import Grade
from seqcourse.cli.app import app

CANVAS = {
    "lovelaceada_4711_98765_ps1.ipynb": "ada",
    "o'brienpat_LATE_4712_98766_ps1-2.ipynb": "pat",
    "o'brienpat_LATE_4712_98767_notes_on_3_4_x.txt": "notes",
    "LATE_4714_98769_ps1.ipynb": "no name",
    "brookscleo_4713_98771_ps1.ipynb": "first",
    "brookscleo_4713_98772_ps1.ipynb": "second",
    "brookscleo_4713_98773_timestamp.txt": "1999-01-01 12:00:00 UTC",
    "readme.txt": "?",
}
MOODLE = {
    "Ada Lovelace_11_assignsubmission_file/ps1.ipynb": "ada",
    "José_María Núñez_12_assignsubmission_file_/sub/my ps1.ipynb": "jose",
    "Kim_13_assignsubmission_file_ps1.ipynb": "kim",
    "Kim_13_assignsubmission_onlinetext/onlinetext.html": "text",
}
EXPORT = "Student,ID,SIS User ID,SIS Login ID,Section,ps1 (9)\nPoints Possible,,,,,12\n"
EXPORT += "Ada,4711,s1,ada,A,\nPat,4712,s2,pat,A,\n"


def packed(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def there(course: Course) -> dict[str, str]:
    paths = [path for path in course.submitted.rglob("*") if path.is_file()]
    return {path.relative_to(course.submitted).as_posix(): path.read_text() for path in paths}


def test_canvas_by_its_ids_which_its_own_table_has(tmp_path):
    course = Course(tmp_path)
    found = collect(course, "ps1", packed(tmp_path / "all.zip", CANVAS), "canvas")
    assert found.students == ("4711", "4712", "4713", "4714") and found.late == ("4712", "4714")
    # Nobody brings a time of their own; of two files with one name the last counts, and is named.
    assert found.unclear == ("brookscleo_4713_98773_timestamp.txt", "readme.txt")
    assert found.double == ("4713 (ps1.ipynb)",)
    mark = {"4712/ps1/late.txt": f"{MARKED}.\n", "4714/ps1/late.txt": f"{MARKED}.\n"}
    assert there(course) == mark | {
        "4713/ps1/ps1.ipynb": "second",
        "4711/ps1/ps1.ipynb": "ada",
        "4712/ps1/ps1-2.ipynb": "pat",
        "4712/ps1/notes_on_3_4_x.txt": "notes",
        "4714/ps1/ps1.ipynb": "no name",
    }
    table = tmp_path / "export.csv"
    table.write_text(EXPORT, encoding="utf-8-sig")
    grades = [Grade(student, 3.0, 12.0) for student in found.students[:2]]
    assert fill(table, "ps1", grades).written == ("4711", "4712")
    # By login; a new archive takes the place of the old work.
    once = {"lovelaceada_4711_99999_ps1-1.ipynb": "again"}
    collect(course, "ps1", packed(tmp_path / "all.zip", once), "canvas", table)
    collect(course, "ps1", packed(tmp_path / "all.zip", once), "canvas")
    content = there(course)
    assert content["ada/ps1/ps1-1.ipynb"] == "again" and "4711/ps1/ps1.ipynb" not in content


def test_nobody_hands_in_for_another_by_a_name(tmp_path):
    """Participants choose their names, and Moodle writes them before the number."""
    course, false = Course(tmp_path), "Eve_11_assignsubmission_file_x_66_assignsubmission_file_"
    archive = packed(tmp_path / "all.zip", {f"{false}/ps1.ipynb": "eve", **MOODLE})
    found = collect(course, "ps1", archive, "moodle")
    assert found.students == ("11", "12", "13") and found.unclear[0].startswith(false[:50])
    assert there(course)["11/ps1/ps1.ipynb"] == "ada"


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_entry_is_one_line(tmp_path, packing):
    course, content = Course(tmp_path), "x = 1\n" * 500
    with zipfile.ZipFile(tmp_path / "all.zip", "w", packing) as archive:
        for name in MOODLE:
            archive.writestr(name, content)
    first = next(iter(MOODLE))
    data = bytearray((tmp_path / "all.zip").read_bytes())
    data[30 + len(first) : 60 + len(first)] = b"\xff" * 30
    (tmp_path / "all.zip").write_bytes(data)
    found = collect(course, "ps1", tmp_path / "all.zip", "moodle")
    assert found.students == ("12", "13") and "11 (cannot be unpacked" in " ".join(found.unclear)


def test_an_appeal_that_comes_alone_is_put_beside_the_work(tmp_path):
    """A platform gives the files of the last submission only, and calls them late."""
    course = Course(tmp_path)
    work = {"lovelaceada_4711_98765_ps1.ipynb": "ada"}
    collect(course, "ps1", packed(tmp_path / "all.zip", work), "canvas")
    for name, words in (("appeal.md", "2: x"), ("appeal-1.md", "2: y")):
        alone = {f"lovelaceada_LATE_4711_98770_{name}": words}
        found = collect(course, "ps1", packed(tmp_path / "all.zip", alone), "canvas")
        assert found.students == ("4711",) and not found.late
        assert there(course) == {"4711/ps1/ps1.ipynb": "ada", "4711/ps1/appeal.md": words}


def test_moodle_in_folders_and_flat(tmp_path):
    course = Course(tmp_path)
    found = collect(course, "ps1", packed(tmp_path / "all.zip", MOODLE), "moodle")
    assert found.students == ("11", "12", "13") and len(found.unclear) == 1
    assert there(course) == {
        "11/ps1/ps1.ipynb": "ada", "12/ps1/my ps1.ipynb": "jose", "13/ps1/ps1.ipynb": "kim",
    }  # fmt: skip
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Full name,Email address\nParticipant 11,Ada,ada@x.org\n")
    assert "ada@x.org" in collect(course, "ps1", tmp_path / "all.zip", "moodle", sheet).students


@pytest.mark.parametrize(
    ("platform", "file"),
    [
        ("canvas", "smith2_4711_98765_ps1.ipynb"),
        ("canvas", "smith_4711_98765_x_13_14_ps1.ipynb"),
        ("moodle", "Kim_4711_assignsubmission_file_x_13_assignsubmission_file_ps1.ipynb"),
    ],
)
def test_neither_a_name_nor_a_file_takes_another_student_s_place(tmp_path, platform, file):
    archive = packed(tmp_path / "all.zip", {file: "mine"})
    assert collect(Course(tmp_path), "ps1", archive, platform).students == ("4711",)


def test_a_damaged_file_is_said_and_the_others_are_there(tmp_path):
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("ada_4711_98765_ps1.ipynb", "words " * 100)
        opened.writestr("pat_4712_98766_ps1.ipynb", "pat")
        opened.writestr(f"cleo_4713_98767_{'x' * 260}", "cleo")
    content = bytearray(archive.read_bytes())
    content[54:64] = b"\xff" * 10  # behind the header: packed bytes
    archive.write_bytes(content)
    course = Course(tmp_path / "course")
    found = collect(course, "ps1", archive, "canvas")
    assert found.students == ("4712",) and there(course) == {"4712/ps1/ps1.ipynb": "pat"}
    assert [words[:23] for words in found.unclear] == [
        "cleo_4713_98767_xxxxxxx",
        "4711 (cannot be unpacke",
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"../../evil_4711_1_..": "x"}, "no file in it is named like that"),
        ({"x_4711_1_..": "x"}, "no file in it is named like that"),
        ({"a/b_4711_1_ps1.ipynb": "x"}, "no file in it is named like that"),
        ({}, "it is empty"),
    ],
)
def test_nothing_is_written_outside(tmp_path, files, words):
    course = Course(tmp_path / "course")
    with pytest.raises(CourseError, match=words):
        collect(course, "ps1", packed(tmp_path / "all.zip", files), "canvas")
    assert not course.submitted.exists()
    (tmp_path / "no.zip").write_text("no archive")
    with pytest.raises(CourseError, match="should be a zip file"):
        collect(course, "ps1", tmp_path / "no.zip", "canvas")
    with pytest.raises(CourseError, match="canvas or moodle"):
        collect(course, "ps1", tmp_path / "no.zip", "blackboard")


ROSTER = "Student,ID,SIS User ID,SIS Login ID,Section,ps1 (9)\n"
CLEO = "brookscleo_4713_98771_ps1.ipynb"


def archive_of(path: Path, *numbers: int) -> Path:
    return packed(path / "all.zip", {f"name_{each}_1_ps1.ipynb": f"{each}" for each in numbers})


def table(path: Path, text: str, encoding: str = "utf-8") -> Path:
    (path / "roster.csv").write_text(text, encoding=encoding)
    return path / "roster.csv"


@pytest.mark.parametrize(
    ("rows", "clear", "refused"),
    [
        # one login for two
        ("Ada,4711,S1,ada,A,\nPat,4712,S2,pat,A,\nAlan,4713,S3,pat,A,\n", {"ada"}, ("4712", "4713")),
        ("Ada,4711,S1,ada,A,\nPat,4712,S2,Pat,A,\nAlan,4713,S3,pat,A,\n", {"ada"}, ("4712", "4713")),
        # whoever shares it hands in later
        ("Ada,4711,S1,ada,A,\nPat,4712,S2,pat,A,\nAlan,4799,S3,pat,A,\n", {"ada", "4713"}, ("4712",)),
        # a login that is another's number, whether the roster has it or not
        ("Ada,4711,S1,4712,A,\n", {"4713"}, ("4711", "4712")),
        ("Ada,4711,S1,4712,A,\nPat,4712,S2,pat,A,\n", {"4713"}, ("4711", "4712")),
        # two logins for one number; in two sections with one login
        ("Ada,4711,S1,ada,A,\nAda,4711,S1,a,B,\n", {"4712", "4713"}, ("4711",)),
        ("Ada,4711,S1,ada,A,\nAda,4711,S1,ada,B,\n", {"ada", "4712", "4713"}, ()),
    ],
)
def test_nobody_s_work_comes_into_the_folder_of_another(tmp_path, rows, clear, refused):
    course = Course(tmp_path / "course")
    roster = table(tmp_path, ROSTER + rows)
    archive = archive_of(tmp_path, 4711, 4712, 4713)
    found = collect(course, "ps1", archive, "canvas", roster)
    assert set(found.students) == clear and found.refused == refused
    assert {path.split("/")[0] for path in there(course)} == clear
    assert set(found.unknown) == {who for who in clear if who.isdecimal()}


ODD_TABLES = {
    "blank rows": ",,,,,\n    Points Possible,,,,,12\nAda,4711,s1,ada,A,\n,,,,,\nPat,4712,s2,pat,A,\n",
    "short rows": "    Points Possible\nAda,4711,s1,ada\nPat,4712,s2,pat,A,,,\nX,4713\nX\n",
    "semicolons": '"Lovelace, Ada";4711;s1;ada;A;\nO\'Brien, Pat;4712;s2;pat;A;\n',
    "numbers of a spreadsheet": "Ada,4711.0,s1,ada,A,\nPat,4.712E+03,s2,pat,A,\n",
}


@pytest.mark.parametrize("form", ODD_TABLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_table_that_came_through_a_spreadsheet_is_read_by_collect_and_export(tmp_path, form, encoding):
    header = ROSTER.replace(",", ";") if form == "semicolons" else ROSTER
    roster = table(tmp_path, header + ODD_TABLES[form], encoding)
    archive = archive_of(tmp_path, 4711, 4712)
    course = Course(tmp_path / "course")
    assert collect(course, "ps1", archive, "canvas", roster).students == ("ada", "pat")
    filled = fill(roster, "ps1", [Grade("ada", 3.0, 12.0), Grade("4712", 4.0, 12.0)])
    assert filled.written == ("ada", "4712")
    assert "4711.0" not in filled.text and "E+03" not in filled.text  # Canvas looks for the number


def test_a_number_that_a_spreadsheet_cut_is_nobody_s(tmp_path):
    roster = table(tmp_path, ROSTER + "Ada,4.71E+03,s1,ada,A,\nPat,4711.5,s2,pat,A,\n")
    found = collect(Course(tmp_path), "ps1", archive_of(tmp_path, 4710, 4711), "canvas", roster)
    assert found.students == found.unknown == ("4710", "4711")


def test_what_is_no_table_in_utf_8_is_refused_by_both(tmp_path):
    roster = table(tmp_path, ROSTER + "N\xfa\xf1ez,4711,s1,ada,A,\n", "cp1252")
    for read in (
        lambda: collect(Course(tmp_path), "ps1", archive_of(tmp_path, 4711), "canvas", roster),
        lambda: fill(roster, "ps1", []),
    ):
        with pytest.raises(CourseError, match="should be a CSV file in UTF-8"):
            read()


def test_of_two_files_of_one_name_none_is_lost(tmp_path):
    """Canvas numbers files as they come; in Moodle's archives they may lie in a student's folders."""
    course = Course(tmp_path / "course")
    names = ("x_4711_99999_ps1.ipynb", "x_4711_100001_ps1.ipynb", "x_4711_100000_ps1.ipynb")
    archive = packed(tmp_path / "all.zip", {name: name for name in names})
    assert collect(course, "ps1", archive, "canvas").double == ("4711 (ps1.ipynb)",)
    assert there(course) == {"4711/ps1/ps1.ipynb": names[1]}
    course = Course(tmp_path / "moodle")
    folder = "Ada_11_assignsubmission_file"
    files = {"v2/ps1.ipynb": "2", "old/ps1.ipynb": "1", "old/data/words.txt": "w", "../ps1.ipynb": "0"}
    packed(archive, {f"{folder}/{name}": content for name, content in files.items()})
    found = collect(course, "ps1", archive, "moodle")
    assert there(course) == {
        "11/ps1/v2/ps1.ipynb": "2", "11/ps1/old/ps1.ipynb": "1", "11/ps1/words.txt": "w",
    }  # fmt: skip
    assert found.beside == ("11 (v2/ps1.ipynb)", "11 (old/ps1.ipynb)") and not found.double
    assert found.unclear == (f"{folder}/../ps1.ipynb",)
    # A file where another one needs a folder stops nobody else.
    files = {f"{folder}/x": "x", f"{folder}/x/x": "x", "Kim_13_assignsubmission_file_ps1.ipynb": "kim"}
    found = collect(course, "ps1", packed(archive, files), "moodle")
    assert found.students == ("13",) and len(found.unclear) == 1


def test_people_of_the_class_s_list_are_found_by_their_address(tmp_path, toy):
    """In Moodle's worksheet, whatever the capitals of its columns and addresses."""
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", email="Ada@x.org")
        gradebook.update_or_create_student("kim", first_name="Kim", email="kim@x.org")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(
        "identifier,Full Name,ID Number,Email  Address,grade,Last Modified (Grade)\n"
        "Participant 11,Ada,77,ada@X.org,,-\nParticipant 13,Kim,kim,,,-\nParticipant 14,Lea,9,,,-\n"
    )
    names = {f"{who}_{who}_assignsubmission_file_ps1.ipynb": "x" for who in (11, 13, 14)}
    found = collect(toy, "ps1", packed(tmp_path / "all.zip", names), "moodle", sheet)
    assert found.students == ("9", "ada", "kim")
    filled = moodle.fill(sheet, "ps1", [Grade("ada", 3.0, 12.0, "Ada@x.org"), Grade("kim", 4.0, 12.0)])
    assert filled.written == ("ada", "kim")


def test_everything_that_is_left_out_is_named(tmp_path, toy, monkeypatch):
    names = [f"student{number}_{5000 + number}_text.html" for number in range(40)]
    archive = packed(tmp_path / "all.zip", {**dict.fromkeys(names, "x"), CLEO: "x"})
    roster = table(tmp_path, ROSTER + "Ada,4711,S1,4713,A,\n")
    (toy.root / "book").mkdir()
    monkeypatch.chdir(toy.root)
    command = ["collect", "ps1", str(archive), "--from", "canvas", "--roster", str(roster)]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0 and all(name in done.output for name in names)
    assert "left out (40)" in done.output
    assert "Fits more than one student in roster.csv" in done.output
    assert "0 submissions" in done.output


def canvas_finds(file: str) -> tuple[str, str]:
    """Whose page a file is, for Canvas: the first two numbers between underscores."""
    student, attachment = [part for part in file.split("_") if part.isdigit()][:2]
    return student, attachment


def moodle_finds(path: str) -> tuple[str, str]:
    """Whose page a file is, for Moodle: the second of the parts before the name of its plugin."""
    _, participant, plugin, *rest = path.split("_", 4)
    assert plugin == "assignsubmission" and rest[0].partition("/")[0] == "file"
    return participant, ""


@pytest.fixture
def command(toy, monkeypatch):
    """`seqcourse` in a course's folder; returns what it printed, raises what it raises."""
    (toy.root / "book").mkdir()
    monkeypatch.chdir(toy.root)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    return run, toy


# Moodle writes no underscore of a name.
MOODLES = {name.replace("José_María", "José María"): content for name, content in MOODLE.items()}


@pytest.mark.parametrize(
    ("platform", "files", "finds", "expected"),
    [
        ("canvas", CANVAS, canvas_finds, {"4711": "98765", "4712": "98767", "4713": "98772"}),
        ("moodle", MOODLES, moodle_finds, {"11": "", "12": "", "13": ""}),
    ],
)
def test_pages_go_back_under_the_names_that_the_platform_gave(
    command, tmp_path, platform, files, finds, expected
):
    run, course = command
    with pytest.raises(CourseError, match="Collect its archive once more"):
        run("return", "ps1", "--to", platform)
    archive = packed(tmp_path / "all.zip", files)
    run("collect", "ps1", str(archive), "--from", platform)
    with pytest.raises(CourseError, match="seqcourse feedback ps1"):
        run("return", "ps1", "--to", platform)
    students = [path.name for path in course.submitted.iterdir()]
    for student in {*students, "by-hand"} - {"4714"}:
        page = course.feedback / student / "ps1" / "ps1.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"page of {student}")
        (course.submitted / student / "ps1").mkdir(parents=True, exist_ok=True)
    said = run("return", "ps1", "--to", platform)
    assert f"{len(expected)} feedback pages of ps1" in said and "by-hand" in said
    assert ("No page yet, so not in it: 4714." in said) == (platform == "canvas")
    with zipfile.ZipFile(course.folder / f"return-ps1-{platform}.zip") as opened:
        given = {finds(file): opened.read(file).decode() for file in opened.namelist()}
        assert all(file.endswith("ps1.html") for file in opened.namelist())
    assert given == {pair: f"page of {pair[0]}" for pair in expected.items()}
    other = {"canvas": "moodle", "moodle": "canvas"}[platform]
    with pytest.raises(CourseError, match=f"seqcourse collect ps1 FILE --from {other}"):
        run("return", "ps1", "--to", other)
    with pytest.raises(CourseError, match="--to should be canvas or moodle"):
        run("return", "ps1", "--to", "blackboard")


def test_a_name_that_came_leaves_with_its_student(tmp_path):
    course = Course(tmp_path)
    collect(course, "ps1", packed(tmp_path / "all.zip", CANVAS), "canvas")
    (tmp_path / "solutions" / "ps1").mkdir(parents=True)
    (tmp_path / "solutions" / "ps1" / "ps1.ipynb").write_text("{}")
    here = {path.read_text() for path in course.folder.glob("collected/ps1/*.txt")}
    assert "lovelaceada_4711_98765_\n" in here
    gone = {path for path in places(course, "4711") if path.exists()}
    assert {path for path in gone if "lovelaceada" in path.as_posix() or path.suffix == ".txt"} == {
        course.folder / "collected/ps1/4711.txt"
    }


# What Moodle writes in four languages, by its language packs: the columns, the word for participants, a
# time, what Status says of late work, and the word for no.
WORKSHEETS = {
    "English": (
        "Identifier|Full name|Email address|Status|Grade|Maximum grade|Grade can be changed|"
        "Last modified (submission)|Last modified (grade)",
        "Participant ",
        "Monday, 5 October 2026, 6:03 PM",
        "Submitted for grading - 2 hours 3 mins late",
        "No",
    ),
    "German": (
        "ID|Vollständiger Name|E-Mail-Adresse|Status|Bewertung|Bestwertung|"
        "Bewertung kann geändert werden|Zuletzt geändert (Abgabe)|Zuletzt geändert (Bewertung)",
        "Teilnehmer/in",
        "Montag, 5. Oktober 2026, 18:03",
        "Zur Bewertung abgegeben - 2 Stunden 3 Minuten zu spät",
        "Nein",
    ),
    "French": (
        "Identifiant|Nom complet|Adresse de courriel|Statut|Note|Note maximale|"
        "La note peut être modifiée|Dernière modification (travail remis)|Dernière modification (note)",
        "Participant ",
        "lundi 5 octobre 2026, 18:03",
        "Remis pour évaluation - En retard de 2 heures 3 min",
        "Non",
    ),
    "Spanish": (
        "Identificador|Nombre completo|Correo|Estado|Calificación|Calificación máxima|"
        "La calificación puede ser cambiada|Última modificación (entrega)|"
        "Última modificación (calificación)",
        "Participante",
        "lunes, 5 de octubre de 2026, 18:03",
        "Enviado para calificar - 2 horas 3 minutos de retraso",
        "No",
    ),
}


@pytest.mark.parametrize("language", WORKSHEETS)
def test_moodle_s_worksheet_says_when_work_came_in_whatever_language(command, tmp_path, language):
    """Ada and kim have times; pat's status says late, without a time; lea's time is in numbers only."""
    run, course = command
    header, word, when, late, no = WORKSHEETS[language]
    (course.root / "course.toml").write_text('zone = "Europe/Berlin"\n[late]\nshare_per_day = 0.1\n')
    sheet = tmp_path / "sheet.csv"
    people = {"11": ("ada", late, when), "12": ("pat", late, "-"), "13": ("kim", "", when)}
    people["14"] = ("lea", "", "5/10/26, 18:03")
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file)
        out.writerow(header.split("|"))
        for number, (who, status, time_) in people.items():
            may = no if who == "kim" else "Yes"
            out.writerow([f"{word}{number}", who, f"{who}@x.org", status, "", "12", may, time_, "-"])
    names = {f"X_{number}_assignsubmission_file/ps1.ipynb": number for number in people}
    archive = packed(tmp_path / "all.zip", names)
    said = run("collect", "ps1", str(archive), "--from", "moodle", "--roster", str(sheet))
    found = there(course)
    for who in ("ada", "kim"):
        assert found[f"{who}@x.org/ps1/timestamp.txt"] == "2026-10-05 18:03:00 Europe/Berlin\n"
    # Berlin is two hours ahead in October.
    written = found["ada@x.org/ps1/timestamp.txt"].encode()
    assert time(written) == datetime(2026, 10, 5, 16, 3)
    assert [path for path in found if path.endswith("late.txt")] == ["pat@x.org/ps1/late.txt"]
    assert "pat@x.org. They are marked as late, which counts as one day and costs 10 % of" in said
    assert "whether the work was late: lea@x.org." in said
    filled = moodle.fill(sheet, "ps1", [Grade(f"{who}@x.org", 3.0, 12.0) for who in ("ada", "kim")])
    assert filled.written == ("ada@x.org",) and "locked the grades: kim@x.org." in filled.sentences[0]
    (head, ada, *_) = csv.reader(filled.text.removeprefix("\ufeff").splitlines())
    columns = header.split("|")
    assert head == [columns[0], columns[4], columns[8], columns[1]] and ada[1] == "3"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Saturday, 31 January 2026, 12:05 AM", datetime(2026, 1, 31, 0, 5)),
        ("Saturday, 31 January 2026, 12:05 PM", datetime(2026, 1, 31, 12, 5)),
        ("October 5, 2026, 6:03 p.m.", datetime(2026, 10, 5, 18, 3)),
        ("Sonntag, 1. März 2026, 00:00", datetime(2026, 3, 1, 0, 0)),
        ("mercredi 1 juillet 2026, 08:30", datetime(2026, 7, 1, 8, 30)),
        ("martes, 30 de junio de 2026, 23:59", datetime(2026, 6, 30, 23, 59)),
        ("samedi 1 août 2026 à 18h03", datetime(2026, 8, 1, 18, 3)),
        ("Tuesday, 31 June 2026, 6:03 PM", None),
        ("05/10/2026, 18:03", None),
        ("Monday, 5 October 2026", None),
        ("-", None),
    ],
)
def test_a_time_of_moodle_is_read_or_is_none(cell, expected):
    assert read_time(cell) == expected


def test_work_that_is_overdue_is_not_late_work():
    assert not is_late("No submission - Assignment is overdue by: 5 days")
    assert not is_late("Submitted for grading - Extension granted until: Monday, 5 October 2026")
