"""Checkpoints on disk: weights in 8 bits per number, vocabularies and figures as JSON.

A matrix is stored as whole numbers from -127 to 127 and one scale per row, a quarter of its size in 32
bits. All published figures are measured with the weights read back from the file, so they hold
for what a reader loads.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqcourse.data.readers import write_beside
from seqcourse.errors import CourseError

FILES = Path(__file__).parent / "files"
SCALE = ".row_scale"


def quantize(state: dict[str, Tensor]) -> dict[str, Tensor]:
    r"""Matrices W to whole numbers and row scales, :math:`W_{ij} \approx s_i q_{ij}`, with
    :math:`s_i = \max_j |W_{ij}| / 127`; everything else stays as it is, in 32 bits."""
    stored = {}
    for name, tensor in state.items():
        tensor = tensor.detach().cpu().float()
        if tensor.dim() != 2:
            stored[name] = tensor.contiguous()
            continue
        scale = tensor.abs().amax(1).clamp_min(1e-12) / 127  # (rows,)
        stored[name] = (tensor / scale[:, None]).round().to(torch.int8)
        stored[name + SCALE] = scale
    return stored


def dequantize(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """The other way round: a state dict in 32 bits."""
    return {
        name: tensor.float() * stored[name + SCALE][:, None] if name + SCALE in stored else tensor
        for name, tensor in stored.items()
        if not name.endswith(SCALE)
    }


def write_weights(folder: Path, state: dict[str, Tensor]) -> None:
    """Write ``weights.safetensors`` into a folder, whole or not at all."""
    from safetensors.torch import save

    write_beside(folder / "weights.safetensors", save(quantize(state)))


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read what :func:`write_weights` wrote.

    Raises:
        CourseError: if the file is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / "weights.safetensors"
    if not path.is_file():
        raise CourseError(
            f"There is no checkpoint at {path}. "
            f"Make it with: seqcourse train {folder.name} --out {folder}"
        )
    try:
        return dequantize(load_file(path))
    except SafetensorError as error:
        raise CourseError(
            f"{path} should be a checkpoint in the safetensors format, but it cannot be read. "
            f"Make it again with: seqcourse train {folder.name} --out {folder}"
        ) from error


def write_json(path: Path, content: Any) -> None:
    """Write JSON, whole or not at all."""
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    write_beside(path, text.encode())


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        CourseError: if the file is missing or holds no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CourseError(f"There is no file {path}.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} should hold JSON, but it cannot be read: {error}.") from error
