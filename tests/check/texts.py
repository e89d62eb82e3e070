"""What the tests of single assignments share: their texts, and numbers as tensors."""

from pathlib import Path

import nbformat
import torch

ROOT = Path(__file__).resolve().parents[2]


def path_of(assignment: str) -> Path:
    return ROOT / "solutions" / assignment / f"{assignment}.ipynb"


def texts(assignment: str) -> dict[str, str]:
    """The sources of an assignment's cells, by their ids."""
    return {cell.id: cell.source for cell in nbformat.read(path_of(assignment), as_version=4).cells}


def tensor(values: object) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)
