"""Maps over pictures: bright where the weight is, boxes and peaks in the right place."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from seqcourse import CourseError, viz
from seqcourse.viz.html import image_tag
from seqcourse.viz.looks import peak

WHITE = np.full((16, 16, 3), 255, dtype=np.uint8)


def one_hot(row, column, side=4):
    weights = np.zeros((side, side))
    weights[row, column] = 1.0
    return weights


def test_bright_where_it_is_looked_at_and_dark_elsewhere():
    ax = viz.look(WHITE, one_hot(0, 3))
    drawn = ax.images[0].get_array()
    assert drawn.shape == (16, 16, 3)
    assert drawn[0, 15].min() == pytest.approx(1) and drawn[2, 14].min() > 0.8
    assert drawn[15, 0].max() < 0.4
    assert drawn.argmax() // 3 % 16 >= 12  # columns, not rows


def test_even_weights_leave_the_picture_as_it_is():
    picture = np.random.default_rng(0).integers(0, 256, (16, 16, 3))
    drawn = viz.look(picture, np.full(16, 1 / 16)).images[0].get_array()
    np.testing.assert_allclose(drawn, picture / 255)


def test_the_peak_is_in_pixels():
    assert peak(one_hot(1, 2), 16) == (10.0, 6.0)
    assert peak(one_hot(1, 2).ravel(), 64) == (40.0, 24.0)


def test_a_box_tells_hit_from_miss_by_colour_and_dashes():
    hit = viz.look(WHITE, one_hot(1, 2), boxes=[(8, 4, 12, 8)]).patches[0]
    miss = viz.look(WHITE, one_hot(1, 2), boxes=[(10.5, 4, 12, 8)]).patches[0]
    either = viz.look(WHITE, one_hot(1, 2), boxes=[(0, 0, 2, 2), (8, 4, 12, 8)]).patches
    colours = [to_hex(p.get_edgecolor()).upper() for p in (hit, miss, *either)]
    green, red = viz.COLOURS["green"], viz.COLOURS["vermillion"]
    assert colours == [green, red, green, green]
    assert hit.get_linestyle() != miss.get_linestyle()
    assert hit.get_xy() == (7.5, 3.5) and hit.get_width() == 4


def test_every_word_has_its_map():
    words = ["a", "tiger", "left", "of", "a", "pear"]
    maps = np.stack([one_hot(i // 4, i % 4).ravel() for i in range(6)])
    axes = viz.looks(WHITE, words, maps, columns=4, boxes={1: [(4, 0, 8, 4)]})
    assert [ax.get_title().split()[0] for ax in axes] == ["the", *words]
    assert len(axes[2].patches) == 1 and not axes[1].patches
    assert 'class="sq-photo"' in image_tag(axes[0].figure, "a picture")
    assert "data:image/jpeg" in image_tag(axes[0].figure, "a picture")  # no palette of few colours
    assert 'class="sq-photo"' not in image_tag(plt.figure(), "lines")


@pytest.mark.parametrize(
    ("picture", "maps", "said"),
    [
        (np.zeros((3, 16, 16)), np.ones((2, 16)), "colours stand first"),
        (np.zeros((16, 8, 3)), np.ones((2, 16)), r"should be \(S, S, 3\)"),
        (WHITE, np.ones((3, 16)), "row for <eos>"),
        (WHITE, np.ones((2, 15)), "15 places"),
    ],
)
def test_what_does_not_fit_is_said(picture, maps, said):
    with pytest.raises(CourseError, match=said):
        viz.looks(picture, ["a", "tiger"], maps)
