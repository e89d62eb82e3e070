"""Several systems decide together: the formula, both directions, and what cannot be judged."""

import math

import pytest

from seqcourse import CourseError, data, metrics, zoo

WORDS = ["cough", "knuckles", "a", "transformer", "xylophone", "furlough"]


@pytest.fixture(scope="module")
def systems():
    return {n: zoo.load(n) for n in ("g2p-attention", "g2p-transformer")}


def candidates(system, beam=4):
    sources = system.sources(WORDS)
    return sources, system.search(sources, beam, n_best=beam)


@pytest.mark.parametrize("name", ["g2p-attention", "g2p-transformer"])
def test_log_probabilities_of_outputs_are_those_of_the_search(name, systems):
    system = systems[name]
    sources, found = candidates(system)
    pairs = [(s, h) for s, best in zip(sources, found, strict=True) for h in best]
    again = system.log_probs(
        [s for s, _ in pairs], [system.target.decode(h.tokens) for _, h in pairs], batch_size=5
    )
    assert again == pytest.approx([h.log_prob for _, h in pairs], abs=1e-3)


def test_the_order_is_that_of_the_weighted_sum(systems):
    """Two judges, each asked pair by pair."""
    proposer, judge = systems.values()
    counted = zoo.ngram_reader()
    sources, found = candidates(proposer)
    panel = zoo.Reranker(proposer, {"one": (judge, 0.7), "other": (counted, 0.4)})
    for source, before, after in zip(sources, found, panel.judge(sources, found), strict=True):
        wanted = {}
        for hypothesis in before:
            output = proposer.target.decode(hypothesis.tokens)
            one, other = (j.log_probs([source], [output])[0] for j in (judge, counted))
            wanted[" ".join(output)] = hypothesis.log_prob + 0.7 * one + 0.4 * other
        got = {" ".join(proposer.target.decode(h.tokens)): h.score for h in after}
        assert got == pytest.approx(wanted, abs=1e-3)
        assert list(got) == sorted(got, key=got.get, reverse=True)


def test_without_judges_the_likeliest_comes_first(systems):
    proposer = systems["g2p-transformer"]
    sources, found = candidates(proposer)
    for before, after in zip(found, zoo.Reranker(proposer, {}).judge(sources, found), strict=True):
        assert [h.log_prob for h in after] == sorted((h.log_prob for h in before), reverse=True)
        assert all(h.score == h.log_prob for h in after)


def test_maps_and_texts_stay_with_their_outputs(systems):
    panel = zoo.Reranker(systems["g2p-attention"], {"n-grams": (zoo.ngram_reader(), 3.0)})
    for found in panel.translate(WORDS):
        assert found.text == found.n_best[0][0] == " ".join(found.target)
        assert len(found.weights) == len(found.target)
        assert found.score == found.n_best[0][1]


def test_a_judge_with_other_tokens_is_refused(systems):
    with pytest.raises(CourseError, match="en-es-fixed cannot judge what g2p-attention proposes"):
        zoo.Reranker(systems["g2p-attention"], {"en-es-fixed": (zoo.load("en-es-fixed"), 1.0)})


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_weight_that_makes_no_sense_is_refused(weight, systems):
    with pytest.raises(CourseError, match="weight of n-grams should be above 0"):
        zoo.Reranker(systems["g2p-transformer"], {"n-grams": (zoo.ngram_reader(), weight)})


def test_what_all_rule_out_keeps_its_order(systems):
    """One letter, ten phonemes: the n-grams have no way to cut it."""
    proposer = systems["g2p-transformer"]
    _, found = candidates(proposer)
    long = found[WORDS.index("transformer")]
    panel = zoo.Reranker(proposer, {"n-grams": (zoo.ngram_reader(), 1.0)})
    (ruled_out,) = panel.judge([["a"]], [long])
    assert [h.score for h in ruled_out] == [-math.inf] * len(long)
    assert [h.tokens for h in ruled_out] == [h.tokens for h in long]


def test_words_of_one_letter_among_themselves(systems):
    texts = ["a", "i", "b"]
    together = [t.n_best for t in zoo.reranker("g2p-transformer").translate(texts)]
    for text, n_best in zip(texts, together, strict=True):
        (alone,) = zoo.reranker("g2p-transformer").translate([text])
        assert [o for o, _ in n_best] == [o for o, _ in alone.n_best]
        assert [s for _, s in n_best] == pytest.approx([s for _, s in alone.n_best], abs=1e-3)


def test_what_nobody_judges(systems):
    with pytest.raises(CourseError, match="Nobody judges what en-es-fixed proposes"):
        zoo.reranker("en-es-fixed")
    with pytest.raises(CourseError, match="at least one word"):
        zoo.reranker("g2p-transformer").translate(["?!"])


def test_the_counted_reader_reads():
    """A third of the held-out words wrong at most, on its own (the networks: less)."""
    reader = zoo.ngram_reader()
    entries = data.load_pronunciations("test")[::40]
    found = reader.translate([e.word for e in entries])
    error = metrics.pronunciation_error([t.target for t in found], [e.phones for e in entries])
    assert error.word_error < 0.4
    one, two = reader.translate(["Knuckles", "knuckles"], n_best=3)
    assert one.text == two.text == "N AH K AH L Z" == one.n_best[0][0]
    assert len(one.n_best) == 3 and one.source == list("knuckles")


def test_a_single_word_is_one_word():
    assert len(zoo.ngram_reader().translate("cough")) == 1


@pytest.mark.parametrize("text", ["", "1", "don't"])
def test_what_the_counted_reader_cannot_read(text):
    with pytest.raises(CourseError, match="a word of the letters a to z"):
        zoo.ngram_reader().translate(["cough", text])


def test_what_cannot_be_said_is_judged_impossible():
    first, second = zoo.ngram_reader().log_probs([["a"], ["a"]], [["EY"], ["EY", "B", "IY"]])
    assert first > second == -math.inf


def test_together_they_read_better_than_each_alone(systems):
    """As measured on all held-out words when the checkpoint was made, and now on a sample."""
    measured = zoo.figures("g2p-transformer")["measured"]
    together = measured["reranked"]["all"]["word_error"]
    alone = [zoo.figures(n)["measured"]["word_error"] for n in ("g2p-transformer", "g2p-attention")]
    assert together < min(alone) - 0.01
    entries = data.load_pronunciations("test")[::12]
    found = zoo.reranker("g2p-transformer").translate([e.word for e in entries])
    error = metrics.pronunciation_error([t.target for t in found], [e.phones for e in entries])
    assert error.word_error == pytest.approx(together, abs=0.06)
