"""A captioner on the feature maps of a frozen network, as Xu et al. (2015) used one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.captioner import SoftCaptioner

HIGHEST = 6.0  # of a feature after ReLU6; 255 as a whole number of 8 bits


class FeatureGrid(nn.Module):
    r"""Feature maps of a frozen network to a grid of vectors.

    .. math:: h_i = \mathrm{ReLU}(W\, \mathrm{dropout}(P f_i)) + p_i

    f_i are the features at place i. P is fixed: it keeps the directions that matter most to the frozen
    network's own classes, see :meth:`look_along`. Only W and the vectors p_i of the places are trained.

    Args:
        width: D, of the vectors.
        side: places on each side of the map.
        channels: C, of the map.
        kept: how many directions P keeps.
        dropout: on them, while training.
    """

    def __init__(self, width: int, side: int, channels: int, kept: int, dropout: float) -> None:
        super().__init__()
        self.side = side
        self.register_buffer("directions", torch.randn(kept, channels) / channels**0.5)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(kept, width)
        self.places = nn.Parameter(F.grid_encoding(side, side, width).float())

    def look_along(self, classifier: Tensor) -> None:
        """Set P: the first right singular vectors of a classifier's weights (classes, C), without their
        mean over the classes, each times its singular value over the largest."""
        centred = classifier.detach().float() - classifier.detach().float().mean(0)
        _, scale, rows = torch.linalg.svd(centred, full_matrices=False)
        kept = len(self.directions)
        self.directions.copy_(rows[:kept] * (scale[:kept, None] / scale[0]))

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, C, side, side), of type uint8 or from 0 to 6, to a grid (B, N, D)."""
        wanted = (self.directions.shape[1], self.side, self.side)
        if tuple(maps.shape[1:]) != wanted:
            raise ValueError(
                f"The features should be (B, {', '.join(map(str, wanted))}), but they are "
                f"{tuple(maps.shape)}."
            )
        x = maps * (HIGHEST / 255) if maps.dtype == torch.uint8 else maps
        x = x.to(self.directions.dtype).flatten(2).transpose(1, 2)  # (B, N, C)
        x = x @ self.directions.T  # (B, N, K)
        return torch.relu(self.out(self.dropout(x))) + self.places


class FeatureCaptioner(SoftCaptioner):
    """:class:`SoftCaptioner` that reads the feature maps of a frozen network in place of pictures.

    Args:
        sizes, options: see :class:`SoftCaptioner`.
        width: D, of the grid's vectors.
        side: places on each side of the map.
        channels: C, of the map.
        kept, feature_dropout: see :class:`FeatureGrid`.
    """

    def __init__(
        self,
        *sizes: int,
        width: int,
        side: int = 7,
        channels: int = 1280,
        kept: int = 128,
        feature_dropout: float = 0.0,
        **options,
    ) -> None:
        super().__init__(*sizes, width=width, **options)
        self.encoder = FeatureGrid(width, side, channels, kept, feature_dropout)
