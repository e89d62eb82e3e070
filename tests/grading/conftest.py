"""Fixtures of the grading tests."""

from __future__ import annotations

import pytest

from seqcourse.grading.course import Course

from .toy import make_toy_course


@pytest.fixture
def toy(tmp_path) -> Course:
    """A course folder with the toy assignment as ps1."""
    return make_toy_course(tmp_path / "course")
