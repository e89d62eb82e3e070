"""Pictures and captions in one space, learned from nothing but pairs (CLIP, small; chapter 14b)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from seqcourse import data
from seqcourse import functional as F
from seqcourse.data import SOS, Scene, Vocabulary, grammar
from seqcourse.data.batching import Loader, TensorBatch, cut, epoch_generator, pad
from seqcourse.data.pictures import kinds
from seqcourse.models import ContrastivePair
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig
from seqcourse.zoo import storage
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks.evaluation import mean_over
from seqcourse.zoo.tasks.questions import HELD_OUT

BATCH = 128
SIDES = (" left of ", " right of ", " above ", " below ")
SHOWN = 6  # scenes whose fit with each other's captions is kept for a picture


@dataclass(frozen=True)
class PairBatch(TensorBatch):
    """Grids (B, N, D) and captions (C, T) with their lengths; the first B captions are the grids'."""

    grids: Tensor
    tokens: Tensor
    lengths: Tensor


@dataclass
class SceneGrids:
    """Scenes, the grids that a frozen network makes of them, (N, places, D), and what it takes each
    place for, probabilities (N, places, A)."""

    scenes: Sequence[Scene]
    grids: Tensor
    shown: Tensor | None = None


def swapped(caption: str) -> str | None:
    """A caption with its two things exchanged; None if it does not say where one of two stands."""
    for side in SIDES:
        one, found, other = caption.partition(side)
        if found and one != other:
            return other + side + one
    return None


def pair_loss(model: ContrastivePair, batch: PairBatch) -> Tensor:
    """:func:`seqcourse.functional.contrastive_loss` of a batch."""
    return F.contrastive_loss(model(batch.grids, batch.tokens, batch.lengths))


