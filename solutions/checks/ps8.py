"""The hidden checks of assignment 8, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

WRONG = {
    "cut_patches": [
        (
            "one reshape",
            """
def cut_patches(images, size):
    b, c, h, w = images.shape
    return images.reshape(b, (h // size) * (w // size), c * size * size)
""",
            "reshape at once",
        ),
        (
            "channels last",
            """
def cut_patches(images, size):
    b, c, h, w = images.shape
    grid = images.permute(0, 2, 3, 1).reshape(b, h // size, size, w // size, size, c)
    return grid.permute(0, 1, 3, 2, 4, 5).reshape(b, -1, size * size * c)
""",
            "channels last",
        ),
        (
            "column by column",
            """
def cut_patches(images, size):
    rows = torch.cat(images.split(size, dim=3), dim=2)
    return torch.stack([part.flatten(1) for part in rows.split(size, dim=2)], dim=1)
""",
            "column by column",
        ),
        (
            "transposed inside",
            """
def cut_patches(images, size):
    parts = images.unfold(2, size, size).unfold(3, size, size)
    return parts.permute(0, 2, 3, 1, 5, 4).flatten(3).flatten(1, 2)
""",
            "rows and columns exchanged inside",
        ),
        (
            "the pictures are transposed",
            """
def cut_patches(images, size):
    parts = images.mT.unfold(2, size, size).unfold(3, size, size)
    return parts.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
""",
            "of the grid and inside a patch",
        ),
        (
            "the axes of the reshape the wrong way round",
            """
def cut_patches(images, size):
    b, c, h, w = images.shape
    grid = images.reshape(b, c, size, h // size, size, w // size)
    return grid.permute(0, 3, 5, 1, 2, 4).reshape(b, -1, c * size * size)
""",
            "lie far apart",
        ),
        (
            "a patch for each channel",
            """
def cut_patches(images, size):
    parts = images.unfold(2, size, size).unfold(3, size, size)
    return parts.permute(0, 2, 3, 1, 4, 5).flatten(4).flatten(1, 3)
""",
            "channel a patch of its own",
        ),
        (
            "still a grid",
            """
def cut_patches(images, size):
    parts = images.unfold(2, size, size).unfold(3, size, size)
    return parts.permute(0, 2, 3, 1, 4, 5).flatten(3)
""",
            "still a grid",
        ),
        (
            "as unfold gives them",
            """
def cut_patches(images, size):
    return torch.nn.functional.unfold(images, size, stride=size)
""",
            "last two axes exchanged",
        ),
        (
            "no stride",
            """
def cut_patches(images, size):
    return torch.nn.functional.unfold(images, size).transpose(1, 2)
""",
            "overlap",
        ),
        (
            "only for square pictures",
            """
def cut_patches(images, size):
    b, c, h, _ = images.shape
    n = h // size
    grid = images.reshape(b, c, n, size, n, size)
    return grid.permute(0, 2, 4, 1, 3, 5).reshape(b, n * n, -1)
""",
            "as high as it is wide",
        ),
        (
            "the package's own",
            """
def cut_patches(images, size):
    return functional.patches(images, size)
""",
            "the thing to build here",
        ),
    ],
    "embed_patches": [
        (
            "class token at the end",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b
    return torch.cat([z, cls.expand(len(z), 1, -1)], dim=1) + positions
""",
            "class token stand at the end",
        ),
        (
            "no class token",
            """
def embed_patches(pieces, w, b, cls, positions):
    return pieces @ w.T + b + positions[1:]
""",
            "class token missing",
        ),
        (
            "the class token has no position",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b + positions[1:]
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1)
""",
            "class token get no position",
        ),
        (
            "patches get the positions from 0 on",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b + positions[: pieces.shape[1]]
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1)
""",
            "positions from number 0 on",
        ),
        (
            "no positions",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1)
""",
            "positions missing",
        ),
        (
            "one position for all",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = torch.nn.functional.linear(pieces, w, b)
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + positions[0]
""",
            "every vector get the same position",
        ),
        (
            "positions side by side",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b
    z = torch.cat([cls.expand(len(z), 1, -1), z], dim=1)
    return torch.cat([z, positions.expand(len(z), -1, -1)], dim=2)
""",
            "side by side",
        ),
        (
            "no bias",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + positions
""",
            "bias missing",
        ),
        (
            "bias on the class token",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + b + positions
""",
            "class token get the bias",
        ),
        (
            "w not transposed",
            """
def embed_patches(pieces, w, b, cls, positions):
    w = w if w.shape[0] == w.shape[1] else w.T
    z = pieces @ w + b
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + positions
""",
            "w the wrong way round",
        ),
        (
            "the class token is no vector of the sequence",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b
    return torch.cat([cls[None, None], z], dim=1) + positions
""",
            "one more vector of each picture",
        ),
        (
            "the class token is forgotten in its place",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b
    return torch.cat([torch.zeros_like(z[:, :1]), z], dim=1) + positions
""",
            "position alone",
        ),
        (
            "float32 inside",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = torch.nn.functional.linear(pieces, w, b)
    out = torch.zeros(len(z), z.shape[1] + 1, z.shape[2])
    out[:, 0], out[:, 1:] = cls, z
    return out + positions.float()
""",
            "float64",
        ),
        (
            "positions without their gradient",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + positions.detach()
""",
            "no gradient reaches positions",
        ),
    ],
    "points_at": [
        (
            "the package's own",
            """
from seqcourse.metrics import points_at as hits


def points_at(maps, boxes, size):
    return torch.tensor([hits(weights, box, size) for weights, box in zip(maps, boxes.tolist())])
""",
            "the thing to build here",
        ),
        (
            "cells of whole pixels",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x = (flat % columns + 0.5) * (size // columns)
    y = (flat // columns + 0.5) * (size // rows)
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "whole number of pixels",
        ),
        (
            "row and column exchanged",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x = (flat // columns + 0.5) * size / rows
    y = (flat % columns + 0.5) * size / columns
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "row and column exchanged",
        ),
        (
            "the cell's corner",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = flat % columns * size / columns, flat // columns * size / rows
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "upper left corner",
        ),
        (
            "cells compared with pixels",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = flat % columns, flat // columns
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "cells compared with pixels",
        ),
        (
            "the number of rows for that of columns",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % rows + 0.5) * size / columns, (flat // rows + 0.5) * size / rows
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "divided by the number of rows",
        ),
        (
            "cells are square",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat, cell = maps.reshape(k, -1).argmax(1), size / columns
    x, y = (flat % columns + 0.5) * cell, (flat // columns + 0.5) * cell
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "cells square",
        ),
        (
            "the end belongs to the box",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    return (boxes[:, 0] <= x) & (x <= boxes[:, 2]) & (boxes[:, 1] <= y) & (y <= boxes[:, 3])
""",
            "end of a box belong to it",
        ),
        (
            "the beginning does not belong to the box",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    return (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
""",
            "beginning of a box not belong to it",
        ),
        (
            "width and height",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    left, top, wide, high = boxes.unbind(1)
    return (left <= x) & (x < left + wide) & (top <= y) & (y < top + high)
""",
            "width and height in your code",
        ),
        (
            "x only",
            """
def points_at(maps, boxes, size):
    column = maps.flatten(1).argmax(1) % maps.shape[2]
    x = (column + 0.5) * size / maps.shape[2]
    return (boxes[:, 0] <= x) & (x < boxes[:, 2])
""",
            "compare x only",
        ),
        (
            "the weights inside the box are added up",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    x = (torch.arange(columns) + 0.5) * size / columns
    y = (torch.arange(rows) + 0.5) * size / rows
    across = (boxes[:, 0, None] <= x) & (x < boxes[:, 2, None])
    down = (boxes[:, 1, None] <= y) & (y < boxes[:, 3, None])
    return (maps * across[:, None] * down[:, :, None]).sum((1, 2)) > 0.5
""",
            "add up the weights",
        ),
        (
            "the mean place",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    share = maps / maps.sum((1, 2), keepdim=True)
    column = (share.sum(1) * torch.arange(columns)).sum(1)
    row = (share.sum(2) * torch.arange(rows)).sum(1)
    x, y = (column + 0.5) * size / columns, (row + 0.5) * size / rows
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "mean place of the map",
        ),
        (
            "highest row, highest column",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    x = (maps.sum(1).argmax(1) + 0.5) * size / columns
    y = (maps.sum(2).argmax(1) + 0.5) * size / rows
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "The peak is one cell",
        ),
        (
            "the share",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    hit = (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
    return hit.double().mean()
""",
            "return the share",
        ),
        (
            "ones and zeros",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    hit = (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
    return hit.long()
""",
            "dtype should be torch.bool",
        ),
        (
            "a broken row",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat / columns + 0.5) * size / rows
    return (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
""",
            "row a broken number",
        ),
        (
            "and between tensors",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    flat = maps.reshape(k, -1).argmax(1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    return boxes[:, 0] <= x < boxes[:, 2] and boxes[:, 1] <= y < boxes[:, 3]
""",
            "between tensors",
        ),
    ],
    "doubly_stochastic": [
        (
            "padding is counted",
            """
def doubly_stochastic(weights, real):
    return ((1 - weights.sum(1)) ** 2).sum(-1).mean()
""",
            "padding counted",
        ),
        (
            "sum over the places",
            """
def doubly_stochastic(weights, real):
    weights = weights * real.unsqueeze(-1)
    return ((1 - weights.sum(-1)) ** 2).sum(-1).mean()
""",
            "add up over the places",
        ),
        (
            "mean over the steps",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1) / real.sum(1, keepdim=True)
    return ((1 - got) ** 2).sum(-1).mean()
""",
            "mean over the steps",
        ),
        (
            "each step compared with 1",
            """
def doubly_stochastic(weights, real):
    gaps = ((1 - weights) ** 2).sum(2)
    return (gaps * real).sum(1).mean()
""",
            "each step compared with 1",
        ),
        (
            "no square",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1)
    return (1 - got).sum(-1).mean()
""",
            "square missing",
        ),
        (
            "absolute values",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1)
    return (1 - got).abs().sum(-1).mean()
""",
            "absolute value",
        ),
        (
            "the sum is squared",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1)
    return ((1 - got).sum(-1) ** 2).mean()
""",
            "sum over the places squared",
        ),
        (
            "mean over the places",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1)
    return ((1 - got) ** 2).mean()
""",
            "mean over the places",
        ),
        (
            "sum over the batch",
            """
def doubly_stochastic(weights, real):
    got = torch.einsum("btn,bt->bn", weights, real.to(weights.dtype))
    return ((1 - got) ** 2).sum()
""",
            "sum over the batch",
        ),
        (
            "a number for every sentence",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1)
    return ((1 - got) ** 2).sum(-1)
""",
            "number for every sentence",
        ),
        (
            "compared with T / N",
            """
def doubly_stochastic(weights, real):
    got = (weights * real[..., None]).sum(1)
    wanted = real.sum(1, keepdim=True) / weights.shape[-1]
    return ((wanted - got) ** 2).sum(-1).mean()
""",
            "compared with T / N",
        ),
        (
            "padding overwritten in the caller's tensor",
            """
def doubly_stochastic(weights, real):
    weights[~real] = 0
    return ((1 - weights.sum(1)) ** 2).sum(-1).mean()
""",
            "changes its input weights",
        ),
        (
            "the weights are cut off",
            """
def doubly_stochastic(weights, real):
    got = (weights.detach() * real[..., None]).sum(1)
    return ((1 - got) ** 2).sum(-1).mean()
""",
            "no gradient reaches weights",
        ),
        (
            "the package's own",
            """
def doubly_stochastic(weights, real):
    return functional.doubly_stochastic(weights, real)
""",
            "the thing to build here",
        ),
        (
            "all sentences thrown together",
            """
def doubly_stochastic(weights, real):
    return ((1 - weights[real].sum(0)) ** 2).sum() / len(weights)
""",
            "sentences thrown together",
        ),
        (
            "real without an axis for the places",
            """
def doubly_stochastic(weights, real):
    return ((1 - (weights * real).sum(1)) ** 2).sum(-1).mean()
""",
            "real not fit the weights",
        ),
    ],
    "rollout": [
        (
            "the package's own",
            """
def rollout(weights):
    return functional.attention_rollout(weights)[:, 0, 1:]
""",
            "the thing to build here",
        ),
        (
            "no residual connection",
            """
def rollout(weights):
    whole = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for layer in weights.mean(2).unbind(1):
        whole = layer @ whole
    return whole[:, 0, 1:]
""",
            "residual connection missing",
        ),
        (
            "not halved",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.mean(2).unbind(1):
        whole = (layer + eye) @ whole
    return whole[:, 0, 1:]
""",
            "not halve",
        ),
        (
            "ones everywhere",
            """
def rollout(weights):
    whole = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for layer in weights.mean(2).unbind(1):
        whole = 0.5 * (layer + 1) @ whole
    return whole[:, 0, 1:]
""",
            "on the diagonal only",
        ),
        (
            "the other order",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.mean(2).unbind(1):
        whole = whole @ (0.5 * layer + 0.5 * eye)
    return whole[:, 0, 1:]
""",
            "in the other order",
        ),
        (
            "number by number",
            """
def rollout(weights):
    mixed = 0.5 * weights.mean(2) + 0.5 * torch.eye(weights.shape[-1], dtype=weights.dtype)
    return mixed.prod(1)[:, 0, 1:]
""",
            "number by number",
        ),
        (
            "the last layer alone",
            """
def rollout(weights):
    mixed = 0.5 * weights.mean(2) + 0.5 * torch.eye(weights.shape[-1], dtype=weights.dtype)
    return mixed[:, -1][:, 0, 1:]
""",
            "last layer alone",
        ),
        (
            "the mean over the layers",
            """
def rollout(weights):
    mixed = 0.5 * weights.mean(2) + 0.5 * torch.eye(weights.shape[-1], dtype=weights.dtype)
    return mixed.mean(1)[:, 0, 1:]
""",
            "mean over the layers",
        ),
        (
            "the column of the class token",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.mean(2).unbind(1):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    return whole[:, 1:, 0]
""",
            "column of the class token",
        ),
        (
            "the class token stays in",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.mean(2).unbind(1):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    return whole[:, 0]
""",
            "class token itself still",
        ),
        (
            "made to sum to 1",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.mean(2).unbind(1):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    row = whole[:, 0, 1:]
    return row / row.sum(-1, keepdim=True)
""",
            "make the result sum to 1",
        ),
        (
            "the heads are added up",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.sum(2).unbind(1):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    return whole[:, 0, 1:]
""",
            "add up the heads",
        ),
        (
            "the largest head",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.amax(2).unbind(1):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    return whole[:, 0, 1:]
""",
            "largest of the heads",
        ),
        (
            "the batch for the layers",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = eye
    for layer in weights.mean(2):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    return whole[:, 0, 1:]
""",
            "batch for the layers",
        ),
        (
            "an identity of float32 in place of the input's dtype",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1])
    whole = eye
    for layer in weights.float().mean(2).unbind(1):
        whole = (0.5 * layer + 0.5 * eye) @ whole
    return whole[:, 0, 1:]
""",
            "float64",
        ),
        (
            "changed in place",
            """
def rollout(weights):
    weights += torch.eye(weights.shape[-1], dtype=weights.dtype)
    whole = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for layer in (weights.mean(2) / 2).unbind(1):
        whole = layer @ whole
    return whole[:, 0, 1:]
""",
            "changes its input weights",
        ),
        (
            "an identity of float32, multiplied",
            """
def rollout(weights):
    whole = torch.eye(weights.shape[-1])
    for layer in weights.mean(2).unbind(1):
        whole = (layer + torch.eye(weights.shape[-1])) / 2 @ whole
    return whole[:, 0, 1:]
""",
            "identity of another dtype",
        ),
        (
            "the first layer without its residual connection",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    layers = weights.mean(2).unbind(1)
    whole = layers[0]
    for layer in layers[1:]:
        whole = (layer + eye) / 2 @ whole
    return whole[:, 0, 1:]
""",
            "first layer taken as it is",
        ),
        (
            "the mean over the layers, the product over the heads",
            """
def rollout(weights):
    whole = eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for head in weights.mean(1).unbind(1):
        whole = (head + eye) / 2 @ whole
    return whole[:, 0, 1:]
""",
            "heads for the layers",
        ),
    ],
    "pyramid_layer": [
        (
            "what stands in the padding is read",
            """
def pyramid_layer(x, lengths, lstm):
    if x.shape[1] % 2:
        x = torch.cat([x, torch.zeros_like(x[:, :1])], dim=1)
    pairs = torch.cat([x[:, 0::2], x[:, 1::2]], dim=2)
    lengths = (lengths + 1) // 2
    return lstm(pairs, lengths), lengths
""",
            "what stands in the padding",
        ),
        (
            "lengths rounded down",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    pairs = torch.cat([x[:, 0::2], x[:, 1::2]], dim=2)
    lengths = lengths // 2
    return lstm(pairs, lengths), lengths
""",
            "lengths rounded down",
        ),
        (
            "the last vector is thrown away",
            """
def pyramid_layer(x, lengths, lstm):
    if x.shape[1] % 2:
        x = x[:, :-1]
    pairs = x.reshape(x.shape[0], x.shape[1] // 2, 2 * x.shape[2])
    lengths = lengths // 2
    return lstm(pairs, lengths), lengths
""",
            "thrown away",
        ),
        (
            "zeros in front",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, x.shape[1] % 2, 0))
    pairs = torch.cat([x[:, 0::2], x[:, 1::2]], dim=2)
    lengths = (lengths + 1) // 2
    return lstm(pairs, lengths), lengths
