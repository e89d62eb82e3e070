"""What the measurements share: contestants take turns in one process, and ratios come from turns.

On a busy machine every contestant is slowed down in the same turn, so the median of the ratios within
single turns says more than the ratio of two medians.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

import seqcourse

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler's own messages are not what was asked for
RESULTS = Path(__file__).parent / "results"
Run = Callable[[], object]


def machine() -> dict[str, str | int]:
    """What ran: processor, cores, threads, device, versions."""
    device = seqcourse.device()
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU"
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else "unknown",
        "device": f"{device} ({name})",
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def take_turns(contestants: dict[str, Run], turns: int) -> dict[str, list[float]]:
    """Seconds of every contestant in every turn; one turn in front does not count.

    Every other turn goes backwards, so that nobody is always the one after a certain other.
    """
    device = seqcourse.device()
    found: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for turn in range(turns + 1):
        for name in names if turn % 2 else reversed(names):
            began = time.perf_counter()
            contestants[name]()
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            if turn:
                found[name].append(time.perf_counter() - began)
    return found


def ratios(found: dict[str, list[float]], to: str) -> dict[str, float]:
    """How many times as long as ``to`` each one takes: the median over turns."""
    return {name: round(statistics.median(in_turns(found, name, to)), 3) for name in found}


def in_turns(found: dict[str, list[float]], mine: str, to: str) -> list[float]:
    """How many times as long as ``to`` this one took, turn by turn."""
    return [a / b for a, b in zip(found[mine], found[to], strict=True)]


def medians(found: dict[str, list[float]], digits: int = 4) -> dict[str, float]:
    """Median seconds of each one."""
    return {name: round(statistics.median(times), digits) for name, times in found.items()}


def peak_mib(run: Run) -> float:
    """The most memory that tensors take at once while something runs, above what was there, in MiB."""
    device = seqcourse.device()
    run()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        return (torch.cuda.max_memory_allocated(device) - before) / 2**20
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        run()
    now = most = 0
    for size in _allocations(recorded.profiler.kineto_results.experimental_event_tree()):
        now += size
        most = max(most, now)
    return most / 2**20


def _allocations(events: list) -> list[int]:
    """Bytes that were taken (above 0) or given back (below 0), in the order of time."""
    found, waiting = [], list(events)
    while waiting:
        event = waiting.pop()
        waiting += event.children
        if hasattr(event.extra_fields, "alloc_size"):
            found.append((event.start_time_ns, event.extra_fields.alloc_size))
    return [size for _, size in sorted(found, key=lambda pair: pair[0])]


def write(name: str, result: dict) -> None:
    """Write results/NAME.json, whole or not at all."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)
