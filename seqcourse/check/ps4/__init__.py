"""Self-checks of assignment 4, the attention layer: `check.ps4.similarities(similarities)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "similarities, attention, cross_attention, SelfAttention, equivariance_gap, "
    "positional_encoding, shift_matrix, local_attention, , , relative_attention, "
    "attention_backward",
)
polls = Polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abcd"})
