"""Words that the dictionary does not list: which they are, and how their file is made."""

import json

import pytest

from seqcourse import CourseError, data
from seqcourse.data.build_unlisted import build_unlisted, read_words
from seqcourse.data.readers import FILES

NOTICE = "free for any purpose\n"


@pytest.fixture
def source(tmp_path):
    """Lists as the packages have them: names with numbers behind, words with all kinds of signs."""
    folder = tmp_path / "source"
    folder.mkdir()
    texts = {
        "dist.all.last": "SMITH 1.006 1.006 1\nKRAICHELY 0.0 90.4 9\n\n",
        "dist.female.first": "AURELISA 0.001 90.0 9\n",
        "dist.male.first": "KRAICHELY 0.001 90.0 9\n",
        "american-english-huge": "".join(f"qu{a}z{b}\n" for a in "abcdefgh" for b in "abcdefgh")
        + "bread\nglough's\nétude\nX\nKraichely\n" + "z" * 21 + "\n",
        "copyright": NOTICE,
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_no_unlisted_word_stands_in_the_dictionary():
    """Not in its held-out splits above all: their readings are never learned from."""
    listed = {e.word for split in data.SPLITS for e in data.load_pronunciations(split)}
    unlisted = data.load_unlisted()
    assert not listed & set(unlisted)
    assert unlisted == sorted(set(unlisted))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in unlisted)


def test_names_and_words_are_all_there_is():
    names, words = data.load_unlisted("name"), data.load_unlisted("word")
    assert sorted(names + words) == data.load_unlisted()
    note = json.loads((FILES / "unlisted" / "source.json").read_text(encoding="utf-8"))
    assert note["counts"] == {"name": len(names), "word": len(words)}
    assert "kraichely" in names and "presumers" in words


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="name, word, or None, but it is 'place'"):
        data.load_unlisted("place")


def test_what_is_a_name_counts_as_a_name_and_other_signs_are_left_out(source):
    found = read_words(source)
    assert found["smith"] == found["kraichely"] == found["aurelisa"] == "name"
    assert found["bread"] == found["quazb"] == "word"
    assert not {"glough's", "glough", "étude", "x", "z" * 21} & set(found)


def test_all_names_and_a_share_of_the_words_are_kept_if_the_dictionary_has_them_not(source, tmp_path):
    for target in ("one", "two"):
        build_unlisted(source, tmp_path / target)
    one, two = ((tmp_path / t / "unlisted" / "words.tsv.gz").read_bytes() for t in ("one", "two"))
    assert one == two
    note = json.loads((tmp_path / "one" / "unlisted" / "source.json").read_text(encoding="utf-8"))
    assert note["counts"]["name"] == 2  # smith is listed
    assert 15 <= note["counts"]["word"] <= 39  # about 42 % of 64
    assert NOTICE in (tmp_path / "one" / "unlisted" / "LICENSE").read_text(encoding="utf-8")


def test_a_missing_list_is_a_sentence_and_nothing_is_written(source, tmp_path):
    (source / "american-english-huge").unlink()
    with pytest.raises(CourseError, match="wamerican-huge"):
        build_unlisted(source, tmp_path / "target")
    assert not (tmp_path / "target").exists()
