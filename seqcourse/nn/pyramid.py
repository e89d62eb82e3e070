"""Recurrent layers that halve the time axis: the listener's pyramid."""

from __future__ import annotations

from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.nn.recurrent import Recurrent


class PyramidLSTM(nn.Module):
    r"""Bidirectional LSTM layers, each reading the states below it in pairs (Chan et al. 2016).

    .. math:: h_i^{(j)} = \mathrm{BLSTM}\!\left(h_{i-1}^{(j)},
        \left[h_{2i}^{(j-1)}; h_{2i+1}^{(j-1)}\right]\right), \qquad h^{(0)} = x

    (The recurrence is written for the forward direction; the backward one comes from i + 1.) After L
    layers a state stands for 2^L inputs, so that a speller has 2^L times fewer places to look at, and
    the upper layers 2^L times fewer steps to make. With L = 1 it is the "pBLSTM" of the paper.

    Args:
        input_size: D.
        hidden_size: H, of each direction.
        num_layers: L; each one halves the time axis.

    Raises:
        ValueError: if there is no layer; later if the inputs are not (B, T, D) or lengths do not fit.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers should be at least 1, but it is {num_layers}.")
        self.num_layers = num_layers
        self.output_size = 2 * hidden_size
        widths = [input_size] + [self.output_size] * (num_layers - 1)
        self.layers = nn.ModuleList(
            Recurrent("lstm", 2 * width, hidden_size, bidirectional=True) for width in widths
        )

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, path: str = "fused"
    ) -> tuple[Tensor, Tensor]:
        """Climb the pyramid.

        Args:
            x: inputs, (B, T, D), padded on the right.
            lengths: real length of each sequence, (B,), 1 to T, or None when none is padded.
            path: "fused" or "readable", see :class:`seqcourse.nn.Recurrent`.

        Returns:
            States (B, ceil(T / 2^L), 2 H), zeros at padding, and their lengths (B,).
        """
        padded = lengths is not None
        for layer in self.layers:
            x, lengths = F.pair_neighbours(x, lengths)
            known = lengths if padded else None
            x = layer.outputs(x, known) if path == "fused" else layer(x, known, path=path)[0]
        return x, lengths
