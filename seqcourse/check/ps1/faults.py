"""Exercise 10: a training loop with three faults, each graded on inputs where the others do not show.

A rate of 0 shows what is read, and nothing of the updates. One update shows how long it is. One stream
with a large clip shows what is left of older gradients. Where all three meet, the second cell accepts
what the other two faults make of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Mistake, stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.margin import aside
from seqcourse.check.calls.recording import judge
from seqcourse.check.calls.values import Found, Given
from seqcourse.check.exercise import Exercise, Kind
from seqcourse.check.inside.ps1 import read_chunk

TOLERANCE = 3e-5
LEFT = {
    1: "Symptom 1 is still there. Whose characters has a row's state read before the next ones come?",
    2: "Symptom 2 is still there. Of which vector is the norm that you compare with clip?",
    3: "Symptom 3 is still there. What is in the gradient at the second update?",
}


def training_arguments(
    batch: int,
    updates: int,
    length: int,
    rate: float,
    clip: float,
    extra: int = 0,
    alike: bool = False,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> dict[str, Any]:
    """Arguments of `train_in_streams`; the text has `extra` characters more than are read.

    alike: one character again and again, so that the loss is soon small.
    """
    weights = normal({"table": (6, 4), "w": (4, 4), "out": (4, 6)}, seed=seed, dtype=dtype)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(6, (batch * updates * length + 1 + extra,), generator=generator)
    ids = ids[:1].expand(len(ids)).clone() if alike else ids
    h = normal({"h": (batch, 4)}, seed=seed + 1, dtype=dtype)["h"]
    network = {"network": read_chunk, "weights": tuple(weights.values()), "h": h, "ids": ids}
    return {**network, "length": length, "rate": rate, "clip": clip}


def reference_training(
    network: Callable[..., tuple[Tensor, Tensor]],
    weights: Sequence[Tensor],
    h: Tensor,
    ids: Tensor,
    length: int,
    rate: float,
    clip: float,
    left: Collection[int] = (),
) -> tuple[Tensor, list[Tensor]]:
    """The losses (K,) and the trained weights.

    left: faults that are left: 1 (the rows of an update follow one another), 3 (older gradients are
    added).
    """
    streams = ids[:-1].unfold(0, length, length)  # (chunks, L)
    updates = len(streams) // len(h)
    losses, older = [], [0.0] * len(weights)
    for k in range(updates):
        rows = torch.arange(len(h))
        now = k * len(h) + rows if 1 in left else rows * updates + k  # the chunk of every stream
        places = now[:, None] * length + torch.arange(length)  # (B, L)
        leaves = [w.detach().requires_grad_() for w in weights]
        logits, h = network(ids[places], h.detach(), *leaves)
        loss = -logits.log_softmax(-1).gather(-1, ids[places + 1][..., None]).mean()
        new = torch.autograd.grad(loss, leaves)
        older = gradients = [a + b for a, b in zip(older, new, strict=True)] if 3 in left else new
        shrink = min(1.0, clip / float(sum(g.square().sum() for g in gradients)) ** 0.5)
        weights = [w - rate * shrink * g for w, g in zip(leaves, gradients, strict=True)]
        losses.append(loss.detach())
    return torch.stack(losses), [w.detach() for w in weights]


def judge_clipped(found: Found, given: Given, prefix: str) -> None:
    """Judge what symptom 2 is about, also where all meet: the others cost their own points only."""
    asked = replace(train_in_streams, likely=(), hint=LEFT[2])
    try:
        judge(asked, found, given, prefix)
    except Mistake:
        for left in ((1,), (3,), (1, 3)):
            with contextlib.suppress(Mistake), aside():
                other = replace(asked, reference=partial(reference_training, left=left))
                return judge(other, found, given, prefix)
        raise


train_in_streams = Exercise(
    "train_in_streams",
    make=training_arguments,
    reference=reference_training,
    likely={
        "Does the gradient reach back into older updates? Detach the state between them.": stopping(
            "a second time|inplace operation"
        )
    },
    tolerance=TOLERANCE,
    because="PyTorch's clip_grad_norm_ adds 0.000001 to the norm, which is as good.",
    cases={
        "one update of one stream": dict(batch=1, updates=1, length=4, rate=0.5, clip=1e9),
        "symptom 1: three streams": Kind(
            dict(batch=3, updates=4, length=2, rate=0.0, clip=1.0, extra=3), LEFT[1]
        ),
        "symptom 2: a small clip": Kind(dict(batch=2, updates=1, length=3, rate=0.5, clip=0.1), LEFT[2]),
        "symptom 3: several updates": Kind(
            dict(batch=1, updates=4, length=3, rate=0.5, clip=1e9), LEFT[3]
        ),
        "one character again and again": Kind(
            dict(batch=1, updates=12, length=1, rate=3.0, clip=1e9, alike=True),
            "Every update of the weights follows the same rule, also where the loss is small.",
        ),
        "all of that at once": Kind(
            dict(batch=3, updates=3, length=2, rate=0.5, clip=0.6, extra=5),
            "Each symptom is gone where it is alone.",
        ),
        "float32": dict(batch=2, updates=2, length=3, rate=0.5, clip=0.5, dtype=torch.float32),
    },
    variants={"clipped": {"judge": judge_clipped}},
)
