"""Sentence pairs of Tatoeba: the course's cuts, or a full file of your own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from seqcourse.data.crude import is_crude
from seqcourse.data.readers import FILES, read_lines, read_rows
from seqcourse.data.splits import check_split, split_of
from seqcourse.data.text import clean, count_words, is_word, tokenize
from seqcourse.errors import CourseError

LANGUAGES = {"en-es": "es", "en-fr": "fr"}
PAIR_SPLITS = ("train", "valid", "test", "long")
BEYOND_SPLITS = ("rest", "any")  # of English and Spanish only
LONG_WORDS = (11, 16)  # English words in a sentence of the split "long"

_CUT_COLUMNS = "English, translation, two sentence ids and two contributors"
_CREDIT = re.compile(r"#(\d+) \((.*?)\) & #(\d+) \((.*)\)$")


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation, as people wrote them (cleaned, not tokenised).

    ``references`` holds every translation of the source that the split has, in file order;
    ``target`` is one of them (in the held-out splits: the first).
    """

    source: str
    target: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class TatoebaRow:
    """One line of a Tatoeba export after cleaning."""

    english: str
    other: str
    english_tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    credit: tuple[str, str, str, str]  # English id, its contributor, other id, its contributor

    @cached_property
    def words(self) -> int:
        """English words (punctuation does not count)."""
        return count_words(self.english_tokens)

    @cached_property
    def split(self) -> str:
        return split_of(sentence_key(self.english_tokens))


def sentence_key(tokens: Iterable[str]) -> str:
    """The key that decides the split of an English sentence: its words without punctuation."""
    return " ".join(filter(is_word, tokens))


def read_tatoeba(path: Path, language: str) -> Iterator[TatoebaRow]:
    """Yield the usable rows of an export in the manythings.org form (.tsv or .tsv.gz).

    A line is English, TAB, translation, and usually TAB, attribution. Crude rows and duplicates (same
    tokens on both sides) are left out.

    Raises:
        CourseError: the file is missing or not UTF-8, or a line has another format.
    """
    path = Path(path)
    seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    how = (
        "Give the path of a Tatoeba export in the form of manythings.org/anki (unpacked .txt, "
        ".tsv, or .tsv.gz), or leave `path` out to use the cut that comes with the course."
    )
    for number, line in read_lines(path, how):
        fields = line.split("\t")
        if len(fields) not in (2, 3) or not all(field.strip() for field in fields[:2]):
            raise CourseError(
                f"{path}, line {number}: expected English, a tab, its translation and perhaps "
                f"a tab and an attribution, but found {_describe(fields)}. "
                f"Correct or delete the line."
            )
        english, other = clean(fields[0]), clean(fields[1])
        english_tokens, other_tokens = tuple(tokenize(english)), tuple(tokenize(other))
        if not (count_words(english_tokens) and count_words(other_tokens)):
            continue
        if (english_tokens, other_tokens) in seen:
            continue
        if is_crude(english_tokens, "en") or is_crude(other_tokens, language):
            continue
        seen.add((english_tokens, other_tokens))
        credit = _CREDIT.search(fields[2]) if len(fields) == 3 else None
        parts = credit.groups() if credit else ("", "", "", "")
        yield TatoebaRow(english, other, english_tokens, other_tokens, parts)


def _describe(fields: list[str]) -> str:
    if len(fields) in (2, 3):
        return "an empty English sentence" if not fields[0].strip() else "an empty translation"
    return f"{len(fields)} column{'s' * (len(fields) != 1)}"


def load_pairs(languages: str, split: str = "train", path: str | Path | None = None) -> list[Pair]:
    """Load sentence pairs, English first.

    The course's cut holds sentences of at most 10 English words, all of them frequent; "long"
    holds sentences of 11 to 16 words whose hash says valid or test. No English sentence of
    the cut is in two splits. In train every translation is a pair of its own; the other splits
    have every English sentence once, with all its translations as references.

    English and Spanish have two more splits for models without such limits: "rest", the training
    sentences that are too long or too rare for the cut, and "any", held-out sentences of that kind.

    Args:
        languages: "en-es" or "en-fr".
        split: "train", "valid", "test" or "long"; "rest" or "any".
        path: a full Tatoeba file (.tsv, .txt or .tsv.gz in the form of manythings.org/anki)
            to open instead of the course's cut: same cleaning, same splits, no limit on words
            or length.

    Raises:
        CourseError: unknown languages or split; the file is missing or malformed.
    """
    if languages not in LANGUAGES:
        names = " or ".join(repr(name) for name in LANGUAGES)
        raise CourseError(f"There are no sentence pairs for {languages!r}; expected {names}.")
    beyond = languages == "en-es" and path is None
    check_split(split, PAIR_SPLITS + BEYOND_SPLITS * beyond)
    if path is None:
        return list(_load_cut(languages, split))
    rows = list(read_tatoeba(Path(path), LANGUAGES[languages]))
    if not rows:
        raise CourseError(
            f"{path}: expected lines of English, a tab and its translation, but found no usable "
            f"one. Is it the right file?"
        )
    chosen = [(row.english, row.other) for row in rows if _in_split(row, split)]
    return _make_pairs(chosen, split)


def _in_split(row: TatoebaRow, split: str) -> bool:
    if split == "long":
        low, high = LONG_WORDS
        return row.split != "train" and low <= row.words <= high
    return row.split == split


def find_phrase(languages: str, phrase: str) -> list[tuple[str, str]]:
    """The training pairs, "rest" included, whose English has the words of a phrase in a row.

    Case and punctuation do not count: "Good morning." is in "Hi Tom, good morning!".

    Args:
        languages: "en-es" or "en-fr".
        phrase: English words.

    Returns:
        English sentences and their translations.
    """
    words = [re.escape(word) for word in tokenize(phrase) if is_word(word)]
    in_a_row = re.compile(r"(?<![\w'-])" + r"\W+".join(words) + r"(?![\w'-])")
    splits = ("train", "rest") if languages == "en-es" else ("train",)
    return [
        (english, other)
        for split in splits
        for english, other in cut_rows(languages, split)
        if words and in_a_row.search(english.lower())
    ]


@lru_cache(maxsize=8)
def _load_cut(languages: str, split: str) -> tuple[Pair, ...]:
    return tuple(_make_pairs(cut_rows(languages, split), split))


@lru_cache(maxsize=2)
def cut_rows(languages: str, split: str) -> list[tuple[str, str]]:
    """The rows of the course's cut as they stand in the file: English and its translation."""
    beyond = "-beyond" if split in BEYOND_SPLITS else ""
    path = FILES / f"tatoeba-{languages}{beyond}" / f"{split}.tsv.gz"
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        "`python -m seqcourse.data.build tatoeba --source FOLDER`."
    )
    return [(row[0], row[1]) for row in read_rows(path, 6, _CUT_COLUMNS, how)]


def _make_pairs(rows: list[tuple[str, str]], split: str) -> list[Pair]:
    keys = [" ".join(tokenize(english)) for english, _ in rows]
    groups: dict[str, list[tuple[str, str]]] = {}
    for key, row in zip(keys, rows, strict=True):
        groups.setdefault(key, []).append(row)
    references = {
        key: tuple(dict.fromkeys(other for _, other in group)) for key, group in groups.items()
    }
    if split in ("train", "rest"):
        return [
            Pair(english, other, references[key])
            for key, (english, other) in zip(keys, rows, strict=True)
        ]
    return [Pair(group[0][0], references[key][0], references[key]) for key, group in groups.items()]