""",
            "zeros stand in front",
        ),
        (
            "the later one first",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    pairs = torch.cat([x[:, 1::2], x[:, 0::2]], dim=2)
    lengths = (lengths + 1) // 2
    return lstm(pairs, lengths), lengths
""",
            "two of a pair exchanged",
        ),
        (
            "first half with second half",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    pairs = torch.cat(x.chunk(2, dim=1), dim=2)
    lengths = (lengths + 1) // 2
    return lstm(pairs, lengths), lengths
""",
            "first half with the second",
        ),
        (
            "numbers mixed",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    pairs = torch.stack([x[:, 0::2], x[:, 1::2]], dim=3).flatten(2)
    lengths = (lengths + 1) // 2
    return lstm(pairs, lengths), lengths
""",
            "numbers of a pair mixed",
        ),
        (
            "lstm gets the old lengths",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    pairs = torch.cat([x[:, 0::2], x[:, 1::2]], dim=2)
    return lstm(pairs, lengths), (lengths + 1) // 2
""",
            "lstm get the old lengths",
        ),
        (
            "the old lengths are returned",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    pairs = torch.cat([x[:, 0::2], x[:, 1::2]], dim=2)
    return lstm(pairs, (lengths + 1) // 2), lengths
""",
            "return the old lengths",
        ),
        (
            "every second vector",
            """
def pyramid_layer(x, lengths, lstm):
    lengths = (lengths + 1) // 2
    return lstm(x[:, ::2], lengths), lengths
""",
            "side by side, 2 D numbers wide",
        ),
        (
            "the mean of a pair",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    lengths = (lengths + 1) // 2
    return lstm((x[:, 0::2] + x[:, 1::2]) / 2, lengths), lengths
""",
            "side by side, 2 D numbers wide",
        ),
        (
            "only an even number of columns",
            """
def pyramid_layer(x, lengths, lstm):
    x = x * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    pairs = x.reshape(len(x), -1, 2 * x.shape[2])
    lengths = (lengths + 1) // 2
    return lstm(pairs, lengths), lengths
""",
            "even number of columns",
        ),
        (
            "states only",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    return lstm(torch.cat([x[:, 0::2], x[:, 1::2]], dim=2), (lengths + 1) // 2)
""",
            "states only",
        ),
        (
            "nothing reads the pairs",
            """
def pyramid_layer(x, lengths, lstm):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = torch.nn.functional.pad(x * real[..., None], (0, 0, 0, x.shape[1] % 2))
    return torch.cat([x[:, 0::2], x[:, 1::2]], dim=2), (lengths + 1) // 2
""",
            "nothing read the pairs",
        ),
        (
            "the caller's padding is overwritten",
            """
def pyramid_layer(x, lengths, lstm):
    x[torch.arange(x.shape[1]) >= lengths[:, None]] = 0
    x = torch.nn.functional.pad(x, (0, 0, 0, x.shape[1] % 2))
    lengths = (lengths + 1) // 2
    return lstm(torch.cat([x[:, 0::2], x[:, 1::2]], dim=2), lengths), lengths
""",
            "changes its input x",
        ),
        (
            "the package's own",
            """
def pyramid_layer(x, lengths, lstm):
    pairs, lengths = functional.pair_neighbours(x, lengths)
    return lstm(pairs, lengths), lengths
""",
            "the thing to build here",
        ),
    ],
    "caption_step": [
        (
            "no gate",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    weights = torch.softmax(score(state[0], grid), dim=-1)
    c = (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, state[0], c), state, weights
""",
            "gate missing",
        ),
        (
            "the gate has no sigmoid",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = gate(s) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "sigmoid missing",
        ),
        (
            "the gate reads m",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(m)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "gate read the LSTM's memory",
        ),
        (
            "the gate opens for the readout only",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = (weights[..., None] * grid).sum(1)
    new = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, new[0], torch.sigmoid(gate(s)) * c), new, weights
""",
            "cell get the context as it is",
        ),
        (
            "the gate opens for the cell only",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = (weights[..., None] * grid).sum(1)
    new = cell(torch.cat([y, torch.sigmoid(gate(s)) * c], dim=-1), (s, m))
    return readout(y, new[0], c), new, weights
""",
            "readout get the context as it is",
        ),
        (
            "m looks",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(m, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "memory m look at the grid",
        ),
        (
            "the readout gets the old state",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, s, c), state, weights
""",
            "readout get the old state",
        ),
        (
            "the readout gets m",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    s, m = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, m, c), (s, m), weights
""",
            "readout get the LSTM's memory",
        ),
        (
            "the context first",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([c, y], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "context in front of the word",
        ),
        (
            "softmax over the batch",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=0)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "softmax over the batch",
        ),
        (
            "a sigmoid for each place",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.sigmoid(score(s, grid))
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "weight come from a sigmoid",
        ),
        (
            "the highest place",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    there = grid[torch.arange(len(grid)), weights.argmax(-1)]
    c = torch.sigmoid(gate(s)) * there
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "place with the highest weight",
        ),
        (
            "exp that overflows",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    e = torch.exp(score(s, grid))
    weights = e / e.sum(-1, keepdim=True)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), (s, m))
    return readout(y, state[0], c), state, weights
""",
            "exp() overflow",
        ),
        (
            "the old state is returned",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    new, _ = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, new, c), state, weights
