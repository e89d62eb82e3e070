"""The one exception whose message is meant for a person; the grader raises the same."""

from cellgrader.errors import CourseError

__all__ = ["CourseError"]
