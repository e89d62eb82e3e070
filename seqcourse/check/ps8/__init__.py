"""Self-checks of assignment 8, captions, patches and speech: `check.ps8.cut_patches(cut_patches)`."""

from seqcourse.check.cards.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
