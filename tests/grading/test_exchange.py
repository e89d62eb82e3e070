"""Collecting through nbgrader's exchange, where every account can write."""

from __future__ import annotations

import os
import pwd
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from cellgrader.release.generate import release
from cellgrader.watch.passing import Exchange, find_exchange

from .watching import write_time

pytestmark = pytest.mark.skipif(os.name != "posix", reason="nbgrader has no exchange there")
TIME = "2026-11-25 10:00:0{} UTC"


@pytest.fixture
def inbound(toy, exchange_folder):
    """The exchange's folder in which students hand in."""
    release(toy)
    return exchange_folder / "inbound"


@pytest.fixture
def exchange(toy, inbound) -> Exchange:
    found = find_exchange(toy, "ps1")
    assert found is not None
    found._resting.quiet = 0.0
    return found


def submit(inbound, student: str, second: int, words: str = "{}"):
    folder = inbound / f"{student}+ps1+{TIME.format(second)}+random"
    folder.mkdir()
    (folder / "ps1.ipynb").write_text(words)
    write_time(folder, TIME.format(second))
    (folder / "submission_secret.txt").write_text("ab" * 64)
    return folder


def collected(toy, student: str) -> str:
    path = toy.submitted / student / "ps1" / "ps1.ipynb"
    return path.read_text() if path.exists() else ""


def test_a_machine_without_an_exchange_has_none(toy):
    assert find_exchange(toy, "ps1") is None


def test_the_newest_is_collected_once_it_rests(toy, inbound, exchange):
    submit(inbound, "ada", 1, "first")
    submit(inbound, "bob+x", 1, "his")
    assert exchange.collect() == [] and collected(toy, "ada") == "first"
    assert collected(toy, "bob+x") == "his"
    submit(inbound, "ada", 2, "second")
    exchange._resting.quiet = 1000.0
    assert exchange.collect() == [] and exchange.moving and collected(toy, "ada") == "first"
    exchange._resting.quiet = 0.0
    assert exchange.collect() == [] and not exchange.moving and collected(toy, "ada") == "second"
    assert sorted(path.name for path in (toy.submitted / "ada").iterdir()) == ["ps1"]


def test_no_link_of_a_student_is_followed(toy, inbound, exchange):
    """The instructor may read the class's secret, and the student may not."""
    secret = toy.folder / "secret"
    toy.secret()
    folder = submit(inbound, "ada", 1)
    (folder / "notes.txt").symlink_to(secret)
    (folder / "grading").symlink_to(toy.folder)
    os.mkfifo(folder / "pipe")
    exchange.collect()
    kept = sorted(path.name for path in (toy.submitted / "ada" / "ps1").iterdir())
    assert kept == ["ps1.ipynb", "submission_secret.txt", "timestamp.txt"]
    (inbound / f"eve+ps1+{TIME.format(3)}+random").symlink_to(toy.folder)
    exchange.collect()
    assert not list((toy.submitted / "eve").rglob("secret"))


def test_one_bad_name_or_a_foreign_folder_stops_nobody(toy, inbound, exchange, monkeypatch):
    submit(inbound, "ada", 1, "hers")
    (inbound / "ada+ps1+soon+random").mkdir()
    (inbound / "+ps1+").mkdir()
    assert exchange.collect() == [
        "+ps1+ should be named STUDENT+ASSIGNMENT+TIME, but is not. It was not collected."
    ]
    assert collected(toy, "ada") == "hers", "a bad name in her name does not hide her work"
    account = os.getuid() + 1
    monkeypatch.setattr(pwd, "getpwnam", lambda name: SimpleNamespace(pw_uid=account))
    monkeypatch.setattr(os, "getuid", lambda: account)
    submit(inbound, "ada", 2, "from another account")
    (told,) = exchange.collect()
    assert "should belong to the account of ada, but belongs to another one" in told
    assert collected(toy, "ada") == "hers"


def test_too_much_is_not_collected(toy, inbound, exchange):
    folder = submit(inbound, "ada", 1)
    with (folder / "large").open("wb") as file:
        file.truncate(150_000_000)
    with (folder / "larger").open("wb") as file:
        file.truncate(99_000_000)
    with (folder / "second").open("wb") as file:
        file.truncate(99_000_000)
    (sentence,) = [said for said in exchange.collect() if "not collected" in said]
    assert "ada" in sentence and "should hold at most" in sentence and collected(toy, "ada") == ""
    assert not list(toy.submitted.rglob("larger"))


def test_no_time_before_the_exchange_s_is_believed(toy, inbound, exchange, whole_day):
    """Whoever hands in writes timestamp.txt, and could write last week."""
    honest = submit(inbound, "ada", 1)
    late = submit(inbound, "bob", 2)
    noon = datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp()
    os.utime(late / "timestamp.txt", (noon, noon))
    named = submit(inbound, "cy", 3)
    write_time(named, "2026-11-20 10:00:00 UTC")
    (submit(inbound, "dee", 4) / "timestamp.txt").unlink()
    (submit(inbound, "eli", 5) / "timestamp.txt").write_text("yesterday")
    told = exchange.collect()

    def time_of(student):
        return (toy.submitted / student / "ps1" / "timestamp.txt").read_text()

    assert time_of("ada") == (honest / "timestamp.txt").read_text()
    assert time_of("bob").startswith("2026-11-25 12:00:00")
    assert time_of("cy").startswith("2026-11-25 10:00:03")
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert time_of("dee").startswith(today) and time_of("eli").startswith(today)
    assert [line.partition(", which counts")[0] for line in sorted(told)][:2] == [
        "timestamp.txt of bob holds 2026-11-25 10:00 UTC, but the work arrived at 2026-11-25 12:00 UTC",
        "timestamp.txt of cy holds 2026-11-20 10:00 UTC, but the work arrived at 2026-11-25 10:00 UTC",
    ]
    for line, who in zip(sorted(told)[2:], ("dee", "eli"), strict=True):
        assert line.startswith(f"timestamp.txt of {who} holds no time, but the work arrived at {today}")
    assert exchange.collect() == [], "nothing is newer"


def test_a_time_far_away_costs_nobody_the_work(toy, inbound, exchange):
    """Whoever owns a file can set its time."""
    folder = submit(inbound, "ada", 1, "hers")
    os.utime(folder / "timestamp.txt", (2**40, 2**40))
    exchange.collect()
    assert collected(toy, "ada") == "hers"
    when = (toy.submitted / "ada" / "ps1" / "timestamp.txt").read_text().removesuffix(" UTC")
    assert datetime.fromisoformat(when) <= datetime.now(UTC).replace(tzinfo=None)
