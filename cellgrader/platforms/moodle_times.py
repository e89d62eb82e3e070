"""When work came to Moodle: the dates of its grading worksheet, in four languages."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

# The months in English, German, French and Spanish, each as "January".
MONTHS = [
    set(names.split())
    for names in (
        "january januar janvier enero",
        "february februar février febrero",
        "march märz mars marzo",
        "april avril abril",
        "may mai mayo",
        "june juni juin junio",
        "july juli juillet julio",
        "august août agosto",
        "september septembre septiembre",
        "october oktober octobre octubre",
        "november novembre noviembre",
        "december dezember décembre diciembre",
    )
]
CLOCK = re.compile(r"\b(\d{1,2})\s?[:h.]\s?(\d\d)(?!\d)(?:\s*([ap])\.?\s?m\b)?")
YEAR, DAY = re.compile(r"\b(?:19|20)\d\d\b"), re.compile(r"\b\d{1,2}\b")
# What the column Status adds to work that came late.
LATE = re.compile(r"\blate\b|\bzu spät\b|\bverspätet\b|\ben retard\b|\bde retraso\b|\bdespués\b")


def read_time(cell: str) -> datetime | None:
    """The time in a cell such as "Monday, 5 October 2026, 6:03 PM"; None if it is not one.

    A date in numbers only is none: 5/10 is the tenth of May or the fifth of October.
    """
    text = _small(cell)
    clock, year = CLOCK.search(text), YEAR.search(text)
    words = set(re.findall(r"[^\W\d_]+", text))
    months = [number for number, names in enumerate(MONTHS, start=1) if names & words]
    if clock is None or year is None or len(months) != 1:
        return None
    rest = YEAR.sub(" ", f"{text[: clock.start()]} {text[clock.end() :]}")
    days = DAY.findall(rest)
    hour = int(clock[1]) if clock[3] is None else int(clock[1]) % 12 + 12 * (clock[3] == "p")
    try:
        (day,) = days
        return datetime(int(year[0]), months[0], int(day), hour, int(clock[2]))
    except ValueError:  # several numbers, or the 31st of June
        return None


def is_late(status: str) -> bool:
    """Whether Moodle says in the column Status that the work came late."""
    return bool(LATE.search(_small(status)))


def _small(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
