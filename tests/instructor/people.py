"""Who takes part in the day: an instructor with a course folder, students with accounts of their own.

Everybody has a folder of settings, of Jupyter's data and of work, as on a server where each person
has an account; what all share is the exchange.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser import answers, jupyter
from tests.grading.toy import ROOT

TOKEN = "a-token-of-the-test"
COURSE_ID = "seqcourse"
# What a server's administrator writes into /etc/jupyter/nbgrader_config.py, here per person.
SETTINGS = """c = get_config()
c.Exchange.root = {exchange!r}
c.CourseDirectory.course_id = {course!r}
"""
# JupyterLab asks whether it may fetch news; the question would stand on every picture.
NO_NEWS = '{"fetchNews": "false", "checkForUpdates": false}\n'
NOTIFICATIONS = "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"


@dataclass(frozen=True)
class Person:
    """An account: its name, and the folders in which everything of it lies."""

    name: str
    home: Path

    @property
    def work(self) -> Path:
        return self.home / "work"

    def environment(self) -> dict[str, str]:
        """The variables of this person's programs."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        programs = str(Path(sys.executable).parent)
        return {
            **inherited,
            "PATH": os.pathsep.join([programs, inherited.get("PATH", "")]),
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.home / "runtime"),
            "IPYTHONDIR": str(self.home / "ipython"),
            "COLUMNS": "120",
        }

    def run(self, *command: str, fails: bool = False) -> str:
        """Run a program in this person's folder and return what it printed.

        Raises:
            AssertionError: it failed (or, with ``fails``, it did not).
        """
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.work,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
        )
        said = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, f"{' '.join(command)}:\n{said}"
        return said

    def nbgrader(self, *arguments: str, fails: bool = False) -> str:
        return self.run("nbgrader", *arguments, fails=fails)

    def seqcourse(self, *arguments: str, fails: bool = False) -> str:
        return self.run("seqcourse.cli", *arguments, fails=fails)

    @contextmanager
    def lab(self, folder: Path | None = None) -> Iterator[str]:
        """This person's JupyterLab on a free port; yields its address, ends with all it started.

        Args:
            folder: what it shows; the person's work without it.
        """
        folder = folder or self.work
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += ["--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
        command += [f"--ServerApp.root_dir={folder}"]
        log = self.home / "lab.log"
        with log.open("w") as said:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=self.environment(),
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            try:
                address = jupyter(process, log)
                answers(f"{address}/api/status?token={TOKEN}", process, log)
                yield address
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(120)


def make_person(name: str, home: Path, exchange: Path, *settings: str) -> Person:
    """An account with the server's settings and, as ``settings``, lines of its own."""
    person = Person(name, home)
    for folder in ("config", "data", "runtime", "ipython", "work"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    text = SETTINGS.format(exchange=str(exchange), course=COURSE_ID)
    (home / "config" / "nbgrader_config.py").write_text("\n".join([text, *settings, ""]))
    quiet = home / "config" / NOTIFICATIONS
    quiet.parent.mkdir(parents=True)
    quiet.write_text(NO_NEWS)
    return person


def make_exchange(folder: Path) -> Path:
    """The folder that everybody may write to."""
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def make_instructor(home: Path, exchange: Path) -> Person:
    """The instructor, whose work is a copy of this course without anything that was generated."""
    person = make_person("instructor", home, exchange)
    shutil.copytree(ROOT / "solutions", person.work / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", person.work)
    (person.work / "book").mkdir()
    return person


def make_student(name: str, home: Path, exchange: Path) -> Person:
    """A student. On a server nbgrader asks the system for the name; here all are one user."""
    return make_person(name, home, exchange, f"c.CourseDirectory.student_id = {name!r}")
