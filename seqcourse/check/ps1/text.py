"""Exercises 2 and 6: what a character model learns from, and how it writes."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, hinted
from seqcourse.check.inside import ps1 as inside


def pairs_arguments(size: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `training_pairs`: a text of `size` characters, all different, and a length.

    Their numbers are large: nothing is said of how many characters there are.
    """
    generator = torch.Generator().manual_seed(seed)
    return {"ids": torch.randperm(size, generator=generator) * 10**9 + 3, "length": length}


def reference_training_pairs(ids: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Rows of a text and the same rows one place later, each (M, length)."""
    rows = (len(ids) - 1) // length
    cut = rows * length
    return ids[:cut].reshape(rows, length), ids[1 : cut + 1].reshape(rows, length)


def _numbered(size: int, length: int) -> dict[str, Any]:
    return {"ids": torch.arange(3, 3 + size) * 7 % 61 * 10**9, "length": length}


training_pairs = Exercise(
    "training_pairs",
    make=pairs_arguments,
    reference=reference_training_pairs,
    cases={
        "the first example": lambda: _numbered(12, 3),
        **hinted(
            "Are the rows counted with (N - 1) // length?",
            {
                "10 characters in rows of 3: exactly 3 rows": lambda: _numbered(10, 3),
                "9 characters in rows of 3: only 2 rows have all their targets": lambda: _numbered(9, 3),
                "rows of 1": lambda: _numbered(6, 1),
            },
        ),
    },
)


def writer_arguments(batch: int, prompt: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `continue_text`: a small network whose `choose` takes the unlikeliest."""
    v, h = 29, 12  # so large that two mistakes hardly ever write the same
    weights = normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed=seed + 1)
    start = normal({"h": (batch, h), "count": (batch, 1)}, seed=seed + 2)
    generator = torch.Generator().manual_seed(seed)
    return {
        "step": partial(inside.write_step, **weights),
        "state": (start["h"], start["count"]),
        "prompt": torch.randint(v, (batch, prompt), generator=generator),
        "length": length,
        "choose": partial(inside.unlikeliest, []),
    }


def reference_continue_text(step, state, prompt, length, choose) -> Tensor:
    """The tokens written after the prompt, (B, length)."""
    for asked in getattr(choose, "args", ()):  # `unlikeliest` begins anew
        asked.clear()
    for tokens in prompt.unbind(dim=1):
        logits, state = step(tokens, state)
    written = [choose(logits)]
    while len(written) < length:
        logits, state = step(written[-1], state)
        written.append(choose(logits))
    return torch.stack(written, dim=1)


continue_text = Exercise(
    "continue_text",
    make=writer_arguments,
    reference=reference_continue_text,
    cases={
        "the first example": dict(batch=2, prompt=4, length=6, seed=0),
        "a batch of 1": dict(batch=1, prompt=3, length=5, seed=10),
        "a prompt of one character": dict(batch=3, prompt=1, length=4, seed=20),
        "length 1": dict(batch=2, prompt=3, length=1, seed=30),
        "a longer text": dict(batch=4, prompt=6, length=12, seed=40),
    },
)
