"""The self-check of assignment 9: whole systems that break its contract are told how."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
import torch

from seqcourse import data, metrics, own
from seqcourse.check import Mistake, ps9
from seqcourse.check.grade import curve
from seqcourse.check.ps9.contract import SENTENCES
from seqcourse.models.gpt import GPT

ROOT = Path(__file__).resolve().parents[2]


def load(tensors, notes):
    return dict(zip(notes["words"].split(), tensors["turned"].tolist(), strict=True))


def translate(model, sentences):
    """A toy: known words become numbers."""
    return [" ".join(str(model.get(w, w)) for w in text.split()) for text in sentences]


def caption(model, pictures):
    return [("a red car", torch.rand(3, 8, 8)) for _ in pictures]


RIGHT = {"TASK": "translator", "load": load, "translate": translate, "caption": caption}


@pytest.fixture()
def file(tmp_path, monkeypatch) -> Path:
    """The folder of a notebook, with the file of a toy system."""
    monkeypatch.chdir(tmp_path)
    own.save(own.FILE, {"turned": torch.tensor([5, 6])}, {"words": "The is"})
    return tmp_path / own.FILE


@pytest.mark.parametrize("task", curve.TASKS)
def test_a_system_that_keeps_the_contract_passes(file, capsys, task):
    space = RIGHT | {"TASK": task}
    ps9.system(space)
    ps9.system.validate(space)
    told = capsys.readouterr().out
    assert f"✓ system: a {task} of 2 numbers" in told and "hidden split" in told


def padding_read(model, sentences):
    return [f"{text} {max(map(len, sentences))}" for text in sentences]


def padding_read_in_short_ones(model, sentences):
    longest = max(map(len, sentences))
    return [text if len(text) > 20 else f"{text} {longest}" for text in sentences]


def stops(*given):
    raise KeyError("width")


WRONG = {
    "another task": ({"TASK": "speller"}, 'TASK should be "translator" or "captioner"'),
    "no load": ({"load": None}, "load should be a function, but is None"),
    "load stops": ({"load": stops}, "load stopped with KeyError: 'width'"),
    "translate stops": ({"translate": stops}, "translate stopped with KeyError"),
    "one text": ({"translate": lambda m, s: "hola"}, "should give a list of 20"),
    "one left out": (
        {"translate": lambda m, s: list(s)[1:]},
        "should give a list of 20, but gives a list",
    ),
    "tokens": ({"translate": lambda m, s: [["la"] for _ in s]}, "should give texts, but one of them"),
    "eos is kept": ({"translate": lambda m, s: ["la <eos>" for _ in s]}, "special sign such as <eos>"),
    "padding is read": ({"translate": padding_read}, "let it read the padding"),
    "padding is read where there is much": (
        {"translate": padding_read_in_short_ones},
        "let it read the padding",
    ),
    "dropout is on": (
        {"load": lambda t, n: torch.nn.Dropout(), "translate": lambda m, s: list(s)},
        "still has dropout on",
    ),
    "dropout is on in a pair": (
        {"load": lambda t, n: (torch.nn.Dropout(), n), "translate": lambda m, s: list(s)},
        "still has dropout on",
    ),
    "words are drawn": (
        {"translate": lambda m, s: [f"la {torch.rand(1).item()}" for _ in s]},
        "Is dropout on, because model.eval",
    ),
    "captions alone": (
        {"TASK": "captioner", "caption": lambda m, p: ["a" for _ in p]},
        "should give pairs",
    ),
    "captions of a mean over the batch": (
        {"TASK": "captioner", "caption": lambda m, p: [(f"car {p.mean():.5f}", None) for _ in p]},
        "for a picture alone and among 20",
    ),
    "maps of NumPy": (
        {"TASK": "captioner", "caption": lambda m, p: [("cat", torch.rand(1, 8, 8).numpy()) for _ in p]},
        "but they are of the type ndarray",
    ),
    "too few maps": (
        {"TASK": "captioner", "caption": lambda m, p: [("a cat", torch.rand(1, 8, 8)) for _ in p]},
        "maps of a caption of 2 words should be",
    ),
}


def test_a_model_of_the_course_is_no_system_of_ones_own(file):
    model = GPT(5, width=4, heads=1, layers=1)

    def translate(_, sentences):
        return [str(model(torch.ones(1, 2, dtype=torch.long)).logits.shape) for _ in sentences]

    with pytest.raises(Mistake, match="a model of seqcourse.models runs in them"):
        ps9.system(RIGHT | {"translate": translate})


def test_dropout_that_translate_turns_off_itself_is_no_mistake(file, capsys):
    ps9.system(
        RIGHT | {"load": lambda t, n: torch.nn.Dropout(), "translate": lambda m, s: m.eval() and s}
    )
    assert "✓ system" in capsys.readouterr().out


def test_outputs_without_a_word_are_counted(file, capsys):
    ps9.system(RIGHT | {"translate": lambda m, s: ["" for _ in s]})
    assert "20 of 20 outputs have no word" in capsys.readouterr().out


@pytest.mark.parametrize("name", WRONG)
def test_a_system_that_breaks_it_is_told_how(file, name):
    changes, sentence = WRONG[name]
    with pytest.raises(Mistake, match=sentence):
        ps9.system(RIGHT | changes)


def test_the_file_is_checked_as_the_grader_does(file, capsys):
    file.write_bytes(b"\x80\x04 a pickle")
    with pytest.raises(Mistake, match="is a pickle, which could run code"):
        ps9.system(dict(RIGHT))
    file.unlink()
    with pytest.raises(Mistake, match="ps9.safetensors should lie beside the notebook"):
        ps9.system(dict(RIGHT))
    own.save(own.QUICK, {"turned": torch.tensor([5, 6])}, {"words": "The is"})
    ps9.system(dict(RIGHT))
    assert "hand in ps9.safetensors" in capsys.readouterr().out


def test_a_slow_system_is_told(file, monkeypatch):
    monkeypatch.setattr("seqcourse.check.ps9.contract.SECONDS", 0.0)
    with pytest.raises(Mistake, match="Does it read one at a time"):
        ps9.system(dict(RIGHT))


def test_nothing_yet_is_no_mistake(file):
    for check in (ps9.system, ps9.system.validate):
        with pytest.raises(NotImplementedError):
            check({})


def test_the_sentences_have_several_lengths():
    assert len({len(text.split()) for text in SENTENCES}) > 3


def test_the_page_says_what_the_grader_holds():
    book = nbformat.read(ROOT / "solutions" / "ps9" / "ps9.ipynb", as_version=4)
    text = next(cell.source for cell in book.cells if cell.id == "ps9-rules-md")
    for table in (curve.BLEU, curve.CIDER, curve.POINTING):
        assert (
            ", ".join(f"{measure:g}: {share:.0%}".replace("%", " %") for measure, share in table.items())
            in text
        )
    for said in (f"{curve.SENTENCES} English", f"{curve.SCENES} scenes", f"{curve.SECONDS} seconds"):
        assert said in text


def test_the_reference_reaches_its_figures():
    """The stored checkpoint through the solution's own code, on held-out pairs of the course."""
    book = nbformat.read(ROOT / "solutions" / "ps9" / "ps9.ipynb", as_version=4)
    cells = {cell.id: cell.source for cell in book.cells}
    space: dict = {}
    exec(cells["ps9-setup-setup"].replace("check.progress()", ""), space)
    exec(cells["ps9-system-solution"], space)
    folder = ROOT / "solutions" / "checks" / "ps9"
    assert (folder / own.FILE).stat().st_size <= 1_000_000
    model = space["load"](*own.read(folder / own.FILE))
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    pairs = [pair for pair in data.load_pairs("en-es", "test") if len(data.tokenize(pair.source)) <= 9]
    pairs = pairs[:: len(pairs) // 200][:200]
    said = space["translate"](model, [pair.source for pair in pairs])
    score = metrics.bleu(said, [pair.references for pair in pairs], lowercase=True).score
    assert score == pytest.approx(figures["bleu"], abs=0.5)
