"""Fixtures of the grading tests."""

from __future__ import annotations

import shutil

import pytest

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.release.generate import release

from .toy import make_toy_course


@pytest.fixture(scope="session")
def empty_toy(tmp_path_factory) -> Course:
    """The toy course with an empty gradebook, which takes seconds to make."""
    course = make_toy_course(tmp_path_factory.mktemp("toy") / "course")
    open_gradebook(course)
    return course


@pytest.fixture(scope="session")
def released_toy(empty_toy, tmp_path_factory) -> Course:
    """The toy course, released, which takes another second or two."""
    course = Course(tmp_path_factory.mktemp("released") / "course")
    shutil.copytree(empty_toy.root, course.root)
    release(course)
    return course


@pytest.fixture
def released(released_toy, tmp_path) -> Course:
    """A fresh copy of the released toy course."""
    shutil.copytree(released_toy.root, tmp_path / "course")
    return Course(tmp_path / "course")


@pytest.fixture
def toy(empty_toy, tmp_path) -> Course:
    """A fresh copy of the toy course."""
    shutil.copytree(empty_toy.root, tmp_path / "course")
    return Course(tmp_path / "course")
