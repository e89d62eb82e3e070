"""An assignment as a class gives it: without the exercises that it leaves out, with its own points.

`course.toml` says both. The notebook in solutions/ stays as it is, so that an update of the course
merges; whatever releases, grades or counts an assignment reads it through ``class_notebook``.
"""

from __future__ import annotations

import ast
import copy
import re
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.platforms.spreadsheet import number

# "**5 + 2 points · about 20 minutes**" below the heading of an exercise.
SAID = re.compile(r"^\*\*(\d+(?:\.\d+)?(?: \+ \d+(?:\.\d+)?)*) points? ·", re.M)
POINTS = re.compile(r"\b(\d+(?:\.\d+)?) points?\b")
# What a part is worth, such as "For 4 points" and then "For 2 more", in the order of the graded cells.
OF_PART = re.compile(r"\b(?P<for>[Ff]or )(?P<of>\d+(?:\.\d+)?)(?P<more> more)?(?P<word> points?)?\b")
ASKED = re.compile(r"\bexercises? (\d+)(?: (?:to|and) (\d+))?")
ROW = re.compile(r"^\| *(\d+) *\|.*\|$")  # of the table at the top
SECTION = re.compile(r"^## ")
GIVEN = (
    "*Your class leaves out exercise {}. What a later part needs of it is given here; it carries no "
    "points.*"
)
MAGIC = re.compile(r"^[ \t]*[%!].*$", re.M)


@dataclass(frozen=True)
class Part:
    """The cells of one exercise: its heading's number, and their places in the notebook."""

    number: int
    places: tuple[int, ...]


def class_notebook(course: Course, name: str) -> dict:
    """The instructor's notebook of an assignment, as this class gives it.

    Raises:
        CourseError: course.toml names an exercise that the assignment does not have, or points that
            do not fit its parts.
    """
    return adapt(notebooks.read(course.solution(name)), course, name)


def adapt(book: dict, course: Course, name: str) -> dict:
    """A notebook as a class gives it; the same one if the class changes nothing in it."""
    settings = course.settings
    changed, leave_out, line = settings.points(name), settings.left_out(name), settings.line(name)
    if not (changed or leave_out or line):
        return book
    book = copy.deepcopy(book)
    parts = {part.number: part for part in _parts(book["cells"])}
    named = {f"{name}.leave_out": leave_out} | {f"{name}.points.{each}": [each] for each in changed}
    for key, numbers in named.items():
        for exercise in set(numbers) - parts.keys():
            raise CourseError(
                f"{settings.where(key)}: {name} has no exercise {exercise}; its exercises are "
                f"{', '.join(map(str, parts))}."
            )
    for exercise, points in changed.items():
        if exercise not in leave_out:
            where = settings.where(f"{name}.points.{exercise}")
            _give_points(
                book["cells"], parts[exercise], points, f"{where}: exercise {exercise} of {name}"
            )
    _leave_out(book, [parts[n] for n in sorted(set(leave_out))], depends(course, name))
    if line:
        _write_line(book["cells"], line)
    return book


def check_settings(course: Course) -> None:
    """Raise CourseError if course.toml names an assignment that the course does not have."""
    settings = course.settings
    for name, where in settings.assignments.items():
        if name not in course.all_names():
            raise CourseError(
                f"{where}: {name!r} should be an assignment with a folder in solutions/, but the course "
                f"has {', '.join(course.all_names()) or 'none'}."
            )


def _parts(cells: list[dict]) -> Iterator[Part]:
    """The exercises of a notebook. One ends at the next heading of its kind, exercise or not."""
    number_of, places = 0, []
    for place, cell in enumerate(cells):
        source = notebooks.text(cell) if cell["cell_type"] == "markdown" else ""
        if SECTION.match(source):
            if number_of:
                yield Part(number_of, tuple(places))
            heading = notebooks.HEADING.match(source)
            number_of, places = int(heading[1]) if heading else 0, []
        places.append(place)
    if number_of:
        yield Part(number_of, tuple(places))


