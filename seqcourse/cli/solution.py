"""``seqcourse solution``: a worked answer with its explanation, in the terminal."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax

from cellgrader.answers import sheet as sheets
from cellgrader.answers.sheet import Sheet, Worked
from cellgrader.class_settings import in_words
from cellgrader.printable import printable
from seqcourse import progress
from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_notebook, find_root, shown, tell
from seqcourse.errors import CourseError


def show_solution(name: str, exercise: str, given: str = "", stuck: bool = False) -> None:
    """Print the worked answers to an exercise; without an exercise, list them.

    Args:
        exercise: its number ("4", "4a") or the name of its answer.
        given: the class's key. It is kept beside the notebook.
        stuck: open them before they are solved, and note that they were looked up.
    Raises:
        CourseError: there is no such answer, or it does not open yet; says what is missing.
    """
    notebook = find_notebook(name)
    sheet = sheets.read(notebook)
    if sheet is None:
        raise CourseError(
            f"{shown(notebook.with_name(sheets.FILE))} should hold worked answers, but there are none. "
            f"Your class keeps them closed, or the notebook came without that file"
            + (" (assignment 9 is a system of your own: it has none)." if name == "ps9" else ".")
        )
    if given:
        _keep(notebook, sheet, given.strip().upper())
    if not exercise:
        _list(notebook, sheet)
        return
    found = [
        key
        for key, entry in sheet.answers.items()
        if exercise.lower() in (key.lower(), entry.number, entry.number.rstrip("abcdefgh"))
    ]
    if not found:
        known = ", ".join(f"{entry.number} ({key})" for key, entry in sheet.answers.items())
        raise CourseError(
            f"Exercise {exercise!r} should be one with a worked answer. In {name} these have one: "
            f"{known}."
        )
    opened = {key: _open(notebook, sheet, key) for key in found}
    for key in [key for key, answer in opened.items() if stuck and not answer]:
        opened[key] = _look_up(notebook, sheet, key)
    for key, answer in opened.items():
        if answer:
            _print(sheet, key, answer)
    closed = [_why(notebook, sheet, key) for key, answer in opened.items() if not answer]
    if len(closed) == len(opened):
        raise CourseError("\n".join(closed))
    for why in closed:
        tell(why)


@refusals_in_words()
def show_key(name: str) -> None:
    """Print the key that a class gives out, and what to do with it.

    Raises:
        CourseError: this is no checkout, or there is no such assignment.
    """
    need_nbgrader()
    from cellgrader.course.folders import Course
    from cellgrader.release import worked

    course = Course(find_root())
    course.require(name)
    when, said = course.settings.answers, course.settings["answers.when"]
    where = f'{course.settings.where("answers.when")}: when = "{said}"'
    where += "" if said else ", and no assignment has a due date"
    if when == worked.NEVER:
        raise CourseError(f"{where}. So `seqcourse release` gives no worked answers to students.")
    if when == worked.OPEN:
        raise CourseError(
            f"{where}. So each worked answer opens by itself, and needs no key of yours: after the "
            f"self-check passed, or after its last hint."
        )
    due = course.settings.due(name)
    tell(worked.class_key(course, name))
    tell(
        f"Give it to your students after {in_words(due) if due else 'the due date'}. They type it once: "
        f"seqcourse solution {name} --with KEY"
    )


def _keep(notebook: Path, sheet: Sheet, key: str) -> None:
    """Write the class's key into the record of the notebook."""
    if sheet.opens == sheets.RESULT:
        raise CourseError("These worked answers need no key of a class: each opens by its self-check.")
    if not any(sheet.open(name, key) for name in list(sheet.answers)[:1]):
        raise CourseError(f"The key {key!r} does not fit {sheet.assignment}. Copy it once more.")
    if not progress.write(notebook, of="", passed=False, key=key):
        raise CourseError(f"{shown(notebook.parent)} cannot be written, so the key is not kept.")


def _open(notebook: Path, sheet: Sheet, name: str) -> Worked | None:
    """A worked answer with the key that the record has for it, or that an answer in its cell gives."""
    if sheet.opens == sheets.RESULT and sheet.answers[name].kind == sheets.WRITTEN:
        there = any(task.passed.get(name) for task in progress.read(notebook).tasks)
        return sheet.open(name, sheet.public_key(name)) if there else None
    of = name if sheet.opens == sheets.RESULT else ""
    return sheet.open(name, progress.latest(notebook).get(of, progress.Latest()).key)


def _look_up(notebook: Path, sheet: Sheet, name: str) -> Worked | None:
    """A worked answer whose exercise is not solved, where the class allows that."""
    if sheet.opens != sheets.RESULT or not sheet.after_hints:
        return None
    key = sheet.public_key(name)
    if sheet.answers[name].kind == sheets.CODE:
        from seqcourse.check import right

        exercises = import_module(f"seqcourse.check.{sheet.assignment}").EXERCISES
        key = right.key(exercises[name], sheet.answers[name].shift)
    answer = sheet.open(name, key)
    if answer:
        progress.write(notebook, of=name, passed=False, key=key, looked_up=True)
    return answer


def _why(notebook: Path, sheet: Sheet, name: str) -> str:
    """What is missing for a worked answer."""
    entry, call = sheet.answers[name], f"check.{sheet.assignment}.{name}({name})"
    closed = f"The worked answer to exercise {entry.number} ({name}) is still closed."
    if sheet.opens == sheets.CLASS:
        return (
            f"{closed} Your class opens it after the due date, with a key: "
            f"seqcourse solution {sheet.assignment} {entry.number} --with KEY"
        )
    stuck = f"seqcourse solution {sheet.assignment} {entry.number} --stuck"
    if entry.kind == sheets.POLL:
        return f"{closed} It opens when its poll has been checked twice, or with {stuck}."
    if entry.kind == sheets.WRITTEN:
        return f"{closed} It opens when an answer of yours stands in its cell, or with {stuck}."
    opens = (
        f"{closed} It opens when {call} passes in {shown(notebook)}, in an editor such as JupyterLab."
    )
    if not sheet.after_hints:
        return opens
    return (
        f"{opens} Each changed answer gets another hint there, and with the last one it opens, too. If "
        f"you are stuck: {stuck}. Your record then says that you looked it up."
    )


def _list(notebook: Path, sheet: Sheet) -> None:
    """Which worked answers there are, and which of them are open."""
    width = max(len(entry.number) for entry in sheet.answers.values())
    for name, entry in sheet.answers.items():
        state = "open  " if _open(notebook, sheet, name) else "closed"
        tell(f"{entry.number:>{width}}  {state}  {name}: {entry.title}")
    tell(f"To read one: seqcourse solution {sheet.assignment} NUMBER")


def _print(sheet: Sheet, name: str, answer: Worked) -> None:
    """One worked answer: in colours on a terminal, plain elsewhere."""
    console = Console(highlight=False, markup=False, emoji=False)
    entry = sheet.answers[name]
    console.print(printable(f"Exercise {entry.number} · {entry.title}: {name}"), style="bold")
    console.print()
    console.print(answer.explained)
    if answer.code:
        _code(console, answer.code)
    if answer.other:
        console.print(f"Another style: {answer.style}", style="bold")
        _code(console, answer.other)


def _code(console: Console, source: str) -> None:
    console.print()
    if console.is_terminal:
        console.print(Syntax(source, "python", background_color="default", word_wrap=True))
    else:
        print(source)
    console.print()
