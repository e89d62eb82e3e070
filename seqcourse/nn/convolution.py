"""Three ways of processing a sequence, behind one interface: (B, N, D) in, (B, N, D) out."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import pad

from seqcourse.nn.multi_head import MultiHeadAttention
from seqcourse.nn.recurrent import GATES, Recurrent


class ConvolutionLayer(nn.Module):
    r"""1D convolution over a sequence: every vector is made of its neighbours, all at once.

    .. math:: y_t = b + \sum_{k=0}^{K-1} W_k \, x_{t - o + k \delta}, \qquad x_s = 0 \text{ outside}

    with the dilation :math:`\delta`, and the offset :math:`o = \delta (K - 1)` if it is causal (then the
    last of the K is t itself), else half of that (then t is in the middle).

    Args:
        width: D, of input and output.
        kernel: K, how many vectors each output sees; odd, unless it is causal.
        dilation: the distance between two of them (van den Oord et al. 2016).
        causal: no output sees ahead.

    Raises:
        ValueError: if kernel or dilation is below 1, or nothing stands in the middle.
    """

    def __init__(self, width: int, kernel: int = 3, dilation: int = 1, causal: bool = False) -> None:
        super().__init__()
        if kernel < 1 or dilation < 1:
            raise ValueError(
                f"kernel and dilation should be at least 1, but they are {kernel} and {dilation}."
            )
        if kernel % 2 == 0 and not causal:
            raise ValueError(
                f"The kernel should be odd, so that each output stands in the middle of what it sees, "
                f"but it is {kernel}. Take {kernel + 1}, or causal=True."
            )
        self.kernel, self.dilation, self.causal = kernel, dilation, causal
        self.convolution = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, N, D) to (B, N, D)."""
        before = self.dilation * (self.kernel - 1)
        after = 0 if self.causal else before // 2
        x = pad(x.transpose(1, 2), (before - after, after))  # (B, D, before + N + after)
        return self.convolution(x).transpose(1, 2)

    def steps(self, size: int) -> int:
        """How many computations must wait for one another: one, whatever the length."""
        return 1

    def layers_to_reach(self, distance: int) -> int:
        """How many such layers until an output sees a vector ``distance`` places before it."""
        reach = self.dilation * (self.kernel - 1)
        reach = reach if self.causal else reach // 2
        if reach == 0:
            raise ValueError("A kernel of 1 sees no other place, however many layers there are.")
        return max(1, -(-distance // reach))


class RecurrentLayer(nn.Module):
    """A recurrent network over a sequence: every vector is made of its own and the state before it.

    Args:
        width: D, of input, state and output.
        kind: "rnn", "gru" or "lstm".

    Raises:
        ValueError: if the kind is unknown.
    """

    def __init__(self, width: int, kind: str = "gru") -> None:
        super().__init__()
        if kind not in GATES:
            raise ValueError(f"kind should be one of {', '.join(GATES)}, but it is {kind!r}.")
        self.recurrent = Recurrent(kind, width, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, N, D) to (B, N, D)."""
        return self.recurrent(x)[0]

    def steps(self, size: int) -> int:
        """Each state waits for the one before it."""
        return size

    def layers_to_reach(self, distance: int) -> int:
        """One layer reaches any distance, through as many steps as there are places between."""
        return 1


class SelfAttentionLayer(nn.Module):
    """Multi-head self-attention: every vector is made of all vectors, at once.

    Args:
        width: D, of input and output.
        heads: H.
        causal: no output sees ahead.

    Raises:
        ValueError: if the heads do not divide the width.
    """

    def __init__(self, width: int, heads: int = 4, causal: bool = False) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads)
        self.causal = causal

    def forward(self, x: Tensor, need_weights: bool = False) -> Tensor:
        """x (B, N, D) to (B, N, D).

        With ``need_weights`` the readable path computes it, which holds all H N N weights in memory.
        """
        return self.attention(x, causal=self.causal, need_weights=need_weights)[0]

    def steps(self, size: int) -> int:
        """How many computations must wait for one another: one, whatever the length."""
        return 1

    def layers_to_reach(self, distance: int) -> int:
        """One layer reaches any distance, in one step."""
        return 1
