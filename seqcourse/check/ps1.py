"""Self-checks of assignment 1, recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.core import Likely

FORBIDDEN = {
    "rnn_step": ("RNN", "RNNCell", "rnn_tanh", "rnn_tanh_cell", "rnn_step"),
    "lstm_step": ("LSTM", "LSTMCell", "lstm", "lstm_cell", "lstm_step"),
}


def _step_arguments(gates: int, cell: bool) -> Callable[..., dict[str, Any]]:
    """Arguments of one recurrent step; `cell`: the state is a pair."""

    def make(batch: int, d: int, h: int, dtype: torch.dtype = torch.float64) -> dict[str, Any]:
        given = core.normal(
            {
                "x": (batch, d),
                "h": (batch, h),
                "w_ih": (gates * h, d),
                "w_hh": (gates * h, h),
                "b_ih": (gates * h,),
                "b_hh": (gates * h,),
                "c": (batch, h),
            },
            seed=batch + d + h,
            dtype=dtype,
        )
        c = given.pop("c")
        if cell:
            given["h"] = (given["h"], c)
            given = {"state" if name == "h" else name: value for name, value in given.items()}
        return given

    return make


RNN_STEP = [
    Likely(
        "Did you forget the bias of the hidden part, b_hh?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T),
    ),
    Likely(
        "Did you forget the bias of the input part, b_ih?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + h @ w_hh.T + b_hh),
    ),
    Likely(
        "Did you forget both biases?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + h @ w_hh.T),
    ),
    Likely(
        "Did you forget the tanh?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: x @ w_ih.T + b_ih + h @ w_hh.T + b_hh,
    ),
    Likely(
        "Did you use a sigmoid in place of the tanh?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.sigmoid(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh),
    ),
    Likely(
        "Did you take a tanh of each part and add afterwards? The tanh is of the sum.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: (
            torch.tanh(x @ w_ih.T + b_ih) + torch.tanh(h @ w_hh.T + b_hh)
        ),
    ),
    Likely(
        "Did you forget to transpose w_hh? With the batch first, a row of states meets a row of "
        "w_hh: h @ w_hh.T.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + b_ih + h @ w_hh + b_hh),
    ),
    Likely(
        "Did you forget to transpose w_ih? It has one row per output, (H, D): x @ w_ih.T.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih + b_ih + h @ w_hh.T + b_hh),
    ),
    Likely(
        "Did you forget to use the old state h?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + b_ih),
    ),
    Likely(
        "Did you multiply the first vector of the batch only?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(w_ih @ x[0] + b_ih + w_hh @ h[0] + b_hh),
    ),
]


def rnn_step(student: Callable[..., Tensor]) -> None:
    """Check exercise 1: one step of the vanilla recurrent network."""
    cases = core.standard_cases(
        _step_arguments(1, cell=False),
        {"batch": 2, "d": 3, "h": 4},
        {"batch": 5, "d": 7, "h": 2},
    )
    core.check_function(
        "rnn_step",
        student,
        functional.rnn_step,
        cases,
        RNN_STEP,
        gradient=("x", "h", "w_ih", "w_hh", "b_ih", "b_hh"),
        forbidden=FORBIDDEN["rnn_step"],
    )


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc"}, answers)
