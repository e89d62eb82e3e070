"""What recipes measure besides their checkpoint: widths of a beam, and ways to train a decoder."""

from __future__ import annotations

import pytest

from seqcourse import data, metrics, zoo
from seqcourse.zoo.tasks import lower, regimes
from seqcourse.zoo.tasks.pairs import by_beam
from tests.sizes import drawn, nightly_but


def test_the_widths_of_a_beam_are_measured_on_the_same_sentences():
    system = zoo.load("en-es-fixed")
    pairs = data.load_pairs("en-es", "test")[:24]
    references = [lower(pair.target) for pair in pairs]
    rows = by_beam(system, pairs, references, [1, 3])
    assert [(row["length_penalty"], row["beam"]) for row in rows] == [(0, 1), (0, 3), (1, 1), (1, 3)]
    greedy, wide, same, normalised = rows
    assert wide["log_prob"] > greedy["log_prob"] == same["log_prob"]
    texts = [found.text for found in system.translate([pair.source for pair in pairs], beam=3)]
    assert normalised["bleu"] == pytest.approx(metrics.bleu(texts, references).score)
    assert wide["over_first"]["gain"] == pytest.approx(wide["bleu"] - greedy["bleu"])
    assert same["over_by_probability"]["gain"] == 0 and "over_first" not in greedy


def test_the_stored_widths_agree_with_the_other_figures():
    stored = zoo.figures("en-es-fixed")["measured"]
    rows = {(row["length_penalty"], row["beam"]): row for row in stored["by_beam"]}
    assert {width for _, width in rows} == set(zoo.recipe("en-es-fixed").options["beams"])
    assert rows[1, 5]["bleu"] == pytest.approx(stored["bleu"])
    assert rows[0, 1]["bleu"] == pytest.approx(stored["bleu_greedy"])


@pytest.fixture
def short_lesson(monkeypatch):
    monkeypatch.setattr(regimes, "TRAINED_ON", 64)
    monkeypatch.setattr(regimes, "TESTED_ON", 16)
    return regimes.Lesson()


@pytest.mark.parametrize("regime", nightly_but([drawn(regimes.REGIMES)], regimes.REGIMES))
def test_a_regime_trains_and_is_measured_on_the_way(regime, short_lesson):
    assert (len(short_lesson.sources), len(short_lesson.test)) == (64, 16)
    _, errors = short_lesson.train(regime, 5e-3, seed=1, steps=4, every=2)
    assert len(errors) == 2 and all(0 < error < 200 for error in errors)
    assert errors == short_lesson.train(regime, 5e-3, seed=1, steps=4, every=2)[1]


@pytest.mark.nightly
def test_a_rate_is_chosen_on_other_words_than_it_is_judged_on(short_lesson, monkeypatch):
    """With a rate of nearly nothing and one that is too high to learn, the middle one is chosen."""
    tried = []
    monkeypatch.setattr(
        regimes.Lesson,
        "phoneme_error",
        lambda self, model, held_out=None: tried.append(held_out == self.tune) or model,
    )
    monkeypatch.setattr(
        regimes.Lesson,
        "train",
        lambda self, regime, rate, seed, steps, every=None: (abs(rate - 0.01), [rate] * 2),
    )
    found = regimes.measure([0.001, 0.011, 0.1], [7], [1, 2], 4, 2)
    assert all(tried) and len(tried) == 3 * len(regimes.REGIMES)
    assert found["chosen"] == dict.fromkeys(regimes.REGIMES, 0.011)
    assert found["errors"]["teacher"] == [[0.01, 0.01]] * 2
    words = [{e.word for e in part} for part in (short_lesson.tune, short_lesson.test)]
    assert not words[0] & words[1]


def test_what_a_regime_hears():
    shares = {
        name: [share(step) for step in (0, 324, 599)] for name, (share, _) in regimes.REGIMES.items()
    }
    assert shares["teacher"] == [0, 0, 0]
    assert shares["own samples"] == shares["relaxed draws"] == [1, 1, 1]
    assert shares["scheduled"] == pytest.approx([0.013, 0.5, 0.975], abs=0.01)
