"""The same captioner on a folder of real photographs: one option, from files to figures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy
import pytest
from PIL import Image

from seqcourse import zoo
from seqcourse.errors import CourseError
from seqcourse.train import TrainingConfig
from seqcourse.zoo import recipes
from seqcourse.zoo.tasks.photographs import PhotographTask, on_photographs

TINY = zoo.Recipe(
    name="tiny-captions",
    about="",
    task="captions",
    data="scenes",
    model="SoftCaptioner",
    sizes={"embed_size": 8, "hidden_size": 8, "width": 8, "size": 32},
    training=TrainingConfig(epochs=1, precision="no"),
    batch_size=8,
    options={"scenes": 40, "doubly": 0.01},
)


@pytest.fixture
def coco(tmp_path, monkeypatch):
    """Red and blue pictures in COCO's format, two captions each, and a recipe to train on them."""
    monkeypatch.setitem(recipes.RECIPES, TINY.name, TINY)
    folder = tmp_path / "coco"
    (folder / "annotations").mkdir(parents=True)
    for part, count in (("train", 20), ("val", 12)):
        (folder / f"{part}2017").mkdir()
        images, notes = [], []
        for number in range(count):
            colour = ("red", "blue")[number % 3 % 2]
            name = f"{number:012}.jpg"
            Image.new("RGB", (50, 40), colour).save(folder / f"{part}2017" / name)
            images.append({"id": number, "file_name": name})
            for text in (f"A {colour} wall.", f"The wall is {colour} ."):
                notes.append({"image_id": number, "id": len(notes), "caption": text})
        path = folder / "annotations" / f"captions_{part}2017.json"
        path.write_text(json.dumps({"images": images, "annotations": notes}), encoding="utf-8")
    return folder


def test_from_a_folder_to_a_captioner_and_its_figures(coco, tmp_path):
    system = zoo.train(TINY.name, out=tmp_path / "out", max_steps=3, photographs=coco)
    measured = system.figures["measured"]
    assert measured["photographs"] == 6 and set(measured) == {"bleu", "cider", "photographs"}
    assert system.figures["recipe"]["data"] == str(coco)
    assert sorted(system.target.tokens[4:]) == ["a", "blue", "is", "red", "the", "wall"]
    loaded = zoo.load(TINY.name, tmp_path / "out")
    (one,) = loaded.caption([numpy.zeros((50, 70, 3), numpy.uint8)])
    assert set(one.tokens) <= set(system.target.tokens)


def test_batches_take_turns_among_the_captions(coco):
    task = PhotographTask(on_photographs(TINY, coco))
    words, _ = task.vocabularies()
    batches = task.batches(words, words)
    lengths = set()
    for epoch in range(3):
        batches.set_epoch(epoch)
        for batch in batches:
            assert batch.src.shape[1:] == (3, 32, 32)
            lengths |= set((batch.tgt_out != 0).sum(1).tolist())
            assert not (batch.tgt_out == 3).any()
    assert lengths == {4, 5}  # "a red wall" and "the wall is red", each with <eos>


def test_rare_words_are_left_to_unk(coco):
    picky = replace(TINY, options={**TINY.options, "min_count": 20})
    task = PhotographTask(on_photographs(picky, coco))
    words, _ = task.vocabularies()
    assert "blue" not in words.tokens and "wall" in words.tokens


def test_what_cannot_be_trained_is_a_sentence(coco, tmp_path):
    with pytest.raises(CourseError, match="say where it should go, out=FOLDER"):
        zoo.train(TINY.name, photographs=coco)
    with pytest.raises(CourseError, match="g2p-transformer is trained for pronunciation"):
        zoo.train("g2p-transformer", out=tmp_path / "out", photographs=coco)
    with pytest.raises(CourseError, match="neither is there"):
        zoo.train(TINY.name, out=tmp_path / "out", photographs=tmp_path)
    assert not (tmp_path / "out").exists()
