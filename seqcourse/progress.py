"""What a student has done of an assignment, as the self-checks saw it.

A self-check that runs in a saved notebook (JupyterLab, Notebook, VS Code) adds a line to a hidden file
beside it: the time, the exercise, whether it passed; `seqcourse practice` adds what was known. The panel
at the top of the notebook and `seqcourse progress` read that file and the notebook. Nothing leaves the
folder; no grade depends on it.
"""

from __future__ import annotations

import html
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from seqcourse.errors import CourseError

# A longer time between two self-checks is a break.
LONGEST_STEP = timedelta(minutes=20)
# After so long an answer is asked about again, as questions of the book are.
WAITS = [timedelta(days=1), timedelta(days=7), timedelta(days=30)]
# Assignments whose trained model `seqcourse publish` makes a page.
PUBLISHED = ("ps6", "ps8", "ps9")
# What the release puts in place of a written answer.
STUB = "*Your answer goes here.*"
_HEADING = re.compile(r"## Exercise (\d+) · (.+)")
_MINUTES = re.compile(r"about (\d+) minutes")
_CHECKED = re.compile(r"check\.ps\d+\.(\w+)\.validate\((\w+)")
# The line above it, from which the points are read where an editor dropped nbgrader's metadata.
_GRADED = re.compile(
    rf"^#[^\n]*?: (\d+(?:\.\d+)?) points?\b[^\n]*\n(?:#[^\n]*\n)*{_CHECKED.pattern}", re.M
)
_BY_HAND = "· graded by hand**"
_SIGNS = {True: "✓", False: "✗", None: "–"}
_WORDS = {True: "done", False: "not yet right", None: "not begun"}


@dataclass
class AssignedExercise:
    """An exercise of an assignment: its number, its title and the minutes that it is said to take.

    points: by the name of the answer, such as {"causal_mask": 4}; 0 for what no self-check judges: a
        written answer, which a person reads, and a poll.
    passed: what the latest self-check of each answer said; True for a written answer or a poll that is
        answered, right or not.
    looked_up: whether the worked answer was shown before the exercise was solved.
    """

    number: int
    title: str
    minutes: int
    points: dict[str, float]
    passed: dict[str, bool]
    looked_up: bool = False

    @property
    def state(self) -> bool | None:
        """True: all answers passed. False: one was tried. None: nothing was."""
        if all(self.passed.get(name) for name in self.points):
            return True
        return False if self.passed else None


@dataclass(frozen=True)
class Progress:
    """How far somebody is with an assignment.

    spent: the time between self-checks, breaks left out.     hints: how many were asked for.
    """

    tasks: list[AssignedExercise]
    spent: timedelta
    hints: int

    @property
    def done(self) -> int:
        return sum(task.state is True for task in self.tasks)

    @property
    def looked_up(self) -> int:
        """Exercises that are done with their worked answer in sight."""
        return sum(task.looked_up and task.state is True for task in self.tasks)

    @property
    def points(self) -> tuple[float, float]:
        """Points of the answers that passed, and of all that a self-check sees."""
        tasks = self.tasks
        earned = sum(
            task.points[name] for task in tasks for name in task.points if task.passed.get(name)
        )
        return earned, sum(sum(task.points.values()) for task in tasks)

    @property
    def next(self) -> AssignedExercise | None:
        """The first exercise that is not done."""
        return next((task for task in self.tasks if task.state is not True), None)

    def __str__(self) -> str:
        """In a line, such as "3 of 9 exercises, 1 looked up, 16 of 47 points, 35 minutes, 2 hints"."""
        earned, all_points = self.points
        minutes = round(self.spent.total_seconds() / 60)
        done = f"{self.done} of {len(self.tasks)} exercises"
        done += f", {self.looked_up} looked up" * (self.looked_up > 0)
        return (
            f"{done}, {earned:g} of {all_points:g} points, {minutes} minute{'s' * (minutes != 1)}"
        ) + (f", {self.hints} hint{'s' * (self.hints != 1)}" if self.hints else "")


def record_file(notebook: Path) -> Path:
    """Where the self-checks of a notebook are written down; hidden, so that a folder stays tidy."""
    return notebook.with_name(f".{notebook.stem}.progress.jsonl")


