"""A clean notebook out of whatever was handed in, without losing an answer.

Nothing of a submission's structure is believed. The released notebook is the frame: its order, its
metadata, its tags and its locked sources stand. From the submission come the sources of the answers
and the student's own cells, each behind the given cell that it followed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from seqcourse.grading.cells import Piece, defined, imported, may_define, pieces, squeeze, words
from seqcourse.grading.notebook import mark, text

ANSWER, WRITTEN, LOCKED, OPEN = "answer", "written", "locked", "open"
_IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Mended:
    """What came out.

    notebook: in nbformat 4.5, every cell with an id of its own, code cells without outputs.
    remarks: what was mended, in sentences for the student.
    lost: the answers that the submission does not hold.
    """

    notebook: dict
    remarks: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class Likeness:
    """How much of an assignment a notebook holds.

    known: answer cells that are there, solved or not. foreign: marked cells of other assignments.
    answered: answers that are given, with their texts.
    """

    known: int
    foreign: int
    answers: tuple[str, ...]
    of: int

    @property
    def is_it(self) -> bool:
        """Enough to take a file of another name for this assignment."""
        return self.known > self.foreign and 3 * self.known > self.of

    @property
    def is_another(self) -> bool:
        """Enough to say that a file holds another assignment, whatever its name."""
        return self.foreign > self.known


@dataclass
class Place:
    """One cell of the released notebook, and what the submission holds for it.

    role: an answer in code or in writing, a locked cell, or one that students may change.
    given: the submitted cell that counts. source: what stands here in the end.
    """

    index: int
    cell: dict
    role: str
    group: list[Piece] = field(default_factory=list)
    given: Piece | None = None
    source: str = ""

    @property
    def name(self) -> str:
        return mark(self.cell).get("grade_id") or self.cell.get("id", "")

    @property
    def is_answer(self) -> bool:
        return self.role in (ANSWER, WRITTEN)

    @property
    def answered(self) -> bool:
        return self.is_answer and self.given is not None and not self.untouched(self.given)

    def untouched(self, piece: Piece) -> bool:
        """Whether a submitted cell is as it was released, or blank."""
        return piece.squeezed in ("", self.squeezed)

    def fits(self, piece: Piece) -> int:
        """How well a submitted cell's marks say that it is this one."""
        same_mark = piece.grade_id != "" and piece.grade_id == mark(self.cell).get("grade_id")
        same_id = piece.identifier != "" and piece.identifier == self.cell.get("id")
        return 2 * same_mark + same_id

    def __post_init__(self) -> None:
        self.source = text(self.cell)
        self.squeezed = squeeze(self.source)
        self.names = defined(self.source) if self.role == ANSWER else frozenset()


@dataclass
class Own:
    """A cell of the student's own, and the index of the released cell that it follows."""

    piece: Piece
    after: int


def mend(submitted: dict, release: dict) -> Mended:
    """Put what a student handed in into the frame of the released notebook.

    Args:
        submitted: anything that ``stage.read_submission`` returns.
        release: the released notebook, psN.ipynb in assignments/.
    """
    return _Mending(submitted, release).result()


def likeness(submitted: dict, release: dict) -> Likeness:
    """How much of the assignment a notebook holds."""
    work = _Mending(submitted, release)
    known = {place.name for place in work.places}
    foreign = {piece.grade_id for piece in work.pieces if piece.grade_id} - known
    places = [place for place in work.places if place.is_answer]
    answers = [place.given.source.strip() for place in places if place.answered and place.given]
    there = sum(bool(place.group) for place in places)
    return Likeness(there, len(foreign), tuple(answers), len(places))


def _role(cell: dict) -> str:
    grader = mark(cell)
    if grader.get("solution"):
        return ANSWER if cell["cell_type"] == "code" else WRITTEN
    if grader.get("locked") or grader.get("grade") or grader.get("task"):
        return LOCKED
    return OPEN if cell["metadata"].get("editable", True) else LOCKED


