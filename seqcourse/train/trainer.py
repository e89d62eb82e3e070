"""The one training loop of the course."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse.errors import CourseError
from seqcourse.settings import device
from seqcourse.train.checkpoint import (
    load_checkpoint,
    random_state,
    save_checkpoint,
    set_random_state,
)
from seqcourse.train.progress import progress

Loss = Callable[[nn.Module, Any], Tensor]


@dataclass
class TrainingConfig:
    """How to train.

    Attributes:
        epochs: passes over the training batches.
        max_steps: stop after that many steps, whatever the epochs say; None for no limit.
        learning_rate: the highest one, of Adam (Kingma and Ba 2015).
        warmup_steps: steps over which the rate climbs linearly from 0.
        decay: "constant", or "linear" or "cosine" down to a twentieth at the last step.
        weight_decay: decoupled, as in AdamW.
        clip_norm: longest gradient that is taken; longer ones are shortened to it.
        patience: epochs without a better validation value before stopping; None to go on.
        precision: "auto" (bf16 on a GPU that has it, else 32 bits), "no", "bf16" or "fp16".
        save_every: steps between checkpoints (one is also written after each epoch).
    """

    epochs: int = 1
    max_steps: int | None = None
    learning_rate: float = 1e-3
    warmup_steps: int = 0
    decay: str = "constant"
    weight_decay: float = 0.0
    clip_norm: float = 1.0
    patience: int | None = None
    precision: str = "auto"
    save_every: int = 500


@dataclass
class History:
    """What a run measured: a loss per step, and per epoch its mean loss, validation value, seconds."""

    step_losses: list[float] = field(default_factory=list)
    epoch_losses: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def total_seconds(self) -> float:
        """Seconds of training, validation not counted."""
        return sum(self.seconds)


class Trainer:
    """Train a model on batches: Adam, warm-up and decay, clipping, checkpoints, early stop.

    Device, mixed precision and several processes (``accelerate launch``) are Accelerate's work. With
    several processes each takes every n-th batch, and gradients are averaged.

    Args:
        model: any module.
        loss: ``loss(model, batch)`` gives a scalar; batches are moved with their ``to(device)``.
        config: how to train.
        folder: where ``checkpoint.pt`` is kept, or None to keep none.
    """

    def __init__(
        self, model: nn.Module, loss: Loss, config: TrainingConfig, folder: Path | None = None
    ) -> None:
        if config.decay not in ("constant", "linear", "cosine"):
            raise ValueError(f"decay should be constant, linear or cosine, not {config.decay!r}.")
        self.loss, self.config = loss, config
        self.accelerator = _accelerator(config.precision)
        self.model = model.to(self.accelerator.device)
        self.checkpoint = Path(folder) / "checkpoint.pt" if folder is not None else None
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self.history = History()
        self.epoch = self.step = self.step_in_epoch = 0
        self.best: dict[str, Tensor] | None = None
        self._loss_sum = self._seconds = 0.0

    def fit(
        self,
        batches: Iterable[Any],
        validate: Callable[[nn.Module], float] | None = None,
        resume: bool = False,
        on_epoch: Callable[[Trainer], None] | None = None,
    ) -> History:
        """Train until the epochs are over, ``max_steps`` is reached, or patience has run out.

        Args:
            batches: has a length; if it has ``set_epoch``, that is called with the epoch's number.
            validate: gives a number per epoch, lower is better; the best epoch's weights are kept.
            resume: go on from the checkpoint in ``folder`` if there is one. The result is the same,
                bit for bit on one CPU, as that of a run that was never interrupted.
            on_epoch: called after each epoch.

        Returns:
            The history, also kept as ``trainer.history``.

        Raises:
            CourseError: if the loss stops being a number, or the checkpoint is of another run.
        """
        self._total = self._total_steps(batches)
        model, optimizer = self._prepare()
        if resume and self.checkpoint is not None and self.checkpoint.is_file():
            self._restore()
        while not self._finished():
            self._run_epoch(model, optimizer, batches)
            if self.step_in_epoch:  # max_steps ended the run inside an epoch
                break
            if validate is not None:
                self._validate(validate)
            if on_epoch is not None:
                on_epoch(self)
            self._save()
        if self.best is not None:
            self.model.load_state_dict(self.best)
        self.model.eval()
        return self.history

    def rate(self, step: int) -> float:
        """Learning rate of a step, counted from 0."""
        config = self.config
        if step < config.warmup_steps:
            return config.learning_rate * (step + 1) / config.warmup_steps
        if config.decay == "constant":
            return config.learning_rate
        done = (step - config.warmup_steps) / max(1, self._total - config.warmup_steps)
        left = 1 - done if config.decay == "linear" else (1 + math.cos(math.pi * done)) / 2
        return config.learning_rate * max(0.05, left)

    def _total_steps(self, batches: Iterable[Any]) -> int:
        self._per_epoch = len(batches) // self.accelerator.num_processes
        if self._per_epoch == 0:
            raise CourseError(
                f"Training needs at least one batch per process, but there are {len(batches)} batches "
                f"for {self.accelerator.num_processes} processes. Use more data or smaller batches."
            )
        total = self._per_epoch * self.config.epochs
        return total if self.config.max_steps is None else min(total, self.config.max_steps)

    def _prepare(self):
        optimizer = self.accelerator.prepare(self.optimizer)
        if self.accelerator.num_processes > 1:
            return self.accelerator.prepare(self.model), optimizer
        return self.model, optimizer

    def _finished(self) -> bool:
        return self.step >= self._total or self._patience_over()

    def _patience_over(self) -> bool:
        valid, patience = self.history.valid, self.config.patience
        if patience is None or not valid:
            return False
        return len(valid) > patience + valid.index(min(valid))

    def _run_epoch(self, model: nn.Module, optimizer: Any, batches: Iterable[Any]) -> None:
        accelerator = self.accelerator
        if hasattr(batches, "set_epoch"):
            batches.set_epoch(self.epoch)
        mine = islice(batches, accelerator.process_index, None, accelerator.num_processes)
        todo = islice(mine, self.step_in_epoch, self._per_epoch)
        model.train()
        bar = progress(todo, f"epoch {self.epoch + 1}", self._per_epoch - self.step_in_epoch)
        for batch in bar:
            began = time.perf_counter()
            self._take_step(model, optimizer, batch.to(accelerator.device))
            self._seconds += time.perf_counter() - began
            if self.step >= self._total and self.step_in_epoch < self._per_epoch:
                return
            if self.step % self.config.save_every == 0:
                self._save()
        self.history.epoch_losses.append(self._loss_sum / self._per_epoch)
        self.history.seconds.append(self._seconds)
        self.epoch, self.step_in_epoch = self.epoch + 1, 0
        self._loss_sum = self._seconds = 0.0

    def _take_step(self, model: nn.Module, optimizer: Any, batch: Any) -> None:
        for group in optimizer.param_groups:
            group["lr"] = self.rate(self.step)
        with self.accelerator.autocast():
            loss = self.loss(model, batch)
        value = loss.item()
        if value != value or value in (float("inf"), float("-inf")):
            raise CourseError(
                f"The loss became {value} at step {self.step + 1}. Try a lower learning rate than "
                f"{self.config.learning_rate:g}, a warm-up, or a smaller clip_norm."
            )
        optimizer.zero_grad(set_to_none=True)
        self.accelerator.backward(loss)
        self.accelerator.clip_grad_norm_(model.parameters(), self.config.clip_norm)
        optimizer.step()
        self.step, self.step_in_epoch = self.step + 1, self.step_in_epoch + 1
        self.history.step_losses.append(value)
        self._loss_sum += value

    def _validate(self, validate: Callable[[nn.Module], float]) -> None:
        self.model.eval()
        with torch.no_grad():
            value = float(validate(self.model))
        if not self.history.valid or value < min(self.history.valid):
            self.best = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
        self.history.valid.append(value)

    def _save(self) -> None:
        if self.checkpoint is None or not self.accelerator.is_main_process:
            return
        content = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "history": asdict(self.history),
            "best": self.best,
            "config": asdict(self.config),
            "position": [self.epoch, self.step, self.step_in_epoch],
            "sums": [self._loss_sum, self._seconds],
            "random": random_state(),
        }
        save_checkpoint(self.checkpoint, content)

    def _restore(self) -> None:
        content = load_checkpoint(self.checkpoint)
        if content["config"] != asdict(self.config):
            raise CourseError(
                f"{self.checkpoint} was made with other training options than are asked for now. "
                f"Use the same options, another folder, or train without resuming."
            )
        try:
            self.model.load_state_dict(content["model"])
        except RuntimeError as error:
            raise CourseError(
                f"{self.checkpoint} holds another model than the one to train. "
                f"Use another folder, or train without resuming."
            ) from error
        self.optimizer.load_state_dict(content["optimizer"])
        self.history = History(**content["history"])
        self.best = content["best"]
        self.epoch, self.step, self.step_in_epoch = content["position"]
        self._loss_sum, self._seconds = content["sums"]
        set_random_state(content["random"])


def _accelerator(precision: str):
    """An Accelerator for the course's device; Accelerate itself keeps one state per process."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    on_cpu = device().type == "cpu"
    if precision == "auto":
        precision = "bf16" if not on_cpu and torch.cuda.is_bf16_supported() else "no"
    if precision not in ("no", "bf16", "fp16"):
        raise ValueError(f"precision should be auto, no, bf16 or fp16, but it is {precision!r}.")
    if precision == "fp16" and on_cpu:
        raise ValueError("fp16 needs a GPU; on a CPU use 'no' or 'bf16'.")
    AcceleratorState._reset_state()  # two trainers of one process may differ in precision
    return Accelerator(mixed_precision=precision, cpu=on_cpu)
