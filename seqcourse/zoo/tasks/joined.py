"""A picture's places in front of the words of a question, or a stream for each (chapter 14)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from seqcourse.models import OneStream, TwoStream, number_of_parameters
from seqcourse.settings import device
from seqcourse.zoo.tasks.captioned import Lesson


class JoinedLesson(Lesson):
    """Questions about scenes for a model of another kind.

    Args:
        lesson: whose scenes and words these are.
        kind: makes a model from the numbers of words and answers.
    """

    def __init__(self, lesson: Lesson, kind: Callable[[int, int], nn.Module]) -> None:
        self.__dict__.update(lesson.__dict__)
        self.kind = kind

    def model(self) -> nn.Module:
        """Freshly initialised."""
        return self.kind(len(self.words), self.answers).to(device())


def measure(
    lesson: Lesson,
    one_stream: dict[str, int],
    rates: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
    steps: int,
) -> dict[str, Any]:
    """Correct answers of one stream and of two, on the same grids.

    Args:
        lesson: its sizes are those of the two streams.
        one_stream: sizes of the one.
        rates: learning rates, tried for both.
        choose: seeds with which the best is chosen, by the answers on "valid".
        seeds: seeds with which it is judged, on "test".
        steps: of every training, with the questions about all training scenes.

    Returns:
        For "one stream" and "two streams" ``parameters``, ``tried``, ``rate`` and ``right``, the
        shares of each seed.
    """
    kinds = {
        "one stream": lambda words, answers: OneStream(words, answers, **one_stream),
        "two streams": lambda words, answers: TwoStream(words, answers, channels=None, **lesson.sizes),
    }
    scenes, found = len(lesson.parts["train"].grids), {}
    for name, kind in kinds.items():
        joined = JoinedLesson(lesson, kind)

        def right(rate: float, seed: int, split: str, joined: Lesson = joined) -> dict[str, float]:
            return joined.right(joined.fine_tune(None, scenes, rate, seed, steps), split)

        tried = {
            rate: sum(right(rate, seed, "valid")["all"] for seed in choose) / len(choose)
            for rate in rates
        }
        best = max(tried, key=tried.__getitem__)
        found[name] = {
            "parameters": number_of_parameters(joined.model()),
            "tried": {f"{rate:g}": round(share, 4) for rate, share in tried.items()},
            "rate": best,
            "right": [right(best, seed, "test") for seed in seeds],
        }
        print(name, found[name], flush=True)
    return found
