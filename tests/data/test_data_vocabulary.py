"""Vocabularies of words and of pieces of words: round trips and mistakes."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqcourse import data
from seqcourse.errors import CourseError

TOKENS = st.lists(st.text(min_size=1, max_size=6).filter(lambda t: t not in data.SPECIALS))
SENTENCES = [
    "we are eating bread",
    "we are eating apples",
    "they are reading books",
    "don't eat the bread!",
]


@given(TOKENS.filter(bool))
def test_decoding_gives_back_what_was_encoded(tokens):
    vocabulary = data.Vocabulary.build([tokens])
    assert vocabulary.decode(vocabulary.encode(tokens, sos=True)) == tokens
    assert len(vocabulary) == 4 + len(set(tokens))
    assert all(token in vocabulary for token in tokens)


def test_special_ids_and_the_switches_of_encode():
    vocabulary = data.Vocabulary.build([["b", "b", "a"]])
    assert [vocabulary.id(special) for special in data.SPECIALS] == [0, 1, 2, 3]
    assert (data.PAD, data.SOS, data.EOS, data.UNK) == (0, 1, 2, 3)
    assert vocabulary.encode(["b", "zebra", "a"]) == [4, 3, 5, 2]
    assert vocabulary.encode(["a"], sos=True) == [1, 5, 2]
    assert vocabulary.encode(["a"], eos=False) == [5]
    assert vocabulary.decode([1, 4, 0, 5, 2, 4]) == ["b", "a"]  # stops at <eos>
    assert vocabulary.decode([3, 4]) == ["<unk>", "b"]


def test_the_most_frequent_come_first_and_ties_go_by_the_alphabet():
    texts = [["c", "b", "b"], ["a", "c", "d"]]
    assert data.Vocabulary.build(texts).tokens[4:] == ("b", "c", "a", "d")
    assert data.Vocabulary.build(texts, min_count=2).tokens[4:] == ("b", "c")
    assert data.Vocabulary.build(texts, max_size=5).tokens[4:] == ("b",)
    assert data.Vocabulary.build(reversed(texts)) == data.Vocabulary.build(texts)


@pytest.mark.parametrize("name", ["words.json", "words.json.gz"])
@example(["a\u2028b", "\x85", "\x0b", "c\nd", "\r"])  # they end lines in some eyes
@given(TOKENS.filter(bool))
def test_a_saved_vocabulary_is_the_same_when_loaded(tmp_path_factory, name, tokens):
    path = tmp_path_factory.mktemp("vocabulary") / name
    vocabulary = data.Vocabulary.build([tokens])
    vocabulary.save(path)
    assert data.Vocabulary.load(path) == vocabulary


def test_mistakes_with_word_vocabularies_get_sentences(tmp_path):
    with pytest.raises(CourseError, match="would be empty.*min_count=1"):
        data.Vocabulary.build([])
    with pytest.raises(CourseError, match="would be empty: 1 different.*min_count=9"):
        data.Vocabulary.build([["a"]], min_count=9)
    with pytest.raises(CourseError, match="'a' appears more often"):
        data.Vocabulary(["a", "b", "a"])
    with pytest.raises(CourseError, match="special tokens are added .* tokens\\[4:\\]"):
        data.Vocabulary(data.Vocabulary(["a"]).tokens)
    vocabulary = data.Vocabulary(["a"])
    with pytest.raises(CourseError, match="expects a list of tokens, but got the text 'a b'"):
        vocabulary.encode("a b")
    with pytest.raises(CourseError, match="id 5 is not in this vocabulary.*0 to 4"):
        vocabulary.decode([4, 5])
    path = tmp_path / "v.json"
    with pytest.raises(CourseError, match="but there is none"):
        data.Vocabulary.load(path)
    path.write_text('{\n"kind": "words"', encoding="utf-8")
    with pytest.raises(CourseError, match="line 2: expected a vocabulary in JSON"):
        data.Vocabulary.load(path)
    for wrong in ([], {"kind": "words"}, {"kind": "words", "tokens": [1]}):
        path.write_text(json.dumps(wrong), encoding="utf-8")
        with pytest.raises(CourseError, match="expected a word vocabulary"):
            data.Vocabulary.load(path)


@pytest.fixture(scope="module")
def subwords():
    return data.SubwordVocabulary.train(SENTENCES * 5, size=45)


@given(st.lists(st.text(alphabet="weartingbdp !'", max_size=12)).map(" ".join))
def test_subwords_spell_any_word_made_of_known_letters(subwords, text):
    text = " ".join(text.split())
    pieces = subwords.tokenize(text)
    assert subwords.decode(subwords.encode(pieces)) == pieces
    assert subwords.detokenize(pieces) == text


def test_subwords_join_frequent_letters_and_obey_the_size(subwords):
    assert len(subwords) == 45
    assert subwords.tokens[:4] == data.SPECIALS
    assert len(subwords.tokenize("eating bread")) < len("eating bread") / 2
    assert subwords.encode("eating", sos=True)[0] == data.SOS
    assert subwords.encode("eating")[-1] == data.EOS
    assert subwords.encode("eating", eos=False)[-1] not in (data.EOS, data.UNK)
    assert data.UNK in subwords.encode("ñ")


def test_subwords_are_the_same_every_time_and_after_saving(subwords, tmp_path):
    assert data.SubwordVocabulary.train(SENTENCES * 5, size=45).tokens == subwords.tokens
    subwords.save(tmp_path / "s.json")
    loaded = data.SubwordVocabulary.load(tmp_path / "s.json")
    for text in [*SENTENCES, "Eating, <eos> bread"]:
        assert loaded.encode(text) == subwords.encode(text)


def test_a_special_written_in_a_text_is_only_text(subwords):
    assert data.EOS not in subwords.encode("eat <eos> bread", eos=False)


def test_mistakes_with_subword_vocabularies_get_sentences(tmp_path):
    with pytest.raises(CourseError, match="expected at least one text"):
        data.SubwordVocabulary.train([" "], size=10)
    with pytest.raises(CourseError, match="of 6 entries is too small.*Ask for at least 9"):
        data.SubwordVocabulary.train(["abcd"], size=6)
    assert len(data.SubwordVocabulary.train(["abcd"], size=9)) == 9
    words = tmp_path / "words.json"
    data.Vocabulary(["a"]).save(words)
    with pytest.raises(CourseError, match="expected a subword vocabulary"):
        data.SubwordVocabulary.load(words)
    with pytest.raises(CourseError, match="but there is none"):
        data.SubwordVocabulary.load(tmp_path / "nothing.json")
