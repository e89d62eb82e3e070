"""Sums of two numbers: what verdicts teach a model once its right answers are used up (chapter 12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqcourse import models
from seqcourse.data import Vocabulary
from seqcourse.data.batching import Loader, epoch_generator
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks.verdicts import (
    DIGITS,
    WAYS,
    Learner,
    Sums,
    careless,
    exact,
    log_probs,
    share,
    share_of_eight,
    split,
    sums,
    symbols,
)


class Labelled(Loader):
    """Batches of labelled sums, drawn anew in every epoch."""

    def __init__(self, known: Sums, steps: int, batch_size: int, seed: int) -> None:
        def plan(epoch: int) -> Sequence[Tensor]:
            draw = epoch_generator(seed, epoch)
            return torch.randint(len(known.questions), (steps, batch_size), generator=draw)

        super().__init__(plan, lambda rows: known[rows.to(device())])


def answer_loss(model: models.GPT, batch: Sums) -> Tensor:
    """Mean cross-entropy of the answers' digits: the loss of instruction tuning."""
    return -log_probs(model, batch.questions, batch.answers).mean() / DIGITS


def whole_loss(model: models.GPT, batch: Sums) -> Tensor:
    """The same of every token, the questions' own among them: what a language model learns."""
    rows = torch.cat([batch.questions, batch.answers], 1)
    return cross_entropy(model(rows[:, :-1]).logits.transpose(1, 2), rows[:, 1:])


class SumsTask(Task):
    """A small GPT that adds: from few labels, then from verdicts."""

    studies = only_measured = ("verdicts", "masked", "early", "careless")
    why_not_translate = "adds two numbers: it has nothing to translate"

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Digits and signs."""
        return symbols(), symbols()

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> Labelled:
        """Of the labelled sums."""
        return self._labelled(self.recipe.options["labels"], self.recipe.seed)

    def loss(self) -> Callable:
        """Cross-entropy of the answers."""
        return answer_loss

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """The share of held-out sums that are wrong."""
        held_out = split("valid")
        return lambda model: 1 - share(model, held_out)

    def measure(self, system: System) -> dict[str, Any]:
        """Right answers to the labelled and to other questions."""
        known = round(share(system.model, split("labelled")), 4)
        return self._judged(system.model) | {"labelled": known}

    def study(self, system: System, name: str) -> Any:
        """Other starts: what verdicts add, and what misleads (chapter 12c)."""
        return getattr(self, f"_{name}")(**self.recipe.options[name])

    def _labelled(self, count: int, seed: int) -> Labelled:
        options = self.recipe.options
        return Labelled(sums(0, count), options["steps"], self.recipe.batch_size, seed)

    def _start(
        self,
        seed: int,
        labels: int | None = None,
        epochs: int | None = None,
        loss: Callable = answer_loss,
        rate: float | None = None,
    ) -> models.GPT:
        """A model that has learned from labels, as the recipe says unless told otherwise."""
        seed_everything(seed)
        training = self.recipe.training
        config = replace(
            training, epochs=epochs or training.epochs, learning_rate=rate or training.learning_rate
        )
        model = models.GPT(len(symbols()), **self.recipe.sizes).to(device())
        Trainer(model, loss, config).fit(self._labelled(labels or self.recipe.options["labels"], seed))
        return model.eval()

    def _judged(self, model: models.GPT) -> dict[str, float]:
        """Right answers to the questions of "test": likeliest, and one of eight drawn ones."""
        held_out = split("test")
        return {
            "right": round(share(model, held_out), 4),
            "of_eight": round(share_of_eight(model, held_out), 4),
        }

    def _verdicts(
        self,
        rates: Sequence[float],
        betas: Sequence[float],
        choose: Sequence[int],
        seeds: Sequence[int],
        steps: int,
        new: int,
    ) -> list[dict[str, Any]]:
        """Every way of going on, DPO with each beta, and as many steps with ``new`` more labels."""
        starts = {seed: self._start(seed) for seed in {*choose, *seeds}}
        known = self.recipe.options["labels"]
        ways = [(way, {}, take, known) for way, take in WAYS.items() if way != "DPO"]
        ways += [("DPO", {"beta": b}, partial(Learner.preferred, beta=b), known) for b in betas]
        ways.append(("new labels", {}, Learner.supervised, known + new))
        rows: list[dict[str, Any]] = [
            {"way": "start", "runs": [self._judged(starts[seed]) for seed in seeds]}
        ]
        for way, settings, take, labels in ways:

            def gone_on(rate: float, seed: int, take=take, labels=labels) -> models.GPT:
                model = deepcopy(starts[seed])
                take(Learner(model, sums(0, labels), rate, seed), steps)
                return model

            rows.append({"way": way, **settings, **self._chosen(gone_on, rates, choose, seeds)})
            print(rows[-1], flush=True)
        return rows

    def _masked(
        self, rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int]
    ) -> dict[str, dict[str, Any]]:
        """The same start with the loss of the answers alone, and with that of every token."""
        found = {}
        for name, loss in {"answers": answer_loss, "everything": whole_loss}.items():

            def started(rate: float, seed: int, loss=loss) -> models.GPT:
                return self._start(seed, loss=loss, rate=rate)

            found[name] = self._chosen(started, rates, choose, seeds)
        return found

    def _early(
        self,
        labels: int,
        epochs: int,
        rates: Sequence[float],
        choose: Sequence[int],
        seeds: Sequence[int],
        steps: int,
    ) -> dict[str, Any]:
        """The same for a start that stopped early, with labels left to learn from."""
        starts = {seed: self._start(seed, labels, epochs) for seed in {*choose, *seeds}}
        found: dict[str, Any] = {"start": [self._judged(starts[seed]) for seed in seeds]}
        for way in ("old labels", "GRPO", "rejection"):

            def gone_on(rate: float, seed: int, way=way) -> models.GPT:
                model = deepcopy(starts[seed])
                WAYS[way](Learner(model, sums(0, labels), rate, seed), steps)
                return model

            found[way] = self._chosen(gone_on, rates, choose, seeds)
        return found

    def _careless(self, rate: float, seeds: Sequence[int], steps: int, every: int) -> list[list[Any]]:
        """What a careless judge and an exact one say of a model that learns from the careless one:
        for each seed rows of steps, approved and right.
        """
        held_out, found = split("test"), []
        for seed in seeds:
            model, seen = self._start(seed), []
            learner = Learner(model, split("labelled"), rate, seed, careless)
            for done in range(0, steps + 1, every):
                if done:
                    learner.grouped(every)
                seen.append(
                    [done, *(round(share(model, held_out, judge), 4) for judge in (careless, exact))]
                )
            found.append(seen)
        return found

    def _chosen(
        self,
        train: Callable[[float, int], models.GPT],
        rates: Sequence[float],
        choose: Sequence[int],
        seeds: Sequence[int],
    ) -> dict[str, Any]:
        """``tried``, right answers on "valid" by rate, the mean over the seeds to choose by; the best
        ``rate``; ``runs`` on "test" with the other seeds.
        """
        held_out = split("valid")
        tried = {
            rate: sum(share(train(rate, seed), held_out) for seed in choose) / len(choose)
            for rate in rates
        }
        best = max(tried, key=tried.__getitem__)
        return {
            "tried": {f"{rate:g}": round(right, 4) for rate, right in tried.items()},
            "rate": best,
            "runs": [self._judged(train(best, seed)) for seed in seeds],
        }
