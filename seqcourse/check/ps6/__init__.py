"""Self-checks of assignment 6, the Transformer: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps3.trying import experiment
from seqcourse.check.ps6 import counting, decoder, encoder, norms, schedule, smoothing, translating
from seqcourse.check.ps6.counting import (
    BLOCK_PARAMETERS,
    TRANSFORMER_PARAMETERS,
    block_arguments,
    block_parameters,
    reference_block_parameters,
    reference_transformer_parameters,
    transformer_arguments,
    transformer_parameters,
)
from seqcourse.check.ps6.decoder import (
    DECODER_BLOCK,
    decoder_arguments,
    decoder_block,
    reference_decoder_block,
)
from seqcourse.check.ps6.encoder import (
    ENCODER_BLOCK,
    encoder_arguments,
    encoder_block,
    reference_encoder_block,
)
from seqcourse.check.ps6.norms import LAYER_NORM, layer_norm, norm_arguments
from seqcourse.check.ps6.route import route
from seqcourse.check.ps6.schedule import (
    TOLERANCE,
    WARMUP_RATE,
    rate_arguments,
    reference_warmup_rate,
    warmup_rate,
)
from seqcourse.check.ps6.smoothing import (
    LABEL_SMOOTHED_LOSS,
    label_smoothed_loss,
    loss_arguments,
    reference_label_smoothed_loss,
)
from seqcourse.check.ps6.translating import (
    TRANSLATE,
    reference_translate,
    translate,
    translate_arguments,
)

FORBIDDEN = {}
for _part in (counting, decoder, encoder, norms, schedule, smoothing, translating):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "BLOCK_PARAMETERS",
    "DECODER_BLOCK",
    "ENCODER_BLOCK",
    "FORBIDDEN",
    "LABEL_SMOOTHED_LOSS",
    "LAYER_NORM",
    "TOLERANCE",
    "TRANSFORMER_PARAMETERS",
    "TRANSLATE",
    "WARMUP_RATE",
    "block_parameters",
    "block_arguments",
    "decoder_arguments",
    "decoder_block",
    "encoder_arguments",
    "encoder_block",
    "experiment",
    "label_smoothed_loss",
    "layer_norm",
    "loss_arguments",
    "norm_arguments",
    "polls",
    "rate_arguments",
    "reference_block_parameters",
    "reference_decoder_block",
    "reference_encoder_block",
    "reference_label_smoothed_loss",
    "reference_transformer_parameters",
    "reference_translate",
    "reference_warmup_rate",
    "route",
    "transformer_parameters",
    "transformer_arguments",
    "translate",
    "translate_arguments",
    "warmup_rate",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc", "poll_4": "abcd"}, answers)
