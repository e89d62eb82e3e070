"""Every checkpoint loads, is what its recipe says, and reaches its bar where it is measured anew."""

from dataclasses import asdict
from types import SimpleNamespace

import pytest
import torch

from seqcourse import CourseError, data, metrics, train, zoo
from seqcourse.zoo.tasks import lower


@pytest.fixture(scope="module")
def systems():
    return {name: zoo.load(name) for name in zoo.names()}


@pytest.mark.parametrize("name", zoo.names())
def test_the_stored_figures_belong_to_the_recipe(name, systems):
    """A recipe that was changed without training again is found here."""
    figures = zoo.figures(name)
    made = asdict(zoo.recipe(name))
    made["training"]["max_steps"] = figures["recipe"]["training"]["max_steps"]
    assert figures["recipe"] == made
    assert figures["parameters"] == sum(p.numel() for p in systems[name].model.parameters())
    source, target = zoo.task_of(zoo.recipe(name)).vocabularies()
    assert (systems[name].source, systems[name].target) == (source, target)


def test_bars():
    """Measured on the whole held-out split when the checkpoints were made."""
    figures = {name: zoo.figures(name)["measured"] for name in zoo.names()}
    attention, fixed = figures["en-es-attention"], figures["en-es-fixed"]
    assert attention["bleu"] >= 40
    assert attention["bleu"] > fixed["bleu"] + 1
    assert figures["g2p-attention"]["word_error"] <= 0.30
    assert figures["g2p-transformer"]["word_error"] < figures["g2p-attention"]["word_error"] - 0.01
    assert figures["en-es-transformer"]["bleu"] > max(46, attention["bleu"])


def test_pre_training_helps():
    """Who wrote this passage? The mean of three seeds, as measured when the checkpoint was made."""
    found = zoo.figures("books-gpt")["measured"]["authors"]
    mean = {kind: sum(shares) / len(shares) for kind, shares in found["accuracy"].items()}
    assert mean["full"] > mean["no pre-training"] + 0.05
    assert mean["no auxiliary loss"] > mean["neither"] + 0.05
    assert min(mean.values()) > found["chance"] + 0.1


def test_the_transformer_is_no_larger_than_the_recurrent_model():
    sizes = [zoo.figures(name)["parameters"] for name in ("en-es-transformer", "en-es-attention")]
    assert sizes[0] <= sizes[1]


@pytest.mark.parametrize("name", ["en-es-fixed", "en-es-attention", "en-es-transformer"])
def test_bleu_of_a_sample_agrees_with_the_stored_figure(name, systems):
    """400 held-out sentences, decoded now: within the spread of a sample of that size."""
    pairs = data.load_pairs("en-es", "test")[::7][:400]
    found = systems[name].translate([p.source for p in pairs])
    score = metrics.bleu([t.text for t in found], [lower(p.target) for p in pairs]).score
    assert score == pytest.approx(zoo.figures(name)["measured"]["bleu"], abs=5)


@pytest.mark.parametrize("name", ["g2p-attention", "g2p-transformer"])
def test_word_error_of_a_sample_agrees_with_the_stored_figure(name, systems):
    entries = data.load_pronunciations("test")[::12]
    found = systems[name].translate([e.word for e in entries])
    error = metrics.pronunciation_error([t.target for t in found], [e.phones for e in entries])
    stored = zoo.figures(name)["measured"]["word_error"]
    assert error.word_error == pytest.approx(stored, abs=0.06)


def test_the_running_example(systems):
    text = systems["en-es-attention"].translate(["we are eating bread"])[0].text
    assert text in {"estamos comiendo pan.", "nosotros estamos comiendo pan.", "comemos pan."}


def test_a_translation_carries_its_attention(systems):
    for length, found in zip(
        (2, 7),
        systems["en-es-attention"].translate(["i sleep.", "we are eating bread in the kitchen."]),
        strict=True,
    ):
        assert len(found.source) >= length
        weights = torch.from_numpy(found.weights)
        assert weights.shape[1] == len(found.source) + 1  # <eos> is a column too
        assert weights.shape[0] == len(found.target)
        torch.testing.assert_close(weights.sum(1), torch.ones(len(weights)), atol=1e-4, rtol=0)


def test_company_does_not_change_a_translation(systems):
    sentences = [p.source for p in data.load_pairs("en-es", "test")[::300]]
    system = systems["en-es-attention"]
    together = [t.text for t in system.translate(sentences, beam=3)]
    assert together == [system.translate([s], beam=3)[0].text for s in sentences]


def test_a_text_is_translated_sentence_by_sentence(systems):
    system = systems["en-es-transformer"]
    one, two, three = (t.text for t in system.translate(["I sleep.", "She reads a book.", "Thanks!"]))
    assert system.translate_text("I sleep. She reads a book.\n\nThanks!") == f"{one} {two}\n\n{three}"
    with pytest.raises(CourseError, match="at least one word"):
        system.translate_text("?! ...")


@pytest.mark.parametrize("text", ["", "   ", "?!"])
def test_nothing_to_translate_is_said(text, systems):
    with pytest.raises(CourseError, match="at least one word"):
        systems["en-es-attention"].translate([text])


def test_words_that_nobody_knows_are_still_read(systems):
    """<unk> has a column of its own, and the words beside it are translated."""
    found = systems["en-es-attention"].translate(["the zyxwv is red."])[0]
    assert found.source == ["the", "zyxwv", "is", "red", "."]
    assert found.weights.shape[1] == 6
    assert "rojo" in found.text or "roja" in found.text


def test_no_texts_and_no_batch(systems):
    assert systems["en-es-attention"].translate([]) == []
    with pytest.raises(CourseError, match="batch_size should be at least 1, but it is 0"):
        systems["en-es-attention"].translate(["hello"], batch_size=0)


def test_a_language_model_generates_and_does_not_translate(systems):
    system = systems["char-alice"]
    one, two = (system.generate("Alice ", length=60, seed=s) for s in (0, 1))
    assert one.startswith("Alice ")
    assert one != two
    assert system.generate("Alice ", length=60, seed=0) == one
    with pytest.raises(CourseError, match="language model"):
        system.translate(["Alice"])
    with pytest.raises(CourseError, match="no language model"):
        systems["g2p-attention"].generate("a")


def test_bits_per_character_measured_anew(systems):
    task = zoo.task_of(zoo.recipe("char-alice"))
    measured = task.measure(systems["char-alice"])["bits_per_character"]
    assert measured == pytest.approx(
        zoo.figures("char-alice")["measured"]["bits_per_character"], abs=0.02
    )
    assert measured < 2.6  # guessing evenly costs 6.1 bits


@pytest.mark.parametrize("main", [True, False])
def test_of_several_processes_one_reports(main, capsys):
    history = train.History(epoch_losses=[2.0], valid=[3.0], seconds=[1.0])
    accelerator = SimpleNamespace(is_main_process=main)
    zoo._report(SimpleNamespace(accelerator=accelerator, history=history, epoch=1))
    assert capsys.readouterr().out.count("epoch   1  loss 2.000  valid 3.000") == main


def test_a_short_training_run_makes_a_whole_checkpoint(tmp_path):
    """Three steps of a real recipe: all files, loadable, figures measured, whatever the quality."""
    system = zoo.train("char-alice", out=tmp_path / "char-alice", max_steps=3)
    again = zoo.load("char-alice", tmp_path / "char-alice")
    assert again.figures["measured"] == system.figures["measured"]
    assert again.figures["epochs"] == 0
    for a, b in zip(system.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(a, b)
