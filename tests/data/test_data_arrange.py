"""Scenes put together by hand: things stand where they are put, and the caption follows them."""

import numpy
import pytest

from seqcourse import CourseError, data


def test_a_thing_stands_where_it_is_put():
    scene = data.arrange([("tiger", 20, 30, 24)], background=(0, 0, 0))
    x0, y0, x1, y1 = scene.things[0].box
    assert max(x1 - x0, y1 - y0) == 24
    assert abs((x0 + x1) / 2 - 20) <= 0.5 and abs((y0 + y1) / 2 - 30) <= 0.5
    seen = numpy.argwhere(scene.image.sum(-1) > 30)
    assert (seen.min(0) >= [y0, x0]).all() and (seen.max(0) < [y1, x1]).all()
    assert scene.caption == "a tiger" and scene.image.shape == (64, 64, 3)


@pytest.mark.parametrize(
    ("x", "y", "caption"),
    [
        (50, 32, "a tiger left of a red tomato"),
        (46, 44, "a tiger and a red tomato"),
        (14, 56, "a tiger above a red tomato"),
    ],
)
def test_the_caption_follows_the_places(x, y, caption):
    tiger = ("tiger", 14, 32 if y == 32 else 12, 20)
    assert data.arrange([tiger, ("red tomato", x, y, 14)]).caption == caption


def test_things_of_one_name_count_together_and_nothing_leaves_the_picture():
    scene = data.arrange([("zebra", -20, 10, 20), ("zebra", 90, 90, 20)])
    assert scene.caption == "two zebras" and scene.caption_es == "dos cebras"
    assert all(0 <= min(t.box) and max(t.box) <= 64 for t in scene.things)


def test_more_than_the_grammar_counts_has_no_caption():
    for count, caption in ((1, "a banana"), (4, "four bananas"), (5, "")):
        assert data.arrange([("banana", 12 * i, 30, 10) for i in range(count)]).caption == caption


def test_what_cannot_be_is_said():
    with pytest.raises(CourseError, match="No picture shows 'unicorn'. There are: airplane"):
        data.arrange([("unicorn", 20, 20, 20)])
    with pytest.raises(CourseError, match="1 to 64 pixels large, not 90"):
        data.arrange([("tiger", 20, 20, 90)])
    with pytest.raises(CourseError, match=r"three numbers or a picture \(64, 64, 3\)"):
        data.arrange([("tiger", 20, 20, 20)], background=numpy.zeros((32, 32, 3)))


def test_a_picture_may_be_the_background():
    ground = numpy.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=numpy.uint8)
    scene = data.arrange([("tiger", 20, 30, 24)], background=ground)
    x0, y0, x1, y1 = scene.things[0].box
    changed = (scene.image != ground).any(-1)
    assert changed[y0:y1, x0:x1].any()
    changed[y0:y1, x0:x1] = False
    assert not changed.any()
