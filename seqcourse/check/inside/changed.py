"""Run versions of one answer in which one thing was changed, and record what each does.

`cellgrader.viva` sends the request. Every change runs in a forked process of its own with a limit
of processor time, since it can make a loop endless. So what is asked does not depend on how busy the
machine is. The numbers are untrusted, as a probe's are. `seqcourse practice` runs a student's own code
on any system, so it forks nothing (`_here`).
"""

from __future__ import annotations

import os
import pickle
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FrameType
from typing import Any

import numpy
import torch

from seqcourse.check.calls.errors import is_unsolved
from seqcourse.check.calls.payload import pack, unpack
from seqcourse.check.calls.values import Found, arrays

# The file name of the answer's code, by which its lines are told from the library's.
PLACE = "<viva>"
# The name by which marked code reports the shape of a value.
MARK = "__viva_shape__"
SECONDS = 3.0  # of processor time, for one version
PATIENCE = 4  # a version that waits is stopped after so many times as long
MOST_NUMBERS = 4_000  # a larger result is asked about by nobody
KEPT = ("result", "built")
Work = Callable[[], dict[str, numpy.ndarray]]
Done = tuple[dict[str, numpy.ndarray] | None, float]


def run(check: Mapping[str, Any], space: Mapping[str, Any], forks: bool = True) -> Found:
    """What every version does on every call.

    Args:
        check: the request. "answer" is the exercise's name, "record" the function that calls it, "calls"
            the pickled arguments, "versions" the sources, the answer first; "marked" is a source that
            reports shapes (or "") on the calls "seen"; "budget" the seconds of processor time for all
            of it.
        space: the student's namespace, in which each version replaces the answer.
        forks: whether each change runs in a forked process.

    Returns:
        "V.C.result..." for version V on call C, "V.C.line" for the line that stopped, "V.C.ran" for the
        lines that ran, "V.late" for a version that took too long, and "shape.K" for the marked
        expression K.
    """
    began = time.process_time()
    answer, *changed = check["versions"]
    # The answer itself runs here, so that what it imports is imported once.
    found = {f"0.{name}": value for name, value in _calls(answer, check, space).items()}
    jobs: list[tuple[str, Work]] = [
        (f"{number}.", lambda source=source: _calls(source, check, space))
        for number, source in enumerate(changed, start=1)
    ]
    if check["marked"]:
        jobs.append(("", lambda: _shapes(check, space)))
    left = check["budget"] - (time.process_time() - began)
    for prefix, work in jobs:
        told, used = (_apart if forks else _here)(work, min(SECONDS, left)) if left > 0 else (None, 0.0)
        left -= used
        if told is None:
            told = {"late": numpy.array(True)}
        found |= {f"{prefix}{name}": value for name, value in told.items()}
    return found


def _calls(source: str, check: Mapping[str, Any], space: Mapping[str, Any]) -> Found:
    found: dict[str, numpy.ndarray] = {}
    lines = _Lines()
    record = _function(check["record"])
    for number, given in enumerate(pickle.loads(check["calls"])):
        prefix = f"{number}."
        _seed()
        lines.forget()
        sys.settrace(lines)
        try:
            student = _answer(source, check["answer"], space)
            student = record.before(student, given) if hasattr(record, "before") else student
            noted = record(student, given, prefix)
        except Exception as error:
            kind = "unsolved" if is_unsolved(error) else "result"
            noted = arrays(**{f"{prefix}{kind}": error})
        finally:
            sys.settrace(None)
        found |= {
            name: value for name, value in noted.items() if _kept(name.removeprefix(prefix), value)
        }
        found[f"{prefix}line"] = numpy.array(lines.last)
        found[f"{prefix}ran"] = numpy.array(sorted(lines.ran), dtype=numpy.int64)
    return found


def _kept(name: str, value: numpy.ndarray) -> bool:
    return name.split(".")[0] in (*KEPT, "unsolved") and value.size <= MOST_NUMBERS


def _shapes(check: Mapping[str, Any], space: Mapping[str, Any]) -> Found:
    """The shapes of the marked expressions, of those with one shape on all of these calls."""
    seen: dict[int, set[tuple[int, ...]]] = {}

    def mark(key: int, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            seen.setdefault(key, set()).add(tuple(value.shape))
        return value

    _seed()
    calls, record = pickle.loads(check["calls"]), _function(check["record"])
    for given in (calls[number] for number in check["seen"]):
        student = _answer(check["marked"], check["answer"], {**space, MARK: mark})
        record(record.before(student, given) if hasattr(record, "before") else student, given, "")
    return {
        f"shape.{key}": numpy.array(next(iter(shapes)), dtype=numpy.int64)
        for key, shapes in seen.items()
        if len(shapes) == 1
    }


def _answer(source: str, name: str, space: Mapping[str, Any]) -> Any:
    inner = dict(space)
    inner.pop(name, None)
    exec(compile(source, PLACE, "exec"), inner)
    return inner[name]


def _function(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def _seed() -> None:
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)


class _Lines:
    """A trace function: the lines of the answer that ran, and the innermost one that an error left.

    until: the processor time at which the answer's next line raises `_Late`.
    """

    until = float("inf")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.last = 0
        self.error: BaseException | None = None
        self.ran: set[int] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != PLACE:
            return None
        if time.process_time() > self.until:
            raise _Late
        if event == "line":
            self.ran.add(frame.f_lineno)
        elif event == "exception" and argument[1] is not self.error:
            self.last, self.error = frame.f_lineno, argument[1]
        return self


class _Late(BaseException):
    """A version took too long; an answer's `except Exception` does not catch it."""


def _here(work: Work, seconds: float) -> Done:
    """What `_apart` gives, in this process: ends an endless loop in the answer's lines, and no other."""
    began = time.process_time()
    _Lines.until = began + seconds
    try:
        told = work()
    except _Late:
        told = None
    finally:
        _Lines.until = float("inf")
    return told, time.process_time() - began


def _apart(work: Work, seconds: float) -> Done:
    """What `work` returns in a forked process, and the processor time that it used.

    None if it uses more than these seconds, or does not return.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.setpgid(0, 0)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process
            signal.setitimer(signal.ITIMER_PROF, seconds)
            with os.fdopen(writing, "wb") as file:
                file.write(pack(work()))
        finally:
            os._exit(0)
    os.close(writing)
    parts, until = [], time.monotonic() + PATIENCE * seconds
    with os.fdopen(reading, "rb", buffering=0) as file:
        while select.select([file], [], [], max(0.0, until - time.monotonic()))[0]:
            part = file.read(1 << 16)
            if not part:
                break
            parts.append(part)
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    _, _, used = os.wait4(child, 0)
    try:
        told = unpack(b"".join(parts))
    except ValueError:
        told = None
    return told, used.ru_utime + used.ru_stime
