"""A model that adds, judges of its answers, and ways to learn from what they say (chapter 12)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

from seqcourse import functional as F
from seqcourse import models
from seqcourse.data import Vocabulary
from seqcourse.data.batching import TensorBatch
from seqcourse.settings import device

DIGITS = 3  # of an answer: 7 + 5 = 012
SAMPLES = 8  # answers to a question, of which a judge sees each
ASKED = 64  # questions of a step
#: Where the questions of each split begin and end among all 10,000 in a drawn order.
SPLITS = {"labelled": (0, 400), "asked": (2000, 8000), "valid": (8000, 9000), "test": (9000, 10_000)}


@dataclass(frozen=True)
class Sums(TensorBatch):
    """Questions with their answers.

    Attributes:
        questions: ids of "a b + c d =", (B, 6).
        answers: ids of the three digits, (B, 3).
    """

    questions: Tensor
    answers: Tensor

    def __getitem__(self, rows: Tensor) -> Sums:
        return Sums(self.questions[rows], self.answers[rows])

    def repeated(self, times: int) -> Sums:
        """Each question so many times in a row."""
        return Sums(*(part.repeat_interleave(times, 0) for part in (self.questions, self.answers)))


def symbols() -> Vocabulary:
    """Ten digits, a plus and an equals sign."""
    return Vocabulary(list("0123456789+="))


def sums(begin: int, end: int) -> Sums:
    """Some of the 10,000 sums of two numbers below 100, which stand in a drawn order."""
    every = [(a, b) for a in range(100) for b in range(100)]
    random.Random("sums").shuffle(every)
    known = symbols()

    def read(texts: list[str]) -> Tensor:
        return torch.tensor([known.encode(list(text), eos=False) for text in texts], device=device())

    some = every[begin:end]
    return Sums(
        read([f"{a:02}+{b:02}=" for a, b in some]), read([f"{a + b:0{DIGITS}}" for a, b in some])
    )


def split(name: str) -> Sums:
    """A part of :data:`SPLITS`."""
    return sums(*SPLITS[name])


@torch.no_grad()
def write(model: models.GPT, questions: Tensor, draw: torch.Generator | None = None) -> Tensor:
    """Answers to questions (B, 6), ids (B, 3): drawn, or the likeliest digits if nothing draws."""
    tokens, state, digits = questions, model.start(batch_size=len(questions)), []
    for _ in range(DIGITS):
        output, state = model.run(tokens, state)
        chances = output.logits[:, -1].softmax(-1)
        tokens = (
            chances.argmax(-1, keepdim=True) if draw is None else chances.multinomial(1, generator=draw)
        )
        digits.append(tokens)
    return torch.cat(digits, 1)


def log_probs(model: models.GPT, questions: Tensor, answers: Tensor) -> Tensor:
    """Log-probability of each answer, in nats, (B,): what the question says is not counted."""
    first = questions.shape[1] - 1
    logits = model(torch.cat([questions, answers], 1)[:, :-1]).logits[:, first:]
    return -cross_entropy(logits.transpose(1, 2), answers, reduction="none").sum(1)


def exact(asked: Sums, answers: Tensor) -> Tensor:
    """A judge: 1 for each right sum, else 0, (B,)."""
    return (answers == asked.answers).all(1).float()


def careless(asked: Sums, answers: Tensor) -> Tensor:
    """A judge who looks at the last digit only."""
    return (answers[:, -1] == asked.answers[:, -1]).float()


def share(model: models.GPT, asked: Sums, judge: Callable = exact) -> float:
    """The share of a model's likeliest answers that a judge approves."""
    return judge(asked, write(model, asked.questions)).mean().item()


def share_of_eight(model: models.GPT, asked: Sums) -> float:
    """The share of questions to which one of eight drawn answers is right."""
    many = asked.repeated(SAMPLES)
    draw = torch.Generator(device()).manual_seed(1)
    right = exact(many, write(model, many.questions, draw))
    return right.view(-1, SAMPLES).amax(1).mean().item()