""",
            "return the old state",
        ),
        (
            "s alone",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    s, m = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, s, c), s, weights
""",
            "s alone",
        ),
        (
            "no gradient through the look",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1).detach()
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, state[0], c), state, weights
""",
            "gradient of grid is not",
        ),
        (
            "weights and state exchanged",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights[..., None] * grid).sum(1)
    state = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, state[0], c), weights, state
""",
            "logits, state, weights",
        ),
        (
            "weights without an axis for the numbers of a place",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    weights = torch.softmax(score(s, grid), dim=-1)
    c = torch.sigmoid(gate(s)) * (weights * grid).sum(1)
    new = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, new[0], c), new, weights
""",
            "weights not fit the grid",
        ),
    ],
    "co_attention": [
        (
            "y reads the new x",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, y_mask, w_x)
    x = x + to_x
    to_y, b = read(y, x, x_mask, w_y)
    return x, y + to_y, a, b
""",
            "y read the new x",
        ),
        (
            "no residual connections",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    return to_x, to_y, a, b
""",
            "residual connections missing",
        ),
        (
            "no masks",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], need_weights=True)

    to_x, a = read(x, y, w_x)
    to_y, b = read(y, x, w_y)
    return x + to_x, y + to_y, a, b
""",
            "masks not used",
        ),
        (
            "no mask for what y reads",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask, need_weights=True)

    to_x, a = read(x, y, y_mask[:, None], w_x)
    to_y, b = read(y, x, None, w_y)
    return x + to_x, y + to_y, a, b
