"""What a student does needs nothing that Windows lacks: tried without those parts of Python."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.house.test_house import ROOT

# Python as it is on Windows, as far as the course's own code can see.
PROGRAM = """
import builtins, importlib, pkgutil, sys

GONE = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "termios"}
plain = builtins.__import__

def without(name, globals=None, locals=None, fromlist=(), level=0):
    asks = (globals or {}).get("__name__", "")
    if asks.startswith("seqcourse") and level == 0 and name.partition(".")[0] in GONE:
        raise ImportError(f"{asks} asks for {name}, which Windows does not have")
    return plain(name, globals, locals, fromlist, level)

builtins.__import__ = without
import seqcourse
# for those who teach, and those who build the book
OTHERS = ("grading", "pages", "live.sphinx", "cli.site", "cli.pdf", "__main__")
for module in pkgutil.walk_packages(seqcourse.__path__, "seqcourse."):
    if not any(f".{other}" in module.name for other in OTHERS):
        importlib.import_module(module.name)
from seqcourse.cli import main
for words in (["start", "mine"], ["update", "mine"], ["progress", "mine/assignments/ps1/ps1.ipynb"]):
    sys.argv = ["seqcourse", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


def test_students_commands_run_without_what_only_unix_has(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Next: cd mine" in done.stdout and (tmp_path / "mine" / "book").is_dir()
