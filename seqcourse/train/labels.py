"""Losses of classifiers, whatever they read."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy


def label_loss(model: nn.Module, batch, label_smoothing: float = 0.0) -> Tensor:
    r"""Mean cross-entropy, :math:`L = -\frac{1}{B} \sum_b \log P(y_b \mid x_b)`.

    Args:
        model: called as ``model(*batch.inputs)``, gives logits (B, C).
        batch: has ``inputs``, a tuple of what the model reads, and ``labels`` (B,).
        label_smoothing: share of the target that is spread over all classes.
    """
    logits = model(*batch.inputs).float()
    return cross_entropy(logits, batch.labels, label_smoothing=label_smoothing)


def region_loss(model: nn.Module, batch) -> Tensor:
    r"""The auxiliary part of :func:`answer_loss` alone: what does each place of the grid show?

    .. math:: L = -\frac{1}{BN} \sum_{b,n} \log P(r_{b,n} \mid x_b)

    Args:
        model: a :class:`seqcourse.models.TwoStream` that sees pictures.
        batch: a :class:`seqcourse.data.QuestionBatch`.
    """
    logits = model.region(model.encoder(batch.images)).float()  # (B, N, A)
    return cross_entropy(logits.flatten(0, 1), batch.regions.flatten())


def answer_loss(model: nn.Module, batch, regions: float = 0.0) -> Tensor:
    r"""Loss of a model that answers questions about pictures, with an auxiliary one for what it sees.

    .. math:: L = -\frac{1}{B} \sum_b \log P(a_b \mid x_b, q_b)
        \;-\; \lambda \frac{1}{BN} \sum_{b,n} \log P(r_{b,n} \mid x_b)

    with :math:`r_{b,n}` the thing at place n of the picture's grid, or none.

    Args:
        model: called as ``model(*batch.inputs)``, gives a :class:`seqcourse.models.Answered`.
        batch: a :class:`seqcourse.data.QuestionBatch`.
        regions: lambda; 0 leaves the second part out, and so does a model that sees no picture.
    """
    out = model(*batch.inputs)
    loss = cross_entropy(out.answers.float(), batch.labels)
    if regions and out.regions is not None:
        loss = loss + regions * cross_entropy(out.regions.float().flatten(0, 1), batch.regions.flatten())
    return loss
