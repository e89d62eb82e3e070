"""The loss of a sequence model, and how far two distributions are apart."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy


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
        ValueError: if there is not one row of logits for each target.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"sequence_loss needs one row of logits per target, but logits are {tuple(logits.shape)} "
            f"and targets {tuple(targets.shape)}."
        )
    return cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=pad_id,
        label_smoothing=label_smoothing,
    )


def symmetric_divergence(one: Tensor, two: Tensor) -> Tensor:
    r"""How far two distributions are apart: the mean of the Kullback-Leibler divergences of both ways.

    .. math:: D(P, Q) = \frac{\mathrm{KL}(P \,\|\, Q) + \mathrm{KL}(Q \,\|\, P)}{2}
        = \frac{1}{2} \sum_v (P_v - Q_v) (\log P_v - \log Q_v)

    Args:
        one, two: logits of P and Q, (..., V).

    Returns:
        Nats, (...); 0 where the distributions are equal.

    Raises:
        ValueError: if the shapes differ.
    """
    if one.shape != two.shape:
        raise ValueError(
            f"symmetric_divergence needs logits of one shape, but got {tuple(one.shape)} and "
            f"{tuple(two.shape)}."
        )
    p, q = one.log_softmax(-1), two.log_softmax(-1)
    return ((p.exp() - q.exp()) * (p - q)).sum(-1) / 2
