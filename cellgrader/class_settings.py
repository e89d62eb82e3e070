"""The settings of a class: ``course.toml``, and ``course.local.toml`` beside it, which git ignores.

The grader reads them, and so does the book: its title, links and addresses.
A setting in the local file overrides the one in the shared file; a setting in neither has its default.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from cellgrader.errors import CourseError
from cellgrader.profile import program, the_course

FILES = ("course.toml", "course.local.toml")
# TOML's own types of a value.
Value = str | int | float | bool | datetime | list


@dataclass(frozen=True)
class Key:
    """A setting: its default, whose type a value must have, the values that fit, and those in words."""

    default: Value
    fits: Callable[..., bool]
    words: str


def _share(value: float) -> bool:
    return 0 <= value <= 1


def _is_assignment(name: str) -> bool:
    return bool(re.fullmatch(the_course().assignment, name))


def _address(text: str) -> bool:
    return not text or text.startswith(("https://", "http://"))


HOSTS = ("github", "gitlab", "bitbucket")  # for which the theme knows the addresses of files and issues


def repository(address: str) -> str | None:
    """The web address of a repository, from an address for git; None if it is on no public host."""
    written = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", address.strip())
    parts = urlsplit(written)
    path = parts.path.strip("/").removesuffix(".git")
    host = parts.hostname or ""
    public = parts.scheme in ("http", "https") and any(name in host.split(".") for name in HOSTS)
    return f"https://{host}/{path}" if public and re.fullmatch(r"[\w.-]+(/[\w.-]+)+", path) else None


# A zone by its name. The system's folders of other tables have small letters: posix, right.
_ZONE = re.compile(r"[A-Z]\w*(?:/[\w+-]+){1,2}", re.ASCII)


def find_zone(name: str) -> tzinfo | None:
    """The time zone of a name such as "Europe/Berlin" or "UTC"; None if there is none.

    Abbreviations have none: IST is the time of three countries, and CET is an hour off in July.
    """
    if name.upper() in ("UTC", "GMT", "Z"):
        return UTC
    if _ZONE.fullmatch(name):
        with suppress(KeyError, ValueError, OSError):  # unknown, or a folder of zones
            return ZoneInfo(name)
    return None


def _points(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= 10_000 and 4 * value == int(4 * value)


def _all_points(value: object) -> bool:
    return _points(value) or isinstance(value, list) and bool(value) and all(map(_points, value))


def _groups(value: list) -> bool:
    """Whether it is a list of lists of names, each name once."""
    if not all(isinstance(group, list) and group for group in value):
        return False
    names = [name for group in value for name in group]
    return all(isinstance(name, str) and name for name in names) and len({*names}) == len(names)


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
KEYS = {
    "title": Key("", lambda text: True, 'a title, such as "Sequence models", or ""'),
    "term": Key("", lambda text: True, 'a term, such as "Spring 2027", or ""'),
    "name": Key(
        "",
        lambda text: bool(re.fullmatch(r"\w[\w.-]*", text)),
        "a word of letters, digits, '.', '_' and '-', such as \"sequences-2026\"",
    ),
    "book": Key(
        "", _address, 'the address of your rendered book, such as "https://example.org/course/", or ""'
    ),
    "repository": Key(
        "",
        lambda text: not text or repository(text) is not None,
        "the address of a repository on GitHub, GitLab or Bitbucket, such as "
        '"https://github.com/you/course", or ""',
    ),
    "zone": Key("UTC", find_zone, 'the name of a time zone, such as "Europe/Berlin", or "UTC"'),
    "leave_out": Key(
        [],
        lambda names: all(
            isinstance(n, str) and re.fullmatch(the_course().assignment, n) for n in names
        ),
        'a list of whole assignments, such as ["ps7", "ps9"], or []',
    ),
    "gradebook": Key("", lambda text: True, 'an address such as "postgresql://user@host/db", or ""'),
    "timeout": Key(120, lambda seconds: seconds >= 1, "a whole number of seconds, 1 or more"),
    "attempts": Key(0, lambda count: count >= 0, "a whole number, or 0 for any number of attempts"),
    "partners": Key(
        [], _groups, 'a list of groups, each name once, such as [["ada", "ben"], ["cleo", "dan", "eve"]]'
    ),
    "group_size": Key(1, lambda people: people >= 1, "a whole number of people, 1 or more"),
    "assistants": Key(
        "tutor", lambda word: word in ("allowed", "tutor", "off"), '"allowed", "tutor" or "off"'
    ),
    "answers.when": Key(
        "",
        lambda word: word in ("", "open", "after_due", "never"),
        '"open", "after_due", "never", or "" to go by the due dates',
    ),
    "answers.after_hints": Key(True, lambda given: True, "true or false"),
    "watch.attempts_a_day": Key(
        5, lambda count: count >= 0, "a whole number, or 0 for any number of attempts"
    ),
    "watch.counts": Key("last", lambda word: word in ("last", "best"), '"last" or "best"'),
    "leaderboard.names": Key(False, lambda shown: True, "true or false"),
    "leaderboard.sentences": Key(
        "", lambda text: True, 'the path of a file of your own, such as "../hidden.tsv", or ""'
    ),
    "late.grace_minutes": Key(15.0, lambda minutes: minutes >= 0, "a number of minutes, 0 or more"),
    "late.share_per_day": Key(0.0, _share, "a share between 0 and 1 (0.1 is a tenth)"),
    "late.floor": Key(0.5, _share, "a share between 0 and 1 (0.5 is half)"),
    "late.days": Key(0, lambda count: count >= 0, "a whole number of days, or 0 for no late days"),
    "late.days_per_assignment": Key(2, lambda count: count >= 0, "a whole number of days, 0 or more"),
}
# What [ps1.late] may change: all but the days of the whole course.
LATE = re.compile(r"(?P<assignment>\w+)\.(?P<key>late\.(?!days$)\w+)")

# What a class changes in one assignment: [ps1] due = ..., leave_out = [5], and in [ps1.points] 3 = 10.
FOR_ASSIGNMENT = {
    "due": Key(
        datetime.min,
        lambda time: time.tzinfo is not None,
        "a time with its zone, without quotes, such as 2026-11-20T18:00:00+01:00",
    ),
    "leave_out": Key(
        [],
        lambda numbers: all(type(number) is int and number > 0 for number in numbers),
        "a list of numbers of exercises, such as [5, 10]",
    ),
    "points": Key(
        [], _all_points, "points of 0 or more, in quarters, such as 10; for several parts [5, 2.5]"
    ),
    "partners": KEYS["partners"],
    "group_size": KEYS["group_size"],
}
# What an assignment counts in the course total: [weights] ps1 = 2
WEIGHT = Key(0.0, lambda weight: 0 <= weight < math.inf, "a number of 0 or more, such as 2 or 0.5")
# A link for students, by its name: [links] "Questions" = "https://..."
LINK = Key("", _address, 'an address, such as "https://example.org/forum"')


@dataclass(frozen=True)
class Settings:
    """The settings that hold, and for each one that a file sets, which file and line."""

    values: dict[str, Value]
    sources: dict[str, str]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def links(self) -> dict[str, str]:
        """The links for students, by name; one with the address "" is left out."""
        found = {key.partition(".")[2]: key for key in self.values if key.startswith("links.")}
        return {name: self.values[key] for name, key in found.items() if self.values[key]}

    @property
    def weights(self) -> dict[str, float]:
        """What assignments count in the course total; {} where each counts by its points."""
        found = {key.partition(".")[2]: key for key in self.values if key.startswith("weights.")}
        return {name: float(self.values[key]) for name, key in found.items()}

    @property
    def zone(self) -> tzinfo:
        """The class's time zone: its dates are shown in it, and days of being late are counted in it."""
        return find_zone(self["zone"]) or UTC

    def due(self, name: str) -> datetime | None:
        """The due date of an assignment, in the class's zone, or None."""
        time = self.values.get(f"{name}.due")
        return time.astimezone(self.zone) if isinstance(time, datetime) else None

    @property
    def answers(self) -> str:
        """When worked answers open; if nothing is said, after the due date in a class that sets one."""
        dated = any(key.endswith(".due") for key in self.values)
        return self["answers.when"] or ("after_due" if dated else "open")

    def left_out(self, name: str) -> list[int]:
        """The numbers of the exercises of an assignment that this class leaves out."""
        return list(self.values.get(f"{name}.leave_out", []))

    def points(self, name: str) -> dict[int, list[float]]:
        """The points that this class gives for exercises of an assignment: one number or one a part."""
        found = {}
        for key, value in self.values.items():
            named = re.fullmatch(rf"{re.escape(name)}\.points\.(\d+)", key)
            if named:
                found[int(named[1])] = list(value) if isinstance(value, list) else [value]
        return found

    def own(self, name: str, key: str) -> tuple[Any, str]:
        """A setting that an assignment may have for itself, and the file and line that sets it."""
        own = f"{name}.{key}"
        used = own if own in self.values else key
        return self.values[used], self.where(used)

    @property
    def late(self) -> dict[str, dict[str, Value]]:
        """What assignments change about being late: {"ps3": {"floor": 0.25}}."""
        found: dict[str, dict[str, Value]] = {}
        for key, value in self.values.items():
            if (named := LATE.fullmatch(key)) and _is_assignment(named["assignment"]):
                own = found.setdefault(named["assignment"], {})
                own[named["key"].removeprefix("late.")] = value
        return found

    def where(self, key: str) -> str:
        """The file and line of a setting, such as "course.toml, line 12"."""
        return self.sources.get(key, FILES[0])

    @property
    def assignments(self) -> dict[str, str]:
        """The assignments that settings name, each with the first place that does."""
        found: dict[str, str] = {}
        for key, where in self.sources.items():
            name = key.removeprefix("weights.").partition(".")[0]
            for each in self.values["leave_out"] if key == "leave_out" else [name]:
                if _is_assignment(each):
                    found.setdefault(each, where)
        return found

    def line(self, name: str) -> str:
        """What students read of their class at the top of an assignment, in Markdown; "" for nothing."""
        due = self.due(name)
        parts = [", ".join(text for text in (self["title"], self["term"]) if text)]
        parts.append(f"Due {in_words(due)}" if due else "")
        size, _ = self.own(name, "group_size")
        own = f"In groups of up to {size}, named in each one's own `partners.txt`"
        parts.append(own if size > 1 else "")
        parts.append(" · ".join(f"[{text}]({address})" for text, address in self.links.items()))
        return " · ".join(part for part in parts if part)


