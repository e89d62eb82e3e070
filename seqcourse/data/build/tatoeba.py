"""Make the cuts of Tatoeba: sentence pairs for English to Spanish and English to French."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.pairs import (
    LANGUAGES,
    LONG_WORDS,
    PAIR_SPLITS,
    TatoebaRow,
    read_tatoeba,
    sentence_key,
)
from seqcourse.data.readers import FILES, pack
from seqcourse.data.splits import fraction_of

MAX_WORDS = 10  # English words in a sentence of train, valid and test
MIN_COUNT = 5  # how often every word of the cut is seen in its train split
MAX_TRAIN = 75_000
MAX_LONG = 1_000
TATOEBA_FILES = {"en-es": "eng-spa.tsv.gz", "en-fr": "eng-fra.tsv.gz"}
COLUMNS = "English, translation, English id, its contributor, translation id, its contributor"
CRUDE_ROWS = "left out (seqcourse/data/crude.py)"

ATTRIBUTION = """\
The sentences in this folder come from Tatoeba (https://tatoeba.org), written and translated by
its contributors, as collected in the sentence-pair exports of https://www.manythings.org/anki.
They are licensed under the Creative Commons Attribution 2.0 France licence (CC BY 2.0 FR):
https://creativecommons.org/licenses/by/2.0/fr/

Every line of a .tsv.gz file names its authors in the last four columns: the number of the
English sentence, its contributor, the number of the translation, its contributor. The page of a
sentence is https://tatoeba.org/sentences/show/NUMBER. (Where the export credits nobody, the
columns are empty.)

