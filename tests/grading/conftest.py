"""Fixtures of the grading tests."""

from __future__ import annotations

import shutil
import time
from datetime import datetime, timedelta
from pathlib import Path

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
def whole_day() -> None:
    """For tests that say what happens today: one that begins near midnight waits until it is over."""
    now = datetime.now()
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time())
    if midnight - now < timedelta(minutes=4):
        time.sleep((midnight - now).total_seconds() + 1)


@pytest.fixture
def toy(empty_toy, tmp_path) -> Course:
    """A fresh copy of the toy course."""
    shutil.copytree(empty_toy.root, tmp_path / "course")
    return Course(tmp_path / "course")


@pytest.fixture
def exchange_folder(tmp_path, monkeypatch) -> Path:
    """An exchange of nbgrader's for this process and those that it starts, with the folder inbound."""
    (tmp_path / "exchange" / "seqcourse" / "inbound").mkdir(parents=True)
    (tmp_path / "jupyter").mkdir()
    settings = f'c = get_config()\nc.Exchange.root = "{tmp_path / "exchange"}"\n'
    (tmp_path / "jupyter" / "nbgrader_config.py").write_text(settings)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    return tmp_path / "exchange" / "seqcourse"
