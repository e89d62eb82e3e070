"""Exercise 5: a draw by Gumbel noise, hard and relaxed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Likely, outcome, same
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases


def gumbel_arguments(
    batch: int,
    v: int,
    temperature: float = 0.7,
    scale: float = 1.0,
    close: float = 1.0,
    level: float = 0.0,
    power: int = 1,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `gumbel_softmax`: logits, uniform numbers between 0 and 1, a temperature.

    scale, close: how far apart the logits, and the uniform numbers of a row are.
    level: added to all logits.     power: of the uniform numbers; a large one brings them close to 0.
    """
    drawn = normal({"logits": (batch, v), "u": (batch, v)}, seed=seed, dtype=dtype)
    # A normal variable through its distribution function is uniform.
    uniform = torch.special.ndtr(close * drawn["u"])
    return {"logits": level + scale * drawn["logits"], "u": uniform**power, "temperature": temperature}


def gumbel_cases(seed: int) -> dict[str, dict[str, Any]]:
    """The calls of a hidden check.

    Nearly every mistake shows in each of them, so whoever gets some of them right has understood the
    draw; an overflow shows in the last one only. There the scores lie as close together as the
    temperature is low, so that the relaxed draw is no row of 0 and 1.
    """
    twice, overflow = (
        [mistake for mistake in gumbel_softmax.likely if mistake.question.startswith(words)]
        for words in ("Did you add noise a second time", "A low temperature makes exp overflow")
    )
    everywhere = [mistake for mistake in gumbel_softmax.likely if mistake not in twice + overflow]
    several = dict(batch=4, v=6, temperature=0.6)
    near = dict(batch=3, v=4, temperature=0.002, scale=0.002, close=0.002, level=3.0)
    return {
        "several rows of logits": _telling(several, seed, everywhere + twice),
        "a batch of one": _telling(dict(batch=1, v=5, temperature=1.7), seed + 1, everywhere),
        "logits that are far apart, and small u": _telling(
            dict(batch=5, v=5, temperature=8.0, scale=12.0, power=10), seed + 2, everywhere
        ),
        "a temperature close to 0": _telling(near, seed + 3, everywhere + overflow),
    }


def _telling(case: dict[str, Any], seed: int, likely: Sequence[Likely]) -> dict[str, Any]:
    """The case with the first seed for which all likely mistakes give another result."""
    while True:
        given = tuple(gumbel_arguments(**case, seed=seed).values())
        right = reference_gumbel_softmax(*given)
        if not any(same(right, outcome(mistake.answer, given)) for mistake in likely):
            return {**case, "seed": seed}
        seed += 1000


def reference_gumbel_softmax(logits: Tensor, u: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The relaxed draw (B, V) and the drawn word (B,), from the same noise."""
    noisy = logits - torch.log(-torch.log(u))
    return (noisy / temperature).softmax(dim=-1), noisy.argmax(dim=-1)


gumbel_softmax = Exercise(
    "gumbel_softmax",
    make=gumbel_arguments,
    reference=reference_gumbel_softmax,
    cases={
        **standard_cases(dict(batch=3, v=5), dict(batch=4, v=9)),
        "temperature 2.5": dict(batch=3, v=4, temperature=2.5, seed=1),
        "temperature 0.002": dict(batch=3, v=4, temperature=0.002, scale=3.0, seed=2),
        "uniform numbers close to 0": dict(batch=3, v=5, power=10, seed=3),
        "logits that are far apart": dict(batch=3, v=5, temperature=8.0, scale=12.0, seed=4),
    },
    tolerance=1e-3,
    because="A temperature close to 0 makes the rounding of single precision 500 times as large.",
    forbid=("gumbel_softmax", "gumbel_max"),
    variants={"gumbel": {"cases": gumbel_cases}},
)
