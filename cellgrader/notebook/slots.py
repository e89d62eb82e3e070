"""The cells of a released notebook, each with the submitted cells that match it."""

from __future__ import annotations

from dataclasses import dataclass, field

from cellgrader.notebook.cells import Piece, defined, squeeze
from cellgrader.notebook.document import mark, text
from cellgrader.notebook.pictures import taken_out
from cellgrader.notebook.shown_outputs import NOT_RUN

ANSWER, WRITTEN, LOCKED, OPEN = "answer", "written", "locked", "open"


@dataclass
class Slot:
    """One cell of the released notebook with its matching submitted cells.

    role: ANSWER (code), WRITTEN (text answer), LOCKED, or OPEN (students may edit it).
    group: the submitted cells that match this one.
    given: the cell of the group that counts.
    source: the source in the mended notebook.
    original: as released, its pictures named as in a submission, to compare with.
    """

    index: int
    cell: dict
    role: str
    group: list[Piece] = field(default_factory=list)
    given: Piece | None = None

    def __post_init__(self) -> None:
        self.source = text(self.cell)
        self.original = self.source if self.is_code else taken_out(self.cell)[0]
        self.squeezed = squeeze(self.original)
        self.names = defined(self.original) if self.role == ANSWER else frozenset()

    @property
    def name(self) -> str:
        return mark(self.cell).get("grade_id") or self.cell["id"]

    @property
    def is_code(self) -> bool:
        return self.cell["cell_type"] == "code"

    @property
    def keeps_outputs(self) -> bool:
        """Whether to keep the student's outputs, because grading does not run the cell."""
        tags = self.cell["metadata"].get("tags", ())
        return self.is_code and bool(NOT_RUN & set(tags)) and not mark(self.cell).get("grade")

    @property
    def is_answer(self) -> bool:
        return self.role in (ANSWER, WRITTEN)

    @property
    def by_hand(self) -> bool:
        """Whether a person grades the answer in this cell."""
        return self.is_answer and bool(mark(self.cell).get("grade"))

    @property
    def editable(self) -> bool:
        return self.role == OPEN

    @property
    def answered(self) -> bool:
        return self.is_answer and self.given is not None and not self.untouched(self.given)

    def untouched(self, piece: Piece) -> bool:
        """Whether a submitted cell is blank or the same as released.

        What could not be read may be an answer: where a person grades, a person looks.
        """
        if piece.too_long and self.by_hand:
            return False
        return piece.squeezed in ("", self.squeezed)

    def fit(self, piece: Piece) -> int:
        """How well a submitted cell's metadata match this cell: 0 to 3."""
        same_mark = piece.grade_id != "" and piece.grade_id == mark(self.cell).get("grade_id")
        same_id = piece.identifier != "" and piece.identifier == self.cell["id"]
        return 2 * same_mark + same_id


def role_of(cell: dict) -> str:
    """What a released cell is: ANSWER, WRITTEN, LOCKED or OPEN."""
    grader = mark(cell)
    if grader.get("solution"):
        return ANSWER if cell["cell_type"] == "code" else WRITTEN
    if grader.get("locked") or grader.get("grade") or grader.get("task"):
        return LOCKED
    return OPEN if cell["metadata"].get("editable", True) else LOCKED
