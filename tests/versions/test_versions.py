"""A fast part of the tests passes on every version of Python, and of packages, that the course names."""

from __future__ import annotations

import tomllib

import pytest

from seqcourse.cli.install import NEWEST, OLDEST, VERSIONS
from tests.versions.trial import ROOT, TRIALS, CannotBeHad, tried


@pytest.mark.nightly
@pytest.mark.parametrize(("version", "packages"), TRIALS)
def test_a_fast_part_of_the_tests_passes_on(version, packages, tmp_path):
    try:
        record, told = tried(version, packages, tmp_path)
    except CannotBeHad as reason:
        pytest.skip(str(reason))
    assert record["python"].startswith(f"{version}."), record
    assert not record["failed"] and record["passed"] > 1_000, told


def test_texts_and_settings_name_the_same_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    newest = f"{NEWEST[0]}.{NEWEST[1]}"
    assert VERSIONS == f"{OLDEST[0]}.{OLDEST[1]} to {newest}"
    bounds = f">={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}"
    assert project["requires-python"] == bounds
    named = {line.split(" :: ")[-1] for line in project["classifiers"] if ":: Python :: 3." in line}
    assert named == {f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)}
    for name in ("environment.yml", "environment-student.yml"):
        assert f"python{bounds}" in (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "book/appendix_environment.md", "book/appendix_hub.md"):
        assert f"Python {VERSIONS}" in (ROOT / name).read_text(encoding="utf-8"), name
    assert newest in (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
