"""Exercise 3: how many parameters a Transformer has, by formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqcourse.check.exercise import Exercise, cases_of


def block_arguments(seed: int = 0, cross: bool = False, **size: int) -> dict[str, Any]:
    """Arguments of `block_parameters`; the seed makes the sizes a little larger."""
    return {"width": size["width"] + seed % 47, "hidden": size["hidden"] + seed % 101, "cross": cross}


def reference_block_parameters(width: int, hidden: int, cross: bool) -> int:
    """The parameters of a block: attention (twice with `cross`), MLP, a norm for each sublayer."""
    return _block(width, hidden, cross)


def _block(
    width: int,
    hidden: int,
    cross: bool,
    *,
    matrices: int = 4,
    attention_bias: bool = True,
    inner_bias: bool = True,
    outer_bias: bool = True,
    inner_size: int | None = None,
    norm: int = 2,
    norms: int | None = None,
    attentions: int | None = None,
) -> int:
    """The count; the options make the mistakes of _BLOCK_PARAMETERS."""
    attentions = 1 + cross if attentions is None else attentions
    norms = 2 + cross if norms is None else norms
    attention = matrices * (width * width + attention_bias * width)
    biases = inner_bias * (hidden if inner_size is None else inner_size) + outer_bias * width
    return attentions * attention + 2 * width * hidden + biases + norms * norm * width


def _with(**mistake: Any) -> Callable[..., int]:
    return lambda *arguments: _block(*arguments, **mistake)


_BLOCK_PARAMETERS = {
    "Are W_Q, W_K and W_V counted, and W_O forgotten? An attention has four matrices.": _with(
        matrices=3
    ),
    "Are all biases forgotten?": _with(attention_bias=False, inner_bias=False, outer_bias=False),
    "Are the biases of the attention forgotten?": _with(attention_bias=False),
    "Are the biases of the MLP forgotten?": _with(inner_bias=False, outer_bias=False),
    "Is the bias of the MLP's hidden layer forgotten?": _with(inner_bias=False),
    "Is the bias of the MLP's second layer forgotten?": _with(outer_bias=False),
    "Is the bias of the MLP's hidden layer as long as a vector? It has one entry per hidden unit.": (
        lambda width, hidden, cross: _block(width, hidden, cross, inner_size=width)
    ),
    "Does a norm have gamma only? It has beta too.": _with(norm=1),
    "Are the norms forgotten?": _with(norms=0),
    "Is there one norm only? Every sublayer has its own.": _with(norms=1),
    "Is the norm of the cross-attention forgotten? Every sublayer has its own.": _with(norms=2),
    "Is cross not used? With cross-attention there is one attention more, and one norm more.": (
        lambda width, hidden, cross: _block(width, hidden, False)
    ),
    "Is the cross-attention forgotten? With `cross` there are two attentions.": _with(attentions=1),
    "Does the cross-attention have two matrices only? It has all four of its own.": (
        lambda width, hidden, cross: _block(width, hidden, cross) - 2 * cross * (width * width + width)
    ),
    "Does the MLP have one matrix only? It goes to the hidden units and back.": (
        lambda width, hidden, cross: _block(width, hidden, cross) - width * hidden
    ),
    "Does the MLP have a third matrix, hidden x hidden? It goes to the hidden units and back.": (
        lambda width, hidden, cross: _block(width, hidden, cross) + hidden * hidden
    ),
    "Does the MLP come twice? A block has one, whatever it attends to.": (
        lambda width, hidden, cross: (
            _block(width, hidden, cross) + cross * (2 * width * hidden + hidden + width)
        )
    ),
    "Are the hidden units taken to be 4 D? Their number is given: `hidden`.": (
        lambda width, hidden, cross: _block(width, 4 * width, cross)
    ),
}


block_parameters = Exercise(
    "block_parameters",
    make=block_arguments,
    reference=reference_block_parameters,
    likely=_BLOCK_PARAMETERS,
    cases=cases_of(
        block_arguments,
        {
            "a block with cross-attention": dict(width=6, hidden=10, cross=True),
            "a block of the encoder": dict(width=6, hidden=10),
            "a block of the encoder and other sizes": dict(width=2, hidden=3),
            "a block with cross-attention and other sizes": dict(width=5, hidden=7, cross=True),
        },
    ),
    forbid=("parameters", "named_parameters", "numel", "Block"),
    tolerance=0.0,
    because="A count is a whole number.",
    idea="The attention has four matrices whatever the number of heads; most parameters are the MLP's.",
    see=("10", "Counting parameters"),
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


def _changed(change: Callable[..., int]) -> Callable[..., int]:
    """The right count and an error: change(source, target, width, layers, order, encoder, decoder)."""

    def count(encoder_block, decoder_block, source, target, width, layers, order):
        right = reference_transformer_parameters(
            encoder_block, decoder_block, source, target, width, layers, order
        )
        return right + change(source, target, width, layers, order, encoder_block, decoder_block)

    return count


_LAST_NORMS = (
    "Are there last norms with post-norm? There every block ends in its own norm: they belong to "
    "pre-norm."
)

_TRANSFORMER_PARAMETERS = {
    "Are the output weights counted? They are the target table: tied, not a matrix of their own.": (
        _changed(lambda source, target, width, *rest: target * width)
    ),
    "Is the bias of the logits forgotten? There is one for every word of the target vocabulary.": (
        _changed(lambda source, target, *rest: -target)
    ),
    "Is the bias of the logits as long as a vector? There is one for every target word.": _changed(
        lambda source, target, width, *rest: width - target
    ),
    "Is the bias of the logits counted for the source words too? Only target words have logits.": (
        _changed(lambda source, *rest: source)
    ),
    "Are the tables missing? A word of either vocabulary has a vector.": _changed(
        lambda source, target, width, *rest: -(source + target) * width
    ),
    "Do vocabularies of one size share a table? Source and target words have a table each.": _changed(
        lambda source, target, width, *rest: -source * width * (source == target)
    ),
    "Is there one table only? Source and target words have a table each.": (
        _changed(lambda source, target, width, *rest: -source * width),
        _changed(lambda source, target, width, *rest: -target * width),
    ),
    "Is there one block on either side? There are `layers` of each.": _changed(
        lambda source, target, width, layers, order, encoder, decoder: (1 - layers) * (encoder + decoder)
    ),
    "Are the last norms counted in every layer? They stand once, after the last block.": _changed(
        lambda source, target, width, layers, order, *blocks: 4 * width * (layers - 1) * (order == "pre")
    ),
    "Are brackets missing? `layers` multiplies the blocks of both sides.": _changed(
        lambda source, target, width, layers, order, encoder, decoder: (1 - layers) * decoder
    ),
    "Are the decoder's blocks missing?": _changed(
        lambda source, target, width, layers, order, encoder, decoder: -layers * decoder
    ),
    "Are `layers` blocks shared out between encoder and decoder? Each has that many.": (
        lambda encoder, decoder, source, target, width, layers, order: (
            reference_transformer_parameters(encoder, decoder, source, target, width, layers, order)
            - (layers * (encoder + decoder) - layers * (encoder + decoder) // 2)
        )
    ),
    "Are the last norms forgotten? With pre-norm there is one after the encoder's last block and "
    "one after the decoder's.": _changed(
        lambda source, target, width, layers, order, *blocks: -4 * width * (order == "pre")
    ),
    "Is there one last norm only? With pre-norm encoder and decoder have one each.": _changed(
        lambda source, target, width, layers, order, *blocks: -2 * width * (order == "pre")
    ),
    _LAST_NORMS: (
        _changed(lambda source, target, width, layers, order, *blocks: 4 * width * (order == "post")),
        _changed(
            lambda source, target, width, layers, order, *blocks: (
                4 * width * (1 if order == "post" else -1)
            )
        ),
    ),
}


_SMALL = dict(encoder_block=49, decoder_block=77, source=10, target=7, width=2, layers=1)
_LARGE = dict(encoder_block=100, decoder_block=170, source=13, target=11, width=6)
transformer_parameters = Exercise(
    "transformer_parameters",
    make=transformer_arguments,
    reference=reference_transformer_parameters,
    likely=_TRANSFORMER_PARAMETERS,
    cases=cases_of(
        dict,
        {
            "the first example": dict(**_SMALL, order="post"),
            "other sizes": dict(**_LARGE, layers=3, order="post"),
            "the order pre": dict(**_SMALL, order="pre"),
            "the order pre and several layers": dict(**_LARGE, layers=4, order="pre"),
            "vocabularies of one size": dict(**{**_LARGE, "target": 13}, layers=2, order="post"),
        },
    ),
    forbid=("parameters", "named_parameters", "numel", "Transformer"),
    tolerance=0.0,
    because="A count is a whole number.",
    idea="The output weights are the target words' vectors: they are counted once.",
    see=("11", "Tied embeddings"),
)
