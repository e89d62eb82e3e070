"""Looking at every possible output: the oracle that beam search is measured against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.decode.interface import LENGTH_PENALTY, Hypothesis, StepModel, normalised
from seqcourse.decode.running import Rows, begin, evaluating, hide, next_log_probs, penalty, whole_number
from seqcourse.decode.trees import select
from seqcourse.tokens import EOS

LIMIT = 1_000_000  # paths in one step of one sentence


def exhaustive_search(
    model: StepModel,
    memory: Any,
    max_len: int,
    n_best: int = 1,
    length_penalty: float = LENGTH_PENALTY,
    batch_size: int | None = None,
    *,
    prefix: Sequence[int] | Tensor | None = None,
    forbid: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """The best of all outputs of at most `max_len` tokens, <eos> counted.

    Full search of the tree: nothing is pruned, so the first hypothesis really is the best one. The
    tree has V**max_len leaves; this is for models with a handful of words and a few steps.

    Arguments, ranking and result are those of `beam_search`, without attention weights: hypotheses
    that ended come before those that `max_len` cut off, by log_prob / |y|**alpha each.

    Raises ValueError for arguments that make no sense and for more than 1,000,000 paths in a step.
    """
    whole_number("max_len", max_len)
    whole_number("n_best", n_best)
    penalty(length_penalty)
    with evaluating(model):
        start = begin(model, memory, batch_size, prefix)
        memories = Rows(memory, start.count, start.device)
        results = []
        for sentence in range(start.count):
            here = torch.tensor([sentence], device=start.device)
            ended, paths = list[Hypothesis](), [(list[int](), 0.0)]
            tokens, state = start.tokens[here], select(start.state, here)
            for length in range(1, max_len + 1):
                out = model.step(tokens, state, memories.of([sentence] * len(paths)))
                log_probs = hide(next_log_probs(out, len(paths)), forbid)
                longer, rows = [], []
                for row, token, gain in _continuations(paths, log_probs, length):
                    written, log_prob = paths[row]
                    if token == EOS:
                        score = normalised(log_prob + gain, length, length_penalty)
                        ended.append(Hypothesis(written, log_prob + gain, score, True))
                    else:
                        longer.append(([*written, token], log_prob + gain))
                        rows.append(row)
                paths = longer
                if not paths:
                    break
                state = select(out.state, torch.tensor(rows, device=start.device))
                tokens = torch.tensor([path[-1] for path, _ in paths], device=start.device)
            cut = [
                Hypothesis(written, total, normalised(total, max_len, length_penalty), False)
                for written, total in paths
            ]
            results.append([h for found in (ended, cut) for h in sorted(found, key=lambda h: -h.score)])
            if not results[-1]:
                raise ValueError(
                    f"sentence {sentence} has no output: all that the model allows is forbidden "
                    f"(forbid = {list(forbid)}). Forbid less."
                )
    return [best_first[:n_best] for best_first in results]


def _continuations(
    paths: list[tuple[list[int], float]], log_probs: Tensor, length: int
) -> list[tuple[int, int, float]]:
    """Every possible next word of every path as (row, token, gain), the likeliest path first.

    Equals in the order of beam search: the better path's first, then the lower id.
    """
    possible = (log_probs > float("-inf")).nonzero()  # (N, 2): row, token
    if len(possible) > LIMIT:
        raise ValueError(
            f"exhaustive search would follow {len(possible):,} paths at step {length}, "
            f"more than {LIMIT:,}. Choose a smaller max_len or a smaller vocabulary."
        )
    gains = log_probs[possible[:, 0], possible[:, 1]].tolist()
    grown = [(*place, gain) for place, gain in zip(possible.tolist(), gains, strict=True)]
    return sorted(grown, key=lambda one: (-(paths[one[0]][1] + one[2]), one[0], -one[2], one[1]))
