"""Every checkpoint loads, is what its recipe says, and reaches its bar where it is measured anew."""

import re
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
import torch

from seqcourse import CourseError, data, metrics, train, zoo
from seqcourse.cli.models import QUICK_STEPS, train_model
from seqcourse.zoo.tasks import lower
from seqcourse.zoo.tasks.captions import pointing, said
from seqcourse.zoo.tasks.evaluation import mean_loss
from tests.sizes import nightly_but

# A model of each kind of vocabulary: words, characters, pieces of words.
MEASURED = ("en-es-attention", "char-alice", "books-gpt")


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


@pytest.mark.parametrize("name", nightly_but(MEASURED, zoo.names()))
def test_the_vocabularies_are_made_from_the_data_as_it_is(name, systems):
    source, target = zoo.task_of(zoo.recipe(name)).vocabularies()
    assert (systems[name].source, systems[name].target) == (source, target)


def test_bars():
    """Measured on the whole held-out split when the checkpoints were made."""
    figures = {name: zoo.figures(name)["measured"] for name in zoo.names()}
    attention, fixed = figures["en-es-attention"], figures["en-es-fixed"]
    assert attention["bleu"] >= 40
    assert attention["bleu"] > fixed["bleu"] + 1
    assert figures["g2p-transformer"]["word_error"] <= 0.27
    assert figures["en-es-transformer"]["bleu"] > max(46, attention["bleu"])


def test_captions_look_where_they_should():
    """On 1000 scenes of held-out pairs, as measured when the checkpoints were made."""
    attending = ("soft", "hard", "transformer")
    found = {n: zoo.figures(f"captions-{n}")["measured"] for n in ("fixed", *attending)}
    for name in attending:
        assert found[name]["object_words"] > max(0.8, found["fixed"]["object_words"] + 0.05)
        game = found[name]["pointing"]
        assert game["share"] > max(game["chance"], game["others"]) + 0.4
    for name in ("soft", "transformer"):  # for hard attention one place per word is too little to count
        assert found[name]["whole"] > found["fixed"]["whole"] + 0.05
        assert found[name]["relations"] > found["fixed"]["relations"] + 0.15
    for name in ("soft", "hard"):
        assert found[name]["pointing"]["share"] >= 0.75


def test_captions_of_a_sample_agree_with_the_stored_figures(systems):
    scenes = data.load_scenes("test", 150)
    captions = systems["captions-soft"].caption([scene.image for scene in scenes])
    stored = zoo.figures("captions-soft")["measured"]
    told = said([c.text for c in captions], [s.references for s in scenes])
    assert told["object_words"] == pytest.approx(stored["object_words"], abs=0.08)
    share = pointing(captions, scenes)["share"]
    assert share == pytest.approx(stored["pointing"]["share"], abs=0.12)


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


@pytest.mark.parametrize(
    "name", nightly_but(MEASURED, ["en-es-fixed", "en-es-attention", "en-es-transformer"])
)
def test_bleu_of_a_sample_agrees_with_the_stored_figure(name, systems):
    """400 held-out sentences, decoded now: within the spread of a sample of that size."""
    pairs = data.load_pairs("en-es", "test")[::7][:400]
    found = systems[name].translate([p.source for p in pairs])
    score = metrics.bleu([t.text for t in found], [lower(p.target) for p in pairs]).score
    assert score == pytest.approx(zoo.figures(name)["measured"]["bleu"], abs=5)


def test_word_error_of_a_sample_agrees_with_the_stored_figure(systems):
    entries = data.load_pronunciations("test")[::12]
    found = systems["g2p-transformer"].translate([e.word for e in entries])
    error = metrics.pronunciation_error([t.target for t in found], [e.phones for e in entries])
    stored = zoo.figures("g2p-transformer")["measured"]["word_error"]
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


def test_any_word_and_any_length(systems):
    """Subwords: a word that nobody saw is spelt, and a sentence may be longer than any of the cut's."""
    system = systems["en-es-subwords"]
    (told,) = system.translate(["Zyxwvy is red."])
    assert data.UNK not in system.source.encode("Zyxwvy is red.")
    assert "".join(told.source).replace("▁", " ").strip() == "zyxwvy is red."
    long = "I think that the man who lives in the house near the river has a dog and a cat."
    (told,) = system.translate([long])
    assert len(told.target) > 12 and "perro" in told.text
    figures = zoo.figures("en-es-subwords")["measured"]
    assert figures["bleu"] > 46 and figures["bleu_any"] > 20


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
        systems["g2p-transformer"].generate("a")


