"""EfficientNet-lite0: a convolutional network whose published weights know a thousand classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu6

EPS = 1e-3  # of the batch normalisation, as the published weights were trained
# Stages of Tan and Le (2019), table 1: kernel, stride of the first block, expansion, channels, blocks.
STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
STEM, HEAD = 32, 1280  # channels


class SameConvolution(nn.Conv2d):
    r"""A convolution padded as TensorFlow pads under the name SAME.

    The output has :math:`\lceil n / s \rceil` rows for n rows and stride s. What is missing,
    :math:`p = \max(0, (\lceil n / s \rceil - 1) s + k - n)`, is added in zeros, the odd one at the end:
    with a stride of 2 that is not PyTorch's symmetric padding, and the published weights notice.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, C', H / s, W / s), rounded up."""
        margins = []
        for side in (-1, -2):  # pad takes the last dimension first
            length, kernel, stride = x.shape[side], self.kernel_size[side], self.stride[side]
            missing = max(0, (-(-length // stride) - 1) * stride + kernel - length)
            margins += [missing // 2, missing - missing // 2]
        return super().forward(pad(x, margins) if any(margins) else x)


class Normalised(nn.Module):
    """A convolution without bias, batch normalisation, and ReLU6 unless it is ``linear``."""

    def __init__(
        self,
        before: int,
        after: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        linear: bool = False,
    ) -> None:
        super().__init__()
        self.convolution = SameConvolution(before, after, kernel, stride, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(after, eps=EPS)
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, C', H / s, W / s)."""
        x = self.norm(self.convolution(x))
        return x if self.linear else relu6(x)


class InvertedBottleneck(nn.Module):
    r"""Widen with 1 x 1, filter every channel alone, narrow with 1 x 1 (Sandler et al. 2018).

    The input is added where the shape stays. The lite models have no squeeze-and-excitation, and ReLU6
    in place of the swish, so that they can be computed in whole numbers on a phone.
    """

    def __init__(self, before: int, after: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = before * expansion
        self.expand = Normalised(before, inner, 1) if expansion > 1 else nn.Identity()
        self.depthwise = Normalised(inner, inner, kernel, stride, groups=inner)
        self.project = Normalised(inner, after, 1, linear=True)
        self.residual = stride == 1 and before == after

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, C', H / s, W / s)."""
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.residual else y


class EfficientNetLite0(nn.Module):
    """EfficientNet-lite0 (Tan and Le 2019; the lite variant was published by its authors in 2020).

    Args:
        classes: how many.

    Shapes:
        pictures (B, 3, H, W) with values (x - 127) / 128 for x from 0 to 255; 224 x 224 in training.
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = Normalised(3, STEM, 3, 2)
        blocks, channels = [], STEM
        for kernel, stride, expansion, after, count in STAGES:
            for place in range(count):
                first = stride if place == 0 else 1
                blocks.append(InvertedBottleneck(channels, after, kernel, first, expansion))
                channels = after
        self.blocks = nn.Sequential(*blocks)
        self.head = Normalised(channels, HEAD, 1)
        self.classifier = nn.Linear(HEAD, classes)

    def features(self, pictures: Tensor) -> Tensor:
        """The last feature map: (B, 3, H, W) -> (B, 1280, H / 32, W / 32), rounded up."""
        if pictures.ndim != 4 or pictures.shape[1] != 3:
            raise ValueError(
                f"pictures should be (B, 3, H, W), but their shape is {tuple(pictures.shape)}."
            )
        return self.head(self.blocks(self.stem(pictures)))

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) -> logits (B, classes): the mean over the places of the map, then one layer."""
        return self.classifier(self.features(pictures).mean((2, 3)))


def from_published(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Parameters of the published file under our names (its counts of batches stay away).

    Raises:
        KeyError: it is another model's file.
    """
    found = {"classifier.weight": weights["_fc.weight"], "classifier.bias": weights["_fc.bias"]}
    pairs = [("stem", "_conv_stem", "_bn0"), ("head", "_conv_head", "_bn1")]
    for number in range(sum(stage[-1] for stage in STAGES)):
        ours, theirs = f"blocks.{number}", f"_blocks.{number}"
        if number:  # the first block widens nothing
            pairs.append((f"{ours}.expand", f"{theirs}._expand_conv", f"{theirs}._bn0"))
        pairs.append((f"{ours}.depthwise", f"{theirs}._depthwise_conv", f"{theirs}._bn1"))
        pairs.append((f"{ours}.project", f"{theirs}._project_conv", f"{theirs}._bn2"))
    for ours, convolution, norm in pairs:
        found[f"{ours}.convolution.weight"] = weights[f"{convolution}.weight"]
        for part in ("weight", "bias", "running_mean", "running_var"):
            found[f"{ours}.norm.{part}"] = weights[f"{norm}.{part}"]
        found[f"{ours}.norm.num_batches_tracked"] = torch.tensor(0)
    return found
