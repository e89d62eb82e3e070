"""Losses that are cross-entropies: of the words of a sequence, and of pairs that belong together."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqcourse.functional.precision import widened


def sequence_loss(
    logits: Tensor, targets: Tensor, pad_id: int = 0, label_smoothing: float = 0.0
) -> Tensor:
    r"""Mean cross-entropy per real target token.

    .. math:: L = -\frac{1}{N} \sum_{b,t:\; y_{b,t} \neq \mathrm{pad}} \log P(y_{b,t} \mid y_{b,<t}, x_b)

    with N the number of real target tokens. With label smoothing :math:`\epsilon` the target
    distribution puts :math:`1 - \epsilon` on the right word and spreads :math:`\epsilon` evenly over
    the vocabulary (Szegedy et al. 2016).

    Args:
        logits: (B, T', V).
        targets: token ids, (B, T').
        pad_id: id of padding; such targets count nothing.
        label_smoothing: epsilon, 0 <= epsilon < 1.

    Returns:
        Scalar; NaN if no target is real.

    Raises:
        ValueError: if there is not one row of logits for each target, the smoothing is no share, or a
            target is outside the vocabulary.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"sequence_loss needs one row of logits per target, but logits are {tuple(logits.shape)} "
            f"and targets {tuple(targets.shape)}."
        )
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing should be at least 0 and below 1, but is {label_smoothing}.")
    try:
        loss = cross_entropy(
            widened(logits).reshape(-1, logits.shape[-1]),
            targets.reshape(-1),
            ignore_index=pad_id,
            label_smoothing=label_smoothing,
        )
    except IndexError as error:  # a processor's; a GPU stops the whole program
        raise ValueError(
            f"The targets should be ids from 0 to {logits.shape[-1] - 1}, one for each logit, but they "
            f"go from {targets.min()} to {targets.max()}."
        ) from error
    return loss.to(logits.dtype)


def contrastive_loss(logits: Tensor) -> Tensor:
    r"""Which of B pictures belongs to which of B captions or more (CLIP, Radford et al. 2021).

    .. math:: L = -\frac{1}{2B} \sum_b \left[ \log \frac{e^{s_{bb}}}{\sum_c e^{s_{bc}}}
        + \log \frac{e^{s_{bb}}}{\sum_a e^{s_{ab}}} \right]

    Args:
        logits: s, how well each picture fits each caption, (B, C) with C >= B; caption b is that of
            picture b, and further captions belong to none.

    Returns:
        Scalar.

    Raises:
        ValueError: if there are fewer captions than pictures.
    """
    count = logits.shape[0]
    if logits.dim() != 2 or logits.shape[1] < count:
        raise ValueError(
            "contrastive_loss needs logits of pictures by captions, with a caption for each picture, "
            f"but they are {tuple(logits.shape)}."
        )
    wide, own = widened(logits), torch.arange(count, device=logits.device)
    found = cross_entropy(wide, own) + cross_entropy(wide[:, :count].T, own)
    return (found / 2).to(logits.dtype)
