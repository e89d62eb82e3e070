"""The late days of a student: an account for the whole course, spent before being late costs points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Account:
    """The late days of one student.

    days: what the class gives everybody; 0 without such accounts.
    used: assignment -> days, only where some are used.
    """

    days: int = 0
    used: Mapping[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return self.days - sum(self.used.values())

    def here(self, assignment: str) -> int:
        """The days that an assignment uses."""
        return self.used.get(assignment, 0)

    def spend(self, assignment: str, days: int) -> Account:
        """The account after these days were used."""
        return replace(self, used={**self.used, assignment: days}) if days else self

    def sentence(self, assignment: str) -> str:
        """What a student is told on the page of an assignment; "" without an account."""
        if not self.days:
            return ""
        here = self.here(assignment)
        elsewhere = sum(self.used.values()) - here
        return f"Late days: {here} used here, {elsewhere} elsewhere, {self.left} of {self.days} left."


@dataclass(frozen=True)
class Accounts:
    """The late days of a class: what everybody has, and the accounts of those who used some."""

    days: int = 0
    known: Mapping[str, Account] = field(default_factory=dict)

    def of(self, student: str) -> Account:
        return self.known.get(student, Account(self.days))
