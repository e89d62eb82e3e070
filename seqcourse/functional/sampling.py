"""Drawing from a softmax with the Gumbel trick, and its differentiable relaxation."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from seqcourse.functional.precision import SHORT, widened
from seqcourse.functional.scores import softmax


def gumbel_noise(
    shape: Sequence[int],
    *,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Tensor:
    r"""Independent standard Gumbel variables, :math:`G = -\log(-\log U)` with U uniform on (0, 1).

    -log U is a standard exponential variable, which is how it is drawn here. A draw of exactly 0 is
    raised to the smallest positive number, since the logarithm of 0 would be minus infinity. Noise of
    16 bits is drawn in 32: the largest draws decide, and 16 bits would make many of them equal.

    Args:
        shape: of the result.
        generator: source of randomness; it may live on another device than the result.
        dtype: of the result, by default PyTorch's.
        device: of the result, by default the generator's, without one the CPU.

    Returns:
        Noise of that shape.
    """
    drawn_on = device if generator is None else generator.device
    wide = torch.float32 if dtype in SHORT else dtype
    exponential = torch.empty(shape, dtype=wide, device=drawn_on).exponential_(generator=generator)
    return -exponential.clamp_min(torch.finfo(exponential.dtype).tiny).log().to(device, dtype)


def gumbel_max(logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
    r"""Draw one index per row from softmax(logits): :math:`\arg\max_i (G_i + \log y_i)` (Gumbel 1954).

    Logits serve as well as log y: they differ by one constant per row, which moves no maximum.

    Args:
        logits: (..., V).
        generator: source of randomness.

    Returns:
        Indices, (...).
    """
    return _noisy(logits, generator).argmax(-1)


def gumbel_softmax(
    logits: Tensor, temperature: float, generator: torch.Generator | None = None
) -> Tensor:
    r"""A differentiable stand-in for a draw: :math:`\mathrm{softmax}((\log y + G) / \tau)`
    (Jang et al. 2017; Maddison et al. 2017).

    As the temperature goes to 0 the result goes to the one-hot vector of :func:`gumbel_max`; as it
    grows, to the uniform distribution.

    Args:
        logits: (..., V).
        temperature: tau, greater than 0.
        generator: source of randomness.

    Returns:
        Probabilities, (..., V).

    Raises:
        ValueError: if the temperature is not greater than 0.
    """
    if temperature <= 0:
        raise ValueError(f"gumbel_softmax needs a temperature above 0, but it is {temperature}.")
    return softmax(_noisy(logits, generator) / temperature).to(logits.dtype)


def _noisy(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    """Logits with Gumbel noise, in at least 32 bits."""
    wide = widened(logits)
    return wide + gumbel_noise(wide.shape, generator=generator, dtype=wide.dtype, device=wide.device)
