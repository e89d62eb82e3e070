"""Photographs of familiar things: what is stored, under which licences, and how it is made again."""

from __future__ import annotations

import io
import json
import random
import struct
import zlib

import numpy
import pytest
from PIL import Image

from seqcourse.data import compose, familiar, grammar, pictures
from seqcourse.data.build import familiar as build_familiar
from seqcourse.data.readers import FILES
from seqcourse.errors import CourseError

FOLDER = FILES / "familiar"
LICENCES = {"public domain", "CC0-1.0", "CC-BY-SA-4.0", "GPL-2.0-or-later"}


def test_the_set_is_what_its_note_says():
    things, grounds = familiar.load_familiar(), familiar.load_grounds()
    note = json.loads((FOLDER / "source.json").read_text(encoding="utf-8"))
    assert note["counts"]["thing"] == len(things) >= 10
    assert note["counts"]["ground"] == len(grounds) >= 10
    names = {f"{one.name}.jpg" for one in things} | {f"ground_{name}.jpg" for name in grounds}
    assert {path.name for path in FOLDER.glob("*.jpg")} == names
    assert all(one.pixels.shape == (224, 224, 3) for one in things)
    assert all(pixels.shape == (192, 192, 3) for pixels in grounds.values())
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 0.9e6


def test_each_photograph_has_an_author_a_licence_and_a_page():
    told = (FOLDER / "LICENSE").read_text()
    for row, _, _ in build_familiar.read_table():
        assert row["author"] and row["page"].startswith("https://"), row
        assert row["licence"] in LICENCES and row["licence"] in told, row
    assert "GNU GENERAL PUBLIC LICENSE" in (FOLDER / "COPYING").read_text()


def test_true_captions_name_things_that_scenes_know():
    known = {(kind.name, kind.colour) for kind in pictures.kinds("train")}
    things = familiar.load_familiar()
    assert [one.name for one in things] == sorted({one.name for one in things})
    for one in things:
        for caption in one.captions:
            read = grammar.read_caption(caption)
            assert {*read.counts} <= known and read.names == {one.name}, caption


def test_scenes_on_photographs_are_made_again_and_say_what_they_show():
    style = familiar.photographed("train")
    for number in range(20):
        scene = compose(number, "train", 128, style)
        assert numpy.array_equal(scene.image, compose(number, "train", 128, style).image)
        assert scene.image.shape == (128, 128, 3) and len(scene.things) <= 2
        assert {t.name for t in scene.things} == grammar.read_caption(scene.caption).names
    with pytest.raises(CourseError, match="'train' or 'valid', not 'test'"):
        familiar.photographed("test")


def test_validation_has_grounds_of_its_own(monkeypatch):
    plain = [Image.new("RGB", (192, 192), (place, 0, 0)) for place in range(20)]
    monkeypatch.setattr(familiar, "_grounds", lambda: plain)
    seen = {
        part: {
            int(familiar.photographed(part).ground(random.Random(n), 32)[0, 0, 0]) for n in range(200)
        }
        for part in ("train", "valid")
    }
    assert seen["valid"] == {0, 5, 10, 15} and seen["train"] == {*range(20)} - seen["valid"]


def archive(files: dict[str, bytes]) -> bytes:
    """A resource archive of Qt with one folder ``a`` that holds the files, the first one packed."""
    names, data, tree = b"", b"", []

    def name(text):
        nonlocal names
        at = len(names)
        names += struct.pack(">HI", len(text), 0) + text.encode("utf-16-be")
        return at

    tree.append(struct.pack(">iHii", 0, 2, 1, 1))
    tree.append(struct.pack(">iHii", name("a"), 2, len(files), 2))
    for number, (text, content) in enumerate(files.items()):
        if number == 0:
            content = struct.pack(">I", len(content)) + zlib.compress(content)
        tree.append(struct.pack(">iHhhi", name(text), int(number == 0), 0, 0, len(data)))
        data += struct.pack(">I", len(content)) + content
    whole = b"".join(tree)
    head = struct.pack(">iiii", 1, 20, 20 + len(whole), 20 + len(whole) + len(data))
    return b"qres" + head + whole + data + names


def test_an_archive_is_unpacked(tmp_path):
    files = {"one.txt": b"packed " * 9, "two.txt": b"as it is"}
    (tmp_path / "x.rcc").write_bytes(archive(files))
    assert build_familiar.unpack(tmp_path / "x.rcc") == {f"a/{k}": v for k, v in files.items()}
    with pytest.raises(CourseError, match="gcompris-qt-data"):
        build_familiar.unpack(tmp_path / "y.rcc")


def test_the_set_is_made_again_byte_for_byte(tmp_path, monkeypatch):
    picture = io.BytesIO()
    Image.new("RGB", (40, 30), (10, 200, 30)).save(picture, "WEBP", lossless=True)
    rows = "thing | dog | a dog | farm/dog | 5, 0, 30 | A. Author | CC0-1.0 | Dog.jpg\n"
    rows += "ground | sea | | mate/Sea | 0, 0, 20 | B. Author | GPL-2.0-or-later |\n"
    monkeypatch.setattr(build_familiar, "TABLE", rows)

    def made(many):
        return numpy.full((len(many), 7, 7, 1280), 9, numpy.uint8)

    source = {"farm/dog": "gcompris/src/activities/explore_farm_animals/resource/animals/dog.webp"}
    monkeypatch.setattr(build_familiar, "unpack", lambda path: {source["farm/dog"]: picture.getvalue()})
    for archive_name, _ in build_familiar.PLACES.values():
        path = tmp_path / build_familiar.RESOURCES / f"{archive_name}.rcc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    with pytest.raises(CourseError, match="mate-backgrounds"):
        build_familiar.build(tmp_path, tmp_path / "one")
    path = tmp_path / build_familiar.WALLPAPERS / "Sea.jpg"
    path.parent.mkdir(parents=True)
    Image.new("RGB", (40, 30), (10, 30, 200)).save(path)
    for target in ("one", "two"):
        build_familiar.build(tmp_path, tmp_path / target, made)
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / target / "familiar").iterdir()}
        for target in ("one", "two")
    )
    assert one == two
    (dog,) = familiar.load_familiar(tmp_path / "one/familiar")
    assert (dog.name, dog.captions, dog.author) == ("dog", ("a dog",), "A. Author")
    assert dog.page == "https://commons.wikimedia.org/wiki/File:Dog.jpg"
    assert numpy.abs(dog.pixels.astype(int) - (10, 200, 30)).max() < 6
    assert [*familiar.load_grounds(tmp_path / "one/familiar")] == ["sea"]
    assert familiar.load_familiar_features(tmp_path / "one/familiar").shape == (1, 7, 7, 1280)


def test_missing_or_damaged_files_are_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="features of the photographs.*git checkout"):
        familiar.load_familiar_features(tmp_path)
    (tmp_path / "features.npz").write_bytes(b"PK nothing")
    with pytest.raises(CourseError, match="features of the photographs"):
        familiar.load_familiar_features(tmp_path)
    (tmp_path / "familiar.tsv").write_text("\t".join("abcdefg") + "\n")
    with pytest.raises(CourseError, match="expected a first line with file, use"):
        familiar.load_familiar(tmp_path)
