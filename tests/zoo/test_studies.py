"""The studies of chapters: heads, first symbols, norms, a captioner's layers, authors."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import seqcourse
from seqcourse import data, functional, metrics, models, zoo
from seqcourse import nn as course_nn
from seqcourse.data.scenes import load_scenes
from seqcourse.zoo.tasks import TASKS, authors, heads, layers, memory, norms, pairs

ROOT = Path(__file__).resolve().parents[2]
STUDIES = [
    (name, study) for name in zoo.names() for study in TASKS[zoo.recipe(name).task].studies
    if study in zoo.recipe(name).options
]  # fmt: skip


@pytest.mark.parametrize(("name", "study"), STUDIES)
def test_every_study_that_a_recipe_asks_for_is_stored(name, study):
    figures = zoo.figures(name)
    assert study in figures["measured"]
    assert figures["recipe"]["options"][study] == json.loads(json.dumps(zoo.recipe(name).options[study]))


def test_a_head_that_nobody_reads_costs_what_a_head_of_zeros_costs():
    seqcourse.seed_everything(0)
    model = models.Transformer(12, 14, 8, 2, 1, hidden=16).eval()
    batches = [*data.Batches([[4, 5, 6], [7, 8]], [[4, 5], [6, 7, 8]], batch_size=2)]
    layer = heads.rooms(model)["decoder, source"][0]
    kept = layer.out.weight.clone()
    found = heads.costs_without(model, batches, layer, 1)
    assert torch.equal(layer.out.weight, kept) and not torch.equal(found, heads.costs(model, batches))

    def without_the_second(module, given):
        (joined,) = given
        return (torch.cat([joined[..., :4], torch.zeros_like(joined[..., 4:])], -1),)

    layer.out.register_forward_pre_hook(without_the_second)
    torch.testing.assert_close(heads.costs(model, batches), found)


def test_the_last_layer_read_again_is_the_map_of_the_caption():
    system = zoo.load("captions-transformer")
    pictures = [scene.image for scene in load_scenes("test", 3)]
    captions = system.caption(pictures)
    inputs = zoo.task_of(system.recipe).inputs(pictures)
    read = layers.readings(system, [caption.tokens for caption in captions], inputs, batch_size=2)
    assert list(read) == ["layer 1", "layer 2", "all layers"]
    for caption, first, last, both in zip(captions, *read.values(), strict=True):
        assert last == pytest.approx(caption.maps, abs=1e-5)
        assert both == pytest.approx((first + last) / 2, abs=1e-6)


def test_a_start_is_what_the_study_says():
    made = []
    torch.manual_seed(0)

    class Kept(course_nn.Recurrent):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "Recurrent", Kept)
        patch.setattr(memory, "STEPS", 0)
        for start in memory.STARTS.values():
            memory.accuracy(3, 0.01, 0, **start)
    plain, turned, gated, opened = made
    w = turned.weight_hh_l0.detach()
    torch.testing.assert_close(w @ w.T, torch.eye(memory.SIZE), atol=1e-5, rtol=0)
    added = opened.bias_ih_l0 - gated.bias_ih_l0
    forget = functional.length_mask(torch.tensor([memory.SIZE]), 4 * memory.SIZE)[0].roll(memory.SIZE)
    torch.testing.assert_close(added.detach(), 4.0 * forget)
    assert plain.weight_hh_l0.shape == w.shape


def test_three_steps_are_remembered():
    assert memory.accuracy(3, 0.02, 0, "rnn") > 0.95


def test_the_best_rate_is_chosen_on_some_seeds_and_judged_on_others(monkeypatch):
    asked = []

    def accuracy(length, rate, seed, **start):
        asked.append((rate, seed))
        return {0.1: 0.5, 0.2: 0.7, 0.3: 0.6}[rate] + (0.3 if seed == 0 and rate == 0.3 else 0)

    monkeypatch.setattr(memory, "accuracy", accuracy)
    found = memory.measure([10], [0.1, 0.2, 0.3], choose=[7, 8], seeds=[0, 1])
    assert found["LSTM"]["10"] == {
        "tried": {"0.1": 0.5, "0.2": 0.7, "0.3": 0.6}, "rate": 0.2, "right": [0.7, 0.7]
    }  # fmt: skip
    assert {seed for rate, seed in asked if rate != 0.2} == {7, 8}


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_study_trains_the_model_of_the_chapter(norm):
    book = json.loads((ROOT / "book/10_the_transformer_block.ipynb").read_text(encoding="utf-8"))
    (source,) = ("".join(c["source"]) for c in book["cells"] if "class Letters" in "".join(c["source"]))
    space = {"nn": nn, "course_nn": course_nn, "models": SimpleNamespace(Output=models.Output)}
    exec(source, space)
    tokens = torch.randint(4, 20, (2, 7))
    logits = []
    for kind in (space["Letters"], norms.Letters):
        seqcourse.seed_everything(0)
        logits.append(kind(20, 8, 4, 3, norm)(tokens).logits)
    assert torch.equal(*logits)


def test_a_run_gives_the_loss_of_its_last_steps():
    sizes = {"width": 8, "layers": 1, "steps": 25}
    found = norms.measure([1e-2], [0, 1], warmup=5, **sizes)
    assert list(found) == [
        "post-norm, no warm-up", "post-norm, warm-up", "pre-norm, no warm-up", "pre-norm, warm-up"
    ]  # fmt: skip
    losses = found["pre-norm, no warm-up"]["0.01"]
    assert len(set(losses)) == 2 and all(2.5 < loss < 4.5 for loss in losses)
    assert losses[0] == round(norms.result("pre", 0, 1e-2, 0, **sizes), 3)


def test_counting_words_is_naive_bayes_worked_out_by_hand():
    """Words a, b, c; author 0 wrote "a a b", author 1 "b c", both with one more of each."""
    guess = authors.counting([data.Passage("a a b", 0), data.Passage("b c", 1)], alpha=1.0)
    # P(a) is 3/6 against 1/5, P(b) 2/6 against 2/5, P(c) 1/6 against 2/5; the others wrote nothing: 1/3.
    assert guess("a") == 0 and guess("c c") == 1
    assert guess("a c") == 2  # 1/9 is more than 3/36 and 2/25
    assert guess("a b unknown") == 0  # 1/6 is more than 2/25 and 1/9
    assert authors.right(guess, [data.Passage("a", 0), data.Passage("c", 0)]) == 0.5


def test_authors_are_chosen_on_valid_and_judged_on_test(monkeypatch):
    asked = []

    def fine_tune(system, pretrained, auxiliary, seed, training):
        asked.append((training.learning_rate, seed))
        return training.learning_rate

    def accuracy(model, system, passages):
        return model if passages == "valid" else 1 - model

    monkeypatch.setattr(authors, "fine_tune", fine_tune)
    monkeypatch.setattr(authors, "accuracy", accuracy)
    monkeypatch.setattr(authors, "held_out", lambda split: split)
    monkeypatch.setattr(authors, "right", lambda guess, passages: 0.5)
    found = authors.measure(None, [0.1, 0.3, 0.2], [1.0], choose=[0], seeds=[0, 1])
    assert set(found["chosen"].values()) == {0.3, 1.0}
    assert found["accuracy"]["full"] == [0.7, 0.7] and found["tried"]["full"]["0.2"] == 0.2
    assert {seed for rate, seed in asked if rate != 0.3} == {0}


def test_one_translator_ahead_of_another(monkeypatch):
    """A trial on a few sentences: every sentence in one class, and nobody is ahead of itself."""
    drawn = {name: data.load_pairs("en-es", name)[::60] for name in ("test", "long")}
    monkeypatch.setattr(data, "load_pairs", lambda language, split: drawn[split])
    system = zoo.load("en-es-attention")
    found = pairs.ahead(system, "en-es-attention")
    assert sum(each["count"] for each in found["by_length"]) == sum(map(len, drawn.values()))
    assert {each["gain"] for each in found["by_length"]} == {0.0}
    assert found["test"]["gain"] == found["test"]["low"] == found["test"]["high"] == 0
    sources = [pair.source for pair in drawn["test"]]
    references = [pairs.lower(pair.target) for pair in drawn["test"]]
    scores = [
        metrics.bleu([t.text for t in zoo.load(name).translate(sources)], references).score
        for name in ("en-es-attention", "en-es-fixed")
    ]
    ahead = pairs.ahead(system, "en-es-fixed")
    assert ahead["test"]["gain"] == pytest.approx(scores[0] - scores[1])
