"""A language model that only counts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqcourse import models
from seqcourse.errors import CourseError

TEXT = "the cat sat on the mat and the rat sat on the cat "


@given(st.text("abc", min_size=1, max_size=30), st.integers(0, 4), st.text("abcd", max_size=6))
def test_probabilities_of_all_symbols_and_of_one_unknown_sum_to_one(text, before, context):
    model = models.CountedRuns(text, before)
    assert sum(model.probability(context, symbol) for symbol in {*text, "?"}) == pytest.approx(1)


def test_by_hand():
    model = models.CountedRuns("abac", before=1)  # after a: b once, c once
    single = (2 + 3 * (1 / 4)) / (4 + 3)  # of a: twice in four, three kinds
    assert model.probability("", "a") == pytest.approx(single)
    of_b = (1 + 3 * (1 / 4)) / (4 + 3)
    assert model.probability("a", "b") == pytest.approx((1 + 2 * of_b) / (2 + 2))


def test_an_unknown_context_says_as_much_as_its_known_end():
    model = models.CountedRuns(TEXT, before=3)
    assert model.probability("xth", "e") == model.probability("th", "e")
    assert model.probability("xyz", "e") == model.probability("", "e")


def test_only_the_last_symbols_count():
    model = models.CountedRuns(TEXT, before=2)
    assert model.probability("anything th", "e") == model.probability("th", "e")


def test_bits_are_those_of_the_probabilities():
    model = models.CountedRuns(TEXT, before=2)
    text = "the hat"
    expected = [-math.log2(model.probability(text[:i], text[i])) for i in range(2, len(text))]
    assert model.bits(text) == pytest.approx(sum(expected) / len(expected))


def test_longer_runs_foretell_more_of_a_text_that_repeats_itself():
    bits = [models.CountedRuns(TEXT, before).bits(TEXT) for before in range(4)]
    assert bits == sorted(bits, reverse=True)


def test_any_sequence_can_be_counted():
    words = models.CountedRuns(TEXT.split(), before=1)
    assert words.probability(["the"], "cat") > words.probability(["the"], "sat") > 0


@pytest.mark.parametrize(("text", "before"), [("", 1), ("abc", -1)])
def test_nothing_to_count(text, before):
    with pytest.raises(CourseError, match="Runs need a text"):
        models.CountedRuns(text, before)
