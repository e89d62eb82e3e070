"""Error rates on examples counted by hand, and against a plain edit distance."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse.metrics import (
    character_error_rate,
    phoneme_error_rate,
    pronunciation_error,
    word_error_rate,
)


def distance(a, b):
    """Levenshtein's distance by its recurrence."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


def test_word_error_rate_by_hand():
    # "sat" substituted, "the" deleted; "now" inserted
    result = word_error_rate(
        ["the cat sits on mat", "hello there now"], ["the cat sat on the mat", "hello there"]
    )
    assert (result.substitutions, result.deletions, result.insertions) == (1, 1, 1)
    assert result.reference_length == 8
    assert result.rate == pytest.approx(3 / 8)
    assert str(result) == "37.5% (1 substituted, 1 deleted, 1 inserted of 8)"


def test_outputs_come_first():
    assert word_error_rate(["a b c d"], ["a"]).rate == 3.0
    assert word_error_rate(["a"], ["a b c d"]).rate == 0.75


def test_character_error_rate_by_hand():
    result = character_error_rate(["kitten"], ["sitting"])
    assert (result.substitutions, result.deletions, result.insertions) == (2, 1, 0)
    assert result.rate == pytest.approx(3 / 7)


words = st.lists(st.sampled_from("abc"), max_size=6)
phones = st.lists(st.sampled_from(["AA", "B", "K"]), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_word_error_rate_is_edits_over_reference_words(pairs):
    hypotheses, references = ([" ".join(pair[i]) for pair in pairs] for i in (0, 1))
    length = sum(len(reference) for _, reference in pairs)
    if length == 0:
        with pytest.raises(ValueError, match="the references hold no words"):
            word_error_rate(hypotheses, references)
    else:
        edits = sum(distance(hypothesis, reference) for hypothesis, reference in pairs)
        assert word_error_rate(hypotheses, references).rate == pytest.approx(edits / length)


TOMATO = [["T", "AH", "M", "EY", "T", "OW"], ["T", "AH", "M", "AA", "T", "OW"]]
CAT = [["K", "AE", "T"]]


def test_any_accepted_pronunciation_is_right():
    result = pronunciation_error([TOMATO[1], CAT[0]], [TOMATO, CAT])
    assert (result.word_error, result.phoneme_error, result.wrong, result.words) == (0, 0, 0, 2)


def test_pronunciation_error_by_hand_against_the_closest():
    # one phoneme from the second pronunciation (two from the first); the cat lost its end
    outputs = [["T", "IH", "M", "AA", "T", "OW"], ["K", "AE"]]
    result = pronunciation_error(outputs, [TOMATO, CAT])
    assert (result.word_error, result.wrong) == (1.0, 2)
    assert (result.phonemes.substitutions, result.phonemes.deletions) == (1, 1)
    assert result.phoneme_error == pytest.approx(2 / 9)
    assert phoneme_error_rate(outputs, [TOMATO, CAT]) == result.phonemes
    assert pronunciation_error([[], CAT[0]], [CAT, CAT]).phoneme_error == pytest.approx(1 / 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(phones, st.lists(phones, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_pronunciation_error_by_definition(entries):
    result = pronunciation_error([e[0] for e in entries], [e[1] for e in entries])
    closest = [min(accepted, key=lambda p: distance(output, p)) for output, accepted in entries]
    edits = sum(distance(e[0], c) for e, c in zip(entries, closest, strict=True))
    assert result.phoneme_error == pytest.approx(edits / sum(map(len, closest)))
    assert result.wrong == sum(output not in accepted for output, accepted in entries)


@pytest.mark.parametrize(
    ("outputs", "accepted", "message"),
    [
        (["K AE T"], [CAT], "the output for word 0 should be a list of phonemes"),
        ([["K AE", "T"]], [CAT], "the output for word 0 should be a list of phonemes without spaces"),
        ([["K"]], [["K"], ["T"]], "1 hypotheses, 2 accepted"),
        ([["K"]], [["K", "AE"]], "a pronunciation of word 0 should be a list"),
        ([["K"]], [[]], "word 0 should have at least one pronunciation"),
        ([["K"]], [[[]]], "word 0 should have at least one pronunciation and none of them empty"),
    ],
)
def test_phonemes_that_do_not_fit_are_refused(outputs, accepted, message):
    with pytest.raises(ValueError, match=message):
        pronunciation_error(outputs, accepted)


@pytest.mark.parametrize("rate", [word_error_rate, character_error_rate])
def test_texts_that_do_not_fit_are_refused(rate):
    with pytest.raises(ValueError, match="there are 1 hypotheses, 2 references"):
        rate(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="the references hold no"):
        rate(["a"], [" "])
    with pytest.raises(ValueError, match="hypotheses should be a list"):
        rate("a", ["a"])
    with pytest.raises(ValueError, match="references should hold texts, but one entry is a list"):
        rate(["a b"], [["a", "b"]])
