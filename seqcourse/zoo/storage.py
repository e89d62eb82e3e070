"""Checkpoints on disk: weights in 6 bits per number, vocabularies and figures as JSON.

A matrix, or a convolution's filters, is stored as whole numbers from -31 to 31 and one scale per row,
less than a fifth of its size in 32 bits. All published figures are measured with the weights read
back from the file, so they hold for the file that a reader loads.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqcourse.data.readers import write_beside
from seqcourse.errors import CourseError

FILES = Path(__file__).parent / "files"
SOURCE, TARGET = "source.json.gz", "target.json.gz"
LARGEST = 31  # of a whole number: with its sign, 6 bits
SCALE, SHAPE = ".row_scale", ".shape"


def quantize(state: dict[str, Tensor]) -> dict[str, Tensor]:
    r"""Weights W to whole numbers and row scales, :math:`W_{ij} \approx s_i q_{ij}`, with
    :math:`s_i = \max_j |W_{ij}| / 31`.

    The first axis counts the rows, all others together the columns. Vectors and single numbers stay as
    they are, in 32 bits.
    """
    stored = {}
    for name, tensor in state.items():
        tensor = tensor.detach().cpu().float()
        if tensor.dim() < 2:
            stored[name] = tensor.contiguous()
            continue
        rows = tensor.flatten(1)  # (rows, columns)
        scale = rows.abs().amax(1).clamp_min(1e-12) / LARGEST  # (rows,)
        stored[name] = pack((rows / scale[:, None]).round().int() + LARGEST)
        stored[name + SCALE] = scale
        stored[name + SHAPE] = torch.tensor(tensor.shape)
    return stored


def dequantize(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inverse of :func:`quantize`: a state dict in 32 bits."""
    state = {}
    for name, tensor in stored.items():
        if name.endswith((SCALE, SHAPE)):
            continue
        if name + SCALE in stored:
            scale, shape = stored[name + SCALE], stored[name + SHAPE].tolist()
            whole = unpack(tensor)[: math.prod(shape)].float() - LARGEST
            tensor = (whole.view(len(scale), -1) * scale[:, None]).view(shape)
        state[name] = tensor
    return state


def pack(numbers: Tensor) -> Tensor:
    """Whole numbers from 0 to 63, of any shape, to bytes: four of them in three, (3, n / 4)."""
    flat = numbers.flatten()
    a, b, c, d = torch.nn.functional.pad(flat, (0, -len(flat) % 4)).view(-1, 4).unbind(1)
    word = a | b << 6 | c << 12 | d << 18  # 24 bits
    return torch.stack([word & 255, word >> 8 & 255, word >> 16]).to(torch.uint8)


def unpack(stored: Tensor) -> Tensor:
    """The inverse of :func:`pack`: bytes (3, n / 4) to n numbers; the last ones may be padding."""
    low, middle, high = stored.int()
    word = low | middle << 8 | high << 16
    return torch.stack([word >> shift & 63 for shift in (0, 6, 12, 18)], 1).flatten()


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
            f"Make it with: seqcourse train {_recipe_of(folder)} --out {folder}"
        )
    try:
        return dequantize(load_file(path))
    except SafetensorError as error:
        raise CourseError(
            f"{path} should be a checkpoint in the safetensors format, but it cannot be read. "
            f"Make it again with: seqcourse train {_recipe_of(folder)} --out {folder}"
        ) from error


def _recipe_of(folder: Path) -> str:
    """The recipe after which a folder is named, as it stands in a command."""
    return folder.name if (FILES / folder.name).is_dir() else "RECIPE"


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
