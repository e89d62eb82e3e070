"""The zoo: trained checkpoints, each made by a recipe, each with its measured figures.

::

    system = zoo.load("en-es-attention")
    system.translate(["we are eating bread"])[0].text
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from seqcourse.data import Vocabulary
from seqcourse.errors import CourseError
from seqcourse.settings import seed_everything
from seqcourse.train import History, Trainer
from seqcourse.zoo import loading
from seqcourse.zoo.interpreting import SUBWORDS, WORDS, Interpreter
from seqcourse.zoo.recipes import RECIPES, Recipe, names, recipe
from seqcourse.zoo.storage import (
    FILES,
    SOURCE,
    TARGET,
    read_json,
    write_json,
    write_weights,
)
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks import on_photographs, task_of
from seqcourse.zoo.translation import Translation

__all__ = [
    "FILES",
    "Interpreter",
    "RECIPES",
    "Recipe",
    "System",
    "Translation",
    "build_model",
    "figures",
    "interpreter",
    "load",
    "measure",
    "names",
    "recipe",
    "study",
    "task_of",
    "train",
]


def build_model(recipe: Recipe, source: Vocabulary, target: Vocabulary) -> nn.Module:
    """The recipe's model, freshly initialised, for these vocabularies."""
    return loading.build(task_of(recipe), source, target)


def load(name: str, folder: Path | None = None) -> System:
    """Load a trained checkpoint, on the course's device, in evaluation mode.

    Args:
        name: a recipe's name, see :func:`names`.
        folder: of its files; by default among the files of the package.

    Raises:
        CourseError: if the name is unknown, or the files are missing, damaged or of another recipe.
    """
    return loading.load(task_of(recipe(name)), Path(folder) if folder is not None else FILES / name)


def interpreter() -> Interpreter:
    """English to Spanish by the model that knows the sentence, see :class:`Interpreter`."""
    return Interpreter(load(WORDS), load(SUBWORDS))


def figures(name: str) -> dict[str, Any]:
    """What was measured on held-out data when the checkpoint was made."""
    return read_json(FILES / recipe(name).name / "figures.json")


def train(
    name: str,
    out: Path | None = None,
    resume: bool = False,
    max_steps: int | None = None,
    photographs: Path | str | None = None,
) -> System:
    """Follow a recipe: train, store, load back, measure.

    The run's own checkpoint (to resume from) is in ``out/run``. At the end the files of the zoo are
    written into ``out``, each whole or not at all. If there are several processes, the first one
    writes, measures and reports.

    Args:
        name: a recipe's name.
        out: folder of the result; by default among the files of the package.
        resume: continue an interrupted run.
        max_steps: stop early, for a trial.
        photographs: for a captioner: train on the COCO or Flickr8k of this folder instead of composed
            scenes. ``out`` has to be given then, and ``load(name, out)`` loads the result.

    Raises:
        CourseError: if the name is unknown, the photographs are missing or given without ``out``, the
            loss is no longer a number, or the run to resume has another recipe.
    """
    made = recipe(name)
    if photographs is not None:
        made = on_photographs(made, photographs)
        if out is None:
            raise CourseError(
                f"A captioner of your own photographs should not replace the course's {name}: say where "
                f"it should go, out=FOLDER."
            )
    out = Path(out) if out is not None else FILES / name
    task = task_of(made)
    seed_everything(made.seed)
    source, target = task.vocabularies()
    model = build_model(made, source, target)
    training = replace(made.training, max_steps=max_steps)
    trainer = Trainer(model, task.loss(), training, folder=out / "run")
    going_on = resume and trainer.checkpoint.is_file()
    if not going_on:
        task.prepare(model, source, target, short=max_steps)
    notes = out / "run" / "watched.json"
    watched = read_json(notes) if going_on and notes.is_file() else []
    history = trainer.fit(
        task.batches(source, target),
        validate=task.validate(source, target),
        resume=resume,
        on_epoch=partial(_after_epoch, task, watched, notes),
    )
    if trainer.accelerator.is_main_process:
        write_weights(out, model.state_dict())
        source.save(out / SOURCE)
        target.save(out / TARGET)
        seen = {"watched": watched} if watched else {}
        write_json(out / "figures.json", _record(made, model, history) | seen)
        measure(name, out, task, studies=max_steps is None)
    trainer.accelerator.wait_for_everyone()
    return load(name, out)


def _record(made: Recipe, model: nn.Module, history: History) -> dict[str, Any]:
    return {
        "recipe": asdict(made),
        "parameters": sum(p.numel() for p in model.parameters()),
        "epochs": len(history.epoch_losses),
        "train_loss": history.epoch_losses,
        "valid_loss": history.valid,
        "training_seconds": history.total_seconds,
    }


def measure(
    name: str, folder: Path | None = None, task: Task | None = None, studies: bool = True
) -> System:
    """Measure a stored checkpoint on held-out data and keep the figures beside it.

    Args:
        name: a recipe's name.
        folder: of the checkpoint; by default among the files of the package.
        task: what to measure, if not the recipe's own task.
        studies: also train what the task's studies ask for, which may take minutes.
    """
    folder = Path(folder) if folder is not None else FILES / name
    system = load(name, folder)
    task = task or task_of(system.recipe)
    found = task.measure(system)
    if studies:
        asked = (each for each in task.studies if each in task.recipe.options)
        found |= {each: task.study(system, each) for each in asked}
    return _keep(system, task, folder, found)


def study(name: str, asked: str) -> System:
    """Do one study of a checkpoint again; its other figures stay."""
    system, task = load(name), task_of(recipe(name))
    found = {**system.figures["measured"], asked: task.study(system, asked)}
    return _keep(system, task, FILES / name, found)


def _keep(system: System, task: Task, folder: Path, found: dict[str, Any]) -> System:
    system.figures = {**system.figures, "measured": found}
    options, asked = system.figures["recipe"]["options"], task.recipe.options
    options.update({key: asked[key] for key in task.only_measured if key in asked})
    write_json(folder / "figures.json", system.figures)
    return system


def _after_epoch(task: Task, watched: list[Any], notes: Path, trainer: Trainer) -> None:
    """Report the epoch, and store what the task watches during training."""
    _report(trainer)
    seen = task.watch(trainer.model, trainer.epoch)
    if seen is None:
        return
    watched[:] = [known for known in watched if known["epoch"] != seen["epoch"]] + [seen]
    if trainer.accelerator.is_main_process:
        write_json(notes, watched)  # so a killed and resumed run still has them


def _report(trainer: Trainer) -> None:
    if not trainer.accelerator.is_main_process:
        return
    history = trainer.history
    print(
        f"epoch {trainer.epoch:3d}  loss {history.epoch_losses[-1]:.3f}  "
        f"valid {history.valid[-1]:.3f}  {history.seconds[-1]:.0f} s",
        flush=True,
    )
