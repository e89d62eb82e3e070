"""All the ways to cut two sequences into pieces that belong together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

IMPOSSIBLE = -1e4
"""Stands for log 0: finite, so that gradients stay numbers; sums below half of it mean "no way"."""


def log_segmentations(
    weights: Sequence[Tensor],
    steps: Sequence[tuple[int, int]],
    source_lengths: Tensor,
    target_lengths: Tensor,
    best: bool = False,
) -> Tensor:
    r"""The weights of all ways to cut a source and a target together, in order, summed up.

    .. math:: \alpha_{ts} = \log \sum_k \exp(\alpha_{t-a_k, s-b_k} + w_k(t - a_k, s - b_k)), \qquad
        \alpha_{00} = 0

    where a piece of kind k has a_k tokens of the source and b_k of the target, and weighs w_k(t, s)
    where it begins behind t and s tokens. The answer is :math:`\alpha_{TS}` for lengths T and S. With
    ``best``, the largest takes the place of the sum. The gradient by a weight is the share of the ways,
    by weight, that have this piece there (the forward-backward algorithm, Baum et al. 1970); with
    ``best`` it is 1 on the way that was taken and 0 elsewhere (Viterbi 1967).

    Args:
        weights: w_k for each kind, (B, T + 1 - a_k, S + 1 - b_k), with T and S as large as the batch
            needs and every size at least 1.
        steps: (a_k, b_k) for each kind, with every a_k at least 1.
        source_lengths: T of each pair, (B,).
        target_lengths: S of each pair, (B,).
        best: the best way instead of all.

    Returns:
        Logarithms, (B,); below ``IMPOSSIBLE / 2`` where there is no way.

    Raises:
        ValueError: if a step has no token of the source.
    """
    if min(a for a, _ in steps) < 1:
        raise ValueError(f"Every piece should have a token of the source, but the steps are {steps}.")
    (a, b), (_, starts, places) = steps[0], weights[0].shape
    longest, width = starts + a - 1, places + b
    begin = weights[0].new_full((len(source_lengths), width), IMPOSSIBLE)
    begin[:, 0] = 0.0
    nothing = torch.full_like(begin, IMPOSSIBLE)
    rows = [begin]
    for t in range(1, longest + 1):
        ways = [nothing]
        ways += [
            pad(rows[t - a][:, : width - b] + w[:, t - a], (b, 0), value=IMPOSSIBLE)
            for (a, b), w in zip(steps, weights, strict=True)
            if a <= t and b < width
        ]
        together = torch.stack(ways)
        rows.append(together.max(0).values if best else together.logsumexp(0))
    every = torch.arange(len(source_lengths))
    return torch.stack(rows, 1)[every, source_lengths, target_lengths]