class _Mending:
    """The steps, in their order: identify, choose, gather, fill, write."""

    def __init__(self, submitted: dict, release: dict) -> None:
        self.release = release
        self.remarks: list[str] = []
        self.lost: list[str] = []
        self.pieces, others = pieces(submitted)
        if others:
            self.remarks.append(
                f"{_count(others, 'entry', 'entries')} of the file's list of cells "
                f"{'was' if others == 1 else 'were'} no cell and left out."
            )
        for piece in self.pieces:
            if piece.too_long:
                self.remarks.append(
                    f"Cell {piece.position + 1} is longer than a million characters and was not read."
                )
        self.places = [Place(index, cell, _role(cell)) for index, cell in enumerate(release["cells"])]
        self.where: dict[int, Place] = {}
        self.dropped: set[int] = set()
        self._identify()
        self._identify_by_names()
        for place in self.places:
            self._choose(place)

    def result(self) -> Mended:
        self.own = self._gather()
        self._keep_changes()
        self._in_running_order()
        self._tell_order()
        for place in self.places:
            if place.role == WRITTEN:
                self._fill_written(place)
        for place in self.places:
            if place.role == ANSWER:
                self._fill_answer(place)
        return Mended(self._write(), tuple(self.remarks), tuple(self.lost))

    # Which cell is which

    def _identify(self) -> None:
        """By the grader's name, by the cell's id, by the text, in this order."""
        by_mark = {mark(place.cell)["grade_id"]: place for place in self.places if mark(place.cell)}
        by_id = {place.cell["id"]: place for place in self.places if "id" in place.cell}
        by_text: dict[str, list[Place]] = {}
        for place in self.places:
            by_text.setdefault(place.squeezed, []).append(place)
        by_text.pop("", None)
        nameless = []
        for piece in self.pieces:
            place = by_mark.get(piece.grade_id) or by_id.get(piece.identifier)
            if place is None:
                nameless.append(piece)
            else:
                self._is(piece, place)
        for piece in nameless:
            same = by_text.get(piece.squeezed, [])
            if same:
                # Several released cells may have the same text: the first that is still missing.
                self._is(piece, next((place for place in same if not place.group), same[0]))

    def _identify_by_names(self) -> None:
        """An answer without marks, where it stands in its place: it defines what the stub does."""
        for place in self.places:
            if place.role != ANSWER or not place.names or place.group:
                continue
            for piece in reversed(self.pieces):
                if piece.position in self.where or not self._stands_at(piece, place):
                    continue
                looks = piece.names or defined(piece.source)
                starts = squeeze(piece.source[:4]) in ("def", "clas") or piece.kind == "code"
                if place.names & looks and starts:
                    self._is(piece, place)
                    break

    def _is(self, piece: Piece, place: Place) -> None:
        self.where[piece.position] = place
        place.group.append(piece)

    def _stands_at(self, piece: Piece, place: Place) -> bool:
        """Whether the given cells around a submitted cell are those around a released one."""
        known = [p for p in self.pieces if p.position in self.where]
        before = [self.where[p.position].index for p in known if p.position < piece.position]
        after = [self.where[p.position].index for p in known if p.position > piece.position]
        return (not before or before[-1] < place.index) and (not after or after[0] > place.index)

    # Which of several counts

    def _choose(self, place: Place) -> None:
        """Choose the submitted cell that stands here; the others are dropped or the student's own."""
        group = sorted(place.group, key=lambda piece: piece.position)
        if not group:
            return
        best = max(group, key=lambda piece: (place.fits(piece), -piece.position))
        changed: list[Piece] = []
        for piece in group:
            if place.untouched(piece):
                self.dropped.add(piece.position)
            elif changed and _same(changed[-1], piece):
                self.dropped.add(piece.position)
            else:
                changed.append(piece)
        if place.is_answer and changed:
            solving = [piece for piece in changed if place.names & defined(piece.source)]
            place.given = solving[-1] if solving else changed[0]
            if place.role == WRITTEN:
                place.given = changed[-1]
            self._tell_several(place, changed, solving)
        else:
            # A given cell that is there as it was is that cell, and a changed copy is not.
            intact = [piece for piece in group if piece.squeezed == place.squeezed]
            place.given = max(intact, key=place.fits) if intact and best not in intact else best
        self.dropped.discard(place.given.position)
        if place.answered and place.given.kind != place.cell["cell_type"]:
            self.remarks.append(
                f"The cell of {place.name} had become a {place.given.kind} cell: it "
                f"was read as {_kind(place.cell['cell_type'])}."
            )

    def _tell_several(self, place: Place, changed: list[Piece], solving: list[Piece]) -> None:
        if place.role == WRITTEN and len(changed) > 1:
            self.remarks.append(
                f"{place.name} was answered in {len(changed)} cells that differ: all of them were kept."
            )
        elif len(solving) > 1:
            self.remarks.append(
                f"{place.name} was answered in {len(solving)} cells that differ: the "
                f"last one counts, as it does when you run all cells."
            )
        elif len(place.group) > 1 and len(changed) == 1 and len(place.group) > len(changed):
            self.remarks.append(
                f"The cell of {place.name} was there {len(place.group)} times: the answered one counts."
            )

    # The student's own cells

    def _gather(self) -> list[Own]:
        """Every cell of the student's own, behind the given cell that it followed."""
        own = []
        after = -1
        for piece in self.pieces:
            place = self.where.get(piece.position)
            if place is not None and place.given is piece:
                after = place.index
                continue
            if piece.squeezed and piece.position not in self.dropped:
                own.append(Own(piece, after))
            if place is not None and place.index > after:
                after = place.index
        return own

    def _keep_changes(self) -> None:
        """What a student added to a given cell, as far as it can matter."""
        used = self._words_of_the_student()
        for place in self.places:
            piece = place.given
            if piece is None or place.is_answer or place.untouched(piece):
                continue
            is_code = place.cell["cell_type"] == "code"
            if place.role == OPEN and (is_code or piece.kind != "code"):
                place.source = piece.source
            elif not is_code and piece.kind == "code":
                self.own.append(Own(piece, place.index))
            elif not is_code:
                self._add(place, "\n".join(_added(piece.source, text(place.cell))), "markdown")
            else:
                new = (defined(piece.source) - defined(text(place.cell))) & used
                if not new:
                    continue
                imports = [line for line in _added(piece.source, text(place.cell)) if imported(line)]
                enough = new <= imported("\n".join(imports))
                self._add(place, "\n".join(imports) if enough else piece.source, "code")
                self.remarks.append(
                    f"The given cell {place.name} was changed: the original is used, "
                    f"and what you added runs after it."
                )

    def _add(self, place: Place, source: str, kind: str) -> None:
        assert place.given is not None
        if source.strip():
            self.own.append(Own(Piece(place.given.position, kind, source), place.index))

    def _words_of_the_student(self) -> set[str]:
        """The words of the student's code, and the names of answers that are not given."""
        found: set[str] = set()
        for piece in [*(own.piece for own in self.own), *self._answers()]:
            found |= words(piece.source)
        for place in self.places:
            if place.role == ANSWER and not place.answered:
                found |= place.names
        return found

    def _answers(self) -> Iterator[Piece]:
        for place in self.places:
            if place.role == ANSWER and place.answered and place.given is not None:
                yield place.given

    def _in_running_order(self) -> None:
        """Where a cell of the student's own answers again, keep it on its side of the answer."""
        for own in self.own:
            for place in self.places:
                if not (place.answered and place.names & own.piece.names and place.given):
                    continue
                if own.piece.position < place.given.position and own.after >= place.index:
                    own.after = place.index - 1
                elif own.piece.position > place.given.position and own.after < place.index:
                    own.after = place.index
        self.own.sort(key=lambda own: (own.after, own.piece.position))

    def _tell_order(self) -> None:
        there = [place for place in self.places if place.given and place.cell["cell_type"] == "code"]
        positions = [place.given.position for place in there if place.given]
        if positions != sorted(positions):
            self.remarks.append("Cells stood in another order: they were run in the assignment's.")

    # What stands in the answer cells

    def _fill_written(self, place: Place) -> None:
        """A written answer, also one that stands beside its cell."""
        if place.answered:
            whole = [piece for piece in place.group if piece.position not in self.dropped]
            place.source = "\n\n".join(piece.source for piece in whole)
            self.own = [own for own in self.own if own.piece not in whole]
        else:
            beside = [
                own
                for own in self.own
                if own.after in (place.index - 1, place.index) and own.piece.kind != "code"
            ]
            found = [own.piece.source for own in beside]
            question = self.places[place.index - 1] if place.index else None
            if question and question.role == OPEN and question.cell["cell_type"] != "code":
                written = "\n".join(_added(question.source, text(question.cell)))
                if written.strip():
                    found.insert(0, written)
                    question.source = text(question.cell)
            if found:
                place.source = "\n\n".join(found)
                self.own = [own for own in self.own if own not in beside]
                self.remarks.append(f"The answer to {place.name} stood beside its cell: it counts.")
            elif not place.group:
                self._tell_lost(place)
        if "](attachment:" in place.source:
            self.remarks.append(
                f"A picture pasted into {place.name} is only in the file that you "
                f"handed in: who grades by hand looks there."
            )

    def _fill_answer(self, place: Place) -> None:
        """An answer; the untouched stub only where it cannot stand in another answer's way."""
        if place.answered and place.given is not None:
            place.source = place.given.source
            return
        elsewhere = [*(own.piece for own in self.own if own.piece.kind == "code"), *self._answers()]
        if any(place.names & piece.names or place.names & defined(piece.source) for piece in elsewhere):
            place.source = ""
            self.remarks.append(f"The answer to {place.name} stood in another cell: it counts.")
            return
        if any(may_define(piece.source, place.names) for piece in elsewhere):
            place.source = ""
        if not place.group:
            self._tell_lost(place)

    def _tell_lost(self, place: Place) -> None:
        self.lost.append(place.name)
        self.remarks.append(f"The cell of {place.name} is gone: it counts as not answered.")

    # The notebook

    def _write(self) -> dict:
        cells = []
        own = list(self.own)
        taken = {place.cell["id"] for place in self.places if "id" in place.cell}
        wanted = [each.piece.identifier for each in own]
        names = _identifiers(wanted, taken)
        following: dict[int, list[dict]] = {}
        for each, identifier in zip(own, names, strict=True):
            cell = {"cell_type": each.piece.kind, "id": identifier, "metadata": {}}
            following.setdefault(each.after, []).append(_filled(cell, each.piece.source))
        cells += following.get(-1, [])
        for place in self.places:
            cells.append(_filled(copy.deepcopy(place.cell), place.source))
            cells += following.get(place.index, [])
        for number, cell in enumerate(cells):
            cell.setdefault("id", f"given-{number}")
        return {
            "cells": cells,
            "metadata": copy.deepcopy(self.release["metadata"]),
            "nbformat": 4,
            "nbformat_minor": 5,
        }


