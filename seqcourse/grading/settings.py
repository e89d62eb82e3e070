"""The settings of a class: ``course.toml``, and ``course.local.toml`` beside it, which git ignores.

A setting in the local file overrides the one in the shared file; a setting in neither has its default.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seqcourse.errors import CourseError

FILES = ("course.toml", "course.local.toml")


@dataclass(frozen=True)
class Key:
    """A setting: its default, whose type a value must have, the values that fit, and those in words."""

    default: str | int | float | bool
    fits: Callable[..., bool]
    words: str


def _share(value: float) -> bool:
    return 0 <= value <= 1


KEYS = {
    "name": Key(
        "seqcourse",
        lambda text: bool(re.fullmatch(r"\w[\w.-]*", text)),
        "a word of letters, digits, '.', '_' and '-', such as \"sequences-2026\"",
    ),
    "book": Key(
        "",
        lambda text: not text or text.startswith(("https://", "http://")),
        'the address of your rendered book, such as "https://example.org/course/", or ""',
    ),
    "gradebook": Key("", lambda text: True, 'an address such as "postgresql://user@host/db", or ""'),
    "timeout": Key(120, lambda seconds: seconds >= 1, "a whole number of seconds, 1 or more"),
    "attempts": Key(0, lambda count: count >= 0, "a whole number, or 0 for any number of attempts"),
    "assistants": Key(
        "tutor", lambda word: word in ("allowed", "tutor", "off"), '"allowed", "tutor" or "off"'
    ),
    "leaderboard.names": Key(False, lambda shown: True, "true or false"),
    "leaderboard.sentences": Key(
        "", lambda text: True, 'the path of a file of your own, such as "../hidden.tsv", or ""'
    ),
    "late.grace_minutes": Key(15.0, lambda minutes: minutes >= 0, "a number of minutes, 0 or more"),
    "late.share_per_day": Key(0.0, _share, "a share between 0 and 1 (0.1 is a tenth)"),
    "late.floor": Key(0.5, _share, "a share between 0 and 1 (0.5 is half)"),
}


@dataclass(frozen=True)
class Settings:
    """The settings that hold, and for each one that a file sets, which file and line."""

    values: dict[str, str | int | float | bool]
    sources: dict[str, str]

    def __getitem__(self, key: str) -> str | int | float | bool:
        return self.values[key]


def read_settings(root: Path) -> Settings:
    """Read the settings of the course in ``root``.

    Raises:
        CourseError: a file cannot be read, or has an unknown setting or a wrong value; says the line.
    """
    values = {key: entry.default for key, entry in KEYS.items()}
    sources = {}
    for file in FILES:
        try:
            text = (root / file).read_text(encoding="utf-8")
            content = tomllib.loads(text)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # TOML's errors say the line
            raise CourseError(
                f"{file} should hold settings as TOML, but cannot be read: {error}"
            ) from None
        for key, value in _flat(content):
            where = f"{file}, line {_line(text, key)}"
            values[key] = _checked(key, value, where)
            sources[key] = where
    return Settings(values, sources)


def _flat(content: dict, before: str = "") -> Iterator[tuple[str, object]]:
    """The settings of a table and the tables in it: ("late.floor", 0.5)."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _checked(key: str, value: object, where: str) -> str | int | float | bool:
    """The value as its setting has it, or CourseError."""
    entry = KEYS.get(key)
    if entry is None:
        raise CourseError(f"{where}: {key!r} is not a setting. The settings are {', '.join(KEYS)}.")
    kind = type(entry.default)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or not entry.fits(value):
        raise CourseError(f"{where}: {key} should be {entry.words}, but is {value!r}.")
    return value


def _line(text: str, key: str) -> int:
    """The number of the line that sets a key. TOML's reader does not say it."""
    table, name = "", key.rpartition(".")[2]
    found = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        if header:
            table = f"{header[1]}."
        elif f"{table}{line.partition('=')[0].strip()}" == key:
            return number
        elif not found and re.search(rf"\b{re.escape(name)}\b\s*=", line):
            found = number  # a table within a line
    return found
