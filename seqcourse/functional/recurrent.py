"""One step of the three recurrent networks, as formulas.

Parameters are laid out as in ``torch.nn.RNNCell``, ``GRUCell`` and ``LSTMCell``: the gates' matrices
stand on top of each other, so that one matrix product computes all of them.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse.functional.widths import check_width


def rnn_step(
    x: Tensor,
    h: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    r"""One step of the vanilla recurrent network (Elman 1990).

    .. math:: h_t = \tanh(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})

    Args:
        x: input of this step, (B, D).
        h: state before the step, (B, H).
        w_ih: input-to-hidden matrix, (H, D).
        w_hh: hidden-to-hidden matrix, (H, H).
        b_ih, b_hh: biases, (H,), or None for zero.

    Returns:
        The state after the step, (B, H).

    Raises:
        ValueError: if input and state do not fit the matrices, or each other; so for all three.
    """
    _check("rnn_step", x, h, w_ih, w_hh)
    return torch.tanh(linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh))


def gru_step(
    x: Tensor,
    h: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    r"""One step of the gated recurrent unit (Cho et al. 2014), in the variant of PyTorch and cuDNN.

    .. math::
        r &= \sigma(W_{ir} x + b_{ir} + W_{hr} h + b_{hr}) \\
        z &= \sigma(W_{iz} x + b_{iz} + W_{hz} h + b_{hz}) \\
        n &= \tanh(W_{in} x + b_{in} + r \odot (W_{hn} h + b_{hn})) \\
        h' &= (1 - z) \odot n + z \odot h

    The paper applies the reset gate r to h *before* the matrix product; here it is applied after it,
    which lets all three products with h be done at once.

    Args:
        x: input of this step, (B, D).
        h: state before the step, (B, H).
        w_ih: (3H, D), the gates in the order r, z, n.
        w_hh: (3H, H), in the same order.
        b_ih, b_hh: (3H,), or None for zero.

    Returns:
        The state after the step, (B, H).
    """
    _check("gru_step", x, h, w_ih, w_hh)
    from_x = linear(x, w_ih, b_ih)  # (B, 3H)
    from_h = linear(h, w_hh, b_hh)  # (B, 3H)
    return gru_combine(from_x, from_h, h)


def gru_combine(from_x: Tensor, from_h: Tensor, h: Tensor) -> Tensor:
    """The part of :func:`gru_step` after its two matrix products: gates, candidate, mixture.

    A decoder computes the part of ``from_x`` that it knows beforehand for all steps at once.

    Args:
        from_x: W_ih x + b_ih, (B, 3H).
        from_h: W_hh h + b_hh, (B, 3H).
        h: state before the step, (B, H).

    Returns:
        The state after the step, (B, H).
    """
    x_r, x_z, x_n = from_x.chunk(3, dim=-1)  # three times (B, H)
    h_r, h_z, h_n = from_h.chunk(3, dim=-1)
    reset = torch.sigmoid(x_r + h_r)
    update = torch.sigmoid(x_z + h_z)
    candidate = torch.tanh(x_n + reset * h_n)
    return candidate + update * (h - candidate)


def lstm_step(
    x: Tensor,
    state: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""One step of long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of
    Gers et al. 2000).

    .. math::
        i &= \sigma(W_{ii} x + b_{ii} + W_{hi} h + b_{hi}) \\
        f &= \sigma(W_{if} x + b_{if} + W_{hf} h + b_{hf}) \\
        g &= \tanh(W_{ig} x + b_{ig} + W_{hg} h + b_{hg}) \\
        o &= \sigma(W_{io} x + b_{io} + W_{ho} h + b_{ho}) \\
        c' &= f \odot c + i \odot g \\
        h' &= o \odot \tanh(c')

    Args:
        x: input of this step, (B, D).
        state: hidden state h (B, H) and cell state c (B, H) before the step.
        w_ih: (4H, D), the gates in the order i, f, g, o.
        w_hh: (4H, H), in the same order.
        b_ih, b_hh: (4H,), or None for zero.

    Returns:
        h and c after the step, each (B, H).
    """
    h, c = state
    _check("lstm_step", x, h, w_ih, w_hh)
    if c.shape != h.shape:
        raise ValueError(
            f"lstm_step needs a cell state of the hidden state's shape, but they are {tuple(c.shape)} "
            f"and {tuple(h.shape)}."
        )
    gates = linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh)  # (B, 4H)
    i, f, g, o = gates.chunk(4, dim=-1)  # four times (B, H)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return h, c


def _check(name: str, x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor) -> None:
    check_width(f"The input of {name}", x, w_ih.shape[-1])
    check_width(f"The state of {name}", h, w_hh.shape[-1])
    if x.shape[:-1] != h.shape[:-1]:  # a state of one row would silently go to all
        raise ValueError(
            f"{name} needs a state for each input, but they are {tuple(h.shape)} and {tuple(x.shape)}."
        )
