"""Recurrent cells and layers: parameters around the formulas of ``functional.recurrent``."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqcourse import functional as F

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
STEPS = {"rnn": F.rnn_step, "gru": F.gru_step, "lstm": F.lstm_step}
FUSED = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}

State = Tensor | tuple[Tensor, Tensor]  # (B, layers, H), twice for the LSTM


class Cell(nn.Module):
    """One step of a recurrent network with its parameters; subclasses name the formula.

    Args:
        input_size: D.
        hidden_size: H.
    """

    kind: str

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        rows = GATES[self.kind] * hidden_size
        self.hidden_size = hidden_size
        self.weight_ih = nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh = nn.Parameter(torch.empty(rows, hidden_size))
        self.bias_ih = nn.Parameter(torch.empty(rows))
        self.bias_hh = nn.Parameter(torch.empty(rows))
        reset_recurrent(self, hidden_size)

    def forward(self, x: Tensor, state: State) -> State:
        """x (B, D), state (B, H), or (h, c) for the LSTM, to the state after the step."""
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return STEPS[self.kind](x, state, *weights)


class RNNCell(Cell):
    """:func:`seqcourse.functional.rnn_step` with parameters."""

    kind = "rnn"


class GRUCell(Cell):
    """:func:`seqcourse.functional.gru_step` with parameters."""

    kind = "gru"


class LSTMCell(Cell):
    """:func:`seqcourse.functional.lstm_step` with parameters."""

    kind = "lstm"


def reset_recurrent(module: nn.Module, hidden_size: int) -> None:
    """PyTorch's start for recurrent layers: every number uniform in +-1/sqrt(H)."""
    bound = 1 / math.sqrt(hidden_size)
    for parameter in module.parameters(recurse=False):
        nn.init.uniform_(parameter, -bound, bound)


