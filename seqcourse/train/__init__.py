"""Training: one loop, what decoders are fed, checkpoints that resume, a progress bar."""

from seqcourse.train.captioning import captioning_loss
from seqcourse.train.checkpoint import load_checkpoint, save_checkpoint
from seqcourse.train.ctc import ctc_loss
from seqcourse.train.labels import answer_loss, label_loss, region_loss
from seqcourse.train.pretraining import bert_loss, fine_tuning_loss, masked_word_loss
from seqcourse.train.processes import counted
from seqcourse.train.progress import progress
from seqcourse.train.regimes import (
    inverse_sigmoid_decay,
    language_model_loss,
    scheduled_sampling_loss,
    teacher_forcing_loss,
    unroll,
)
from seqcourse.train.trainer import History, Trainer, TrainingConfig

__all__ = [
    "History",
    "Trainer",
    "TrainingConfig",
    "answer_loss",
    "bert_loss",
    "captioning_loss",
    "counted",
    "ctc_loss",
    "fine_tuning_loss",
    "inverse_sigmoid_decay",
    "label_loss",
    "language_model_loss",
    "load_checkpoint",
    "masked_word_loss",
    "progress",
    "region_loss",
    "save_checkpoint",
    "scheduled_sampling_loss",
    "teacher_forcing_loss",
    "unroll",
]
