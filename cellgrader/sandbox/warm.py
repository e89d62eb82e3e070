"""Client of the warm process, which has imported PyTorch and other modules and forks kernels.

Importing takes seconds, a fork takes milliseconds. The process holds no secrets that a forked kernel
could read: it starts with a fixed environment, reads no course files except the packages, and never
runs student code itself. Each request starts one kernel in one sandbox. The process and its sandboxes
end when the client closes its end of the socket or is killed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.profile import the_course
from cellgrader.sandbox.bubblewrap import environment
from cellgrader.sandbox.limits import Limits

LONGEST_IMPORT = 300
LARGEST_REQUEST = 1 << 16


class Warm:
    """A warm process, as a context manager. Use it from one thread at a time.

    If the process has died, the next request restarts it. Its kernels end with it.

    Args:
        preload: modules to import besides Jupyter's kernel; None for those of the course.
        door: a socket at which other clients arrive, see ``SharedWarm``.
    """

    def __init__(self, preload: Iterable[str] | None = None, door: socket.socket | None = None):
        self.preload = the_course().preload if preload is None else tuple(preload)
        self.door = door
        self._process: subprocess.Popen | None = None
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The process id, or None if the process is not running."""
        alive = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process is not None and alive else None

    def start(self) -> None:
        """Start the process if it is not running, and wait until it has imported everything.

        Raises:
            CourseError: it ended or took too long; the sentence quotes its last output.
        """
        with self._lock:
            if self.pid is None:
                self._stop()
                self._start()

    def _start(self, wait: bool = True) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {
            "course": the_course().module,
            "preload": self.preload,
            "matplotlib": _matplotlib_folder(),
            "grader": os.getpid(),
            "door": self.door.fileno() if self.door else None,
        }
        # stderr goes to a file, because nobody reads a pipe during the imports and it could fill up.
        with theirs, tempfile.TemporaryFile() as stderr:
            self._process = subprocess.Popen(
                # -P: do not import modules from the current folder, which may be a submission.
                [sys.executable, "-E", "-P", "-m", "cellgrader.sandbox.server"],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment(),
                cwd="/",
                start_new_session=True,
                pass_fds=[settings["door"]] if self.door else (),
            )
            theirs.close()  # so that recv fails if the process ends
            self._socket = ours
            try:
                ours.send(json.dumps(settings).encode())
                ready = not wait or _is_ready(ours)
            except OSError:
                ready = False
            if not ready:
                self._stop()
                stderr.seek(0)
                last = stderr.read().decode(errors="replace").strip().split("\n")[-1]
                raise CourseError(
                    f"The process that imports {', '.join(self.preload) or 'Jupyter'} for the kernels "
                    f"should be ready, but ended: {last or 'without output'}."
                )

    def request(self, limits: Limits, connection: dict, groups: Iterable[Path], more: Iterable[Path]):
        """Request a kernel in its own sandbox.

        Args:
            limits: limits of the sandbox.
            connection: content of a Jupyter connection file.
            groups: control groups that its processes join.
            more: further folders to make readable.

        Returns:
            A socket that receives JSON objects with one of the keys ``holder`` and ``pid`` (process
            ids), ``listening``, ``failed`` (a sentence), ``ended`` (exit code, or minus the signal).
            Closing the socket ends the sandbox.

        Raises:
            CourseError: the process cannot be reached, even after a restart.
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
        """End the process and all its kernels."""
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


@contextmanager
def shared(preload: Iterable[str] | None = None) -> Iterator[Path]:
    """Start one warm process for the workers of this machine, without waiting for its imports.

    Yields:
        Its door, for ``SharedWarm``.
    """
    with tempfile.TemporaryDirectory(prefix="cellgrader-warm-") as folder:  # nobody else may enter it
        path = Path(folder) / "door"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            warm = Warm(preload, door)
            # Where this fails, the workers start processes of their own, and say what is wrong.
            with suppress(OSError, CourseError):
                door.bind(str(path))
                door.listen()
                warm._start(wait=False)
        try:
            yield path
        finally:
            warm.close()


class SharedWarm(Warm):
    """A client of the warm process behind a door; of one of its own if that cannot be reached."""

    def __init__(self, path: Path, preload: Iterable[str] | None = None):
        super().__init__(preload)
        self.path = path

    def start(self) -> None:
        with self._lock:
            if self._socket is None:
                self._start()

    def _start(self, wait: bool = True) -> None:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            client.connect(str(self.path))
            if _is_ready(client):
                self._socket = client
                return
        except OSError:
            pass
        client.close()
        super()._start()


def _is_ready(client: socket.socket) -> bool:
    """Wait until the process has imported everything; False if it ends."""
    client.settimeout(LONGEST_IMPORT)
    return client.recv(LARGEST_REQUEST) == b"ready"


def _matplotlib_folder() -> str | None:
    """The folder of this user's font cache, which takes seconds to rebuild; the sandbox has no home."""
    try:
        import matplotlib
    except ImportError:
        return None
    return matplotlib.get_cachedir() if os.environ.get("MPLCONFIGDIR") is None else None
