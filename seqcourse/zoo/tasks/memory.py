"""Remember the first symbol: recurrent networks by their start and their learning rate (chapter 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse.nn import Recurrent

SYMBOLS, SIZE, BATCH, STEPS, EXAM = 8, 32, 32, 200, 500
STARTS: dict[str, dict[str, Any]] = {
    "RNN": {"kind": "rnn"},
    "RNN, orthogonal": {"kind": "rnn", "orthogonal": True},
    "LSTM": {"kind": "lstm"},
    "LSTM, open gates": {"kind": "lstm", "keep": 4.0},
}


def symbols(count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sequences of one-hot symbols, (count, length, 8), and the first symbol of each, (count,)."""
    ids = torch.randint(SYMBOLS, (count, length), generator=generator)
    return nn.functional.one_hot(ids, SYMBOLS).float(), ids[:, 0]


def accuracy(
    length: int, rate: float, seed: int, kind: str, keep: float = 0.0, orthogonal: bool = False
) -> float:
    """Share of right answers on new sequences, of a network that was trained for 200 steps.

    Args:
        length: of the sequences, T.
        rate: Adam's learning rate.
        kind: "rnn" or "lstm".
        keep: added to the bias of the forget gates.
        orthogonal: begin with an orthogonal recurrent matrix.
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(1000 * seed + length)
    layer, readout = Recurrent(kind, SYMBOLS, SIZE), nn.Linear(SIZE, SYMBOLS)
    layer.bias_ih_l0.data[SIZE : 2 * SIZE] += keep
    if orthogonal:
        nn.init.orthogonal_(layer.weight_hh_l0)
    model = nn.ModuleList([layer, readout])
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(STEPS):
        x, first = symbols(BATCH, length, generator)
        loss = nn.functional.cross_entropy(readout(layer(x)[0][:, -1]), first)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    x, first = symbols(EXAM, length, generator)
    with torch.no_grad():
        return (readout(layer(x)[0][:, -1]).argmax(-1) == first).float().mean().item()


def measure(
    lengths: Sequence[int], rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Each start at its best rate: start -> length -> that ``rate``, and ``right``, one share a seed.

    Args:
        lengths: T of the sequences.
        rates: tried for every start and length.
        choose: seeds on which the rate with the highest mean is chosen.
        seeds: others, on which it is judged.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, start in STARTS.items():
        for length in lengths:
            tried = {r: sum(accuracy(length, r, s, **start) for s in choose) for r in rates}
            best = max(tried, key=tried.__getitem__)
            right = [round(accuracy(length, best, seed, **start), 3) for seed in seeds]
            mean = {f"{rate:g}": round(total / len(choose), 3) for rate, total in tried.items()}
            found.setdefault(name, {})[str(length)] = {"tried": mean, "rate": best, "right": right}
    return found