def _filled(cell: dict, source: str) -> dict:
    """The cell with this source, without outputs and attachments of any run."""
    cell["source"] = source
    cell.pop("attachments", None)
    if cell["cell_type"] == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _identifiers(wanted: Iterable[str], taken: set[str]) -> list[str]:
    """An id for each cell: the one it had where that is one and free, otherwise a new one."""
    wanted = list(wanted)
    reserved = taken | set(wanted)
    taken = set(taken)
    made = []
    number = 0
    for identifier in wanted:
        if not _IDENTIFIER.fullmatch(identifier) or identifier in taken:
            while (identifier := f"own-{number}") in reserved:
                number += 1
            reserved.add(identifier)
        taken.add(identifier)
        made.append(identifier)
    return made


def _same(one: Piece, other: Piece) -> bool:
    """Whether two cells hold the same answer; white space at the ends of lines aside."""
    return [line.rstrip() for line in one.source.strip().split("\n")] == [
        line.rstrip() for line in other.source.strip().split("\n")
    ]


def _added(source: str, original: str) -> list[str]:
    """The lines that a changed source has and its original has not."""
    known = {line.strip() for line in original.split("\n")}
    return [line for line in source.split("\n") if line.strip() not in known]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _kind(cell_type: str) -> str:
    return "code" if cell_type == "code" else "text"
