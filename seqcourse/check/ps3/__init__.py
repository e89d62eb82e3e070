"""Self-checks of assignment 3, attention in the decoder: `check.ps3.attend(attend)`."""

from seqcourse.check.cards.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
