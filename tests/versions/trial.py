"""A fast part of the tests on other versions of Python and of the packages.

    python -m tests.versions.trial      # all of them; writes benchmarks/results/versions.json

`make house` makes a table of the page on the environment from that file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from seqcourse.cli.install import NEWEST, OLDEST

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "versions.json"
YOUNG, OLD = (f"{major}.{minor}" for major, minor in (NEWEST, OLDEST))
# A version of Python, and which packages it gets, see make_python.sh.
TRIALS = (
    (YOUNG, "tested"),
    ("3.13", "tested"),
    ("3.12", "tested"),
    (YOUNG, "newest"),
    (OLD, "oldest"),
)
# The rooms without notebooks, kernels and browsers.
CHECK = "core hidden inputs mistake modules plain probe ps3 ps5 routes stages values verdict watch"
FAST = [
    *"functional nn decode models metrics data train/test_regimes.py viz/test_plots.py".split(),
    *(f"check/test_{name}.py" for name in CHECK.split()),
    *"grading/test_late.py house/test_cli.py house/test_progress.py".split(),
]
OPTIONS = "-q -n 2 --dist loadscope -p no:cacheprovider".split()
SHOWN = ("torch", "numpy", "jupyterlab", "nbgrader", "transformers")
ASKS = f"""
import importlib.metadata, json, platform
names = {SHOWN}
found = {{name: importlib.metadata.version(name) for name in names}}
print(json.dumps({{"python": platform.python_version()}} | found))
"""


class CannotBeHad(Exception):
    """This machine cannot make the interpreter; the message says why."""


def make(version: str, packages: str, folder: Path) -> Path:
    """The Python of a new environment, see make_python.sh; with "none", the interpreter alone."""
    script = ROOT / "tests" / "versions" / "make_python.sh"
    # uv lies beside our own Python.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["sh", script, version, folder, packages]
    made = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    if made.returncode == 3:
        raise CannotBeHad(made.stdout.strip())
    if made.returncode:
        raise RuntimeError(made.stdout + made.stderr)
    return Path(made.stdout.strip()) if packages == "none" else folder / "env" / "bin" / "python"


def tried(version: str, packages: str, folder: Path) -> tuple[dict[str, Any], str]:
    """What ran with which result, and the last of what pytest printed.

    Raises:
        CannotBeHad: there is no such interpreter here.
    """
    python = make(version, packages, folder)
    asked = subprocess.run([python, "-c", ASKS], capture_output=True, text=True, check=True)
    own = {
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        "OMP_NUM_THREADS": "1",
    }
    marks = ["-m", "not nightly and not slow and not browser"]
    tests = [f"tests/{name}" for name in FAST]
    ran = subprocess.run(
        [python, "-m", "pytest", *marks, *OPTIONS, *tests],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
    )
    told = re.findall(r"(\d+) (passed|failed|error)", ran.stdout)
    counts = {word: int(number) for number, word in told}
    # A run that was broken off has failed, whatever it counted.
    failed = counts.get("failed", 0) + counts.get("error", 0) or int(ran.returncode != 0)
    results = {"packages": packages, "passed": counts.get("passed", 0), "failed": failed}
    return json.loads(asked.stdout) | results, ran.stdout[-4_000:]


def main() -> None:
    """Run all trials and write the file."""
    records = []
    for version, packages in TRIALS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                record, told = tried(version, packages, Path(folder))
            except CannotBeHad as reason:
                sys.exit(str(reason))
        print(record if not record["failed"] else f"{record}\n{told}", flush=True)
        records.append(record)
    RESULTS.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
