"""One cleaner for text that a student wrote: names of files, folders and error types, messages.

Escape codes, line breaks and marks that reverse the direction of writing would change what a terminal,
a table or a page shows of others.
"""

from __future__ import annotations

# Letters of several scripts are joined or kept apart by these.
JOINERS = "\u200c\u200d"


def printable(text: str, most: int | None = None) -> str:
    """The text on one line, with "?" for what cannot be printed.

    Args:
        most: the most characters; a longer text ends in "...".
    """
    if not text.isprintable():
        text = "".join(
            letter if letter.isprintable() or letter in JOINERS else " " if letter.isspace() else "?"
            for letter in text
        )
    return text if most is None or len(text) <= most else f"{text[: most - 3]}..."
