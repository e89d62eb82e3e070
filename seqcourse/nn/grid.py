"""A picture as a sequence: a small convolutional network that ends in a grid of vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F

CHANNELS = (24, 48, 72)  # after each halving of the picture's sides
STARTS = ("waves", "noise")
_BRIGHTEST = 2.0  # noise may lead a little above 1; numbers up to 255 are far from that


class Residual(nn.Module):
    """Two 3 x 3 convolutions around which the input has a way of its own (He et al. 2016).

    Args:
        channels: C, of input and output.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            *_convolution(channels, channels), nn.ReLU(), *_convolution(channels, channels)
        )

    def forward(self, x: Tensor) -> Tensor:
        """A map (B, C, H, W) to a map (B, C, H, W)."""
        return torch.relu(x + self.inner(x))


class GridEncoder(nn.Module):
    """Pictures to grids of vectors h_1..h_N, one for each place, read row by row.

    Each of ``channels`` halves the sides, so that three of them make an 8 x 8 grid of a picture of
    64 x 64 pixels; then come residual blocks. Each vector sees its own square and what lies around it.
    Where it stands is added as a learned vector. How these vectors start decides whether a captioner
    learns to tell left from right: as small noise they hardly ever become directions.

    Args:
        width: D, of the vectors.
        size: sides S of the pictures, in pixels.
        channels: of each convolution with stride 2.
        blocks: residual blocks after them.
        places: how the vectors of the places start: "waves" of row and column, as long as the features,
            see :func:`seqcourse.functional.grid_encoding`, or small "noise".

    Raises:
        ValueError: if the start is unknown or needs another width, the sides cannot be halved so often,
            or later if a picture has others.
    """

    def __init__(
        self,
        width: int,
        size: int = 64,
        channels: tuple[int, ...] = CHANNELS,
        blocks: int = 1,
        places: str = "waves",
    ) -> None:
        super().__init__()
        shrink = 2 ** len(channels)
        if size % shrink:
            raise ValueError(
                f"{len(channels)} halvings need sides that {shrink} divides, but they are {size} pixels."
            )
        self.size, self.side = size, size // shrink
        layers: list[nn.Module] = []
        for before, after in zip((3, *channels), channels, strict=False):
            layers += [*_convolution(before, after, stride=2), nn.ReLU()]
        layers += [Residual(channels[-1]) for _ in range(blocks)]
        self.layers = nn.Sequential(*layers)
        self.out = nn.Linear(channels[-1], width)
        if places not in STARTS:
            raise ValueError(f"places should be one of {', '.join(STARTS)}, but it is {places!r}.")
        start = torch.randn(self.side**2, width) * 0.1
        if places == "waves":
            start = F.grid_encoding(self.side, self.side, width).to(start.dtype)
        self.places = nn.Parameter(start)

    def forward(self, pictures: Tensor) -> Tensor:
        """Look.

        Args:
            pictures: (B, 3, S, S), as numbers from 0 to 255 of type uint8, or from 0 to 1.

        Returns:
            The grid, (B, N, D) with N the number of places.
        """
        if pictures.dim() != 4 or pictures.shape[1:] != (3, self.size, self.size):
            raise ValueError(
                f"The pictures should be (B, 3, {self.size}, {self.size}), colours first, but they are "
                f"{tuple(pictures.shape)}."
            )
        if pictures.dtype != torch.uint8 and not (
            pictures.is_floating_point()
            and (not F.looks_at_values(pictures) or pictures.detach().amax() <= _BRIGHTEST)
        ):
            raise ValueError(
                f"The pictures should be whole numbers from 0 to 255 of type uint8, or from 0 to 1, but "
                f"they are {pictures.dtype} up to {float(pictures.max()):g}."
            )
        x = pictures / 255 if pictures.dtype == torch.uint8 else pictures
        x = (x.to(self.places.dtype) - 0.5) * 4  # about mean 0 and variance 1
        x = self.layers(x.contiguous(memory_format=torch.channels_last))  # (B, C, side, side)
        return torch.relu(self.out(x.flatten(2).transpose(1, 2))) + self.places  # (B, N, D)


def _convolution(before: int, after: int, stride: int = 1) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(before, after, 3, stride, padding=1, bias=False), nn.BatchNorm2d(after)
