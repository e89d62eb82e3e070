"""Self-checks of assignment 6, the Transformer: `check.ps6.layer_norm(layer_norm)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments
from seqcourse.check.ps6.route import route

__all__ = ["EXERCISES", "experiment", "polls", "route"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "layer_norm, warmup_rate, block_parameters transformer_parameters, encoder_block, "
    "label_smoothed_loss, decoder_block, translate, Transformer train_step, biased_attention",
)
polls = Polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc", "poll_4": "abcd"})