def read(notebook: Path) -> Progress:
    """How far the owner of a notebook is.

    Raises:
        CourseError: the notebook cannot be read.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8-sig"))["cells"]
        tasks = list(_tasks(cells))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(f"{notebook} cannot be read as a notebook of the course: {error}") from error
    notes = list(_notes(record_file(notebook)))
    latest = {name: passed for _, name, passed, *_ in notes if name}
    solved, looked_up = set(), set()
    for _, name, passed, _, looked in notes:
        looked_up |= {name} if looked and name not in solved else set()
        solved |= {name} if passed else set()
    for task in tasks:
        task.looked_up = not looked_up.isdisjoint(task.points)
        noted = {name: latest[name] for name in task.points if name in latest}
        task.passed = noted | task.passed  # a written answer that is there counts, looked up or not
    times = sorted((at, name) for at, name, *_ in notes)
    pairs = zip(times, times[1:], strict=False)
    steps = [later - earlier for (earlier, _), (later, name) in pairs if name]  # not to a new beginning
    spent = sum((step for step in steps if step <= LONGEST_STEP), timedelta())
    return Progress(tasks, spent, hints=sum(hint for *_, hint, _ in notes))


def _tasks(cells: list[Mapping[str, Any]]) -> Iterator[AssignedExercise]:
    """The exercises that the cells of a notebook hold, with the points of their graded cells.

    Without nbgrader's metadata, those are told by their text; a text that belongs to an exercise with
    code is then not seen.
    """
    marked = any(_grader(cell) for cell in cells)
    task, by_hand, seen = None, False, set()
    for cell in cells:
        source = "".join(cell["source"]).replace("\r\n", "\n")
        if heading := _HEADING.match(source):
            if task:
                yield task
            minutes = _MINUTES.search(source)
            task = AssignedExercise(
                int(heading[1]), heading[2].strip(), int(minutes[1]) if minutes else 0, {}, {}
            )
            by_hand = not marked and _BY_HAND in source
            continue
        grader = _grader(cell)
        if task is None:
            continue
        if graded := list(_points(source, grader)):
            for line, name, points in graded:
                if line not in seen:
                    task.points[name] = task.points.get(name, 0) + points
                seen.add(line)
        elif grader.get("grade") or by_hand and cell.get("cell_type") == "markdown":
            name = str(grader.get("grade_id", f"written-{task.number}"))
            task.points.setdefault(name, 0)  # read by a person
            if STUB not in source and source.strip():
                task.passed[name] = True
            by_hand = False
    if task:
        yield task


def _grader(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """nbgrader's metadata of a cell, or {}."""
    found = (cell.get("metadata") or {}).get("nbgrader")
    return found if isinstance(found, dict) else {}


