"""A clean notebook out of whatever was handed in, without losing an answer.

Nothing of a submission's structure is believed. The released notebook is the frame: its order, its
metadata, its tags and its locked sources stand. From the submission come the sources of the answers
and the student's own cells, each behind the given cell that it followed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from seqcourse.grading.cells import Piece, defined, imported, may_define, words
from seqcourse.grading.matching import ANSWER, OPEN, WRITTEN, Matching, Slot

_IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Mended:
    """What came out.

    notebook: in nbformat 4.5, every cell with an id of its own. Cells that are not run again have
        the student's own outputs, the others none.
    remarks: what was mended, in sentences for the student.
    lost: the answers that the submission does not hold, by name.
    """

    notebook: dict
    remarks: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass
class Own:
    """A cell of the student's own, and the index of the released cell that it follows."""

    piece: Piece
    after: int

    @property
    def is_code(self) -> bool:
        return self.piece.kind == "code"


def mend(submitted: dict, release: dict) -> Mended:
    """Put what a student handed in into the frame of the released notebook.

    Args:
        submitted: anything that ``stage.read_submission`` returns.
        release: the released notebook, psN.ipynb in assignments/.
    """
    return _Mending(Matching(submitted, release), release).result()


class _Mending:
    """The steps behind ``mend``: gather the student's own cells, fill the answers, write."""

    def __init__(self, matching: Matching, release: dict) -> None:
        self.matching = matching
        self.slots = matching.slots
        self.release = release
        self.remarks = list(matching.remarks)
        self.lost: list[str] = []
        self.own: list[Own] = []

    def result(self) -> Mended:
        self._gather()
        self._keep_changes()
        self._keep_running_order()
        for slot in self.slots:
            if slot.role == WRITTEN:
                self._fill_written(slot)
        for slot in self.slots:
            if slot.role == ANSWER:
                self._fill_answer(slot)
        self._tell()
        return Mended(self._notebook(), tuple(self.remarks), tuple(self.lost))

    # The student's own cells

    def _gather(self) -> None:
        """Put every cell of the student's own behind the given cell that it followed."""
        after = -1
        for piece in self.matching.pieces:
            slot = self.matching.where.get(piece.position)
            if slot is not None and slot.given is piece:
                after = slot.index
                continue
            if piece.squeezed and piece.position not in self.matching.dropped:
                self.own.append(Own(piece, after))
            if slot is not None:
                # A copy moves the place only forwards: at the notebook's end it is out of its order.
                after = max(after, slot.index)

    def _keep_changes(self) -> None:
        """Keep what a student added to a given cell, as far as it can matter."""
        used = self._words()
        for slot in self.slots:
            piece = slot.given
            if piece is None or slot.is_answer or slot.untouched(piece):
                continue
            if slot.role == OPEN and (slot.is_code or piece.kind != "code"):
                slot.source = piece.source
            elif not slot.is_code:
                # Text that became code is the student's code; added lines of locked text are a note.
                note = "\n".join(_added(piece.source, slot.original))
                self._add(slot, piece.source if piece.kind == "code" else note)
            else:
                self._keep_changed_code(slot, piece, used)

    def _keep_changed_code(self, slot: Slot, piece: Piece, used: set[str]) -> None:
        """The original of a locked cell is used; a name that was added there, and is needed, stays."""
        new = (piece.names - defined(slot.original)) & used
        if not new:
            return
        lines = [line for line in _added(piece.source, slot.original) if imported(line)]
        imports = "\n".join(lines)
        self._add(slot, imports if new <= imported(imports) else piece.source, "code")
        self.remarks.append(
            f"The given cell {slot.name} was changed: the original is used, and what you added runs "
            f"after it."
        )

    def _add(self, slot: Slot, source: str, kind: str = "") -> None:
        if source.strip() and slot.given is not None:
            changed = replace(slot.given, source=source, identifier="")
            self.own.append(Own(replace(changed, kind=kind or changed.kind), slot.index))

    def _words(self) -> set[str]:
        """The words of the student's code, and the names of the answers that are not given."""
        code = [own.piece for own in self.own if own.is_code]
        found = set().union(*(words(piece.source) for piece in [*code, *self._answers()]))
        for slot in self.slots:
            if not slot.answered:
                found |= slot.names
        return found

    def _answers(self) -> list[Piece]:
        """The answers in code that are given."""
        slots = [slot for slot in self.slots if slot.role == ANSWER and slot.answered]
        return [slot.given for slot in slots if slot.given is not None]

    def _keep_running_order(self) -> None:
        """Where a cell of the student's own answers again, keep it on its side of the answer."""
        for own in self.own:
            for slot in self.slots:
                if not (own.is_code and slot.names & own.piece.names and slot.answered and slot.given):
                    continue
                earlier = own.piece.position < slot.given.position
                if earlier and own.after >= slot.index:
                    own.after = slot.index - 1
                elif not earlier and own.after < slot.index:
                    own.after = slot.index
        self.own.sort(key=lambda own: (own.after, own.piece.position))

    # What stands in the answer cells

    def _fill_written(self, slot: Slot) -> None:
        """A written answer, also one that stands beside its cell."""
        if slot.answered:
            given = [
                piece
                for piece in slot.group
                if piece.position not in self.matching.dropped
                and (piece is slot.given or not self._answers_another(piece))
            ]
            slot.source = "\n\n".join(piece.source for piece in given)
            self.own = [own for own in self.own if own.piece not in given]
        else:
            found = self._beside(slot)
            if found:
                slot.source = "\n\n".join(found)
                self.remarks.append(f"The answer to {slot.name} stood beside its cell: it counts.")
            elif not slot.group:
                self.lost.append(slot.name)
        if "](attachment:" in slot.source:
            self.remarks.append(
                f"A picture pasted into {slot.name} is only in the file that you handed in: who "
                f"grades by hand looks there."
            )

    def _answers_another(self, piece: Piece) -> bool:
        """Whether a cell is the code of an answer that is missing, under the mark of a written one."""
        return piece.kind == "code" and any(
            slot.role == ANSWER and not slot.answered and slot.names & piece.names for slot in self.slots
        )

    def _beside(self, slot: Slot) -> list[str]:
        """Text next to the place of a written answer, taken from where it stands."""
        found = []
        question = self.slots[slot.index - 1] if slot.index else None
        if question is not None and question.role == OPEN and not question.is_code:
            written = "\n".join(_added(question.source, question.original))
            if written.strip():
                found.append(written)
                question.source = question.original
        beside = [own for own in self.own if not own.is_code and self._is_beside(own, slot)]
        self.own = [own for own in self.own if own not in beside]
        return [*found, *(own.piece.source for own in beside)]

    def _is_beside(self, own: Own, slot: Slot) -> bool:
        """Whether nothing that was given stands between a cell and a place."""
        between = self.slots[own.after + 1 : slot.index]
        return own.after <= slot.index and not any(each.given for each in between)

    def _fill_answer(self, slot: Slot) -> None:
        """An answer; the untouched stub only where it cannot stand in another answer's way."""
        if slot.answered and slot.given is not None:
            slot.source = slot.given.source
            return
        elsewhere = [*(own.piece for own in self.own if own.is_code), *self._answers()]
        if any(slot.names & piece.names for piece in elsewhere):
            slot.source = ""
            self.remarks.append(f"The answer to {slot.name} stood in another cell: it counts.")
            return
        if any(may_define(piece.source, slot.names) for piece in elsewhere):
            slot.source = ""
        if not slot.group:
            self.lost.append(slot.name)

    def _tell(self) -> None:
        """Remarks on the whole."""
        self.lost.sort(key=[slot.name for slot in self.slots].index)
        if self.lost:
            one = len(self.lost) == 1
            self.remarks.append(
                f"The cell{'' if one else 's'} of {', '.join(self.lost)} {'is' if one else 'are'} gone: "
                f"{'it counts' if one else 'they count'} as not answered."
            )
        for piece in self.matching.pieces:
            if piece.too_long:
                self.remarks.append(
                    f"Cell {piece.position + 1} is longer than a million characters and was not read."
                )
        slots = [slot.given.position for slot in self.slots if slot.given and slot.is_code]
        if slots != sorted(slots):
            self.remarks.append("Cells stood in another order: they were run in the assignment's.")

    # The notebook

    def _notebook(self) -> dict:
        taken = {slot.cell["id"] for slot in self.slots}
        identifiers = _identifiers([own.piece.identifier for own in self.own], taken)
        following: dict[int, list[dict]] = {}
        for own, identifier in zip(self.own, identifiers, strict=True):
            cell = {"cell_type": own.piece.kind, "id": identifier, "metadata": {}}
            following.setdefault(own.after, []).append(_filled(cell, own.piece.source))
        cells = following.get(-1, [])
        for slot in self.slots:
            cell = _filled(copy.deepcopy(slot.cell), slot.source)
            if slot.keeps_outputs and slot.given is not None:
                cell["outputs"] = list(slot.given.outputs)
            cells.append(cell)
            cells += following.get(slot.index, [])
        metadata = copy.deepcopy(self.release["metadata"])
        return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _filled(cell: dict, source: str) -> dict:
    """The cell with this source, without outputs of any run."""
    cell["source"] = source
    if cell["cell_type"] == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _identifiers(wanted: Sequence[str], taken: set[str]) -> list[str]:
    """An id for each cell: the one it had where that is one and free, otherwise a new one."""
    reserved = taken | set(wanted)
    taken = set(taken)
    made = []
    number = 1
    for identifier in wanted:
        if not _IDENTIFIER.fullmatch(identifier) or identifier in taken:
            while (identifier := f"own-{number}") in reserved:
                number += 1
            reserved.add(identifier)
        taken.add(identifier)
        made.append(identifier)
    return made


def _added(source: str, original: str) -> list[str]:
    """The lines that a changed source has and its original has not."""
    known = {line.strip() for line in original.split("\n")}
    return [line for line in source.split("\n") if line.strip() not in known]
