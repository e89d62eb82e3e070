"""Self-checks of assignment 1, recurrent networks: `check.ps1.rnn_step(rnn_step)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "rnn_step, training_pairs, lstm_step, forward, draw, continue_text, gradient_norms, , , "
    "train_in_streams",
)
polls = Polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc"})
