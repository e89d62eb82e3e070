"""Self-checks of assignment 6, the Transformer: `check.ps6.layer_norm(layer_norm)`."""

from seqcourse.check.ps6.route import route
from seqcourse.check.shipped import gather

__all__ = ["EXERCISES", "experiment", "polls", "route"]

EXERCISES, experiment, polls = gather(__name__, __path__)
globals().update(EXERCISES)
