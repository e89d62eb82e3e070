"""``seqcourse course`` and ``seqcourse book``: everything from end to end, with its progress."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from seqcourse.cli.grading import refusals_in_words
from seqcourse.cli.root import find_root, shown
from seqcourse.cli.steps import Steps
from seqcourse.errors import CourseError

# Seconds that one cell of a made-up submission may take; one of them never ends.
SAMPLE_TIMEOUT = 60


@refusals_in_words()
def build_book(pdf: bool = False) -> Path:
    """Execute and render the book, as one PDF too, and print where it is."""
    root = find_root()
    steps = Steps(1 + pdf)
    page = _book(root, steps)
    steps.console.print(f"Open {shown(page)} in a browser.", markup=False)
    if pdf:
        from seqcourse.cli.pdf import whole_book

        with steps.step("Printing the book"):
            printed = whole_book(root, steps)
        steps.console.print(f"The whole book: {shown(printed)}", markup=False)
    return page


def _book(root: Path, steps: Steps) -> Path:
    if importlib.util.find_spec("jupyter_book") is None:
        raise CourseError(
            "Rendering needs Jupyter Book 1.x, but it is not installed. "
            "Install it: pip install 'seqcourse[site]'"
        )
    from seqcourse.cli.site import build

    with steps.step("Executing and rendering the book"):
        return build(root, steps)


@refusals_in_words()
def whole_course(workers: int | None = None) -> None:
    """The book, the assignments, and a sample class graded on them.

    Raises:
        CourseError: a notebook failed (it says which, which cell, and the error), or a made-up
            student did not get what such a submission must get.
    """
    from cellgrader.grade.how import How
    from cellgrader.release.generate import release
    from cellgrader.release.sample import differences, make_submissions, sample_course, who_hands_in
    from cellgrader.sandbox import refusal
    from seqcourse.cli.grading import grade_assignment, need_nbgrader

    root = find_root()
    need_nbgrader()
    course = sample_course(root)
    names = course.names()
    steps = Steps(3 + len(names))
    page = _book(root, steps)
    with steps.step("Generating the assignments"):
        for released in release(course):
            changed = ", ".join(released.changed) or "unchanged"
            steps(f"{shown(released.folder)}: {changed}")
    expected = {}
    with steps.step("Writing the submissions of a sample class"):
        for name in names:
            expected[name] = make_submissions(course, name, who_hands_in(course, name))
            steps(f"{name}: {', '.join(expected[name])}")
    wrong = []
    # The made-up students are this project's own: where no sandbox can be had, they run without.
    workers = workers or (os.cpu_count() or 1) + 1  # one of them only waits
    how = How(workers, SAMPLE_TIMEOUT, unsafe=bool(refusal()))
    for name in names:
        with steps.step(f"Grading the sample class: {name}"):
            scores = grade_assignment(course, name, steps, list(expected[name]), how)
            for student, outcome in expected[name].items():
                row = scores.row(student)
                found = differences(outcome, row.status, row.points)
                why = f" ({row.sentence})" if row.sentence else ""
                wrong += [f"{name}, {student}: {sentence}{why}" for sentence in found]
    if wrong:
        raise CourseError(
            "The sample class should get what the project knows it must get, but:\n  "
            + "\n  ".join(wrong)
        )
    steps.console.print(
        f"\nEverybody in the sample class got what they must get. All of it took "
        f"{steps.all_seconds():.0f} s.\nThe book: {page}\n"
        f"Next: make lab, and open assignments/{names[0]}/{names[0]}.ipynb",
        markup=False,
    )
