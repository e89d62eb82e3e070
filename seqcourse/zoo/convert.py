"""Weights of published models by the names of HF transformers, and by ours: both ways.

::

    state = from_hf("bert", reference.state_dict())
    models.BERT(...).load_state_dict(state)

The numbers stay the same. Only names differ, and four conventions: the queries, keys and values of BERT
and Llama are three matrices and ours one; GPT-2 stores matrices transposed; BERT's next-sentence head
says "follows" first and we say it second; a matrix that is used twice (tied) we store once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.errors import CourseError


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _transposed(tensor: Tensor) -> Tensor:
    return tensor.T.contiguous()


def _reversed(tensor: Tensor) -> Tensor:
    return tensor.flip(0)


@dataclass(frozen=True)
class Name:
    """One tensor of ours, and the one or several of theirs that hold the same numbers.

    Attributes:
        ours: its name in our state dict; {} is the layer's number.
        theirs: its names in theirs; ours stacks several of them.
        change: from theirs to ours; each of the three changes undoes itself.
    """

    ours: str
    theirs: tuple[str, ...]
    change: Callable[[Tensor], Tensor] = _same


def _both(ours: str, theirs: str, change: Callable[[Tensor], Tensor] = _same) -> list[Name]:
    """A linear layer: weight and bias, of which only the weight may be transposed."""
    other = _same if change is _transposed else change
    return [
        Name(f"{ours}.weight", (f"{theirs}.weight",), change),
        Name(f"{ours}.bias", (f"{theirs}.bias",), other),
    ]


def _norm(ours: str, theirs: str) -> list[Name]:
    return [Name(f"{ours}.gamma", (f"{theirs}.weight",)), Name(f"{ours}.beta", (f"{theirs}.bias",))]


def _three(part: str) -> tuple[str, ...]:
    at = "encoder.layer.{}.attention.self."
    return tuple(f"{at}{name}.{part}" for name in ("query", "key", "value"))


@dataclass(frozen=True)
class Family:
    """All names of one kind of model.

    Attributes:
        names: every tensor.
        prefix: of the body's names in a whole model.
        heads: prefixes of the names outside the body.
        copies: tensors of theirs that repeat one of ours.
        ignored: tensors of theirs that are not weights.
    """

    names: tuple[Name, ...]
    prefix: str
    heads: tuple[str, ...]
    copies: tuple[tuple[str, str], ...]
    ignored: str = "$^"


FAMILIES = {
    "bert": Family(
        names=(
            Name("embedding", ("embeddings.word_embeddings.weight",)),
            Name("positions.table", ("embeddings.position_embeddings.weight",)),
            Name("segment_embedding", ("embeddings.token_type_embeddings.weight",)),
            *_norm("embedding_norm", "embeddings.LayerNorm"),
            Name("blocks.{}.self_attention.in_weight", _three("weight")),
            Name("blocks.{}.self_attention.in_bias", _three("bias")),
            *_both("blocks.{}.self_attention.out", "encoder.layer.{}.attention.output.dense"),
            *_norm("blocks.{}.self_norm", "encoder.layer.{}.attention.output.LayerNorm"),
            *_both("blocks.{}.mlp.inner", "encoder.layer.{}.intermediate.dense"),
            *_both("blocks.{}.mlp.outer", "encoder.layer.{}.output.dense"),
            *_norm("blocks.{}.mlp_norm", "encoder.layer.{}.output.LayerNorm"),
            *_both("pooler", "pooler.dense"),
            *_both("word_dense", "cls.predictions.transform.dense"),
            *_norm("word_norm", "cls.predictions.transform.LayerNorm"),
            Name("word_bias", ("cls.predictions.bias",)),
            *_both("follows", "cls.seq_relationship", _reversed),
        ),
        prefix="bert.",
        heads=("cls.",),
        copies=(
            ("cls.predictions.decoder.weight", "embedding"),
            ("cls.predictions.decoder.bias", "word_bias"),
        ),
        ignored=r"embeddings\.(position|token_type)_ids$",
    ),
    "gpt2": Family(
        names=(
            Name("embedding", ("wte.weight",)),
            Name("positions.table", ("wpe.weight",)),
            *_norm("blocks.{}.self_norm", "h.{}.ln_1"),
            Name("blocks.{}.self_attention.in_weight", ("h.{}.attn.c_attn.weight",), _transposed),
            Name("blocks.{}.self_attention.in_bias", ("h.{}.attn.c_attn.bias",)),
            *_both("blocks.{}.self_attention.out", "h.{}.attn.c_proj", _transposed),
            *_norm("blocks.{}.mlp_norm", "h.{}.ln_2"),
            *_both("blocks.{}.mlp.inner", "h.{}.mlp.c_fc", _transposed),
            *_both("blocks.{}.mlp.outer", "h.{}.mlp.c_proj", _transposed),
            *_norm("norm", "ln_f"),
        ),
        prefix="transformer.",
        heads=("lm_head.",),
        copies=(("lm_head.weight", "embedding"),),
        ignored=r"h\.\d+\.attn\.(masked_)?bias$",
    ),
    "llama": Family(
        names=(
            Name("embedding", ("embed_tokens.weight",)),
            Name("blocks.{}.self_norm.gamma", ("layers.{}.input_layernorm.weight",)),
            Name(
                "blocks.{}.self_attention.in_weight",
                tuple(f"layers.{{}}.self_attn.{part}_proj.weight" for part in "qkv"),
            ),
            Name("blocks.{}.self_attention.out.weight", ("layers.{}.self_attn.o_proj.weight",)),
            Name("blocks.{}.mlp_norm.gamma", ("layers.{}.post_attention_layernorm.weight",)),
            Name("blocks.{}.mlp.gate.weight", ("layers.{}.mlp.gate_proj.weight",)),
            Name("blocks.{}.mlp.inner.weight", ("layers.{}.mlp.up_proj.weight",)),
            Name("blocks.{}.mlp.outer.weight", ("layers.{}.mlp.down_proj.weight",)),
            Name("norm.gamma", ("norm.weight",)),
        ),
        prefix="model.",
        heads=("lm_head.",),
        copies=(("lm_head.weight", "embedding"),),
        ignored=r".*rotary_emb\.inv_freq$",
    ),
}


def from_hf(family: str, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our state dict from that of HF transformers.

    Args:
        family: "bert" (``models.BERT``, post-norm), "gpt2" (``models.GPT`` with activation "gelu_tanh")
            or "llama" (``models.GPT`` with ``**models.TODAY``).
        theirs: of a whole model, or of its body alone; a head that is not there is left out.

    Raises:
        CourseError: if the family is unknown, or a tensor is missing or has a name that is not known.
    """
    known = _family(family)
    left = {name.removeprefix(known.prefix): tensor for name, tensor in theirs.items()}
    left = {name: t for name, t in left.items() if not re.match(known.ignored, name)}
    state = {}
    for name, layer in _names(known, left):
        parts = [left.pop(part.format(layer), None) for part in name.theirs]
        if all(part is None for part in parts) and _optional(known, name):
            continue
        if any(part is None for part in parts):
            raise CourseError(
                f"The weights of a {family} should hold {name.theirs[0].format(layer)}, but they do not."
            )
        both = name.change(parts[0] if len(parts) == 1 else torch.cat(parts))
        state[name.ours.format(layer)] = both
    for copy, original in known.copies:
        copied = left.pop(copy, None)
        if copied is not None and not torch.equal(copied, state[original]):
            raise CourseError(f"{copy} should be tied to the {original}, but it holds other numbers.")
    if left:
        raise CourseError(f"The weights of a {family} should not hold {sorted(left)[0]}, but they do.")
    return state


