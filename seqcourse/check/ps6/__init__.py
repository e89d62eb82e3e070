"""Self-checks of assignment 6, the Transformer: `check.ps6.layer_norm(layer_norm)`."""

from seqcourse.check.cards.shipped import gather
from seqcourse.check.ps6.route import route

__all__ = ["EXERCISES", "experiment", "polls", "route"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
