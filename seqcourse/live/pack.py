"""A checkpoint of the zoo as scripts that a page can load from anywhere, and a folder on disk, too.

A weight of 6 bits is one character, so a script is about as long as the checkpoint has parameters and
packs to nearly the size of its file. Numbers in 32 bits are base64.
"""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

from seqcourse.errors import CourseError

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# The models of runtime/models.js, and what system.js reads and writes.
MODELS = ("AttentionSeq2Seq", "CharLM", "EncoderDecoder", "GPT", "Transformer")
TASKS = ("characters", "translation")
PIECES = 8  # scripts of a model, so that a bar can show how much has arrived; runtime/start.js knows


def scripts(name: str) -> list[str]:
    """The scripts of a checkpoint, of which the first holds the header.

    Args:
        name: as in ``zoo.load``.

    Raises:
        CourseError: the runtime has no such model, or the checkpoint cannot be read.
    """
    from seqcourse import data, zoo
    from seqcourse.zoo import storage

    recipe = zoo.recipe(name)
    if recipe.model not in MODELS or recipe.task not in TASKS:
        raise CourseError(
            f"{name} cannot run in a page yet: translators of words and models of characters can."
        )
    tensors, text = packed(storage.FILES / name)
    source, target = (
        data.load_vocabulary(storage.FILES / name / side).tokens[4:]
        for side in (storage.SOURCE, storage.TARGET)
    )
    header = {
        "model": recipe.model,
        "sizes": recipe.sizes,
        "language": recipe.data[-2:],
        "source": source,
        "target": target,
        "tensors": tensors,
    }
    long = math.ceil(len(text) / PIECES)
    heads = [json.dumps(header, ensure_ascii=False, separators=(",", ":")), *["null"] * (PIECES - 1)]
    return [
        f'seqlive.model("{name}",{k},{head},"{text[k * long : (k + 1) * long]}");\n'
        for k, head in enumerate(heads)
    ]


def packed(folder: Path) -> tuple[dict[str, dict[str, Any]], str]:
    """A checkpoint's weights as one text, and where each tensor stands in it.

    An entry has the tensor's shape, ``at`` and ``length`` in characters; for weights of 6 bits also
    ``scales``, [at, length] of one scale per row.
    """
    from safetensors.torch import load_file

    from seqcourse.zoo import storage

    stored = load_file(folder / "weights.safetensors")
    entries: dict[str, dict[str, Any]] = {}
    parts: list[str] = []
    size = 0

    def put(text: str) -> list[int]:
        nonlocal size
        parts.append(text)
        size += len(text)
        return [size - len(text), len(text)]

    for name, tensor in stored.items():
        if name.endswith((storage.SCALE, storage.SHAPE)):
            continue
        if name + storage.SCALE not in stored:
            at, length = put(_floats(tensor))
            entries[name] = {"shape": list(tensor.shape), "at": at, "length": length}
            continue
        shape = stored[name + storage.SHAPE].tolist()
        whole = storage.unpack(tensor)[: math.prod(shape)].tolist()
        at, length = put("".join(ALPHABET[number] for number in whole))
        scales = put(_floats(stored[name + storage.SCALE]))
        entries[name] = {"shape": shape, "at": at, "length": length, "scales": scales}
    return entries, "".join(parts)


def _floats(tensor: Any) -> str:
    return base64.b64encode(tensor.flatten().float().numpy().astype("<f4").tobytes()).decode()


def size_of(name: str) -> int:
    """About how many bytes a reader loads for a model: the size of its checkpoint."""
    from seqcourse.zoo import storage

    return (storage.FILES / name / "weights.safetensors").stat().st_size
