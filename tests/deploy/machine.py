"""A machine for a hub: this one, with folders of its own in the place of those that a hub changes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser import answers
from tests.house.test_house import ROOT, tracked

# Accounts, homes, the exchange and the programs lie in these.
OWN = ("etc", "home", "opt", "srv")
PAGE = ROOT / "book" / "appendix_hub.md"


def commands(words: str) -> str:
    """The block of commands on the page about hubs that holds these words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (found,) = [block for block in blocks if words in block]
    return found


def for_everybody() -> str | None:
    """A Python of the system: that of a virtual environment may lie where students cannot look."""
    ask = "import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))"
    for python in filter(shutil.which, ("/usr/bin/python3", "/usr/local/bin/python3")):
        if subprocess.run([python, "-c", ask], capture_output=True).returncode == 0:
            return python
    return None


class Machine:
    """Runs programs as root of a machine whose /etc, /home, /opt and /srv are folders of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in OWN[1:]:
            (folder / name).mkdir(parents=True)
        subprocess.run(["cp", "--archive", "/etc", str(folder / "etc")], check=True)
        for name in tracked():
            target = self.inside("/srv/course") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)

    def inside(self, path: str) -> Path:
        """Where a path of the machine lies for the test."""
        return self.folder / path.lstrip("/")

    def command(self, script: str) -> list[str]:
        binds = [word for name in OWN for word in ("--bind", str(self.folder / name), f"/{name}")]
        bwrap = ["bwrap", "--dev-bind", "/", "/", *binds, "--chdir", "/srv/course", "--cap-add", "ALL"]
        return [*bwrap, "sh", "-euc", script]

    def run(self, script: str, **environment: str) -> str:
        """Run a script of the shell and return what it said. Raises AssertionError when it fails."""
        done = subprocess.run(
            self.command(script), env=clean(environment), capture_output=True, text=True, timeout=1100
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @contextmanager
    def hub(self, script: str, **environment: str) -> Iterator[str]:
        """Start a hub by a script whose last word is its configuration; yields its address."""
        web, proxy, api = (free_port() for _ in range(3))
        options = (
            f"--JupyterHub.bind_url=http://127.0.0.1:{web} --JupyterHub.hub_port={api} "
            f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{proxy}"
        )
        log = self.folder / "hub.log"
        with log.open("w") as said:
            process = subprocess.Popen(
                self.command(f"{script.strip()} {options}"),
                env=clean(environment), stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip
        try:
            answers(f"http://127.0.0.1:{web}/hub/health", process, log, seconds=300)
            yield f"http://127.0.0.1:{web}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # the hub ends the servers and the proxy
            process.wait(60)


def clean(environment: dict[str, str]) -> dict[str, str]:
    """This process's variables without those that would lead programs elsewhere, and some others."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "PYTHON", "SEQCOURSE"))}
    return {**kept, "HOME": "/srv", **environment}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def reason_against() -> str:
    """Why there can be no such machine here, or ""."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a hub with accounts needs root"
    for program in ("bwrap", "npm", "useradd"):
        if shutil.which(program) is None:
            return f"a hub with accounts needs the program {program}"
    if for_everybody() is None:
        return f"a hub with accounts needs a Python 3.11 to 3.14 of the system, beside {sys.executable}"
    return ""
