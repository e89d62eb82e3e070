"""Exercise 12: the gradients of the attention layer, without autograd."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases

# What would compute the gradients by itself; Tensor.backward runs torch.autograd.backward.
AUTOGRAD = ("torch.autograd.grad", "torch.autograd.backward", "vjp", "jvp", "jacrev", "jacfwd")


def backward_arguments(
    batch: int,
    n_q: int,
    n_x: int,
    d: int,
    d_v: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `attention_backward`: those of the layer, and the gradient of its outputs.

    scale: of the similarities.
    """
    sizes = {
        "q": (batch, n_q, d),
        "k": (batch, n_x, d),
        "v": (batch, n_x, d_v),
        "grad_y": (batch, n_q, d_v),
    }
    drawn = normal(sizes, seed=seed, dtype=dtype)
    return drawn | {"q": scale * drawn["q"]}


def reference_attention_backward(
    q: Tensor, k: Tensor, v: Tensor, grad_y: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients with respect to q, k and v, shaped as they are."""
    root = math.sqrt(q.shape[-1])
    weights = (q @ k.mT / root).softmax(-1)
    grad_weights = grad_y @ v.mT
    mean = (weights * grad_weights).sum(-1, keepdim=True)
    grad_scores = weights * (grad_weights - mean)
    return grad_scores @ k / root, grad_scores.mT @ q / root, weights.mT @ grad_y


attention_backward = Exercise(
    "attention_backward",
    make=backward_arguments,
    reference=reference_attention_backward,
    parts=("the gradient of q", "the gradient of k", "the gradient of v"),
    cases={
        **standard_cases(
            dict(batch=2, n_q=3, n_x=4, d=5, d_v=6), dict(batch=3, n_q=4, n_x=4, d=4, d_v=4)
        ),
        "similarities in the thousands": dict(batch=2, n_q=3, n_x=5, d=4, d_v=2, scale=2000.0),
    },
    forbid=AUTOGRAD,
)