def in_words(time: datetime) -> str:
    """A time as people write it, with the name of its zone: "20 November 2026, 18:00 UTC"."""
    return f"{time.day} {MONTHS[time.month - 1]} {time:%Y, %H:%M} {time.tzinfo}"


def read_settings(root: Path) -> Settings:
    """Read the settings of the course in ``root``.

    Raises:
        CourseError: a file cannot be read, or has an unknown setting or a wrong value; says the line.
    """
    values = {key: entry.default for key, entry in KEYS.items()} | {"name": program()}
    sources = {}
    for file in FILES:
        try:
            text = (root / file).read_text(encoding="utf-8-sig")
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


def _flat(content: Mapping, before: str = "") -> Iterator[tuple[str, object]]:
    """The settings of a table and the tables in it: ("late.floor", 0.5)."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _entry(key: str) -> Key | None:
    """What is known of a setting, or None."""
    if key.startswith("links."):
        return LINK
    own = the_course().assignment
    if re.fullmatch(rf"weights\.(?:{own})", key):
        return WEIGHT
    if (named := LATE.fullmatch(key)) and _is_assignment(named["assignment"]):
        return KEYS.get(named["key"])
    found = re.fullmatch(rf"(?:{own})\.(?:(due|leave_out|partners|group_size)|(points)\.\d+)", key)
    return FOR_ASSIGNMENT[found[1] or found[2]] if found else KEYS.get(key)


def _checked(key: str, value: object, where: str) -> Value:
    """The value as its setting has it, or CourseError."""
    entry = _entry(key)
    if entry is None:
        own = the_course().named
        known = [*KEYS, "links.NAME", f"{own}.due", f"{own}.leave_out", f"{own}.points.NUMBER"]
        known += [f"{own}.late.KEY", f"{own}.partners", f"{own}.group_size", f"weights.{own}"]
        raise CourseError(f"{where}: {key!r} is not a setting. The settings are {', '.join(known)}.")
    kind = type(entry.default)
    if kind is float and type(value) is int:
        value = float(value)
    # Points are one number or a list.
    right = type(value) is kind or entry is FOR_ASSIGNMENT["points"]
    if not right or not entry.fits(value):
        shown = f"{value}" if isinstance(value, datetime) else repr(value)
        raise CourseError(f"{where}: {key} should be {entry.words}, but is {shown}.")
    return value


def _line(text: str, key: str) -> int:
    """The number of the line that sets a key. TOML's reader does not say it."""
    table, name = "", key.rpartition(".")[2]
    found = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        if header:
            table = f"{header[1]}."
        elif f"{table}{line.partition('=')[0].strip().strip(chr(34))}" == key:
            return number
        elif not found and re.search(rf"(?<!\w){re.escape(name)}\b[\"']?\s*=", line):
            found = number  # a table within a line
    return found
