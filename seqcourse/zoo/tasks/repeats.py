"""Texts that repeat themselves: attention alone learns to find what came before (chapter 12)."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqcourse import data, models
from seqcourse.data import SPECIALS, Vocabulary
from seqcourse.data.batching import Loader, epoch_generator
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, language_model_loss
from seqcourse.zoo.system import System, Task

SYMBOLS = string.ascii_letters[:48]
LENGTH = 64
PERIODS = 12, 31  # the shortest and the longest period
HELD_OUT = 512  # texts on which a model is judged


def repeats(count: int, draw: torch.Generator, length: int = LENGTH) -> tuple[Tensor, Tensor]:
    """Random symbols that begin again after a period: ids (count, length + 1), periods (count, 1).

    The period is another one in each text, drawn from a fifth to half of the length: if it were always
    the same, one layer could learn by heart how far to look back.
    """
    least, most = (round(period * length / LENGTH) for period in PERIODS)
    once = torch.randint(len(SYMBOLS), (count, length + 1), generator=draw) + len(SPECIALS)
    period = torch.randint(least, most + 1, (count, 1), generator=draw)
    return once.gather(1, torch.arange(length + 1)[None] % period), period


class Repeats(Loader):
    """Batches of such texts, other ones in every epoch.

    Args:
        steps: batches of an epoch.
        batch_size: texts of a batch.
        seed: of the draws.
    """

    def __init__(self, steps: int, batch_size: int, seed: int) -> None:
        def plan(epoch: int) -> list[Tensor]:
            draw = epoch_generator(seed, epoch)
            return [repeats(batch_size, draw)[0] for _ in range(steps)]

        super().__init__(plan, lambda rows: data.TextBatch(rows[:, :-1], rows[:, 1:]))


@torch.inference_mode()
def losses(model: models.GPT, length: int = LENGTH) -> dict[str, float]:
    """Mean loss in nats of the symbols seen for the first time ("new"), and of those that the text has
    shown before, after a symbol that it has shown before ("repeated").
    """
    rows, period = repeats(HELD_OUT, torch.Generator().manual_seed(999), length)
    rows = rows.to(device())
    logits = model(rows[:, :-1]).logits.transpose(1, 2)
    each = cross_entropy(logits, rows[:, 1:], reduction="none").cpu()
    place = torch.arange(1, length + 1)[None]
    return {
        "new": round(each[place.expand_as(each) < period].mean().item(), 3),
        "repeated": round(each[place > period].mean().item(), 3),
    }


@torch.inference_mode()
def looks(model: models.GPT) -> dict[str, list[list[float]]]:
    """For each layer and head the mean weight on the symbol before ("before"), and on the symbol that
    followed the last time ("after"), where there was one.
    """
    rows, period = repeats(64, torch.Generator().manual_seed(7))
    maps = model.maps(rows[:, :-1].to(device())).cpu()  # (B, layers, H, T, T)
    place = torch.arange(LENGTH)
    before = maps[..., place[1:], place[:-1]].mean((0, 3))
    after = torch.stack(
        [
            row[..., place[p:], place[p:] - p + 1].mean(-1)
            for row, p in zip(maps, period[:, 0].tolist(), strict=True)
        ]
    ).mean(0)
    return {
        "before": [[round(w, 3) for w in heads] for heads in before.tolist()],
        "after": [[round(w, 3) for w in heads] for heads in after.tolist()],
    }


@contextmanager
def without(model: models.GPT, layer: int, heads: Sequence[int]) -> Iterator[None]:
    """The model while some heads of a layer write nothing."""
    attention = model.blocks[layer].self_attention

    def silenced(module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        parts = inputs[0].unflatten(-1, (-1, attention.size)).clone()
        parts[..., list(heads), :] = 0.0
        return (parts.flatten(-2),)

    handle = attention.out.register_forward_pre_hook(silenced)
    try:
        yield
    finally:
        handle.remove()


class RepeatsTask(Task):
    """A language model of such texts."""

    studies = only_measured = ("controls",)
    why_not_translate = "goes on with rows of symbols: it has nothing to translate"

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The symbols."""
        symbols = Vocabulary(list(SYMBOLS))
        return symbols, symbols

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> Repeats:
        """Other texts in every epoch."""
        return Repeats(self.recipe.options["steps"], self.recipe.batch_size, self.recipe.seed)

    def loss(self) -> Callable:
        """Cross-entropy of each next symbol."""
        return language_model_loss

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """The loss of repeated symbols."""
        return lambda model: losses(model)["repeated"]

    def watch(self, model: nn.Module, epoch: int) -> dict[str, Any]:
        """After each epoch both losses."""
        model.eval()
        return {"epoch": epoch, **losses(model)}

    def measure(self, system: System) -> dict[str, Any]:
        """Losses, what each head looks at, and the loss of repeated symbols without it."""
        return judged(system.model)

    def study(self, system: System, name: str) -> dict[str, list[dict[str, Any]]]:
        """Other starts, one layer, and positions of other kinds: the same training for each."""
        asked = self.recipe.options[name]
        return {kind: self._runs(**run) for kind, run in asked.items()}

    def _runs(
        self, seeds: Sequence[int], rates: Sequence[float], changes: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """For every rate and seed the losses after each epoch, and what is judged in the end."""
        options, found = self.recipe.options, []
        for rate in rates:
            for seed in seeds:
                seed_everything(seed)
                sizes = {**self.recipe.sizes, **changes}
                model = models.GPT(len(SPECIALS) + len(SYMBOLS), **sizes).to(device())
                training = self.recipe.training
                config = TrainingConfig(
                    epochs=training.epochs, learning_rate=rate, warmup_steps=training.warmup_steps
                )
                seen: list[dict[str, float]] = []

                def watch(trainer: Trainer, model=model, seen=seen) -> None:
                    seen.append(losses(model.eval()))
                    model.train()

                batches = Repeats(options["steps"], self.recipe.batch_size, seed)
                Trainer(model, language_model_loss, config).fit(batches, on_epoch=watch)
                model.eval()
                found.append({"rate": rate, "seed": seed, "watched": seen, **judged(model)})
        return found


def judged(model: models.GPT) -> dict[str, Any]:
    """Losses within the length of the training and beyond; what heads look at; without a head, without
    a whole layer.
    """
    heads = range(model.blocks[0].self_attention.heads)
    alone, whole = [], []
    for layer in range(len(model.blocks)):
        alone.append([])
        for head in heads:
            with without(model, layer, [head]):
                alone[-1].append(losses(model)["repeated"])
        with without(model, layer, heads):
            whole.append(losses(model)["repeated"])
    beyond = {
        str(length): losses(model, length)["repeated"]
        for length in (2 * LENGTH, 4 * LENGTH)
        if model.positions.kind != "learned"
    }
    return {
        **losses(model),
        **looks(model),
        "without_head": alone,
        "without_layer": whole,
        "beyond": beyond,
        "parameters": models.number_of_parameters(model),
    }
