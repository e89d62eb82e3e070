"""Turning a model's distributions into words: one interface for every model.

    greedy             the most likely next word, over and over
    sample             words drawn at random: temperature, top-k, nucleus
    beam_search        the K most likely paths at once, batched, with N-best
    exhaustive_search  every possible output, for tiny models: the oracle
    score              the log-probability of given outputs
    best_path          what a model of CTC writes, a symbol or nothing for each stretch of time

What a model has to offer is in `seqcourse.decode.interface`.
"""

from seqcourse.decode.beam import beam_search
from seqcourse.decode.best_path import BLANK, best_path, collapse
from seqcourse.decode.choosing import filter_logits
from seqcourse.decode.exhaustive import exhaustive_search
from seqcourse.decode.interface import Hypothesis, Node, StepLike, StepModel
from seqcourse.decode.sampling import greedy, sample
from seqcourse.decode.scoring import score
from seqcourse.decode.trees import select

__all__ = [
    "StepModel",
    "Hypothesis",
    "Node",
    "StepLike",
    "BLANK",
    "beam_search",
    "best_path",
    "collapse",
    "exhaustive_search",
    "filter_logits",
    "greedy",
    "sample",
    "score",
    "select",
]
