"""Self-checks of assignment 1, recurrent networks.

For every exercise: the mistakes people make (an upper-case list), the inputs, the check itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.core import Case, Likely, Mistake

FORBIDDEN = {
    "rnn_step": ("RNN", "RNNCell", "rnn_tanh", "rnn_tanh_cell", "rnn_step"),
    "lstm_step": ("LSTM", "LSTMCell", "lstm_cell", "lstm_step"),
}

Step = Callable[[Tensor, Tensor], Tensor]

# -- exercises 1 and 3: rnn_step, lstm_step --------------------------------------------------------


def step_arguments(gates: int, cell: bool) -> Callable[..., dict[str, Any]]:
    """A maker of the arguments of one recurrent step; with `cell` the state is a pair (h, c)."""

    def make(
        batch: int, d: int, h: int, dtype: torch.dtype = torch.float64, seed: int = 0
    ) -> dict[str, Any]:
        drawn = core.normal(
            {
                "x": (batch, d),
                "h": (batch, h),
                "w_ih": (gates * h, d),
                "w_hh": (gates * h, h),
                "b_ih": (gates * h,),
                "b_hh": (gates * h,),
                "c": (batch, h),
            },
            seed=seed,
            dtype=dtype,
        )
        x, hidden, c = drawn.pop("x"), drawn.pop("h"), drawn.pop("c")
        return {"x": x, **({"state": (hidden, c)} if cell else {"h": hidden}), **drawn}

    return make


def _rnn(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)


RNN_STEP = [
    Likely(
        "Did you forget the bias of the hidden part, b_hh?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, b_ih, 0),
    ),
    Likely(
        "Did you forget the bias of the input part, b_ih?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, 0, b_hh),
    ),
    Likely(
        "Did you forget both biases?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh, 0, 0),
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
        "Did you take a tanh of each part and add afterwards? The tanh is of the whole sum.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: (
            torch.tanh(x @ w_ih.T + b_ih) + torch.tanh(h @ w_hh.T + b_hh)
        ),
    ),
    Likely(
        "Did you forget to transpose w_hh? It has one row per entry of the new state: h @ w_hh.T.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih, w_hh.T, b_ih, b_hh),
    ),
    Likely(
        "Did you forget to transpose w_ih? It has one row per entry of the new state: x @ w_ih.T.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x, h, w_ih.T, w_hh, b_ih, b_hh),
    ),
    Likely(
        "Did you put the matrix first? With the batch first it is x @ w_ih.T.",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(w_ih @ x + b_ih + w_hh @ h + b_hh),
    ),
    Likely(
        "Did you forget to use the old state h?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: torch.tanh(x @ w_ih.T + b_ih),
    ),
    Likely(
        "Does every row of the batch get the result of the first row?",
        lambda x, h, w_ih, w_hh, b_ih, b_hh: _rnn(x[:1], h[:1], w_ih, w_hh, b_ih, b_hh) + 0 * h,
    ),
]


def rnn_step(student: Callable[..., Tensor]) -> None:
    """Check exercise 1: one step of the vanilla recurrent network."""
    cases = core.standard_cases(
        step_arguments(1, cell=False),
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


LSTM_STEP = [
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
    Likely("Did you forget the sigmoid of the gates i, f and o?", _mixing(_gates_plain)),
    Likely(
        "Did you forget the tanh around the cell state in h = o * tanh(c)?",
        _mixing(_cell_not_squashed),
    ),
    Likely("Did you use the old cell state for h? It is made from the new one.", _mixing(_old_cell_out)),
    Likely(
        "Did you return (c, h)? The pair is (h, c).",
        lambda *arguments: _lstm(*arguments)[::-1],
    ),
    Likely(
        "Did you take c for h? The state comes in as the pair (h, c).",
        lambda x, state, *weights: _lstm(x, state[::-1], *weights),
    ),
    Likely(
        "Did you return h only? The next step needs c as well.",
        lambda *arguments: _lstm(*arguments)[0],
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


def lstm_step(student: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Check exercise 3: one step of an LSTM."""
    cases = core.standard_cases(
        step_arguments(4, cell=True), {"batch": 2, "d": 3, "h": 5}, {"batch": 4, "d": 2, "h": 3}
    )
    core.check_function(
        "lstm_step",
        student,
        functional.lstm_step,
        cases,
        LSTM_STEP,
        gradient=("x", "w_ih", "w_hh", "b_ih", "b_hh"),
        forbidden=FORBIDDEN["lstm_step"],
    )


