"""One cleaner for text that a student wrote: names of files, folders and error types, messages.

Escape codes, line breaks and marks that reverse the direction of writing would change what a terminal,
a table or a page shows of others.
"""

from __future__ import annotations

# Letters of several scripts are joined or kept apart by these.
JOINERS = "\u200c\u200d"
# Python does not count these spaces as printable.
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
SPACES += "\u3000"


def printable(text: str, most: int | None = None) -> str:
    """The text on one line, with "?" for what cannot be printed.

    Args:
        most: the most characters; a longer text ends in "...".
    """
    if not text.isprintable():
        text = "".join(
            letter if letter.isprintable() or letter in JOINERS else " " if letter in SPACES else "?"
            for letter in text
        )
    return text if most is None or len(text) <= most else f"{text[: most - 3]}..."
