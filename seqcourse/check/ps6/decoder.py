"""Exercise 6: a block of the decoder, post-norm and pre-norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.compare import AnyError, Likely
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.ps6 import parts
from seqcourse.check.ps6.parts import attention, layer, real, two_layers

LONG = 20  # where a mask of fewer words than these stops, a size may be written into it


def decoder_arguments(
    batch: int,
    n: int,
    m: int,
    d: int,
    order: str = "post",
    lengths: Sequence[int] | None = None,
    front: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `decoder_block`: vectors, a memory with its mask, functions with fixed weights.

    front: whether the source's padding stands in front of its words.
    """
    return {
        **normal({"y": (batch, n, d), "memory": (batch, m, d)}, seed, dtype),
        "memory_mask": real(lengths, batch, m, front),
        "self_attend": attention(d, seed + 1, dtype),
        "cross_attend": attention(d, seed + 2, dtype),
        "mlp": two_layers(d, seed + 3, dtype),
        "norms": tuple(layer(d, seed + k, dtype) for k in (4, 5, 6)),
        "order": order,
    }


def _ahead(size: int) -> Tensor:
    return functional.causal_mask(size)


def _block(
    y: Tensor,
    memory: Tensor,
    memory_mask: Tensor,
    self_attend: parts.Attend,
    cross_attend: parts.Attend,
    mlp: parts.Function,
    norms: Sequence[parts.Function],
    order: str,
    *,
    joins: Sequence[parts.Sublayer] = (parts.sublayer,) * 3,
    mask: Callable[[int], Tensor | None] = _ahead,
    look: Callable[..., Tensor] = lambda attend, n, y, mask: attend(n, n, mask),
    cross: Callable[..., Tensor] = lambda attend, n, memory, mask: attend(n, memory, mask),
    use: tuple[int, int, int] = (0, 1, 2),
    turns: tuple[int, int, int] = (0, 1, 2),
) -> Tensor:
    """A decoder's block; the options make the mistakes of _DECODER_BLOCK."""
    calls = (
        lambda n, y: look(self_attend, n, y, mask(y.shape[1])),
        lambda n, y: cross(cross_attend, n, memory, memory_mask),
        lambda n, y: mlp(n),
    )
    for k in turns:
        y = joins[k](y, calls[k], norms[use[k]], order)
    return y


def reference_decoder_block(
    y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order
) -> Tensor:
    """Masked self-attention, cross-attention, MLP, each with residual connection and norm."""
    return _block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order)


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _block(*arguments, **mistake)


def _join(join: parts.Sublayer, *places: int) -> Callable[..., Tensor]:
    """A block with another way of joining at these places, at all three without."""
    chosen = places or (0, 1, 2)
    return _with(joins=tuple(join if k in chosen else parts.sublayer for k in (0, 1, 2)))


def _named(question: str, join: parts.Sublayer) -> list[Likely]:
    """The same mistake at each of the three sublayers."""
    names = ("self-attention", "cross-attention", "MLP")
    return [Likely(question.format(name), _join(join, k)) for k, name in enumerate(names)]


def _old_queries(y, *given):
    before = given[-2][0](y) if given[-1] == "pre" else y
    return _block(y, *given, cross=lambda attend, n, memory, mask: attend(before, memory, mask))


def _mask_too_small(y, *given):
    if y.shape[1] > LONG:
        raise AnyError("A mask should fit|must match the size|out of bounds|out of range")


