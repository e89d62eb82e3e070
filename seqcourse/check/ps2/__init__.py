"""Self-checks of assignment 2, seq2seq and decoding: `check.ps2.greedy(greedy)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "final_states, decoder_step, teacher_forced_loss, greedy, gumbel_softmax, "
    "scheduled_sampling, beam_search, , , translation_loss",
)
polls = Polls({f"poll_{k}": "abc" for k in (1, 2, 3, 4)})