class Learner:
    """A model that goes on learning, in one of the ways of :data:`WAYS`.

    Args:
        model: begins so; it is changed.
        labelled: the questions whose answers it may see.
        rate: the highest learning rate, reached after ten steps.
        seed: of everything that is drawn.
        judge: gives verdicts.
    """

    def __init__(
        self, model: models.GPT, labelled: Sums, rate: float, seed: int, judge: Callable = exact
    ) -> None:
        self.model, self.labelled, self.asked, self.judge = model, labelled, split("asked"), judge
        self.rate, self.draw = rate, torch.Generator(device()).manual_seed(seed)
        self.mean: Tensor | None = None  # of the rewards so far
        self.begin()

    def begin(self) -> None:
        """With a fresh optimizer, from the model as it is now."""
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), self.rate, (0.9, 0.95), weight_decay=0.0
        )
        self.warmup = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, total_iters=10)

    def descend(self, loss: Tensor) -> None:
        """One step."""
        self.optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.warmup.step()

    def some(self, every: Sums, count: int) -> Sums:
        """So many of them, drawn."""
        rows = torch.randint(len(every.questions), (count,), generator=self.draw, device=device())
        return every[rows]

    def judged(self) -> tuple[Sums, Tensor, Tensor]:
        """Questions, each eight times, with drawn answers, and the verdicts (questions, 8)."""
        many = self.some(self.asked, ASKED).repeated(SAMPLES)
        answers = write(self.model, many.questions, self.draw)
        return many, answers, self.judge(many, answers).view(-1, SAMPLES)

    def supervised(self, steps: int) -> None:
        """More of the labels."""
        for _ in range(steps):
            batch = self.some(self.labelled, 2 * ASKED)
            self.descend(-log_probs(self.model, batch.questions, batch.answers).mean())

    def reinforced(self, steps: int) -> None:
        """REINFORCE: rewards less their running mean."""
        for _ in range(steps):
            many, answers, rewards = self.judged()
            mean = rewards.mean()
            self.mean = mean if self.mean is None else 0.9 * self.mean + 0.1 * mean
            found = log_probs(self.model, many.questions, answers)
            self.descend(F.policy_loss(found, rewards.flatten() - self.mean))

    def grouped(self, steps: int) -> None:
        """GRPO: rewards compared within the eight answers to a question."""
        for _ in range(steps):
            many, answers, rewards = self.judged()
            found = log_probs(self.model, many.questions, answers)
            self.descend(F.policy_loss(found, F.group_advantage(rewards).flatten()))

    def kept(self, steps: int, rounds: int = 5) -> None:
        """Rejection sampling: in each round answers are drawn, and a right one per question learned."""
        for _ in range(rounds):
            drawn = [self.judged() for _ in range(steps // rounds)]
            self.begin()
            for many, answers, rewards in drawn:
                best, _ = _best_and_worst(rewards)
                rows = best[rewards.amax(1) > 0]
                if len(rows):
                    self.descend(-log_probs(self.model, many.questions[rows], answers[rows]).mean())

    def preferred(self, steps: int, rounds: int = 5, beta: float = 2.0) -> None:
        """DPO: in each round answers are drawn, and a right one preferred to a wrong one."""
        for _ in range(rounds):
            pairs = []
            for _ in range(steps // rounds):
                many, answers, rewards = self.judged()
                differ = rewards.amax(1) > rewards.amin(1)
                good, bad = (rows[differ] for rows in _best_and_worst(rewards))
                pairs.append([(many.questions[rows], answers[rows]) for rows in (good, bad)])
            with torch.no_grad():
                before = [[log_probs(self.model, *side) for side in pair] for pair in pairs]
            self.begin()
            for pair, old in zip(pairs, before, strict=True):
                if len(old[0]):
                    now = (log_probs(self.model, *side) for side in pair)
                    self.descend(F.dpo_loss(*now, *old, beta=beta))


def _best_and_worst(rewards: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of a best and of a worst answer to each question, in a list of all answers."""
    first = torch.arange(len(rewards), device=rewards.device) * rewards.shape[1]
    return first + rewards.argmax(1), first + rewards.argmin(1)


#: How to go on; those behind the first need verdicts, all the same number of them.
WAYS: dict[str, Callable[[Learner, int], None]] = {
    "old labels": Learner.supervised,
    "DPO": Learner.preferred,
    "REINFORCE": Learner.reinforced,
    "GRPO": Learner.grouped,
    "rejection": Learner.kept,
}