def _from_the_input(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    given = (y, memory, memory_mask, self_attend, cross_attend)
    before = _block(
        *given, torch.zeros_like, [*norms[:2], lambda y: y], "pre" if order == "pre" else order
    )
    return y + mlp(norms[2](before)) if order == "pre" else norms[2](y + mlp(before))


_DECODER_BLOCK = [
    Likely(
        "Is that the other order? post is norm(x + f(x)), pre is x + f(norm(x)).",
        lambda *given: _block(*given[:-1], parts.turned(given[-1])),
    ),
    Likely(
        "Does the causal mask allow what lies ahead and hide what lies before? True means may attend: "
        "the lower triangle.",
        _with(mask=lambda size: _ahead(size).T),
    ),
    Likely(
        "Does the causal mask allow what lies ahead and hide what lies before? True means may attend: "
        "the lower triangle.",
        _with(mask=lambda size: ~_ahead(size)),
    ),
    Likely("Is a size written into the causal mask? Make it for y.shape[1] words.", _mask_too_small),
    Likely(
        "Is the cross-attention causal? The whole source may be looked at: its mask is memory_mask.",
        _with(
            cross=lambda attend, n, memory, mask: attend(
                n, memory, torch.ones(n.shape[1], memory.shape[1]).tril().bool()
            )
        ),
    ),
    Likely(
        "Is the cross-attention causal? The whole source may be looked at: its mask is memory_mask.",
        _with(cross=lambda attend, n, memory, mask: attend(n, memory, _ahead(n.shape[1]))),
    ),
    Likely(
        "Does the cross-attention look at the decoder's own vectors? Its keys and values come from the "
        "memory.",
        _with(cross=lambda attend, n, memory, mask: attend(n, n, _ahead(n.shape[1]))),
    ),
    Likely(
        "Does the cross-attention look at the decoder's own vectors? Its keys and values come from the "
        "memory.",
        _with(cross=lambda attend, n, memory, mask: attend(n, n, mask)),
    ),
    Likely(
        "Are queries and memory exchanged in the cross-attention? The queries come from the decoder: "
        "cross_attend(n, memory, memory_mask).",
        _with(cross=lambda attend, n, memory, mask: attend(memory, n, mask)),
    ),
    Likely(
        "Are queries and memory exchanged in the cross-attention? The queries come from the decoder: "
        "cross_attend(n, memory, memory_mask).",
        _with(cross=lambda attend, n, memory, mask: attend(memory, n, None)),
    ),
    Likely(
        "Do the queries of the cross-attention come from the block's input? They come from the sum "
        "after the self-attention, with pre-norm through norms[1].",
        _old_queries,
    ),
    Likely(
        "Do the sublayers come in another order? It is self-attention, cross-attention, MLP.",
        _with(turns=(2, 0, 1)),
    ),
    Likely(
        "Is the block's input added around the MLP? Its residual path begins after the cross-attention.",
        _from_the_input,
    ),
    Likely(
        "Is there a norm too many at the end? With pre-norm a block ends in a sum.",
        lambda *given: given[6][2](_block(*given)),
    ),
    *_named("Is the residual connection around the {} missing?", parts.without_residual),
    *_named("Is the norm of the {} missing?", parts.without_norm),
    Likely("Is the self-attention missing?", _join(parts.left_out, 0)),
    *(
        Likely(
            "Does each sublayer have its own norm? norms[0] is the self-attention's, norms[1] the "
            "cross-attention's, norms[2] the MLP's.",
            _with(use=use),
        )
        for use in ((0, 2, 1), (1, 0, 2), (2, 1, 0), (0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 1))
    ),
    Likely(
        "Is the normalised y on the residual path? What is added to f is y as it came in.",
        _join(parts.normalised_residual),
    ),
]


decoder_block = Exercise(
    "decoder_block",
    make=decoder_arguments,
    reference=reference_decoder_block,
    likely=_DECODER_BLOCK,
    cases=[
        *standard_cases(
            decoder_arguments, dict(batch=2, n=3, m=5, d=4), dict(batch=4, n=4, m=4, d=4, seed=20)
        ),
        *cases_of(
            decoder_arguments,
            {
                "padding in the source": dict(batch=3, n=4, m=5, d=4, lengths=[5, 2, 3], seed=40),
                "the order pre": dict(batch=2, n=3, m=5, d=4, order="pre", seed=60),
                "the order pre with padding": dict(
                    batch=3, n=5, m=3, d=4, order="pre", lengths=[2, 3, 1], seed=80
                ),
                "padding in front of the source": dict(
                    batch=3, n=3, m=4, d=3, lengths=[2, 4, 3], front=True, seed=90
                ),
                "a long text": dict(batch=1, n=140, m=3, d=3, seed=100),
            },
        ),
    ],
    forbid=("Block", "TransformerDecoderLayer", "TransformerDecoder"),
    idea="A word looks at the words before it, then at the source, then goes through the MLP.",
    see=("11", "Encoder, decoder, cross-attention"),
)
