"""Self-checks of assignment 3, attention in the decoder: `check.ps3.attend(attend)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "context, softmax, general_score, additive_score mlp_score, attend, decoder_step, "
    "local_weights, links alignment_error_rate, , , better_links",
)
polls = Polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abcd"})
