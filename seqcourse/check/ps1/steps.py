"""Exercises 1 and 3: one step of a vanilla recurrent network and of an LSTM."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases


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


rnn_step = Exercise(
    "rnn_step",
    make=rnn_arguments,
    reference=functional.rnn_step,
    cases=standard_cases(dict(batch=2, d=3, h=4), dict(batch=5, d=7, h=2)),
    forbid=("RNN", "RNNCell", "rnn_tanh", "rnn_tanh_cell", "rnn_step"),
)


lstm_step = Exercise(
    "lstm_step",
    make=lstm_arguments,
    reference=functional.lstm_step,
    cases={
        **standard_cases(dict(batch=2, d=3, h=5), dict(batch=4, d=2, h=3)),
        "large numbers in the cell state": dict(batch=2, d=3, h=4, scale=50.0),
    },
    forbid=("LSTM", "LSTMCell", "lstm_cell", "lstm_step"),
)
