"""A student's own system, out of the notebook and the checkpoint beside it; nothing is trained."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from seqcourse import own
from seqcourse.check.grade import checkpoint
from seqcourse.errors import CourseError

SAYS = {"translator": "translate", "captioner": "caption", "speller": "pronounce"}
SENTENCE = "model, source, lengths, target"
ARGUMENTS = {"translator": SENTENCE, "captioner": "model, picture, target", "speller": SENTENCE}


@dataclass(frozen=True)
class PublishedSystem:
    """What a page is made of.

    name: of the notebook's file, which errors name.
    task: "translator", "captioner", or "speller", which reads the letters of a word.
    space: the names that the notebook's own code defines, as far as the page needs them.
    model: what `load` gave, of the checkpoint.
    notes: the checkpoint's.
    file: the checkpoint's name.
    """

    name: str
    task: str
    space: Mapping[str, Any]
    model: Any
    notes: Mapping[str, str]
    file: str

    @property
    def is_quick(self) -> bool:
        """Whether the checkpoint is that of a quick training."""
        return self.file.endswith("-quick.safetensors")

    def say(self, inputs: Any) -> list[str]:
        """What the student's own function says of sentences, pictures or words.

        Raises:
            CourseError: it stops with an error, or does not give a text for each.
        """
        says = f"{SAYS[self.task]} of {self.name}"
        try:
            with torch.inference_mode():
                found = list(self.space[SAYS[self.task]](self.model, inputs))
            if self.task == "captioner":
                found = [text for text, _ in found]
            elif self.task == "speller":
                found = [" ".join(each) for each in found]
        except Exception as error:
            raise stopped(says, error) from error
        if len(found) != len(inputs) or not all(isinstance(text, str) for text in found):
            raise CourseError(f"{says} should give a text for each of {len(inputs)}, but does not.")
        return found


def own_system(notebook: Path) -> PublishedSystem:
    """Read a notebook's system with the checkpoint beside it: the long training's, or the quick one's.

    Only definitions run, those that the system's names need: no training, no figures.

    Raises:
        CourseError: there is no notebook or no checkpoint, a name is missing, or a definition stops with
            an error.
    """
    if not notebook.is_file():
        raise CourseError(f"{notebook} should be your notebook, but there is no such file.")
    texts = own.code_of(notebook)
    kept = own.with_needs(texts, "TASK", "load", "logits", "words", *SAYS.values())
    imports = {piece: None for key, piece in kept.items() if key.startswith("import:")}
    pieces = {piece: None for key, piece in kept.items() if not key.startswith("import:")}
    space = run("\n".join([*imports, "", *pieces]) + "\n", notebook.name)
    return of_space(space, notebook)


def of_space(space: Mapping[str, Any], notebook: Path) -> PublishedSystem:
    """The system of a notebook whose names are there.

    Raises:
        CourseError: a name is missing, or the checkpoint is not there or does not fit.
    """
    name, task = notebook.name, space.get("TASK")
    if task not in SAYS:
        raise CourseError(
            f'{name} should set TASK to "translator", "captioner" or "speller", but it is {task!r}.'
        )
    for wanted in ("load", SAYS[task], "logits", "words"):
        if not callable(space.get(wanted)):
            more = f"({ARGUMENTS[task]})" if wanted == "logits" else ""
            raise CourseError(
                f"{name} should define {wanted}{more}, but there is none that can be read. Its "
                f"text says under “Show it” what a page calls."
            )
    files = [notebook.with_name(f"{notebook.stem}{end}.safetensors") for end in ("", "-quick")]
    path = next((path for path in files if path.is_file()), files[0])
    found = checkpoint.read_checkpoint(path)
    tensors = {key: torch.tensor(values) for key, values in found.tensors.items()}
    try:
        model = space["load"](tensors, dict(found.notes))
    except Exception as error:
        raise stopped(f"load, on {path.name},", error) from error
    for part in modules_of(model):
        part.eval()
    return PublishedSystem(name, task, space, model, found.notes, path.name)


def modules_of(model: Any) -> list[nn.Module]:
    """The modules in what `load` gave: itself, or those in a tuple, a list, a dict or an object."""
    if isinstance(model, nn.Module):
        return [model]
    held = model if isinstance(model, tuple | list) else getattr(model, "__dict__", {}).values()
    held = model.values() if isinstance(model, Mapping) else held
    return [part for part in held if isinstance(part, nn.Module)]


def run(source: str, name: str) -> dict[str, Any]:
    """The names that a source defines. Errors show its lines under the notebook's name."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space: dict[str, Any] = {"__name__": "own"}
    try:
        exec(compile(source, name, "exec"), space)
    except Exception as error:
        raise stopped(f"The definitions of {name}", error) from error
    return space


def stopped(what: str, error: Exception) -> CourseError:
    """The sentence for an error in a student's code."""
    more = ""
    if isinstance(error, NameError):
        more = (
            " (`seqcourse publish` takes imports, functions, classes and plain assignments out of a "
            "notebook, of each name the last one; nothing that stands in an if or a loop)"
        )
    return CourseError(f"{what} stopped with {type(error).__name__}: {error}{more}")
