"""Self-checks of assignment 2, seq2seq and decoding: `check.ps2.greedy(greedy)`."""

from seqcourse.check.exercise import Polls, gather

__all__ = ["EXERCISES", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
polls = Polls({f"poll_{k}": "abc" for k in (1, 2, 3, 4)})
