"""The speller of the zoo: its figures, measured anew on a sample, and what it is not for."""

import json
from types import SimpleNamespace

import numpy
import pytest
import torch

from seqcourse import CourseError, data, metrics, train, zoo
from seqcourse.zoo.storage import read_json
from seqcourse.zoo.tasks import SpeechTask, spellers


@pytest.fixture(scope="module")
def speller():
    return zoo.load("digits-speller")


@pytest.fixture(scope="module")
def strings():
    return data.digit_strings("test", 150, seed=99)  # not those of the stored figures


@pytest.fixture(scope="module")
def spelt(speller, strings):
    return speller.spell([s.frames for s in strings])


def test_bars():
    """Measured on a thousand strings of unseen recordings when the checkpoint was made."""
    measured = zoo.figures("digits-speller")["measured"]
    assert measured["strings"] == 1000 and measured["word_error"] <= 0.03
    attention = measured["attention"]
    assert attention["pointing"] > 0.85 > 2 * attention["chance"]
    assert attention["words_forward"] > 0.99
    # what it cannot do is on record too
    assert measured["by_digits"]["8"] > measured["by_digits"]["5"] + 0.05
    assert measured["by_speed"]["2.0"] > measured["by_speed"]["1.0"] + 0.05


def test_the_checkpoint_is_small():
    path = zoo.FILES / "digits-speller" / "weights.safetensors"
    assert path.stat().st_size < 1.3e6


def test_word_error_of_other_strings_agrees_with_the_stored_figure(spelt, strings):
    error = metrics.word_error_rate([f.text for f in spelt], [s.text for s in strings])
    assert error.rate <= 0.03
    assert error.rate == pytest.approx(zoo.figures("digits-speller")["measured"]["word_error"], abs=0.02)


