"""Exercise 5: cross-entropy with label smoothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Case, Exercise, cases_of
from seqcourse.check.inputs import normal


def loss_arguments(
    lengths: Sequence[int],
    v: int,
    epsilon: float = 0.1,
    pad: int = 0,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `label_smoothed_loss`: logits, words, and padding after them."""
    size = max(lengths)
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(0, v - 1, (len(lengths), size), generator=generator)
    words = torch.where(words >= pad, words + 1, words)  # any word but padding
    behind = torch.arange(size) >= torch.tensor(list(lengths))[:, None]
    drawn = normal({"logits": (len(lengths), size, v)}, seed + 1, dtype)
    return {
        "logits": scale * drawn["logits"],
        "targets": words.masked_fill(behind, pad),
        "epsilon": epsilon,
        "pad": pad,
    }


def reference_label_smoothed_loss(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """Mean over the real targets of the cross-entropy with (1 - epsilon) one-hot + epsilon / V."""
    return functional.sequence_loss(logits, targets, pad_id=pad, label_smoothing=epsilon)


def _log_probs(logits: Tensor) -> Tensor:
    return logits - logits.logsumexp(dim=-1, keepdim=True)


def _even(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    return (1 - epsilon) * one_hot + epsilon / one_hot.shape[-1]


def _mean(losses: Tensor, real: Tensor) -> Tensor:
    return (losses * real).sum() / real.sum()


def _loss(
    logits: Tensor,
    targets: Tensor,
    epsilon: float,
    pad: int,
    *,
    wanted: Callable[[Tensor, float, int], Tensor] = _even,
    log_probs: Callable[[Tensor], Tensor] = _log_probs,
    mean: Callable[[Tensor, Tensor], Tensor] = _mean,
) -> Tensor:
    """The loss with one part put in another's place, for the mistakes of _LABEL_SMOOTHED_LOSS."""
    one_hot = torch.nn.functional.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    losses = -(wanted(one_hot, epsilon, pad) * log_probs(logits)).sum(dim=-1)
    return mean(losses, targets != pad)


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _loss(*arguments, **mistake)


def _others(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    return (1 - epsilon) * one_hot + epsilon * (1 - one_hot) / (one_hot.shape[-1] - 1)


def _too_little(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    return (1 - epsilon) * one_hot + epsilon / one_hot.shape[-1] * (1 - one_hot)


def _too_much(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    return one_hot + epsilon / one_hot.shape[-1]


def _no_padding_word(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    share = torch.full_like(one_hot, epsilon / (one_hot.shape[-1] - 1))
    share[..., pad] = 0.0
    return (1 - epsilon) * one_hot + share


def _annotated(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    """The Annotated Transformer's: neither the right word nor padding has a share, V - 2 others have."""
    share = epsilon / (one_hot.shape[-1] - 2) * (1 - one_hot)
    share[..., pad] = 0.0
    return (1 - epsilon) * one_hot + share


def _among_v_minus_2(one_hot: Tensor, epsilon: float, pad: int) -> Tensor:
    return (1 - epsilon) * one_hot + epsilon / (one_hot.shape[-1] - 2) * (1 - one_hot)


def _evenly_everywhere(share: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The even part alone counts padding; `share` makes one number of its losses and what is real."""

    def loss(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
        even = share(-_log_probs(logits).mean(dim=-1), targets != pad)
        return (1 - epsilon) * _loss(logits, targets, 0.0, pad) + epsilon * even

    return loss


def _divergence(logits, targets, epsilon, pad):
    one_hot = torch.nn.functional.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    q = _even(one_hot, epsilon, pad)
    losses = torch.xlogy(q, q).sum(dim=-1) - (q * _log_probs(logits)).sum(dim=-1)
    return _mean(losses, targets != pad)


_LABEL_SMOOTHED_LOSS = {
    "Is epsilon not used? That is plain cross-entropy.": _with(wanted=lambda q, e, p: q),
    "Is epsilon spread over the other words only, V - 1 of them? It is spread over all V, the right "
    "one included.": _with(wanted=_others),
    "Does the right word get 1 - epsilon alone? It has its share epsilon / V on top, so that q sums "
    "to 1.": _with(wanted=_too_little),
    "Does the right word keep all of its 1? q must sum to 1: (1 - epsilon) for it, then the shares.": (
        _with(wanted=_too_much)
    ),
    "Are epsilon and 1 - epsilon exchanged?": _with(wanted=lambda q, e, p: _even(q, 1 - e, p)),
    "Is epsilon not divided by V? Every word's share is epsilon / V.": _with(
        wanted=lambda q, e, p: (1 - e) * q + e
    ),
    "Does the word <pad> get no share? Here it counts as one of the V words, as in PyTorch; only "
    "*targets* that are padding are left out.": (
        _with(wanted=_no_padding_word),
        _with(wanted=_annotated),
    ),
    "Is epsilon divided by V - 2 words, the others but <pad>? It is spread over all V.": _with(
        wanted=_among_v_minus_2
    ),
    "Does the even part of the target count places that are padding? Where the target is padding "
    "nothing counts, in neither part.": (
        _evenly_everywhere(lambda losses, real: losses.mean()),
        _evenly_everywhere(lambda losses, real: losses.sum() / real.sum()),
    ),
    "Is that the divergence KL(q || p)? Its gradient is the same, but the loss is the "
    "cross-entropy: the entropy of q is not subtracted.": _divergence,
    "Is that the perplexity? The loss is its logarithm.": (lambda *given: _loss(*given).exp()),
    "Is the sign wrong? It is minus the sum of q log p.": (lambda *given: -_loss(*given)),
    "Did you take the logits for log-probabilities? log_softmax turns the one into the other.": _with(
        log_probs=lambda z: z
    ),
    "Is the log missing? It is q times the log of p.": _with(log_probs=lambda z: z.softmax(dim=-1)),
    "Is the softmax over the positions? It is over the words of the vocabulary: dim=-1.": _with(
        log_probs=lambda z: z.log_softmax(dim=1)
    ),
    "Is the logarithm to the base 2? It is the natural one.": _with(
        log_probs=lambda z: _log_probs(z) / torch.log(torch.tensor(2.0, dtype=z.dtype))
    ),
    "Does log(softmax(...)) overflow for large logits? log_softmax does not.": _with(
        log_probs=lambda z: z.softmax(dim=-1).log()
    ),
    "Does exp() overflow for large logits? log_softmax does not.": _with(
        log_probs=lambda z: (z.exp() / z.exp().sum(dim=-1, keepdim=True)).log()
    ),
    "Is padding counted? Where the target is padding nothing was asked.": _with(
        mean=lambda losses, real: losses.mean()
    ),
    "Is padding left out of the sum, but counted in the mean? Divide by the number of real targets.": (
        _with(mean=lambda losses, real: (losses * real).mean())
    ),
    "Did you return the sum? The mean over the real targets is asked for.": _with(
        mean=lambda losses, real: (losses * real).sum()
    ),
    "Did you divide by the number of sentences? The mean is per word.": _with(
        mean=lambda losses, real: (losses * real).sum() / len(real)
    ),
    "Did you average the sentences' own means? Every word counts the same.": _with(
        mean=lambda losses, real: ((losses * real).sum(1) / real.sum(1)).mean()
    ),
    "Is there no mean yet? The result is one number.": (
        _with(mean=lambda losses, real: losses * real),
        _with(mean=lambda losses, real: losses[real]),
    ),
    "Is the word with id 0 taken for padding? Its id is the argument `pad`.": (
        lambda logits, targets, epsilon, pad: _loss(
            logits, targets, epsilon, pad, mean=lambda losses, real: _mean(losses, targets != 0)
        )
    ),
}


label_smoothed_loss = Exercise(
    "label_smoothed_loss",
    make=loss_arguments,
    reference=reference_label_smoothed_loss,
    likely=_LABEL_SMOOTHED_LOSS,
    cases=[
        Case("the first example", lambda: loss_arguments([3, 3], v=5, epsilon=0.3)),
        Case("other sizes", lambda: loss_arguments([4] * 4, v=4, seed=1)),
        Case(
            "a batch of 1",
            lambda: loss_arguments([3], v=6, seed=2),
            "Does a squeeze() or [0] drop the batch?",
        ),
        *cases_of(
            loss_arguments,
            {
                "epsilon 0": dict(lengths=[2, 2], v=5, epsilon=0.0, seed=3),
                "padding": dict(lengths=[4, 1, 3], v=6, epsilon=0.2, seed=4),
                "padding with another id": dict(lengths=[2, 5], v=6, pad=5, seed=5),
                "logits in the hundreds": dict(lengths=[3, 2], v=5, scale=400.0, seed=6),
                "float32": dict(lengths=[3, 3], v=5, dtype=torch.float32, seed=7),
            },
        ),
    ],
    forbid=("cross_entropy", "CrossEntropyLoss", "sequence_loss", "label_loss", "teacher_forcing_loss"),
    idea="The right word is wanted with a little less than 1, every word with a little more than 0.",
    see=("11", "Label smoothing"),
)