# Points


def _give_points(cells: list[dict], part: Part, points: list[float], where: str) -> None:
    """Change the points of an exercise, in its graded cells and wherever its text says them."""
    graded = [cells[place] for place in part.places if notebooks.mark(cells[place]).get("grade")]
    old = list(_graded({"cells": cells}, part).values())
    new = shared(points, old)
    if new is None:
        raise CourseError(
            f"{where} has {len(old)} graded part{'s' * (len(old) > 1)} ({_sum(old)} points), but "
            f"course.toml gives {_sum(points)}. Give one number for each: "
            f"[{', '.join(number(value) for value in old)}]"
        )
    for cell, value in zip(graded, new, strict=True):
        cell["metadata"]["nbgrader"]["points"] = value if value % 1 else int(value)
        if cell["cell_type"] == "code":
            first, *rest = notebooks.text(cell).split("\n")
            cell["source"] = "\n".join([POINTS.sub(_points(value), first, count=1), *rest])
    texts = [cells[place] for place in part.places if _is_text(cells[place])]
    of_parts = iter(new if _in_order(texts, old) else ())
    for cell in texts:
        cell["source"] = _said_anew(notebooks.text(cell), dict(_sames(old, new)), new, of_parts)
    _change_row(cells[0], part.number, new)


def shared(points: list[float], old: list[float]) -> list[float] | None:
    """Points for each part. One number is shared out as the old points are; None if that is uneven."""
    if len(points) == len(old):
        return [float(value) for value in points]
    if len(points) > 1 or not sum(old):
        return None
    new = [points[0] * value / sum(old) for value in old]
    return new if all(4 * value == int(4 * value) for value in new) else None


def _sames(old: list[float], new: list[float]) -> Iterator[tuple[float, float]]:
    """Old and new points of parts, where the old number can mean but one new one."""
    for value in set(old):
        found = {after for before, after in zip(old, new, strict=True) if before == value}
        if len(found) == 1:
            yield value, found.pop()


def _is_text(cell: dict) -> bool:
    return cell["cell_type"] == "markdown" and not notebooks.mark(cell).get("solution")


def _of_parts(source: str) -> Iterator[re.Match]:
    return (found for found in OF_PART.finditer(source) if found["more"] or found["word"])


def _in_order(texts: Iterable[dict], points: list[float]) -> bool:
    """Whether the texts of an exercise say what its parts are worth, one part after the other."""
    said = [float(found["of"]) for cell in texts for found in _of_parts(notebooks.text(cell))]
    return said == points[: len(said)]


def _said_anew(
    source: str, known: dict[float, float], new: list[float], of_parts: Iterator[float]
) -> str:
    """The text of an exercise with the new points."""
    first = SAID.search(source)
    if not first:
        return _said(source, known, of_parts)
    points = _sum(new) if " + " in first[1] else number(sum(new))
    head = f"**{points} point{'' if points == '1' else 's'} ·"
    return source[: first.start()] + head + _said(source[first.end() :], known, of_parts)


def _said(source: str, known: dict[float, float], of_parts: Iterator[float]) -> str:
    """Points in running text, where it is clear which part they are of.

    known: new points by the old ones.     of_parts: those of the parts that "For 3 more" is said of.
    """
    made, end = [], 0
    for found in re.finditer(f"{OF_PART.pattern}|{POINTS.pattern}", source):
        of_part = found["for"] and (found["more"] or found["word"])
        old = float(found["of"] or found[5])
        value = next(of_parts, known.get(old)) if of_part else known.get(old)
        if value is None or found["for"] and not of_part:
            continue
        word = f" point{'' if value == 1 else 's'}" if found["word"] or not of_part else ""
        words = f"{found['for'] or ''}{number(value)}{found['more'] or ''}{word}"
        made += [source[end : found.start()], words]
        end = found.end()
    return "".join([*made, source[end:]])


