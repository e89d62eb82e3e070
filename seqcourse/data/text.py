"""From a sentence to word tokens and back: cleaning, tokenising, detokenising."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Characters that look alike and mean the same, and the one that replaces them.
_SAME = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "´": "'",
        "`": "'",
        "“": '"',
        "”": '"',
        "…": "...",
        "\u00ad": "",  # soft hyphen
        "\u200b": "",  # zero-width space
        "\ufeff": "",  # byte-order mark
    }
)

_TOKEN = re.compile(
    r"""
    (?:[^\W\d_]\.){2,}          # p.m.   u.s.
  | \d+(?:[.,:]\d+)+            # 2:30   1,000
  | \w+(?:['-]\w+)*             # word   don't   aujourd'hui   far-off
  | \.{2,}                      # ...
  | \S                          # any other sign by itself
    """,
    re.VERBOSE,
)

# French: l'homme -> l' homme.  Only before a vowel or h, so that English keeps "c'mon".
_ELISION = re.compile(r"(?:l|d|j|qu|n|s|c|m|t|jusqu|lorsqu|puisqu|quoiqu)'(?=[aeiouyhàâæéèêëîïôœùû])")
# French: avez-vous -> avez -vous, a-t-il -> a -t-il, dites-le-moi -> dites -le -moi.
_CLITIC = re.compile(
    r"(?<=\w)((?:-t)?-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|le|la|les|moi|toi|lui|leur|y|en))$"
)
_WHOLE = frozenset({"rendez-vous"})

_CLOSING = frozenset({".", ",", "!", "?", ";", ":", ")", "]", "}", "%", "»", "...", "°", "‽"})
_OPENING = frozenset({"¿", "¡", "(", "[", "{", "«", "$", "€", "#"})
_SPACED_IN_FRENCH = frozenset({"!", "?", ";", ":", "»"})


def clean(text: str) -> str:
    """The same sentence in one spelling: Unicode NFC, plain quotation marks, single spaces."""
    text = unicodedata.normalize("NFC", text).translate(_SAME)
    return " ".join(text.split())


def tokenize(text: str) -> list[str]:
    """Split a sentence into lower-cased word and punctuation tokens.

    The rules are the same for English, Spanish and French. An apostrophe inside a word stays
    (``don't``, ``aujourd'hui``), a French elision becomes a token of its own (``l'`` ``homme``)
    and so does a French pronoun behind a verb (``avez`` ``-vous``).
    """
    tokens: list[str] = []
    lowered = unicodedata.normalize("NFC", clean(text).lower())
    for piece in _TOKEN.findall(lowered):
        if "'" in piece or "-" in piece:
            tokens.extend(_split_french(piece))
        else:
            tokens.append(piece)
    return tokens


def _split_french(word: str) -> list[str]:
    before: list[str] = []
    after: list[str] = []
    while match := _ELISION.match(word):
        before.append(match.group())
        word = word[match.end() :]
    while word not in _WHOLE and (match := _CLITIC.search(word)):
        after.insert(0, match.group())
        word = word[: match.start()]
    return [*before, word, *after]


def is_word(token: str) -> bool:
    """True if the token holds a letter or a digit; False for punctuation."""
    return any(character.isalnum() for character in token)


def count_words(tokens: Sequence[str]) -> int:
    """How many of the tokens are words (punctuation does not count)."""
    return sum(map(is_word, tokens))


def detokenize(tokens: Sequence[str], language: str | None = None) -> str:
    """Join tokens into a readable sentence; case is not restored.

    Args:
        tokens: word and punctuation tokens as :func:`tokenize` makes them.
        language: "fr" sets the space that French puts before ``!``, ``?``, ``:`` and ``;``.
    """
    text = ""
    glued = True  # nothing between the text so far and the next token
    quote_open = False
    for token in tokens:
        space = " "
        after_glued = False
        if token == '"':
            space = "" if quote_open else " "
            after_glued = not quote_open
            quote_open = not quote_open
        elif token in _CLOSING:
            space = " " if language == "fr" and token in _SPACED_IN_FRENCH else ""
        elif token in _OPENING:
            after_glued = not (language == "fr" and token == "«")
        elif len(token) > 1 and token.startswith("-"):
            space = ""
        elif len(token) > 1 and token.endswith("'"):
            after_glued = True
        text += token if glued or not text else space + token
        glued = after_glued
    return text
