"""A translation, and a longer text translated sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from seqcourse import data


@dataclass
class Translation:
    """One input and the model's output.

    Attributes:
        source: the input tokens, without <eos>.
        target: tokens of the best output.
        text: the best output as text.
        score: its log-probability per token (length-normalised).
        weights: attention, (T', T + 1) or None: a row per output token; a column per source token,
            then one for <eos>.
        n_best: the best outputs with their scores, best first.
    """

    source: list[str]
    target: list[str]
    text: str
    score: float
    weights: numpy.ndarray | None
    n_best: list[tuple[str, float]]


def sentence_by_sentence(text: str, translate: Callable[[list[str]], list[Translation]]) -> str:
    """A text of any length, each of its sentences translated; paragraphs stay paragraphs."""
    paragraphs = [data.sentences(part) for part in text.splitlines()]
    spoken = [s for part in paragraphs for s in part if any(c.isalnum() for c in s)]
    found = iter(t.text for t in translate(spoken or [text]))
    lines = [
        " ".join(next(found) if any(c.isalnum() for c in s) else s for s in part) for part in paragraphs
    ]
    return "\n".join(lines)