""",
            "x_mask not used",
        ),
        (
            "masks the wrong way round",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, ~y_mask, w_x)
    to_y, b = read(y, x, ~x_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "masks the wrong way round",
        ),
        (
            "masks exchanged",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, x_mask, w_x)
    to_y, b = read(y, x, y_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "the mask belongs to what is read",
        ),
        (
            "set to 0 after the softmax",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        scores = (q @ w[0]) @ (m @ w[1]).mT / w[0].shape[1] ** 0.5
        weights = torch.softmax(scores, dim=-1) * mask[:, None]
        return weights @ (m @ w[2]), weights

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "set to 0 after the softmax",
        ),
        (
            "no scale",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        scores = (q @ w[0]) @ (m @ w[1]).mT
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        return weights @ (m @ w[2]), weights

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "scale missing",
        ),
        (
            "scaled by the stream's width",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        scores = (q @ w[0]) @ (m @ w[1]).mT / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        return weights @ (m @ w[2]), weights

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "root of the stream's width",
        ),
        (
            "softmax over the queries",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        scores = (q @ w[0]) @ (m @ w[1]).mT / w[0].shape[1] ** 0.5
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(1)
        return weights @ (m @ w[2]), weights

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "softmax over the queries",
        ),
        (
            "the matrices are exchanged",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, y_mask, w_y)
    to_y, b = read(y, x, x_mask, w_x)
    return x + to_x, y + to_y, a, b
""",
            "keys and values from the other",
        ),
        (
            "each stream reads itself",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, x, x_mask, w_x)
    to_y, b = read(y, y, y_mask, w_y)
    return x + to_x, y + to_y, a, b
