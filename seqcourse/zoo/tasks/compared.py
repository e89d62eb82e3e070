"""Three ways to answer questions about scenes, of equal size, on the grids of one frozen network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from seqcourse.data import Question, QuestionBatches, Vocabulary, compose
from seqcourse.data.questions import QUESTION_KINDS
from seqcourse.models import TwoStream
from seqcourse.settings import seed_everything
from seqcourse.tokens import MASK, SPECIALS
from seqcourse.train import Trainer, answer_loss, region_loss
from seqcourse.zoo.system import System
from seqcourse.zoo.tasks import captioned, paired
from seqcourse.zoo.tasks.evaluation import mean_over
from seqcourse.zoo.tasks.questions import HELD_OUT, QuestionTask, by_kind, encode, scenes

#: Who reads what: each stream the other; each stream only itself; the same with the picture hidden.
WAYS = ("co-attention", "apart", "text")


class ComparedTask(QuestionTask):
    """Train a :class:`models.GridNamer` to name the things on a scene's grid. Then, as ViLBERT does with
    its detector, freeze it, and compare on its grids three ways to answer questions.

    All of them are a :class:`models.TwoStream` with the same parameters, the same product at the end
    and the same training, each at the best of the same rates; each run keeps its best epoch on the
    validation scenes.
    """

    vocabulary_sizes = 1
    only_measured = studies = ("ways", "captioned", "paired")

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """Nothing: naming things is the training itself."""

    def loss(self) -> Callable:
        """Cross-entropy of the thing at each place."""
        return region_loss

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss per place on the validation scenes."""
        batches = self.batches(source, target, "valid")
        return mean_over(list(batches), region_loss, lambda batch: len(batch.labels))

    def measure(self, system: System) -> dict[str, Any]:
        """The share of places with a thing that are named rightly, on the test scenes."""
        things = [
            [system.target.id(name) if name else 0 for name in names]
            for names in scenes("test", HELD_OUT["test"]).grids
        ]
        regions = torch.tensor(things)
        with torch.inference_mode():
            grids = self._grids(system, "test").to(system.device)
            named = system.model.region(grids).argmax(-1).cpu()
        return {"named": (named == regions)[regions > 0].float().mean().item()}

    def ways(self, system: System) -> dict[str, Any]:
        """The ways to answer, compared.

        Returns:
            For each way its ``parameters``, the least validation loss that each rate ``tried`` led to,
            the ``rate``, and for each of the ``runs`` the figures of :func:`by_kind`. "ahead": how many
            more questions of each kind streams that meet answer, with an interval of 95 %.
        """
        grids = {split: self._grids(system, split) for split in ("train", "valid", "test")}
        found, right = {}, {}
        for way in WAYS:
            found[way], right[way] = self._runs(system, way, grids)
        return {**found, "ahead": ahead_by_kind(right["co-attention"] - right["apart"])}

    def study(self, system: System, name: str) -> Any:
        """Chapter 14's trainings on the same grids: ways to answer, captions first, and pairs alone."""
        options = self.recipe.options
        if name == "ways":
            return self.ways(system)
        counts = {"train": options["scenes"], **HELD_OUT}
        composed = {
            split: [compose(number, split) for number in range(counts[split])]
            for split in ("train", "valid", "test")
        }
        captions = [scene.caption for scene in composed["train"]]
        read = {word for caption in captions for word in caption.split()}
        words = Vocabulary([MASK, *sorted(read.union(system.source.tokens[len(SPECIALS) :]))])
        parts = {split: self._part(system, split, words) for split in composed}
        if name == "paired":
            splits = {
                split: paired.SceneGrids(composed[split], part.grids, part.shown)
                for split, part in parts.items()
            }
            return paired.measure(paired.Pairs(splits, words, system.target), **options[name])
        lesson = captioned.CaptionLesson(parts, captions, words, len(system.target), options["sizes"])
        return captioned.measure(lesson, **options[name])

    def _part(self, system: System, split: str, words: Vocabulary) -> captioned.GridSplit:
        """A split as the trained network sees it, with its questions in these words."""
        grids = self._grids(system, split)
        found = scenes(split, len(grids))
        things = [[system.target.id(name) if name else 0 for name in names] for names in found.grids]
        with torch.inference_mode():
            shown = system.model.region(grids.to(system.device)).softmax(-1).cpu()
        asked = [[encode(one, words, system.target) for one in about] for about in found.asked]
        return captioned.GridSplit(grids, shown.clone(), torch.tensor(things), asked)

    def _grids(self, system: System, split: str) -> Tensor:
        """What the trained network makes of the pictures of a split, (N, places, D)."""
        count = self.recipe.options["scenes"] if split == "train" else HELD_OUT[split]
        images = torch.from_numpy(scenes(split, count).pictures).permute(0, 3, 1, 2)
        with torch.inference_mode():
            parts = [system.model(part.to(system.device)).cpu() for part in images.split(250)]
        return torch.cat(parts).clone()

    def _runs(
        self, system: System, way: str, grids: dict[str, Tensor]
    ) -> tuple[dict[str, Any], numpy.ndarray]:
        """One way to answer: figures, and for each question how often it was right."""
        options = self.recipe.options["ways"]
        if way == "text":  # all places alike: one of them has the same mean
            grids = {split: torch.zeros_like(grid[:, :1]) for split, grid in grids.items()}

        def least(rate: float) -> float:
            trained = [self._train(system, way, grids, rate, seed) for seed in options["choose"]]
            return sum(min(losses) for _, losses, _ in trained) / len(trained)

        tried = {rate: least(rate) for rate in options["rates"]}
        best = min(tried, key=tried.__getitem__)
        runs, right = [], []
        for seed in options["seeds"]:
            model, losses, test = self._train(system, way, grids, best, seed)
            right.append(_answered(model, test))
            runs.append({"seed": seed, "valid_loss": losses, **by_kind(_asked(), right[-1])})
            print(f"{way}, seed {seed}: {runs[-1]['accuracy']:.3f} right, {losses}", flush=True)
        figures = {
            "parameters": sum(p.numel() for p in model.parameters()),
            "tried": {f"{rate:g}": round(loss, 4) for rate, loss in tried.items()},
            "rate": best,
            "runs": runs,
        }
        return figures, numpy.mean(right, axis=0)

    def _train(
        self, system: System, way: str, grids: dict[str, Tensor], rate: float, seed: int
    ) -> tuple[TwoStream, list[float], QuestionBatches]:
        """A trained model, its validation losses by epoch, and the questions of the test scenes."""
        options = self.recipe.options
        seed_everything(seed)
        sizes = (len(system.source), len(system.target))
        fusion = "apart" if way == "text" else way
        model = TwoStream(*sizes, channels=None, fusion=fusion, **options["sizes"])
        task = QuestionTask(replace(self.recipe, seed=seed))
        batches = {
            split: task.batches(system.source, system.target, split, grid)
            for split, grid in grids.items()
        }
        training = replace(
            self.recipe.training,
            learning_rate=rate,
            epochs=options["ways"]["epochs"],
            patience=options["ways"]["patience"],
        )
        valid = mean_over(batches["valid"], answer_loss, lambda batch: len(batch.labels))
        history = Trainer(model, answer_loss, training).fit(batches["train"], validate=valid)
        return model, history.valid, batches["test"]