def to_hf(family: str, ours: dict[str, Tensor], prefix: bool = True) -> dict[str, Tensor]:
    """HF transformers' state dict from ours.

    Args:
        family: as for :func:`from_hf`.
        ours: of a ``models.BERT`` or ``models.GPT``.
        prefix: names of a whole model (``BertForPreTraining``, ``GPT2LMHeadModel``,
            ``LlamaForCausalLM``); without, of its body.

    Raises:
        CourseError: if the family is unknown, or a tensor has a name that is not known.
    """
    known = _family(family)
    left, state = dict(ours), {}
    for name, layer in _names(known, left, ours=True):
        tensor = left.pop(name.ours.format(layer), None)
        if tensor is None:
            continue
        for part, piece in zip(name.theirs, _pieces(name, tensor), strict=True):
            state[part.format(layer)] = piece
    if left:
        raise CourseError(f"A {family} of ours should not hold {sorted(left)[0]}, but it does.")
    state |= {copy: ours[original] for copy, original in known.copies if original in ours}
    if not prefix:
        return {name: tensor for name, tensor in state.items() if not name.startswith(known.heads)}
    return {
        name if name.startswith(known.heads) else known.prefix + name: tensor
        for name, tensor in state.items()
    }


def _pieces(name: Name, ours: Tensor) -> Sequence[Tensor]:
    """Their tensors in one of ours: queries as wide as the model, keys and values of fewer groups."""
    whole, count = name.change(ours), len(name.theirs)
    if count == 1 or whole.ndim == 1:
        return whole.chunk(count)
    width = whole.shape[1]
    return whole.split([width, *[(len(whole) - width) // (count - 1)] * (count - 1)])


def _family(family: str) -> Family:
    if family not in FAMILIES:
        raise CourseError(f"The family should be one of {', '.join(FAMILIES)}, but is {family!r}.")
    return FAMILIES[family]


def _names(known: Family, state: dict[str, Tensor], ours: bool = False) -> Iterable[tuple[Name, int]]:
    """Every name, for each layer that the state dict has."""
    pattern = r"blocks\.(\d+)\." if ours else r"(?:encoder\.layer|layers|h)\.(\d+)\."
    found = [re.match(pattern, name) for name in state]
    layers = 1 + max((int(match[1]) for match in found if match), default=-1)
    for name in known.names:
        for layer in range(layers if "{}" in name.ours else 1):
            yield name, layer


def _optional(known: Family, name: Name) -> bool:
    """Whether a model may do without: the heads, and the pooler."""
    return name.theirs[0].startswith((*known.heads, "pooler."))
