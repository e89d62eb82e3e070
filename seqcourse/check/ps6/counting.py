"""Exercise 3: how many parameters a Transformer has, by formula."""

from __future__ import annotations

from typing import Any

from seqcourse.check.exercise import Exercise


def block_arguments(seed: int = 0, cross: bool = False, **size: int) -> dict[str, Any]:
    """Arguments of `block_parameters`; the seed makes the sizes a little larger."""
    return {"width": size["width"] + seed % 47, "hidden": size["hidden"] + seed % 101, "cross": cross}


def reference_block_parameters(width: int, hidden: int, cross: bool) -> int:
    """The parameters of a block: attention (twice with `cross`), MLP, a norm for each sublayer."""
    attention, mlp = 4 * (width * width + width), 2 * width * hidden + hidden + width
    return (1 + cross) * attention + mlp + (2 + cross) * 2 * width


block_parameters = Exercise(
    "block_parameters",
    make=block_arguments,
    reference=reference_block_parameters,
    cases={
        "a block with cross-attention": dict(width=6, hidden=10, cross=True),
        "a block of the encoder": dict(width=6, hidden=10),
        "a block of the encoder and other sizes": dict(width=2, hidden=3),
        "a block with cross-attention and other sizes": dict(width=5, hidden=7, cross=True),
    },
    forbid=("parameters", "named_parameters", "numel", "Block"),
    tolerance=0.0,
    because="A count is a whole number.",
)


def transformer_arguments(
    seed: int = 0, order: str = "pre", alike: bool = False, **size: int
) -> dict[str, Any]:
    """Arguments of `transformer_parameters`; the seed makes the sizes a little larger.

    alike: whether both vocabularies have the size of the source's.
    """
    width = size["width"] + seed % 7
    source = size["source"] + seed % 13
    return {
        "encoder_block": 8 * width * width + 3 + seed % 101,
        "decoder_block": 12 * width * width + 7 + seed % 103,
        "source": source,
        "target": source if alike else size["target"] + seed % 17,
        "width": width,
        "layers": size["layers"],
        "order": order,
    }


def reference_transformer_parameters(
    encoder_block: int, decoder_block: int, source: int, target: int, width: int, layers: int, order: str
) -> int:
    """All parameters of a Transformer, from those of its blocks."""
    tables = (source + target) * width + target
    last = 2 * 2 * width if order == "pre" else 0
    return tables + layers * (encoder_block + decoder_block) + last


_SMALL = dict(encoder_block=49, decoder_block=77, source=10, target=7, width=2, layers=1)
_LARGE = dict(encoder_block=100, decoder_block=170, source=13, target=11, width=6)
transformer_parameters = Exercise(
    "transformer_parameters",
    make=transformer_arguments,
    reference=reference_transformer_parameters,
    cases={
        "the first example": lambda: dict(**_SMALL, order="post"),
        "other sizes": lambda: dict(**_LARGE, layers=3, order="post"),
        "the order pre": lambda: dict(**_SMALL, order="pre"),
        "the order pre and several layers": lambda: dict(**_LARGE, layers=4, order="pre"),
        "vocabularies of one size": lambda: dict(**{**_LARGE, "target": 13}, layers=2, order="post"),
    },
    forbid=("parameters", "named_parameters", "numel", "Transformer"),
    tolerance=0.0,
    because="A count is a whole number.",
)
