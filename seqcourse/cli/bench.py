"""``seqcourse bench``: run the measurements in benchmarks/, each a program of its own."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from seqcourse.cli.root import find_root
from seqcourse.errors import CourseError

MISSED = 1  # exit code of a measurement whose stated bar was missed


def minutes(program: Path) -> int:
    """How long a measurement takes, as its docstring says: "About 3 minutes on two idle cores."."""
    told = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    found = re.search(r"\bAbout (\d+) minutes? on two idle cores\.", told)
    if found is None:
        raise CourseError(f"{program.name} should say in its docstring how many minutes it takes.")
    return int(found[1])


def run_benchmarks(names: list[str]) -> None:
    """Run benchmarks/NAME.py one after the other, all of them even if one misses its bar.

    Raises:
        CourseError: there is no such measurement, one broke off, or one missed a bar that it states.
    """
    root = find_root()
    there = {path.stem: path for path in sorted((root / "benchmarks").glob("[a-z]*.py"))}
    for name in names:
        if name not in there:
            raise CourseError(
                f"A measurement should be one of {', '.join(there) or '(none so far)'}, "
                f"but {name!r} was asked for."
            )
    if not there:
        raise CourseError("benchmarks/ should hold programs that measure, but holds none.")
    chosen = {name: minutes(there[name]) for name in names or there}
    if len(chosen) > 1:
        print(f"{len(chosen)} measurements, about {sum(chosen.values())} minutes on two idle cores.")
    missed = []
    for name, length in chosen.items():
        unit = "minute" if length == 1 else "minutes"
        print(f"{name}: about {length} {unit} on two idle cores", flush=True)
        code = subprocess.call([sys.executable, f"benchmarks/{name}.py"], cwd=root)
        if code == MISSED:
            missed.append(name)
        elif code:
            raise CourseError(f"The measurement {name} stopped with exit code {code}; see above.")
    if missed:
        raise CourseError(
            f"Missed, by more than the spread of the measurement: a bar that {', '.join(missed)} "
            f"states. See above. If the machine was busy, measure again when it is idle."
        )
