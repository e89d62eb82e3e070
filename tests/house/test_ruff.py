"""The linter has nothing to say about the package, the tests and the rest of the code."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("cellgrader", "seqcourse", "tests", "benchmarks", "book", "solutions", "assignments")
CODE += ("nbgrader_config.py",)


def test_ruff_finds_nothing():
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", *CODE]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
