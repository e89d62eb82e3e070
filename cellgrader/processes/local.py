"""Workers on this machine: one process per core, through the standard library.

Each process has a pipe to this one. A process that dies or needs too much memory is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

import psutil

from cellgrader import bounds
from cellgrader.errors import in_words
from cellgrader.processes.interrupt import deferred, held_back
from cellgrader.processes.pool import PATIENCE, Died, Lost, Pool, State, Work
from cellgrader.profile import the_course

# Modules that the fork server imports once for all workers. Forking after these imports is safe on Linux
# only.
PRELOAD = ("cellgrader.processes.ignore_interrupts", "cellgrader.run.worker")
CONTEXT = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
# One thread per worker. PYTHONSAFEPATH: no module is imported from the current folder.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
# Seconds between two looks at a worker's memory.
LOOK = 0.2


@contextmanager
def start(
    state: State, workers: int | None = None, begun: Callable[[str], None] = lambda key: None
) -> Iterator[Pool]:
    """Context manager: worker processes. They end with the block, at once if an error ends it.

    Args:
        workers: the number of processes (default: one per core).
        begun: called with a job's key when the job starts, from another thread.
    """
    workers = workers or os.cpu_count() or 1
    get_ready()
    made = tempfile.TemporaryDirectory(prefix="cellgrader-workers-", ignore_cleanup_errors=True)
    with made as folder, _one_thread():
        processes = _Processes(pickle.dumps(state), folder)
        pool, orderly = Pool(processes.do, workers, begun), False
        try:
            processes.start(workers)
            yield pool
            orderly = True
        finally:
            pool.stop()
            processes.end(orderly)


def get_ready() -> None:
    """Start the fork server early, so that it imports the workers' modules in the background."""
    if CONTEXT.get_start_method() != "forkserver":
        return
    from multiprocessing import forkserver, resource_tracker

    with _one_thread():
        CONTEXT.set_forkserver_preload([*PRELOAD, *the_course().judges])
        resource_tracker.ensure_running()  # it takes care of itself, and would let interrupts in
        with held_back():
            forkserver.ensure_running()


class _Processes:
    """The processes of one run.

    Args:
        state: what each is sent first, pickled.
        folder: for their files.
    """

    def __init__(self, state: bytes, folder: str) -> None:
        self._state, self._folder = state, folder
        self._all: set[_Worker] = set()
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._ended = False

    def start(self, count: int) -> None:
        for _ in range(count):
            self._free.put(self._begin())

    def do(self, work: Work, key: str, job: Any) -> Any:
        """See ``Pool``."""
        worker = self._free.get()
        try:
            return worker.do((work, key, job))
        except Lost:
            worker = self._in_place_of(worker)
            raise
        finally:
            self._free.put(worker)

    def end(self, orderly: bool) -> None:
        """End all: after what they still have to do, or at once."""
        with deferred(), self._lock:
            self._ended = True
            for worker in self._all:
                worker.pipe.close() if orderly else worker.process.kill()
            for worker in self._all:
                worker.end(PATIENCE)

    def _begin(self) -> _Worker:
        with held_back():
            worker = _Worker(self._state, self._folder)
            self._all.add(worker)
            return worker

    def _in_place_of(self, dead: _Worker) -> _Worker:
        with self._lock:
            if self._ended:
                raise RuntimeError("the run has ended")
            dead.end(0)
            self._all.discard(dead)
            return self._begin()


class _Worker:
    """One process, seen from here."""

    def __init__(self, state: bytes, folder: str) -> None:
        self._state = state
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(theirs, folder), daemon=True)
        self.process.start()
        theirs.close()

    def do(self, job: tuple[Work, str, Any]) -> Any:
        """The result of one job.

        Raises:
            Lost: the process died, or was killed because it needed too much memory.
        """
        sent = pickle.dumps(job)
        with suppress(EOFError, OSError):
            if self._state:
                self.pipe.send_bytes(self._state)
                self._state = b""
            self.pipe.send_bytes(sent)
            while not wait([self.pipe, self.process.sentinel], LOOK):
                self._limit_memory()
            if self.pipe.poll():
                return self.pipe.recv()
        raise Lost

    def end(self, seconds: float) -> None:
        """Wait for the end of the process, and kill it after so many seconds."""
        self.process.join(seconds)
        self.process.kill()
        self.process.join()

    def _limit_memory(self) -> None:
        with suppress(psutil.Error):
            if psutil.Process(self.process.pid).memory_info().rss > bounds.WORKER:
                self.process.kill()


def _serve(pipe: Connection, folder: str) -> None:
    """What a worker process does: one job after the other, until the pipe is closed."""
    import cellgrader.processes.ignore_interrupts  # noqa: F401  (without a fork server it comes here)

    threading.Thread(target=_end_with_parent, daemon=True).start()
    state = ready = None
    with suppress(EOFError, OSError):
        state = pipe.recv()
        while True:
            work, key, job = pipe.recv()
            try:
                if not ready:
                    state.set_up(folder)
                    ready = True
                result = work(state, key, job)
            except Exception as error:
                result = Died(in_words(error))
            pipe.send(result)
    if ready:
        state.tear_down()


def _end_with_parent() -> None:
    """End this process when the command is gone, whatever it is doing."""
    multiprocessing.parent_process().join()
    os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Set ENVIRONMENT: more threads would compete for the cores and could change results."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update({name: value for name, value in ENVIRONMENT.items() if before[name] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
