"""What does our multi-head attention cost, forward and backward, beside the least that it can cost?

    seqcourse bench attention

The floor is two linear layers around a direct call of PyTorch's fused kernel: nobody who computes the
same can be faster. Beside it: our module, our module when it is asked for the weights (the readable
path), and torch.nn.MultiheadAttention without weights. Float32; bf16 too on a GPU. Exit code 1 when our
module takes more than 1.05 times the floor's memory, or, in three of four turns, its time.

About 3 minutes on two idle cores.
"""

from __future__ import annotations

import sys

import torch
from _bars import missed
from _side_by_side import in_turns, machine, medians, peak_mib, ratios, take_turns, write
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import seqcourse
from seqcourse.nn import MultiHeadAttention

SIZES = ((32, 128, 256, 8), (8, 512, 512, 8), (2, 2048, 512, 8))  # B, N, D, H
TURNS = 9
MOST = 1.05


class Floor(nn.Module):
    """Projections and the kernel, with nothing between them that could be left out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.inner, self.outer, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x: torch.Tensor, causal: bool) -> torch.Tensor:
        b, n, d = x.shape
        q, k, v = self.inner(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.outer(y.transpose(1, 2).reshape(b, n, d))


def contestants(b: int, n: int, d: int, heads: int, causal: bool, dtype: torch.dtype) -> dict:
    """name -> one forward and backward pass on the same input."""
    device = seqcourse.device()
    seqcourse.seed_everything(0)
    x = torch.randn(b, n, d, device=device, dtype=dtype, requires_grad=True)
    ahead = torch.ones(n, n, dtype=torch.bool, device=device).triu(1) if causal else None
    floor, ours = Floor(d, heads), MultiHeadAttention(d, heads)
    theirs = nn.MultiheadAttention(d, heads, batch_first=True)
    for module in (floor, ours, theirs):
        module.to(device, dtype)
    calls = {
        "floor": lambda: floor(x, causal),
        "ours": lambda: ours(x, causal=causal)[0],
        "ours, with weights": lambda: ours(x, causal=causal, need_weights=True)[0],
        "torch.nn": lambda: theirs(x, x, x, attn_mask=ahead, is_causal=causal, need_weights=False)[0],
    }

    def both_ways(call):
        def run() -> None:
            x.grad = None
            for module in (floor, ours, theirs):
                module.zero_grad(set_to_none=True)
            call().sum().backward()

        return run

    return {name: both_ways(call) for name, call in calls.items()}


def main() -> int:
    """Measure, print, and write the result."""
    dtypes = [torch.float32]
    if seqcourse.device().type == "cuda":
        dtypes.append(torch.bfloat16)
    rows, bad = [], False
    for dtype in dtypes:
        for b, n, d, heads in SIZES:
            for causal in (False, True):
                runs = contestants(b, n, d, heads, causal, dtype)
                found = take_turns(runs, TURNS)
                memory = {name: peak_mib(run) for name, run in runs.items()}
                row = {
                    "dtype": str(dtype).removeprefix("torch."),
                    "sizes": {"B": b, "N": n, "D": d, "H": heads},
                    "causal": causal,
                    "seconds": medians(found),
                    "time_ratio": ratios(found, "floor"),
                    "peak_mib": {name: round(size, 1) for name, size in memory.items()},
                    "memory_ratio": {k: round(m / memory["floor"], 3) for k, m in memory.items()},
                }
                rows.append(row)
                bad |= (
                    missed(in_turns(found, "ours", "floor"), MOST) or row["memory_ratio"]["ours"] > MOST
                )
                print((b, n, d, heads), "causal" if causal else "full", row["dtype"])
                for name in runs:
                    print(
                        f"  {name:>20}: {row['time_ratio'][name]:6.2f} x time, "
                        f"{row['memory_ratio'][name]:6.2f} x memory ({row['peak_mib'][name]} MiB)",
                        flush=True,
                    )
    write("attention", {"machine": machine(), "turns": TURNS, "rows": rows})
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
