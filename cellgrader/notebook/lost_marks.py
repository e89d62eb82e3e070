"""Find the cells that lost their marks in an editor: by likeness to the given cell, then by place.

Some editors drop cell ids, others nbgrader's names, some both. A cell that still has the given text or
defines the asked name is found before this (``matching``). What is left is compared with the given cells
line by line, and at last taken by its place between cells that are known. Whatever could be otherwise is
said in a sentence for a person; two cells that could be the same one are never chosen between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from cellgrader.notebook.cells import Piece, defined, may_define
from cellgrader.notebook.slots import Slot

# The share of a given cell's own lines that a cell must keep to be taken for it.
ALIKE = 0.5
# Fewer lines or characters that no other given cell has say nothing.
FEWEST_LINES, FEWEST_CHARACTERS = 2, 40


class Finder:
    """Matches what can be matched of the cells that are left.

    Args:
        slots: the released notebook's cells.
        pieces: the submission's.
        where: position of a submitted cell -> its slot, for the cells that are known.
        put: matches a submitted cell with a slot, which also changes ``where``.

    Attributes:
        told: sentences about what is not certain.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        pieces: Sequence[Piece],
        where: Mapping[int, Slot],
        put: Callable[[Piece, Slot], None],
    ) -> None:
        self.slots = slots
        self.pieces = pieces
        self.where = where
        self.put = put
        self.by_position = {piece.position: piece for piece in pieces}
        self.end = max(self.by_position, default=-1) + 1
        self.typical = _typical_lines(slots)
        self.told: list[str] = []

    def find(self) -> list[str]:
        """Match by likeness, then by place; the sentences come back."""
        self._by_likeness()
        self._by_place()
        return self.told

    # By likeness

    def _by_likeness(self) -> None:
        """Match cells that kept most of a given cell's lines."""
        missing = [slot for slot in self.slots if not slot.group and slot.index in self.typical]
        left = [piece for piece in self.pieces if piece.squeezed and piece.position not in self.where]
        lines = {piece.position: _lines(piece.source) for piece in left} if missing else {}
        for slot in missing:
            share, best = 0.0, []
            for piece in left:
                if piece.position in self.where or (piece.kind == "code") != slot.is_code:
                    continue
                typical = self.typical[slot.index]
                kept = len(typical & lines[piece.position]) / len(typical)
                if kept > share:
                    share, best = kept, [piece]
                elif kept == share:
                    best.append(piece)
            if share >= ALIKE:
                self._take_alike(slot, best)

    def _take_alike(self, slot: Slot, best: Sequence[Piece]) -> None:
        """Match the cells that are most like a given one, unless they differ from each other."""
        if len({piece.squeezed for piece in best}) > 1:
            if slot.is_answer:
                self.told.append(
                    f"{_cells(best)} resemble the given cell of {slot.name} alike: none was taken as "
                    f"its answer. Look which one is meant."
                )
            return
        for piece in best:
            self.put(piece, slot)
        if slot.names and not may_define(best[0].source, slot.names):
            self.told.append(
                f"Cell {best[0].position + 1} resembles the given cell of {slot.name}, but does not "
                f"define {', '.join(sorted(slot.names))}: it was taken as its answer."
            )

    # By place

    def _by_place(self) -> None:
        """Match cells that stand where a cell is missing of which nothing but its place is known."""
        gaps: dict[tuple[int, ...], tuple[list[Piece], list[Slot]]] = {}
        for slot in self.slots:
            run = [] if slot.group else self._run(slot)
            run = [piece for piece in run if (piece.kind == "code") == slot.is_code]
            if run:
                place = tuple(piece.position for piece in run)
                gaps.setdefault(place, (run, []))[1].append(slot)
        for run, missing in gaps.values():
            if any(slot.is_answer and not slot.is_code for slot in missing):
                continue  # texts at a written answer's place are that answer, see ``mend``
            for slot in missing:
                if slot.names and run:
                    self._tell_stranger(slot, run)
                elif run and (slot.is_answer or slot.editable and self._may_be(slot, run)):
                    piece = self._one_of(slot, run)
                    self.put(piece, slot)
                    run.remove(piece)

    def _run(self, slot: Slot) -> list[Piece]:
        """The unknown cells at a missing cell's place: behind the known cell before it.

        Where none are there, those above the known cell behind it. Where nothing is known, there are no
        places.
        """
        before = next((other for other in self.slots[: slot.index][::-1] if other.group), None)
        behind = next((other for other in self.slots[slot.index + 1 :] if other.group), None)
        if not before and not behind:
            return []
        start = max(piece.position for piece in before.group) + 1 if before else 0
        run = self._unknown(range(start, self.end))
        if not run and behind:
            end = min(piece.position for piece in behind.group)
            run = self._unknown(range(end - 1, -1, -1))[::-1]
        return run

    def _unknown(self, positions: Iterable[int]) -> list[Piece]:
        """The cells up to the first known one, without blank ones."""
        found = []
        for position in positions:
            if position in self.where:
                break
            piece = self.by_position.get(position)
            if piece is not None and piece.squeezed:
                found.append(piece)
        return found

    def _may_be(self, slot: Slot, run: Sequence[Piece]) -> bool:
        """Whether a cell that students may edit can be among these.

        Where its given text could have told and did not, only if one defines the same.
        """
        same = any(piece.names & defined(slot.original) for piece in run)
        return slot.index not in self.typical or slot.is_code and same

    def _one_of(self, slot: Slot, run: Sequence[Piece]) -> Piece:
        """The cell of a run to take for a slot: one that defines the same, or the longest."""
        names = defined(slot.original) if slot.is_code else frozenset()
        same = [piece for piece in run if piece.names & names]
        if same:
            return same[-1]
        longest = max(run, key=lambda piece: len(piece.squeezed))
        if slot.is_answer and len(run) > 1:
            self.told.append(
                f"{_cells(run)} stand where the cell of {slot.name} should be: all were run, and cell "
                f"{longest.position + 1}, the longest, stands as its answer."
            )
        return longest

    def _tell_stranger(self, slot: Slot, run: Sequence[Piece]) -> None:
        """Name cells in the place of an answer that they do not give."""
        if not any(may_define(piece.source, slot.names) for piece in run):
            names = ", ".join(sorted(slot.names))
            self.told.append(
                f"The cell of {slot.name} is missing, and in its place is something that does not "
                f"define {names} ({_cells(run).lower()}): it was run, and not taken as the answer."
            )


def _typical_lines(slots: Sequence[Slot]) -> dict[int, frozenset[str]]:
    """For each slot whose text tells it from the others, its lines that no other given cell has."""
    lines = {slot.index: _lines(slot.original) for slot in slots}
    times = Counter(line for some in lines.values() for line in some)
    own = {index: frozenset(line for line in some if times[line] == 1) for index, some in lines.items()}
    return {
        index: some
        for index, some in own.items()
        if len(some) >= FEWEST_LINES and sum(map(len, some)) >= FEWEST_CHARACTERS
    }


def _lines(source: str) -> set[str]:
    return {line.strip() for line in source.split("\n")} - {""}


def _cells(pieces: Sequence[Piece]) -> str:
    """ "Cell 3" or "Cells 3, 4"."""
    numbers = ", ".join(str(piece.position + 1) for piece in pieces[:5])
    more = f" and {len(pieces) - 5} more" if len(pieces) > 5 else ""
    return f"Cell{'s' * (len(pieces) > 1)} {numbers}{more}"
