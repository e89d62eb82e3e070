"""Tokenising: real sentences of three languages, and round trips."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqcourse import data

SENTENCES = [
    ("We are eating bread.", "we are eating bread ."),
    ("I don't know Tom's dog.", "i don't know tom's dog ."),
    ("It's 2:30 p.m., isn't it?", "it's 2:30 p.m. , isn't it ?"),
    ("It costs $1,000!", "it costs $ 1,000 !"),
    ("He said, “Wait…”", 'he said , " wait ... "'),
    ("¿Qué?", "¿ qué ?"),
    ("¡Ojalá llueva café!", "¡ ojalá llueva café !"),
    ("Los niños están comiendo pan.", "los niños están comiendo pan ."),
    ("l'homme", "l' homme"),
    ("L’homme d’aujourd’hui", "l' homme d' aujourd'hui"),
    ("aujourd'hui", "aujourd'hui"),
    ("Qu'est-ce qu'il y a ?", "qu' est -ce qu' il y a ?"),
    ("Y a-t-il quelqu'un ?", "y a -t-il quelqu'un ?"),
    ("Dites-le-moi !", "dites -le -moi !"),
    ("J'ai un rendez-vous là-bas.", "j' ai un rendez-vous là-bas ."),
    ("« Où va-t-elle ? »", "« où va -t-elle ? »"),
    ("C'mon, y'all!", "c'mon , y'all !"),
]


@pytest.mark.parametrize(("sentence", "tokens"), SENTENCES)
def test_real_sentences_become_these_tokens(sentence, tokens):
    assert data.tokenize(sentence) == tokens.split()


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("¿qué te pasa, tom?", "es"),
        ("i don't know (yet).", "en"),
        ('he said, "wait!" and left.', "en"),
        ("qu'est-ce qu'il y a ?", "fr"),
        ("l'homme d'aujourd'hui parle : « dites-le-moi ! »", "fr"),
    ],
)
def test_detokenize_gives_back_the_spelling_people_use(sentence, language):
    assert data.detokenize(data.tokenize(sentence), language=language) == sentence


def test_a_decomposed_accent_is_the_same_as_a_composed_one():
    composed = "¿Dónde está el señor Núñez?"
    assert data.tokenize(unicodedata.normalize("NFD", composed)) == data.tokenize(composed)


@pytest.mark.parametrize("languages", ["en-es", "en-fr"])
def test_every_sentence_of_the_cut_survives_the_round_trip(languages):
    for pair in data.load_pairs(languages, "test"):
        for text, language in ((pair.source, "en"), (pair.target, languages[3:])):
            tokens = data.tokenize(text)
            assert data.tokenize(data.detokenize(tokens, language)) == tokens, text


@given(st.text())
def test_no_letter_is_lost_and_no_token_is_empty_or_holds_space(text):
    tokens = data.tokenize(text)
    assert all(token and not any(map(str.isspace, token)) for token in tokens)
    lowered = unicodedata.normalize("NFC", data.clean(text).lower())
    assert "".join(tokens) == "".join(lowered.split())


WORDS = st.sampled_from(["pan", "ça", "niño", "don't", "l'homme", "avez-vous", "3", "là-bas", "œuf"])
ENDS = st.sampled_from([".", "?", "!", "...", ", pan.", ""])


@given(st.lists(WORDS, min_size=1), ENDS, st.booleans())
def test_tokens_come_back_after_joining(words, end, spanish):
    sentence = ("¿" if spanish else "") + " ".join(words) + end
    tokens = data.tokenize(sentence)
    assert data.detokenize(tokens) == sentence
    assert data.tokenize(data.detokenize(tokens)) == tokens


def test_punctuation_is_not_counted_as_words():
    assert data.count_words(data.tokenize("¿Qué, 3 panes?")) == 3
