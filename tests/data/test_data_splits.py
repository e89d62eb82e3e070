"""Splits: stable, of the promised size, and never leaking."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqcourse import data
from seqcourse.data.crude import is_crude
from seqcourse.data.pairs import sentence_key
from seqcourse.data.readers import FILES, read_rows
from seqcourse.errors import CourseError
from tests.sizes import nightly_but

ROOT = Path(__file__).resolve().parents[2]


@given(st.text(), st.text(max_size=5))
def test_the_split_is_the_hash_of_the_key_and_nothing_else(key, salt):
    number = int(hashlib.sha256(f"{salt}\n{key}".encode()).hexdigest()[:12], 16) / 16**12
    expected = "test" if number < 0.05 else "valid" if number < 0.08 else "train"
    assert data.split_of(key, salt) == expected
    assert data.split_of(key, salt) == expected  # asked again


@given(st.text(max_size=8))
def test_the_shares_are_92_3_and_5_percent(salt):
    shares = Counter(data.split_of(str(number), salt) for number in range(5_000))
    # six standard deviations of a draw of 5,000
    assert abs(shares["train"] / 5_000 - 0.92) < 0.023
    assert abs(shares["valid"] / 5_000 - 0.03) < 0.0145
    assert abs(shares["test"] / 5_000 - 0.05) < 0.0185


def test_the_salt_makes_another_split():
    keys = [str(number) for number in range(2_000)]
    assert [data.split_of(key, "a") for key in keys] != [data.split_of(key, "b") for key in keys]


def keys_of(languages: str, split: str) -> set[str]:
    return {sentence_key(data.tokenize(pair.source)) for pair in data.load_pairs(languages, split)}


@pytest.mark.parametrize("languages", nightly_but(["en-es"], data.LANGUAGES))
def test_no_english_sentence_stands_in_two_splits(languages):
    keys = {split: keys_of(languages, split) for split in ("train", "valid", "test", "long")}
    assert all(keys.values())
    for one, other in combinations(keys, 2):
        assert not keys[one] & keys[other], (one, other)


def test_what_one_language_trains_on_the_other_does_not_test_on():
    for one, other in (("en-es", "en-fr"), ("en-fr", "en-es")):
        held_out = keys_of(other, "valid") | keys_of(other, "test") | keys_of(other, "long")
        assert not keys_of(one, "train") & held_out


@pytest.mark.parametrize("languages", nightly_but(["en-es"], data.LANGUAGES))
def test_the_cut_keeps_its_promises(languages):
    english, other = Counter(), Counter()
    for pair in data.load_pairs(languages, "train"):
        assert pair.target in pair.references
        tokens = data.tokenize(pair.source)
        assert 1 <= data.count_words(tokens) <= 10
        english.update(tokens)
        other.update(data.tokenize(pair.target))
    assert min(english.values()) >= 5
    assert min(other.values()) >= 5
    for split in ("valid", "test", "long"):
        pairs = data.load_pairs(languages, split)
        assert len({" ".join(data.tokenize(pair.source)) for pair in pairs}) == len(pairs)
        for pair in pairs:
            tokens = data.tokenize(pair.source)
            low, high = (11, 16) if split == "long" else (1, 10)
            assert low <= data.count_words(tokens) <= high
            assert english.keys() >= set(tokens)
            assert pair.target == pair.references[0]
            assert len(set(pair.references)) == len(pair.references)
            for reference in pair.references:
                assert other.keys() >= set(data.tokenize(reference))


@pytest.mark.parametrize("languages", nightly_but(["en-es"], data.LANGUAGES))
@pytest.mark.parametrize("split", ["train", "valid", "test", "long"])
def test_every_row_names_its_authors_and_none_is_crude(languages, split):
    folder = FILES / f"tatoeba-{languages}"
    rows = list(read_rows(folder / f"{split}.tsv.gz", 6, ""))
    for english, other, *credit in rows:
        assert credit[0].isdigit() and credit[2].isdigit() and credit[1] and credit[3]
        assert not is_crude(data.tokenize(english), "en")
        assert not is_crude(data.tokenize(other), data.LANGUAGES[languages])
    note = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert note["counts"][split]["pairs"] == len(rows)
    assert "CC BY 2.0 FR" in (folder / "ATTRIBUTION").read_text(encoding="utf-8")


def test_no_word_of_the_dictionary_stands_in_two_splits():
    words = {split: {item.word for item in data.load_pronunciations(split)} for split in data.SPLITS}
    note = json.loads((FILES / "cmudict" / "source.json").read_text(encoding="utf-8"))
    assert {split: len(found) for split, found in words.items()} == {
        split: note["counts"][split] for split in data.SPLITS
    }
    assert sum(map(len, words.values())) == len(set.union(*words.values())) == 117_493


def test_pronunciations_have_39_phones_without_stress_and_69_with():
    for stress, count in ((False, 39), (True, 69)):
        phones = {
            phone
            for split in data.SPLITS
            for item in data.load_pronunciations(split, stress=stress)
            for spoken in item.phones
            for phone in spoken
        }
        assert len(phones) == count


def test_pronunciations_that_differ_in_stress_alone_become_one():
    with_stress, without = (
        {item.word: item.phones for item in data.load_pronunciations("train", stress=stress)}
        for stress in (True, False)
    )
    assert any(len(with_stress[word]) > len(without[word]) for word in without)
    assert all(len(set(spoken)) == len(spoken) for spoken in without.values())


def test_the_book_is_the_book_and_nothing_else():
    book = data.load_book("alice")
    assert book.startswith("CHAPTER I. Down the Rabbit-Hole\n\nAlice was beginning")
    assert book.endswith("happy summer days.\n")
    assert sum(line.startswith("CHAPTER ") for line in book.splitlines()) == 12
    assert "gutenberg" not in book.lower()


def test_the_files_stay_small_and_every_folder_has_licence_and_source():
    folders = [folder for folder in FILES.iterdir() if folder.is_dir()]
    assert {"alice", "cmudict", "tatoeba-en-es", "tatoeba-en-fr"} <= {f.name for f in folders}
    for folder in folders:
        assert (folder / "LICENSE").exists() or (folder / "ATTRIBUTION").exists()
        assert (folder / "source.json").exists()
    assert sum(path.stat().st_size for path in FILES.rglob("*")) < 16 * 2**20


# What source.json says -> the licence's name in pyproject.toml; the public domain needs none.
NAMED = {
    "CC-BY 2.0 FR": "CC-BY-2.0",
    "CC-BY 4.0": "CC-BY-4.0",
    "CC-BY-SA 3.0": "CC-BY-SA-3.0",
    "CC-BY-SA 4.0": "CC-BY-SA-4.0",
    "BSD-like": "BSD-2-Clause",
    "MIT": "MIT",
    "GPL-2.0-or-later": "GPL-2.0-or-later",
    "of each file its own": "GPL-2.0-or-later",
    "public domain": "",
}


def test_the_packages_licence_names_those_of_all_its_data():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    covered = {*project["license"].split(" AND "), ""}
    listed = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    for folder in FILES.iterdir():
        if folder.is_dir():
            told = json.loads((folder / "source.json").read_text(encoding="utf-8"))["licence"]
            names = {NAMED[words] for words in NAMED if words in told}
            assert names and names <= covered, f"{folder.name}: {told}"
            assert {path for path in folder.iterdir() if path.name.isupper()} <= listed


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: data.load_pairs("en-de"), ["'en-de'", "'en-es'", "'en-fr'"]),
        (lambda: data.load_pairs("en-es", "tset"), ["'tset'", "'test'", "'long'"]),
        (lambda: data.load_pronunciations("dev"), ["'dev'", "'valid'"]),
        (lambda: data.load_book("bible"), ["'bible'", "'alice'"]),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(call, words):
    with pytest.raises(CourseError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_a_language_without_a_list_of_crude_words_is_a_sentence():
    with pytest.raises(CourseError, match="crude.py has no list"):
        is_crude(["käse"], "de")
