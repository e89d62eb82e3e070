"""The one exception whose message is meant for a person; the grader raises the same."""

from autograder.errors import CourseError

__all__ = ["CourseError"]
