"""How much a translator misses each of its heads: the loss with one switched off (chapter 9)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from seqcourse.data import PAD, Batch
from seqcourse.zoo.system import System, Task

INTERVAL = (0.025, 0.975)


def rooms(model: torch.nn.Module) -> dict[str, list[torch.nn.Module]]:
    """The attention layers of a Transformer by what they look at."""
    return {
        "encoder": [block.self_attention for block in model.encoder],
        "decoder, own words": [block.self_attention for block in model.decoder],
        "decoder, source": [block.cross_attention for block in model.decoder],
    }


@torch.inference_mode()
def costs(model: torch.nn.Module, batches: list[Batch]) -> Tensor:
    """The loss of each sentence in nats, summed over its tokens: (sentences,)."""
    found = []
    for batch in batches:
        logits = model(batch.src, batch.src_lengths, batch.tgt_in).logits  # (B, T', V)
        each = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), batch.tgt_out, ignore_index=PAD, reduction="none"
        )
        found.append(each.sum(1).cpu().double())
    return torch.cat(found)


def costs_without(model: torch.nn.Module, batches: list[Batch], layer: Any, head: int) -> Tensor:
    """The same when nobody reads this head: the columns of W_O that do are 0."""
    width = layer.width // layer.heads
    columns = slice(head * width, (head + 1) * width)
    kept = layer.out.weight[:, columns].clone()
    with torch.no_grad():
        layer.out.weight[:, columns] = 0
        found = costs(model, batches)
        layer.out.weight[:, columns] = kept
    return found


def measure(task: Task, system: System, draws: int) -> dict[str, Any]:
    """The growth of the loss per token without each head, over the whole test split.

    Args:
        draws: of the paired bootstrap over sentences, which gives 95 % intervals.

    Returns:
        pairs, loss (nats per token with all heads), and for each room: ``harm``, a head's name ->
        [mean, low, high] in nats per token; ``apart``, the pairs of heads whose difference has an
        interval without 0.
    """
    model = system.model.eval()
    batches = [batch.to(system.device) for batch in task.batches(system.source, system.target, "test")]
    tokens = torch.cat([(batch.tgt_out != PAD).sum(1).cpu() for batch in batches]).double()
    whole = costs(model, batches)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(len(tokens), (draws, len(tokens)), generator=generator)
    found = {"pairs": len(tokens), "loss": round(float(whole.sum() / tokens.sum()), 4)}
    for room, layers in rooms(model).items():
        names = [f"{n}.{head + 1}" for n, layer in enumerate(layers, 1) for head in range(layer.heads)]
        more = torch.stack(
            [costs_without(model, batches, a, h) - whole for a in layers for h in range(a.heads)], dim=1
        )
        again = torch.stack([more[d].sum(0) / tokens[d].sum() for d in drawn])  # (draws, heads)
        ends = again.quantile(torch.tensor(INTERVAL, dtype=torch.float64), dim=0)
        table = torch.cat([(more.sum(0) / tokens.sum())[None], ends]).T
        apart = []
        for a, b in combinations(range(len(names)), 2):
            low, high = (again[:, a] - again[:, b]).quantile(torch.tensor(INTERVAL, dtype=torch.float64))
            if low > 0 or high < 0:
                apart.append([names[a], names[b]])
        harm = {
            name: [round(v, 5) for v in row] for name, row in zip(names, table.tolist(), strict=True)
        }
        found[room] = {"harm": harm, "apart": apart}
    return found
