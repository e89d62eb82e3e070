"""A picture as a sequence: cut into squares, each square one vector."""

from __future__ import annotations

from torch import Tensor


def patches(image: Tensor, size: int) -> Tensor:
    r"""Cut pictures into squares and lay each out as one vector (Dosovitskiy et al. 2021).

    With P the side of a square, patch :math:`n = i \, W/P + j` is the square in row i and column j of
    the grid, counted row by row as one reads; inside, the order is channel, row, column, so that a
    linear layer on it is a convolution with kernel and stride P, its kernel laid out flat.

    Args:
        image: (B, C, H, W).
        size: P, in pixels; it must divide H and W.

    Returns:
        (B, N, C P P) with N = (H / P) (W / P).

    Raises:
        ValueError: if the picture has other axes, or the size does not divide its sides.
    """
    if image.dim() != 4:
        raise ValueError(f"patches takes pictures (B, C, H, W), but they are {tuple(image.shape)}.")
    batch, channels, height, width = image.shape
    if size < 1 or height % size or width % size:
        raise ValueError(
            f"A patch of {size} x {size} pixels should divide the picture, but that is "
            f"{height} x {width}. Choose another size, or cut or pad the picture."
        )
    grid = image.reshape(batch, channels, height // size, size, width // size, size)
    squares = grid.permute(0, 2, 4, 1, 3, 5)  # (B, H / P, W / P, C, P, P)
    return squares.flatten(3).flatten(1, 2)  # (B, N, C P P)
