"""The loss of a captioner: words, evenness of the looks, and what hard attention learns from."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.tokens import PAD


def captioning_loss(
    model: nn.Module, batch, doubly: float = 0.0, reinforce: float = 1.0, entropy: float = 0.0
) -> Tensor:
    r"""Loss of a captioner under teacher forcing (Xu et al. 2015).

    .. math:: L = -\frac{1}{N} \sum_{b,t} \log P(y_{b,t} \mid y_{b,<t}, x_b)
        + \lambda\, R(a)
        - \frac{\lambda_r}{N} \sum_{b,t} (R_{b,t} - b_t) \log a_{b,t,i_{b,t}}
        - \frac{\lambda_e}{N} \sum_{b,t} H[a_{b,t}]

    The second part is :func:`seqcourse.functional.doubly_stochastic`, divided by the mean number of
    words. Third and fourth are for places that were drawn: :math:`R_{b,t}` is the log-probability of the
    words from t on (a place cannot change what was said before it), :math:`b_t` its mean over the
    *other* captions of the batch, and no gradient goes through either.

    Args:
        model: called as ``model(src, None, tgt_in)``, gives a :class:`seqcourse.models.Captioned`.
        batch: has ``src`` (B, 3, S, S), ``tgt_in`` and ``tgt_out`` (B, T').
        doubly: lambda.
        reinforce: lambda_r.
        entropy: lambda_e, which keeps the weights from settling too early.

    Returns:
        A scalar.
    """
    out = model(batch.src, None, batch.tgt_in)
    real = batch.tgt_out != PAD  # (B, T')
    loss = F.sequence_loss(out.logits.float(), batch.tgt_out, pad_id=PAD)
    if out.weights is None:
        return loss
    count = real.sum()
    if doubly:
        loss = loss + doubly * F.doubly_stochastic(out.weights, real) * len(real) / count
    if entropy:
        weights = F.widened(out.weights)
        nats = -(weights * weights.clamp_min(1e-9).log()).sum(-1)  # (B, T')
        loss = loss - entropy * (nats * real).sum() / count
    if getattr(out, "drawn", None) is not None and reinforce:
        gain = advantage(out.logits.float(), batch.tgt_out)
        loss = loss - reinforce * (gain * out.drawn * real).sum() / count
    return loss


def advantage(logits: Tensor, targets: Tensor) -> Tensor:
    """How much better than the others' the words from each step on were foretold, (B, T'), no gradient.

    Args:
        logits: (B, T', V).
        targets: (B, T'), 0 is padding.
    """
    with torch.no_grad():
        log_p = torch.log_softmax(logits, -1).gather(-1, targets[..., None])[..., 0]
        real = targets != PAD
        log_p = log_p * real
        to_come = log_p.flip(1).cumsum(1).flip(1)  # (B, T'): the sum of log_p[:, t:]
        others = real.sum(0, keepdim=True) - real.long()  # how many others have a word there
        total = (to_come * real).sum(0, keepdim=True) - to_come * real
        return (to_come - total / others.clamp_min(1)) * real * (others > 0)
