"""How an assignment is graded: by which workers, within which limits, and what is graded again."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.profile import program


@dataclass(frozen=True)
class How:
    """What a run of the grader is told.

    workers: the number of submissions examined at a time (default: one per core).
    timeout: seconds that one cell may take (default: the course's setting).
    scheduler: the address of a Dask cluster to use instead of processes on this machine.
    again: also grade submissions that have not changed since they were graded.
    unsafe: run students' code without a sandbox, with the grading user's rights.
    everything: also run cells that only display something.
    only_gains: write no mark that would fall, see ``cellgrader.marks.only_gains``.
    """

    workers: int | None = None
    timeout: int | None = None
    scheduler: str | None = None
    again: bool = False
    unsafe: bool = False
    everything: bool = False
    only_gains: bool = False

    def options(self, course: Course) -> dict[str, object]:
        """What an examiner is told, and a grade depends on."""
        timeout = self.timeout or course.settings["timeout"]
        return {"confined": not self.unsafe, "timeout": timeout, "everything": self.everything}

    def refuse(self) -> None:
        """Raise CourseError if the work cannot be examined where it should be.

        This machine needs a sandbox, unless students' code may run without one; a cluster needs Dask.
        """
        from cellgrader.sandbox import refusal

        if self.scheduler is not None:
            if find_spec("distributed") is None:
                raise CourseError(
                    "Grading with --scheduler needs Dask, but it is not installed. "
                    f"Install it: pip install '{program()}[cluster]'"
                )
        elif not self.unsafe and refusal():
            raise CourseError(refusal())


USUAL = How()
