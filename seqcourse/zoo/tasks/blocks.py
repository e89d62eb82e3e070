"""What each change of the block buys, on the characters of four books (chapter 10)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from seqcourse import data, models
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, language_model_loss

WIDTH, HEADS, LAYERS = 64, 8, 2
LENGTH, BATCH = 64, 16  # characters in a text of the training, and texts in a step
BEYOND = 256  # characters in a text that is longer than those of the training

#: The block of 2020 and its positions, then what is changed in it when its positions are rotary.
_ROTARY = {"positions": "rotary"}
BLOCKS: dict[str, dict[str, Any]] = {
    "2020": {"positions": "learned"},
    "no positions": {"positions": "none"},
    "rotary": _ROTARY,
    "RMS norm": {**_ROTARY, "normalisation": "rms"},
    "gated": {**_ROTARY, "activation": "swiglu"},
    "4 pairs": {**_ROTARY, "groups": 4},
    "2 pairs": {**_ROTARY, "groups": 2},
    "1 pair": {**_ROTARY, "groups": 1},
    "no biases": {**_ROTARY, "bias": False},
    "window": {**_ROTARY, "window": 16},
    "untied": {**_ROTARY, "tied": False},
    "today": {**models.TODAY, "groups": 2},
}


class Library:
    """The characters of the books, in three parts."""

    def __init__(self) -> None:
        parts = {split: "".join(data.load_books(split).values()) for split in ("train", "valid", "test")}
        self.vocabulary = data.Vocabulary.build(list(parts["train"]))
        self.ids = {
            split: torch.tensor(self.vocabulary.encode(list(text), eos=False))
            for split, text in parts.items()
        }

    def model(self, **parts: Any) -> models.GPT:
        """A small language model with these parts, freshly initialised."""
        made = {"longest": BEYOND, **parts}
        return models.GPT(len(self.vocabulary), WIDTH, HEADS, LAYERS, **made).to(device())

    def train(
        self, parts: Mapping[str, Any], rate: float, seed: int, steps: int, every: int | None = None
    ) -> tuple[models.GPT, list[float]]:
        """A trained model, and bits per character of "test" after each ``every`` steps.

        Args:
            parts: of the model.
            rate: the learning rate, after 50 steps of warm-up.
            seed: of the start and of the texts.
        """
        seed_everything(seed)
        model, found = self.model(**parts), []
        every, watched = every or steps, every is not None

        def watch(trainer: Trainer) -> None:
            if watched:
                found.append(round(self.bits(model, "test"), 4))
                model.train()

        config = TrainingConfig(epochs=steps // every, learning_rate=rate, warmup_steps=50)
        batches = data.DrawnTexts(self.ids["train"], LENGTH, BATCH, every, seed)
        Trainer(model, language_model_loss, config).fit(batches, on_epoch=watch)
        model.eval()
        return model, found

    def bits(self, model: models.GPT, split: str, length: int = LENGTH, first: int = 0) -> float:
        """Bits per character of a split, read in texts of this length, from position ``first`` on."""
        ids = self.ids[split]
        count = (len(ids) - 1) // length
        rows = ids[: count * length].view(count, length).to(device())
        targets = ids[1 : count * length + 1].view(count, length).to(device())
        model.eval()
        with torch.inference_mode():
            losses = [
                cross_entropy(model(row).logits[:, first:].transpose(1, 2), target[:, first:])
                for row, target in zip(rows.split(64), targets.split(64), strict=True)
            ]
        weights = [len(part) for part in rows.split(64)]
        mean = sum(w * loss.item() for w, loss in zip(weights, losses, strict=True)) / count
        return mean / math.log(2)

    def beyond(self, model: models.GPT, window: int | None = None) -> float:
        """Bits at the positions 128 to 255 of "test", with a window of that size put into the model."""
        own = [block.self_attention.window for block in model.blocks]
        for block in model.blocks:
            block.self_attention.window = window or block.self_attention.window
        found = self.bits(model, "test", BEYOND, BEYOND // 2)
        for block, before in zip(model.blocks, own, strict=True):
            block.self_attention.window = before
        return round(found, 4)


def measure(
    rates: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
    steps: int,
    every: int,
    windows: Sequence[int],
) -> dict[str, Any]:
    """Bits per character of every block, each at the learning rate that suits it best.

    Args:
        rates: learning rates, tried for every block.
        choose: seeds with which the best of them is chosen, on "valid".
        seeds: seeds with which it is judged, on "test" after each ``every`` of so many ``steps``.
        windows: at which the block with rotary positions is read beyond the length of its training.

    Returns:
        For each block ``parameters``, ``cache`` (numbers kept for each character), ``tried``, ``rate``,
        ``bits`` (for each seed, at each measure) and ``beyond`` (for each seed, at the positions of the
        second half of longer texts); and for "rotary" ``windows``, the same with each window.
    """
    library, found = Library(), {}
    for name, parts in BLOCKS.items():
        tried = {
            rate: sum(library.bits(library.train(parts, rate, s, steps)[0], "valid") for s in choose)
            / len(choose)
            for rate in rates
        }
        best = min(tried, key=tried.__getitem__)
        runs = [library.train(parts, best, seed, steps, every) for seed in seeds]
        attentions = [block.self_attention for block in runs[0][0].blocks]
        found[name] = {
            "parameters": models.number_of_parameters(runs[0][0]),
            "cache": sum(2 * each.groups * each.size for each in attentions),
            "tried": {f"{rate:g}": round(value, 4) for rate, value in tried.items()},
            "rate": best,
            "bits": [bits for _, bits in runs],
            "beyond": [library.beyond(model) for model, _ in runs],
        }
        if name == "rotary":
            found[name]["windows"] = {
                str(window): [library.beyond(model, window) for model, _ in runs] for window in windows
            }
        print(name, found[name]["rate"], [b[-1] for b in found[name]["bits"]], flush=True)
    return found
