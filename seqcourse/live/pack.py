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
from seqcourse.tokens import SPECIALS

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# The models of the runtime.
MODELS = (
    "AttentionSeq2Seq", "BERT", "CharLM", "EncoderDecoder", "GPT", "HardCaptioner", "ScenePair",
    "SoftCaptioner", "Speller", "Transformer", "TransformerCaptioner", "TwoStream", "ViT",
)  # fmt: skip
# What a task reads and writes: a kind of vocabulary in runtime/system.js.
KINDS = {
    "captions": "scenes",
    "characters": "characters",
    "clothes": "pictures",
    "masked": "words",
    "pairs of scenes": "scenes",
    "pronunciation": "letters",
    "questions": "scenes",
    "repeats": "characters",
    "speech": "sounds",
    "subword translation": "subwords",
    "subwords": "subwords",
    "translation": "words",
}
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
    if recipe.model not in MODELS or recipe.task not in KINDS:
        raise CourseError(f"{name} cannot run in a page: the runtime has {', '.join(MODELS)}.")
    tensors, text = packed(storage.FILES / name)
    source, target = (
        data.load_vocabulary(storage.FILES / name / side) for side in (storage.SOURCE, storage.TARGET)
    )
    header = {
        "model": recipe.model,
        "sizes": recipe.sizes,
        "kind": KINDS[recipe.task],
        "language": recipe.data[-2:],
        "source": source.tokens[len(SPECIALS) :],
        "target": None if source == target else target.tokens[len(SPECIALS) :],
        "tensors": tensors,
    }
    if header["kind"] == "subwords":
        header["merges"] = source.merges
    if header["kind"] == "sounds":
        from seqcourse.live.recordings import recordings

        header["recordings"] = recordings()
    long = math.ceil(len(text) / PIECES)
    heads = [json.dumps(header, ensure_ascii=False, separators=(",", ":")), *["null"] * (PIECES - 1)]
    return [
        f'seqlive.model("{name}",{k},{head},"{text[k * long : (k + 1) * long]}");\n'
        for k, head in enumerate(heads)
    ]


def looks_at_scenes(name: str) -> bool:
    """Whether a model's live figures need the course's things and grounds."""
    from seqcourse import zoo

    return KINDS.get(zoo.recipe(name).task) == "scenes"


def packed(folder: Path) -> tuple[dict[str, dict[str, Any]], str]:
    """A checkpoint's weights as one text, and where each tensor stands in it.

    An entry has the tensor's shape, ``at`` and ``length`` in characters; for weights of 6 bits also
    ``scales``, [at, length] of one scale per row.
    """
    from safetensors.torch import load_file

    from seqcourse.zoo import storage

    stored = folded(load_file(folder / "weights.safetensors"))
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


def folded(stored: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint in which each batch normalisation has become a part of the convolution before it.

    In evaluation it multiplies each channel by a number and adds another: the scale of a row of 6-bit
    weights, and a bias. The weights of a row are ordered as the page reads a picture: place by place of
    the 3 x 3, and at each place all channels.
    """
    import torch

    from seqcourse.zoo import storage

    found = dict(stored)
    for name in stored:
        norm, _, what = name.rpartition(".")
        if what != "running_mean":
            continue
        parts = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
        gain, shift, mean, variance, _ = (found.pop(f"{norm}.{part}") for part in parts)
        gain = gain / (variance + torch.nn.BatchNorm2d(1).eps).sqrt()
        before, _, number = norm.rpartition(".")
        convolution = f"{before}.{int(number) - 1}"
        weight = f"{convolution}.weight"
        shape = stored[weight + storage.SHAPE].tolist()
        whole = storage.unpack(stored[weight])[: math.prod(shape)].view(shape)
        rows = whole.permute(0, 2, 3, 1).flatten(1)  # (out, 9 in)
        found[weight] = storage.pack(rows)
        found[weight + storage.SHAPE] = torch.tensor(rows.shape)
        found[weight + storage.SCALE] = stored[weight + storage.SCALE] * gain
        found[f"{convolution}.bias"] = shift - mean * gain
    return found


def _floats(tensor: Any) -> str:
    return base64.b64encode(tensor.flatten().float().numpy().astype("<f4").tobytes()).decode()


def size_of(name: str, besides: float = 0) -> str:
    """About how much a reader loads for a model: the size of its checkpoint, and some bytes besides."""
    from seqcourse.zoo import storage

    count = (storage.FILES / name / "weights.safetensors").stat().st_size + besides
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.0f} kB"
