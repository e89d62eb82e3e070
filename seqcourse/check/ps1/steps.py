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
    "Did you forget the bias of the hidden part, b_hh?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, b_ih, 0)
    ),
    "Did you forget the bias of the input part, b_ih?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, 0, b_hh)
    ),
    "Did you forget both biases?": (lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, 0, 0)),
    "Is one bias added twice? There are two: b_ih and b_hh.": (
        (lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, b_ih, b_ih)),
        (lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, b_hh, b_hh)),
    ),
    "Is the tanh around one part only? It is of the whole sum.": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: x @ w_ih.T + torch.tanh(h @ w_hh.T + b_ih + b_hh)
    ),
    "Did you forget the tanh?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: x @ w_ih.T + b_ih + h @ w_hh.T + b_hh
    ),
    "Did you use a sigmoid in place of the tanh?": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.sigmoid(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
    ),
    "Did you take a tanh of each part and add afterwards? The tanh is of the whole sum.": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: (
            torch.tanh(x @ w_ih.T + b_ih) + torch.tanh(h @ w_hh.T + b_hh)
        )
    ),
    "Did you forget to transpose w_hh? It has one row per entry of the new state: h @ w_hh.T.": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh.T, b_ih, b_hh)
    ),
    "Did you forget to transpose w_ih? It has one row per entry of the new state: x @ w_ih.T.": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih.T, w_hh, b_ih, b_hh)
    ),
    "Did you put the matrix first? With the batch first it is x @ w_ih.T.": (
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)
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


def _all_sigmoid(i, f, g, o, c):
    c = f.sigmoid() * c + i.sigmoid() * g.sigmoid()
    return o.sigmoid() * c.tanh(), c


def _candidate_plain(i, f, g, o, c):
    c = f.sigmoid() * c + i.sigmoid() * g
    return o.sigmoid() * c.tanh(), c


def _cell_not_squashed(i, f, g, o, c):
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c, c


def _old_cell_out(i, f, g, o, c):
    return o.sigmoid() * c.tanh(), f.sigmoid() * c + i.sigmoid() * g.tanh()


def _gates_plain(i, f, g, o, c):
    c = f * c + i * g.tanh()
    return o * c.tanh(), c


def _cut_along_batch(x, state, w_ih, w_hh, b_ih, b_hh):
    i, f, g, o = (x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh).chunk(4, dim=0)
    return _mixture(i, f, g, o, state[1])


_LSTM_LIKELY = [
    Likely(
        "Did you forget the bias of the hidden part, b_hh?",
        lambda x, state, w_ih, w_hh, b_ih, b_hh: _lstm(x, state, w_ih, w_hh, b_ih, 0),
    ),
    Likely(
        "Did you forget the bias of the input part, b_ih?",
        lambda x, state, w_ih, w_hh, b_ih, b_hh: _lstm(x, state, w_ih, w_hh, 0, b_hh),
    ),
    *(
        Likely(f"Is your gate order {', '.join(order)}? It should be i, f, g, o.", _in_order(order))
        for order in ("ifog", "figo", "fiog", "iofg", "oifg", "iogf", "ofig", "gifo", "igfo")
    ),
    Likely(
        "Did you use a sigmoid for the candidate g? It has a tanh; only the gates have a sigmoid.",
        _mixing(_all_sigmoid),
    ),
    Likely("Did you forget the tanh of the candidate g?", _mixing(_candidate_plain)),
    Likely(
        "Is the cell state squashed by a sigmoid? It is o * tanh(c).",
        _mixing(
            lambda i, f, g, o, c: (
                o.sigmoid() * _mixture(i, f, g, o, c)[1].sigmoid(),
                _mixture(i, f, g, o, c)[1],
            )
        ),
    ),
    Likely(
        "Does the forget gate decide what is added, as in a GRU? That is the input gate's part: i * g.",
        _mixing(lambda i, f, g, o, c: _mixture(-f, f, g, o, c)),
    ),
    Likely("Did you forget the sigmoid of the gates i, f and o?", _mixing(_gates_plain)),
    Likely(
        "Did you forget the tanh around the cell state in h = o * tanh(c)?", _mixing(_cell_not_squashed)
    ),
    Likely("Did you use the old cell state for h? It is made from the new one.", _mixing(_old_cell_out)),
    Likely("Did you return (c, h)? The pair is (h, c).", lambda *arguments: _lstm(*arguments)[::-1]),
    Likely(
        "Did you take c for h? The state comes in as the pair (h, c).",
        lambda x, state, *weights: _lstm(x, state[::-1], *weights),
    ),
    Likely(
        "Did you return h only? The next step needs c as well.", lambda *arguments: _lstm(*arguments)[0]
    ),
    Likely(
        "Did you forget to transpose the matrices? x @ w_ih.T.",
        lambda x, state, w_ih, w_hh, b_ih, b_hh: _lstm(x, state, w_ih.T, w_hh.T, b_ih, b_hh),
    ),
    Likely(
        "Did you cut into four along the batch? chunk(4, dim=-1) cuts along the last axis.",
        _cut_along_batch,
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
