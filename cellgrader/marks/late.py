"""Penalties for late submissions, by the policy in course.toml, which nbgrader_config.py hands on.

nbgrader computes a penalty only when it autogrades. Manual points come later, so ``renew_penalties``
recomputes penalties wherever points are shown: in tables, exports and feedback.

Days end at the hour of the due date by the class's clock, or 24 hours later where that is later: a night
when clocks change costs nobody a day. See ``seconds_between`` and ``extended``.

A class may also give everybody late days for the whole course. They are spent automatically, on the
assignment that is due first, before the policy takes points; see ``accounts``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Dict, Float, Integer, List, Unicode

from cellgrader.class_settings import find_zone
from cellgrader.course.folders import Course, class_of
from cellgrader.course.gradebook import handed_in
from cellgrader.course.records import read_record
from cellgrader.course.small_files import A_TIME, MARK, MARKED, TIMESTAMP, kept
from cellgrader.marks.by_hand import counted
from cellgrader.marks.late_days import Account, Accounts
from cellgrader.notebook.parse import NotGradable, read_bytes, shown

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, SubmittedAssignment
    from traitlets.config import Config

MINUTE = 60
DAY = 24 * 60 * MINUTE


class LatePolicy(LateSubmissionPlugin):
    """Takes a share of a student's points for each day begun after the grace period."""

    zone = Unicode("UTC", help="The class's time zone, by its name.").tag(config=True)
    grace_minutes = Float(15, min=0, help="Minutes after the due date that cost nothing.").tag(
        config=True
    )
    share_per_day = Float(0, min=0, max=1, help="Share of the points that each day takes.").tag(
        config=True
    )
    floor = Float(0, min=0, max=1, help="Share of the points that always stays.").tag(config=True)
    account = Integer(0, min=0, help="Late days that each student has for the course.").tag(config=True)
    days_per_assignment = Integer(2, min=0, help="The most late days on one assignment.").tag(
        config=True
    )
    assignments = Dict(help="Assignment -> settings of its own.").tag(config=True)
    leave_out = List(help="Assignments that use no late days: the class leaves them out.").tag(
        config=True
    )

    def of(self, assignment: str) -> LatePolicy:
        """The policy of an assignment, which may have settings of its own."""
        own = self.assignments.get(assignment)
        return type(self)(config=self.config, **own) if own else self

    def days(self, seconds_late: float) -> int:
        """The number of days begun after the grace period."""
        return max(0, math.ceil((seconds_late - self.grace_minutes * MINUTE) / DAY))

    def share_lost(self, days: int) -> float:
        """The share of the points that so many days take."""
        return min(1 - self.floor, self.share_per_day * days)

    def worth_using(self, days: int, left: int) -> int:
        """How many late days are spent on work that is so many days late: none if they save nothing."""
        used = min(days, left, self.days_per_assignment)
        return used if self.share_lost(days - used) < self.share_lost(days) else 0

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points that nbgrader deducts, or None for no penalty.

        Args:
            score: the student's points in the notebook.
            total_seconds_late: seconds since the due date, after any extension.
        """
        lost = self.share_lost(self.days(total_seconds_late))
        return round(score * lost, 2) if score > 0 and lost > 0 else None


def zone_of(config: Config) -> tzinfo:
    """The class's time zone, which nbgrader_config.py hands on."""
    return find_zone(str(config.LatePolicy.get("zone", "UTC"))) or UTC


def extended(due: datetime, extension: timedelta | None, zone: tzinfo) -> datetime:
    """A due date with an extension, both in UTC: by the class's clock or by the hour, what is later."""
    more = extension or timedelta()
    clock = _clock(due, zone) + more
    times = [clock.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    return max(due + more, *(time.replace(tzinfo=None) for time in times))


def seconds_between(due: datetime, handed_in: datetime, zone: tzinfo) -> float:
    """How late something is, by the class's clock or by the hour, whichever is less; 0 if it is not.

    Args:
        due, handed_in: in UTC, without their zone, as nbgrader keeps times.
    """
    passed = handed_in - due
    return max(0.0, min(passed, _clock(handed_in, zone) - _clock(due, zone)).total_seconds())


def _clock(time: datetime, zone: tzinfo) -> datetime:
    """What a clock in a zone shows at a time in UTC."""
    return time.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)


def seconds_late(submission: SubmittedAssignment, config: Config) -> tuple[float, bool]:
    """How late a submission is, and whether only a platform's mark says so.

    A mark without a time counts as one day, the least that a day begun can be. A time in timestamp.txt
    and an extension both take its place.
    """
    due, handed_in, late = submission.assignment.duedate, submission.timestamp, 0.0
    if due and handed_in:
        zone = zone_of(config)
        late = seconds_between(extended(due, submission.extension, zone), handed_in, zone)
    if late > 0 or submission.timestamp or submission.extension:
        return late, False
    course, student, name = class_of(config), submission.student.id, submission.assignment.name
    # A partner without a folder has a copy of the mark beside the graded work.
    stage = course.submitted if course.handed_in(student, name) else course.autograded
    mark = stage / student / name / MARK
    try:
        marked = read_bytes(mark, most=200).startswith(MARKED.encode())
    except NotGradable:  # there is none, or a student's pipe
        marked = False
    return (float(DAY), True) if marked else (0.0, False)


