"""BLEU against published and hand-computed values."""

from __future__ import annotations

import math

import numpy
import pytest

from seqcourse.metrics import bleu, bleu_by_length, bleu_gain

# The example of Papineni et al. (2002): two candidates, three references.
CANDIDATE_1 = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
CANDIDATE_2 = "It is to insure the troops forever hearing the activity guidebook that party direct"
REFERENCES = (
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
)


def test_the_papers_first_candidate():
    result = bleu([CANDIDATE_1], [REFERENCES])
    # the paper prints 17/18 and 10/17; counted by hand, 7/16 and 4/15 follow
    assert result.precisions == pytest.approx([1700 / 18, 1000 / 17, 700 / 16, 400 / 15])
    assert (result.output_length, result.brevity_penalty) == (18, 1.0)
    assert result.score == pytest.approx(100 * (17 / 18 * 10 / 17 * 7 / 16 * 4 / 15) ** 0.25)  # 50.46


def test_the_papers_second_candidate_and_the_repeated_the():
    assert bleu([CANDIDATE_2], [REFERENCES]).precisions[:2] == pytest.approx([800 / 14, 100 / 13])
    the = bleu(["the the the the the the the"], [("The cat is on the mat", "There is a cat on the mat")])
    assert the.precisions[0] == pytest.approx(100 / 7)
    the = bleu(["the the the the the the the"], [("the cat is on the mat", "There is a cat on the mat")])
    assert the.precisions[0] == pytest.approx(
        200 / 7
    )  # each "the" counts as often as one reference has it


def test_short_outputs_pay_the_brevity_penalty():
    reference = "one two three four five six seven eight"
    result = bleu(["one two three four five six"], [reference])
    assert result.precisions == pytest.approx([100] * 4)
    assert result.score == pytest.approx(100 * math.exp(1 - 8 / 6))
    assert (result.output_length, result.reference_length) == (6, 8)


def test_counts_are_summed_over_the_corpus_not_averaged():
    hypotheses = ["a b c d e", "a b c d x y z u v w"]
    references = ["a b c d e", "a b c d e f g h i j"]
    result = bleu(hypotheses, references)
    expected = (9 / 15 * 7 / 13 * 5 / 11 * 3 / 9) ** 0.25
    assert result.score == pytest.approx(100 * expected)


def test_references_may_differ_in_number():
    hypotheses = ["the cat sat on the mat", "a dog barks at night"]
    both = bleu(
        hypotheses, [("the cat was on the mat", "the cat sat on the mat"), ("a dog barks at night",)]
    )
    assert both.score == pytest.approx(100)
    first = bleu(hypotheses, ["the cat was on the mat", "a dog barks at night"])
    assert first.score < 80
    assert "nrefs:1" in first.signature and "nrefs:var" in both.signature


def test_signature_is_printed_and_tells_case():
    plain, lower = (bleu(["The cat sat here"], ["the cat sat here"], lowercase=c) for c in (False, True))
    assert "case:mixed" in str(plain) and "tok:13a" in str(plain) and "version:" in str(plain)
    assert "case:lc" in str(lower)
    assert lower.score == pytest.approx(100) and plain.score < 100
    assert str(lower).startswith("BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000, 4 words against 4)")


def test_by_length_bins_are_half_open_and_each_a_corpus():
    sources = ["a b c", ["d"] * 4, 6, "one two three four five six seven"]
    references = ["one two three four"] * 4
    hypotheses = ["one two three four", "one two three five", "one two three four", "no word is right"]
    bins = bleu_by_length(hypotheses, references, sources, [1, 4, 5, 6, 9])
    assert [(b.shortest, b.longest, b.count) for b in bins] == [(1, 3, 1), (4, 4, 1), (6, 8, 2)]
    assert bins[0].bleu.score == pytest.approx(100)
    assert bins[1].bleu == bleu(hypotheses[1:2], references[:1])
    assert bins[2].bleu == bleu(hypotheses[2:], references[:2])
    assert bins[2].bleu.score < bins[0].bleu.score
    counted = numpy.array([3, 4, 6, 7])
    assert bleu_by_length(hypotheses, references, counted, [1, 4, 5, 6, 9]) == bins


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ([], [], "hypotheses and references are empty"),
        (["a"], ["a", "b"], "there are 1 hypotheses, 2 references"),
        ("a text", ["a text"], "hypotheses should be a list with one entry per sentence"),
        (["a"], "a", "references should be a list"),
        (["a", "b"], [("a",), ()], "sentence 1 has no reference"),
        (["a b c"], [["a", "b", "d"]], "looks like the tokens of one text"),
        ([["a", "b"]], ["a b"], "hypotheses should hold texts"),
        (["a"], [[["a"]]], "references should hold texts"),
        (["a b", "c d", "e f"], [["a b", "c d", "e f"]], r"1 lists of 3.*list\(zip\(\*references\)\)"),
        (["a b", "c d", "e f"], [["a b", "c d", "e f"]] * 2, "2 lists of 3: a list for each translator"),
    ],
)
def test_lists_that_do_not_fit_are_refused(hypotheses, references, message):
    with pytest.raises(ValueError, match=message):
        bleu(hypotheses, references)


@pytest.mark.parametrize(
    ("sources", "edges", "message"),
    [
        ([3, 4], [4, 1], "edges should be at least two increasing lengths"),
        ([3, 4], [1], "edges should be at least two"),
        ([3, 9], [1, 9], "1 sources have lengths outside 1 to 8, for instance 9"),
        ([3], [1, 9], "there are 2 hypotheses, 2 references, 1 sources"),
    ],
)
def test_bins_that_do_not_fit_are_refused(sources, edges, message):
    with pytest.raises(ValueError, match=message):
        bleu_by_length(["a", "b"], ["a", "b"], sources, edges)


def test_the_bootstrap_tells_a_gain_from_luck():
    references = [f"the {n} cats sat on the old mat of house {n % 7}" for n in range(40)]
    better = [text if n % 2 else text.replace("old ", "") for n, text in enumerate(references)]
    found = bleu_gain(references, better, references, samples=200)
    assert found.gain == pytest.approx(100 - bleu(better, references).score)
    assert 0 < found.low < found.gain < found.high
    turned = bleu_gain(better, references, references, samples=200)  # the same draws
    assert (turned.gain, turned.low, turned.high) == pytest.approx(
        (-found.gain, -found.high, -found.low)
    )
    luck = bleu_gain(
        [better[0], references[1]] * 20, [references[0], better[0]] * 20, references[:2] * 20
    )
    assert luck.low < luck.gain < luck.high
    same = bleu_gain(better, better, references, samples=20)
    assert (same.gain, same.low, same.high) == (0, 0, 0)


def test_the_bootstrap_takes_several_references():
    found = bleu_gain([CANDIDATE_1] * 3, [CANDIDATE_2] * 3, [REFERENCES] * 3, samples=20)
    assert found.low == found.high == pytest.approx(found.gain)  # three times the same sentence
    assert found.gain == pytest.approx(
        bleu([CANDIDATE_1] * 3, [REFERENCES] * 3).score - bleu([CANDIDATE_2] * 3, [REFERENCES] * 3).score
    )


def test_the_bootstrap_says_what_does_not_fit():
    with pytest.raises(ValueError, match="empty"):
        bleu_gain([], [], [])
    with pytest.raises(ValueError):
        bleu_gain(["a"], ["a", "b"], ["a"])
