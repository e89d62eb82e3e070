"""The pointing game by hand, and its chance by counting cells."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse.metrics import DRAWN, blurred, pointing_game, points_at


def peak(row, column, shape=(4, 4)):
    grid = np.full(shape, 0.01)
    grid[row, column] = 0.5
    return grid


def test_the_middle_of_the_cell_decides():
    # a grid of 4 x 4 over 64 pixels: the middles are at 8, 24, 40, 56; row 1, column 2 is (40, 24)
    grid = peak(1, 2)
    assert points_at(grid, (40, 24, 41, 25), 64)
    assert not points_at(grid, (41, 24, 60, 40), 64)
    assert not points_at(grid, (20, 20, 40, 30), 64)  # the right edge is outside
    assert points_at(grid, (20, 20, 40, 30), 64, tolerance=1)
    assert not points_at(grid, (20, 36, 30, 44), 64)  # x and y not swapped
    assert points_at(torch.tensor(grid, dtype=torch.bfloat16), (33, 20, 47, 30), 64)


def test_pictures_that_are_not_square():
    # 2 rows over 50 pixels, 4 columns over 200: row 1, column 3 is (175, 37.5)
    assert points_at(peak(1, 3, (2, 4)), (170, 35, 180, 40), (200, 50))
    assert not points_at(peak(1, 3, (2, 4)), (35, 170, 40, 180), (200, 50))


def test_any_of_several_boxes_will_do():
    boxes = [(0, 0, 10, 10), (30, 20, 50, 30)]
    assert points_at(peak(1, 2), boxes, 64) and points_at(peak(0, 0), boxes, 64)
    assert not points_at(peak(3, 3), boxes, 64)


def test_the_game_by_hand():
    box = (0, 0, 32, 32)  # the four cells of the upper left quarter
    both = [(0, 0, 16, 16), (48, 48, 64, 64)]
    game = pointing_game([peak(0, 1), peak(2, 2), peak(3, 3)], [box, box, both], 64)
    assert (game.hits, game.count) == (2, 3)
    assert game.share == pytest.approx(2 / 3)
    assert game.chance == pytest.approx((4 + 4 + 2) / 16 / 3)
    assert str(game) == "pointing 0.667 (2 of 3; chance 0.208)"


def test_blurred_by_hand():
    # 2 x 2 cells over 4 pixels, middles of cells at 1 and 3, of pixels at 0.5, 1.5, 2.5, 3.5
    found = blurred([[1.0, 0.0], [0.0, 0.0]], 4, blur=0.5)  # a standard deviation of one pixel
    line = np.exp(-(np.array([0.5, 0.5, 1.5, 2.5]) ** 2) / 2)
    assert found == pytest.approx(np.outer(line, line))
    both = blurred([[1.0, 0.0], [0.0, 3.0]], 4, blur=0.5)
    assert both == pytest.approx(np.outer(line, line) + 3 * np.outer(line[::-1], line[::-1]))


def test_blurred_is_scipys_filter_away_from_the_edge():
    ndimage = pytest.importorskip("scipy.ndimage")
    rng = np.random.default_rng(0)
    weights = np.zeros((21, 21))
    weights[8:13, 8:13] = rng.random((5, 5))
    points = np.kron(weights, np.pad([[1.0]], 2))  # cells of 5 pixels, a point in the middle of each
    smooth = ndimage.gaussian_filter(points, 5 * DRAWN, truncate=9, mode="constant")
    found = blurred(weights, 105)
    assert found / found.sum() == pytest.approx(smooth / smooth.sum(), abs=1e-6)


def test_neighbours_that_share_a_look_have_their_peak_between_them():
    grid = np.zeros((8, 8))
    grid[1, 1], grid[1, 2], grid[7, 7] = 0.3, 0.3, 0.4
    between = (28, 20, 36, 28)  # the middles of the cells are at (24, 24) and (40, 24)
    assert not points_at(grid, between, 128)
    assert points_at(grid, between, 128, blur=DRAWN)
    game = pointing_game([grid], [between], 128, blur=DRAWN)
    assert (game.hits, game.chance) == (1, pytest.approx(8 * 8 / 128**2))


@pytest.mark.parametrize("blur", [0, -1.0, float("nan")])
def test_a_blur_without_width_is_refused(blur):
    with pytest.raises(ValueError, match="blur should be a number of cells above 0"):
        blurred(peak(0, 0), 64, blur)


corner = st.integers(0, 9)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 7), st.integers(1, 7),
    st.tuples(corner, corner, st.integers(10, 20), st.integers(10, 20)),
)  # fmt: skip
def test_chance_is_the_share_of_cells_that_would_hit(rows, columns, box):
    peaks = [peak(r, c, (rows, columns)) for r in range(rows) for c in range(columns)]
    game = pointing_game(peaks, [box] * len(peaks), 20)
    assert game.share == pytest.approx(game.chance)
    assert [points_at(one, box, 20) for one in peaks].count(True) == game.hits


def test_a_mirrored_picture_is_hit_as_well():
    rng = np.random.default_rng(0)
    for _ in range(50):
        grid, x, y = rng.random((6, 5)), *rng.integers(0, 20, 2)
        box = (x, y, x + 11, y + 7)
        mirrored = (50 - x - 11, y, 50 - x, y + 7)
        assert points_at(grid, box, 50) == points_at(grid[:, ::-1], mirrored, 50)


def test_what_cannot_be_judged_is_a_sentence():
    with pytest.raises(ValueError, match="two dimensions"):
        points_at(np.ones(16), (0, 0, 1, 1), 64)
    with pytest.raises(ValueError, match="finite"):
        points_at(np.full((2, 2), np.nan), (0, 0, 1, 1), 64)
    with pytest.raises(ValueError, match="x0 < x1"):
        points_at(np.ones((2, 2)), (5, 0, 5, 1), 64)
    with pytest.raises(ValueError, match="no box"):
        points_at(np.ones((2, 2)), [], 64)
    with pytest.raises(ValueError, match="pixels above 0"):
        points_at(np.ones((2, 2)), (0, 0, 1, 1), 0)
    with pytest.raises(ValueError, match="1 maps, 2 boxes"):
        pointing_game([np.ones((2, 2))], [(0, 0, 1, 1)] * 2, 64)
