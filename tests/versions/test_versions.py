"""A fast part of the tests passes on every version of Python, and of packages, that the course names."""

from __future__ import annotations

import os
import subprocess
import tomllib

import pytest

from seqcourse.cli.install import NEWEST, OLDEST, VERSIONS
from tests.versions.trial import ROOT, TRIALS, YOUNG, CannotBeHad, make, tried

MINUTES = 60
# The instructor's day, JupyterLab, one live page, a real class.
WHOLE = ["instructor/test_the_day.py", "lab/test_lab.py", "live/test_heads.py", "grading/test_real.py"]


@pytest.mark.nightly
@pytest.mark.parametrize(("version", "packages"), TRIALS)
def test_a_fast_part_of_the_tests_passes_on(version, packages, tmp_path):
    try:
        record, told = tried(version, packages, tmp_path)
    except CannotBeHad as reason:
        pytest.skip(str(reason))
    assert record["python"].startswith(f"{version}."), record
    assert not record["failed"] and record["passed"] > 1_000, told


@pytest.mark.nightly
@pytest.mark.timeout(2 * MINUTES * 60)
@pytest.mark.parametrize("version", ["3.13", YOUNG])
def test_a_newcomers_whole_course_works_on(version, tmp_path):
    """`make course` in a new copy, then a day of teaching, JupyterLab and a live page there."""
    try:
        python = make(version, "none", tmp_path / "python")
    except CannotBeHad as reason:
        pytest.skip(str(reason))
    copy = tmp_path / "course"
    subprocess.run(["git", "clone", "--quiet", ROOT, copy], check=True)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))
    }

    def run(*command: object, **more: str) -> str:
        own = dict(cwd=copy, env=kept | more, capture_output=True, text=True, timeout=MINUTES * 60)
        done = subprocess.run([str(word) for word in command], **own)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
        return done.stdout

    assert "_build/html/index.html" in run("make", "course", f"PYTHON={python}")
    tests = [f"tests/{name}" for name in WHOLE]
    marks = ["-m", "not nightly", "-q", "-n", "2", "--dist", "loadscope"]
    told = run(copy / ".venv/bin/pytest", *marks, *tests, PYTHONPATH=str(copy), OMP_NUM_THREADS="1")
    assert " passed" in told and version in run(copy / ".venv/bin/python", "--version")


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
