"""The race of chapter 11 on equal terms: one size, one recipe, one time."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from torch.nn import functional

from seqcourse import zoo
from seqcourse.settings import device
from seqcourse.tokens import PAD
from seqcourse.zoo.tasks import race
from tests.sizes import drawn, nightly_but

NAMES = ("transformer", "recurrent")


pairs = cache(race.short_pairs)  # all of them are read once


@pytest.fixture
def track(monkeypatch):
    """The track with few pairs."""
    monkeypatch.setattr(race, "short_pairs", lambda split, longest: pairs(split, longest)[:100])
    return race.Track(longest=5)


def test_the_pairs_are_short_and_the_sizes_equal(monkeypatch):
    monkeypatch.setattr(race, "short_pairs", pairs)
    track = race.Track(longest=5)
    assert all(sum(word.isalpha() for word in s) <= 5 for s, _ in track.lessons)
    sizes = {k: sum(p.numel() for p in m.parameters()) for k, m in track.models().items()}
    assert max(sizes.values()) < 1.01 * min(sizes.values())
    stored = zoo.figures("en-es-transformer")["measured"]["race"]
    assert stored["parameters"] == sizes
    assert (stored["pairs"], stored["tested"]) == (len(track.lessons), len(track.test))


@pytest.mark.parametrize("name", nightly_but([drawn(NAMES)], NAMES))
def test_a_racer_trains_the_same_from_the_same_seed(name, track):
    first, again, other = (track.train(name, seed, steps=4, rate=5e-3) for seed in (1, 1, 2))
    assert first["loss"] == again["loss"] != other["loss"]
    assert first["bleu"] == again["bleu"]
    assert track.train(name, 1, steps=40, rate=5e-3)["loss"] < first["loss"] - 0.5


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_is_the_mean_over_all_tokens(name, track, monkeypatch):
    model = track.models()[name].eval()
    found = track.loss(model)
    monkeypatch.setattr(race, "BATCH", 1000)
    (batch,) = (b.to(device()) for b in track.batches(track.exam))
    with torch.inference_mode():
        logits = model(batch.src, batch.src_lengths, batch.tgt_in).logits
    expected = functional.cross_entropy(logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD)
    assert found == pytest.approx(expected.item(), abs=1e-4)


def test_a_model_that_knows_the_answers_scores_100(track, monkeypatch):
    answers = [type("Found", (), {"tokens": track.spanish.encode(t, eos=False)}) for _, t in track.test]
    known = [(s, track.spanish.decode(a.tokens)) for (s, _), a in zip(track.test, answers, strict=True)]
    track.test = known
    monkeypatch.setattr(race.decode, "greedy", lambda *given, **options: answers)
    assert track.bleu(track.models()["recurrent"].eval()) == pytest.approx(100)


@pytest.mark.nightly
def test_one_recipe_and_then_one_time(track, monkeypatch):
    cost = {"transformer": 3.0, "recurrent": 2.0}
    monkeypatch.setattr(race.Track, "seconds_per_step", lambda self: cost)
    asked = []

    def train(self, name, seed, steps, rate):
        asked.append((name, seed, steps, rate))
        return {"seconds": steps * cost[name], "loss": 1.0, "bleu": float(seed)}

    monkeypatch.setattr(race.Track, "train", train)
    found = race.measure(seeds=[4, 5], longest=5, steps=10, rate=5e-3, recurrent_rate=1e-2)
    recipe = [("transformer", 10, 5e-3), ("recurrent", 10, 5e-3)]
    runs = [*recipe, ("recurrent", 15, 1e-2)]
    assert [(run["model"], run["steps"], run["rate"]) for run in found["runs"]] == runs
    assert asked == [(name, seed, *of) for name, *of in runs for seed in (4, 5)]
    assert all(run["bleu"] == [4, 5] for run in found["runs"])
    assert found["runs"][2]["seconds"] == found["runs"][0]["seconds"]
    alone = race.measure(seeds=[4, 5], longest=5, steps=10, rate=5e-3)
    assert alone["runs"] == found["runs"][:2]


def test_both_models_are_timed(track):
    assert all(seconds > 0 for seconds in track.seconds_per_step(steps=2, warm=1).values())


def test_the_stored_race_is_the_one_that_was_asked_for():
    asked = zoo.recipe("en-es-transformer").options["race"]
    stored = zoo.figures("en-es-transformer")["measured"]["race"]
    assert [(run["model"], run["steps"], run["rate"]) for run in stored["runs"][:2]] == [
        (name, asked["steps"], asked["rate"]) for name in NAMES
    ]
    assert [run["rate"] for run in stored["runs"][2:]] == [
        asked[key] for key in ["recurrent_rate"] if key in asked
    ]
    assert all(len(run["bleu"]) == len(asked["seeds"]) for run in stored["runs"])
