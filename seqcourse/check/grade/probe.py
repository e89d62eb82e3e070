"""The half of a hidden check that runs beside the student's code.

`run` is called in the student's kernel when all cells have run, once per check. It reads the
request, calls the answer in a process of its own, and leaves a file of plain arrays. Nothing here is
trusted: a student's code can change all of it, and gains nothing by that, because the verdict (which
runs elsewhere) accepts nothing but the right numbers. The request is trusted: the grader wrote it.

The record of what ran is another matter: it is kept by a copy of this package's checks that is imported
anew, from its files, when the cells have run, and that no name leads to while the answer runs. What an
answer did to `seqcourse.check`, or imports of it, is not what keeps the record.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import torch

import seqcourse
from cellgrader.probe_files import ENDING, PATIENCE, REQUEST, RESULT
from seqcourse.check.calls.errors import is_unsolved
from seqcourse.check.calls.naming import WRITTEN, written_numbers
from seqcourse.check.calls.payload import pack
from seqcourse.check.calls.recording import observe
from seqcourse.check.calls.values import Found, arrays

RAN = "ran"
UNSOLVED = "unsolved"
MISSING = "missing"
BROKE = "broke"
CHECKS = "seqcourse.check"


def run(folder: str | os.PathLike, space: Mapping[str, Any]) -> None:
    """Answer the request in `folder`: RESULT with plain arrays, or ENDING that says why not."""
    folder = Path(folder)
    for name in (RESULT, ENDING):
        (folder / name).unlink(missing_ok=True)
    check = pickle.loads((folder / REQUEST).read_bytes())
    if check.get("poll"):  # nothing of the student's is called
        (folder / RESULT).write_bytes(pack(probe(check, space)))
        return
    why = _apart(folder / RESULT, check, space)
    if why:
        (folder / ENDING).write_text(why, encoding="utf-8")


def probe(check: Mapping[str, Any], space: Mapping[str, Any]) -> Found:
    """Call the answer on each input, and write down what it does."""
    return ready(check)(space)


def ready(check: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, numpy.ndarray]]:
    """`probe` for a namespace, with all that it needs imported and read.

    A request may name a place: a function that puts the inputs of a call elsewhere, such as on another
    device.
    """
    if "system" in check:
        system = _function(check["system"])
        return lambda space: system(check, space)
    if check.get("poll"):
        return lambda space: _letter(check, space)
    record, calls = _function(check["record"]), pickle.loads(check["calls"])
    place = _function(check["place"]) if "place" in check else dict
    return lambda space: _recorded(check["answer"], space, record, place, calls)


def _letter(check: Mapping[str, Any], space: Mapping[str, Any]) -> Found:
    """The answer to a poll."""
    if check["answer"] not in space:
        return arrays(**{MISSING: True})
    letter = space[check["answer"]]
    return arrays(answer=letter if isinstance(letter, str) and len(letter) < 20 else None)


def _recorded(
    answer: str,
    space: Mapping[str, Any],
    record: Callable[..., Found],
    place: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    calls: list[dict[str, Any]],
) -> Found:
    """What the answer does on every call, and what ran in it."""
    if answer not in space:
        return arrays(**{MISSING: True})
    student = space[answer]
    try:
        found, ran = {}, []
        for number, call in enumerate(calls):
            given = place(call["given"])
            one, names = observe(record, student, given, f"{number}.", call["gradient"])
            found |= one
            ran += names
        found[RAN] = numpy.array(list(dict.fromkeys(ran)), dtype=str)
        found[WRITTEN] = written_numbers(student)
    except Exception as error:  # unsolved, or what came back is nothing that can be written down
        return arrays(**{UNSOLVED if is_unsolved(error) else BROKE: True})
    return found


@contextlib.contextmanager
def anew() -> Iterator[Any]:
    """This module in a copy, with the checks that it imports inside the `with`.

    Afterwards the names mean what they meant before, and nothing that is imported leads to the copies.
    """
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_a_check(name)}
    try:
        yield import_module(__name__)
    finally:
        for name in filter(_is_a_check, list(sys.modules)):
            del sys.modules[name]
        sys.modules.update(kept)
        seqcourse.check = kept.get(CHECKS)


def _is_a_check(name: str) -> bool:
    return f"{name}.".startswith(f"{CHECKS}.")


def _function(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def _apart(target: Path, check: Mapping[str, Any], space: Mapping[str, Any]) -> str:
    """Probe in a forked process, so that an answer that ends or hangs it costs only its own points.

    Returns a few words when it did not end well.
    """
    if not hasattr(os, "fork"):
        _probe_into(target, check, space)
        return ""
    seconds = float(check["seconds"])
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            _limit_processor_time(math.ceil(seconds))
            with open(os.devnull, "w") as nowhere:
                for number in (1, 2):
                    os.dup2(nowhere.fileno(), number)
                sys.stdout = sys.stderr = nowhere
                _probe_into(target, check, space)
        finally:
            os._exit(0 if target.exists() else 1)
    until = time.monotonic() + PATIENCE * seconds
    while time.monotonic() < until:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return "" if status == 0 else _ending(status, used.ru_utime + used.ru_stime >= seconds)
        time.sleep(0.002)
    _end_group(child)
    os.waitpid(child, 0)
    return "timeout"


def _limit_processor_time(seconds: int) -> None:
    """End this process after so much processor time: on a busy machine an answer has as much as on an
    idle one.
    """
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    most = seconds + 1 if most == resource.RLIM_INFINITY else min(seconds + 1, most)
    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, most), most))


def _probe_into(target: Path, check: Mapping[str, Any], space: Mapping[str, Any]) -> None:
    # The threads of the kernel do not come along through a fork: to wait for them is to hang.
    torch.set_num_threads(1)
    numpy.random.seed(0)
    random.seed(0)
    with anew() as copy:
        answered = copy.ready(check)
    data = copy.pack(answered(space))
    beside = target.with_suffix(".part")
    beside.write_bytes(data)
    beside.rename(target)


def _end_group(leader: int) -> None:
    """End what a probe left running."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(leader, signal.SIGKILL)


def _ending(status: int, spent: bool) -> str:
    """How a process ended; spent: whether it had used up its time."""
    signals = (signal.SIGXCPU, signal.SIGKILL) if spent else (signal.SIGXCPU,)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in signals:
        return "timeout"
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {status >> 8}"
