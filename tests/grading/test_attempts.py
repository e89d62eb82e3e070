"""Attempts are counted, survive what happens to records, and have hidden inputs of their own."""

from __future__ import annotations

import pickle

from seqcourse.grading.attempts import attempt
from seqcourse.grading.course import Course
from seqcourse.grading.examine import Examiner
from tests.grading.toy import make_toy_course


def test_a_new_version_is_the_next_attempt_and_an_old_number_is_kept(tmp_path):
    course = Course(tmp_path)
    asked = [
        attempt(course, "ps1", "ada", digest) for digest in (b"one", b"one", b"two", b"two", b"one")
    ]
    assert asked == [1, 1, 2, 2, 3]
    assert attempt(course, "ps1", "bob", b"one") == attempt(course, "ps2", "ada", b"one") == 1
    (course.folder / "attempts" / "ps1" / "ada.json").write_text("{")
    assert attempt(course, "ps1", "ada", b"two") == 1, "a broken file stops nobody"


def test_hidden_inputs_depend_on_secret_assignment_student_and_attempt(tmp_path):
    examiner = Examiner(make_toy_course(tmp_path), secret=b"s")
    seeds = [
        examiner.seed("ps1", "half", "ada", 1),
        examiner.seed("ps2", "half", "ada", 1),
        examiner.seed("ps1", "double", "ada", 1),
        examiner.seed("ps1", "half", "bob", 1),
        examiner.seed("ps1", "half", "ada", 2),
        Examiner(examiner.course, secret=b"t").seed("ps1", "half", "ada", 1),
    ]
    assert len(set(seeds)) == len(seeds)
    assert examiner.seed("ps1", "half", "ada", 1) == seeds[0]


def test_an_attempt_s_inputs_can_be_made_again(tmp_path):
    """What a regrade or a preview asks is what the first grading asked."""
    examiner = Examiner(make_toy_course(tmp_path), secret=b"s")
    first, again = (examiner.judges("ps1", "ada", 1)["half-test"].request for _ in range(2))
    assert pickle.loads(first["calls"]) == pickle.loads(again["calls"])
