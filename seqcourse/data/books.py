"""Books in the public domain, for language models."""

from __future__ import annotations

from functools import lru_cache

from seqcourse.data.readers import FILES, read_lines
from seqcourse.errors import CourseError

BOOKS = {
    "alice": "Alice's Adventures in Wonderland, Lewis Carroll, 1865",
    "bryant": "Stories to Tell to Children, Sara Cone Bryant, 1918",
    "burgess": "The Adventures of Buster Bear, Thornton W. Burgess, 1920",
    "edgeworth": "The Parent's Assistant, Maria Edgeworth, first edition 1796",
}
CHILDREN = tuple(BOOKS)
_PLACES = {
    "alice": "alice/alice.txt",
    **{name: f"children/{name}.txt.gz" for name in BOOKS if name != "alice"},
}
BOOK_SPLITS = {"train": (0.0, 0.9), "valid": (0.9, 0.95), "test": (0.95, 1.0)}


def load_book(name: str = "alice") -> str:
    """The whole text of a book, with empty lines between paragraphs.

    Raises:
        CourseError: there is no such book, or its file is missing.
    """
    if name not in BOOKS:
        names = ", ".join(f"{key!r} ({title})" for key, title in BOOKS.items())
        raise CourseError(f"There is no book {name!r}; expected one of: {names}.")
    return _read(name)


@lru_cache(maxsize=len(BOOKS))
def _read(name: str) -> str:
    path = FILES / _PLACES[name]
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        f"`python -m seqcourse.data.build {path.parent.name} --source FOLDER`."
    )
    return "".join(f"{line}\n" for _, line in read_lines(path, how))


def load_books(split: str | None = None) -> dict[str, str]:
    """The four children's books, or the same part of each: name -> text.

    The parts are cut between paragraphs: "train" is the first 90 % of each book, "valid" the next 5 %,
    "test" the last 5 %. So the held-out parts continue a story or tell another one.

    Args:
        split: "train", "valid" or "test"; None for whole books.

    Raises:
        CourseError: there is no such split, or a file is missing.
    """
    books = {name: load_book(name) for name in CHILDREN}
    if split is None:
        return books
    if split not in BOOK_SPLITS:
        raise CourseError(f"A split should be one of {', '.join(BOOK_SPLITS)}, but it is {split!r}.")
    begin, end = BOOK_SPLITS[split]
    return {name: text[_cut(text, begin) : _cut(text, end)] for name, text in books.items()}


def _cut(text: str, share: float) -> int:
    """The index of the first paragraph that begins after this share of a text."""
    at = text.find("\n\n", int(share * len(text)))
    return len(text) if at < 0 or share == 1 else at + 2 if share else 0


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a book, including headings, each on one line."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
