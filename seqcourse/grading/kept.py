"""What is kept of a submission besides its notebook: two small files that nbgrader writes.

Everything else stays in submitted/: in autograded/ and feedback/, an instructor's kernel could import a
student's torch.py, sitecustomize.py or nbgrader_config.py. Data files come from the assignment itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from seqcourse import bounds
from seqcourse.grading.parse import NotGradable, read_bytes

# A student's appeals; no part of the work, see ``appeals``.
APPEAL = "appeal.md"
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
# `seqcourse collect` puts this file beside work that a learning platform calls late.
MARK = "late.txt"
MARKED = "Late according to the learning platform, which does not say by how much"

# A zone is a name or an offset. The names of nested folders have no dots, so they stay among the zones.
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
    r"(?: ?(?:[+-]\d\d:?\d\d|[A-Za-z]\w{0,30}(?:[/+-]\w{1,30}){0,3}))?",
    re.ASCII,
)
_SECRET = re.compile(r"[\w-]+", re.ASCII)


def time(content: bytes) -> datetime | None:
    """The time in a timestamp.txt, in UTC; None if it is not a time."""
    from nbgrader.utils import parse_utc

    text = content[: bounds.TIME + 1].decode("latin-1").strip()
    if len(content) > bounds.TIME or not _TIME.fullmatch(text):
        return None
    with suppress(ValueError, OverflowError, OSError):  # month 13, a zone that is a folder
        # nbgrader takes "+0100" after a space for 100 seconds, and without it for an hour.
        return parse_utc(re.sub(" (?=[+-])", "", text))
    return None


def _is_secret(content: bytes) -> bool:
    return bool(_SECRET.fullmatch(content.decode("latin-1").strip()))


# File name -> whether this content is what nbgrader writes. Fetching feedback needs both files.
NEEDED: dict[str, Callable[[bytes], object]] = {TIMESTAMP: time, SECRET: _is_secret}


def kept(folder: Path) -> dict[str, bytes]:
    """The files of a submission to keep, with their content."""
    found = {}
    for name, is_fine in NEEDED.items():
        with suppress(NotGradable):  # missing, a link, a pipe, too large
            content = read_bytes(folder / name, bounds.TIME if name == TIMESTAMP else bounds.SECRET)
            if is_fine(content):
                found[name] = content
    return found
