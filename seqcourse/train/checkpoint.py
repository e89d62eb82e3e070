"""Checkpoints of a training run: written whole or not at all, and enough to go on exactly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from seqcourse.errors import CourseError

PARTS = {
    "best",  # weights of the epoch that was best on the validation split, or None
    "config",
    "first_epoch",  # steps of the first epoch
    "history",
    "model",
    "optimizer",
    "position",  # epoch, step, step within the epoch
    "random",
    "scaler",  # of the loss, in 16 bits of the kind fp16, else None
    "sums",  # loss and seconds of the epoch so far
}


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint beside its final place and move it there, so that a kill leaves the old one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        torch.save(content, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint; only plain data and tensors are accepted, never code.

    Raises:
        CourseError: if the file is missing or no checkpoint of ours.
    """
    path = Path(path)
    if not path.is_file():
        raise CourseError(f"There is no checkpoint at {path}. Train without resuming to make one.")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise CourseError(
            f"{path} should be a checkpoint, but it cannot be read ({type(error).__name__}). "
            f"Delete it and train again."
        ) from error
    if not isinstance(content, dict) or not PARTS <= content.keys():
        raise CourseError(
            f"{path} should be a checkpoint of a training run, but it holds none, or one of another "
            f"version of the course. Delete it and train again."
        )
    return content


def random_state() -> dict[str, Any]:
    """The state of PyTorch's generators, on every device."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda}


def set_random_state(state: dict[str, Any]) -> None:
    """Put the generators back to :func:`random_state`, those of the GPUs as far as there are any."""
    torch.set_rng_state(state["cpu"])
    for index in range(min(len(state["cuda"]), torch.cuda.device_count())):
        torch.cuda.set_rng_state(state["cuda"][index], index)
