"""Exercises 1 and 3: one step of a vanilla recurrent network and of an LSTM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.compare import Likely
from seqcourse.check.exercise import Case, Exercise, standard_cases
from seqcourse.check.inputs import normal


def _drawn(gates: int, batch: int, d: int, h: int, dtype: torch.dtype, seed: int) -> dict[str, Tensor]:
    sizes = {
        "x": (batch, d),
        "h": (batch, h),
        "w_ih": (gates * h, d),
        "w_hh": (gates * h, h),
        "b_ih": (gates * h,),
        "b_hh": (gates * h,),
    }
    return normal({**sizes, "c": (batch, h)}, seed=seed, dtype=dtype)


def rnn_arguments(
    batch: int, d: int, h: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `rnn_step`: an input, a state, weights with one row per entry of the state."""
    drawn = _drawn(1, batch, d, h, dtype, seed)
    del drawn["c"]
    return drawn


def lstm_arguments(
    batch: int, d: int, h: int, scale: float = 1.0, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `lstm_step`: an input, a state (h, c), weights with four rows per entry of h.

    scale: how large the cell state is.
    """
    drawn = _drawn(4, batch, d, h, dtype, seed)
    x, state = drawn.pop("x"), (drawn.pop("h"), scale * drawn.pop("c"))
    return {"x": x, "state": state, **drawn}


def _rnn(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)


_RNN_LIKELY = {
    "Did you forget the bias of the input part, b_ih?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, 0, b_hh)
    ),
    "Is one bias added twice? There are two: b_ih and b_hh.": (
        (lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, b_ih, b_ih)),
        (lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, b_hh, b_hh)),
    ),
    "Did you take a tanh of each part and add afterwards? The tanh is of the whole sum.": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: (
            torch.tanh(x @ w_ih.T + b_ih) + torch.tanh(h @ w_hh.T + b_hh)
        )
    ),
    "Did you forget to use the old state h?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + b_ih)
    ),
    "Does every row of the batch get the result of the first row?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x[:1], h[:1], w_ih, w_hh, b_ih, b_hh) + 0 * h
    ),
}


rnn_step = Exercise(
    "rnn_step",
    make=rnn_arguments,
    reference=functional.rnn_step,
    likely=_RNN_LIKELY,
    cases=standard_cases(rnn_arguments, dict(batch=2, d=3, h=4), dict(batch=5, d=7, h=2)),
    forbid=("RNN", "RNNCell", "rnn_tanh", "rnn_tanh_cell", "rnn_step"),
    idea="The new state mixes the input with the old state and squashes the sum.",
    see=("01", "One step, on paper"),
)


def _gates(x, state, w_ih, w_hh, b_ih, b_hh) -> list[Tensor]:
    """The four parts before their sigmoid or tanh, in the order i, f, g, o."""
    return list((x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh).chunk(4, dim=-1))


def _mixture(i, f, g, o, c) -> tuple[Tensor, Tensor]:
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _in_order(order: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """An LSTM step that takes the four parts for others, such as "ifog"."""

    def step(x, state, w_ih, w_hh, b_ih, b_hh):
        parts = dict(zip(order, _gates(x, state, w_ih, w_hh, b_ih, b_hh), strict=True))
        return _mixture(*(parts[name] for name in "ifgo"), state[1])

    return step


def _mixing(mix: Callable[..., Any]) -> Callable[..., Any]:
    """An LSTM step with another end: mix(i, f, g, o, c), the parts not yet squashed."""

    def step(x, state, w_ih, w_hh, b_ih, b_hh):
        return mix(*_gates(x, state, w_ih, w_hh, b_ih, b_hh), state[1])

    return step


def _lstm(*arguments):
    return _in_order("ifgo")(*arguments)


def _candidate_plain(i, f, g, o, c):
    c = f.sigmoid() * c + i.sigmoid() * g
    return o.sigmoid() * c.tanh(), c


def _gates_plain(i, f, g, o, c):
    c = f * c + i * g.tanh()
    return o * c.tanh(), c


_LSTM_LIKELY = [
    Likely(
        "Did you forget the bias of the input part, b_ih?",
        lambda x, state, w_ih, w_hh, b_ih, b_hh: _lstm(x, state, w_ih, w_hh, 0, b_hh),
    ),
    *(
        Likely(f"Is your gate order {', '.join(order)}? It should be i, f, g, o.", _in_order(order))
        for order in ("ifog", "figo", "fiog", "iofg", "oifg", "iogf", "ofig", "gifo", "igfo")
    ),
    Likely("Did you forget the tanh of the candidate g?", _mixing(_candidate_plain)),
    Likely("Did you forget the sigmoid of the gates i, f and o?", _mixing(_gates_plain)),
    Likely(
        "Did you forget to transpose the matrices? x @ w_ih.T.",
        lambda x, state, w_ih, w_hh, b_ih, b_hh: _lstm(x, state, w_ih.T, w_hh.T, b_ih, b_hh),
    ),
]


lstm_step = Exercise(
    "lstm_step",
    make=lstm_arguments,
    reference=functional.lstm_step,
    likely=_LSTM_LIKELY,
    cases=[
        *standard_cases(lstm_arguments, dict(batch=2, d=3, h=5), dict(batch=4, d=2, h=3)),
        Case("large numbers in the cell state", lambda: lstm_arguments(2, 3, 4, scale=50.0)),
    ],
    forbid=("LSTM", "LSTMCell", "lstm_cell", "lstm_step"),
    idea="Gates decide what the cell state keeps, what is added to it and what it shows.",
    see=("01", "When it fades: a memory that is added to"),
)
