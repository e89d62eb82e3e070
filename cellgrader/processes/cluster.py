"""Worker processes: one per core on this machine, or the workers of an existing Dask cluster.

Dask distributed starts, monitors and replaces workers. Each worker gets one job at a time, so a worker's
death identifies the job that caused it. That job is retried once on another worker.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellgrader import bounds
from cellgrader.errors import CourseError
from cellgrader.processes.interrupt import deferred, held_back
from cellgrader.profile import program, the_course

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, WorkerPlugin

# Modules that the fork server imports once for all workers. Forking after these imports is safe on Linux
# only.
PRELOAD = ("cellgrader.processes.ignore_interrupts", "distributed", "cellgrader.run.worker")
SETTINGS = {
    "distributed.worker.multiprocessing-method": "forkserver" if sys.platform == "linux" else "spawn",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.daemon": True,
    # A worker that needs too much memory is replaced; it has no data to write to the disk.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.admin.large-graph-warning-threshold": "1GB",
    "distributed.logging": {"distributed": "critical", "tornado": "critical", "asyncio": "critical"},
}
# One thread per worker. PYTHONSAFEPATH: no module is imported from the current folder.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
# A worker announces each job it starts under the Dask topic "STARTED run".
STARTED = "cellgrader-started"
# Seconds to wait for a given scheduler, and for workers to join it.
PATIENCE = 30


@dataclass(frozen=True)
class Died:
    """Takes the place of a result: why the job's workers died, or the error that was raised."""

    why: str


class Cluster:
    """Sends jobs to workers and yields results as they arrive.

    Args:
        client: Dask's connection to the workers.
        run: the name of the per-worker state.
        slots: the number of jobs in progress at a time.
        begun: called with a job's key when the job starts, from another thread.
    """

    def __init__(self, client: Client, run: str, slots: int, begun: Callable[[str], None]) -> None:
        self.client = client
        self.slots = slots
        self._results: queue.SimpleQueue[tuple[str, Any, Any]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting: deque[str] = deque()
        self._busy = 0
        # Dask cancels a job when its last future is garbage-collected.
        self._futures: dict[str, Future] = {}
        client.subscribe_topic(f"{STARTED} {run}", lambda event: begun(event[1]))

    def results(
        self, work: Callable[[str, Any], Any], keys: list[str], load: Callable[[str], Any]
    ) -> Iterator[tuple[str, Any, Any]]:
        """Run ``work`` for every key.

        Args:
            work: called on a worker with a key and its job.
            load: returns the job for a key; called just before the job is sent, in another thread.
        Yields:
            (key, job, result or ``Died``), in the order in which the jobs end.
        Raises:
            CourseError: no worker is left.
        """
        for key in keys:
            self.add(work, key, load)
        for _ in keys:
            while (ended := self.ended(PATIENCE)) is None:
                pass
            yield ended

    def add(self, work: Callable[[str, Any], Any], key: str, load: Callable[[str], Any]) -> None:
        """Run ``work`` for one more key as soon as a worker is free, see ``results``."""
        with self._lock:
            self._waiting.append(key)
            if self._busy == self.slots:
                return
            self._busy += 1
        self._send_next(work, load)

    def has_room(self) -> bool:
        """Whether one more job would begin at once and leave a worker free, where there are several."""
        return self.slots - self._busy >= min(2, self.slots)

    def ended(self, seconds: float) -> tuple[str, Any, Any] | None:
        """(key, job, result) of the next job that ends, or None if none ends within these seconds.

        Raises:
            CourseError: no worker is left.
        """
        try:
            key, job, result = self._results.get(timeout=seconds)
        except queue.Empty:
            if self._busy and not self.client.nthreads():
                raise _no_workers() from None
            return None
        if isinstance(result, BaseException):
            raise result
        return key, job, result

    def _send_next(self, work: Callable[[str, Any], Any], load: Callable[[str], Any]) -> None:
        """Send the next waiting job; called again whenever a job ends."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy -= 1
                    return
                key = self._waiting.popleft()
            try:
                self._send(work, load, key)
                return
            except Exception as error:
                self._results.put((key, None, Died(in_words(error))))

    def _send(self, work: Callable[[str, Any], Any], load: Callable[[str], Any], key: str) -> None:
        """Send one job, and retry it once if its worker dies."""
        job = load(key)

        def submit(tries: int) -> None:
            future = self.client.submit(work, key, job, pure=False)
            self._futures[key] = future
            future.add_done_callback(lambda future: ended(future, tries))

        def ended(future: Future, tries: int) -> None:
            if future.status == "cancelled":
                self._results.put((key, job, _no_workers()))
                return
            try:
                result = future.result()
            except Exception as error:
                result = Died(in_words(error))
                if tries > 1 and type(error).__name__ == "KilledWorker":
                    self._wait_for_replacement()
                    with suppress(Exception):  # an error in Dask's thread would end without a result
                        submit(tries - 1)
                        return
            self._futures.pop(key, None)
            # Send the next job first: the consumer may take a while with this result.
            self._send_next(work, load)
            self._results.put((key, job, result))

        submit(tries=2)

    def _wait_for_replacement(self) -> None:
        """Wait until a new worker has replaced the dead one.

        Otherwise the retried job would queue behind another worker's job and be blamed for that
        worker's death.
        """
        with suppress(Exception):  # on timeout the job queues
            self.client.wait_for_workers(self.slots, timeout=PATIENCE)


def in_words(error: Exception) -> str:
    """An error on one line, to end a sentence with."""
    if type(error).__name__ == "KilledWorker":
        return "the process that examined it died, twice"
    message = " ".join(str(error).split())[:300]
    if isinstance(error, CourseError):
        return message.removesuffix(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _no_workers() -> CourseError:
    return CourseError(
        "Workers should grade the submissions, but the scheduler or all its workers are gone. "
        "Start them and grade again: submissions that are saved are not graded twice."
    )


@contextmanager
def start(
    state: WorkerPlugin,
    run: str,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    begun: Callable[[str], None] = lambda key: None,
) -> Iterator[Cluster]:
    """Context manager: workers with their state. Everything started here ends with the block.

    Args:
        state: a plugin that every worker sets up before its first job. Its method ``refusal`` says why a
            worker cannot grade ("" if it can).
        run: the name by which jobs find the state.
        workers: the number of processes to start (default: one per core). With ``scheduler``: the
            largest number of jobs at a time.
        scheduler: the address of a running cluster; None starts processes on this machine.
        begun: called with a job's key when the job starts, from another thread.
    Raises:
        CourseError: the scheduler does not answer or has no workers, or the workers lack the course.
    """
    import dask

    with dask.config.set(SETTINGS):
        if scheduler is None:
            workers = workers or os.cpu_count() or 1
            with _local(workers) as client:
                client.register_plugin(state, name=run)
                yield Cluster(client, run, workers, begun)
        else:
            with _remote(scheduler) as client:
                _set_up_workers(client, state, run, scheduler)
                try:
                    slots = sum(client.nthreads().values())
                    yield Cluster(client, run, min(workers or slots, slots), begun)
                finally:
                    with suppress(Exception):
                        client.unregister_worker_plugin(run)


def get_ready() -> None:
    """Start the fork server early, so that it imports the workers' modules in the background."""
    import multiprocessing.forkserver
    from multiprocessing import resource_tracker

    import dask
    from distributed.utils import get_mp_context

    with dask.config.set(SETTINGS), _one_thread():
        context = get_mp_context()
        if context.get_start_method() == "forkserver":
            context.set_forkserver_preload([*PRELOAD, *the_course().judges])
            resource_tracker.ensure_running()  # it takes care of itself, and would let interrupts in
            with held_back():
                multiprocessing.forkserver.ensure_running()


@contextmanager
def _local(workers: int) -> Iterator[Client]:
    """Worker processes on this machine."""
    import logging
    import tempfile

    from distributed import Client, LocalCluster
    from distributed.security import Security

    get_ready()
    _silence()
    with tempfile.TemporaryDirectory(prefix="cellgrader-dask-") as folder, _one_thread():
        cluster = client = None
        try:
            with deferred():  # half a cluster cannot be closed
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    # Other users of this machine can reach the port, but have no certificate.
                    security=Security.temporary(),
                    dashboard_address=None,
                    # The scheduler's web server cannot be disabled; these settings leave it no pages.
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                    memory_limit=bounds.WORKER,
                    local_directory=folder,
                    silence_logs=logging.CRITICAL,
                )
                client = Client(cluster)
            yield client
        except BaseException:
            if cluster is not None:
                _kill_workers(cluster)
            raise
        finally:
            with deferred():
                for each in (client, cluster):
                    if each is not None:
                        each.close()


