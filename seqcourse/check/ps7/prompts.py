"""Exercise 2: a task, some solved examples and a question, as one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from seqcourse.check.exercise import Exercise, Kind

Examples = Sequence[tuple[str, str]]

_WORDS = "The a Rabbit queen said very white little door garden went up, down late! Oh cat.".split()
_NAMES = (("Text", "Mood"), ("Review", "Stars"), ("English", "Spanish"), ("Passage", "Author"))
_LABELS = ("good", "Bad", "sad", "Very merry!", "calm.")
_TASKS = ("Say how it sounds.", "Classify each text.", "What is it like?", "Name the mood.")


def prompt_arguments(shots: int, white: bool = False, seed: int = 0) -> dict[str, Any]:
    """Arguments of `few_shot_prompt`: a task, two names, solved examples, a query.

    white: whether texts hold line ends (those of Windows, too), tabs and several spaces; and the task,
        a name and the answers two spaces in a row, and all of them one in front.
    """
    rng = numpy.random.default_rng(seed)

    def text() -> str:
        words = [str(word) for word in rng.choice(_WORDS, size=int(rng.integers(4, 9)))]
        if not white:
            return " ".join(words)
        spaces = [("  ", "\n", " ", "\t", "\r\n")[int(rng.integers(5))] for _ in words]
        spaces[1:4] = "\n\n", "  ", "\r\n"
        between = "".join(space + word for space, word in zip(spaces, words, strict=True))
        return between + "\r\n"

    labels = [_LABELS[int(rng.integers(len(_LABELS)))] for _ in range(shots)]
    task = _TASKS[int(rng.integers(len(_TASKS)))]
    names = _NAMES[int(rng.integers(len(_NAMES)))]
    if white:
        task, *names = (f" {words.replace(' ', '  ', 1)} " for words in (task, *names))
        names, labels = (f"{names[0]} 1", names[1]), [f" so  {label}" for label in labels]
    return {
        "task": task,
        "names": names,
        "examples": [(text(), label) for label in labels],
        "query": text(),
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())


def reference_few_shot_prompt(task: str, names: tuple[str, str], examples: Examples, query: str) -> str:
    """Task, examples and query, with an empty line between; texts on one line each."""
    shown = [f"{names[0]}: {_one_line(text)}\n{names[1]}: {answer}" for text, answer in examples]
    return "\n\n".join([task, *shown, f"{names[0]}: {_one_line(query)}\n{names[1]}:"])


few_shot_prompt = Exercise(
    "few_shot_prompt",
    make=prompt_arguments,
    reference=reference_few_shot_prompt,
    cases={
        "the first example": dict(shots=1),
        "three examples": dict(shots=3, seed=1),
        "no examples": Kind(
            dict(shots=0, seed=2), "With no examples the task and the query are all there is."
        ),
        "texts with line ends inside": Kind(
            dict(shots=2, white=True, seed=3),
            "Every run of white space inside a text becomes one space.",
        ),
    },
    forbid=("PromptTask",),
)
