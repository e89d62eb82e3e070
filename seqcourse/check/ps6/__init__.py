"""Self-checks of assignment 6, the Transformer: `check.ps6.layer_norm(layer_norm)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import experiment
from seqcourse.check.ps6.route import route

__all__ = ["EXERCISES", "experiment", "polls", "route"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
polls = Polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc", "poll_4": "abcd"})
