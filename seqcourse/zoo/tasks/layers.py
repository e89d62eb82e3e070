"""Where a Transformer's captioner looks, read off each of its layers and off their mean (chapter 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seqcourse.data import SOS

if TYPE_CHECKING:
    import numpy

    from seqcourse.zoo.system import System


@torch.inference_mode()
def looks(system: System, pictures: Tensor, words: Sequence[Sequence[int]]) -> Tensor:
    """The weights on the grid before each word, averaged over heads: (layers, B, T', N)."""
    kept: list[Tensor] = []
    hooks = [
        block.register_forward_hook(lambda block, given, made: kept.append(made[1][1].mean(1)))
        for block in system.model.decoder
    ]
    before = [torch.tensor([SOS, *row[:-1]], device=system.device) for row in words]
    system.model(pictures.to(system.device), None, pad_sequence(before, batch_first=True))
    for hook in hooks:
        hook.remove()
    return torch.stack(kept).cpu()


def readings(
    system: System, captions: Sequence[Sequence[str]], pictures: Tensor, batch_size: int = 100
) -> dict[str, list[numpy.ndarray]]:
    """The maps of captions by "layer 1", "layer 2", ..., and by "all layers", which is their mean.

    Each caption has maps of shape (T', G, G).
    """
    side, found = system.model.side, {}
    for start in range(0, len(captions), batch_size):
        part = [system.target.encode(each, eos=False) for each in captions[start : start + batch_size]]
        every = looks(system, pictures[start : start + batch_size], part)
        named = {f"layer {n}": layer for n, layer in enumerate(every, 1)} | {"all layers": every.mean(0)}
        for name, maps in named.items():
            shown = (_on_grid(m[: len(words)], side) for m, words in zip(maps, part, strict=True))
            found.setdefault(name, []).extend(shown)
    return found


def _on_grid(weights: Tensor, side: int) -> numpy.ndarray:
    return weights.float().numpy().reshape(-1, side, side)