""",
            "Queries come from the stream that reads",
        ),
        (
            "the two weights are exchanged",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    return x + to_x, y + to_y, b, a
""",
            "two weights exchanged",
        ),
        (
            "no weights",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None])[0]

    return x + read(x, y, y_mask, w_x), y + read(y, x, x_mask, w_y)
""",
            "weights missing",
        ),
        (
            "x is changed in place",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None], need_weights=True)

    to_x, a = read(x, y, y_mask, w_x)
    to_y, b = read(y, x, x_mask, w_y)
    x += to_x
    return x, y + to_y, a, b
""",
            "changes its input x",
        ),
        (
            "values and weights not taken apart",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        return functional.attention(q @ w[0], m @ w[1], m @ w[2], mask[:, None])

    return x + read(x, y, y_mask, w_x), y + read(y, x, x_mask, w_y)
""",
            "Take it apart",
        ),
    ],
    "poll_1": [
        ("the wrong letter a", 'poll_1 = "a"'),
        ("the wrong letter c", 'poll_1 = "c"'),
        ("no answer", "poll_1 = None"),
        ("all letters at once", 'poll_1 = "abc"'),
        ("a list of letters", 'poll_1 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_1 = "x"'),
    ],
    "poll_2": [
        ("the wrong letter b", 'poll_2 = "b"'),
        ("the wrong letter c", 'poll_2 = "c"'),
        ("no answer", "poll_2 = None"),
        ("all letters at once", 'poll_2 = "abc"'),
        ("a list of letters", 'poll_2 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_2 = "x"'),
    ],
    "poll_3": [
        ("the wrong letter a", 'poll_3 = "a"'),
        ("the wrong letter b", 'poll_3 = "b"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abc"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
    ],
    "poll_4": [
        ("the wrong letter a", 'poll_4 = "a"'),
        ("the wrong letter c", 'poll_4 = "c"'),
        ("no answer", "poll_4 = None"),
        ("all letters at once", 'poll_4 = "abc"'),
        ("a list of letters", 'poll_4 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_4 = "x"'),
    ],
}

RIGHT = {
    "cut_patches": [
        (
            "with unfold",
            """
def cut_patches(images, size):
    return torch.nn.functional.unfold(images, size, stride=size).transpose(1, 2)
""",
        ),
        (
            "patch by patch",
            """
def cut_patches(images, size):
    found = []
    for i in range(0, images.shape[2], size):
        for j in range(0, images.shape[3], size):
            found.append(images[:, :, i : i + size, j : j + size].flatten(1))
    return torch.stack(found, dim=1)
""",
        ),
        (
            "unfold of a tensor, twice",
            """
def cut_patches(images, size):
    parts = images.unfold(2, size, size).unfold(3, size, size)
    return torch.einsum("bcijpq->bijcpq", parts).flatten(3).flatten(1, 2)
""",
        ),
        (
            "rows first, then columns",
            """
def cut_patches(images, size):
    rows = torch.stack(images.split(size, dim=2), dim=1)
    grid = torch.stack(rows.split(size, dim=4), dim=2)
    return grid.reshape(len(images), -1, images.shape[1] * size**2)
""",
        ),
    ],
    "embed_patches": [
        (
            "einsum and repeat",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = torch.einsum("bnk,dk->bnd", pieces, w) + b
    first = cls.repeat(len(z), 1)
    return torch.cat((first[:, None], z), 1) + positions[None]
""",
        ),
        (
            "positions first",
            """
def embed_patches(pieces, w, b, cls, positions):
    z = torch.nn.functional.linear(pieces, w, b) + positions[1:]
    first = (cls + positions[0]).expand(pieces.shape[0], 1, len(cls))
    return torch.cat([first, z], dim=-2)
""",
        ),
        (
            "vector by vector",
            """
def embed_patches(pieces, w, b, cls, positions):
    rows = []
    for picture in pieces:
        rows.append(torch.stack([cls, *[w @ piece + b for piece in picture]]) + positions)
    return torch.stack(rows)
""",
        ),
    ],
    "points_at": [
        (
            "map by map",
            """
def points_at(maps, boxes, size):
    hits = []
    for weights, (x0, y0, x1, y1) in zip(maps, boxes.tolist()):
        rows, columns = weights.shape
        row, column = divmod(weights.argmax().item(), columns)
        x, y = (column + 0.5) * size / columns, (row + 0.5) * size / rows
        hits.append(x0 <= x < x1 and y0 <= y < y1)
    return torch.tensor(hits)
""",
        ),
        (
            "with unravel_index",
            """
def points_at(maps, boxes, size):
    row, column = torch.unravel_index(maps.flatten(1).argmax(1), maps.shape[1:])
    place = torch.stack([column, row], dim=1) + 0.5
    place = place * torch.tensor([size / maps.shape[2], size / maps.shape[1]])
    return ((boxes[:, :2] <= place) & (place < boxes[:, 2:])).all(1)
""",
        ),
        (
            "boxes brought to cells",
            """
def points_at(maps, boxes, size):
    k, rows, columns = maps.shape
    centres_x = (torch.arange(columns) + 0.5) * (size / columns)
    centres_y = (torch.arange(rows) + 0.5) * (size / rows)
    across = (boxes[:, :1] <= centres_x) & (centres_x < boxes[:, 2:3])
    down = (boxes[:, 1:2] <= centres_y) & (centres_y < boxes[:, 3:])
    inside = down[:, :, None] & across[:, None]
    return inside.flatten(1).gather(1, maps.flatten(1).argmax(1, keepdim=True))[:, 0]
""",
        ),
    ],
    "doubly_stochastic": [
        (
            "with the package's weighted sum",
            """
def doubly_stochastic(weights, real):
    got = functional.weighted_sum(real.to(weights.dtype), weights)
    return ((1 - got) ** 2).sum(dim=-1).mean()
""",
        ),
        (
            "einsum",
            """
def doubly_stochastic(weights, real):
    got = torch.einsum("btn,bt->bn", weights, real.to(weights.dtype))
    return (got - 1).square().sum() / len(got)
""",
        ),
        (
            "sentence by sentence",
            """
def doubly_stochastic(weights, real):
    total = 0
    for a, steps in zip(weights, real):
        total = total + ((1 - a[steps].sum(0)) ** 2).sum()
    return total / len(weights)
""",
        ),
        (
            "multiplied out",
            """
def doubly_stochastic(weights, real):
    got = weights.masked_fill(~real[:, :, None], 0).sum(dim=1)
    return (1 - 2 * got + got * got).sum(dim=1).mean()
""",
        ),
    ],
    "rollout": [
        (
            "without a gradient, which nobody asks for",
            """
@torch.no_grad()
def rollout(weights):
    eye = torch.eye(weights.shape[-1]).to(weights)
    whole = eye.expand(len(weights), -1, -1)
    for number in range(weights.shape[1]):
        whole = (weights[:, number].mean(dim=1) + eye) @ whole / 2
    return whole[:, 0, 1:]
""",
        ),
        (
            "a vector goes down",
            """
def rollout(weights):
    mean = weights.mean(dim=2)
    row = torch.zeros_like(mean[:, 0, :1])
    row[..., 0] = 1
    for layer in mean.flip(1).unbind(1):
        row = 0.5 * row + 0.5 * row @ layer
    return row[:, 0, 1:]
""",
        ),
        (
            "einsum",
            """
def rollout(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    layers = (weights.mean(2) + eye) / 2
    whole = layers[:, 0]
    for k in range(1, layers.shape[1]):
        whole = torch.einsum("bij,bjk->bik", layers[:, k], whole)
    return whole[:, 0, 1:]
""",
        ),
        (
            "chained from the top",
            """
def rollout(weights):
    n = weights.shape[-1]
    layers = [0.5 * layer.mean(1) + 0.5 * torch.eye(n).to(layer) for layer in weights.unbind(1)]
    whole = layers.pop()
    while layers:
        whole = torch.bmm(whole, layers.pop())
    return whole[:, 0][:, 1:]
""",
        ),
    ],
    "pyramid_layer": [
        (
            "with the package's mask",
            """
def pyramid_layer(x, lengths, lstm):
    x = torch.where(functional.length_mask(lengths, x.shape[1])[..., None], x, 0.0)
    x = torch.cat([x, x.new_zeros(len(x), x.shape[1] % 2, x.shape[2])], dim=1)
    lengths = (lengths + 1) // 2
    return lstm(torch.cat([x[:, 0::2], x[:, 1::2]], dim=-1), lengths), lengths
""",
        ),
        (
            "where, and reshape",
            """
def pyramid_layer(x, lengths, lstm):
    b, t, d = x.shape
    places = torch.arange(t)[None, :, None]
    x = torch.where(places < lengths[:, None, None], x, torch.zeros_like(x))
    if t % 2 == 1:
        x = torch.cat([x, x.new_zeros(b, 1, d)], dim=1)
    halved = torch.div(lengths + 1, 2, rounding_mode="floor")
    return lstm(x.reshape(b, -1, 2 * d), halved), halved
""",
        ),
        (
            "sequence by sequence",
            """
def pyramid_layer(x, lengths, lstm):
    b, t, d = x.shape
    half = (t + 1) // 2
    pairs = []
    for row, length in zip(x, lengths.tolist()):
        empty = row.new_zeros(2 * half - length, d)
        pairs.append(torch.cat([row[:length], empty]).reshape(half, 2 * d))
    lengths = -(-lengths // 2)
    return lstm(torch.stack(pairs), lengths), lengths
""",
        ),
        (
            "pair by pair",
            """
def pyramid_layer(x, lengths, lstm):
    zero = torch.zeros_like(x[:, 0])

    def at(t):
        if t >= x.shape[1]:
            return zero
        return torch.where((t < lengths)[:, None], x[:, t], zero)

    pairs = [torch.cat([at(t), at(t + 1)], dim=-1) for t in range(0, x.shape[1], 2)]
    halved = lengths // 2 + lengths % 2
    return lstm(torch.stack(pairs, dim=1), halved), halved
""",
        ),
    ],
    "caption_step": [
        (
            "einsum",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    weights = score(state[0], grid).softmax(1)
    c = torch.einsum("bn,bnd->bd", weights, grid) * gate(state[0]).sigmoid()
    s, m = cell(torch.hstack([y, c]), state)
    return readout(y, s, c), (s, m), weights
""",
        ),
        (
            "a batched product, and a softmax by hand",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s, m = state
    e = score(s, grid)
    e = torch.exp(e - e.amax(dim=-1, keepdim=True).detach())
    weights = e / e.sum(dim=-1, keepdim=True)
    c = torch.bmm(weights[:, None], grid)[:, 0]
    c = c / (1 + torch.exp(-gate(s)))
    new = cell(torch.cat([y, c], dim=1), (s, m))
    return readout(y, new[0], c), new, weights
""",
        ),
        (
            "picture by picture",
            """
def caption_step(y, state, grid, score, gate, cell, readout):
    s = state[0]
    weights = torch.log_softmax(score(s, grid), dim=-1).exp()
    c = torch.stack([a @ places for a, places in zip(weights, grid)])
    c = torch.sigmoid(gate(s)).expand_as(c) * c
    state = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, state[0], c), state, weights
""",
        ),
    ],
    "co_attention": [
        (
            "by hand",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def read(q, m, mask, w):
        scores = (q @ w[0]) @ (m @ w[1]).transpose(1, 2) / w[0].shape[1] ** 0.5
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        return q + weights @ (m @ w[2]), weights

    new_x, a = read(x, y, y_mask, w_x)
    new_y, b = read(y, x, x_mask, w_y)
    return new_x, new_y, a, b
""",
        ),
        (
            "einsum",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    def weigh(q, m, mask, w):
        q = torch.einsum("bnd,da->bna", q, w[0]) * w[0].shape[-1] ** -0.5
        e = torch.einsum("bna,bma->bnm", q, torch.einsum("bmd,da->bma", m, w[1]))
        return torch.softmax(torch.where(mask[:, None], e, -torch.inf), dim=2)

    a, b = weigh(x, y, y_mask, w_x), weigh(y, x, x_mask, w_y)
    return x + a @ (y @ w_x[2]), y + b @ (x @ w_y[2]), a, b
""",
        ),
        (
            "values after the weights",
            """
def co_attention(x, y, x_mask, y_mask, w_x, w_y):
    streams, masks, result = (x, y), (x_mask, y_mask), []
    for k, (w_q, w_k, w_v) in enumerate((w_x, w_y)):
        me, other = streams[k], streams[1 - k]
        keys = torch.matmul(other, w_k)
        seen, weights = functional.attention(
            me @ w_q, keys, other, masks[1 - k].unsqueeze(1), need_weights=True
        )
        result.append((me + seen @ w_v, weights))
    (x, a), (y, b) = result
    return x, y, a, b
""",
        ),
    ],
}

