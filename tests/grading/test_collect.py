"""Archives of Canvas and Moodle, in the layouts of their source code; and hostile ones."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from seqcourse.errors import CourseError
from seqcourse.grading.canvas import fill
from seqcourse.grading.collect import collect
from seqcourse.grading.course import Course
from seqcourse.grading.late import MARKED
from seqcourse.grading.template import Grade

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
