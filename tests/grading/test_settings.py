"""The settings of a class: two files, one over the other, and a sentence for what cannot be meant."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from cellgrader.class_settings import KEYS, read_settings
from cellgrader.errors import CourseError
from cellgrader.release.generate import release
from seqcourse.cli import doctor

from .toy import ROOT

DEFAULTS = {key: entry.default for key, entry in KEYS.items()} | {"name": "seqcourse"}


def test_the_file_of_the_course_shows_every_setting_with_its_default():
    settings = read_settings(ROOT)
    shared = {key for key, where in settings.sources.items() if where.startswith("course.toml")}
    assert shared == set(KEYS)
    assert read_settings(ROOT / "tests").values == DEFAULTS
    local = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/course.local.toml" in local
    if not (ROOT / "course.local.toml").exists():
        assert settings.values == DEFAULTS


@pytest.mark.parametrize("address", ["https://example.org/mine", "https://github.com/you", "github"])
def test_a_repository_that_the_book_cannot_link_to_is_refused_by_release(toy, address):
    """At once, and not by the book after it has run for minutes."""
    (toy.root / "course.toml").write_text(f'repository = "{address}"\n')
    with pytest.raises(CourseError, match="course.toml, line 1: repository should be the address of a"):
        release(toy)
    (toy.root / "course.toml").write_text('repository = "git@gitlab.com:you/course.git"\n')
    assert read_settings(toy.root)["repository"]


def test_the_local_file_overrides_line_by_line(tmp_path, monkeypatch):
    shared = '# timeout = 1\ntimeout = 30\n[late] # policy\nfloor = 1\n"grace_minutes" = 0\n'
    (tmp_path / "course.toml").write_text(shared)
    local = '\nlate = { floor = 0.25 }\ngradebook = "postgresql://me:pass-word@host/db"\n'
    (tmp_path / "course.local.toml").write_text(local)
    settings = read_settings(tmp_path)
    assert (settings["timeout"], settings["late.floor"], settings["attempts"]) == (30, 0.25, 0)
    assert type(settings["late.grace_minutes"]) is float
    assert settings.sources["timeout"] == "course.toml, line 2"
    assert settings.sources["late.floor"] == "course.local.toml, line 2"
    monkeypatch.setattr("seqcourse.cli.root.find_root", lambda: tmp_path)
    (found,) = doctor.settings()
    assert found.state == doctor.GOOD and "late.floor = 0.25" in found.sentence
    assert "timeout = 30" in found.sentence and "pass-word" not in found.sentence


def test_what_a_class_changes_in_its_assignments(tmp_path):
    (tmp_path / "course.toml").write_text(
        'term = "Spring 2027"\n[links]\nAsk = "https://a.example"\nOld = "https://b.example"\n'
        "[ps1]\ndue = 2027-02-01T23:59:00+01:00\n[ps1.points]\n2 = 4.5\n10 = [3, 3]\n"
    )
    (tmp_path / "course.local.toml").write_text(
        'links.Old = ""\nps1.points.2 = 5\n[ps3]\nleave_out = [2, 4]\ngroup_size = 2\n'
    )
    settings = read_settings(tmp_path)
    assert settings.points("ps1") == {2: [5], 10: [3, 3]} and settings.points("ps10") == {}
    assert settings.left_out("ps3") == [2, 4] and settings.left_out("ps1") == []
    assert settings.due("ps1") == datetime(2027, 2, 1, 22, 59, tzinfo=UTC)
    assert settings.due("ps2") is None
    assert settings.links == {"Ask": "https://a.example"}
    assert settings.assignments == {
        "ps1": "course.toml, line 6", "ps3": "course.local.toml, line 4",
    }  # fmt: skip
    assert settings.line("ps2") == "Spring 2027 · [Ask](https://a.example)"
    assert "Due 1 February 2027, 22:59 UTC" in settings.line("ps1")
    assert "In groups of up to 2, named in each one's own `partners.txt`" in settings.line("ps3")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\ntime_out = 3", "line 2: 'time_out' is not a setting. The settings are title"),
        ("timeout = 3\n[lat]\nfloor = 0.1", "line 3: 'lat.floor' is not a setting"),
        ("[late]\nshare_per_day = 10", "line 2: late.share_per_day should be a share .* but is 10.0"),
        ("[late]\nfloor = -0.1", "line 2: late.floor should be a share"),
        ("[late]\ndays = 1.5", "line 2: late.days should be a whole number of days"),
        ("[ps3.late]\nfloor = 2", "line 2: ps3.late.floor should be a share"),
        ("[ps3.late]\ndays = 2", "line 2: 'ps3.late.days' is not a setting"),
        ("late.grace_minutes = nan", "line 1: late.grace_minutes should be a number of minutes"),
        ("timeout = 2.5", "line 1: timeout should be a whole number of seconds"),
        ("attempts = true", "line 1: attempts should be a whole number"),
        ('name = "my class"', "line 1: name should be a word"),
        ('zone = "CET"', 'line 1: zone should be the name of a time zone, such as "Europe/Berlin"'),
        ('book = "example.org"', "line 1: book should be the address"),
        ("[ps1]\ndue = 2026-11-20", "line 2: ps1.due should be a time with its zone"),
        ("[ps1]\ndue = 2026-11-20T18:00:00", "ps1.due .* but is 2026-11-20 18:00:00"),
        ('[ps1]\ndue = "tomorrow"', "ps1.due should be a time with its zone"),
        ("[ps2]\nleave_out = [1,\n 0]", "line 2: ps2.leave_out should be a list of numbers"),
        ("[ps2.points]\n3 = -1", r"line 2: ps2.points.3 should be points .* but is -1"),
        ("[ps2.points]\n3 = [2, nan]", "line 2: ps2.points.3 should be points"),
        ("[ps2.points]\n3 = 0.3", "line 2: ps2.points.3 should be points of 0 or more, in quarters"),
        ("[ps2.points]\nloss = 3", "line 2: 'ps2.points.loss' is not a setting"),
        ("[ps2]\nnotes = 3", "line 2: 'ps2.notes' is not a setting"),
        ('leave_out = ["assignment 3"]', "line 1: leave_out should be a list of whole assignments"),
        ("leave_out = [3]", "line 1: leave_out should be a list of whole assignments"),
        ('[links]\n"Ask us" = "forum"', "line 2: links.Ask us should be an address"),
        ("title = 3", "line 1: title should be a title"),
        ("late = 3", "line 1: 'late' is not a setting"),
        ("\ntimeout: 3", "course.toml should hold settings as TOML, .* line 2"),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_line(tmp_path, text, words):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(CourseError, match=words):
        read_settings(tmp_path)


def test_nbgrader_does_not_go_on_without_settings(tmp_path):
    """It passes over a settings file that fails, and would then grade without the sandbox."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    (tmp_path / "course.toml").write_text("timeout = 0\n")
    command = [sys.executable, "-m", "nbgrader", "autograde", "ps1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "line 1: timeout should be a whole number" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["course.toml", "nbgrader_config.py"]


def test_dates_are_shown_in_the_class_s_zone_and_a_byte_order_mark_is_read(tmp_path):
    text = 'zone = "Europe/Berlin"\n[ps1]\ndue = 2026-11-20T17:00:00Z\n'
    (tmp_path / "course.toml").write_text(text, encoding="utf-8-sig")
    assert read_settings(tmp_path).line("ps1") == "Due 20 November 2026, 18:00 Europe/Berlin"
