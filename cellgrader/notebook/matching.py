"""Match submitted cells with the cells of the released notebook, and choose among duplicates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cellgrader.notebook.cells import Piece, pieces
from cellgrader.notebook.document import mark
from cellgrader.notebook.lost_marks import Finder
from cellgrader.notebook.slots import WRITTEN, Slot, role_of


@dataclass(frozen=True)
class Likeness:
    """How much of an assignment a notebook holds.

    known: the number of the assignment's answer cells in the notebook, solved or not.
    of: the number of answer cells in the assignment.
    foreign: the number of cells whose grade_id is not in the assignment.
    answers: the sources of the answers given.
    answered: the names of their cells.
    """

    known: int
    of: int
    foreign: int
    answers: tuple[str, ...]
    answered: frozenset[str] = frozenset()

    @property
    def is_it(self) -> bool:
        """Whether a file with another name may be graded as this assignment."""
        return self.known > self.foreign and 3 * self.known > self.of

    @property
    def is_another(self) -> bool:
        """Whether the file holds another assignment, whatever its name."""
        return self.foreign > self.known


def likeness(submitted: dict, release: dict) -> Likeness:
    """Measure how much of the released notebook a submitted one holds."""
    matching = Matching(submitted, release)
    known = {slot.name for slot in matching.slots}
    foreign = {piece.grade_id for piece in matching.pieces if piece.grade_id} - known
    slots = [slot for slot in matching.slots if slot.is_answer]
    given = {slot.name: slot.given.source.strip() for slot in slots if slot.answered and slot.given}
    there = sum(bool(slot.group) for slot in slots)
    return Likeness(there, len(slots), len(foreign), tuple(given.values()), frozenset(given))


class Matching:
    """Matches the cells of a submission with those of the released notebook.

    Args:
        submitted: the student's notebook.
        release: the released notebook.

    Attributes:
        slots: one per released cell.
        pieces: one per submitted cell.
        where: position of a submitted cell -> its slot. Cells that the student added have none.
        dropped: positions of cells to drop: blank cells and copies of released ones.
        remarks: sentences for the student.
        uncertain: sentences for a person: what could also be matched in another way.
    """

    def __init__(self, submitted: dict, release: dict) -> None:
        self.pieces = pieces(submitted)
        self.slots = [
            Slot(index, {"id": f"given-{index}", **cell}, role_of(cell))
            for index, cell in enumerate(release["cells"])
        ]
        self.where: dict[int, Slot] = {}
        self.dropped: set[int] = set()
        self.remarks: list[str] = []
        self.uncertain: list[str] = []
        self._identify()
        for slot in self.slots:
            if slot.names and not any(slot.names & piece.names for piece in slot.group):
                self._find_by_name(slot)
        self.uncertain += Finder(self.slots, self.pieces, self.where, self._put).find()
        for slot in self.slots:
            if slot.group:
                self._choose(slot)

    def _identify(self) -> None:
        """Match cells by text, then by nbgrader's name, then by cell id.

        A name or id counts only if the cell's text is not that of another released cell, and if it does
        not define another exercise's answer in place of its own.
        """
        asked = frozenset().union(*(slot.names for slot in self.slots))
        by_mark = {mark(slot.cell).get("grade_id"): slot for slot in self.slots}
        by_mark.pop(None, None)
        by_id = {slot.cell["id"]: slot for slot in self.slots}
        by_text: dict[str, list[Slot]] = {}
        for slot in self.slots:
            by_text.setdefault(slot.squeezed, []).append(slot)
        by_text.pop("", None)
        matched_by_text = []
        for piece in self.pieces:
            slot = by_mark.get(piece.grade_id) or by_id.get(piece.identifier)
            same = by_text.get(piece.squeezed, [])
            if slot is not None and slot.names and not slot.names & piece.names and asked & piece.names:
                self.uncertain.append(
                    f"Cell {piece.position + 1} has the mark of {slot.name}, but defines "
                    f"{', '.join(sorted(asked & piece.names))}: it was not taken as the answer to "
                    f"{slot.name}."
                )
                slot = None
            if slot is not None and (not same or slot in same):
                self._put(piece, slot)
            elif same:
                matched_by_text.append((piece, same))
        for piece, same in matched_by_text:
            # Several released cells may have the same text: take the first one still unmatched.
            self._put(piece, next((slot for slot in same if not slot.group), same[0]))

    def _put(self, piece: Piece, slot: Slot) -> None:
        self.where[piece.position] = slot
        slot.group.append(piece)

    def _find_by_name(self, slot: Slot) -> None:
        """Find an answer without metadata: a cell at the right position that defines the names.

        Also where a cell has the metadata, but not the names: the first half of one that was split.
        """
        names = "|".join(map(re.escape, slot.names))
        begins = re.compile(rf"\s*(?:def|class)\s+(?:{names})\b")
        before = -1
        candidates: list[Piece] = []
        for piece in self.pieces:
            known = self.where.get(piece.position)
            if known is None:
                solves = piece.kind == "code" and slot.names & piece.names
                if before <= slot.index and (solves or begins.match(piece.source)):
                    candidates.append(piece)
            elif known.index > slot.index and candidates:
                break
            else:
                before = known.index
                candidates = []
        if candidates:
            self._put(candidates[-1], slot)
        if len({piece.squeezed for piece in candidates}) > 1:
            self.remarks.append(
                f"{slot.name} was answered in {len(candidates)} cells that differ: the last one counts, "
                f"as it does when you run all cells."
            )
            self.uncertain.append(
                f"{slot.name} is defined in {len(candidates)} cells without marks, at last in cell "
                f"{candidates[-1].position + 1}: that one counts."
            )

    def _choose(self, slot: Slot) -> None:
        """Choose the cell of the group that counts. The others are dropped or become added cells."""
        group = slot.group = sorted(slot.group, key=lambda piece: piece.position)
        changed: list[Piece] = []
        for piece in group:
            if slot.untouched(piece) or changed and changed[-1].same_as(piece):
                self.dropped.add(piece.position)
            else:
                changed.append(piece)
        if slot.is_answer and changed:
            solving = [piece for piece in changed if slot.names & piece.names]
            # A split cell: the half that defines the answer counts. Two answers: the last one counts.
            # Code with a written answer's mark may be another answer: a text comes first.
            texts = [piece for piece in changed if piece.kind != "code" and slot.role == WRITTEN]
            slot.given = solving[-1] if solving else (texts or changed)[0]
            self._add_remarks(slot, changed, solving)
        else:
            # Prefer an unchanged cell; changed copies count as cells that the student added.
            intact = [piece for piece in group if piece.squeezed == slot.squeezed]
            slot.given = max(intact or group, key=slot.fit)
        self.dropped.discard(slot.given.position)

    def _add_remarks(self, slot: Slot, changed: list[Piece], solving: list[Piece]) -> None:
        assert slot.given is not None
        if slot.role == WRITTEN and len(changed) > 1:
            self.remarks.append(
                f"{slot.name} was answered in {len(changed)} cells that differ: all were kept."
            )
        elif len(solving) > 1:
            self.remarks.append(
                f"{slot.name} was answered in {len(solving)} cells that differ: the last one counts, "
                f"as it does when you run all cells."
            )
            self.uncertain.append(
                f"{slot.name} was answered in {len(solving)} cells that differ, at last in cell "
                f"{slot.given.position + 1}: that one counts."
            )
        elif len(changed) == 1 and len(slot.group) > 1:
            self.remarks.append(
                f"The cell of {slot.name} was there {len(slot.group)} times: the answered one counts."
            )
        if slot.given.kind != slot.cell["cell_type"]:
            kind = "code" if slot.is_code else "text"
            self.remarks.append(
                f"The cell of {slot.name} had become a {slot.given.kind} cell: it was read as {kind}."
            )
