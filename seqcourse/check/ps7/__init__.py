"""Self-checks of assignment 7, pre-training: `check.ps7.mask_words(mask_words)`."""

from seqcourse.check.cards.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