@pytest.mark.parametrize(("name", "most"), [("char-alice", 2.3), ("alice-transformer", 2.4)])
def test_bits_per_character_measured_anew(name, most, systems):
    measured = zoo.task_of(zoo.recipe(name)).measure(systems[name])["bits_per_character"]
    stored = zoo.figures(name)["measured"]["bits_per_character"]
    assert measured == pytest.approx(stored, abs=0.02)
    assert measured < most  # guessing evenly costs 6.1 bits


def test_windows_give_what_a_text_in_one_piece_gives():
    """A model that sees one token before each place only: windows change nothing."""

    class Bigrams(torch.nn.Module):
        longest = 8

        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.randn(5, 5, generator=torch.manual_seed(0)))

        def forward(self, tokens):
            assert tokens.shape[1] <= self.longest
            return SimpleNamespace(logits=self.table[tokens])

    ids = torch.randint(5, (43,), generator=torch.manual_seed(1))
    model = Bigrams()
    whole = torch.nn.functional.cross_entropy(model.table[ids[:-1]], ids[1:]).item()
    assert mean_loss(model, ids) == pytest.approx(whole)
    assert mean_loss(model, ids[:6]) == pytest.approx(
        torch.nn.functional.cross_entropy(model.table[ids[:5]], ids[1:6]).item()
    )


def test_hidden_words_are_filled_in(systems):
    """A real sentence of the books' end, and what must be wrong is said."""
    system = systems["books-bert"]
    ((best, share), *others), second = system.fill('"i am <mask> glad ," said the little <mask>.')
    assert 0 < share <= 1 and len(others) == 4
    assert share >= others[0][1] and best.isalpha()
    assert len(second) == 5
    with pytest.raises(CourseError, match="Expected a text with <mask>"):
        system.fill("no gap here.")
    with pytest.raises(CourseError, match="does not fill masks"):
        systems["books-gpt"].fill("a <mask>.")
    with pytest.raises(CourseError, match="at most 62 words"):
        system.fill("<mask> " * 70)


def test_bert_beats_the_most_frequent_word_and_the_coin():
    found = zoo.figures("books-bert")["measured"]
    assert found["hidden_words_right"] > 3 * found["most_frequent_word"]
    assert found["pairs_right"] > 0.6


def test_longer_text_than_the_model_reads_is_refused(systems):
    with pytest.raises(CourseError, match="reads at most 128 pieces"):
        systems["books-gpt"].generate("once upon a time", length=200)
    assert len(systems["books-gpt"].generate("alice was").split()) > 50  # with its own defaults
    told = systems["books-gpt"].generate("Once upon a time", length=20, seed=1)
    assert told.startswith("once upon a time ")


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


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("en-es-fixed", "seqcourse translate ... --model en-es-fixed --folder "),
        ("captions-soft", "zoo.load('captions-soft', "),
        ("digits-speller", ".spell(utterances)"),
        ("char-alice", ".generate(prompt)"),
        ("books-bert", ".fill(text)"),
    ],
)
def test_after_training_one_is_told_how_to_use_it(name, use, systems, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(zoo, "train", lambda name, **options: systems[name])
    train_model(name, resume=False, budget="full", out=tmp_path / "run")
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith("Stored in ") and use in told
    method = told.rpartition(").")[2].partition("(")[0]
    assert "translate" in told or callable(getattr(systems[name], method))


def test_a_trial_says_what_to_expect_and_what_the_whole_recipe_makes(
    systems, monkeypatch, capsys, tmp_path
):
    given = []
    monkeypatch.setattr(zoo, "train", lambda name, **options: given.append(options) or systems[name])
    train_model("en-es-fixed", resume=False, budget="quick", out=tmp_path / "run")
    told = capsys.readouterr().out
    first, *rest = told.splitlines()
    assert given[0]["max_steps"] == QUICK_STEPS and f"a trial of {QUICK_STEPS} steps" in first
    assert "not a good model" in first and re.search(r"It took \d+ minutes", first)
    bleu = systems["en-es-fixed"].figures["measured"]["bleu"]
    assert f"bleu: {bleu:.4g} (the whole recipe: {bleu:.4g})" in rest
    assert "{" not in told and f"is in {tmp_path / 'run' / 'figures.json'}" in told


def test_a_new_recipe_without_stored_figures_can_be_tried(systems, monkeypatch, capsys, tmp_path):
    new = replace(zoo.recipe("en-es-fixed"), name="en-de-attention")
    monkeypatch.setitem(zoo.RECIPES, new.name, new)
    monkeypatch.setattr(zoo, "train", lambda name, **options: systems["en-es-fixed"])
    train_model(new.name, resume=False, budget="quick", out=tmp_path / "run")
    told = capsys.readouterr().out
    assert (
        told.startswith("en-de-attention: a trial") and "It took" not in told and "recipe:" not in told
    )
