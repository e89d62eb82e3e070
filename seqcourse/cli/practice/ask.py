"""``seqcourse practice``: questions about a student's own answers, in the terminal or on a sheet."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from seqcourse import progress
from seqcourse.cli.practice.items import PracticeQuestion
from seqcourse.cli.practice.running import Answer, asked
from seqcourse.cli.root import find_notebook, shown, tell
from seqcourse.errors import CourseError
from seqcourse.own import code_of, with_needs

LETTERS = "abcd"
_MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n", re.M)  # in solutions/


def practise(name: str, exercise: str, seed: int | None, count: int, sheet: Path | None) -> None:
    """Ask so many questions, or write them into a file and their answers into another.

    Args:
        name: an assignment, or a notebook of one.
        exercise: only this answer; "" for all that are solved.
        seed: draws the questions; other ones each time without.

    Raises:
        CourseError: there is no such notebook or exercise, nothing is solved, or nothing can be asked.
    """
    notebook = Path(name) if name.endswith(".ipynb") else find_notebook(name)
    seed = random.randrange(10_000) if seed is None else seed
    answers, right, number = _answers(notebook, exercise), 0, 0
    first = progress.due(notebook)
    with contextlib.closing(_questions(notebook.stem, answers, count, seed, first)) as questions:
        if sheet:
            return _write(sheet, f"{notebook.stem}, seed {seed}", list(questions))
        print("Type a letter, or Enter alone to see the answer. Ctrl+C ends.", flush=True)
        try:
            for item in questions:
                good = _ask(f"{number + 1}. ", item)
                progress.write(notebook, asked=item.name, right=good)
                right += good
                number += 1
        except (KeyboardInterrupt, EOFError):
            print()
    if number:
        again = f"seqcourse practice {name} {exercise}".rstrip()
        tell(f"{right} of {number} right. The same questions again: {again} --seed {seed}")


def _questions(
    assignment: str, answers: dict[str, Answer], count: int, seed: int, first: Sequence[str]
) -> Iterator[PracticeQuestion]:
    """So many questions or fewer, ``first`` about some answers; says which there are none about."""
    names = random.Random(f"{seed} {assignment}").sample(list(answers), len(answers))
    names.sort(key=lambda name: name not in first)
    mixed, left = {name: answers[name] for name in names}, count
    with contextlib.closing(asked(assignment, mixed, -(-count // len(names)), seed)) as made:
        for told in made:
            if isinstance(told, str):
                tell(told)
                continue
            yield from told[:left]
            left -= len(told)
            if left <= 0:
                return


def _answers(notebook: Path, exercise: str) -> dict[str, Answer]:
    """The solved answers of a notebook, each with what it uses."""
    try:
        exercises = import_module(f"seqcourse.check.{notebook.stem}").EXERCISES
    except (ImportError, AttributeError):
        raise CourseError(
            f"{shown(notebook)} should have the name of an assignment: ps5.ipynb."
        ) from None
    if exercise and exercise not in exercises:
        raise CourseError(
            f"{exercise!r} should be an answer of {notebook.stem}: {', '.join(exercises)}."
        )
    cells, found = [_MARKS.sub("", cell) for cell in code_of(notebook)], {}
    for name in [exercise] if exercise else exercises:
        pieces = with_needs(cells, name)
        source = pieces.pop(name, "raise NotImplementedError")
        if "raise NotImplementedError" not in source:
            found[name] = source, "\n".join(pieces.values())
    if not found:
        raise CourseError(
            f"{exercise or 'An exercise'} should be solved in {shown(notebook)} before you are asked "
            f"about it, but there is only raise NotImplementedError()."
        )
    return found


def _lines(number: str, item: PracticeQuestion) -> list[str]:
    """A question as it is printed."""
    code = enumerate(item.code.rstrip().splitlines(), start=1)
    options = zip(LETTERS, item.options, strict=False)
    lines = [
        f"{number}{item.name}",
        "",
        *(f"    {k:>2}  {line}" for k, line in code),
        "",
        item.words,
        "",
    ]
    return [*lines, *(f"- {letter}) {option}" for letter, option in options), ""]


def _ask(number: str, item: PracticeQuestion) -> bool:
    """Ask a question and say what running the code gave; whether the answer was right."""
    print()
    for line in _lines(number, item):
        tell(line)
    letters = LETTERS[: len(item.options)]
    while (typed := input("> ").strip().lower()) not in ("", *letters):
        print(f"Type one of {', '.join(letters)}.")
    good = typed == letters[item.right]
    tell("✓ Right." if good else f"It is {letters[item.right]}) {item.options[item.right]}")
    tell(item.why)
    return good


def _write(sheet: Path, title: str, questions: list[PracticeQuestion]) -> None:
    """Write the questions as Markdown, and their answers into a file beside it."""
    if not questions:
        raise CourseError("A sheet should have questions, but these answers give none.")
    asks, answers = [f"# {title}", ""], [f"# Answers: {title}", ""]
    for number, item in enumerate(questions, start=1):
        asks += _lines(f"## {number} · ", item)
        answers.append(f"{number}. {LETTERS[item.right]}) {item.options[item.right]} {item.why}")
    beside = sheet.with_name(f"{sheet.stem}-answers{sheet.suffix}")
    for path, lines in ((sheet, asks), (beside, [*answers, ""])):
        path.write_text("\n".join(lines), encoding="utf-8")
    tell(f"{shown(sheet)}: the questions. {shown(beside)}: the answers.")
