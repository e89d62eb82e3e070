"""What being late costs, by the policy of the course."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from seqcourse.grading.late import DAY, MINUTE, LatePolicy, renew_penalties
from seqcourse.grading.release import release

TENTH = {"share_per_day": 0.1, "grace_minutes": 15, "floor": 0.5}


def test_as_it_stands_it_costs_nothing():
    assert LatePolicy().late_submission_penalty("ada", 50, 30 * DAY) is None


@pytest.mark.parametrize(
    ("seconds", "lost"),
    [
        (1, None),
        (15 * MINUTE, None),
        (15 * MINUTE + 1, 4),
        (15 * MINUTE + DAY, 4),
        (15 * MINUTE + DAY + 1, 8),
        (4 * DAY, 16),
        (6 * DAY, 20),
        (400 * DAY, 20),
    ],
)
def test_a_tenth_for_each_day_that_has_begun_and_half_stays(seconds, lost):
    assert LatePolicy(**TENTH).late_submission_penalty("ada", 40, seconds) == lost


def test_nobody_without_points_pays():
    assert LatePolicy(**TENTH).late_submission_penalty("ada", 0, 2 * DAY) is None


def test_points_given_by_hand_later_count_too(toy):
    release(toy)
    config = toy.config(LatePolicy__share_per_day=0.5, LatePolicy__floor=0.0)
    assert isinstance(config, Config)
    due = datetime(2026, 1, 10, 12)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=due)
        for who, days in (("early", -1), ("late", 0.5)):
            gradebook.update_or_create_student(who)
            gradebook.update_or_create_submission("ps1", who, timestamp=due + timedelta(days=days))
            for name, points in (("double-test", 3), ("why", 2)):
                grade = gradebook.find_grade(name, "ps1", "ps1", who)
                grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", config)

        def penalty(who: str) -> float | None:
            return gradebook.find_submission_notebook("ps1", "ps1", who).late_submission_penalty

        assert (penalty("early"), penalty("late")) == (None, 2.5)
        gradebook.find_grade("why", "ps1", "ps1", "late").manual_score = 1
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", config)
        assert penalty("late") == 2
        # points that are held back cost nothing
        gradebook.find_grade("why", "ps1", "ps1", "late").needs_manual_grade = True
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", config)
        assert penalty("late") == 1.5
        # and an extension is an extension
        gradebook.grant_extension("ps1", "late", days=1)
        renew_penalties(gradebook, "ps1", config)
        assert penalty("late") is None
