"""The cut of photographs, how it is made, and the grammar of the captions in two languages."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import numpy
import pytest
from PIL import Image

from seqcourse import data
from seqcourse.data import grammar, pictures
from seqcourse.data.build import photographs as build_photographs
from seqcourse.data.build import pictures as build_pictures
from seqcourse.data.grammar import caption, caption_es, english, read_caption, spanish
from seqcourse.data.readers import FILES
from seqcourse.errors import CourseError


def kind(name, colour=None):
    return next(k for k in pictures.kinds() if (k.name, k.colour) == (name, colour))


def test_the_cut_is_what_its_note_says():
    found = data.load_pictures()
    note = json.loads((FILES / "pictures" / "source.json").read_text(encoding="utf-8"))
    assert note["counts"]["pictures"] == len(found) >= 60
    assert note["counts"]["names"] == len({picture.name for picture in found})
    assert {path.name for path in (FILES / "pictures").glob("*.png")} == {p.file for p in found}
    assert sum(path.stat().st_size for path in (FILES / "pictures").iterdir()) < 2.4e6
    assert "GNU GENERAL PUBLIC LICENSE" in (FILES / "pictures" / "COPYING").read_text()


def test_pictures_are_cut_out_small_and_tight():
    for picture in data.load_pictures():
        height, width, channels = picture.pixels.shape
        assert channels == 4 and picture.pixels.dtype == numpy.uint8
        assert max(height, width) <= build_pictures.LONGEST
        opaque = picture.pixels[..., 3] > 8
        assert 0.08 < opaque.mean() <= 1, picture.file
        for edge in (opaque[0], opaque[-1], opaque[:, 0], opaque[:, -1]):
            assert edge.any(), f"{picture.file} has an empty margin"
        with pytest.raises(ValueError, match="read-only"):
            picture.pixels[0, 0, 0] = 1


def test_no_two_pictures_are_the_same_and_a_name_has_one_plural_and_one_gender():
    found = data.load_pictures()
    assert len({picture.pixels.tobytes() for picture in found}) == len(found)
    forms = {(p.name, p.kind.plural, p.kind.name_es, p.kind.plural_es, p.kind.feminine) for p in found}
    assert len(forms) == len({p.name for p in found})
    # one word of a caption names one thing: plurals and names never cross
    assert Counter(word for p in forms for word in {p[0], p[1]}).most_common(1)[0][1] == 1
    assert Counter(p[2] for p in forms).most_common(1)[0][1] == 1


def test_captions_in_english():
    tiger, orange, apple = kind("tiger"), kind("orange"), kind("apple", "red")
    assert english(tiger) == "a tiger"
    assert english(orange) == "an orange"
    assert english(apple) == "a red apple"  # the article looks at the colour
    assert english(kind("sheep"), 2) == "two sheep"
    assert english(kind("potato", "brown"), 3) == "three brown potatoes"
    assert caption([(tiger, 1), (apple, 2)]) == "a tiger and two red apples"
    assert caption([(tiger, 1), (orange, 1)], "left of") == "a tiger left of an orange"


def test_captions_in_spanish():
    assert spanish(kind("tiger")) == "un tigre"
    assert spanish(kind("apple", "red")) == "una manzana roja"
    assert spanish(kind("apple", "green"), 2) == "dos manzanas verdes"
    assert spanish(kind("flag", "white"), 3) == "tres banderas blancas"
    assert spanish(kind("tomato", "red"), 4) == "cuatro tomates rojos"
    assert spanish(kind("fedora", "blue"), 2) == "dos sombreros azules"
    assert spanish(kind("flamingo", "pink"), 2) == "dos flamencos rosas"
    assert spanish(kind("fire truck"), 2) == "dos camiones de bomberos"
    groups = [(kind("tiger"), 1), (kind("orange"), 1)]
    told = {r: caption_es(groups, r) for r in grammar.RELATIONS}
    assert told["left of"] == "un tigre a la izquierda de una naranja"
    assert told["above"] == "un tigre encima de una naranja"
    assert caption_es(groups[::-1]) == "una naranja y un tigre"


def test_every_colour_has_its_spanish():
    assert {k.colour for k in pictures.kinds()} - {None} == set(grammar.COLOURS)


def test_reading_is_the_other_way_round():
    for first in pictures.kinds():
        second = next(k for k in pictures.kinds() if k.name != first.name)
        for relation in (None, *grammar.RELATIONS):
            said = read_caption(caption([(first, 1), (second, 1)], relation))
            keys = [(k.name, k.colour) for k in (first, second)]
            assert said.counts == dict.fromkeys(keys, 1)
            assert said.relation == ((keys[0], relation, keys[1]) if relation else None)
        for n in (1, 2, 3, 4):
            assert read_caption(caption([(first, n)])).counts == {(first.name, first.colour): n}


def test_the_same_relation_from_the_other_side_is_the_same():
    one, other = read_caption("a tiger left of a dog"), read_caption("A dog right of a tiger.")
    assert one.relation != other.relation and one.relations == other.relations
    assert one.relations != read_caption("a dog left of a tiger").relations
    assert read_caption("a tiger and a dog").relations == frozenset()


def test_an_unknown_name_is_read_and_what_is_no_caption_is_none():
    assert read_caption("a unicorn left of two green dragons").counts == {
        ("unicorn", None): 1,
        ("dragons", "green"): 2,
    }
    assert read_caption("two dogs and a dog").counts == {("dog", None): 3}
    for text in ("", "tiger", "a", "a tiger left of", "a tiger left of a dog and a cow", "five dogs",
                 "a tiger left of a dog above a cow", "and", "a tiger and", "the tiger"):  # fmt: skip
        assert read_caption(text) is None, text


def test_the_vocabulary_holds_every_caption():
    words = set(grammar.vocabulary())
    for number in range(200):
        scene = data.compose(number, "unseen")
        assert words.issuperset(" ".join(scene.references).split())


def test_a_broken_cut_is_a_sentence(tmp_path):
    folder = tmp_path / "pictures"
    shutil.copytree(FILES / "pictures", folder)
    (folder / "tiger.png").write_bytes(b"no picture")
    with pytest.raises(CourseError, match="tiger.png: expected a PNG picture"):
        data.load_pictures(folder)
    index = folder / "pictures.tsv"
    text = index.read_text(encoding="utf-8")
    index.write_text(text.replace("\tf\t", "\tx\t"), encoding="utf-8")
    with pytest.raises(CourseError, match="expected 'f' or 'm'"):
        data.load_pictures(folder)
    index.write_text(text.replace("file\t", "path\t", 1), encoding="utf-8")
    with pytest.raises(CourseError, match="expected a first line with file, name"):
        data.load_pictures(folder)


ROW = "animals/cat | cat, cats | gato, gatos, m | black |"


@pytest.fixture
def stamps(tmp_path, monkeypatch):
    """A source with one stamp: a black square in an empty picture."""
    folder = tmp_path / "stamps" / "animals"
    folder.mkdir(parents=True)
    pixels = numpy.zeros((90, 120, 4), numpy.uint8)
    pixels[20:60, 30:110] = (10, 20, 30, 255)
    Image.fromarray(pixels).save(folder / "cat.png")
    (folder / "cat.txt").write_text("A black cat.\nes.utf8=Un gato negro.\n", encoding="utf-8")
    monkeypatch.setattr(build_pictures, "TABLE", ROW)
    monkeypatch.setattr(build_pictures, "SPANISH_COLOURS", {"black": "negro"})
    return folder.parent


def test_the_same_stamps_give_the_same_bytes(stamps, tmp_path):
    for target in ("one", "two"):
        build_pictures.build(stamps, tmp_path / target)
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / t / "pictures").iterdir()} for t in ("one", "two")
    )
    assert one == two
    assert sorted(one) == ["COPYING", "LICENSE", "cat.png", "pictures.tsv", "source.json"]
    (picture,) = data.load_pictures(tmp_path / "one" / "pictures")
    assert picture.pixels.shape == (36, 72, 4)  # 40 x 80 pixels, cut tight and made smaller
    assert (picture.pixels[5:-5, 5:-5] == (10, 20, 30, 255)).all()
    assert (picture.name, picture.colour, picture.part) == ("cat", "black", "train")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog.\nes.utf8=Un gato negro.\n", "expected 'cat'"),
        ("A black cat.\nes.utf8=Un perro negro.\n", "expected 'gato'"),
        ("A cat.\nes.utf8=Un gato negro.\n", "expected 'black'"),
        ("A black cat.\nes.utf8=Un gato.\n", "expected 'negro'"),
    ],
)
def test_names_and_colours_that_the_stamp_does_not_hold_are_refused(stamps, tmp_path, text, expected):
    (stamps / "animals/cat.txt").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=expected):
        build_pictures.build(stamps, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_stamp_is_a_sentence(stamps, tmp_path):
    (stamps / "animals/cat.png").unlink()
    with pytest.raises(CourseError, match="tuxpaint-stamps-default"):
        build_pictures.build(stamps, tmp_path / "out")


def test_photographs_are_made_again_byte_for_byte(stamps, tmp_path, monkeypatch):
    row = "animals/cat | house cat | 281, 282 | tabby"
    monkeypatch.setattr(build_photographs, "TABLE", row)
    for target in ("one", "two"):
        build_photographs.build(stamps, tmp_path / target)
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / t / "photographs").iterdir()}
        for t in ("one", "two")
    )
    assert one == two
    assert sorted(one) == ["COPYING", "LICENSE", "house_cat.jpg", "photographs.tsv", "source.json"]
    told = one["photographs.tsv"].decode().splitlines()
    assert told[1].split("\t") == ["house_cat.jpg", "house cat", "281, 282", "tabby", "animals/cat"]
    assert b"photographs.tsv" in one["LICENSE"] and b"build/photographs.py" in one["LICENSE"]
    pixels = data.read_photograph(tmp_path / "one/photographs/house_cat.jpg").astype(int)
    assert pixels.shape == (224, 224, 3)
    assert (pixels[:40] > 245).all() and numpy.abs(pixels[112, 112] - (10, 20, 30)).max() < 12
    columns = numpy.flatnonzero((pixels < 128).all(-1).any(0))
    assert abs(columns[0] - 11) <= 2 and abs(columns[-1] - 212) <= 2  # nine tenths, in the middle