class Pairs:
    """Scenes with their captions, and models that learn which belong together.

    Args:
        splits: "train", "valid" and "test".
        words: of all captions.
        names: ids of what places may show, for :meth:`by_names`.
    """

    def __init__(
        self, splits: dict[str, SceneGrids], words: Vocabulary, names: Vocabulary | None = None
    ) -> None:
        self.splits, self.words, self.names = splits, words, names

    def read(self, captions: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Ids (B, T), <sos> first, and lengths."""
        return pad([[SOS, *self.words.encode(one.split(), eos=False)] for one in captions])

    def batches(self, seed: int, hard: bool, split: str = "train") -> Loader:
        """Shuffled pairs; with ``hard`` every caption that can be swapped stands there swapped as well,
        as the caption of no picture."""
        part = self.splits[split]
        captions = [scene.caption for scene in part.scenes]

        def plan(epoch: int) -> list[Tensor]:
            return cut(torch.randperm(len(captions), generator=epoch_generator(seed, epoch)), BATCH)

        def collate(rows: Tensor) -> PairBatch:
            own = [captions[row] for row in rows.tolist()]
            more = [other for other in map(swapped, own) if other] if hard else []
            return PairBatch(part.grids[rows], *self.read([*own, *more]))

        return Loader(plan, collate)

    def train(self, rate: float, seed: int, epochs: int, hard: bool, **sizes: int) -> ContrastivePair:
        """A trained pair of encoders."""
        seed_everything(seed)
        model = ContrastivePair(len(self.words), **sizes).to(device())
        config = TrainingConfig(epochs=epochs, learning_rate=rate, warmup_steps=100, decay="linear")
        Trainer(model, pair_loss, config).fit(self.batches(seed, hard))
        return model.eval()

    def by_names(self, split: str) -> Tensor:
        """The dumbest judge, without any training: log-probability that exactly the things of a caption
        are somewhere in a picture, as the frozen network sees it, (pictures, captions)."""
        part = self.splits[split]
        there = part.shown.amax(1).double().clamp(1e-6, 1 - 1e-6)  # (N, A)
        said = torch.zeros(len(part.scenes), there.shape[1], dtype=torch.bool)
        for row, scene in zip(said, part.scenes, strict=True):
            row[[self.names.id(thing.name) for thing in scene.things if thing.name in self.names]] = True
        own = sorted(
            {self.names.id(name) for name in self.names.tokens if said[:, self.names.id(name)].any()}
        )
        logs, said = there[:, own], said[:, own].double()
        return logs.log() @ said.T + (1 - logs).log() @ (1 - said).T

    @torch.inference_mode()
    def logits(self, model: ContrastivePair, split: str) -> Tensor:
        """How well each picture of a split fits each caption, (N, N)."""
        part = self.splits[split]
        tokens, lengths = self.read([scene.caption for scene in part.scenes])
        to = device()
        return model(part.grids.to(to), tokens.to(to), lengths).cpu()

    def found(self, logits: Tensor, split: str) -> dict[str, float]:
        """The share of pictures with a correct caption among the first 1 and 5, and of captions with a
        picture that they describe; equal ones stand in an order drawn by chance."""
        scenes, shares = self.splits[split].scenes, {}
        captions, count = [scene.caption for scene in scenes], len(scenes)
        fits = torch.tensor([[one in scene.references for one in captions] for scene in scenes])
        order = torch.randperm(count, generator=torch.Generator().manual_seed(0))
        for name, table, right in (("caption", logits, fits), ("picture", logits.T, fits.T)):
            ranked = table[:, order].argsort(dim=1, descending=True, stable=True)
            hits = right[:, order].gather(1, ranked)
            for first in (1, 5):
                shares[f"{name} in {first}"] = round(hits[:, :first].any(1).float().mean().item(), 4)
        return shares

    @torch.inference_mode()
    def sides(self, model: ContrastivePair, split: str) -> dict[str, float]:
        """The share of pictures that fit their own caption better than the swapped one."""
        part = self.splits[split]
        rows = [row for row, scene in enumerate(part.scenes) if swapped(scene.caption)]
        captions = [part.scenes[row].caption for row in rows]
        tokens, lengths = self.read([*captions, *map(swapped, captions)])
        texts = model.read(tokens.to(device()), lengths)
        pictures = model.see(part.grids[rows].to(device()))
        own, other = ((pictures * texts[k : k + len(rows)]).sum(1) for k in (0, len(rows)))
        return {"of": len(rows), "right": round((own > other).float().mean().item(), 4)}


def measure(
    pairs: Pairs,
    rates: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
    epochs: int,
    sizes: dict[str, int],
) -> dict[str, Any]:
    """What pairs teach, with ordinary batches and with swapped captions among them.

    Args:
        rates: learning rates, tried for both.
        choose: seeds with which the best is chosen, by the mean of the shares found on "valid".
        seeds: seeds with which it is judged, on "test".
        epochs: of every training.
        sizes: of the models.

    Returns:
        For "pairs" and "swapped" ``tried``, ``rate``, ``found`` and ``sides`` for each seed; "names",
        what is found by the names of the things alone; "shown", numbers of test scenes, and "fit",
        their logits from the first seed.
    """
    found: dict[str, Any] = {"names": pairs.found(pairs.by_names("test"), "test")}
    for name, hard in (("pairs", False), ("swapped", True)):

        def mean(rate: float, seed: int, hard: bool = hard) -> float:
            model = pairs.train(rate, seed, epochs, hard, **sizes)
            shares = pairs.found(pairs.logits(model, "valid"), "valid")
            return sum(shares.values()) / len(shares)

        tried = {rate: sum(mean(rate, seed) for seed in choose) / len(choose) for rate in rates}
        best = max(tried, key=tried.__getitem__)
        models = [pairs.train(best, seed, epochs, hard, **sizes) for seed in seeds]
        logits = [pairs.logits(model, "test") for model in models]
        found[name] = {
            "tried": {f"{rate:g}": round(share, 4) for rate, share in tried.items()},
            "rate": best,
            "found": [pairs.found(each, "test") for each in logits],
            "sides": [pairs.sides(model, "test") for model in models],
        }
        if not hard:
            drawn = torch.randperm(len(logits[0]), generator=torch.Generator().manual_seed(0))[:SHOWN]
            found["shown"] = drawn.tolist()
            found["fit"] = [[round(x, 2) for x in row] for row in logits[0][drawn][:, drawn].tolist()]
        print(name, found[name], flush=True)
    return found


class ScenePairTask(Task):
    """A :class:`models.ScenePair` on the grids of ``questions-compared``, stored for readers to ask."""

    use = "model.see(pictures) and model.read(captions)"
    why_not_translate = "says how well a picture and a caption fit: it has nothing to translate"

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The words of the grammar for the things of the training scenes."""
        words = Vocabulary(grammar.vocabulary(kinds("train")))
        return words, words

    def pairs(self, words: Vocabulary, *names: str) -> Pairs:
        """Pictures and captions of splits."""
        counts, splits = {"train": self.recipe.options["scenes"], **HELD_OUT}, {}
        for name in names:
            scenes = [data.compose(number, name) for number in range(counts[name])]
            splits[name] = SceneGrids(scenes, data.to_tensor(numpy.stack([one.image for one in scenes])))
        return Pairs(splits, words)

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> Loader:
        """Shuffled pairs of pictures and captions."""
        return self.pairs(target, split).batches(self.recipe.seed, hard=False, split=split)

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """The eyes come from ``questions-compared`` and stay as they are."""
        stored = storage.read_weights(storage.FILES / "questions-compared")
        model.load_state_dict(
            {k: v for k, v in stored.items() if k.startswith("encoder.")}, strict=False
        )

    def loss(self) -> Callable:
        """The contrastive loss."""
        return pair_loss

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss on batches of the validation scenes."""
        return mean_over(
            self.batches(source, target, "valid"), pair_loss, lambda batch: len(batch.tokens)
        )

    def measure(self, system: System) -> dict[str, Any]:
        """What is found among the test scenes, and whether a caption fits better than swapped."""
        pairs = self.pairs(system.target, "test")
        found = pairs.found(pairs.logits(system.model, "test"), "test")
        return {"found": found, "sides": pairs.sides(system.model, "test")}
