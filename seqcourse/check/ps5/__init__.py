"""Self-checks of assignment 5, masks and heads: `check.ps5.causal_mask(causal_mask)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "causal_mask, padding_mask combine, attention, split_heads merge_heads, multi_head, "
    "cached_step, generate, decoder, , , rotate grouped_step",
)
polls = Polls({"poll_1": "abc", "poll_2": "abcd", "poll_3": "abc", "poll_4": "abc"})
