"""Adapters: a trained weight that stays, and a small change of it that is learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize


class LowRank(nn.Module):
    r"""A matrix plus a product of two thin ones (LoRA, Hu et al. 2022).

    .. math:: W' = W + \frac{\alpha}{r}\, B A, \qquad B \in \mathbb{R}^{m \times r},\;
        A \in \mathbb{R}^{r \times n}

    B begins with zeros, so at first nothing changes.

    Args:
        weight: W, (m, n).
        rank: r.
        alpha: the size of the change; r if it is not given.
    """

    def __init__(self, weight: Tensor, rank: int, alpha: float | None = None) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.scale = 1.0 if alpha is None else alpha / rank
        self.a = nn.Parameter(torch.empty(rank, columns, dtype=weight.dtype, device=weight.device))
        self.b = nn.Parameter(torch.zeros(rows, rank, dtype=weight.dtype, device=weight.device))
        nn.init.kaiming_uniform_(self.a, a=5**0.5)

    def forward(self, weight: Tensor) -> Tensor:
        """W (m, n) to W' (m, n)."""
        return weight + self.scale * self.b @ self.a


def adapt(model: nn.Module, rank: int, alpha: float | None = None) -> nn.Module:
    """Freeze a model, and put a :class:`LowRank` on every matrix of its blocks.

    Args:
        model: one with ``blocks``, such as :class:`models.GPT`; it is changed.
        rank: r of each.
        alpha: as of LowRank.

    Returns:
        The model; only the adapters' parameters still learn.

    Raises:
        ValueError: if the rank is not at least 1, or there is a smaller matrix than that.
    """
    found = [
        (module, name)
        for module in model.blocks.modules()
        for name, weight in module.named_parameters(recurse=False)
        if weight.dim() == 2
    ]
    most = min(min(getattr(module, name).shape) for module, name in found)
    if not 1 <= rank <= most:
        raise ValueError(f"The rank should be from 1 to {most}, but is {rank}.")
    model.requires_grad_(False)
    for module, name in found:
        weight = getattr(module, name)
        parametrize.register_parametrization(module, name, LowRank(weight.detach(), rank, alpha))
    return model


def merge(model: nn.Module) -> nn.Module:
    """Add what the adapters of a model have learned to its weights, and take them away.

    The model then computes what it computed with them, as fast as before they came.
    """
    for module in list(model.modules()):
        for name in list(getattr(module, "parametrizations", ())):
            parametrize.remove_parametrizations(module, name, leave_parametrized=True)
    return model
