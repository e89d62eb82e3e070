"""Workers of a Dask cluster that is running already; Dask is imported here only."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager, suppress
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, Worker, WorkerPlugin, get_worker

from cellgrader.errors import CourseError, in_words
from cellgrader.processes.pool import PATIENCE, Lost, NoWorkers, Pool, State, Work
from cellgrader.profile import program


class _Plugin(WorkerPlugin):
    """Brings the state of a run to every worker, also to those that join later."""

    def __init__(self, state: State) -> None:
        self.state = state

    def setup(self, worker: Worker) -> None:
        self.state.set_up(worker.local_directory)

    def teardown(self, worker: Worker) -> None:
        self.state.tear_down()


@contextmanager
def start(
    state: State,
    workers: int | None = None,
    begun: Callable[[str], None] = lambda key: None,
    *,
    run: str,
    address: str,
) -> Iterator[Pool]:
    """Context manager: the cluster's workers, with the state of this run.

    Args:
        workers: the largest number of jobs at a time (default: as many as the workers have threads).
        begun: called with a job's key when the job is sent, from another thread.
        run: the name of the state on the workers; it takes the place of an earlier one of this name.
        address: of the scheduler.
    Raises:
        CourseError: the scheduler does not answer or has no workers, or one of them cannot grade.
    """
    with _connected(address) as client:
        _set_up_workers(client, state, run, address)
        slots = sum(client.nthreads().values())
        slots = min(workers or slots, slots)
        pool = Pool(lambda *job: _do(client, run, slots, job), slots, begun)
        try:
            yield pool
        finally:
            pool.stop()
            with suppress(Exception):
                client.unregister_worker_plugin(run)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """A connection to a running scheduler."""
    # What Dask says while its processes end is of no use to anybody. Its own setting holds only if it
    # was made before the first import.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"--scheduler should name a running scheduler, such as tcp://host:8786, but {address} "
            f"does not answer ({type(error).__name__}). Start one: dask scheduler"
        ) from None
    with client, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        yield client


def _set_up_workers(client: Client, state: State, run: str, address: str) -> None:
    """Wait for workers, send each its state, and check that each can grade."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (Late, TimeoutError):
        raise CourseError(
            f"The scheduler at {address} should have workers, but has none. "
            f"Start one on each machine: dask worker {address} --nthreads 1"
        ) from None
    try:
        client.register_plugin(_Plugin(state), name=run)
        refusals = client.run(_refusal_of_worker, run)
    except Exception as error:
        raise CourseError(
            f"The workers at {address} should have {program()} installed, the same version as here, "
            f"but said: {in_words(error)}."
        ) from error
    for why in filter(None, refusals.values()):
        raise CourseError(why)


def _refusal_of_worker(run: str, dask_worker: Worker) -> str:
    """Runs on a worker: why it cannot grade, or "" if it can."""
    why = dask_worker.plugins[run].state.refusal()
    return why and f"The worker at {dask_worker.address} cannot grade. {why}"


def _on_worker(run: str, work: Work, key: str, job: Any) -> Any:
    """Runs on a worker: one job."""
    worker = get_worker()
    if why := _refusal_of_worker(run, worker):  # it joined later
        raise CourseError(why)
    return work(worker.plugins[run].state, key, job)


def _do(client: Client, run: str, slots: int, job: tuple[Work, str, Any]) -> Any:
    """See ``Pool``."""
    ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
    future = client.submit(_on_worker, run, *job, pure=False)
    future.add_done_callback(ended.put)
    while True:
        with suppress(queue.Empty):
            ended.get(timeout=PATIENCE)
            break
        if not client.nthreads():
            raise _no_workers()
    if future.status == "cancelled":
        raise _no_workers()
    try:
        return future.result()
    except KilledWorker:
        # Without a replacement the job would queue behind another worker's job when it is tried again,
        # and be blamed for that worker's death.
        with suppress(Exception):  # it comes too late: the job queues
            client.wait_for_workers(slots, timeout=PATIENCE)
        raise Lost from None


def _no_workers() -> NoWorkers:
    return NoWorkers(
        "Workers should grade the submissions, but the scheduler or all its workers are gone. "
        "Start them and grade again: submissions that are saved are not graded twice."
    )
