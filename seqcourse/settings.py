"""Choices that hold for a whole run: the seed, the device, the budget, static pages."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from seqcourse.errors import CourseError

if TYPE_CHECKING:
    import torch

DEVICE_VARIABLE = "SEQCOURSE_DEVICE"
BUDGET_VARIABLE = "SEQCOURSE_BUDGET"
STATIC_VARIABLE = "SEQCOURSE_STATIC"
# Kinds of accelerators: NVIDIA's and AMD's, Intel's, Apple's.
ACCELERATORS = ("cuda", "xpu", "mps")


def seed_everything(seed: int = 0) -> None:
    """Seed Python's, NumPy's and PyTorch's generators (all devices) with one number."""
    import numpy
    import torch

    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def device() -> torch.device:
    """The device that computes: an NVIDIA or AMD GPU where there is one, otherwise the CPU.

    The environment variable SEQCOURSE_DEVICE ("cpu", "cuda", "cuda:1", "mps", "xpu", or what another
    package has added to PyTorch) overrides the choice.

    Raises:
        CourseError: if the variable names no such device, or one that this machine does not have.
    """
    import torch

    wanted = os.environ.get(DEVICE_VARIABLE, "")
    if not wanted:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    unknown = CourseError(
        f"{DEVICE_VARIABLE} should be 'cpu', 'cuda', 'mps', 'xpu' or, say, 'cuda:1', but is {wanted!r}."
    )
    try:
        chosen = torch.device(wanted)
    except RuntimeError as error:
        raise unknown from error
    if chosen.type == "cpu":
        return chosen
    known = torch.accelerator.is_available()  # PyTorch 2.6 fails where there is none
    added = torch.accelerator.current_accelerator() if known else None
    if chosen.type not in ACCELERATORS and (added is None or chosen.type != added.type):
        raise unknown
    count = torch.get_device_module(chosen.type).device_count()
    if not count:
        raise CourseError(
            f"{DEVICE_VARIABLE} asks for {wanted!r}, but PyTorch sees no such device here. "
            f"Unset it, or set it to 'cpu'."
        )
    if (chosen.index or 0) >= count:
        raise CourseError(
            f"{DEVICE_VARIABLE} asks for {wanted!r}, but the last such device here is "
            f"'{chosen.type}:{count - 1}'."
        )
    return chosen


def budget() -> str:
    """How long a recipe in a notebook may run: "quick" (the default) or "full".

    Set SEQCOURSE_BUDGET=full to run the long recipes instead of loading their checkpoints.

    Raises:
        CourseError: if the variable is neither.
    """
    value = os.environ.get(BUDGET_VARIABLE, "quick")
    if value not in ("quick", "full"):
        raise CourseError(f"{BUDGET_VARIABLE} should be 'quick' or 'full', but it is {value!r}.")
    return value


def is_static() -> bool:
    """True while the book is being built: pages have no kernel behind them."""
    return os.environ.get(STATIC_VARIABLE, "") not in ("", "0")
