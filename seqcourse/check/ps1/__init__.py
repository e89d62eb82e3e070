"""Self-checks of assignment 1, recurrent networks: `check.ps1.rnn_step(rnn_step)`."""

from seqcourse.check.cards.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