def _change_row(title: dict, exercise: int, new: list[float] | None) -> None:
    """Change the points of an exercise in the table at the top; without any, take its row out."""
    lines = []
    for line in notebooks.text(title).split("\n"):
        row = ROW.match(line)
        if row and int(row[1]) == exercise:
            if new is None:
                continue
            cells = line.split("|")
            cells[-3] = f" {_sum(new) if ' + ' in cells[-3] else number(sum(new))} "
            line = "|".join(cells)
        lines.append(line)
    title["source"] = "\n".join(lines)


def _points(value: float) -> str:
    return f"{number(value)} point{'' if value == 1 else 's'}"


def _sum(values: Iterable[float]) -> str:
    return " + ".join(number(value) for value in values)


def other_points(book: dict) -> list[str]:
    """Sentences about exercises whose text says other points than their cells have."""
    found: list[tuple[str, float, float]] = []
    for cell in book["cells"]:
        source = notebooks.text(cell)
        said = SAID.search(source) if cell["cell_type"] == "markdown" else None
        if said:
            title = source.strip().splitlines()[0].lstrip("# ")
            found.append((title, sum(map(float, said[1].split(" + "))), 0.0))
        elif found and notebooks.mark(cell).get("grade"):
            title, points, have = found[-1]
            found[-1] = (title, points, have + float(notebooks.mark(cell).get("points", 0)))
    return [
        f"The text of {title!r} says {points:g} points, but its cells have {have:g}. Change one of "
        f"them, and the table at the top."
        for title, points, have in found
        if points != have
    ]


def to_look_at(before: dict, book: dict) -> list[str]:
    """Sentences about what still says the old points: rubrics, and texts that could mean any part."""
    old = {part.number: _graded(before, part) for part in _parts(before["cells"])}
    found = list(_orphaned(book, old.keys() - {part.number for part in _parts(book["cells"])}))
    for part in _parts(book["cells"]):
        was, now = old[part.number], _graded(book, part)
        ambiguous = set(was.values()) - {value for value, _ in _sames([*was.values()], [*now.values()])}
        for cell in (book["cells"][place] for place in part.places):
            mark = notebooks.mark(cell)
            if mark.get("solution") and mark.get("grade") and was != now:
                points, before_ = now[mark["grade_id"]], was[mark["grade_id"]]
                found.append(
                    f"{mark['grade_id']} is worth {_points(points)} in your class; its rubric in "
                    f"solutions/ shares out {number(before_)}."
                )
            elif cell["cell_type"] == "markdown" and was != now:
                text = SAID.sub("", notebooks.text(cell))
                found += [
                    f"The text of exercise {part.number} says {said[0]!r}, of which part is not clear. "
                    f"Change it in solutions/, if need be."
                    for said in POINTS.finditer(text)
                    if float(said[1]) in ambiguous
                ]
    return found


def _orphaned(book: dict, left_out: Iterable[int]) -> Iterator[str]:
    """Sentences about written questions that ask about an exercise that is left out."""
    for part in _parts(book["cells"]):
        cells = [book["cells"][place] for place in part.places]
        marks = [notebooks.mark(cell) for cell in cells]
        asked: set[int] = set()
        for cell in filter(_is_text, cells):
            for first, last in ASKED.findall(notebooks.text(cell)):
                asked |= set(range(int(first), int(last or first) + 1))
        if any(mark.get("solution") and mark.get("grade") for mark in marks):
            for missing in sorted(asked.intersection(left_out)):
                yield (
                    f"Exercise {part.number} asks in words about exercise {missing}, which your class "
                    f"leaves out. Leave it out, too, or change its question in solutions/."
                )


def _graded(book: dict, part: Part) -> dict[str, float]:
    """The points of an exercise, by graded cell."""
    marks = [notebooks.mark(book["cells"][place]) for place in part.places]
    return {mark["grade_id"]: float(mark["points"]) for mark in marks if mark.get("grade")}