Changes: a selection was made and the spelling of quotation marks and spaces was unified, as
source.json and seqcourse/data/build/tatoeba.py say.
"""


def cut_tatoeba(
    rows: Iterable[TatoebaRow], max_train: int = MAX_TRAIN, min_count: int = MIN_COUNT
) -> dict[str, list[TatoebaRow]]:
    """Choose the rows of every split.

    Keep short sentences only. Drop rows with rare words until every word on either side occurs at
    least ``min_count`` times in train. If more than ``max_train`` train rows are left, drop English
    sentences by their hash, then again the rows whose words have become rare.
    """
    rows = list(rows)
    short = _drop_rare([row for row in rows if row.words <= MAX_WORDS], min_count)
    if sum(row.split == "train" for row in short) > max_train:
        short = _drop_rare(_thin(short, max_train), min_count)
    known = _frequent(short, min_count)
    cut = {split: [row for row in short if row.split == split] for split in PAIR_SPLITS[:3]}
    low, high = LONG_WORDS
    long = [
        row
        for row in rows
        if low <= row.words <= high and row.split != "train" and _is_known(row, known)
    ]
    cut["long"] = _first_by_hash(long, MAX_LONG)
    return cut


def cut_beyond(
    rows: Iterable[TatoebaRow], cut: dict[str, list[TatoebaRow]]
) -> dict[str, list[TatoebaRow]]:
    """What the cut leaves out, for models with subwords: "rest" for training, "any" held out.

    "rest" contains no English sentence that is held out anywhere.
    """
    held_out = {row.english_tokens for split in ("valid", "test", "long") for row in cut[split]}
    kept = set(cut["train"])
    rows = [row for row in rows if row.english_tokens not in held_out and row not in kept]
    rest = [row for row in rows if row.split == "train"]
    unseen = [row for row in rows if row.split == "test"]
    return {"rest": rest, "any": _first_by_hash(unseen, MAX_LONG)}


def _drop_rare(rows: list[TatoebaRow], min_count: int) -> list[TatoebaRow]:
    while True:
        known = _frequent(rows, min_count)
        kept = [row for row in rows if _is_known(row, known)]
        if len(kept) == len(rows):
            return kept
        rows = kept


def _frequent(rows: Iterable[TatoebaRow], min_count: int) -> tuple[set[str], set[str]]:
    english: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for row in rows:
        if row.split == "train":
            english.update(row.english_tokens)
            other.update(row.other_tokens)
    return (
        {token for token, count in english.items() if count >= min_count},
        {token for token, count in other.items() if count >= min_count},
    )


def _is_known(row: TatoebaRow, known: tuple[set[str], set[str]]) -> bool:
    return known[0].issuperset(row.english_tokens) and known[1].issuperset(row.other_tokens)


def _order(row: TatoebaRow) -> float:
    return fraction_of(sentence_key(row.english_tokens), salt="thin")


def _thin(rows: list[TatoebaRow], max_train: int) -> list[TatoebaRow]:
    """Keep the English sentences with the lowest hash, in every split the same share."""
    limit = sorted(_order(row) for row in rows if row.split == "train")[max_train]
    return [row for row in rows if _order(row) < limit]


def _first_by_hash(rows: list[TatoebaRow], count: int) -> list[TatoebaRow]:
    """Keep the rows of the first ``count`` English sentences in the order of their hash."""
    keys = sorted({(_order(row), sentence_key(row.english_tokens)) for row in rows})
    kept = {key for _, key in keys[:count]}
    return [row for row in rows if sentence_key(row.english_tokens) in kept]


def build(source: Path, target: Path = FILES) -> None:
    """Write ``tatoeba-en-es``, ``tatoeba-en-es-beyond`` and ``tatoeba-en-fr`` under ``target``."""
    rows = {
        languages: list(read_tatoeba(source / name, LANGUAGES[languages]))
        for languages, name in TATOEBA_FILES.items()
    }
    cuts = {languages: cut_tatoeba(found) for languages, found in rows.items()}
    beyond = cut_beyond(rows["en-es"], cuts["en-es"])
    # Everything is read and cut before the first file is written.
    rules = {
        "rows": "those that tatoeba-en-es leaves out: longer than 10 English words, or a rare word",
        "rest": "English sentences whose hash says train",
        "any": f"English sentences whose hash says test, the first {MAX_LONG} by another hash",
        "crude_rows": CRUDE_ROWS,
    }
    path = source / TATOEBA_FILES["en-es"]
    _write(target / "tatoeba-en-es-beyond", path, beyond, {"filter": rules})
    for languages, cut in cuts.items():
        rules = {
            "english_words_at_most": MAX_WORDS,
            "every_word_in_train_at_least": MIN_COUNT,
            "train_rows_at_most": MAX_TRAIN,
            "long_english_words": list(LONG_WORDS),
            "long_sentences_at_most": MAX_LONG,
            "crude_rows": CRUDE_ROWS,
            "split": "sha256 of the English words, 92 / 3 / 5 % (seqcourse/data/splits.py)",
            "long": "sentences that the hash puts into valid or test",
        }
        words = {
            "English": len({token for row in cut["train"] for token in row.english_tokens}),
            "translation": len({token for row in cut["train"] for token in row.other_tokens}),
        }
        selection = {"columns": COLUMNS.split(", "), "filter": rules}
        path = source / TATOEBA_FILES[languages]
        _write(target / f"tatoeba-{languages}", path, cut, selection, {"words": words})


def _write(
    folder: Path,
    path: Path,
    cut: dict[str, list[TatoebaRow]],
    selection: dict[str, Any],
    more: dict[str, Any] | None = None,
) -> None:
    files = {
        f"{split}.tsv.gz": pack("\t".join((row.english, row.other, *row.credit)) for row in rows)
        for split, rows in cut.items()
    }
    note = {
        "package": "nmt 0.0.6 (PyPI, source distribution)",
        "file": path.name,
        "sha256": sha256(path),
        "origin": "manythings.org/anki export of tatoeba.org, 2020-08-23",
        "licence": "CC-BY 2.0 FR, see ATTRIBUTION",
        **selection,
        "counts": {split: _count(rows) for split, rows in cut.items()},
        **(more or {}),
    }
    write_set("tatoeba", folder, {**files, "ATTRIBUTION": ATTRIBUTION}, note)


def _count(rows: Sequence[TatoebaRow]) -> dict[str, int]:
    return {
        "pairs": len(rows),
        "English sentences": len({row.english_tokens for row in rows}),
        "pairs that name Tom": sum("tom" in row.english_tokens for row in rows),
    }
