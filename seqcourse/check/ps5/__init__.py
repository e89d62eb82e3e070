"""Self-checks of assignment 5, masks and heads: `check.ps5.causal_mask(causal_mask)`."""

from seqcourse.check.cards.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
