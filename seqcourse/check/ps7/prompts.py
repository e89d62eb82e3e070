"""Exercise 2: a task, some solved examples and a question, as one text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from seqcourse.check.exercise import Case, Exercise

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


def _made(
    *,
    line: Callable[[str], str] = _one_line,
    between: str = "\n\n",
    order: Callable[[list], list] = list,
    end: str = "",
    first: bool = True,
    label: Callable[[str], str] = lambda label: f" {label}",
    head: Callable[[str], str] = str,
    name: Callable[[str], str] = str,
) -> Callable[..., str]:
    """A prompt with one part made in another way."""

    def prompt(task: str, names: tuple[str, str], examples: Examples, query: str) -> str:
        shown = order(list(examples))
        task, *names = head(task), *map(name, names)
        blocks = [f"{names[0]}: {line(text)}\n{names[1]}:{label(answer)}" for text, answer in shown]
        blocks.append(f"{names[0]}: {line(query)}\n{names[1]}:{end}")
        return between.join([task, *blocks] if first else blocks)

    return prompt


reference_few_shot_prompt = _made()


_LIKELY = {
    "Are line ends replaced one by one? Every run of white space becomes one space: "
    '" ".join(text.split()).': (
        _made(line=lambda text: text.replace("\n", " ")),
        _made(line=lambda text: text.strip().replace("\n", " ")),
    ),
    "Is white space of the names changed? The names stand as they are.": tuple(
        _made(name=change) for change in (_one_line, str.strip)
    ),
    "Is white space of the answers changed? The answers stand as they are.": tuple(
        _made(label=lambda label, change=change: f" {change(label)}")
        for change in (_one_line, str.strip)
    ),
    "Is the first example missing? All of them are shown.": _made(order=lambda e: e[1:]),
    "Are the examples missing? They show the model what is wanted.": _made(order=lambda e: []),
}


few_shot_prompt = Exercise(
    "few_shot_prompt",
    make=prompt_arguments,
    reference=reference_few_shot_prompt,
    likely=_LIKELY,
    cases=[
        Case("the first example", lambda: prompt_arguments(1)),
        Case("three examples", lambda: prompt_arguments(3, seed=1)),
        Case(
            "no examples",
            lambda: prompt_arguments(0, seed=2),
            "With no examples the task and the query are all there is.",
        ),
        Case(
            "texts with line ends inside",
            lambda: prompt_arguments(2, white=True, seed=3),
            "Every run of white space inside a text becomes one space.",
        ),
    ],
    forbid=("PromptTask",),
    idea="A prompt shows a model solved examples, and stops where its answer should begin.",
    see=("12", "Prompt: the task is in the text"),
)