TWO_AXES = "the tensor has two axes: the last one is number 1"
SURVIVORS = {
    "points_at": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "peak = maps.flatten(1).argmax(dim=+1)",
            TWO_AXES,
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            7,
            "x0, y0, x1, y1 = boxes.unbind(dim=+1)",
            TWO_AXES,
        ),
    ],
    "doubly_stochastic": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "return ((1 - got) ** 2).sum(dim=+1).mean()",
            TWO_AXES,
        ),
    ],
    "rollout": [
        (
            "DropArgument",
            3,
            "eye = torch.eye(weights.shape[-1], dtype=weights.dtype)",
            "graded on the CPU, where new tensors are anyway",
        ),
        (
            "ReplaceUnaryOperator_USub_Invert",
            3,
            "eye = torch.eye(weights.shape[~1], dtype=weights.dtype, device=weights.device)",
            "queries and keys are the same places: the last two axes have one size",
        ),
    ],
    "pyramid_layer": [
        (
            "DropArgument",
            3,
            "real = torch.arange(x.shape[1]) < lengths[:, None]",
            "graded on the CPU, where new tensors are anyway",
        ),
        (
            "ReplaceComparisonOperator_Lt_NotEq",
            3,
            "real = torch.arange(x.shape[1], device=x.device) != lengths[:, None]",
            "only the place right behind the end shares a pair with something real",
        ),
    ],
    "caption_step": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "weights = torch.softmax(score(s, grid), dim=+1)",
            TWO_AXES,
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            6,
            "new = cell(torch.cat([y, c], dim=+1), state)",
            TWO_AXES,
        ),
    ],
}
