"""``seqcourse bench``: run the measurements in benchmarks/, each a program of its own."""

from __future__ import annotations

import subprocess
import sys

from seqcourse.cli.root import find_root
from seqcourse.errors import CourseError


def run_benchmarks(names: list[str]) -> None:
    """Run benchmarks/NAME.py one after the other.

    Raises:
        CourseError: there is no such measurement, or one failed.
    """
    root = find_root()
    there = sorted(path.stem for path in (root / "benchmarks").glob("[a-z]*.py"))
    for name in names or there:
        if name not in there:
            raise CourseError(
                f"A measurement should be one of {', '.join(there) or '(none so far)'}, "
                f"but {name!r} was asked for."
            )
    if not there:
        raise CourseError("benchmarks/ should hold programs that measure, but holds none.")
    for name in names or there:
        print(f"{name}:", flush=True)
        code = subprocess.call([sys.executable, f"benchmarks/{name}.py"], cwd=root)
        if code:
            raise CourseError(f"The measurement {name} stopped with exit code {code}; see above.")
