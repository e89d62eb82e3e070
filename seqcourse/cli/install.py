"""Make the virtual environment and fill it; the Makefile runs this file before anything is there.

It uses the standard library only and is run as a file (``python3.11 -P seqcourse/cli/install.py``).
PyTorch comes first, because it is by far the largest and everything else depends on it. pip works
quietly; one line per step, and the seconds, say how far it is. When pip fails, its last lines are
shown under a sentence that says what to do.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

# The versions of Python that are run, see tests/versions.
OLDEST, NEWEST = (3, 11), (3, 14)
VERSIONS = "3.11 to 3.14"
EXTRAS = "grading,site,dev,cluster,postgres,publish,published"
# What another PyTorch needs in other versions than the pinned one.
OF_TORCH = ("torch==", "sympy==")
# What pip prints while it works, and what we say instead.
STEPS = {
    "Collecting": "finding",
    "Downloading": "downloading",
    "Using cached": "from the cache",
    "Building": "building",
    "Preparing": "building",
    "Installing collected packages": "unpacking",
}


class InstallError(Exception):
    """The environment could not be made; the message says why and what to do."""


def show(line: str, end: str = "\n") -> None:
    """Print now, also into a pipe."""
    print(line, end=end, flush=True)


def watch(command: list[str], title: str) -> None:
    """Run pip, turn its output into one moving line, and raise InstallError when it fails."""
    started = time.monotonic()
    tail: collections.deque[str] = collections.deque(maxlen=15)
    moving = sys.stdout.isatty()
    said = started
    count = 0
    show(f"  {title} ...")
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert process.stdout is not None
    for line in process.stdout:
        line = line.strip()
        if line and not line.startswith("WARNING"):
            tail.append(line)
        verb = next((verb for verb in STEPS if line.startswith(verb)), None)
        if verb is None:
            continue
        count += verb == "Collecting"
        seconds = time.monotonic() - started
        rest = "" if verb.startswith("Installing") else line.removeprefix(verb).strip()[:50]
        if moving:
            show(f"\r\033[K    {seconds:4.0f} s  {count} packages, {STEPS[verb]} {rest}", end="")
        elif verb.startswith("Installing") or time.monotonic() - said > 10:
            said = time.monotonic()
            show(f"    {seconds:4.0f} s  {count} packages, {STEPS[verb]} {rest}")
    code = process.wait()
    seconds = time.monotonic() - started
    if moving:
        show("\r\033[K", end="")
    if code:
        for line in tail:
            show(f"    | {line}")
        raise InstallError(
            f"pip should have installed {title}, but it stopped with exit code {code} after "
            f"{seconds:.0f} s; its last lines stand above. Check the network (or pip's own "
            f"configuration) and the space on the disk, then give the same make command again: "
            f"what is installed already stays."
        )
    show(f"  {title}: done in {seconds:.0f} s")


def another_python() -> str:
    """What to do on this machine: a fitting Python on the path, or uv, which fetches one."""
    minors = range(NEWEST[1], OLDEST[1] - 1, -1)
    found = next((name for minor in minors if shutil.which(name := f"python3.{minor}")), "")
    if found:
        return f"There is another one: make PYTHON={found} course"
    best = f"3.{NEWEST[1] - 1}"
    first = "" if shutil.which("uv") else "Install uv (pip install uv), which fetches one. Then give: "
    return f"{first}uv python install {best} && make PYTHON=$(uv python find {best}) course"


def install(root: Path, environment: Path, torch: str = "") -> None:
    """Make ``environment`` where it does not exist, then install the course into it.

    Args:
        torch: a version of PyTorch; "" for the one in constraints.txt.
    """
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise InstallError(
            f"The course needs Python {VERSIONS}, but this is {sys.version.split()[0]}. "
            f"{another_python()}"
        )
    folder = "Scripts" if os.name == "nt" else "bin"
    python = environment / folder / "python"
    if not python.exists():
        show(f"  virtual environment in {environment.name} ...")
        try:
            venv.create(environment, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise InstallError(
                f"A virtual environment should have been made in {environment}, but Python said: "
                f"{error}. On Debian and Ubuntu, install the package python3-venv."
            ) from error
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    pins = root / "constraints.txt"
    if torch:
        lines = pins.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith(OF_TORCH)]
        pins = environment / "constraints.txt"
        pins.write_text("\n".join([*kept, f"torch=={torch}", ""]), encoding="utf-8")
    pip += ["--progress-bar", "off", "--constraint", str(pins), "--no-compile"]
    watch([*pip, "torch"], "PyTorch (the largest part)")
    watch([*pip, "--editable", f"{root}[{EXTRAS}]"], "the course and everything else")
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    compile_all(python, Path(found.stdout.strip()))


def compile_all(python: Path, folder: Path) -> None:
    """Compile what lies in a folder to bytecode, on all cores; pip would do it on one.

    What cannot be compiled (templates, files for other versions of Python) is passed over, as pip does,
    and so are the tests of packages, which nobody runs here. Their authors see the compiler's warnings.
    """
    started = time.monotonic()
    show("  bytecode ...")
    tests = re.escape(str(folder)) + r".*[/\\]tests?[/\\]"
    quietly = [python, "-W", "ignore", "-m", "compileall", "-qq", "-j", "0", "-x", tests]
    subprocess.run([*quietly, folder], check=False)
    show(f"  bytecode: done in {time.monotonic() - started:.0f} s")


def main() -> int:
    """Install, or print one sentence and return 2."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path, help="folder of the virtual environment")
    parser.add_argument("torch", nargs="?", default="", help="a version of PyTorch; pinned without")
    chosen = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    show("Installing the course (once; a few minutes):")
    try:
        install(root, chosen.environment.resolve(), chosen.torch)
    except InstallError as error:
        print(f"seqcourse: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
