"""A submission as every stage of grading takes it: whose it is, where it is, and which attempt it is.

A student alone is the only member, so no stage treats one student and several in two ways.
"""

from __future__ import annotations

from dataclasses import dataclass

from cellgrader.course.snapshot import Snapshot


@dataclass(frozen=True)
class Submission:
    """What students hand in together.

    members: sorted.
    source: the member in whose folder the work is; "" until that was looked up, and if it is unclear.
    attempt: which version it is, from 1; 0 until the work was read.
    work: the files; None until they were read.
    unclear: why it is unclear whose work counts, in a sentence; "" if it is clear.
    wall: the seconds that its examination may take; 0 for the usual limit.
    """

    members: tuple[str, ...]
    source: str = ""
    attempt: int = 0
    work: Snapshot | None = None
    unclear: str = ""
    wall: float = 0.0

    @property
    def first(self) -> str:
        """Who stands for all: hidden inputs are drawn for this name."""
        return self.members[0]

    def partners(self, student: str) -> tuple[str, ...]:
        """The other members."""
        return tuple(member for member in self.members if member != student)
