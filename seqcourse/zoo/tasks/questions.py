"""Questions about composed scenes: how many, what colour, what is where."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from seqcourse import data
from seqcourse.data import SOS, SPECIALS, UNK, EncodedQuestion, QuestionBatches, Vocabulary
from seqcourse.data.grammar import NUMBERS
from seqcourse.data.pictures import kinds
from seqcourse.data.questions import QUESTION_KINDS
from seqcourse.errors import CourseError
from seqcourse.train import Trainer, answer_loss, region_loss
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks.evaluation import mean_over

HELD_OUT = {"valid": 300, "test": 1000}  # scenes; each shows a pair of things never trained on
_WORDS = "how many are there what colour is the left right of above below ?"
SIDE = 8  # places on each side of the grid


class QuestionTask(Task):
    """One question about each scene per epoch, answered by choosing; see :class:`models.TwoStream`."""

    vocabulary_sizes = 2
    why_not_translate = "answers questions about scenes: it has nothing to translate"

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The words of the questions, and the answers: numbers, colours and names of things."""
        known = kinds("train")
        colours = sorted({kind.colour for kind in known if kind.colour})
        words = [word for kind in known for word in f"{kind.name} {kind.plural}".split()]
        asked = dict.fromkeys([*_WORDS.split(), *colours, *words])
        answers = dict.fromkeys([*NUMBERS, *colours, *(kind.name for kind in known)])
        return Vocabulary(list(asked)), Vocabulary(list(answers))

    def batches(
        self, source: Vocabulary, target: Vocabulary, split: str = "train", grids: Tensor | None = None
    ) -> QuestionBatches:
        """For training one question about each scene; of the held-out splits all questions. ``grids``
        stand in for the pictures."""
        count = self.recipe.options["scenes"] if split == "train" else HELD_OUT[split]
        found = scenes(split, count)
        ids = [[encode(question, source, target) for question in about] for about in found.asked]
        regions = numpy.zeros((count, SIDE * SIDE), numpy.int64)
        for number, names in enumerate(found.grids):
            regions[number] = [target.id(name) if name else 0 for name in names]
        train = split == "train"
        size = self.recipe.batch_size if train else 256
        seen = found.pictures if grids is None else grids
        return QuestionBatches(seen, regions, ids, size, shuffle=train, seed=self.recipe.seed)

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """First train the picture's encoder to name the thing at each place of its grid.

        So the picture's stream starts from recognised things, like the regions of a detector in the
        paper.
        """
        first = self.recipe.options["first"]
        training = replace(self.recipe.training, epochs=first, max_steps=short)
        Trainer(model, region_loss, training).fit(self.batches(source, target))

    def loss(self) -> Callable:
        """Cross-entropy of the answers, and of the thing at each place."""
        return partial(answer_loss, regions=self.recipe.options["regions"])

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss per question about the validation scenes."""
        return mean_over(
            self.batches(source, target, "valid"), answer_loss, lambda batch: len(batch.labels)
        )

    def measure(self, system: System) -> dict[str, Any]:
        """Accuracy on the test scenes by kind of question, compared with the commonest answer of that
        kind in training and with a random answer."""
        batches = self.batches(system.source, system.target, "test")
        right: list[bool] = []
        began = time.perf_counter()
        with torch.inference_mode():
            for batch in batches:
                batch = batch.to(system.device)
                right += (system.model(*batch.inputs).answers.argmax(-1) == batch.labels).tolist()
        seconds = time.perf_counter() - began
        asked = [question for about in scenes("test", HELD_OUT["test"]).asked for question in about]
        return {**by_kind(asked, right), "questions_per_second": len(asked) / seconds}


def by_kind(asked: list[data.Question], right: list[bool]) -> dict[str, Any]:
    """For each kind of question, and for colours that the name does not reveal: the number of questions,
    and the accuracy of a model, of the commonest answer and of a random answer; and for each number of
    things how often the model counts it correctly."""
    learned = [question for about in scenes("train", 1000).asked for question in about]
    colours: dict[str, set[str]] = {}
    for kind in kinds("train"):
        colours.setdefault(kind.name, set()).add(kind.colour or "")
    several = {name for name, found in colours.items() if len(found) > 1}
    several |= {k.plural for k in kinds("train") if k.name in several}

    def figures(rows: list[int]) -> dict[str, float]:
        kind = asked[rows[0]].kind
        known = Counter(question.answer for question in learned if question.kind == kind)
        commonest = known.most_common(1)[0][0]
        return {
            "questions": len(rows),
            "accuracy": sum(right[i] for i in rows) / len(rows),
            "commonest": sum(asked[i].answer == commonest for i in rows) / len(rows),
            "chance": 1 / len(known),
        }

    found = {
        kind: figures([i for i, question in enumerate(asked) if question.kind == kind])
        for kind in QUESTION_KINDS
    }
    open_colours = [
        i
        for i, question in enumerate(asked)
        if question.kind == "what colour" and any(f" {name} " in question.text for name in several)
    ]
    numbers = {
        number: [
            right[i]
            for i, question in enumerate(asked)
            if question.kind == "how many" and question.answer == number
        ]
        for number in NUMBERS
    }
    return {
        "accuracy": sum(right) / len(right),
        "kinds": found,
        "open colours": figures(open_colours),
        "numbers": {number: sum(rows) / len(rows) for number, rows in numbers.items() if rows},
    }


@dataclass
class Scenes:
    """Pictures (N, 64, 64, 3); for each its questions, and the names of the things at the places of its
    grid, row by row, empty where there is no thing."""

    pictures: numpy.ndarray
    asked: list[list[data.Question]]
    grids: list[list[str]]


@cache
def scenes(split: str, count: int) -> Scenes:
    """The first scenes of a split, composed once."""
    found = Scenes(numpy.empty((count, 64, 64, 3), numpy.uint8), [], [])
    for number in range(count):
        scene = data.compose(number, split)
        found.pictures[number] = scene.image
        found.asked.append(data.questions(scene))
        found.grids.append(grid_of(scene))
    return found


def grid_of(scene: data.Scene) -> list[str]:
    """The name of the thing whose box holds the middle of each of the 8 x 8 places, row by row."""
    step = len(scene.image) / SIDE
    names = []
    for row in range(SIDE):
        for column in range(SIDE):
            x, y = (column + 0.5) * step, (row + 0.5) * step
            name = ""
            for thing in scene.things:  # the last one lies on top
                x0, y0, x1, y1 = thing.box
                if x0 <= x < x1 and y0 <= y < y1:
                    name = thing.name
            names.append(name)
    return names


def encode(question: data.Question, source: Vocabulary, target: Vocabulary) -> EncodedQuestion:
    """A question as ids, <sos> first, with the id of its answer."""
    ids = (SOS, *source.encode(question.text.split(), eos=False))
    return EncodedQuestion(ids, target.id(question.answer), question.kind)


@dataclass
class PictureAnswer:
    """A model's answer to a question about a picture.

    Attributes:
        text: the likeliest answer.
        best: the likeliest answers with their probabilities, best first.
        words: what the model read, <sos> first.
        at_words: how the picture's places look at the words, (L, H, N, T).
        at_places: how the words look at the picture's places, (L, H, T, N).
    """

    text: str
    best: list[tuple[str, float]]
    words: list[str]
    at_words: Tensor
    at_places: Tensor


def answer(system: System, picture: numpy.ndarray, question: str, count: int = 5) -> PictureAnswer:
    """Ask a trained model.

    Args:
        system: of a recipe of this task.
        picture: (64, 64, 3), 0 to 255.
        question: worded as by ``data.questions``; case and a space before the question mark do not
            matter.
        count: how many answers to give with their probabilities.

    Raises:
        CourseError: if the model does not know a word of the question.
    """
    words = question.lower().replace("?", " ?").split()
    words += ["?"] * (words[-1:] != ["?"])
    ids = [SOS, *system.source.encode(words, eos=False)]
    if UNK in ids:
        raise CourseError(
            f"The model does not know the word {words[ids.index(UNK) - 1]!r}. It was asked: how many "
            f"... are there? what colour is the ...? what is left of / right of / above / below the ...?"
        )
    images = data.to_tensor(numpy.asarray(picture)[None]).to(system.device)
    tokens = torch.tensor([ids], device=system.device)
    lengths = torch.tensor([len(ids)], device=system.device)
    with torch.inference_mode():
        chances = system.model(images, tokens, lengths).answers[0].float().softmax(-1).cpu()
        maps = tuple(part[0].cpu() for part in system.model.maps(images, tokens, lengths))
    top = chances.topk(count)
    best = [
        (system.target.tokens[i], share)
        for i, share in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]
    return PictureAnswer(best[0][0], best, [SPECIALS[SOS], *words], *maps)
