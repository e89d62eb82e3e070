"""Self-checks of assignment 7, pre-training: `check.ps7.mask_words(mask_words)`."""

from seqcourse.check.exercise import Polls, gather
from seqcourse.check.experiments import Experiments

__all__ = ["EXERCISES", "experiment", "polls"]

EXERCISES = gather(__name__, __path__)
globals().update(EXERCISES)
experiment = Experiments(
    EXERCISES,
    "language_batch, few_shot_prompt, gpt_parameters bert_parameters, fine_tuning_loss, "
    "mask_words, masked_word_loss, learn_merges, paired_interval, , , adapted_linear dpo_loss",
)
polls = Polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc", "poll_4": "abc"})