def ahead_by_kind(more: numpy.ndarray, draws: int = 2000) -> dict[str, dict[str, float]]:
    """The mean of ``more``, a number for each question of the test scenes, by kind of question, with its
    interval of 95 % when the scenes are drawn anew (bootstrap)."""
    about = scenes("test", HELD_OUT["test"]).asked
    scene = numpy.repeat(numpy.arange(len(about)), [len(questions) for questions in about])
    drawn = numpy.random.default_rng(0).integers(len(about), size=(draws, len(about)))
    found = {}
    for kind in QUESTION_KINDS:
        these = numpy.array([question.kind == kind for question in _asked()])
        count = numpy.bincount(scene[these], minlength=len(about))
        total = numpy.bincount(scene[these], more[these], minlength=len(about))
        means = total[drawn].sum(1) / count[drawn].sum(1)
        low, high = numpy.quantile(means, [0.025, 0.975])
        found[kind] = {"mean": float(total.sum() / count.sum()), "low": float(low), "high": float(high)}
    return found


def _asked() -> list[Question]:
    """All questions about the test scenes."""
    return [question for about in scenes("test", HELD_OUT["test"]).asked for question in about]


def _answered(model: nn.Module, batches: QuestionBatches) -> list[bool]:
    """For each question of the test scenes whether a model answers it rightly."""
    model.eval()
    to, right = next(model.parameters()).device, []
    with torch.inference_mode():
        for batch in batches:
            batch = batch.to(to)
            right += (model(*batch.inputs).answers.argmax(-1) == batch.labels).tolist()
    return right
