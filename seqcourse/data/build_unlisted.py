"""Make the list of words that CMUdict does not have: names of a census, words of a spelling list."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from seqcourse.data.pronunciations import load_pronunciations
from seqcourse.data.readers import FILES, pack, read_lines, write_beside, write_source
from seqcourse.data.splits import SPLITS, fraction_of

SALT = "unlisted"
SHARE = 0.42  # of the spelling list's words, chosen by their hash
_WORD = re.compile(r"[a-z]{2,20}")
_NAME_FILES = ("dist.all.last", "dist.female.first", "dist.male.first")
_WORD_FILE = "american-english-huge"

_ABOUT = """\
Names (kind "name"): first and last names of the census of the United States of 1990, in the
public domain, as packed with names 0.3.0 by Trey Hunner.

Words (kind "word"): a part of the list american-english-huge, made from SCOWL. All of them stand
again in seqcourse/zoo/labels, with the readings that models of this course gave them. What follows
is the whole statement of the list's package. As it asks: the UK Advanced Cryptics Dictionary is
copyright (c) J Ross Beresford 1993-1999, all rights reserved.

"""


def read_words(source: Path) -> dict[str, str]:
    """Words of 2 to 20 letters, none but a to z, with their kind; what is a name is no "word".

    Raises:
        CourseError: if a file is missing or is not UTF-8.
    """
    names = {line.split()[0].lower(): "name" for line in _filled(source, _NAME_FILES, "names 0.3.0")}
    words = {line.strip().lower(): "word" for line in _filled(source, (_WORD_FILE,), "wamerican-huge")}
    return {word: kind for word, kind in (words | names).items() if _WORD.fullmatch(word)}


def _filled(source: Path, files: tuple[str, ...], package: str) -> Iterator[str]:
    """Lines of several files, without empty ones."""
    for name in files:
        for _, line in read_lines(source / name, f"It is in the package {package}."):
            if line.strip():
                yield line


def build_unlisted(source: Path, target: Path = FILES) -> None:
    """Write ``unlisted`` under ``target``: words that no split of CMUdict has, all names, some words."""
    found = read_words(source)
    licence = "".join(f"{line}\n" for _, line in read_lines(source / "copyright"))
    listed = {entry.word for split in SPLITS for entry in load_pronunciations(split)}
    kept = {
        word: kind
        for word, kind in sorted(found.items())
        if word not in listed and (kind == "name" or fraction_of(word, SALT) < SHARE)
    }
    folder = target / "unlisted"
    write_beside(folder / "words.tsv.gz", pack(f"{word}\t{kind}" for word, kind in kept.items()))
    write_beside(folder / "LICENSE", (_ABOUT + licence).encode())
    files = (*_NAME_FILES, _WORD_FILE)
    counts = {kind: list(kept.values()).count(kind) for kind in ("name", "word")}
    note = {
        "package": "names 0.3.0 (PyPI, source distribution); wamerican-huge 2020.12.07-2 (Debian)",
        "file": list(files),
        "sha256": {name: hashlib.sha256((source / name).read_bytes()).hexdigest() for name in files},
        "origin": "census of the United States, 1990; SCOWL by Kevin Atkinson and others",
        "licence": "names: public domain; words: free for any purpose with their notices, see LICENSE",
        "columns": ["word", "kind"],
        "filter": {
            "words": "2 to 20 letters a-z, in lower case; none that CMUdict has, in whatever split",
            "spelling_list": f"{SHARE:.0%} of it, those with the lowest sha256 (salt {SALT!r})",
        },
        "counts": counts,
        "build": "python -m seqcourse.data.build unlisted --source FOLDER",
    }
    write_source(folder, note)
    print(f"{folder.name}: {json.dumps(counts)}")