class Recurrent(nn.Module):
    """A recurrent network over whole sequences, in one direction or both, in one layer or several.

    The *readable* path calls the step functions of this course in three plain loops. The *fused* path
    hands the same parameters to PyTorch's compiled kernels. Both give the same numbers.

    Args:
        kind: "rnn", "gru" or "lstm".
        input_size: D.
        hidden_size: H, of each direction.
        num_layers: layers on top of each other.
        bidirectional: read from the right as well (Schuster and Paliwal 1997); outputs of both
            directions are concatenated.
        dropout: probability of dropping a number between layers, while training.

    Raises:
        ValueError: if the kind is unknown, there is no layer, or the dropout is not at least 0 and
            below 1.
    """

    def __init__(
        self,
        kind: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if kind not in GATES:
            raise ValueError(f"kind should be one of {', '.join(GATES)}, but it is {kind!r}.")
        if num_layers < 1:
            raise ValueError(f"num_layers should be at least 1, but it is {num_layers}.")
        F.check_share(dropout)
        self.kind, self.hidden_size, self.num_layers = kind, hidden_size, num_layers
        self.directions = 2 if bidirectional else 1
        self.dropout = dropout
        self.output_size = hidden_size * self.directions
        rows = GATES[kind] * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else self.output_size
            for suffix in self._suffixes(layer):
                for name, shape in (
                    ("weight_ih", (rows, width)),
                    ("weight_hh", (rows, hidden_size)),
                    ("bias_ih", (rows,)),
                    ("bias_hh", (rows,)),
                ):
                    self.register_parameter(name + suffix, nn.Parameter(torch.empty(shape)))
        reset_recurrent(self, hidden_size)

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: self.directions]

    def _weights(self, suffix: str) -> tuple[Tensor, ...]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(getattr(self, name + suffix) for name in names)

    def zero_state(self, batch_size: int) -> State:
        """The state before the first step: zeros, (B, layers * directions, H)."""
        like = self.weight_hh_l0
        zeros = like.new_zeros(batch_size, self.num_layers * self.directions, self.hidden_size)
        return (zeros, zeros) if self.kind == "lstm" else zeros

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: State | None = None, path: str = "fused"
    ) -> tuple[Tensor, State]:
        """Run over sequences.

        Args:
            x: inputs, (B, T, D), padded on the right.
            lengths: real length of each sequence, (B,), 1 to T, or None when none is padded.
            state: state before the first step, (B, layers * directions, H) or a pair of them.
            path: "fused" or "readable": same arguments, same shapes, the same numbers.

        Returns:
            Outputs (B, T, H * directions), zeros at padding, and the state after each sequence's last
            real step, shaped as ``state``.

        Raises:
            ValueError: if shapes or lengths do not fit, or the path is unknown.
        """
        self._check(x, lengths)
        state = self.zero_state(x.shape[0]) if state is None else self._check_state(state, x.shape[0])
        # What traces the code knows no lengths, by which PyTorch packs for the fused kernels.
        if path == "readable" or (lengths is not None and torch.compiler.is_compiling()):
            return self._readable(x, lengths, state)
        if path == "fused":
            return self._fused(x, lengths, state)
        raise ValueError(f"path should be 'fused' or 'readable', but it is {path!r}.")

    def outputs(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The outputs of :meth:`forward` alone, (B, T, H * directions), zeros at padding.

        Padded sequences are not packed: the backward direction reads each one turned round, so that
        padding comes last in both. The numbers are the same, but the gradient takes a quarter of the
        time on a CPU. What has come after padding is lost, so there is no last state.

        Args:
            x, lengths: as in :meth:`forward`.
        """
        self._check(x, lengths)
        if lengths is None:
            return self._fused(x, None, self.zero_state(x.shape[0]))[0]
        place = torch.arange(x.shape[1], device=x.device)
        real = place < lengths[:, None]  # (B, T)
        turned = torch.where(real, lengths[:, None] - 1 - place, place)[..., None]  # (B, T, 1)
        for layer in range(self.num_layers):
            x = x.masked_fill(~real[..., None], 0)
            if layer > 0:
                x = torch.dropout(x, self.dropout, self.training)
            parts = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                state = _map(lambda s: s[None, :, 0].contiguous(), self.zero_state(x.shape[0]))
                read = x if direction == 0 else _reorder(x, turned)
                options = (True, 1, 0.0, self.training, False, True)
                part = FUSED[self.kind](read, state, self._weights(suffix), *options)[0]
                parts.append(part if direction == 0 else _reorder(part, turned))
            x = torch.cat(parts, dim=-1)  # (B, T, H * directions)
        return x.masked_fill(~real[..., None], 0)

    def _check(self, x: Tensor, lengths: Tensor | None) -> None:
        width = self.weight_ih_l0.shape[1]
        if x.dim() != 3 or x.shape[-1] != width:
            raise ValueError(
                f"The inputs should be (B, T, {width}), but they are {tuple(x.shape)}: "
                f"batch first, then time, then the input size."
            )
        if x.shape[1] == 0:
            raise ValueError(f"The sequences should have at least one step, but are {tuple(x.shape)}.")
        if lengths is not None:
            F.check_lengths(lengths, *x.shape[:2])

    def _check_state(self, state: State, batch: int) -> State:
        pair = self.kind == "lstm"
        given = tuple(state) if isinstance(state, tuple | list) else (state,)
        wanted = (batch, self.num_layers * self.directions, self.hidden_size)
        if len(given) != 1 + pair or any(part.shape != wanted for part in given):
            raise ValueError(
                f"The state should be {'a pair of ' * pair}{wanted}: batch first, then layers times "
                f"directions, then the hidden size. But it is "
                f"{' and '.join(str(tuple(part.shape)) for part in given)}."
            )
        return given if pair else given[0]

    def _fused(self, x: Tensor, lengths: Tensor | None, state: State) -> tuple[Tensor, State]:
        size = x.shape[1]
        state = _map(lambda s: s.transpose(0, 1).contiguous(), state)  # (layers * dirs, B, H)
        suffixes = [s for layer in range(self.num_layers) for s in self._suffixes(layer)]
        weights = [w for suffix in suffixes for w in self._weights(suffix)]
        options = (True, self.num_layers, self.dropout, self.training, self.directions == 2)
        run = FUSED[self.kind]
        if lengths is None:
            outputs, *after = run(x, state, weights, *options, True)
        else:
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            state = _map(lambda s: s[:, packed.sorted_indices], state)
            data, *after = run(packed.data, packed.batch_sizes, state, weights, *options)
            outputs, _ = pad_packed_sequence(
                packed._replace(data=data), batch_first=True, total_length=size
            )
            after = [a[:, packed.unsorted_indices] for a in after]
        after = [a.transpose(0, 1) for a in after]
        return outputs, (tuple(after) if self.kind == "lstm" else after[0])

    def _readable(self, x: Tensor, lengths: Tensor | None, state: State) -> tuple[Tensor, State]:
        if lengths is None:
            lengths = torch.full((x.shape[0],), x.shape[1], device=x.device)
        real = F.length_mask(lengths, x.shape[1])  # (B, T)
        after = []
        for layer in range(self.num_layers):
            if layer > 0 and self.training:
                x = F.dropout(x, self.dropout)
            outputs = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                index = layer * self.directions + direction
                start = _map(lambda s, i=index: s[:, i], state)  # (B, H)
                order = range(x.shape[1]) if direction == 0 else reversed(range(x.shape[1]))
                output, last = self._one_direction(x, real, start, suffix, order)
                outputs.append(output)
                after.append(last)
            x = torch.cat(outputs, dim=-1)  # (B, T, H * directions)
        if self.kind == "lstm":
            return x, tuple(torch.stack(part, dim=1) for part in zip(*after, strict=True))
        return x, torch.stack(after, dim=1)

    def _one_direction(self, x, real, state, suffix, order):
        weights = self._weights(suffix)
        outputs = [None] * x.shape[1]
        for t in order:
            new = STEPS[self.kind](x[:, t], state, *weights)
            keep = real[:, t, None]  # padding leaves the state as it was
            state = _map(lambda n, s, k=keep: torch.where(k, n, s), new, state)
            h = state[0] if self.kind == "lstm" else state
            outputs[t] = h * keep
        return torch.stack(outputs, dim=1), state


def _reorder(x: Tensor, order: Tensor) -> Tensor:
    """x (B, T, D) with its vectors in another order (B, T, 1)."""
    return x.gather(1, order.expand_as(x))


def _map(function, *states: State) -> State:
    """Apply a function to a state, or to both halves of an LSTM's."""
    if isinstance(states[0], tuple):
        return tuple(function(*parts) for parts in zip(*states, strict=True))
    return function(*states)
