"""How long a chapter takes to read, alone and with its code: for the book's first page.

``python -m seqcourse.cli.reading`` counts again and writes the times into ``book/index.md``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from seqcourse.cli.root import find_root

WORDS_A_MINUTE = 130  # of technical prose, its figures looked at on the way
LINES_A_MINUTE = 8  # of code, read with understanding
WORDS_OF_A_FORMULA = 30  # a displayed formula takes as long as so many words
STEP = 5  # minutes: nobody reads more exactly than that

_FOLDED = re.compile(  # answers and asides that open with a click
    r"^( *):::\{admonition\}[^\n]*\n\1:class:[^\n]*dropdown.*?^\1:::$"
    r"|^( *)```\{dropdown\}.*?^\2```$",
    re.M | re.S,
)
_DISPLAYED = re.compile(r"\$\$.*?\$\$", re.S)
_INLINE = re.compile(r"\$[^$\n]+\$")
_MARKS = re.compile(r"^(?::::|```).*$|^:[\w-]+:.*$|<a [^>]*></a>|\]\([^)]*\)", re.M)
_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_LINK = re.compile(r"^:link: ((\d\d)_\w+)$")
_CARD = re.compile(r"^\*\d+ minutes to read, \d+ with the code\.\*$")
_RANGE = re.compile(r"A chapter takes \d+ to \d+ minutes[^.]*\.")


class Times(NamedTuple):
    """Minutes: of the prose, and of the prose with the code that is not folded."""

    prose: int
    with_code: int


def words(text: str) -> int:
    """How many words a text takes as long as; a formula in a line counts as one, and what is
    folded does not count."""
    text = _FOLDED.sub(" ", text)
    formulas = len(_DISPLAYED.findall(text))
    text = _MARKS.sub(" ", _INLINE.sub(" x ", _DISPLAYED.sub(" ", text)))
    return len(_WORD.findall(text)) + WORDS_OF_A_FORMULA * formulas


def count(notebook: dict) -> tuple[int, int]:
    """A notebook's words, captions included, and its lines of code that are neither folded nor empty."""
    prose = code = 0
    for cell in notebook["cells"]:
        text, data = "".join(cell["source"]), cell["metadata"]
        if cell["cell_type"] == "markdown":
            prose += words(text)
            continue
        if not {"hide-input", "remove-input"} & set(data.get("tags", ())):
            code += sum(bool(line.strip()) for line in text.splitlines())
    return prose, code


def times(pages: list[Path]) -> Times:
    """How long the notebooks of one chapter take together."""
    counts = [count(json.loads(page.read_text(encoding="utf-8"))) for page in pages]
    prose = sum(w for w, _ in counts) / WORDS_A_MINUTE
    code = sum(lines for _, lines in counts) / LINES_A_MINUTE
    return Times(_rounded(prose), _rounded(prose + code))


def chapters(book: Path) -> dict[str, Times]:
    """The times of all chapters, by number: "05" takes in "05b"."""
    pages: dict[str, list[Path]] = {}
    for page in sorted(book.glob("[0-9][0-9]*_*.ipynb")):
        pages.setdefault(page.name[:2], []).append(page)
    return {number: times(found) for number, found in pages.items()}


def with_times(index: str, found: dict[str, Times]) -> str:
    """The first page with a line of times at the end of each chapter's card, and the range of all."""
    made: list[str] = []
    number = ""
    for line in index.splitlines():
        if match := _LINK.match(line):
            number = match[2]
        if _CARD.match(line):
            made.pop()  # the empty line before it
            continue
        if number and line == ":::":
            prose, with_code = found[number]
            made += ["", f"*{prose} minutes to read, {with_code} with the code.*"]
            number = ""
        made.append(line)
    prose, with_code = zip(*found.values(), strict=True)
    said = (
        f"A chapter takes {min(prose)} to {max(prose)} minutes to read, "
        f"{min(with_code)} to {max(with_code)} with the code."
    )
    return _RANGE.sub(said, "\n".join(made) + "\n")


def _rounded(minutes: float) -> int:
    return max(STEP, STEP * round(minutes / STEP))


def main() -> None:
    """Write the times into the first page."""
    book = find_root() / "book"
    index = book / "index.md"
    text = with_times(index.read_text(encoding="utf-8"), chapters(book))
    index.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
