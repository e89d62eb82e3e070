"""Deep language models with pre-norm and post-norm, with and without a warm-up (chapter 10)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import torch
from torch import Tensor, nn

from seqcourse import data
from seqcourse.models import Output
from seqcourse.nn import Block, LayerNorm, Positions
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, language_model_loss

LAST = 20  # steps whose mean loss is the result of a run


class Letters(nn.Module):
    """The next letter by ``layers`` blocks; matrices begin as Xiong et al. (2020) have them.

    Chapter 10 has the same class, to be read.
    """

    def __init__(self, size: int, width: int, heads: int, layers: int, norm: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.positions = Positions(width)
        self.blocks = nn.ModuleList(Block(width, heads, 4 * width, norm=norm) for _ in range(layers))
        self.norm = LayerNorm(width) if norm == "pre" else nn.Identity()
        self.output = nn.Linear(width, size)
        for name, p in self.named_parameters():
            if p.dim() == 2 and "embedding" not in name:
                nn.init.xavier_uniform_(p)

    def forward(self, tokens: Tensor) -> Output:
        """All tokens at once: (B, T) to logits (B, T, V)."""
        x = self.positions(self.embedding(tokens))
        for block in self.blocks:
            x, _ = block(x, causal=True)
        return Output(self.output(self.norm(x)))


def result(
    norm: str, warmup: int, rate: float, seed: int, *, width: int, layers: int, steps: int
) -> float:
    """The mean loss of the last steps of one training on *Alice*, in nats per character."""
    text = data.load_book("alice")
    vocabulary = data.Vocabulary.build(list(text))
    ids = torch.tensor(vocabulary.encode(list(text), eos=False))
    seed_everything(seed)
    model = Letters(len(vocabulary), width, 4, layers, norm).to(device())
    batches = data.TextBatches(ids, 32, 16, shuffle=True, seed=0)
    config = TrainingConfig(
        epochs=10, max_steps=steps, learning_rate=rate, warmup_steps=warmup, precision="no"
    )
    losses = Trainer(model, language_model_loss, config).fit(batches).step_losses
    return sum(losses[-LAST:]) / LAST


def measure(
    rates: Sequence[float], seeds: Sequence[int], warmup: int, **sizes: int
) -> dict[str, dict[str, list[float]]]:
    """The results of all runs: "post-norm, no warm-up" -> rate -> one loss for each seed.

    Args:
        rates: the highest learning rates.
        seeds: of the starts.
        warmup: steps of the warm-up, where there is one.
        sizes: ``width``, ``layers`` and ``steps``, see :func:`result`.
    """
    found = {}
    for norm, warm in product(("post", "pre"), (0, warmup)):
        found[f"{norm}-norm, {'warm-up' if warm else 'no warm-up'}"] = {
            f"{rate:g}": [round(result(norm, warm, rate, seed, **sizes), 3) for seed in seeds]
            for rate in rates
        }
    return found
