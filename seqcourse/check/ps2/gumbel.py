"""Exercise 5: a draw by Gumbel noise, hard and relaxed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import Likely, outcome, same
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal


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
    everywhere = [
        mistake for mistake in gumbel_softmax.likely if mistake not in (_NOISE_TWICE, _OVERFLOW)
    ]
    several = dict(batch=4, v=6, temperature=0.6)
    near = dict(batch=3, v=4, temperature=0.002, scale=0.002, close=0.002, level=3.0)
    return {
        "several rows of logits": _telling(several, seed, [*everywhere, _NOISE_TWICE]),
        "a batch of one": _telling(dict(batch=1, v=5, temperature=1.7), seed + 1, everywhere),
        "logits that are far apart, and small u": _telling(
            dict(batch=5, v=5, temperature=8.0, scale=12.0, power=10), seed + 2, everywhere
        ),
        "a temperature close to 0": _telling(near, seed + 3, [*everywhere, _OVERFLOW]),
    }


def _telling(case: dict[str, Any], seed: int, likely: Sequence[Likely]) -> dict[str, Any]:
    """The case with the first seed for which all likely mistakes give another result."""
    while True:
        given = tuple(gumbel_arguments(**case, seed=seed).values())
        right = reference_gumbel_softmax(*given)
        if not any(same(right, outcome(mistake.answer, given)) for mistake in likely):
            return {**case, "seed": seed}
        seed += 1000


def _noise(u: Tensor) -> Tensor:
    return -torch.log(-torch.log(u))


def _relaxed(
    logits: Tensor,
    u: Tensor,
    temperature: float,
    *,
    noise: Callable[[Tensor], Tensor] = _noise,
    scores: Callable[[Tensor], Tensor] = lambda z: z,
    dim: int = -1,
) -> tuple[Tensor, Tensor]:
    """The relaxed draw and the hard one; the options make mistakes."""
    noisy = scores(logits) + noise(u)
    return (noisy / temperature).softmax(dim=dim), noisy.argmax(dim=dim)


def reference_gumbel_softmax(logits: Tensor, u: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The relaxed draw (B, V) and the drawn word (B,), from the same noise."""
    return _relaxed(logits, u, temperature)


def _soft(change: Callable[..., Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    """Another relaxed draw, the right hard one."""
    return lambda *arguments: (change(*arguments), _relaxed(*arguments)[1])


def _by_hand(logits, u, temperature):
    weights = ((logits + _noise(u)) / temperature).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


_NOISE_TWICE = Likely(
    "Did you add noise a second time, or draw from the relaxed draw? The drawn word is where "
    "logit + G is largest.",
    lambda z, u, tau: (_relaxed(z, u, tau)[0], (_relaxed(z, u, tau)[0] + _noise(u)).argmax(dim=-1)),
)
_OVERFLOW = Likely(
    "A low temperature makes exp overflow: use torch.softmax, or subtract the largest score first.",
    _soft(_by_hand),
)
_LIKELY = [
    _NOISE_TWICE,
    Likely("Are softmax and argmax over the batch? dim=-1.", lambda *a: _relaxed(*a, dim=0)),
    Likely("Did you return the relaxed draw only?", lambda *a: _relaxed(*a)[0]),
    Likely("Did you return the drawn word only?", lambda *a: _relaxed(*a)[1]),
    _OVERFLOW,
]


gumbel_softmax = Exercise(
    "gumbel_softmax",
    make=gumbel_arguments,
    reference=reference_gumbel_softmax,
    likely=_LIKELY,
    cases=[
        *standard_cases(gumbel_arguments, dict(batch=3, v=5), dict(batch=4, v=9)),
        *cases_of(
            gumbel_arguments,
            {
                "temperature 2.5": dict(batch=3, v=4, temperature=2.5, seed=1),
                "temperature 0.002": dict(batch=3, v=4, temperature=0.002, scale=3.0, seed=2),
                "uniform numbers close to 0": dict(batch=3, v=5, power=10, seed=3),
                "logits that are far apart": dict(batch=3, v=5, temperature=8.0, scale=12.0, seed=4),
            },
        ),
    ],
    tolerance=1e-3,
    because="A temperature close to 0 makes the rounding of single precision 500 times as large.",
    forbid=("gumbel_softmax", "gumbel_max"),
    variants={"gumbel": {"cases": gumbel_cases}},
    idea="With the right noise the largest score is a fair draw, and a softmax of it has a gradient.",
    see=("04", "Drawing a word inside a network"),
)
