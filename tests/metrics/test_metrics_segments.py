"""Attention against boundaries: scores of maps whose answer is known."""

import numpy
import pytest

from seqcourse import metrics

BOUNDS = [[(0, 8), (8, 16)]]  # two words of eight frames: states 0, 1 and 2, 3 of four frames each


def test_a_perfect_map():
    rows = numpy.eye(4)[[0, 0, 1, 2, 3]]  # "ab cd"
    score = metrics.segment_score([rows], ["ab cd"], BOUNDS, 4)
    assert (score.pointing, score.inside, score.chance) == (1, 1, 0.5)
    assert (score.letters_forward, score.words_forward, score.letters) == (1, 1, 4)
    # "ab" looks at frames 2 and 2 (the middle of state 0), the word's middle is 4; "cd" at 10 and 14
    assert score.distance == pytest.approx((2 + 0) / 2)


def test_even_weights_are_chance_and_a_mirrored_map_is_all_wrong():
    even = metrics.segment_score([numpy.full((5, 4), 0.25)], ["ab cd"], BOUNDS, 4)
    assert even.inside == even.chance == 0.5 and even.words_forward == 0
    mirrored = metrics.segment_score([numpy.eye(4)[[3, 3, 2, 1, 0]]], ["ab cd"], BOUNDS, 4)
    assert mirrored.pointing == mirrored.inside == mirrored.words_forward == 0
    assert mirrored.letters_forward == pytest.approx(1 / 3)  # from "a" to "b" it stays


def test_a_state_on_the_edge_belongs_to_both_words():
    rows = numpy.eye(4)[[1, 2, 1]]  # state 1 is frames 4 to 7, the first word ends at frame 6
    score = metrics.segment_score([rows], ["a b"], [[(0, 6), (6, 16)]], 4)
    assert score.pointing == 1
    assert score.chance == pytest.approx((2 / 4 + 3 / 4) / 2)
    assert (score.letters_forward, score.words_forward) == (1, 0)  # it stays


def test_one_letter_has_no_way_to_go_back():
    score = metrics.segment_score([numpy.ones((1, 1))], ["a"], [[(0, 4)]], 4)
    assert score.letters_forward == score.words_forward == 1


@pytest.mark.parametrize(
    ("weights", "texts", "bounds", "message"),
    [
        ([], [], [], "at least one utterance"),
        ([numpy.ones((1, 1))], ["a"], [], "1, 1 and 0"),
        ([numpy.ones((3, 2))], ["a b"], [[(0, 4)]], "has 2 words.*bounds of 1 words"),
        ([numpy.ones((2, 2))], ["a b"], [[(0, 4), (4, 8)]], "weights of 2 letters"),
    ],
)
def test_what_does_not_fit_is_said(weights, texts, bounds, message):
    with pytest.raises(ValueError, match=message):
        metrics.segment_score(weights, texts, bounds, 4)
