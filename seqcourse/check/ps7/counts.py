"""Exercise 3: how many parameters GPT and BERT have, by formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from seqcourse.check.exercise import Exercise

_FORBID = (
    *("count_parameters", "number_of_parameters", "parameters", "named_parameters", "numel"),
    *("GPT", "BERT", "Block"),
)

# vocabulary, longest, width, layers, hidden
GPT2_SMALL = (50257, 1024, 768, 12, 3072)
# vocabulary, longest, segments, width, layers, hidden
BERT_BASE = (30522, 512, 2, 768, 12, 3072)


def _drawn(seed: int, factor: int | None) -> tuple[int, int, int, int, int]:
    """A shape whose sizes are all different; hidden is factor * width, or else any number."""
    rng = numpy.random.default_rng(seed)
    width = 8 * int(rng.integers(5, 60))
    hidden = factor * width if factor else 8 * int(rng.integers(70, 300))
    vocabulary, longest = int(rng.integers(2_000, 50_000)), 64 * int(rng.integers(9, 20)) + 1
    return vocabulary, longest, width, int(rng.integers(3, 20)), hidden


def gpt_arguments(factor: int | None = 4, layers: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Arguments of `gpt_parameters`.

    factor: hidden as a multiple of the width, None for any number. layers: if it is to be fixed.
    """
    vocabulary, longest, width, many, hidden = _drawn(seed, factor)
    return {
        "vocabulary": vocabulary,
        "longest": longest,
        "width": width,
        "layers": many if layers is None else layers,
        "hidden": hidden,
    }


def bert_arguments(
    factor: int | None = 4, layers: int | None = None, segments: int = 3, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `bert_parameters`, as those of `gpt_arguments`, with a number of segments."""
    given = gpt_arguments(factor, layers, seed)
    first = {name: given.pop(name) for name in ("vocabulary", "longest")}
    return {**first, "segments": segments, **given}


def _block(width: int, hidden: int) -> int:
    attention = 4 * width * width + 4 * width
    mlp = 2 * width * hidden + hidden + width
    return attention + mlp + 4 * width


def reference_gpt_parameters(vocabulary: int, longest: int, width: int, layers: int, hidden: int) -> int:
    """Parameters of GPT-2's form: tied embeddings, learned positions, pre-norm with a last norm."""
    return (vocabulary + longest) * width + layers * _block(width, hidden) + 2 * width


def reference_bert_parameters(
    vocabulary: int, longest: int, segments: int, width: int, layers: int, hidden: int
) -> int:
    """Parameters of BERT with its pooler, without the heads of its pre-training."""
    embeddings = (vocabulary + longest + segments) * width + 2 * width
    return embeddings + layers * _block(width, hidden) + width * width + width


def _cases(make: Callable[..., dict[str, Any]], published: tuple[int, ...]) -> dict[str, Any]:
    return {
        "the first example": {},
        "an MLP that is not four times as wide": dict(factor=None, seed=1),
        "no layers at all": dict(layers=0, seed=2),
        "the published model": lambda: dict(zip(make(), published, strict=True)),
    }


gpt_parameters = Exercise(
    "gpt_parameters",
    make=gpt_arguments,
    reference=reference_gpt_parameters,
    cases=_cases(gpt_arguments, GPT2_SMALL),
    forbid=_FORBID,
)

bert_parameters = Exercise(
    "bert_parameters",
    make=bert_arguments,
    reference=reference_bert_parameters,
    cases=_cases(bert_arguments, BERT_BASE),
    forbid=_FORBID,
)
