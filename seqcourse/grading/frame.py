"""Which submitted cell is which cell of the released notebook, and which of several counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from seqcourse.grading.cells import Piece, defined, pieces, squeeze
from seqcourse.grading.notebook import mark, text
from seqcourse.grading.own import NOT_RUN

ANSWER, WRITTEN, LOCKED, OPEN = "answer", "written", "locked", "open"


@dataclass
class Place:
    """One cell of the released notebook, and what the submission holds for it.

    role: an answer in code or in writing, a locked cell, or one that students may change.
    group: the submitted cells that are this one. given: the one of them that counts.
    source: what stands here in the end.
    """

    index: int
    cell: dict
    role: str
    group: list[Piece] = field(default_factory=list)
    given: Piece | None = None

    def __post_init__(self) -> None:
        self.original = self.source = text(self.cell)
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
        """Whether the cell is not run again, so that what it showed the student is all there is."""
        tags = self.cell["metadata"].get("tags", ())
        return self.is_code and bool(NOT_RUN & set(tags)) and not mark(self.cell).get("grade")

    @property
    def is_answer(self) -> bool:
        return self.role in (ANSWER, WRITTEN)

    @property
    def answered(self) -> bool:
        return self.is_answer and self.given is not None and not self.untouched(self.given)

    def untouched(self, piece: Piece) -> bool:
        """Whether a submitted cell is as it was released, or blank."""
        return piece.squeezed in ("", self.squeezed)

    def fit(self, piece: Piece) -> int:
        """How well a submitted cell's marks say that it is this one."""
        same_mark = piece.grade_id != "" and piece.grade_id == mark(self.cell).get("grade_id")
        same_id = piece.identifier != "" and piece.identifier == self.cell["id"]
        return 2 * same_mark + same_id


@dataclass(frozen=True)
class Likeness:
    """How much of an assignment a notebook holds.

    known: answer cells that are there, solved or not, out of ``of``. foreign: marked cells that the
    assignment has not. answers: the answers that are given.
    """

    known: int
    of: int
    foreign: int
    answers: tuple[str, ...]

    @property
    def is_it(self) -> bool:
        """Enough to take a file of another name for this assignment."""
        return self.known > self.foreign and 3 * self.known > self.of

    @property
    def is_another(self) -> bool:
        """Enough to say that a file holds another assignment, whatever its name."""
        return self.foreign > self.known


def likeness(submitted: dict, release: dict) -> Likeness:
    """How much of the released notebook a submitted one holds."""
    frame = Frame(submitted, release)
    known = {place.name for place in frame.places}
    foreign = {piece.grade_id for piece in frame.pieces if piece.grade_id} - known
    places = [place for place in frame.places if place.is_answer]
    answers = [place.given.source.strip() for place in places if place.answered and place.given]
    there = sum(bool(place.group) for place in places)
    return Likeness(there, len(places), len(foreign), tuple(answers))


def _role(cell: dict) -> str:
    grader = mark(cell)
    if grader.get("solution"):
        return ANSWER if cell["cell_type"] == "code" else WRITTEN
    if grader.get("locked") or grader.get("grade") or grader.get("task"):
        return LOCKED
    return OPEN if cell["metadata"].get("editable", True) else LOCKED


class Frame:
    """The places of the released notebook with the submitted cells that belong there.

    Args:
        submitted: a notebook as a student sent it.
        release: the released notebook.

    Attributes:
        places: one per released cell. pieces: one per submitted cell.
        where: the place of a submitted cell, by its position; the student's own cells have none.
        dropped: positions of cells that hold nothing: blank ones, copies of given ones.
        remarks: what to tell the student.
    """

    def __init__(self, submitted: dict, release: dict) -> None:
        self.pieces = pieces(submitted)
        self.places = [
            Place(index, {"id": f"given-{index}", **cell}, _role(cell))
            for index, cell in enumerate(release["cells"])
        ]
        self.where: dict[int, Place] = {}
        self.dropped: set[int] = set()
        self.remarks: list[str] = []
        self._identify()
        for place in self.places:
            if place.role == ANSWER and place.names and not place.group:
                self._find_by_name(place)
        for place in self.places:
            if place.group:
                self._choose(place)

    def _identify(self) -> None:
        """By the text, where it is that of a released cell; by nbgrader's name; by the cell's id."""
        by_mark = {mark(place.cell).get("grade_id"): place for place in self.places}
        by_mark.pop(None, None)
        by_id = {place.cell["id"]: place for place in self.places}
        by_text: dict[str, list[Place]] = {}
        for place in self.places:
            by_text.setdefault(place.squeezed, []).append(place)
        by_text.pop("", None)
        by_their_text = []
        for piece in self.pieces:
            place = by_mark.get(piece.grade_id) or by_id.get(piece.identifier)
            same = by_text.get(piece.squeezed, [])
            if place is not None and (not same or place in same):
                self._put(piece, place)
            elif same:
                by_their_text.append((piece, same))
        for piece, same in by_their_text:
            # Several released cells may have the same text: the first that is still missing.
            self._put(piece, next((place for place in same if not place.group), same[0]))

    def _put(self, piece: Piece, place: Place) -> None:
        self.where[piece.position] = place
        place.group.append(piece)

    def _find_by_name(self, place: Place) -> None:
        """An answer without marks that stands in its place: it defines what the stub does."""
        names = "|".join(map(re.escape, place.names))
        begins = re.compile(rf"\s*(?:def|class)\s+(?:{names})\b")
        before = -1
        candidates: list[Piece] = []
        for piece in self.pieces:
            known = self.where.get(piece.position)
            if known is None:
                solves = piece.kind == "code" and place.names & piece.names
                if before < place.index and (solves or begins.match(piece.source)):
                    candidates.append(piece)
            elif known.index > place.index and candidates:
                break
            else:
                before = known.index
                candidates = []
        if candidates:
            self._put(candidates[-1], place)

    def _choose(self, place: Place) -> None:
        """Which cell of the group counts; the others are dropped, or the student's own."""
        group = place.group = sorted(place.group, key=lambda piece: piece.position)
        changed: list[Piece] = []
        for piece in group:
            if place.untouched(piece) or changed and changed[-1].same_as(piece):
                self.dropped.add(piece.position)
            else:
                changed.append(piece)
        if place.is_answer and changed:
            solving = [piece for piece in changed if place.names & piece.names]
            # Of two halves of a cell, the one that defines the answer; of two answers, the last.
            place.given = solving[-1] if solving else changed[0]
            self._tell(place, changed, solving)
        else:
            # A given cell that is there as it was is that cell; a changed copy is the student's own.
            intact = [piece for piece in group if piece.squeezed == place.squeezed]
            place.given = max(intact or group, key=place.fit)
        self.dropped.discard(place.given.position)

    def _tell(self, place: Place, changed: list[Piece], solving: list[Piece]) -> None:
        assert place.given is not None
        if place.role == WRITTEN and len(changed) > 1:
            self.remarks.append(
                f"{place.name} was answered in {len(changed)} cells that differ: all were kept."
            )
        elif len(solving) > 1:
            self.remarks.append(
                f"{place.name} was answered in {len(solving)} cells that differ: the last one counts, "
                f"as it does when you run all cells."
            )
        elif len(changed) == 1 and len(place.group) > 1:
            self.remarks.append(
                f"The cell of {place.name} was there {len(place.group)} times: the answered one counts."
            )
        if place.given.kind != place.cell["cell_type"]:
            kind = "code" if place.is_code else "text"
            self.remarks.append(
                f"The cell of {place.name} had become a {place.given.kind} cell: it was read as {kind}."
            )
