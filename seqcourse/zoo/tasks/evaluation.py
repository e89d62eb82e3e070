"""Mean losses: of a language model on a long text, of any model over batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn


def mean_loss(model: nn.Module, ids: Tensor) -> float:
    """Mean loss of each next id of a text (N,).

    A model with a longest text reads windows that overlap by half; only ids with half a window before
    them count.
    """
    ids = ids.to(next(model.parameters()).device)
    window = min(getattr(model, "longest", len(ids) - 1), len(ids) - 1)
    total, done = 0.0, 0
    while done < len(ids) - 1:
        begin = 0 if done == 0 else max(0, min(done - window // 2, len(ids) - 1 - window))
        tokens, targets = ids[begin : begin + window], ids[begin + 1 : begin + window + 1]
        new = slice(done - begin, len(targets))
        logits = model(tokens[None]).logits[0].float()
        total += nn.functional.cross_entropy(logits[new], targets[new], reduction="sum").item()
        done = begin + len(targets)
    return total / (len(ids) - 1)


def bits(nats: float) -> float:
    """Nats to bits."""
    return nats / math.log(2)


def mean_over(
    batches: Iterable[Any], loss: Callable, weight: Callable[[Any], int]
) -> Callable[[nn.Module], float]:
    """A function from a model to its mean loss over batches, each with its weight."""

    def validate(model: nn.Module) -> float:
        device = next(model.parameters()).device
        total = count = 0.0
        for batch in batches:
            total += loss(model, batch.to(device)).item() * weight(batch)
            count += weight(batch)
        return total / count

    return validate
