"""A process that has imported PyTorch & co., and the client that asks it for kernels.

Importing them takes seconds; a fork takes milliseconds. The process holds no secrets: it is started
with an environment of our own making, reads no file of the course but the package, and never runs a
student's code; a forked child that does is a copy of nothing else. One request starts one kernel in
one sandbox. The process and its sandboxes end when the client's end of the socket is closed, also
when the client was killed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading.confine.limits import Limits
from seqcourse.grading.confine.sandbox import ENVIRONMENT

# What the set-up cells of the notebooks import.
PRELOAD = (
    "torch",
    "matplotlib.pyplot",
    "ipywidgets",
    "seqcourse",
    "seqcourse.check",
    "seqcourse.data",
    "seqcourse.metrics",
    "seqcourse.models",
    "seqcourse.nn",
    "seqcourse.viz",
    "seqcourse.zoo",
)
LONGEST_IMPORT = 300
LARGEST_REQUEST = 1 << 16


class Warm:
    """A warm process, for one thread at a time. A context manager.

    It is started again when it is gone. Kernels that it started end with it.

    Args:
        preload: modules that it imports besides Jupyter's kernel.
    """

    def __init__(self, preload: Iterable[str] = PRELOAD):
        self.preload = tuple(preload)
        self._process: subprocess.Popen | None = None
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The process's id, or None if there is none now."""
        alive = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process is not None and alive else None

    def start(self) -> None:
        """Start the process if there is none; returns when it has imported everything.

        Raises:
            CourseError: it ended, or took too long; what it said last is quoted.
        """
        with self._lock:
            if self.pid is None:
                self._stop()
                self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        told = {
            "preload": self.preload,
            "matplotlib": _matplotlib_folder(),
            "grader": os.getpid(),
        }
        # A file, as nobody reads it while the process imports: a pipe could be full.
        with theirs, tempfile.TemporaryFile() as said:
            self._process = subprocess.Popen(
                # -P: the folder in which we happen to be, perhaps a submission, is not searched.
                [sys.executable, "-E", "-P", "-m", "seqcourse.grading.confine.server"],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=dict(ENVIRONMENT),
                cwd="/",
                start_new_session=True,
            )
            theirs.close()  # or we would wait for what nobody can send any more, when it has ended
            self._socket = ours
            try:
                ours.settimeout(LONGEST_IMPORT)
                ours.send(json.dumps(told).encode())
                ready = ours.recv(LARGEST_REQUEST) == b"ready"
            except OSError:
                ready = False
            if not ready:
                self._stop()
                said.seek(0)
                last = said.read().decode(errors="replace").strip().split("\n")[-1]
                raise CourseError(
                    f"The process that imports {', '.join(self.preload) or 'Jupyter'} for the kernels "
                    f"should be ready, but ended: {last or 'it said nothing'}."
                )

    def request(self, limits: Limits, connection: dict, groups: Iterable[Path], more: Iterable[Path]):
        """Ask for a kernel in a sandbox of its own.

        Args:
            limits: of that sandbox.
            connection: what a connection file of Jupyter holds.
            groups: control groups that its processes join.
            more: folders that it can read besides.

        Returns:
            A socket on which messages come, each a JSON object: ``holder`` and ``pid`` (process ids),
            ``listening``, ``failed`` (a sentence), ``ended`` (exit code, or minus a signal). Closing
            it ends the sandbox.
        """
        asked = {
            "limits": asdict(limits),
            "connection": connection,
            "groups": [str(group) for group in groups],
            "more": [str(folder) for folder in more],
        }
        for last in (False, True):
            self.start()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                try:
                    assert self._socket is not None
                    socket.send_fds(self._socket, [json.dumps(asked).encode()], [theirs.fileno()])
                    return ours
                except OSError as error:
                    ours.close()
                    with self._lock:
                        self._stop()
                    if last:
                        raise CourseError(
                            f"The process that starts kernels is gone: {error}."
                        ) from error
        raise AssertionError("unreachable")

    def _stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the process, and with it every kernel that it started."""
        with self._lock:
            self._stop()

    def __enter__(self) -> Warm:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self._stop()


def _matplotlib_folder() -> str | None:
    """Where this user's list of fonts is, which takes seconds to make; inside there is no home."""
    try:
        import matplotlib
    except ImportError:
        return None
    return matplotlib.get_cachedir() if os.environ.get("MPLCONFIGDIR") is None else None
