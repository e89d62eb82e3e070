"""Penalties for late submissions, by the policy in course.toml, which nbgrader_config.py hands on.

nbgrader computes a penalty only when it autogrades. Manual points come later, so ``renew_penalties``
recomputes penalties wherever points are shown: in tables, exports and feedback.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float

from seqcourse.grading.byhand import counted
from seqcourse.grading.gradebook import handed_in
from seqcourse.grading.parse import NotGradable, read_bytes

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, SubmittedAssignment
    from traitlets.config import Config

MINUTE = 60
DAY = 24 * 60 * MINUTE
# `seqcourse collect` puts this file beside work that a learning platform calls late.
MARK = "late.txt"
MARKED = "Late according to the learning platform, which does not say by how much"


class LatePolicy(LateSubmissionPlugin):
    """Takes a share of a student's points for each day begun after the grace period."""

    grace_minutes = Float(15, min=0, help="Minutes after the due date that cost nothing.").tag(
        config=True
    )
    share_per_day = Float(0, min=0, max=1, help="Share of the points that each day takes.").tag(
        config=True
    )
    floor = Float(0, min=0, max=1, help="Share of the points that always stays.").tag(config=True)

    def days(self, seconds_late: float) -> int:
        """The number of days begun after the grace period."""
        return max(0, math.ceil((seconds_late - self.grace_minutes * MINUTE) / DAY))

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points that nbgrader deducts, or None for no penalty.

        Args:
            score: the student's points in the notebook.
            total_seconds_late: seconds since the due date, after any extension.
        """
        lost = min(1 - self.floor, self.share_per_day * self.days(total_seconds_late))
        return round(score * lost, 2) if score > 0 and lost > 0 else None


def seconds_late(submission: SubmittedAssignment, config: Config) -> tuple[float, bool]:
    """How late a submission is, and whether only a platform's mark says so.

    A mark without a time counts as one day, the least that a day begun can be. A time in timestamp.txt
    and an extension both take its place.
    """
    late = float(submission.total_seconds_late or 0.0)
    if late > 0 or submission.timestamp or submission.extension:
        return late, False
    folders = config.CourseDirectory
    place = Path(folders.get("root", ""), str(folders.get("submitted_directory", "submitted")))
    mark = place / submission.student.id / submission.assignment.name / MARK
    try:
        marked = read_bytes(mark, most=200).startswith(MARKED.encode())
    except NotGradable:  # there is none, or a student's pipe
        marked = False
    return (float(DAY), True) if marked else (0.0, False)


def renew_penalties(gradebook: Gradebook, assignment: str, config: Config) -> None:
    """Recompute the penalties of an assignment from the gradebook's current points.

    Args:
        config: the course's settings, which name the policy.
    """
    assigner = AssignLatePenalties(config=config)
    assigner.init_plugin()
    policy = assigner.plugin_inst
    for submission in handed_in(gradebook, assignment).values():
        _renew(submission, policy, config)
    gradebook.db.commit()


def _renew(submission: SubmittedAssignment, policy: LateSubmissionPlugin, config: Config) -> None:
    late, _ = seconds_late(submission, config)
    for notebook in submission.notebooks:
        points = sum(map(counted, notebook.grades))
        penalty = None
        if late > 0:
            penalty = policy.late_submission_penalty(submission.student.id, points, late)
        if penalty is not None:
            penalty = min(max(penalty, 0.0), points)
        notebook.late_submission_penalty = penalty


class RenewPenalty(AssignLatePenalties):
    """nbgrader's step, based on the points that count: pending points cause no penalty."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from nbgrader.api import Gradebook

        info = resources["nbgrader"]
        self.init_plugin()
        with Gradebook(info["db_url"]) as gradebook:
            submission = gradebook.find_submission(info["assignment"], info["student"])
            _renew(submission, self.plugin_inst, self.config)
            gradebook.db.commit()
        return nb, resources