def test_attention_points_at_what_is_spoken(spelt, strings):
    right = [(f, s) for f, s in zip(spelt, strings, strict=True) if f.text == s.text]
    score = metrics.segment_score(
        [f.weights for f, _ in right],
        [s.text for _, s in right],
        [s.bounds for _, s in right],
        frames_per_state=4,
    )
    assert score.pointing > 0.85 and score.words_forward > 0.99
    for f, s in right:
        assert f.weights.shape == (len(s.text), -(-len(s.frames) // 4))
        numpy.testing.assert_allclose(f.weights.sum(1), 1, atol=1e-4)


def test_company_and_order_change_nothing(speller, spelt, strings):
    alone = [speller.spell([s.frames])[0] for s in strings[:4]]
    assert [f.text for f in alone] == [f.text for f in spelt[:4]]
    best = speller.spell([strings[0].frames], beam=4, n_best=3)[0]
    assert len(best.n_best) == 3 and best.n_best[0] == (best.text, best.score)


def test_what_it_is_not_for_is_said(speller):
    with pytest.raises(CourseError, match=r"frames of 13 coefficients.*but it is \(5, 12\)"):
        speller.spell([numpy.zeros((5, 12), "f4")])
    with pytest.raises(CourseError, match="at least one frame"):
        speller.spell([numpy.zeros((0, 13), "f4")])
    with pytest.raises(CourseError, match="use spell"):
        speller.translate(["four two"])
    with pytest.raises(CourseError, match="does not read speech"):
        zoo.load("g2p-transformer").spell([numpy.zeros((5, 13), "f4")])
    assert speller.spell([]) == []


def test_attention_was_watched_while_it_learned():
    figures = zoo.figures("digits-speller")
    options = zoo.recipe("digits-speller").options
    string = SpeechTask(zoo.recipe("digits-speller")).watched()
    assert [seen["epoch"] for seen in figures["watched"]] == options["watch"]
    for seen in figures["watched"]:
        weights = numpy.array(seen["weights"])
        assert weights.shape == (len(string.text) + 1, -(-len(string.frames) // 4))  # and <eos>
        numpy.testing.assert_allclose(weights.sum(1), 1, atol=0.02)
    assert set(string.recordings) <= {r.number for r in data.load_digits("valid")}


def test_the_recipe_runs_from_the_beginning(tmp_path, monkeypatch):
    """Two steps of it, without the long measurement at the end."""
    monkeypatch.setattr(SpeechTask, "measure", lambda self, system: {"none": 0})
    system = zoo.train("digits-speller", out=tmp_path, max_steps=2)
    frames = torch.from_numpy(numpy.concatenate([r.frames for r in data.load_digits("train")]))
    torch.testing.assert_close(system.model.mean.cpu(), frames.mean(0), rtol=1e-4, atol=1e-3)
    assert json.loads((tmp_path / "figures.json").read_text())["measured"] == {"none": 0}


def test_loss_of_the_stored_model_is_the_validation_value(speller):
    task = zoo.task_of(speller.recipe)
    value = task.validate(speller.source, speller.target)(speller.model)
    assert value == pytest.approx(min(zoo.figures("digits-speller")["valid_loss"]), abs=0.02)
    batch = next(iter(task.batches(speller.source, speller.target, "test"))).to(speller.device)
    with torch.inference_mode():
        assert train.teacher_forcing_loss(speller.model, batch).item() < 0.3


def test_what_was_watched_before_an_interruption_is_kept(tmp_path, capsys):
    """Written down after every epoch; an epoch that is run again replaces what it had left."""
    notes = tmp_path / "watched.json"
    history = SimpleNamespace(epoch_losses=[1.0], valid=[1.0], seconds=[1.0])
    first = SimpleNamespace(is_main_process=True)
    task = SimpleNamespace(watch=lambda model, epoch: {"epoch": epoch, "weights": [[model]]})
    for epoch, model in ((1, 0.1), (2, 0.2), (2, 0.3), (3, 0.4)):
        watched = read_json(notes) if notes.is_file() else []  # each time as after a kill
        trainer = SimpleNamespace(model=model, epoch=epoch, history=history, accelerator=first)
        zoo._after_epoch(task, watched, notes, trainer)
    kept = [(seen["epoch"], seen["weights"]) for seen in read_json(notes)]
    assert kept == [(1, [[0.1]]), (2, [[0.3]]), (3, [[0.4]])]


def test_all_spellers_learn_the_same_strings(monkeypatch):
    """A trial of the study: equal sizes, other strings for each seed, errors for each length."""
    monkeypatch.setattr(spellers, "TESTED", 2)
    monkeypatch.setattr(spellers, "DIGITS", range(1, 3))
    monkeypatch.setattr(spellers, "SHOWN", 2)
    task = SpeechTask(zoo.recipe("digits-speller"))
    letters = task.vocabularies()[1]

    def few(split, seed):
        varied = (0.0, 0.0) if split == "train" else None
        return data.SpokenBatches(letters, split, 4, 2, seed, varied, most=2)

    school = spellers.School(letters, torch.randn(20, 13), few)
    found = spellers.measure(school, rates=[1e-3, 1e-2], choose=[3], seeds=[1, 2], epochs=1)
    recurrent, *others = found["parameters"].values()
    assert all(abs(other / recurrent - 1) < 0.05 for other in others) and len(others) == 3
    for name in found["parameters"]:
        best = min(found["tried"][name], key=found["tried"][name].get)
        assert found["chosen"][name] == float(best)
        assert [set(exam["error"]) for exam in found["exams"][name]] == [{"1", "2"}] * 2
    assert found["said"].count(" ") == 1
    states = (len(school.tests[2][0].frames) + 1) // 2
    assert found["when"] and {len(chances) for chances in found["when"].values()} == {states}


def test_the_stored_study_of_spellers():
    stored = zoo.figures("digits-speller")["measured"]["spellers"]
    asked = zoo.recipe("digits-speller").options["spellers"]
    for name, exams in stored["exams"].items():
        assert len(exams) == len(asked["seeds"]) and len(stored["tried"][name]) == len(asked["rates"])
        for exam in exams:
            for n, wrong in exam["error"].items():
                assert sum(exam["kinds"][n]) == pytest.approx(wrong * int(n) * spellers.TESTED, abs=0.5)
