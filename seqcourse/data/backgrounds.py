"""Backgrounds for the scenes, plain and textured, drawn by code.

Random numbers come from Python's generator, which gives the same stream on every machine.
"""

from __future__ import annotations

import random

import numpy


def background(rng: random.Random, size: int) -> numpy.ndarray:
    """A background (size, size, 3) of type uint8; a third of them are plain."""
    make = rng.choice((plain, plain, plain, shaded, clouds, grain, stripes, checks, clouds))
    return make(rng, size)


def plain(rng: random.Random, size: int) -> numpy.ndarray:
    """One colour."""
    return numpy.full((size, size, 3), _colour(rng), dtype=numpy.uint8)


def shaded(rng: random.Random, size: int) -> numpy.ndarray:
    """From one colour at the top to another at the bottom, or from side to side."""
    share = numpy.linspace(0, 1, size)[:, None]
    share = numpy.broadcast_to(share if rng.random() < 0.5 else share.T, (size, size))
    return _mix(share, _colour(rng), _colour(rng))


def clouds(rng: random.Random, size: int) -> numpy.ndarray:
    """Soft patches of two colours, as in grass, sand or sky."""
    cells = rng.choice((3, 5, 9))
    coarse = _noise(rng, cells + 1)
    return _mix(_stretch(coarse, size), *_two_alike(rng))


def grain(rng: random.Random, size: int) -> numpy.ndarray:
    """A fine grain, every pixel a little lighter or darker."""
    return _mix(_noise(rng, size), *_two_alike(rng))


def stripes(rng: random.Random, size: int) -> numpy.ndarray:
    """Stripes, upright, level or slanting."""
    width = rng.choice((4, 6, 10)) * size / 64
    across, down = rng.choice(((1, 0), (0, 1), (1, 1), (1, -1)))
    y, x = numpy.mgrid[:size, :size]
    share = numpy.floor((across * x + down * y) / width) % 2
    return _mix(share, *_two_alike(rng))


def checks(rng: random.Random, size: int) -> numpy.ndarray:
    """A board of squares."""
    width = rng.choice((6, 8, 12)) * size / 64
    y, x = numpy.mgrid[:size, :size]
    share = (numpy.floor(x / width) + numpy.floor(y / width)) % 2
    return _mix(share, *_two_alike(rng))


def _colour(rng: random.Random) -> numpy.ndarray:
    """A muted colour, so that things stand out: no background is as red as a tomato."""
    grey = rng.uniform(90, 225)
    return numpy.array([min(255.0, max(0.0, grey + rng.uniform(-45, 45))) for _ in range(3)])


def _two_alike(rng: random.Random) -> tuple[numpy.ndarray, numpy.ndarray]:
    first = _colour(rng)
    shift = numpy.array([rng.uniform(10, 45) for _ in range(3)])
    return first, numpy.clip(first + rng.choice((-1, 1)) * shift, 0, 255)


def _mix(share: numpy.ndarray, first: numpy.ndarray, second: numpy.ndarray) -> numpy.ndarray:
    return (first + share[:, :, None] * (second - first)).round().astype(numpy.uint8)


def _noise(rng: random.Random, size: int) -> numpy.ndarray:
    values = numpy.frombuffer(rng.randbytes(size * size), dtype=numpy.uint8)
    return values.reshape(size, size) / 255


def _stretch(coarse: numpy.ndarray, size: int) -> numpy.ndarray:
    """Bilinear: from a few values per side to ``size`` of them."""
    at = numpy.linspace(0, len(coarse) - 1, size)
    low = numpy.minimum(at.astype(int), len(coarse) - 2)
    share = at - low
    rows = coarse[low] * (1 - share)[:, None] + coarse[low + 1] * share[:, None]
    return rows[:, low] * (1 - share) + rows[:, low + 1] * share
