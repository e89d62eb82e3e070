"""Worker processes: as many as there are cores, or those of a cluster that is there already.

Dask distributed starts, watches and replaces them. As many jobs are out as there are workers, so
that when a worker dies it is known which job it died of: that one is tried once more, elsewhere.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, WorkerPlugin

# What a fork server imports once, so that every worker has it. Only Linux forks safely after that.
PRELOAD = ("distributed", "seqcourse.grading.worker", "seqcourse.check.verdict")
SETTINGS = {
    "distributed.worker.multiprocessing-method": "forkserver" if sys.platform == "linux" else "spawn",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.daemon": True,
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
# One thread per worker, and no file of the current folder stands in for a module.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
# With the run's name, the topic under which a worker says what it begins.
STARTED = "seqcourse-started"
# Seconds to wait for a scheduler that was named, and for workers to join it.
PATIENCE = 30


@dataclass(frozen=True)
class Died:
    """Instead of a result: what a job's workers died of, or what was raised on the way to it."""

    why: str


class Cluster:
    """Hands out jobs to workers and yields their results as they come.

    Args:
        client: Dask's connection to the workers.
        run: the name of the state that stands at every worker.
        seats: how many jobs are out at a time.
        begun: called when a job begins, with its key, from another thread.
    """

    def __init__(self, client: Client, run: str, seats: int, begun: Callable[[str], None]) -> None:
        self.client = client
        self.seats = seats
        self._out: queue.SimpleQueue[tuple[str, Any, Any]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting: Iterator[str] = iter(())
        # A future that nobody holds is forgotten by Dask, and its job with it.
        self._futures: dict[str, Future] = {}
        client.subscribe_topic(f"{STARTED} {run}", lambda event: begun(event[1]))

    def results(
        self, work: Callable[[str, Any], Any], keys: list[str], load: Callable[[str], Any]
    ) -> Iterator[tuple[str, Any, Any]]:
        """Run ``work`` for every key.

        Args:
            work: called on a worker with a key and its job.
            load: makes the job of a key when its turn has come, in another thread.
        Yields:
            The key, its job, and its result or ``Died``, in the order in which they end.
        Raises:
            CourseError: there is no worker any more.
        """
        self._waiting = iter(keys)
        for _ in range(min(self.seats, len(keys))):
            self._hand_out(work, load)
        for _ in keys:
            key, job, result = self._next()
            if isinstance(result, BaseException):
                raise result
            yield key, job, result

    def _next(self) -> tuple[str, Any, Any]:
        while True:
            try:
                return self._out.get(timeout=PATIENCE)
            except queue.Empty:
                if not self.client.nthreads():
                    raise _gone() from None

    def _hand_out(self, work: Callable[[str, Any], Any], load: Callable[[str], Any]) -> None:
        """Send the next job out; called again when it has ended."""
        while True:
            with self._lock:
                key = next(self._waiting, None)
            if key is None:
                return
            try:
                self._send(work, load, key)
                return
            except Exception as error:
                self._out.put((key, None, Died(in_words(error))))

    def _send(self, work: Callable[[str, Any], Any], load: Callable[[str], Any], key: str) -> None:
        """Send one job out."""
        job = load(key)

        def submit(tries: int) -> None:
            future = self.client.submit(work, key, job, pure=False)
            self._futures[key] = future
            future.add_done_callback(lambda future: ended(future, tries))

        def ended(future: Future, tries: int) -> None:
            if future.status == "cancelled":
                self._out.put((key, job, _gone()))
                return
            try:
                result = future.result()
            except Exception as error:
                if tries > 1 and type(error).__name__ == "KilledWorker":
                    self._wait_for_the_next()
                    submit(tries - 1)
                    return
                result = Died(in_words(error))
            self._futures.pop(key, None)
            # The next one first: whoever takes the result may need a while.
            self._hand_out(work, load)
            self._out.put((key, job, result))

        submit(tries=2)

    def _wait_for_the_next(self) -> None:
        """Wait until a worker has taken the dead one's place.

        Before, a job would queue behind the one of another worker, and be blamed for its death.
        """
        with suppress(Exception):  # too late: then it has to queue
            self.client.wait_for_workers(self.seats, timeout=PATIENCE)


def in_words(error: Exception) -> str:
    """An error on one line, as the end of a sentence."""
    if type(error).__name__ == "KilledWorker":
        return "the process that examined it died, twice"
    said = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _gone() -> CourseError:
    return CourseError(
        "Workers should go on with the submissions, but the scheduler or all its workers are gone. "
        "Start them and grade again: what is saved is not graded twice."
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
    """Workers, each with its state, until the block ends; then all that was started here is gone.

    Args:
        state: what every worker sets up before its first job, with a method ``refusal`` that says
            why a worker cannot do its part ("" where it can), ...
        run: ... and the name by which jobs find it.
        workers: how many processes to start, as many as cores without it; of a running cluster,
            how many jobs at a time at most.
        scheduler: the address of a running cluster; without it, processes are started here.
        begun: called with a job's key when it begins, from another thread.
    Raises:
        CourseError: the scheduler does not answer, has no workers, or they have no seqcourse.
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
                    seats = sum(client.nthreads().values())
                    yield Cluster(client, run, min(workers or seats, seats), begun)
                finally:
                    with suppress(Exception):
                        client.unregister_worker_plugin(run)


def get_ready() -> None:
    """Have the fork server import what workers need, beside whatever is done before they start."""
    import multiprocessing.forkserver

    import dask
    from distributed.utils import get_mp_context

    with dask.config.set(SETTINGS), _one_thread():
        context = get_mp_context()
        if context.get_start_method() == "forkserver":
            context.set_forkserver_preload(list(PRELOAD))
            multiprocessing.forkserver.ensure_running()


@contextmanager
def _local(workers: int) -> Iterator[Client]:
    """Worker processes of our own."""
    import logging
    import tempfile

    from distributed import Client, LocalCluster
    from distributed.security import Security

    get_ready()
    with tempfile.TemporaryDirectory(prefix="seqcourse-dask-") as folder, _one_thread():
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            # Others on this machine can reach the port, but not talk without our certificate.
            security=Security.temporary(),
            dashboard_address=None,
            # Its web server cannot be switched off, but has no pages.
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            memory_limit=0,
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster)
        try:
            yield client
        except BaseException:
            _end(cluster)
            raise
        finally:
            client.close()
            cluster.close()


def _end(cluster: LocalCluster) -> None:
    """End the workers at once, whatever they are doing."""
    for nanny in cluster.workers.values():
        process = getattr(nanny, "process", None)
        if process is not None and process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread per worker: more would fight for the cores, and a grade should not depend on it."""
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
    """A connection to a scheduler that is there already."""
    import logging

    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"--scheduler should name a scheduler that runs, such as tcp://host:8786, but {address} "
            f"does not answer ({type(error).__name__}). Start one: dask scheduler"
        ) from None
    try:
        yield client
    finally:
        client.close()


def _set_up_workers(client: Client, state: WorkerPlugin, run: str, address: str) -> None:
    """Wait for workers, give each its state, and ask whether it can grade."""
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
        refusals = client.run(_ask, run)
    except Exception as error:
        raise CourseError(
            f"The workers at {address} should have seqcourse installed, the same version as here, "
            f"but said: {in_words(error)}."
        ) from error
    for worker, why in refusals.items():
        if why:
            raise CourseError(f"The worker at {worker} cannot grade. {why}")


def _ask(run: str, dask_worker: Any) -> str:
    """On a worker: why it cannot do its part; "" where it can."""
    return dask_worker.plugins[run].refusal()
