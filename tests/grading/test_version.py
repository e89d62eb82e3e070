"""A class whose programs are updated in the middle of a term: a copy first, or a sentence."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import GRADED, Record, read_record, write_record
from cellgrader.course.version import FILE, bring_up_to_date
from cellgrader.errors import CourseError

# Tables of nbgrader 0.6: assignments know no course, and students no number of a learning platform.
OLDER = """
    ALTER TABLE student DROP COLUMN lms_user_id;
    CREATE TABLE older AS SELECT id, name, duedate FROM assignment;
    DROP TABLE assignment;
    CREATE TABLE assignment (id VARCHAR(32) PRIMARY KEY, name VARCHAR(128) UNIQUE, duedate DATETIME);
    INSERT INTO assignment SELECT * FROM older;
    DROP TABLE older;
    DROP TABLE course;
    UPDATE alembic_version SET version_num = '167914646830';
"""


@pytest.fixture
def course(released):
    """As an older package left it: with points given by hand, and no version."""
    toy = released
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada")
        gradebook.update_or_create_submission("ps1", "ada")
        gradebook.find_grade("why", "ps1", "ps1", "ada").manual_score = 1.5
        gradebook.db.commit()
    write_record(toy, Record("ps1", "ada", GRADED, ""))
    (toy.folder / FILE).unlink()
    return toy


def by_hand(course) -> float:
    with Gradebook(course.gradebook_url) as gradebook:
        return gradebook.find_grade("why", "ps1", "ps1", "ada").manual_score


def change(course, statements: str) -> None:
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as database:
        database.executescript(statements)


def test_older_data_is_copied_and_brought_up_to_date_once(course, capsys):
    change(course, OLDER)
    open_gradebook(course)
    assert "brought up to date" in capsys.readouterr().err
    assert by_hand(course) == 1.5 and read_record(course, "ps1", "ada").status == GRADED
    with Gradebook(course.gradebook_url) as gradebook:
        assert gradebook.find_assignment("ps1").course_id == "default_course"
        assert gradebook.find_student("ada").lms_user_id is None
    copy = course.folder / "before-update-1"
    assert (copy / "records" / "ps1" / "ada.json").is_file()
    assert (copy / "gradebook.db").stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(copy / "gradebook.db")) as database:
        assert database.execute("SELECT * FROM alembic_version").fetchone() == ("167914646830",)
    # Only the package is newer: a copy, and nothing else to do.
    (course.folder / FILE).write_text(json.dumps({"form": 0, "seqcourse": "0.0.1"}))
    (told,) = bring_up_to_date(course)
    assert told.endswith("is in grading/before-update-2.") and bring_up_to_date(course) == []
    assert by_hand(course) == 1.5


def test_settings_of_another_version_are_a_sentence(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("from cellgrader.marks.late import Old")
    with pytest.raises(CourseError, match="same version as the installed .* cannot import name 'Old'"):
        Course(tmp_path).config()


def test_what_newer_programs_wrote_is_refused_and_left_alone(course, monkeypatch):
    newer = {"form": 9, "seqcourse": "7.0", "nbgrader": "9.9"}
    (course.folder / FILE).write_text(json.dumps(newer))
    with pytest.raises(CourseError, match="says form 9. Use the version that wrote it: seqcourse 7.0"):
        open_gradebook(course)
    (course.folder / FILE).write_text(json.dumps(newer | {"form": 1}))
    change(course, "UPDATE alembic_version SET version_num = 'f00000000000'")
    with pytest.raises(CourseError, match="a newer one wrote it.*'nbgrader==9.9'"):
        open_gradebook(course)
    assert not list(course.folder.glob("before-update-*"))
    # An update that breaks off changes nothing.
    change(course, "UPDATE alembic_version SET version_num = '282d30a0218e'")

    def breaks_off(url: str) -> None:
        change(course, "DELETE FROM grade")
        raise OSError("no room")

    monkeypatch.setattr("nbgrader.dbutil.upgrade", breaks_off)
    with pytest.raises(CourseError, match="no room. It is as it was. Use the nbgrader that .* 9.9"):
        open_gradebook(course)
    assert json.loads((course.folder / FILE).read_text()) == newer | {"form": 1}
    assert by_hand(course) == 1.5
