"""Self-checks of assignment 2, seq2seq and decoding: `check.ps2.greedy(greedy)`."""

from seqcourse.check.cards.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
