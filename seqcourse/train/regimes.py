"""What a decoder is fed while it trains: the truth, its own words, or some of each.

One loop serves every model of the course, through the three methods of ``models.interface``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.tokens import NOT_ASKED

CHOICES = ("argmax", "sample", "gumbel")


def teacher_forcing_loss(model: nn.Module, batch, label_smoothing: float = 0.0) -> Tensor:
    r"""Cross-entropy when every previous word is the true one: exact maximum likelihood.

    .. math:: L = -\frac{1}{N} \sum_{b,t} \log P(y_{b,t} \mid y_{b,1} .. y_{b,t-1}, x_b)

    Args:
        model: called as ``model(src, src_lengths, tgt_in)``.
        batch: a :class:`seqcourse.data.Batch`.
        label_smoothing: see :func:`seqcourse.functional.sequence_loss`.

    Returns:
        Mean over the N real target words, a scalar.
    """
    output = model(batch.src, batch.src_lengths, batch.tgt_in)
    return F.sequence_loss(output.logits.float(), batch.tgt_out, label_smoothing=label_smoothing)


def language_model_loss(model: nn.Module, batch) -> Tensor:
    """Cross-entropy of a language model, whose batch has ``tokens`` (B, T) and ``targets`` (B, T)."""
    return F.sequence_loss(model(batch.tokens).logits.float(), batch.targets, pad_id=NOT_ASKED)


def unroll(
    model: nn.Module,
    src: Tensor,
    src_lengths: Tensor,
    tgt_in: Tensor,
    own_share: float,
    choose: str = "argmax",
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Decode step by step, feeding each time the true previous word or the model's own.

    Args:
        model: has ``encode``, ``start`` and ``step``.
        src, src_lengths: source ids (B, T) and lengths (B,).
        tgt_in: true previous words, <sos> first, (B, T').
        own_share: probability that a word is the model's own; 0 is teacher forcing, 1 never shows the
            truth after <sos>. The coin is thrown per sentence and step, as in Bengio et al. (2015).
        choose: how the model picks its own word: "argmax", "sample" (Gumbel-max), or "gumbel", the
            Gumbel-softmax relaxation, through which gradients flow into the choice.
        temperature: of the Gumbel-softmax.
        generator: source of randomness for coins and draws; it may live on another device.

    Returns:
        Logits, (B, T', V).

    Raises:
        ValueError: if ``own_share`` is no probability or ``choose`` is unknown.
    """
    if not 0 <= own_share <= 1:
        raise ValueError(f"own_share should be between 0 and 1, but it is {own_share}.")
    if choose not in CHOICES:
        raise ValueError(f"choose should be one of {', '.join(CHOICES)}, but it is {choose!r}.")
    memory = model.encode(src, src_lengths)
    state, previous, logits = model.start(memory), tgt_in[:, 0], []
    thrown_on = src.device if generator is None else generator.device
    for t in range(tgt_in.shape[1]):
        out = model.step(previous, state, memory)
        state = out.state
        logits.append(out.logits)
        if t + 1 < tgt_in.shape[1]:
            own = _pick(out.logits, choose, temperature, generator)
            coin = torch.rand(len(src), generator=generator, device=thrown_on) < own_share
            previous = _mix(coin.to(src.device), own, tgt_in[:, t + 1], out.logits)
    return torch.stack(logits, dim=1)


def _pick(logits: Tensor, choose: str, temperature: float, generator) -> Tensor:
    if choose == "argmax":
        return logits.argmax(-1)
    if choose == "sample":
        return F.gumbel_max(logits.detach(), generator)
    return F.gumbel_softmax(logits, temperature, generator)


def _mix(coin: Tensor, own: Tensor, true: Tensor, logits: Tensor) -> Tensor:
    """The model's own word where the coin says so; as distributions when ``own`` is one."""
    if own.dim() == 1:
        return torch.where(coin, own, true)
    one_hot = nn.functional.one_hot(true, logits.shape[-1]).to(own.dtype)
    return torch.where(coin[:, None], own, one_hot)


def scheduled_sampling_loss(
    model: nn.Module, batch, own_share: float, choose: str = "argmax", **options
) -> Tensor:
    """Cross-entropy against the true words when a share of the inputs is the model's own.

    See :func:`unroll` for the arguments (Bengio et al. 2015).
    """
    logits = unroll(model, batch.src, batch.src_lengths, batch.tgt_in, own_share, choose, **options)
    return F.sequence_loss(logits.float(), batch.tgt_out)


def inverse_sigmoid_decay(step: int, k: float) -> float:
    r"""Share of *true* words at a step, :math:`k / (k + \exp(i / k))` (Bengio et al. 2015).

    The share of own words is one minus this. Large k keeps the teacher longer.

    Args:
        step: i, counted from 0.
        k: how long the teacher stays, at least 1.

    Raises:
        ValueError: if k is below 1.
    """
    if k < 1:
        raise ValueError(f"k should be at least 1, but it is {k}.")
    return k / (k + math.exp(min(step / k, 700.0)))
