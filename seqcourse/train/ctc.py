"""The loss of a model that writes while time passes, without knowing when (Graves et al. 2006)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse.tokens import EOS, PAD


def ctc_loss(model: nn.Module, batch) -> Tensor:
    r"""Minus the log-probability of each text, summed over all paths that write it, per letter.

    .. math:: L = -\frac{1}{N} \sum_b \log \sum_{\pi \,:\, \mathrm{collapse}(\pi) = y_b}
        \prod_u P(\pi_u \mid x_b)

    A text that is too long for its states has no path; it counts nothing.

    Args:
        model: a :class:`seqcourse.models.CTCSpeller`.
        batch: a :class:`seqcourse.data.SpokenBatch`; its <eos> are left out.

    Returns:
        Mean over the N letters, a scalar.
    """
    logits, lengths = model(batch.src, batch.src_lengths)
    letters = (batch.tgt_out != PAD) & (batch.tgt_out != EOS)
    losses = nn.functional.ctc_loss(
        logits.float().log_softmax(-1).transpose(0, 1),
        torch.where(letters, batch.tgt_out, PAD),
        lengths,
        letters.sum(1),
        blank=PAD,
        reduction="sum",
        zero_infinity=True,
    )
    return losses / letters.sum()
