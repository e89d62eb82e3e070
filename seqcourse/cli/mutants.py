"""``seqcourse mutants``: the hidden checks against answers that are known to be wrong or right."""

from __future__ import annotations

import hashlib

from rich.console import Console

from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root
from seqcourse.cli.steps import Steps
from seqcourse.errors import CourseError
from seqcourse.grading.course import Course


@refusals_in_words()
def try_mutants(names: list[str], operators: bool, seed: int, confined: bool = True) -> bool:
    """Try the answers of each assignment; print tables; True when every check does its work.

    Args:
        operators: also the operator mutants of the reference solutions.
        seed: draws the hidden inputs.
        confined: run the answers in a sandbox, like students' work.
    """
    need_nbgrader()
    from seqcourse.grading import mutants
    from seqcourse.grading.examine import Examiner

    course = Course(find_root(), "grading/mutants")  # no class of anybody
    wanted = [course.require(name) for name in dict.fromkeys(names)] or course.names()
    if not wanted:
        raise CourseError("Assignments should be in solutions/, but there are none.")
    steps = Steps(len(wanted))
    console = Console(highlight=False)
    secret = hashlib.sha256(f"mutants {seed}".encode()).digest()
    good = True
    with Examiner(course, confined=confined, secret=secret, timeout=mutants.SECONDS) as examiner:
        for name in wanted:
            with steps.step(f"Trying answers to {name}"):
                outcomes = _try(course, name, operators, examiner, steps)
            console.print(mutants.as_table(name, outcomes))
            for line in mutants.summary(outcomes):
                console.print(f"{name}: {line}", markup=False)
            for outcome in mutants.faults(outcomes):
                console.print(f"{name}: {mutants.told(outcome)}", style="red", markup=False)
            good = good and not mutants.faults(outcomes)
    return good


def _try(course: Course, name: str, operators: bool, examiner, steps: Steps) -> list:
    """The outcomes of one assignment: written answers through the pipeline, operator mutants quickly."""
    from seqcourse.grading import mutants

    written = mutants.corpus(mutants.load_checks(course, name))
    shown: list = []

    def tell(done: int, total: int) -> None:
        if not shown:
            shown.append(steps.count(total))
        shown[0](done, f"submission {done} of {total}")

    outcomes = mutants.try_answers(course, name, written, examiner.examine, tell)
    if operators:
        from seqcourse.grading.in_process import try_in_process

        shown.clear()
        made = mutants.operator_mutants(course, name)
        outcomes += try_in_process(course, name, made, examiner.judges(name), tell)
    return outcomes
