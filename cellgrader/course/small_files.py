"""What is kept of a submission besides its notebook: two small files that nbgrader writes.

Everything else stays in submitted/: in autograded/ and feedback/, an instructor's kernel could import a
student's torch.py, sitecustomize.py or nbgrader_config.py. Data files come from the assignment itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from cellgrader import bounds
from cellgrader.class_settings import find_zone
from cellgrader.notebook.parse import NotGradable, plain_text, read_bytes

# A student's appeals; no part of the work, see ``appeals``.
APPEAL = "appeal.md"
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
# `seqcourse collect` puts this file beside work that a learning platform calls late.
MARK = "late.txt"
MARKED = "Late according to the learning platform, which does not say by how much"

# What a time looks like, in a sentence.
A_TIME = (
    "2026-11-20 18:03:00 Europe/Berlin, 2026-11-20 18:03:00 +01:00 or 2026-11-20 17:03:00 UTC (the zone "
    "by its name or in hours: abbreviations such as CET or EST mean different zones)"
)
_TIME = re.compile(
    r"(?P<clock>[12]\d{3}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)"
    r"(?: ?(?:(?P<offset>[+-]\d\d:?\d\d)|(?P<zone>[A-Za-z].*)))?",
    re.ASCII,
)
_SECRET = re.compile(r"[\w-]+", re.ASCII)


def time(content: bytes, zone: tzinfo = UTC) -> datetime | None:
    """The time in a timestamp.txt, in UTC without its zone, as nbgrader keeps it; None if it is not one.

    Of an hour that the clock shows twice, it is the first.

    Args:
        zone: the class's zone, for a time that names none.
    """
    fits = _TIME.fullmatch(plain_text(content).strip()) if len(content) <= bounds.TIME else None
    if fits is None:
        return None
    known = find_zone(fits["zone"]) if fits["zone"] else zone
    with suppress(ValueError, OverflowError):  # month 13
        clock = datetime.fromisoformat(fits["clock"] + (fits["offset"] or ""))
        if clock.tzinfo is None and known is not None:
            clock = min(clock.replace(tzinfo=known, fold=fold).astimezone(UTC) for fold in (0, 1))
        if clock.tzinfo is not None:
            return clock.astimezone(UTC).replace(tzinfo=None)
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
                # nbgrader reads it as UTF-8.
                found[name] = plain_text(content).encode()
    return found
