"""The right result of each calculation of the book, by torch or the package's own functions."""

from __future__ import annotations

import math

import torch

from seqcourse import functional
from seqcourse import nn as course_nn
from seqcourse.decode import filter_logits

SOFT = torch.softmax


def two_best(n):
    candidates = torch.cat([n["a"] * n["p"], n["b"] * n["r"]])
    return candidates.topk(2).values


def reached(n):
    """By a layer's mask, and by the product of several."""
    w, layers = int(n["w"]), int(n["L"])
    size = 2 * w * layers + 9
    middle = size // 2
    mask = functional.window_mask(torch.arange(size).float(), w, size).double()
    return torch.stack([(mask.matrix_power(k)[middle] > 0).sum() for k in (1, layers)])


def masked(n):
    size, length = int(n["n"]), n["length"][None].long()
    mask = functional.causal_mask(size) & functional.length_mask(length, size)
    return torch.stack([mask[-1].sum(), mask.sum()])


def cached(n):
    layers, width, positions = (int(n[name]) for name in "LDn")
    kept = course_nn.MultiHeadAttention(width, 1).keys_values(torch.zeros(1, positions, width))
    return layers * sum(part.numel() for part in kept)


REFERENCES = {
    "05-context": lambda n: functional.weighted_sum(n["a"][None], n["h"][None])[0],
    "05-weights": lambda n: functional.softmax(n["e"]),
    "05-padding": lambda n: functional.softmax(n["e"], mask=torch.tensor([True, True, False])),
    "06-scaled": lambda n: functional.dot_score(n["q"][None], n["x"][None, None]) / math.sqrt(4),
    "06-rows": lambda n: SOFT(n["E"], dim=1),
    "06-key": lambda n: torch.nn.functional.linear(n["x"], n["W"].T),
    "06-output": lambda n: functional.weighted_sum(SOFT(n["e"], 0)[None], n["V"][None])[0],
    "03-step": two_best,
    "03-length": lambda n: torch.stack([n["p"] / n["n"], n["r"] / n["m"]]),
    "03-nucleus": lambda n: SOFT(filter_logits(n["q"].log()[None], top_p=n["p"].item())[0], 0),
    "07-similar": lambda n: torch.einsum("id,jd->ij", n["X"], n["X"]),
    "07-position": lambda n: functional.sinusoidal_encoding(n["t"][None].float(), 4, base=100.0),
    "07-shift": lambda n: functional.shift_matrix(n["turn"].item(), 2) @ torch.stack([n["s"], n["c"]]),
    "07-window": reached,
    "08-row": lambda n: functional.softmax(n["e"].repeat(3, 1), mask=functional.causal_mask(3))[1],
    "08-count": masked,
    "08-cache": cached,
    "09-split": lambda n: course_nn.MultiHeadAttention(6, 2).double().split(n["x"][None])[0, 1, 0],
    "09-join": lambda n: torch.nn.functional.linear(n["h"], n["W"].T),
    "09-scale": lambda n: [n["D"] / n["H"], (n["D"] / n["H"]) ** 0.5],
}
