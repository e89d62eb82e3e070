"""Rebuild a clean notebook from a submission without losing an answer.

A submission's structure is untrusted. The released notebook provides order, metadata, tags and locked
sources. The submission provides the answers and the cells that the student added; each added cell stays
behind the released cell that it followed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellgrader.notebook import only_in_editors, pictures
from cellgrader.notebook.cells import Piece, defined, imported, may_define, words
from cellgrader.notebook.document import mark, text
from cellgrader.notebook.matching import Matching
from cellgrader.notebook.parse import release_of
from cellgrader.notebook.slots import ANSWER, LOCKED, OPEN, WRITTEN, Slot
from cellgrader.profile import program

# One given cell in so many has another text: the notebook is of another release.
OTHER = 5
CUT = "\n\n[...]"
TOO_LONG = f"The answer is too long, and was not read to its end. {pictures.IN_NOTEBOOK}"
_IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Mended:
    """A mended notebook.

    notebook: in nbformat 4.5 with unique cell ids. Cells that grading does not run keep the student's
        outputs, the others have none. A note for whoever grades a cell is in its metadata.
    remarks: sentences for the student about what was mended.
    lost: names of the answers missing from the submission.
    older: a sentence if the notebook is of another release than the one its answers are graded in.
    uncertain: sentences for a person about cells that could also be matched in another way.
    """

    notebook: dict
    remarks: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    older: str = ""
    uncertain: tuple[str, ...] = ()


@dataclass
class Own:
    """A cell that the student added, and the index of the released cell that it follows."""

    piece: Piece
    after: int

    @property
    def is_code(self) -> bool:
        return self.piece.kind == "code"


def mend(submitted: dict, release: dict) -> Mended:
    """Insert a student's answers and added cells into the released notebook.

    Args:
        submitted: the result of ``stage.read_submission``.
        release: the released notebook, psN.ipynb in assignments/.
    """
    matching = Matching(submitted, release)
    older = _other_release(matching, release_of(submitted), release_of(release))
    mender = _Mender(matching, release, submitted.get("pictures", {}))
    return replace(mender.result(), older=older)


def _other_release(matching: Matching, version: str, now: str) -> str:
    """A sentence about the release of a submitted notebook; "" if it is the present one.

    Notebooks of early releases do not say it, nor what some editors save: there, many given cells with
    other texts tell.
    """
    given = [slot for slot in matching.slots if not slot.is_answer and slot.given]
    changed = [slot for slot in given if not slot.untouched(slot.given)]
    if version == now or not version and OTHER * len(changed) <= len(given):
        return ""
    which = f"release {version}" if version else "another release"
    return f"The notebook is of {which}: its answers were graded in that of {now or 'another one'}."


class _Mender:
    """The steps of ``mend``: gather the added cells, fill in the answers, build the notebook."""

    def __init__(self, matching: Matching, release: dict, found: dict[str, str]) -> None:
        self.matching = matching
        self.pictures = found
        self.slots = matching.slots
        self.release = release
        self.remarks = list(matching.remarks)
        self.uncertain = list(matching.uncertain)
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
        self._add_remarks()
        self._tell_text_below()
        notebook = self._notebook()
        return Mended(
            notebook,
            tuple(self.remarks),
            tuple(self.lost),
            uncertain=tuple(dict.fromkeys(self.uncertain)),
        )

    # Cells that the student added

    def _gather(self) -> None:
        """Collect the cells that the student added, each with the released cell that it followed."""
        after = -1
        for piece in self.matching.pieces:
            slot = self.matching.where.get(piece.position)
            if slot is not None and slot.given is piece:
                after = slot.index
                continue
            if piece.squeezed and piece.position not in self.matching.dropped:
                self.own.append(Own(piece, after))
            if slot is not None:
                # A copy at the notebook's end must not move later cells back to the original's position.
                after = max(after, slot.index)

    def _keep_changes(self) -> None:
        """Keep a student's changes to released cells where they can matter."""
        used = self._words_in_code()
        for slot in self.slots:
            piece = slot.given
            if piece is None or slot.is_answer or slot.untouched(piece):
                continue
            if slot.role == OPEN and (slot.is_code or piece.kind != "code"):
                slot.source = piece.source
            elif not slot.is_code:
                # A text cell turned into code becomes an added cell; lines added to locked text, a note.
                note = "\n".join(_added(piece.source, slot.original))
                self._add(slot, piece.source if piece.kind == "code" else note)
            else:
                self._keep_changed_code(slot, piece, used)

    def _keep_changed_code(self, slot: Slot, piece: Piece, used: set[str]) -> None:
        """Use the original of a locked cell. Keep added code if it defines a name used elsewhere."""
        new = (piece.names - defined(slot.original)) & used
        if not new:
            return
        lines = [line for line in _added(piece.source, slot.original) if imported(line)]
        imports = "\n".join(lines)
        self._add(slot, imports if new <= imported(imports) else piece.source, "code")
        self.remarks.append(
            f"The given cell {slot.name} was changed: the original is used, and your additions run "
            f"after it."
        )

    def _add(self, slot: Slot, source: str, kind: str = "") -> None:
        if source.strip() and slot.given is not None:
            changed = replace(slot.given, source=source, identifier="")
            self.own.append(Own(replace(changed, kind=kind or changed.kind), slot.index))

    def _words_in_code(self) -> set[str]:
        """All words in the student's code, and the names that missing answers should define."""
        code = [own.piece for own in self.own if own.is_code]
        found = set().union(*(words(piece.source) for piece in [*code, *self._answers()]))
        for slot in self.slots:
            if not slot.answered:
                found |= slot.names
        return found

    def _answers(self) -> list[Piece]:
        """The code answers that were given."""
        slots = [slot for slot in self.slots if slot.role == ANSWER and slot.answered]
        return [slot.given for slot in slots if slot.given is not None]

    def _keep_running_order(self) -> None:
        """Keep an added cell that redefines an answer before or after that answer, as submitted."""
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

    # Answer cells

    def _fill_written(self, slot: Slot) -> None:
        """Fill in a written answer, including one written in a neighbouring cell."""
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
            found = self._neighbouring_text(slot)
            if found:
                slot.source = "\n\n".join(found)
                self.remarks.append(f"The answer to {slot.name} was next to its cell: it counts.")
            elif not slot.group:
                self.lost.append(slot.name)

    def _answers_another(self, piece: Piece) -> bool:
        """Whether a cell with a written answer's metadata holds the code of a missing code answer."""
        return piece.kind == "code" and any(
            slot.role == ANSWER and not slot.answered and slot.names & piece.names for slot in self.slots
        )

    def _neighbouring_text(self, slot: Slot) -> list[str]:
        """Remove and return text written next to a written answer's cell."""
        found = []
        question = self.slots[slot.index - 1] if slot.index else None
        if question is not None and question.role == OPEN and not question.is_code:
            written = "\n".join(_added(question.source, question.original))
            if written.strip():
                found.append(written)
                question.source = text(question.cell)
        beside = [own for own in self.own if not own.is_code and self._is_neighbour(own, slot)]
        others = [
            each
            for each in self.slots[slot.index :]
            if each.role == WRITTEN
            and not each.answered
            and beside
            and self._is_neighbour(beside[-1], each)
        ]
        if len(others) > 1 and beside:
            names = " and ".join(each.name for each in others)
            how = "in their order" if len(beside) == len(others) else f"all as that to {slot.name}"
            self.uncertain.append(
                f"The cells of {names} are missing, with nothing between them: the texts there "
                f"({_numbers(beside)}) were taken as their answers, {how}."
            )
        elif len(beside) > 1:
            self.uncertain.append(
                f"{len(beside)} texts stand where the answer to {slot.name} should be, "
                f"{_numbers(beside)}: all were taken as the answer."
            )
        if len(beside) == len(others):  # several answers in a row: one text for each
            beside = beside[:1]
        self.own = [own for own in self.own if own not in beside]
        return [*found, *(own.piece.source for own in beside)]

    def _tell_text_below(self) -> None:
        """Name texts below a written answer: a cell that was split leaves its second half there."""
        for slot in self.slots:
            below = [own for own in self.own if own.after == slot.index and not own.is_code]
            if slot.role == WRITTEN and slot.answered and below:
                self.uncertain.append(
                    f"A text of the student's own stands right below the answer to {slot.name} "
                    f"({_numbers(below)}): it may belong to it."
                )

    def _is_neighbour(self, own: Own, slot: Slot) -> bool:
        """Whether no submitted released cell lies between an added cell and a slot."""
        between = self.slots[own.after + 1 : slot.index]
        return own.after <= slot.index and not any(each.given for each in between)

    def _fill_answer(self, slot: Slot) -> None:
        """Fill in a code answer. Drop the untouched stub if it could override an answer elsewhere."""
        if slot.answered and slot.given is not None:
            slot.source = self._without_checks(slot.given.source)
            return
        elsewhere = [*(own.piece for own in self.own if own.is_code), *self._answers()]
        if any(slot.names & piece.names for piece in elsewhere):
            slot.source = ""
            self.remarks.append(f"The answer to {slot.name} was in another cell: it counts.")
            return
        if any(may_define(piece.source, slot.names) for piece in elsewhere):
            slot.source = ""
        if not slot.group:
            self.lost.append(slot.name)

    def _without_checks(self, source: str) -> str:
        """An answer without the self-checks and grade cells that were merged into its cell.

        They have cells of their own here, and the checks are not in the sandbox.
        """
        for slot in self.slots:
            check = slot.original.strip("\n")
            is_check = slot.role == LOCKED and (slot.keeps_outputs or mark(slot.cell).get("grade"))
            if is_check and slot.is_code and check:
                source = f"\n{source}\n".replace(f"\n{check}\n", "\n\n")[1:-1]
        return source

    def _add_remarks(self) -> None:
        """Add remarks about the whole notebook."""
        self.lost.sort(key=[slot.name for slot in self.slots].index)
        if self.lost:
            one = len(self.lost) == 1
            self.remarks.append(
                f"The cell{'' if one else 's'} of {', '.join(self.lost)} {'is' if one else 'are'} "
                f"missing: {'it counts' if one else 'they count'} as not answered."
            )
        for piece in self.matching.pieces:
            if piece.too_long:
                read = "was not read" if piece.kind == "code" else "only its beginning was read"
                self.remarks.append(
                    f"Cell {piece.position + 1} is longer than a million characters: {read}."
                )
        theirs = {own.piece.position: own.piece for own in self.own}
        for slot in self.slots:
            if slot.given and slot.role in (ANSWER, OPEN) and not slot.untouched(slot.given):
                theirs[slot.given.position] = slot.given
        self.remarks += only_in_editors.remarks(theirs[position] for position in sorted(theirs))
        slots = [slot.given.position for slot in self.slots if slot.given and slot.is_code]
        if slots != sorted(slots):
            self.remarks.append(
                "The cells were in another order: they were run in the order of the assignment."
            )

    # The notebook

    def _notebook(self) -> dict:
        taken = {slot.cell["id"] for slot in self.slots}
        identifiers = _identifiers([own.piece.identifier for own in self.own], taken)
        following: dict[int, list[dict]] = {}
        for own, identifier in zip(self.own, identifiers, strict=True):
            cell = {"cell_type": own.piece.kind, "id": identifier, "metadata": {}}
            following.setdefault(own.after, []).append(_with_source(cell, own.piece.source))
        cells = following.get(-1, [])
        for slot in self.slots:
            cell = _with_source(copy.deepcopy(slot.cell), slot.source)
            if slot.keeps_outputs and slot.given is not None:
                cell["outputs"] = list(slot.given.outputs)
            if slot.by_hand and any(piece.too_long for piece in slot.group):
                cell["source"] += CUT
                self._note(cell, TOO_LONG)
            cells.append(cell)
            cells += following.get(slot.index, [])
        for place, told in pictures.attach(cells, self.pictures).items():
            self._note(cells[place], told)
        metadata = copy.deepcopy(self.release["metadata"])
        return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}

    def _note(self, cell: dict, told: str) -> None:
        """Tell whoever grades: on the page of this cell, and in the list of what to look at."""
        cell["metadata"].setdefault(program(), {}).setdefault("notes", []).append(told)
        self.uncertain.append(f"{mark(cell).get('grade_id') or 'A text beside the answers'}: {told}")


def _numbers(own: Sequence[Own]) -> str:
    """ "cell 3" or "cells 3, 4"."""
    numbers = ", ".join(str(each.piece.position + 1) for each in own[:5])
    more = f" and {len(own) - 5} more" if len(own) > 5 else ""
    return f"cell{'s' * (len(own) > 1)} {numbers}{more}"


def _with_source(cell: dict, source: str) -> dict:
    """The cell with this source and without outputs."""
    cell["source"] = source
    if cell["cell_type"] == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _identifiers(wanted: Sequence[str], taken: set[str]) -> list[str]:
    """An id for each cell: its own if it is valid and unused, otherwise a new one."""
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
    """The lines of a changed source that its original does not have, and the blank ones between them."""
    known = {line.strip() for line in original.split("\n")} - {""}
    lines = [line for line in source.split("\n") if line.strip() not in known]
    paragraphs = [line for k, line in enumerate(lines) if line.strip() or k and lines[k - 1].strip()]
    return "\n".join(paragraphs).strip("\n").split("\n")
