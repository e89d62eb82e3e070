"""What recipes train for: data, loss, and what is measured."""

from __future__ import annotations

from seqcourse.errors import CourseError
from seqcourse.zoo.recipes import Recipe
from seqcourse.zoo.system import Task
from seqcourse.zoo.tasks.captions import Caption, CaptionTask
from seqcourse.zoo.tasks.clothes import ClothesTask
from seqcourse.zoo.tasks.compared import ComparedTask
from seqcourse.zoo.tasks.familiar import FamiliarTask
from seqcourse.zoo.tasks.language import CharacterTask, SubwordTask, WordTask
from seqcourse.zoo.tasks.masked import MaskedTask
from seqcourse.zoo.tasks.paired import ScenePairTask
from seqcourse.zoo.tasks.pairs import PronunciationTask, SubwordTranslationTask, TranslationTask, lower
from seqcourse.zoo.tasks.photographs import PhotographTask, on_photographs
from seqcourse.zoo.tasks.questions import QuestionTask
from seqcourse.zoo.tasks.repeats import RepeatsTask
from seqcourse.zoo.tasks.speech import SpeechTask, Spelling
from seqcourse.zoo.tasks.sums import SumsTask

__all__ = ["TASKS", "Caption", "Spelling", "Task", "lower", "on_photographs", "task_of"]

TASKS: dict[str, type[Task]] = {
    "translation": TranslationTask,
    "subword translation": SubwordTranslationTask,
    "pronunciation": PronunciationTask,
    "characters": CharacterTask,
    "words": WordTask,
    "subwords": SubwordTask,
    "masked": MaskedTask,
    "speech": SpeechTask,
    "captions": CaptionTask,
    "photographs": PhotographTask,
    "familiar photographs": FamiliarTask,
    "clothes": ClothesTask,
    "questions": QuestionTask,
    "compared questions": ComparedTask,
    "pairs of scenes": ScenePairTask,
    "repeats": RepeatsTask,
    "sums": SumsTask,
}


def task_of(recipe: Recipe) -> Task:
    """The task that a recipe names.

    Raises:
        CourseError: if there is no such task.
    """
    if recipe.task not in TASKS:
        raise CourseError(f"A task should be one of {', '.join(TASKS)}, not {recipe.task!r}.")
    return TASKS[recipe.task](recipe)
