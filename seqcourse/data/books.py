"""Books in the public domain, for models that write letter by letter."""

from __future__ import annotations

from seqcourse.data.readers import FILES, read_lines
from seqcourse.errors import CourseError

BOOKS = {"alice": "Alice's Adventures in Wonderland, Lewis Carroll, 1865"}


def load_book(name: str = "alice") -> str:
    """The whole text of a book: paragraphs between empty lines, one chapter after the other.

    Raises:
        CourseError: there is no such book, or its file is missing.
    """
    if name not in BOOKS:
        names = ", ".join(f"{key!r} ({title})" for key, title in BOOKS.items())
        raise CourseError(f"There is no book {name!r}; expected one of: {names}.")
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        f"`python -m seqcourse.data.build {name} --source FOLDER`."
    )
    path = FILES / name / f"{name}.txt"
    return "".join(f"{line}\n" for _, line in read_lines(path, how))
