"""``seqcourse audit``: the two error rates of the grader, exercise by exercise."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from cellgrader.course.folders import Course
from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root
from seqcourse.cli.steps import Steps
from seqcourse.errors import CourseError


@refusals_in_words()
def run_audit(
    names: list[str],
    only: Collection[str],
    kinds: Collection[str],
    out: Path | None,
    most: int | None,
    seed: int,
) -> bool:
    """Try all answers to the exercises of each assignment; True when no answer is misjudged.

    Args:
        only: these exercises; all of them without.
        kinds: these kinds of answers; all of them without.
        out: where the records are merged, each when it is complete; benchmarks/results/ without.
        most: so many answers of each kind at most, spread over all of them.
        seed: draws the hidden inputs.
    """
    need_nbgrader()
    from seqcourse.audit import results
    from seqcourse.audit.exercises import KINDS, Desk, audit

    course = Course(find_root(), "grading/audit")  # no class of anybody
    steps = Steps(len(wanted := _wanted(course, names)))
    for kind in kinds:
        if kind not in KINDS:
            raise CourseError(f"A kind of answers should be one of {', '.join(KINDS)}, but is {kind!r}.")
    good = True
    for name in wanted:
        with steps.step(f"Trying answers to {name}"):
            desk = Desk(course, name, seed)
            for exercise in [one for one in desk.exercises() if one in only or not only]:
                show = steps.count(1)
                record = audit(
                    desk,
                    exercise,
                    kinds or KINDS,
                    most,
                    lambda done, total, show=show, exercise=exercise: show(done / total, exercise),
                )
                steps(f"{exercise}: {results.line(record)}")
                for fault in results.faults(record):
                    steps(f"  {fault}")
                    good = False
                path = out or course.root / results.RESULTS
                results.merge(path, name, desk.record(exercise), record, seed)
    return good


def _wanted(course: Course, names: list[str]) -> list[str]:
    """The assignments of these names that have exercises; all of them without names."""
    from seqcourse.check.cards import card

    folder = course.solutions / "checks"
    known = [name for name in course.names() if card.has_exercises(folder / name)]
    for name in map(course.require, names):
        if name not in known:
            raise CourseError(
                f"An assignment with exercises should be one of {', '.join(known)}, but {name!r} was "
                "asked for. A whole system is tested in tests/grading/test_systems.py."
            )
    return list(dict.fromkeys(names)) or known