def _silence() -> None:
    """Let Dask log nothing: what it says while its processes end is of no use to anybody.

    Its own setting holds only if it was made before the first import of distributed.
    """
    import logging

    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _kill_workers(cluster: LocalCluster) -> None:
    """Kill the workers."""
    for nanny in cluster.workers.values():
        process = getattr(nanny, "process", None)
        if process is not None and process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)


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


@contextmanager
def _remote(address: str) -> Iterator[Client]:
    """A connection to a running scheduler."""
    from distributed import Client

    _silence()
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"--scheduler should name a running scheduler, such as tcp://host:8786, but {address} "
            f"does not answer ({type(error).__name__}). Start one: dask scheduler"
        ) from None
    try:
        yield client
    finally:
        client.close()


def _set_up_workers(client: Client, state: WorkerPlugin, run: str, address: str) -> None:
    """Wait for workers, send each its state, and check that each can grade."""
    from concurrent.futures import TimeoutError as Late

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (Late, TimeoutError):
        raise CourseError(
            f"The scheduler at {address} should have workers, but has none. "
            f"Start one on each machine: dask worker {address} --nthreads 1"
        ) from None
    try:
        client.register_plugin(state, name=run)
        refusals = client.run(_refusal_of_worker, run)
    except Exception as error:
        raise CourseError(
            f"The workers at {address} should have {program()} installed, the same version as here, "
            f"but said: {in_words(error)}."
        ) from error
    for worker, why in refusals.items():
        if why:
            raise CourseError(f"The worker at {worker} cannot grade. {why}")


def _refusal_of_worker(run: str, dask_worker: Any) -> str:
    """Runs on a worker: why it cannot grade, or "" if it can."""
    return dask_worker.plugins[run].refusal()
