"""The one training loop of the course."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse.errors import CourseError
from seqcourse.settings import device
from seqcourse.train.checkpoint import load_checkpoint, random_state, save_checkpoint, set_random_state
from seqcourse.train.precision import accelerator_for
from seqcourse.train.processes import over_processes
from seqcourse.train.progress import progress

DECAYS = ("constant", "linear", "cosine")

Loss = Callable[[nn.Module, Any], Tensor]


@dataclass
class TrainingConfig:
    """How to train.

    Attributes:
        epochs: passes over the training batches.
        max_steps: stop after that many steps, whatever the epochs say; None for no limit.
        learning_rate: the highest one, of Adam (Kingma and Ba 2015).
        warmup_steps: steps over which the rate climbs linearly from 0.
        decay: "constant", or "linear" or "cosine" towards 0 at the last step, but never below a
            twentieth of the highest rate.
        weight_decay: decoupled, as in AdamW (Loshchilov and Hutter 2019).
        clip_norm: largest norm of the gradient over all parameters; a larger gradient is scaled down
            to it (Pascanu et al. 2013).
        patience: epochs without a better validation value before stopping; None to go on.
        precision: "auto" (bf16 on a GPU that has it, else 32 bits), "fast" (bf16 wherever it is
            quicker than 32 bits: such a GPU, or a processor with AMX), "no", "bf16" or "fp16".
        save_every: steps between checkpoints (one is also written after each epoch).

    Raises:
        ValueError: if a number is too small or the decay is unknown.
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

    def __post_init__(self) -> None:
        least = {"epochs": 0, "max_steps": 0, "warmup_steps": 0, "weight_decay": 0}
        for name, bound in {**least, "patience": 1, "save_every": 1}.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise ValueError(f"{name} should be at least {bound}, but it is {value}.")
        for name in ("learning_rate", "clip_norm"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(
                    f"{name} should be a finite number greater than 0, but is {getattr(self, name)}."
                )
        if self.decay not in DECAYS:
            raise ValueError(f"decay should be one of {', '.join(DECAYS)}, not {self.decay!r}.")


@dataclass
class History:
    """What a run measured: a loss per step, and per epoch its mean loss, validation value, seconds.

    With several processes each keeps the losses of its own steps; what is kept per epoch is the mean
    of all processes, except for the seconds.
    """

    step_losses: list[float] = field(default_factory=list)
    epoch_losses: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def total_seconds(self) -> float:
        """Seconds of training, validation not counted."""
        return sum(self.seconds)


class Trainer:
    """Train a model on batches: Adam (Kingma and Ba 2015), warm-up and decay, clipping, checkpoints,
    early stop.

    Device, mixed precision and several processes (``accelerate launch``) are Accelerate's work. With
    several processes each takes every n-th batch, and gradients are averaged; batches that are left
    over when each has had as many are skipped. Each batch counts by its ``terms``. So n processes make
    the steps that one makes on batches n times as large, if nothing is drawn at random and the loss
    is a mean over these terms, or a sum whose other means are :func:`counted` (``bert_loss``,
    ``fine_tuning_loss``). It is not quite so where the rows of a batch are compared with each other
    (``captioning_loss`` with places that are drawn).

    Args:
        model: any module.
        loss: ``loss(model, batch)`` gives a scalar; batches are moved with their ``to(device)``.
        config: how to train.
        folder: where ``checkpoint.pt`` is kept, or None to keep none.
    """

    def __init__(
        self, model: nn.Module, loss: Loss, config: TrainingConfig, folder: Path | None = None
    ) -> None:
        self.loss, self.config = loss, config
        self.accelerator = accelerator_for(config.precision)
        self.model = model.to(self._device)
        self.checkpoint = Path(folder) / "checkpoint.pt" if folder is not None else None
        self.optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            fused=True,  # one pass over the numbers instead of a dozen
        )
        self.history = History()
        self.epoch = self.step = self.step_in_epoch = 0
        self.best: dict[str, Tensor] | None = None
        self._loss_sum = self._seconds = 0.0
        self._total: int | None = None

    @property
    def _device(self) -> torch.device:
        """The course's; with several processes Accelerate gives each its own."""
        return device() if self.accelerator.num_processes == 1 else self.accelerator.device

    def fit(
        self,
        batches: Iterable[Any],
        validate: Callable[[nn.Module], float] | None = None,
        resume: bool = False,
        on_epoch: Callable[[Trainer], None] | None = None,
    ) -> History:
        """Train until the epochs are over, ``max_steps`` is reached, or patience has run out.

        Args:
            batches: has a length and can be gone through once per epoch; if it has ``set_epoch``, that
                is called with the epoch's number.
            validate: gives a number per epoch, lower is better.
            resume: go on from the checkpoint in ``folder`` if there is one. The result is the same,
                bit for bit on one CPU, as that of a run that was never interrupted.
            on_epoch: called after each epoch, with several processes in each of them.

        Returns:
            The history, also kept as ``trainer.history``.

        Raises:
            CourseError: if the loss or the validation value stops being a number, there are no
                batches, or the checkpoint is of another run.
        """
        self.accelerator = accelerator_for(self.config.precision)  # a later trainer may have changed it
        self._total = self._total_steps(batches)
        objective, optimizer = self._prepare()
        if resume and self.checkpoint is not None and self.checkpoint.is_file():
            self._restore()
        while not self._finished():
            self._run_epoch(objective, optimizer, batches)
            if self.step_in_epoch:  # max_steps ended the run inside an epoch
                self._save()
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
        """Learning rate of a step, counted from 0; where it decays, ``fit`` has to know the last one."""
        config = self.config
        if step < config.warmup_steps:
            return config.learning_rate * (step + 1) / config.warmup_steps
        if config.decay == "constant":
            return config.learning_rate
        if self._total is None:
            raise ValueError("How fast the rate decays depends on the batches: call fit first.")
        done = (step - config.warmup_steps) / max(1, self._total - config.warmup_steps)
        done = min(1.0, done)
        left = 1 - done if config.decay == "linear" else (1 + math.cos(math.pi * done)) / 2
        return config.learning_rate * max(0.05, left)

    def _total_steps(self, batches: Iterable[Any]) -> int:
        """Steps of the whole run, if all epochs are as long as the first."""
        self._first_epoch = self._begin_epoch(batches, 0)
        total = self._first_epoch * self.config.epochs
        return total if self.config.max_steps is None else min(total, self.config.max_steps)

    def _begin_epoch(self, batches: Iterable[Any], epoch: int) -> int:
        """Put the batches into the epoch's order; how many of them each process takes."""
        if hasattr(batches, "set_epoch"):
            batches.set_epoch(epoch)
        if not hasattr(batches, "__len__"):
            raise CourseError(
                f"Training goes through the batches once per epoch and has to know how many there are, "
                f"so they should be a list or a loader, but they are a {type(batches).__name__}. "
                f"A list works: list(batches)."
            )
        each = len(batches) // self.accelerator.num_processes
        if each == 0:
            raise CourseError(
                f"Training needs at least one batch per process, but there are {len(batches)} batches "
                f"for {self.accelerator.num_processes} processes. Use more data or smaller batches."
            )
        return each

    def _prepare(self) -> tuple[nn.Module, Any]:
        objective = _Objective(self.model, self.loss)
        optimizer = self.accelerator.prepare(self.optimizer)
        if self.accelerator.num_processes > 1:
            return self.accelerator.prepare(objective), optimizer
        return objective, optimizer

    def _finished(self) -> bool:
        return self.epoch >= self.config.epochs or self._steps_over() or self._patience_over()

    def _steps_over(self) -> bool:
        return self.config.max_steps is not None and self.step >= self.config.max_steps

    def _patience_over(self) -> bool:
        valid, patience = self.history.valid, self.config.patience
        if patience is None or not valid:
            return False
        return len(valid) > patience + valid.index(min(valid))

    def _run_epoch(self, objective: nn.Module, optimizer: Any, batches: Iterable[Any]) -> None:
        accelerator = self.accelerator
        each = self._begin_epoch(batches, self.epoch)
        mine = islice(batches, accelerator.process_index, None, accelerator.num_processes)
        todo = islice(mine, self.step_in_epoch, each)
        if accelerator.is_main_process:
            left = each - self.step_in_epoch
            if self.config.max_steps is not None:
                left = min(left, self.config.max_steps - self.step)
            todo = progress(todo, f"epoch {self.epoch + 1}", left)
        objective.train()
        for batch in todo:
            began = time.perf_counter()
            self._take_step(objective, optimizer, batch.to(self._device))
            self._seconds += time.perf_counter() - began
            if self._steps_over() and self.step_in_epoch < each:
                return
            if self.step % self.config.save_every == 0:
                self._save()
        if self.step_in_epoch == 0:
            raise CourseError(
                f"The batches gave nothing in epoch {self.epoch + 1}. Give something that can be gone "
                f"through again, such as a list or data.Batches, and no iterator."
            )
        self.history.epoch_losses.append(self._mean(self._loss_sum / self.step_in_epoch))
        self.history.seconds.append(self._seconds)
        self.epoch, self.step_in_epoch = self.epoch + 1, 0
        self._loss_sum = self._seconds = 0.0

    def _mean(self, value: float) -> float:
        """Mean over the processes, so that all of them go on with, and stop at, the same number."""
        if self.accelerator.num_processes == 1:
            return value
        own = torch.tensor(value, dtype=torch.float64, device=self._device)
        return self.accelerator.reduce(own, "mean").item()

    def _share(self, batch: Any) -> float:
        """How much this process's batch counts beside those of the others, 1 on average."""
        if self.accelerator.num_processes == 1:
            return 1.0
        terms = float(getattr(batch, "terms", 1))
        return terms / self._mean(terms)

    def _take_step(self, objective: nn.Module, optimizer: Any, batch: Any) -> None:
        for group in optimizer.param_groups:
            group["lr"] = self.rate(self.step)
        several = self.accelerator.num_processes > 1
        weighing = over_processes(self._mean) if several else nullcontext()
        with self.accelerator.autocast(), weighing:
            loss = objective(batch)
        value = loss.item()
        if not math.isfinite(value):
            if getattr(batch, "terms", 1) == 0:
                raise CourseError(
                    f"The batch of step {self.step + 1} asks for nothing: none of its targets is real, "
                    f"so its mean loss is {value}. Leave such batches out."
                )
            raise CourseError(
                f"The loss became {value} at step {self.step + 1}. Try a lower learning rate than "
                f"{self.config.learning_rate:g}, a warm-up, or a smaller clip_norm."
            )
        optimizer.zero_grad(set_to_none=True)
        self.accelerator.backward(loss * self._share(batch))
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
        optimizer.step()
        self.step, self.step_in_epoch = self.step + 1, self.step_in_epoch + 1
        self.history.step_losses.append(value)
        self._loss_sum += value

    def _validate(self, validate: Callable[[nn.Module], float]) -> None:
        self.model.eval()
        with torch.no_grad():
            value = self._mean(float(validate(self.model)))
        if math.isnan(value):
            raise CourseError(
                f"The validation value became nan after epoch {self.epoch}. Is there nothing to "
                f"validate on, or does the model write numbers that are none?"
            )
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
            "first_epoch": self._first_epoch,
            "scaler": None if self.accelerator.scaler is None else self.accelerator.scaler.state_dict(),
        }
        save_checkpoint(self.checkpoint, content)

    def _restore(self) -> None:
        content = load_checkpoint(self.checkpoint)
        if content["config"] != asdict(self.config):
            raise CourseError(
                f"{self.checkpoint} was made with other training options than are asked for now. "
                f"Use the same options, another folder, or train without resuming."
            )
        if content["first_epoch"] != self._first_epoch:
            raise CourseError(
                f"{self.checkpoint} was made with {content['first_epoch']} batches for each process and "
                f"epoch, but now there are {self._first_epoch}. Use the same data, batch size and "
                f"number of processes, another folder, or train without resuming."
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
        if self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(content["scaler"])
        set_random_state(content["random"])


class _Objective(nn.Module):
    """The loss as a function of the batch alone: what several processes share as one module.

    So a loss may call any method of the model, not only ``forward``, and gradients are still averaged.
    """

    def __init__(self, model: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Any) -> Tensor:
        return self.loss(self.model, batch)
