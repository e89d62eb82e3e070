"""What a student does needs nothing that Windows lacks: tried without those parts of Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.house.test_house import ROOT

# Python as it is on Windows, as far as the course's own code can see. Processes are started afresh, each
# file is opened with its encoding named, and what is printed has to fit a console of Western letters.
WINDOWS = """
import builtins, importlib, multiprocessing, os, pkgutil, signal, sys, types, warnings

warnings.filterwarnings("error", category=EncodingWarning, module="cellgrader|seqcourse")

GONE = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "termios"}
LACKS = {
    os: "O_CLOEXEC O_DIRECTORY O_NOFOLLOW WNOHANG chown fork forkpty getegid geteuid getgid getpgid "
        "getuid killpg mkfifo nice openpty sched_getaffinity setpgid setsid statvfs uname wait4",
    signal: "SIGALRM SIGHUP SIGKILL pthread_kill setitimer",
}

def poorer(module, lacks):
    lacks, found = lacks.split(), types.ModuleType(module.__name__)
    vars(found).update({name: value for name, value in vars(module).items() if name not in lacks})
    return found

POORER = {module.__name__: poorer(module, lacks) for module, lacks in LACKS.items()}
POORER["os"].name = "nt"
plain = builtins.__import__

def without(name, globals=None, locals=None, fromlist=(), level=0):
    asks = (globals or {}).get("__name__", "")
    if asks.startswith("seqcourse") and level == 0:
        if name.partition(".")[0] in GONE:
            raise ImportError(f"{asks} asks for {name}, which Windows does not have")
        return POORER.get(name) or plain(name, globals, locals, fromlist, level)
    return plain(name, globals, locals, fromlist, level)

builtins.__import__ = without
multiprocessing.set_start_method("spawn")
import seqcourse
"""
COMMANDS = """
# for those who teach, and those who build the book
OTHERS = ("pages", "live.sphinx", "cli.site", "cli.pdf", "__main__")
for module in pkgutil.walk_packages(seqcourse.__path__, "seqcourse."):
    if not any(f".{other}" in module.name for other in OTHERS):
        importlib.import_module(module.name)
from seqcourse.cli import main
notebook = "mine/assignments/ps1/ps1.ipynb"
for words in (
    ["--help"], ["start", "mine"], ["update", "mine"], ["progress", notebook], ["data", "list"],
    ["doctor"], ["translate", "we are eating bread"],
):
    sys.argv = ["seqcourse", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""
# Every exercise of an assignment with its self-check, and the figures; hidden checks stay at home.
SOLVED = """
import json, pathlib, re
import matplotlib
matplotlib.use("agg")
cells = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"]
for cell in cells:
    if cell["cell_type"] == "code":
        source = re.sub("(?s)### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", "".join(cell["source"]))
        exec(source, vars(sys.modules["__main__"]))
"""
# Characters and names that Windows does not allow in a file's name.
FORBIDDEN = re.compile(r'[<>:"|?*\\]|[ .](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)', re.I)
LONGEST = 259  # letters of a whole path
DEEP = r"C:\Users\somebody-with-a-long-name\Documents\University of Somewhere\Semester 5\seqcourse"


def as_on_windows(program: str, cwd, *arguments: str, console: str = "cp1252") -> str:
    """Run a program; what it prints."""
    own = {
        "PYTHONPATH": str(ROOT),
        "PATH": str(cwd),  # no programs that Windows lacks
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": f"{console}:strict",
    }
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", WINDOWS + program, *arguments],
        cwd=cwd,
        env=os.environ | own,
        capture_output=True,
        encoding=console,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


def test_students_commands_run_without_what_only_unix_has(tmp_path):
    told = as_on_windows(COMMANDS, tmp_path)
    assert "Next: cd mine" in told and (tmp_path / "mine" / "book").is_dir()
    assert "Everything that the course needs is here." in told and "estamos comiendo pan" in told


@pytest.mark.nightly
def test_self_checks_run_without_what_only_unix_has(tmp_path):
    notebook = str(ROOT / "solutions" / "ps1" / "ps1.ipynb")
    told = as_on_windows(SOLVED, tmp_path, notebook, console="utf-8")  # as a kernel's
    assert told.count("all as expected") == 8, told  # a wrong one would have stopped the program


def test_the_checks_of_encodings_see_a_file_opened_without_one(tmp_path):
    (tmp_path / "seqcourse_reader.py").write_text("open(__file__).read()\n", encoding="utf-8")
    program = "sys.path.insert(0, sys.argv[1]); import seqcourse_reader"
    with pytest.raises(AssertionError, match=r"(?s)seqcourse_reader\.py.*\n\s*EncodingWarning: "):
        as_on_windows(program, tmp_path, str(tmp_path))


def test_every_file_may_be_named_so_on_windows():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().split("\0")[:-1]
    assert not [name for name in names if FORBIDDEN.search(name)]
    assert len({name.casefold() for name in names}) == len(names) > 1_000
    assert max(len(f"{DEEP}/{name}") for name in names) <= LONGEST
