"""The course's own models: lines to beat, and checkpoints that must not come back as a student's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from seqcourse import zoo
from seqcourse.capstone.split import Split
from seqcourse.capstone.system import FINAL, PUBLIC, measured
from seqcourse.check.grade import checkpoint, curve
from seqcourse.errors import CourseError
from seqcourse.zoo.storage import SCALE, dequantize

LINES = {
    curve.TRANSLATOR: ("en-es-fixed", "en-es-attention", "en-es-transformer"),
    curve.CAPTIONER: ("captions-fixed", "captions-soft", "captions-transformer"),
}
MUCH = 0.5  # of a checkpoint's numbers
# Of a system's mistakes: two of the course's models, trained apart on the same pairs, share up to 0.49.
SAME = 0.8


@cache
def sketches(reference: Path | None = None) -> dict[str, checkpoint.Sketch]:
    """Sketches of the course's models by name, and of the reference's checkpoint."""
    found = {}
    for name in (name for names in LINES.values() for name in names):
        state = zoo.storage.read_weights(zoo.FILES / name)
        found[name] = checkpoint.sketch({key: each.numpy() for key, each in state.items()})
    if reference is not None and reference.is_file():
        own = checkpoint.read_checkpoint(reference).tensors
        found["the reference solution"] = checkpoint.sketch(own) + _unpacked(own)
    return found


def _unpacked(tensors: dict) -> checkpoint.Sketch:
    """The sketch of tensors in 6 bits as the model has them."""
    from torch import from_numpy

    if not any(name.endswith(SCALE) for name in tensors):
        return []
    state = dequantize({name: from_numpy(each.copy()) for name, each in tensors.items()})
    return checkpoint.sketch({name: each.numpy() for name, each in state.items()})


def taken(own: checkpoint.Sketch, reference: Path | None = None) -> list[str]:
    """Whose numbers a student's checkpoint has, in sentences for an instructor."""
    shares = {name: checkpoint.share_taken(own, known) for name, known in sketches(reference).items()}
    return [
        f"{share:.0%} of the checkpoint's numbers are those of {name}, perhaps in another order."
        for name, share in shares.items()
        if share >= MUCH
    ]


class MeasuredModel:
    """A model of the course on the hidden split: its texts, measures by half, size and seconds."""

    def __init__(self, name: str, task: str, made: Split) -> None:
        system = zoo.load(name)
        began = time.monotonic()
        if task == curve.TRANSLATOR:
            outputs = system.translate([english for english, _ in made.sentences])
            maps = [None] * len(outputs)
        else:
            outputs = system.caption([scene.image for scene in made.scenes])
            maps = [each.maps for each in outputs]
        self.name = name
        self.seconds = time.monotonic() - began
        self.texts = [each.text for each in outputs]
        self.halves = {half: measured(task, self.texts, maps, made, half) for half in (PUBLIC, FINAL)}
        self.parameters = sum(each.numel() for each in system.model.parameters())


def lines(task: str, made: Split) -> list[MeasuredModel]:
    """Every model of the course for a task."""
    if task not in LINES:
        raise CourseError(f"A task should be one of {', '.join(LINES)}, but is {task!r}.")
    return [MeasuredModel(name, task, made) for name in LINES[task]]


def same_mistakes(task: str, texts: Sequence[str], others: Sequence[str], made: Split) -> float:
    """The share of a system's mistakes that another makes word for word: right answers are alike."""
    if task == curve.TRANSLATOR:
        right = [references for _, references in made.sentences]
    else:
        right = [scene.references for scene in made.scenes]
    wrong = [
        (one.lower(), other.lower())
        for one, other, known in zip(texts, others, right, strict=True)
        if one and one.lower() not in {text.lower() for text in known}
    ]
    return sum(one == other for one, other in wrong) / len(wrong) if len(wrong) >= 10 else 0.0
