"""How fast are the three recurrences, step by step and fused, forward and backward?

    seqcourse bench recurrence

Writes benchmarks/results/recurrence.json with the machine that it ran on. The same numbers come out
of both paths (tests/nn); this measures only their time, the two paths taking turns.

About 1 minute on two idle cores.
"""

from __future__ import annotations

import torch
from _side_by_side import machine, medians, ratios, take_turns, write

import seqcourse
from seqcourse.nn import Recurrent

BATCH, WIDTH = 32, 128
LENGTHS = (25, 100, 400)
PATHS = ("readable", "fused")
TURNS = 10


def paths(layer: Recurrent, x: torch.Tensor) -> dict[str, object]:
    """One pass forward and back through the layer, on either path."""

    def run(path: str) -> None:
        layer.zero_grad()
        layer(x, path=path)[0].sum().backward()

    return {path: lambda path=path: run(path) for path in PATHS}


def measure() -> list[dict[str, object]]:
    """One row per kind and length: seconds of both paths, and their ratio to the fused one."""
    seqcourse.seed_everything(0)
    rows = []
    for kind in ("rnn", "gru", "lstm"):
        layer = Recurrent(kind, WIDTH, WIDTH).to(seqcourse.device())
        for length in LENGTHS:
            x = torch.randn(BATCH, length, WIDTH, device=seqcourse.device())
            found = take_turns(paths(layer, x), TURNS)
            row = {"seconds": medians(found, 6), "time_ratio": ratios(found, "fused")}
            rows.append({"kind": kind, "length": length, **row})
            times = ", ".join(f"{path} {1000 * row['seconds'][path]:.2f} ms" for path in PATHS)
            print(f"{kind:>5}, {length:>3} steps: {times}", flush=True)
    return rows


def main() -> None:
    """Measure, print, and write the result."""
    print(f"batch {BATCH}, width {WIDTH}, forward and backward; {machine()}")
    result = {"machine": machine(), "batch": BATCH, "width": WIDTH, "turns": TURNS}
    write("recurrence", {**result, "rows": measure()})


if __name__ == "__main__":
    main()
