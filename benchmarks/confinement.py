"""What does confinement cost? The time until a kernel answers: plain, confined, and confined and warm.

    seqcourse bench confinement

All three import what the assignments' set-up cells import, and answer the same first question. Plain is
jupyter_client's own kernel; confined starts as cold, in a sandbox; warm is forked in a sandbox from a
process that imported everything before. They take turns, so that a busy machine is busy for all three.
Writes benchmarks/results/confinement.json with the machine that it ran on. Exit code 1 when, in three of
four turns, a confined kernel takes more than 1.25 times as long as a plain one.

About 1 minute on two idle cores.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

from _bars import missed
from jupyter_client.manager import AsyncKernelManager

from cellgrader.sandbox import ConfinedKernelManager, Warm, refusal
from cellgrader.sandbox.available import bubblewrap_version
from cellgrader.sockets import private_sockets
from seqcourse.profile import PRELOAD

TURNS = 7
MOST = 1.25
# What a set-up cell does: import it all, and the first step of an optimiser.
FIRST_CELL = f"""
import {", ".join(PRELOAD)}
x = torch.ones(2, 2, requires_grad=True)
(x @ x).sum().backward()
torch.optim.Adam([x]).step()
"""
Times = tuple[float, float, float]
RESULT = Path(__file__).parent / "results" / "confinement.json"


def machine() -> dict[str, str | int]:
    """What ran: processor, cores, versions."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "bubblewrap": ".".join(map(str, bubblewrap_version() or ())),
        "python": platform.python_version(),
    }


async def answer(km: AsyncKernelManager, cell: str) -> Times:
    """Seconds until a kernel answers at all, then until it ran this cell, then until it is gone."""
    times = [time.perf_counter()]
    await km.start_kernel()
    client = km.client()
    client.start_channels()
    await client.wait_for_ready(timeout=120)
    times.append(time.perf_counter())
    reply = await client.execute_interactive(cell, timeout=120, output_hook=lambda _: None)
    assert reply["content"]["status"] == "ok", reply
    times.append(time.perf_counter())
    client.stop_channels()
    await km.shutdown_kernel(now=True)
    times.append(time.perf_counter())
    return tuple(after - before for before, after in zip(times, times[1:], strict=False))


async def measure() -> dict[str, list[Times]]:
    """The times of every turn."""
    os.environ["OMP_NUM_THREADS"] = "1"
    found: dict[str, list[Times]] = {"plain": [], "confined": [], "warm": []}
    with Warm() as warm:
        for turn in range(TURNS + 1):  # the first fills the disk's cache and does not count
            row = {
                "plain": await answer(AsyncKernelManager(**private_sockets()), FIRST_CELL),
                "confined": await answer(ConfinedKernelManager(), FIRST_CELL),
                "warm": await answer(ConfinedKernelManager(warm=warm), FIRST_CELL),
            }
            if turn:
                for kind, times in row.items():
                    found[kind].append(times)
                    print(f"turn {turn}, {kind}: answers after {times[0]:.2f} s", flush=True)
    return found


def in_turns(mine: list[Times], plain: list[Times]) -> tuple[list[float], list[float]]:
    """How many times as long as a plain kernel until it answers, and with the set-up cell.

    Turn by turn, so that what else the machine did counts for both.
    """
    pairs = list(zip(mine, plain, strict=True))
    ready = [one[0] / other[0] for one, other in pairs]
    return ready, [(one[0] + one[1]) / (other[0] + other[1]) for one, other in pairs]


def main() -> int:
    """Measure, print, and write the result."""
    why_not = refusal()
    if why_not:
        print(why_not)
        return 0
    found = asyncio.run(measure())
    rows = []
    for kind, times in found.items():
        ready, cell, end = (statistics.median(column) for column in zip(*times, strict=True))
        rows.append(
            {
                "kernel": kind,
                "ready": round(ready, 3),
                "first_cell": round(cell, 3),
                "both": round(statistics.median(a + b for a, b, _ in times), 3),
                "end": round(end, 3),
            }
        )
    turns = {kind: in_turns(found[kind], found["plain"]) for kind in ("confined", "warm")}
    ratios = {kind: [round(statistics.median(each), 3) for each in both] for kind, both in turns.items()}
    print("seconds, median of", TURNS, "turns; set-up cell: import, one step of an optimiser")
    for row in rows:
        print(
            f"{row['kernel']:>9}: answers after {row['ready']:.2f}, set-up {row['first_cell']:.2f}, "
            f"together {row['both']:.2f}; shutdown {row['end']:.2f}"
        )
    for kind, (ready, both) in ratios.items():
        print(
            f"{kind:>9}: {ready:.2f} times as long as a plain kernel until it answers, "
            f"{both:.2f} times with its set-up"
        )
    result = {"machine": machine(), "turns": TURNS, "rows": rows, "ratios": ratios}
    RESULT.parent.mkdir(exist_ok=True)
    beside = RESULT.with_suffix(".new")
    beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    beside.replace(RESULT)
    return int(any(missed(each, MOST) for each in turns["confined"]))


if __name__ == "__main__":
    sys.exit(main())
