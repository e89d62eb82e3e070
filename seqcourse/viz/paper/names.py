"""What the formulas of calculations may use: draws, functions, and numbers written out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np


def written_out(value: Any, spec: str = "") -> str:
    """A number with at most two decimals, a vector in brackets, a text as it is."""
    if isinstance(value, str):
        return value
    if np.ndim(value):
        return f"({', '.join(written_out(part, spec) for part in value)})"
    value = round(float(value), 9) + 0.0  # no minus zero
    text = format(value, spec or ".2f")
    text = text if spec or "." not in text else text.rstrip("0").rstrip(".")
    return text.replace("-0", "0").replace("-", "−") if not float(text) else text.replace("-", "−")


def terms(a: Any, b: Any, spec: str = "") -> str:
    """A dot product written out: 2·1 + 3·(−1)."""
    pairs = zip(a, b, strict=True)
    return " + ".join("·".join(_in_brackets(written_out(x, spec)) for x in pair) for pair in pairs)


def plus(numbers: Any, spec: str = "") -> str:
    """A sum written out: 2 + (−1) + 3."""
    return " + ".join(_in_brackets(written_out(x, spec)) for x in numbers)


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def words(of: Sequence[str]) -> str:
    """Words with spaces between them."""
    return " ".join(of)


def found(output: Sequence[str], reference: Sequence[str], size: int) -> int:
    """How many runs of so many words a reference has, each at most as often as there."""
    runs = [Counter(zip(*(text[k:] for k in range(size)), strict=False)) for text in (output, reference)]
    return (runs[0] & runs[1]).total()


def edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """The fewest insertions, deletions and substitutions between two texts."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(output, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(reference, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1]


def _in_brackets(text: str) -> str:
    return f"({text})" if text.startswith("−") else text


def softmax(e: Any, axis: int = -1) -> np.ndarray:
    """Weights of scores."""
    return np.exp(e) / np.exp(e).sum(axis, keepdims=True)


def _whole(chance: random.Random, low: int, high: int, *shape: int) -> Any:
    size = int(np.prod(shape)) if shape else 1
    made = [chance.randint(low, high) for _ in range(size)]
    return np.array(made, dtype=float).reshape(shape) if shape else made[0]


def _tenths(chance: random.Random, low: float, high: float, *shape: int) -> Any:
    return np.round(_whole(chance, round(10 * low), round(10 * high), *shape) / np.float64(10), 1)


def _parts(chance: random.Random, size: int) -> np.ndarray:
    """Weights in tenths, none of them 0, that sum to 1."""
    cuts = sorted(chance.sample(range(1, 10), size - 1))
    return np.diff([0, *cuts, 10]) / 10


DRAWN = {
    "whole": _whole,
    "tenths": _tenths,
    "parts": _parts,
    "pick": lambda chance, *options: chance.choice(options),
    "sample": lambda chance, options, size: chance.sample(list(options), size),
}
_NUMPY = (
    "abs arange argmax array array_equal concatenate cos cumsum eye exp isclose log max maximum mean "
)
_NUMPY += "min minimum ones outer pi roll round sin sort sqrt sum tanh tril unique var where zeros"
NAMES = {
    **{name: getattr(np, name) for name in _NUMPY.split()},
    **{own.__name__: own for own in (int, len, zip, softmax, sigmoid, terms, plus, words, found, edits)},
}
