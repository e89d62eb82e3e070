"""Choosing from one distribution: the best k with a fixed order among equals, and the filters."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcourse.decode.running import whole_number

_ROUNDING = 1e-6  # of a cumulative sum in single precision
_COLDEST = 1e-8  # temperature; divided by less, logits in single precision are infinite
_HAVE_64_BITS = ("cpu", "cuda", "xpu")  # Apple's GPUs have not


def best(log_probs: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest entries of every row, largest first; among equals the lower index first.

    log_probs: (N, V). Returns values and indices, (N, min(k, V)).

    `torch.topk` leaves open which of several equal values it takes; here it is fixed, so that a
    search gives the same answer every time and on every machine.
    """
    size = log_probs.shape[-1]
    k = min(k, size)
    values, ids = log_probs.topk(min(k + 1, size), dim=-1)
    ids, by_id = ids.sort(dim=-1)
    values, by_value = values.gather(-1, by_id).sort(dim=-1, descending=True, stable=True)
    ids = ids.gather(-1, by_value)
    if size > k:  # which of the values equal to the k-th were taken was up to topk
        tied = (values[:, k - 1] == values[:, k]) & (values[:, k] > float("-inf"))
        if tied.any():
            every, order = log_probs[tied].sort(dim=-1, descending=True, stable=True)
            values[tied], ids[tied] = every[:, : k + 1], order[:, : k + 1]
    return values[:, :k], ids[:, :k]


def filter_logits(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    r"""The logits that `sample` draws from: divided by the temperature, the unlikely cut to -inf.

    p_w \propto \exp(z_w / \tau) for the words that are kept, 0 for the others. Temperature first,
    then top-k, then nucleus:

    * temperature \tau: below 1 the likely words gain, above 1 the distribution flattens;
    * top-k (Fan et al. 2018): the k most likely words;
    * nucleus, or top-p (Holtzman et al. 2020): the smallest set of most likely words whose
      probabilities sum to at least p. It is small where the model is sure and large where it is not.

    logits: (..., V). Returns the same shape; `softmax` of it is the filtered distribution.
    Among equally likely words the lower id is kept first. Sums are compared to within 1e-6.

    Raises ValueError for temperature below 1e-8 (use `greedy` for the limit 0), for top_k outside 1..V
    and for top_p outside (0, 1].
    """
    if not _COLDEST <= temperature < float("inf"):
        raise ValueError(
            f"temperature should be a finite number of at least {_COLDEST:g}, but is {temperature!r}. "
            f"For the limit 0, the most likely word every time, use greedy."
        )
    size = logits.shape[-1]
    flat = (logits / temperature).reshape(-1, size)
    if top_k is not None:
        whole_number("top_k", top_k)
        if top_k > size:
            raise ValueError(
                f"top_k is {top_k}, but the vocabulary has only {size} words. "
                f"Choose at most {size}, or leave top_k out."
            )
        values, ids = best(flat, top_k)
        flat = torch.full_like(flat, float("-inf")).scatter(-1, ids, values)
    if top_p is not None:
        if not 0.0 < top_p <= 1.0:
            raise ValueError(f"top_p should lie above 0 and be at most 1, but it is {top_p!r}.")
        if top_p < 1.0:
            ordered, order = flat.sort(dim=-1, descending=True, stable=True)
            exact = ordered if ordered.device.type in _HAVE_64_BITS else ordered.cpu()
            probabilities = exact.double().softmax(dim=-1)
            before = probabilities.cumsum(dim=-1) - probabilities  # what the likelier words sum to
            removed = (before >= top_p - _ROUNDING).to(ordered.device)
            ordered = ordered.masked_fill(removed, float("-inf"))
            ordered[:, 0] = flat.max(dim=-1).values  # a tiny top_p still keeps one word
            flat = torch.empty_like(flat).scatter(-1, order, ordered)
    return flat.reshape(logits.shape)