def _points(source: str, grader: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    """(text, answer, points) of each graded call in a cell: cells that were merged have several."""
    said = list(_GRADED.finditer(source))
    for found in said:
        poll = found[2] == "polls"
        yield found[0], found[3] if poll else found[2], 0.0 if poll else float(found[1])
    if not said and grader.get("grade") and (checked := _CHECKED.search(source)):
        poll = checked[1] == "polls"
        yield checked[0], checked[2] if poll else checked[1], 0.0 if poll else grader["points"]


def _notes(path: Path) -> Iterator[tuple[datetime, str, bool, bool, bool]]:
    """The lines of a record: when, of which answer, passed, with a hint, with the worked answer.

    Damaged ones are left out.
    """
    for note in _lines(path):
        try:
            at = datetime.fromisoformat(note["at"]).astimezone(UTC)
            hint, looked_up = note.get("hint") is True, note.get("looked_up") is True
            yield at, str(note["of"]), note["passed"] is True, hint, looked_up
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            continue


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a record that can be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            note = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(note, dict):
            yield note


def due(notebook: Path, now: datetime | None = None) -> list[str]:
    """The answers that it is time to be asked about again, since they were solved or first asked about.

    Who is right when it is time gets the next wait; who is wrong begins again.
    """
    waits: dict[str, tuple[datetime, int]] = {}  # since when, and which wait
    for line in _lines(record_file(notebook)):
        try:
            at = datetime.fromisoformat(line["at"]).astimezone(UTC)
        except (ValueError, KeyError, TypeError, OverflowError):
            continue
        asked, right = line.get("asked"), line.get("right") is True
        name = asked or line.get("passed") is True and line.get("of")
        if not name or not isinstance(name, str):
            continue
        since, stage = waits.setdefault(name, (at, 0))
        if asked and not right:
            waits[name] = at, 0
        elif asked and _over(since, stage, at):
            waits[name] = at, stage + 1
    now = now or datetime.now(UTC)
    return [name for name, wait in waits.items() if _over(*wait, now)]


def _over(since: datetime, stage: int, now: datetime) -> bool:
    return stage < len(WAITS) and now >= since + WAITS[stage]


@dataclass(frozen=True)
class Latest:
    """What the self-checks of one answer said last.

    left: how many hints they could still give; None before the first one.
    key: opens the worked answer; stays when a later check finds a mistake.
    tried: whether the check of a poll has seen an answer.
    """

    passed: bool = False
    left: int | None = None
    key: str = ""
    tried: bool = False


def latest(notebook: Path) -> dict[str, Latest]:
    """What the self-checks of a notebook said last, by answer. The class's own key is that of ""."""
    found: dict[str, Latest] = {}
    for told in _lines(record_file(notebook)):
        name, left, key = told.get("of"), told.get("left", 0), told.get("key", "")
        if isinstance(name, str) and type(left) is int and isinstance(key, str):
            before = found.get(name, Latest())
            tried = before.tried or told.get("tried") is True
            found[name] = Latest(told.get("passed") is True, left, key or before.key, tried)
    return found


def current_notebook() -> Path | None:
    """The saved notebook whose kernel this is, if it can be known."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return None
    told = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    path = Path.cwd() / Path(str(told)).name
    return path if path.suffix == ".ipynb" and path.is_file() else None


def note(answer: str, passed: bool, **told: Any) -> None:
    """Write down what a self-check said of an answer; show it in the panel.

    told: "hint", whether it gave one; "left", how many it could still give; "key", which opens the
        worked answer; "looked_up", whether that was shown before the exercise was solved; "tried",
        for a poll that is answered.
    """
    if notebook := current_notebook():
        if write(notebook, of=answer, passed=passed, **{k: v for k, v in told.items() if v}):
            _show(notebook, update=True)


def write(notebook: Path, **told: Any) -> bool:
    """Add a line to the record of a notebook; False in a folder without write rights."""
    line = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S+00:00}", **told}
    try:
        with record_file(notebook).open("a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")
    except OSError:
        return False  # self-checks go on without a record
    return True


def panel() -> None:
    """Show how far one is, here; every self-check that runs later changes it."""
    if notebook := current_notebook():
        note("", passed=False)  # when the work began
        _show(notebook)


def _show(notebook: Path, update: bool = False) -> None:
    from IPython.display import HTML, display

    try:
        display(HTML(_page(read(notebook))), display_id="seqcourse-progress", update=update)
    except CourseError:
        return  # it is being saved; the next self-check shows it


def _sign(task: AssignedExercise) -> tuple[str, str]:
    """What the panel shows of an exercise, and the same in words."""
    if task.state and task.looked_up:
        return "(✓)", "done, with the worked answer"
    return _SIGNS[task.state], _WORDS[task.state]


def _page(progress: Progress) -> str:
    signs = " &nbsp; ".join(
        f'<span title="{html.escape(task.title)}: {words}">{task.number}&nbsp;'
        f'<span aria-label="{words}">{sign}</span></span>'
        for task in progress.tasks
        for sign, words in [_sign(task)]
    )
    earned, all_points = progress.points
    task = progress.next
    ahead = (
        f"Next: exercise {task.number} · {html.escape(task.title)} (about {task.minutes} minutes)."
        if task
        else "All done: hand it in."
    )
    return (
        f'<div><b>{progress}</b> by your self-checks <progress max="{all_points:g}" value="{earned:g}" '
        f'aria-label="points"></progress><br>{signs}<br>{ahead}</div>'
    )
