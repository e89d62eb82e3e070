"""What the grader asks of the checks of a course."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Finding(Protocol):
    """One thing that is wrong: what it is, a question about it, and the kinds of input that show it."""

    what: str
    question: str
    inputs: tuple[str, ...]


class Verdict(Protocol):
    """What a check found: the share of the points, and why not all of them."""

    share: float
    findings: Sequence[Finding]
    solved: bool
    measured: dict[str, Any]
    sentence: str


class Check(Protocol):
    """A hidden check: its grade cell, the answer that it judges, and the section to read again.

    One that has ``judge_system`` judges a whole system; one that has ``exercise`` an answer in code.
    """

    cell: str
    answer: str
    see: tuple[str, str]


class Judge(Protocol):
    """A check with inputs: what its probe is asked, and the verdict on what that hands over."""

    check: Any
    request: dict[str, Any]

    def verdict(self, data: bytes | None, ending: str = "") -> Verdict: ...
