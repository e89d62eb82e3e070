"""From the files of a checkpoint to a system."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from seqcourse import models
from seqcourse.data import Vocabulary, load_vocabulary
from seqcourse.errors import CourseError
from seqcourse.settings import device
from seqcourse.zoo.storage import SOURCE, TARGET, read_json, read_weights
from seqcourse.zoo.system import System, Task


def build(task: Task, source: Vocabulary, target: Vocabulary) -> nn.Module:
    """The model of a task's recipe, freshly initialised, for these vocabularies."""
    make = getattr(models, task.recipe.model)
    sizes = (len(source), len(target))[2 - task.vocabulary_sizes :]
    return make(*sizes, **task.recipe.sizes)


def load(task: Task, folder: Path) -> System:
    """What lies in a folder, on the course's device, in evaluation mode.

    Raises:
        CourseError: if the files are missing, damaged or of another recipe.
    """
    name, state = task.recipe.name, read_weights(folder)
    source = load_vocabulary(folder / SOURCE)
    target = load_vocabulary(folder / TARGET)
    model = build(task, source, target)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise CourseError(
            f"The files in {folder} do not belong to the recipe {name!r}: weights and vocabularies do "
            f"not fit its model. Make them again with: seqcourse train {name} --out {folder}"
        ) from error
    model.to(device()).eval()
    path = folder / "figures.json"
    return System(task, model, source, target, read_json(path) if path.is_file() else {})
