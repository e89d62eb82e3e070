"""Losses of pre-training and fine-tuning."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqcourse import functional as F
from seqcourse.tokens import NOT_ASKED, PAD
from seqcourse.train.processes import counted


def masked_word_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of the hidden words: logits (..., V), targets (...), -100 = not hidden.

    0, with gradient 0, when no word of a batch is hidden.
    """
    asked = targets != NOT_ASKED
    if not asked.any():
        return logits.sum() * 0
    return cross_entropy(logits[asked].float(), targets[asked])


def bert_loss(model: nn.Module, batch) -> Tensor:
    """Both tasks of BERT (Devlin et al. 2019): the sum of the mean losses of hidden words and of "does
    the second sentence follow?".

    Args:
        model: a :class:`seqcourse.models.BERT`.
        batch: a :class:`seqcourse.data.MaskedBatch`.
    """
    mask = F.length_mask(batch.lengths, batch.tokens.shape[1])[:, None]  # (B, 1, T)
    out = model(batch.tokens, mask, batch.segments)
    words = counted(
        masked_word_loss(out.words, batch.targets), (batch.targets != NOT_ASKED).sum(), batch
    )
    return words + cross_entropy(out.follows.float(), batch.follows)


def fine_tuning_loss(model: nn.Module, batch, auxiliary: float = 0.0, pad_id: int = PAD) -> Tensor:
    r"""Loss of a classifier, with the language model's as an auxiliary one (Radford et al. 2018).

    .. math:: L = -\frac{1}{B} \sum_b \log P(y_b \mid x_b)
        \;-\; \lambda \frac{1}{N} \sum_{b,t} \log P(x_{b,t} \mid x_{b,<t})

    Args:
        model: a :class:`seqcourse.models.Classifier`.
        batch: a :class:`seqcourse.data.LabelledBatch`.
        auxiliary: lambda; 0 leaves the second part out.
        pad_id: id of padding, which is no target.
    """
    out = model(batch.tokens, batch.lengths, need_words=auxiliary > 0)
    loss = cross_entropy(out.classes.float(), batch.labels)
    if auxiliary > 0:
        targets, words = batch.tokens[:, 1:], out.words.sum() * 0
        if targets.shape[1]:  # in texts of one token no word follows another
            words = F.sequence_loss(out.words[:, :-1].float(), targets, pad_id=pad_id)
        loss = loss + auxiliary * counted(words, (targets != pad_id).sum(), batch)
    return loss
