"""Alignment error rate counted by hand, its properties, and links read off weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse.metrics import alignment_error_rate, links_from_weights

SURE = {(0, 0), (1, 1), (2, 3)}
POSSIBLE = SURE | {(2, 2), (3, 3)}
OURS = {(0, 0), (1, 1), (2, 2), (3, 1)}


def test_aer_by_hand():
    # A & S = {00, 11}, A & P = {00, 11, 22}: 1 - (2 + 3) / (4 + 3)
    result = alignment_error_rate([OURS], [SURE], [POSSIBLE])
    assert result.aer == pytest.approx(2 / 7)
    assert result.precision == pytest.approx(3 / 4)
    assert result.recall == pytest.approx(2 / 3)
    assert (result.predicted, result.sure, result.possible) == (4, 3, 5)
    assert str(result).startswith("AER = 0.286 (precision 0.750, recall 0.667; 4 links")


def test_aer_sums_over_the_corpus_before_dividing():
    # second sentence: A = {00}, S = P = {00, 11}: numerators 2 + 1 + 3 + 1, denominators 7 + 3
    result = alignment_error_rate(
        [OURS, [(0, 0)]], [SURE, [(0, 0), (1, 1)]], [POSSIBLE, [(0, 0), (1, 1)]]
    )
    assert result.aer == pytest.approx(1 - 7 / 10)
    assert (result.precision, result.recall) == (pytest.approx(4 / 5), pytest.approx(3 / 5))


links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)


@settings(max_examples=80, deadline=None)
@given(sure=links, more=links, ours=links)
def test_aer_lies_between_0_and_1_and_is_0_only_between_sure_and_possible(sure, more, ours):
    if not sure and not ours:
        with pytest.raises(ValueError, match="no predicted and no sure links"):
            alignment_error_rate([ours], [sure], [sure | more])
        return
    result = alignment_error_rate([ours], [sure], [sure | more])
    assert 0 <= result.aer <= 1
    assert (result.aer == 0) == (sure <= ours <= sure | more)


def test_with_sure_links_only_aer_is_one_minus_f1():
    result = alignment_error_rate([OURS], [SURE], [SURE])
    p, r = result.precision, result.recall
    assert result.aer == pytest.approx(1 - 2 * p * r / (p + r))


def test_what_cannot_be_divided_is_nan():
    nothing = alignment_error_rate([[]], [SURE], [POSSIBLE])
    assert nothing.aer == 1 and math.isnan(nothing.precision) and nothing.recall == 0
    assert math.isnan(alignment_error_rate([[(0, 0)]], [[]], [[(0, 0)]]).recall)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([OURS], [SURE], [SURE - {(2, 3)}]), r"sentence 0 has sure links that are not .*\[\(2, 3\)\]"),
        (([OURS], [SURE, SURE], [POSSIBLE]), "there are 1 predicted, 2 sure, 1 possible"),
        (([[(0, -1)]], [SURE], [POSSIBLE]), r"counted from 0, but sentence 0 has \(0, -1\)"),
        (([[(0, 1, 2)]], [SURE], [POSSIBLE]), r"sentence 0 has \(0, 1, 2\)"),
        (([[(0.5, 1)]], [SURE], [POSSIBLE]), r"sentence 0 has \(0.5, 1\)"),
        (([], [], []), "predicted and sure and possible are empty"),
    ],
)
def test_links_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        alignment_error_rate(*arguments)


WEIGHTS = [  # three target words; three source words and <eos>
    [0.7, 0.1, 0.1, 0.1],
    [0.1, 0.35, 0.45, 0.1],
    [0.1, 0.1, 0.2, 0.6],
]


@pytest.mark.parametrize("make", [np.array, torch.tensor, list])
def test_links_are_source_then_target(make):
    weights = make(WEIGHTS)
    assert links_from_weights(weights) == {(0, 0), (2, 1), (3, 2)}
    assert links_from_weights(weights, source_length=3) == {(0, 0), (2, 1)}
    assert links_from_weights(weights, threshold=0.35) == {(0, 0), (1, 1), (2, 1), (3, 2)}
    assert links_from_weights(weights, threshold=0.35, source_length=3) == {(0, 0), (1, 1), (2, 1)}


def test_rows_of_zeros_and_no_rows_give_no_link():
    assert links_from_weights(torch.tensor([[0.0, 0.0], [0.5, 0.5]])) == {(0, 1)}
    assert links_from_weights(torch.zeros(0, 4)) == set()


def test_weights_that_require_gradients_are_read():
    assert links_from_weights(torch.eye(2, requires_grad=True)) == {(0, 0), (1, 1)}


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (np.zeros(3), {}, r"two dimensions, target and source words, but the shape is \(3,\)"),
        ([[0.5, math.nan]], {}, "finite and at least 0"),
        ([[0.5, -1.0]], {}, "pass them after the softmax"),
        (WEIGHTS, {"threshold": 0.0}, "threshold should lie above 0"),
        (WEIGHTS, {"threshold": 1.2}, "threshold should lie above 0 and be at most 1"),
        (WEIGHTS, {"source_length": 5}, "source_length should lie between 1 and the 4 columns"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, options, message):
    with pytest.raises(ValueError, match=message):
        links_from_weights(weights, **options)
