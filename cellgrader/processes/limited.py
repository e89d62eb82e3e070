"""Do one thing with a submission in a forked process with limits of time and memory.

What is done is our code, such as parsing; what it is done to is hostile. The limits close the class of
submissions that make it take minutes or gigabytes: only that one submission fails, with a sentence.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from cellgrader import bounds
from cellgrader.errors import CourseError

# Wall-clock time for each second of processor time: a busy machine is not a hostile submission.
PATIENCE = 10


class TooCostly(CourseError):
    """The process ended without a result: it took too much time or memory."""


def limited(what: str, work: Callable[..., Any], *given: Any, seconds: float = bounds.SECONDS) -> Any:
    """Return ``work(*given)``, done in a forked process; what it raises is raised here.

    Where processes cannot be forked (Windows), it is done in this one, without limits.

    Args:
        what: the beginning of the sentence for TooCostly, such as "Reading it".
        seconds: of processor time.
    """
    return begin(what, work, *given, seconds=seconds).result()


class Begun:
    """What a forked process does meanwhile.

    Args:
        result: waits for the process, and returns or raises what it found. Called once.
        pipe: a file descriptor that can be read once the work is done; None if ``result`` does it.
    """

    def __init__(self, result: Callable[[], Any], pipe: int | None = None) -> None:
        self.result = result
        self.pipe = pipe


def begin(what: str, work: Callable[..., Any], *given: Any, seconds: float = bounds.SECONDS) -> Begun:
    """Begin what ``limited`` does, and do not wait for it."""
    if not hasattr(os, "fork"):
        return Begun(partial(work, *given))
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns of threads that hold locks. Nothing that is done here waits for another thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reading)
            _limit(seconds)
            _send(writing, _outcome(work, given))
        os._exit(0)
    os.close(writing)
    return Begun(partial(_result, what, reading, child, seconds), reading)


def _result(what: str, pipe: int, child: int, seconds: float) -> Any:
    with os.fdopen(pipe, "rb") as file:
        answer = file.read()
    _, status = os.waitpid(child, 0)
    try:
        good, found = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError):
        by_time = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM)
        limit = (
            f"{seconds:g} second{'s' * (seconds != 1)}"
            if by_time
            else f"{bounds.MEMORY >> 20} MiB of memory"
        )
        raise TooCostly(f"{what} takes more than {limit}, which is not allowed.") from None
    if good:
        return found
    raise found


def _outcome(work: Callable[..., Any], given: tuple) -> bytes:
    """The pickled result, or the pickled error."""
    try:
        return pickle.dumps((True, work(*given)))
    except MemoryError:
        raise
    except Exception as error:
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)
            return answer
        except Exception:  # some errors cannot be pickled
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _send(pipe: int, answer: bytes) -> None:
    with os.fdopen(pipe, "wb") as file:
        file.write(answer)


def _limit(seconds: float) -> None:
    """Limit this process, which was forked a moment ago; the signals end it without Python's help."""
    import resource

    gc.disable()  # it would write to the parent's objects, and finalise some of them here
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
    for kind, most in (
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_DATA, _data() + bounds.MEMORY),
        (resource.RLIMIT_CORE, 0),
    ):
        highest = resource.getrlimit(kind)[1]
        most = most if highest == resource.RLIM_INFINITY else min(most, highest)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, highest))
    if "torch" in sys.modules:  # the threads of a pool do not survive a fork
        sys.modules["torch"].set_num_threads(1)


def _data() -> int:
    """Bytes of private memory of this process, as far as the system tells."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
