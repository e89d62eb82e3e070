"""Positional encodings: their formula, the matrix that shifts them, rotary products."""

from __future__ import annotations

import math

import numpy
import pytest
import torch

from seqcourse import functional as F


def test_sines_and_cosines_by_hand():
    encoded = F.sinusoidal_encoding(torch.tensor([0.0, 3.0], dtype=torch.float64), 4)
    slow = 3 / 10_000 ** (2 / 4)
    expected = [[0, 1, 0, 1], [math.sin(3), math.cos(3), math.sin(slow), math.cos(slow)]]
    torch.testing.assert_close(encoded, torch.tensor(expected, dtype=torch.float64))
    assert F.sinusoidal_encoding(5, 6).shape == (5, 6)


def test_no_two_positions_look_alike():
    encoded = F.sinusoidal_encoding(2000, 64)
    distances = torch.cdist(encoded, encoded) + 10 * torch.eye(2000)
    assert distances.min() > 0.1


@pytest.mark.parametrize("tau", [1, 7, -3, 0])
def test_one_matrix_shifts_every_position(tau):
    positions = torch.arange(10.0, 60.0, dtype=torch.float64)
    m = F.shift_matrix(tau, 16)
    moved = F.sinusoidal_encoding(positions, 16) @ m.T
    torch.testing.assert_close(moved, F.sinusoidal_encoding(positions + tau, 16))
    torch.testing.assert_close(m @ m.T, torch.eye(16, dtype=torch.float64))


def test_rotary_products_know_the_distance_only():
    torch.manual_seed(0)
    q, k = torch.randn(2, 8, dtype=torch.float64)
    at = torch.arange(6.0, dtype=torch.float64)
    products = F.rotate(q.expand(6, 8), at) @ F.rotate(k.expand(6, 8), at).T
    for distance in range(-4, 5):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert products[0].std() > 0.01
    torch.testing.assert_close(F.rotate(q[None], at[:1])[0], q)


def test_an_odd_width_gets_a_sentence():
    with pytest.raises(ValueError, match="even, but is 5"):
        F.sinusoidal_encoding(3, 5)


def test_a_place_of_a_grid_is_its_row_and_its_column():
    places = F.grid_encoding(2, 3, 8)  # read row by row
    assert places.shape == (6, 8)
    rows, columns = (F.sinusoidal_encoding(n, 4, base=100.0) for n in (2, 3))
    for row in range(2):
        for column in range(3):
            torch.testing.assert_close(places[3 * row + column], torch.cat([rows[row], columns[column]]))
    assert len({tuple(place) for place in F.grid_encoding(8, 8, 96).tolist()}) == 64
    with pytest.raises(ValueError, match="a multiple of 4, two even halves, but it is 6"):
        F.grid_encoding(2, 2, 6)


def test_numpys_integers_count_positions():
    assert torch.equal(F.sinusoidal_encoding(numpy.int64(5), 8), F.sinusoidal_encoding(5, 8))