# -- exercise 2: training_pairs --------------------------------------------------------------------


def reference_training_pairs(ids: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Rows of a text and the same rows one place later, each (M, length)."""
    rows = (len(ids) - 1) // length
    cut = rows * length
    return ids[:cut].reshape(rows, length), ids[1 : cut + 1].reshape(rows, length)


def _pairs_one_row_too_many(ids, length):
    rows = len(ids) // length
    inputs = ids[: rows * length].reshape(rows, length)
    return inputs, ids[1 : rows * length + 1].reshape(rows, length)


def _pairs_rolled(ids, length):
    cut = len(ids) // length * length
    return ids[:cut].reshape(-1, length), torch.roll(ids, -1)[:cut].reshape(-1, length)


def _pairs_rolled_in_row(ids, length):
    inputs = reference_training_pairs(ids, length)[0]
    return inputs, torch.roll(inputs, -1, dims=1)


TRAINING_PAIRS = [
    Likely(
        "Are the targets the inputs themselves? They are one place later in the text.",
        lambda ids, length: (reference_training_pairs(ids, length)[0],) * 2,
    ),
    Likely(
        "Did you swap the two? The inputs come first, the targets are one place later.",
        lambda ids, length: reference_training_pairs(ids, length)[::-1],
    ),
    Likely(
        "Does the last character of a row ask for the first of the same row? It asks for the "
        "character that follows in the text.",
        _pairs_rolled_in_row,
    ),
    Likely(
        "Does the last character of the text ask for the first one (torch.roll)? Nothing follows "
        "it: the number of rows is (N - 1) // length.",
        _pairs_rolled,
    ),
    Likely(
        "The last target would lie behind the end of the text. Is the number of rows (N - 1) // length?",
        _pairs_one_row_too_many,
    ),
    Likely(
        "Is the last full row missing? Is the number of rows (N - 1) // length?",
        lambda ids, length: reference_training_pairs(ids[:-1], length),
    ),
    Likely(
        "Do your rows overlap? The next row begins where the row before it ends.",
        lambda ids, length: (ids[:-1].unfold(0, length, 1), ids[1:].unfold(0, length, 1)),
    ),
    Likely(
        "Does the text run down the columns? Each row holds `length` neighbouring characters.",
        lambda ids, length: tuple(
            part.reshape(length, -1).T for part in reference_training_pairs(ids, length)
        ),
    ),
]


def training_pairs(student: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Check exercise 2: inputs and targets of a language model."""

    def make(size: int, length: int) -> Callable[[], dict[str, Any]]:
        return lambda: {"ids": torch.arange(3, 3 + size) * 7 % 61, "length": length}

    many = "Are the rows counted with (N - 1) // length?"
    cases = [
        Case("the first example", make(12, 3)),
        Case("10 characters in rows of 3: exactly 3 rows", make(10, 3), many),
        Case("9 characters in rows of 3: only 2 rows have all their targets", make(9, 3), many),
        Case("rows of 1", make(6, 1), many),
    ]
    core.check_function("training_pairs", student, reference_training_pairs, cases, TRAINING_PAIRS)


# -- exercise 4: forward ---------------------------------------------------------------------------


def _elman(d: int, h: int, seed: int, dtype: torch.dtype) -> Step:
    """A vanilla step with fixed weights; they ask for no gradient."""
    sizes = {"w_ih": (h, d), "w_hh": (h, h), "b_ih": (h,), "b_hh": (h,)}
    weights = core.normal(sizes, seed=seed + 1, dtype=dtype)
    return lambda x, state: functional.rnn_step(x, state, **weights)


def forward_arguments(
    batch: int,
    time: int,
    d: int,
    h: int,
    lengths: Sequence[int] | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `forward`: a step with fixed weights, inputs, a first state, lengths."""
    drawn = core.normal({"x": (batch, time, d), "h": (batch, h)}, seed=seed, dtype=dtype)
    ends = None if lengths is None else torch.tensor(list(lengths))
    return {"step": _elman(d, h, seed, dtype), **drawn, "lengths": ends}


def _states(step: Step, x: Tensor, h: Tensor) -> list[Tensor]:
    """h_1 ... h_T, padding read like anything else."""
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    return states


def _masked(step, x, h, lengths, shift=0) -> tuple[Tensor, Tensor]:
    """Outputs and last states; `shift` moves the end of every sequence."""
    outputs = torch.stack(_states(step, x, h), dim=1)  # (B, T, H)
    if lengths is None:
        return outputs, outputs[:, -1]
    ends = (lengths + shift).clamp(0, x.shape[1])
    real = torch.arange(x.shape[1]) < ends[:, None]  # (B, T)
    kept = torch.cat([h[:, None], outputs], dim=1)  # (B, T + 1, H)
    return outputs * real[..., None], kept[torch.arange(len(x)), ends]


def reference_forward(
    step: Step, x: Tensor, h: Tensor, lengths: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """All states (B, T, H), zero after the end, and the last state of each sequence (B, H)."""
    return _masked(step, x, h, lengths)


def _forgetful(step, x, h, lengths):
    outputs = torch.stack([step(x[:, t], h) for t in range(x.shape[1])], dim=1)
    return outputs, outputs[:, -1]


def _late(step, x, h, lengths):
    states = [h, *_states(step, x, h)]
    return torch.stack(states[:-1], dim=1), states[-1]


def _unmasked(step, x, h, lengths):
    outputs = torch.stack(_states(step, x, h), dim=1)
    return outputs, outputs[:, -1]


def _zeroed_last(step, x, h, lengths):
    outputs = _masked(step, x, h, lengths)[0]
    return outputs, outputs[:, -1]


FORWARD = [
    Likely(
        "Did you stack along the first axis? The batch comes first: torch.stack(states, dim=1).",
        lambda step, x, h, lengths: (torch.stack(_states(step, x, h)), _states(step, x, h)[-1]),
    ),
    Likely(
        "Does every step start from the first state h? It goes on from the state before it.",
        _forgetful,
    ),
    Likely(
        "Do the outputs begin with the state before the first step? Output t is the state after step t.",
        _late,
    ),
    Likely(
        "Did you return the states only? The last state is asked for as well.",
        lambda step, x, h, lengths: _masked(step, x, h, lengths)[0],
    ),
    Likely(
        "Did you return the last state first? The order is all states, then the last one.",
        lambda step, x, h, lengths: _masked(step, x, h, lengths)[::-1],
    ),
    Likely(
        "Does your code look at lengths at all? Behind a sequence's end the output is zero and "
        "the state stays as it was.",
        _unmasked,
    ),
    Likely(
        "Does the last state come from the padding, outputs[:, -1]? The state stays as it was at "
        "the sequence's own end.",
        _zeroed_last,
    ),
    Likely(
        "Does the state run on through the padding? It stays as it was at the sequence's own end.",
        lambda step, x, h, lengths: (_masked(step, x, h, lengths)[0], _states(step, x, h)[-1]),
    ),
    Likely(
        "Are the outputs behind the end the repeated last state? They should be zero.",
        lambda step, x, h, lengths: (
            torch.stack(
                [
                    _masked(step, x[:, : t + 1], h, lengths.clamp(max=t + 1))[1]
                    for t in range(x.shape[1])
                ],
                dim=1,
            ),
            _masked(step, x, h, lengths)[1],
        ),
    ),
    Likely(
        "Are the last states right, but the outputs behind the end not zero?",
        lambda step, x, h, lengths: (_unmasked(step, x, h, lengths)[0], _masked(step, x, h, lengths)[1]),
    ),
    Likely(
        "Is a sequence one step too long? Input t (from 0) is real when t < lengths.",
        lambda step, x, h, lengths: _masked(step, x, h, lengths, 1),
    ),
    Likely(
        "Is a sequence one step too short? Input t (from 0) is real when t < lengths.",
        lambda step, x, h, lengths: _masked(step, x, h, lengths, -1),
    ),
    Likely(
        "Did you walk along the batch? The steps are x[:, 0], x[:, 1], ...",
        lambda step, x, h, lengths: _unmasked(step, x.transpose(0, 1), h, None),
    ),
]


def forward(student: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Check exercise 4: a whole sequence, first without and then with lengths."""
    cases = core.standard_cases(
        forward_arguments,
        {"batch": 2, "time": 5, "d": 3, "h": 4},
        {"batch": 3, "time": 1, "d": 2, "h": 6},
    )
    for ends in ([3, 5, 1], [4, 2, 2], [2]):
        cases.append(
            Case(
                f"lengths {ends}",
                lambda ends=ends: forward_arguments(len(ends), 5, 2, 3, lengths=ends),
                "Behind a sequence's end its output is zero and its state stays as it was.",
            )
        )
    core.check_function("forward", student, reference_forward, cases, FORWARD, gradient=("x", "h"))


# -- exercise 5: draw ------------------------------------------------------------------------------

DRAWS = 20_000  # so many draws that a frequency is within 0.015 of its probability


def draw_calls(logits: Tensor, temperature: float, seed: int) -> dict[str, dict[str, Any]]:
    """The calls that tell how `draw` draws: the same row many times, twice with one seed, ...

    logits: one row, (V,), float64.
    """

    def call(rows: Tensor, tau: float, number: int) -> dict[str, Any]:
        generator = torch.Generator().manual_seed(number)
        return {"logits": rows, "temperature": tau, "generator": generator}

    size = len(logits)
    return {
        "many": call(logits.expand(DRAWS, size).clone(), temperature, seed),
        "again": call(logits.expand(DRAWS, size).clone(), temperature, seed),
        "other": call(logits.expand(DRAWS, size).clone(), temperature, seed + 1),
        "one": call(logits[None].float(), temperature, seed),
        "rows": call(50.0 * torch.eye(size, dtype=torch.float64).flip(0), 1.0, seed),
        "cold": call(10.0 * logits.expand(3, size).clone(), 0.001, seed),
        "none": {"logits": logits[None].clone(), "temperature": 1.0, "generator": None},
    }


def _frequency_question(found: Tensor, logits: Tensor, temperature: float) -> str:
    """Which mistake gives these frequencies?"""
    size = len(logits)
    mistakes = {
        "Did you multiply by the temperature? Divide by it.": (logits * temperature).softmax(-1),
        "Is the temperature missing, or applied after the softmax? It divides the logits.": (
            logits.softmax(-1)
        ),
        "Do you take the likeliest entry (argmax)? It should be a random draw.": (
            torch.nn.functional.one_hot(logits.argmax(), size).double()
        ),
        "Are all entries equally likely? Perhaps the softmax is over the batch: dim=-1.": (
            torch.full((size,), 1 / size, dtype=torch.float64)
        ),
        "Is the sign wrong? Large logits should be likely.": (-logits / temperature).softmax(-1),
    }
    for question, probabilities in mistakes.items():
        if (found - probabilities).abs().max() < 0.02:
            return question
    return "The probabilities are softmax(logits / temperature)."


NO_SOFTMAX = Likely(
    "torch.multinomial wants probabilities: is the softmax missing?",
    lambda logits, tau, generator: torch.multinomial(logits / tau, 1, generator=generator),
)
OVERFLOW = Likely(
    "A temperature of 0.001 makes exp(logits / temperature) overflow: use torch.softmax, or "
    "subtract the largest logit first.",
    lambda logits, tau, generator: torch.multinomial(
        (logits / tau).exp() / (logits / tau).exp().sum(dim=-1, keepdim=True), 1
    ),
)


def judge_draw(found: Mapping[str, numpy.ndarray], made: Mapping[str, dict[str, Any]]) -> None:
    """Judge the calls of `draw_calls` from what `core.record` wrote down; raise Mistake."""
    draws = {name: core.result(found, f"{name}.result") for name in made}
    for name, given in made.items():
        core.unchanged("draw", found, given, f"{name}.")
        if name != "cold":
            _check_entries(draws[name], given, NO_SOFTMAX)
    _check_shares(draws["many"], made["many"])
    if torch.equal(draws["many"], draws["other"]):
        raise Mistake("draw: two seeds give the same draws. Is a seed fixed inside?")
    if not torch.equal(draws["many"], draws["again"]):
        raise Mistake("draw: the same seed gives other draws each time. Do you pass the generator on?")
    if not torch.equal(draws["rows"], made["rows"]["logits"].argmax(dim=-1)):
        raise Mistake(
            "draw: rows with quite different logits get the wrong draws. "
            "Is every row drawn from its own probabilities?"
        )
    _check_entries(draws["cold"], made["cold"], OVERFLOW)
    if not torch.equal(draws["cold"], made["cold"]["logits"].argmax(dim=-1)):
        raise Mistake(
            "draw: at temperature 0.001 every draw should be the likeliest entry. " + OVERFLOW.question
        )


def _check_entries(got: Any, given: Mapping[str, Any], likely: Likely) -> None:
    """Raise Mistake unless `got` holds one entry's number per row, whichever it is."""
    rows, size = given["logits"].shape
    if isinstance(got, Tensor) and got.shape == (rows,):
        if got.dtype != torch.int64 or got.min() < 0 or got.max() >= size:
            raise Mistake(
                f"draw: the result should be numbers of entries, int64 from 0 to {size - 1}, "
                f"but is {got.dtype} from {got.min()} to {got.max()}."
            )
        return
    anything = torch.zeros(rows, dtype=torch.int64)
    core.compare("draw", got, anything, given.values(), [likely])


def _check_shares(draws: Tensor, given: Mapping[str, Any]) -> None:
    """Raise Mistake unless every entry comes up as often as its probability says."""
    logits, temperature = given["logits"][0], given["temperature"]
    shares = torch.bincount(draws, minlength=len(logits)).double() / len(draws)
    wanted = (logits / temperature).softmax(-1)
    if (shares - wanted).abs().max() > 0.02:
        worst = int((shares - wanted).abs().argmax())
        raise Mistake(
            f"draw: at temperature {temperature} entry {worst} should come up in "
            f"{wanted[worst]:.1%} of {len(draws)} draws, but came up in {shares[worst]:.1%}. "
            + _frequency_question(shares, logits, temperature)
        )


def draw(student: Callable[..., Tensor]) -> None:
    """Check exercise 5: drawing with a temperature."""
    logits = torch.tensor([0.3, -1.0, 1.4, 0.8], dtype=torch.float64)
    found: dict[str, numpy.ndarray] = {}
    for name, given in draw_calls(logits, temperature=0.6, seed=3).items():
        found |= core.record(student, given, f"{name}.")
    judge_draw(found, draw_calls(logits, temperature=0.6, seed=3))
    print(f"✓ draw: {DRAWS} draws, seeds, rows, a batch of 1, a low temperature: all as expected.")


# -- exercise 6: continue_text ---------------------------------------------------------------------


def writer_arguments(batch: int, prompt: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `continue_text`: a small network whose `choose` takes the unlikeliest."""
    v, h = 7, 6
    weights = core.normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed=seed + 1)

    def step(tokens: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Any]:
        state_h, count = state
        state_h = torch.tanh(2 * (weights["table"][tokens] + state_h @ weights["w"]))
        return state_h @ weights["out"], (state_h, count + 1)

    start = core.normal({"h": (batch, h), "count": (batch, 1)}, seed=seed + 2)
    generator = torch.Generator().manual_seed(seed)
    return {
        "step": step,
        "state": (start["h"], start["count"]),
        "prompt": torch.randint(v, (batch, prompt), generator=generator),
        "length": length,
        "choose": lambda logits: logits.argmin(dim=-1),
    }


def _write(step, state, prompt, length, choose, *, keep=True, feed="own", first=()) -> list[Tensor]:
    """Read a prompt and write; the options make the mistakes of CONTINUE_TEXT."""
    start = state
    for t in range(prompt.shape[1]):
        logits, new = step(prompt[:, t], state)
        state = new if keep else start
    for tokens in first:  # fed once more before the first choice
        logits, state = step(tokens, state)
    written = [choose(logits)]
    while len(written) < length:
        logits, new = step(written[-1] if feed == "own" else prompt[:, -1], state)
        state = new if keep else start
        written.append(choose(logits))
    return written


def reference_continue_text(step, state, prompt, length, choose) -> Tensor:
    """The tokens written after the prompt, (B, length)."""
    return torch.stack(_write(step, state, prompt, length, choose), dim=1)


def _written(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: torch.stack(_write(*arguments, **mistake), dim=1)


def _with_length(change: int, begin: int = 0) -> Callable[..., Tensor]:
    return lambda step, state, prompt, length, choose: torch.stack(
        _write(step, state, prompt, length + change, choose)[begin:], dim=1
    )


CONTINUE_TEXT = [
    Likely(
        "Do you feed the last character of the prompt twice? The logits after reading it already "
        "give the first new one.",
        lambda step, state, prompt, length, choose: _written(first=[prompt[:, -1]])(
            step, state, prompt, length, choose
        ),
    ),
    Likely(
        "Is only the last character of the prompt read? The state should know all of it.",
        lambda step, state, prompt, length, choose: reference_continue_text(
            step, state, prompt[:, -1:], length, choose
        ),
    ),
    Likely(
        "Is only the first character of the prompt read? The state should know all of it.",
        lambda step, state, prompt, length, choose: reference_continue_text(
            step, state, prompt[:, :1], length, choose
        ),
    ),
    Likely(
        "Does every step start from the first state? Hand on the state that step returns.",
        _written(keep=False),
    ),
    Likely(
        "Did you pick the likeliest character yourself? What comes next is up to choose: use "
        "choose(logits).",
        lambda step, state, prompt, length, choose: reference_continue_text(
            step, state, prompt, length, lambda logits: logits.argmax(dim=-1)
        ),
    ),
    Likely(
        "Is the last character of the prompt fed again and again? Feed the newest choice.",
        _written(feed="prompt"),
    ),
    Likely(
        "Does your result hold the prompt as well? Only the new characters are asked for.",
        lambda step, state, prompt, length, choose: torch.cat(
            [prompt, reference_continue_text(step, state, prompt, length, choose)], dim=1
        ),
    ),
    Likely(
        "Is the first new character missing? It comes from the logits after the prompt.",
        _with_length(1, begin=1),
    ),
    Likely("Is there one character too many?", _with_length(1)),
    Likely("Is there one character too few?", _with_length(-1)),
    Likely(
        "Did you stack along the first axis? The batch comes first: torch.stack(written, dim=1).",
        lambda *arguments: torch.stack(_write(*arguments)),
    ),
    Likely(
        "Did you return a list? Stack it to one tensor.",
        lambda *arguments: _write(*arguments),
    ),
]


def continue_text(student: Callable[..., Tensor]) -> None:
    """Check exercise 6: read a prompt, then write on from it."""
    sizes = {
        "the first example": (2, 4, 6),
        "a batch of 1": (1, 3, 5),
        "a prompt of one character": (3, 1, 4),
        "length 1": (2, 3, 1),
        "a longer text": (4, 6, 12),
    }
    cases = [
        Case(label, lambda s=size, k=k: writer_arguments(*s, seed=10 * k))
        for k, (label, size) in enumerate(sizes.items())
    ]
    core.check_function("continue_text", student, reference_continue_text, cases, CONTINUE_TEXT)


# -- exercise 7: gradient_norms --------------------------------------------------------------------


def norms_arguments(
    batch: int, time: int, d: int, h: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `gradient_norms`: a step with fixed weights, inputs and a first state."""
    given = forward_arguments(batch, time, d, h, dtype=dtype, seed=seed)
    return {name: given[name] for name in ("step", "x", "h")}


def _gradients(step, x, h, *, of="state", whole=False) -> Tensor:
    """Gradients (B, T, size) of a sum of states; the options make mistakes."""
    h = h.detach().clone().requires_grad_()
    inputs = [x[:, t].detach().clone().requires_grad_() for t in range(x.shape[1])]
    states = [h]
    for x_t in inputs:
        states.append(step(x_t, states[-1]))
    total = sum(s.sum() for s in states[1:]) if whole else states[-1].sum()
    wanted = {"state": states[1:], "input": inputs, "before": states[:-1]}[of]
    return torch.stack(torch.autograd.grad(total, wanted), dim=1)


def reference_gradient_norms(step: Step, x: Tensor, h: Tensor) -> Tensor:
    """Norm of the gradient of the last state's sum for every state, (B, T)."""
    return _gradients(step, x, h).norm(dim=-1)


def _norms_without_retain(step, x, h):
    states = _states(step, x, h.detach().clone().requires_grad_())
    states[-1].sum().backward()
    return torch.stack([state.grad.norm(dim=-1) for state in states], dim=1)


def _norms_untracked(step, x, h):
    states = _states(step, x, h)
    return torch.stack(torch.autograd.grad(states[-1].sum(), states), dim=1).norm(dim=-1)


def _norms_one_step(step, x, h):
    states = _states(step, x, h)
    norms = []
    for t in range(1, x.shape[1]):
        before = states[t - 1].detach().clone().requires_grad_()
        norms.append(torch.autograd.grad(step(x[:, t], before).sum(), before)[0].norm(dim=-1))
    norms.append(torch.ones_like(states[-1]).norm(dim=-1))
    return torch.stack(norms, dim=1)


GRADIENT_NORMS = [
    Likely(
        "Did you differentiate with respect to the inputs x_t? The states h_t are asked for.",
        lambda *a: _gradients(*a, of="input").norm(dim=-1),
    ),
    Likely(
        "Is everything one step early? The first is for the state after the first step, h_1.",
        lambda *a: _gradients(*a, of="before").norm(dim=-1),
    ),
    Likely(
        "Is time the wrong way round? The first column belongs to the first step.",
        lambda *a: reference_gradient_norms(*a).flip(1),
    ),
    Likely(
        "Is the square root missing? A norm is the root of the sum of squares.",
        lambda *a: _gradients(*a).square().sum(dim=-1),
    ),
    Likely(
        "Did you add up absolute values? The norm is the root of the sum of squares.",
        lambda *a: _gradients(*a).abs().sum(dim=-1),
    ),
    Likely(
        "Did you sum all states? Only the last state's entries are summed.",
        lambda *a: _gradients(*a, whole=True).norm(dim=-1),
    ),
    Likely(
        "Is the norm over the whole batch? Each sequence has its own row: norm(dim=-1).",
        lambda *a: _gradients(*a).norm(dim=(0, 2)),
    ),
    Likely(
        "Did you stack along the first axis? The batch comes first: torch.stack(..., dim=1).",
        lambda *a: reference_gradient_norms(*a).T,
    ),
    Likely(
        "Did you return the gradients themselves? Take their norm over the last axis.",
        _gradients,
    ),
    Likely(
        "Is that the gradient over one step only? A detach() on the way cuts it off from the last "
        "state.",
        _norms_one_step,
    ),
    Likely(
        "backward() fills .grad of leaves only, and the states in the middle are none: use "
        "torch.autograd.grad, or call retain_grad() on every state.",
        _norms_without_retain,
    ),
    Likely(
        "Nothing here asks for a gradient yet: start from h.detach().clone().requires_grad_().",
        _norms_untracked,
    ),
]


def gradient_norms(student: Callable[..., Tensor]) -> None:
    """Check exercise 7: how far back the gradient reaches."""
    cases = core.standard_cases(
        norms_arguments,
        {"batch": 2, "time": 5, "d": 3, "h": 4},
        {"batch": 3, "time": 1, "d": 2, "h": 6},
    )
    core.check_function("gradient_norms", student, reference_gradient_norms, cases, GRADIENT_NORMS)


# -- polls -----------------------------------------------------------------------------------------


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc"}, answers)