def cost_of_mark(course: Course, name: str) -> str:
    """What a platform's mark without a time costs by the class's policy, in words."""
    policy = _policy(course.config())
    if not isinstance(policy, LatePolicy):
        return "which counts as one day"
    own = policy.of(name)
    lost = own.share_lost(own.days(DAY))
    share = f"{100 * lost:.4g} % of the points" if lost else "nothing"
    days = (
        f" or, where one is left, one of {policy.account} late days" if lost and policy.account else ""
    )
    return f"which counts as one day and costs {share}{days} by your course.toml"


def without_time(course: Course, name: str, students: Iterable[str]) -> str:
    """A sentence about those whose timestamp.txt is not a time; "" if there are none."""
    folders = {who: course.submitted / who / name for who in students}
    odd = [who for who in folders if _is_odd(folders[who])]
    if not odd:
        return ""
    return (
        f"Nobody knows when {', '.join(map(shown, odd))} handed in, so being late would cost nothing: "
        f"{TIMESTAMP} should hold a time such as {A_TIME}, but does not. Correct it, and grade again."
    )


def _is_odd(folder: Path) -> bool:
    """Whether a folder has a timestamp.txt that is kept nowhere, because it is not a time."""
    return os.path.lexists(folder / TIMESTAMP) and TIMESTAMP not in kept(folder)


def accounts(gradebook: Gradebook, config: Config, student: str = "") -> Accounts:
    """The late days of a class, if it has any.

    They are spent on what is due first, in names' order where that is the same. Work whose folder was
    taken out of submitted/ uses none.

    Args:
        config: the course's settings, which name the policy.
        student: whose account; everybody's without.
    """
    policy = _policy(config)
    days = getattr(policy, "account", 0)
    if not days:
        return Accounts()
    course = class_of(config)
    found: dict[str, Account] = {}
    for submission in sorted(_everything(gradebook, student), key=_due):
        name, who = submission.assignment.name, submission.student.id
        late, _ = seconds_late(submission, config)
        if late <= 0 or name in policy.leave_out or not _counts(course, who, name):
            continue
        own = policy.of(name)
        account = found.get(who, Account(days))
        found[who] = account.spend(name, own.worth_using(own.days(late), account.left))
    return Accounts(days, found)


def _counts(course: Course, student: str, name: str) -> bool:
    """Whether the work of a student, or of the partners at the last grading, is still there."""
    if course.counts(student, name):
        return True
    record = read_record(course, name, student)
    return record is not None and any(course.counts(who, name) for who in record.partners)


def _policy(config: Config) -> LateSubmissionPlugin:
    assigner = AssignLatePenalties(config=config)
    assigner.init_plugin()
    return assigner.plugin_inst


def _everything(gradebook: Gradebook, student: str) -> list[SubmittedAssignment]:
    """All submissions, or all of one student, in one query."""
    from nbgrader.api import Student, SubmittedAssignment
    from sqlalchemy.orm import joinedload

    found = gradebook.db.query(SubmittedAssignment).options(
        joinedload(SubmittedAssignment.student), joinedload(SubmittedAssignment.assignment)
    )
    return list(
        found.filter(SubmittedAssignment.student.has(Student.id == student)) if student else found
    )


def _due(submission: SubmittedAssignment) -> tuple[datetime, str]:
    """What orders assignments: the class's due date, without extensions; none comes last."""
    return submission.assignment.duedate or datetime.max, submission.assignment.name


def renew_penalties(gradebook: Gradebook, assignment: str, config: Config) -> Accounts:
    """Recompute the penalties of an assignment from the gradebook's current points.

    Args:
        config: the course's settings, which name the policy.
    Returns:
        The late days of the class, see ``accounts``.
    """
    found = accounts(gradebook, config)
    policy = _policy(config)
    for submission in handed_in(gradebook, assignment).values():
        _renew(submission, policy, config, found)
    gradebook.db.commit()
    return found


def _renew(
    submission: SubmittedAssignment, policy: LateSubmissionPlugin, config: Config, found: Accounts
) -> None:
    name, student = submission.assignment.name, submission.student.id
    late, _ = seconds_late(submission, config)
    late -= found.of(student).here(name) * DAY
    if isinstance(policy, LatePolicy):
        policy = policy.of(name)
    for notebook in submission.notebooks:
        points = sum(map(counted, notebook.grades))
        penalty = None
        if late > 0:
            penalty = policy.late_submission_penalty(student, points, late)
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
            found = accounts(gradebook, self.config, info["student"])
            _renew(submission, self.plugin_inst, self.config, found)
            gradebook.db.commit()
        return nb, resources
