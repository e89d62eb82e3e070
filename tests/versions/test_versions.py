"""The course on the versions of Python that it names: a fast part of the tests on each.

    sh tests/versions/make_python.sh 3.14 FOLDER

makes one by hand.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from seqcourse.cli.install import NEWEST, OLDEST, VERSIONS

ROOT = Path(__file__).resolve().parents[2]
# The rooms without notebooks, kernels and browsers.
FAST = (
    *(
        "functional",
        "nn",
        "decode",
        "models",
        "metrics",
        "data",
        "train/test_regimes.py",
        "viz/test_plots.py",
    ),
    *(
        f"check/test_{name}.py"
        for name in ("core", "hidden", "inputs", "mistake", "modules", "plain", "probe")
    ),
    *(
        f"check/test_{name}.py"
        for name in ("ps3", "ps5", "routes", "stages", "values", "verdict", "watch")
    ),
    *("grading/test_late.py", "house/test_cli.py", "house/test_progress.py"),
)


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.13", "3.14"])
def test_a_fast_part_of_the_tests_passes_on(version, tmp_path):
    made = subprocess.run(
        ["sh", ROOT / "tests/versions/make_python.sh", version, tmp_path], capture_output=True, text=True
    )
    if made.returncode == 3:
        pytest.skip(made.stdout.strip())
    assert f"Python {version}" in made.stdout, made.stdout + made.stderr
    own = {
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled"),
        "OMP_NUM_THREADS": "1",
    }
    tests = [f"tests/{name}" for name in FAST]
    chosen = [
        "-m",
        "not nightly and not slow and not browser",
        "-p",
        "no:cacheprovider",
        "-q",
        "-n",
        "2",
    ]
    ran = subprocess.run(
        [tmp_path / "env/bin/python", "-m", "pytest", *chosen, "--dist", "loadscope", *tests],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
    )
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert ran.returncode == 0 and passed and int(passed[1]) > 1_000, ran.stdout[-4_000:]


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