# Exercises that are left out


def depends(course: Course, name: str) -> dict[str, list[str]]:
    """Answers whose hidden checks call other answers, as solutions/checks/psN.py lists them."""
    path = course.solutions / "checks" / f"{name}.py"
    if not path.is_file():
        return {}
    for line in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == "DEPENDS":
            return ast.literal_eval(line.value)
    return {}


def _leave_out(book: dict, parts: list[Part], needs: dict[str, list[str]]) -> None:
    """Take exercises out. Code of theirs that a later part needs stays, as given code."""
    cells = book["cells"]
    of = {place: part.number for part in parts for place in part.places}
    stay = [place for place in range(len(cells)) if place not in of]
    code = {place: Names.of(cell) for place, cell in enumerate(cells) if cell["cell_type"] == "code"}
    answers = {notebooks.mark(cells[place]).get("grade_id") for place in stay}
    wanted = {name for answer in answers for name in needs.get(answer, ())}
    kept = set(stay)
    waiting = [(place, name) for place in stay if place in code for name in code[place].used]
    waiting += [(len(cells), name) for name in wanted]
    while waiting:
        place, name = waiting.pop()
        if any(name in code[other].defined for other in kept if other in code and other < place):
            continue
        makers = [other for other in of if other in code and name in code[other].defined]
        new = [other for other in makers if other not in kept]
        kept.update(new)
        waiting += [(other, used) for other in new for used in code[other].used]
    made, said = [], set()
    for place, cell in enumerate(cells):
        if place in kept and place in of:
            if of[place] not in said:
                said.add(of[place])
                text = GIVEN.format(of[place])
                made.append({"cell_type": "markdown", "metadata": {}, "source": text})
                made[-1]["id"] = f"{cell.get('id', place)}-left-out"[:64]
            made.append(_given(cell))
        elif place in kept:
            made.append(cell)
    book["cells"] = made
    for part in parts:
        _change_row(cells[0], part.number, None)


def _given(cell: dict) -> dict:
    """A cell of an exercise that is left out, as given code."""
    mark = notebooks.mark(cell)
    if mark:
        kept = {key: value for key, value in mark.items() if key != "points"}
        cell["metadata"]["nbgrader"] = kept | {"solution": False, "grade": False, "locked": True}
    cell["source"] = notebooks.without_markers(notebooks.text(cell))
    return cell


@dataclass(frozen=True)
class Names:
    """The names that a cell defines for the whole notebook, and those that it uses."""

    defined: frozenset[str]
    used: frozenset[str]

    @classmethod
    def of(cls, cell: dict) -> Names:
        if notebooks.mark(cell).get("grade"):
            return cls(frozenset(), frozenset())
        source = MAGIC.sub("", notebooks.text(cell))
        try:
            top = symtable.symtable(source, "cell", "exec")
        except SyntaxError:
            return cls(frozenset(), frozenset())
        names = top.get_symbols()
        defined = {s.get_name() for s in names if s.is_assigned() or s.is_imported()}
        used = {s.get_name() for s in names if s.is_referenced()} - defined
        return cls(frozenset(defined), frozenset(used | set(_globals(top))))


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Names of the notebook that functions and classes in a cell use."""
    for inner in table.get_children():
        yield from (s.get_name() for s in inner.get_symbols() if s.is_global() and s.is_referenced())
        yield from _globals(inner)


def _write_line(cells: list[dict], line: str) -> None:
    """Write what students read of their class below the title of the notebook."""
    title, _, rest = notebooks.text(cells[0]).partition("\n")
    cells[0]["source"] = f"{title}\n\n*{line}*\n{rest}"


class AdaptToClass(NbGraderPreprocessor):
    """The first step of nbgrader's release, see ``adapt``."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from nbformat import from_dict

        course = Course(Path(self.config.CourseDirectory.root))
        return from_dict(adapt(nb, course, resources["nbgrader"]["assignment"])), resources
