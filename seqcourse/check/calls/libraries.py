"""Which files are a library's: the standard library, installed packages, this package."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import torch

_PATHS = sysconfig.get_paths()
# PyTorch may lie elsewhere than other packages, in a user's folder for example.
INSTALLED = tuple(
    f"{folder}/"
    for folder in {_PATHS["purelib"], _PATHS["platlib"], str(Path(torch.__file__).parents[1])}
)
STANDARD = f"{_PATHS['stdlib']}/"
PACKAGE = f"{Path(__file__).parents[2]}/"
# Beside it. The grader's module is not asked where it lies: a notebook can change what it says.
GRADER = f"{Path(__file__).parents[3] / 'cellgrader'}/"
LIBRARIES = (STANDARD, PACKAGE, GRADER, *INSTALLED)
