"""A sandbox and the process that holds it open."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from cellgrader.errors import CourseError
from cellgrader.sandbox import unprivileged
from cellgrader.sandbox.bubblewrap import ACCOUNTS, LONGEST_START, command, visible
from cellgrader.sandbox.limits import Limits


class Holder:
    """Starts a sandbox. Closing it ends the sandbox and everything in it.

    The sandbox also ends with the *thread* that started it, because Linux ties --die-with-parent to a
    thread. So only the warm process, which has one thread, keeps holders for long.

    Attributes:
        pid: host process id of the sandbox's process 1, on which everything in it depends.

    Raises:
        CourseError: the system does not allow it; the sentence quotes bubblewrap.
    """

    def __init__(self, limits: Limits, more: Iterable[Path] = ()):
        more = list(more)
        places = visible(more)
        for place in more if unprivileged.can_step_down() else ():
            if not unprivileged.all_can_read(place):
                raise CourseError(
                    f"{place} should be readable by everybody, as the code of students does not run as "
                    f"root even if root grades, but is not. Allow it: chmod -R o+rX {place}"
                )
        with ExitStack() as opened:
            info, info_writer = os.pipe()
            opened.callback(os.close, info_writer)
            accounts = {}
            for name, text in ACCOUNTS.items():
                accounts[name] = _readable(text)
                opened.callback(os.close, accounts[name])
            options: dict[str, Any] = {}
            sources = [str(place) for place in places]
            if unprivileged.can_step_down():
                options = {"preexec_fn": lambda: unprivileged.step_down(places)}
                sources = [unprivileged.staged(index) for index in range(len(places))]
            bubblewrap = command(
                limits, places=zip(sources, places, strict=True), info=info_writer, accounts=accounts
            )
            try:
                self.process = subprocess.Popen(
                    bubblewrap,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=[info_writer, *accounts.values()],
                    env={},
                    cwd="/",
                    **options,
                )
            except (OSError, subprocess.SubprocessError) as error:
                os.close(info)
                raise CourseError(f"bubblewrap could not be started: {error}.") from error
        with os.fdopen(info, "rb") as file:
            output = self._first_output()
            if output != b"ready\n":
                self.close()
                words = output.decode(errors="replace").strip() or "nothing"
                raise CourseError(
                    f"bubblewrap should make a sandbox, but said: {words}. If user namespaces are "
                    f"switched off for ordinary users on this machine, have its administrator allow "
                    f"them for bwrap."
                )
            self.pid = json.loads(file.read())["child-pid"]

    def _first_output(self) -> bytes:
        """The process's first output: "ready", or an error message."""
        output, until = b"", time.monotonic() + LONGEST_START
        stdout = self.process.stdout
        assert stdout is not None
        while not output.startswith(b"ready\n"):
            if not select.select([stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                return output + b"(too slow)"
            more = os.read(stdout.fileno(), 4096)
            if not more:
                break
            output += more
        return output

    def close(self) -> None:
        """End the sandbox with every process in it. Safe to call twice."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Holder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _readable(text: str) -> int:
    """A file descriptor from which a short text can be read."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    return read
