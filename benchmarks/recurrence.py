"""How fast are the three recurrences, step by step and fused, forward and backward?

    seqcourse bench recurrence

Writes benchmarks/results/recurrence.json with the machine that it ran on. The same numbers come out
of both paths (tests/nn); this measures only their time.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from pathlib import Path

import torch
from torch.nn import LSTM, RNN

import seqcourse
from seqcourse.nn import Recurrent

BATCH, WIDTH = 32, 128
LENGTHS = (25, 100, 400)
REPEATS = 5
RESULT = Path(__file__).parent / "results" / "recurrence.json"


def machine() -> dict[str, str | int]:
    """What ran: processor, cores, device, versions."""
    device = seqcourse.device()
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU"
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "device": f"{device} ({name})",
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def milliseconds(run, device: torch.device) -> float:
    """Median time of one call, after one call that does not count."""
    run()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def measure() -> list[dict[str, str | int | float]]:
    """One row per kind, path and length."""
    seqcourse.seed_everything(0)
    device = seqcourse.device()
    rows = []
    for kind in ("rnn", "gru", "lstm"):
        layer = Recurrent(kind, WIDTH, WIDTH).to(device)
        for length in LENGTHS:
            x = torch.randn(BATCH, length, WIDTH, device=device)
            for path in ("readable", "fused"):

                def run(layer=layer, x=x, path=path) -> None:
                    layer.zero_grad()
                    layer(x, path=path)[0].sum().backward()

                took = milliseconds(run, device)
                rows.append({"kind": kind, "path": path, "length": length, "ms": round(took, 2)})
                print(f"{kind:>5} {path:>9} T={length:<4} {took:9.2f} ms", flush=True)
    return rows


def ratio() -> float:
    """Parameters of an LSTM against a plain network of the same width."""
    count = {kind: sum(p.numel() for p in kind(WIDTH, WIDTH).parameters()) for kind in (LSTM, RNN)}
    return count[LSTM] / count[RNN]


def main() -> None:
    """Measure, print, and write the result."""
    print(f"batch {BATCH}, width {WIDTH}, forward and backward; {machine()}")
    result = {"machine": machine(), "batch": BATCH, "width": WIDTH, "rows": measure()}
    print(f"an LSTM has {ratio():.0f} times the parameters of a plain network")
    RESULT.parent.mkdir(exist_ok=True)
    beside = RESULT.with_suffix(".new")
    beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    beside.replace(RESULT)


if __name__ == "__main__":
    main()
