"""Two people grade by hand at the same time, each in a formgrader of their own, on one gradebook."""

from __future__ import annotations

import json
import tempfile
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.release.generate import release
from tests.grading import postgres
from tests.grading.toy import make_toy_course

from .people import TOKEN, make_exchange, make_person

# Students, and how often each grader gives points to each of them.
STUDENTS = [f"s{number}" for number in range(10)]


@contextmanager
def address(kind: str) -> Iterator[str]:
    """The gradebook's address in course.toml: "" for the file, or a server of the test's own."""
    if kind == "file":
        yield ""
        return
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL server on this machine (Debian: apt install postgresql)")
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:  # a socket's path has to be short
        Path(folder).chmod(0o755)
        with postgres.server(Path(folder)) as url:
            yield url


class Grader:
    """One person's formgrader, by the requests that its page sends."""

    def __init__(self, server: str) -> None:
        self.server = server

    def ask(self, path: str, content: dict | None = None) -> dict:
        request = urllib.request.Request(
            f"{self.server}/formgrader/api/{path}",
            json.dumps(content).encode() if content else None,
            {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
            method="PUT" if content else "GET",
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def give(self, grades: dict[str, str], points: float) -> None:
        for grade in grades.values():
            self.ask(f"grade/{grade}", {"manual_score": points, "extra_credit": None})


def ids(course: Course, cell: str) -> dict[str, str]:
    """The gradebook's number of each student's grade for a cell."""
    with Gradebook(course.gradebook_url) as gradebook:
        return {who: gradebook.find_grade(cell, "ps1", "ps1", who).id for who in STUDENTS}


def points(course: Course, cell: str) -> set[float]:
    with Gradebook(course.gradebook_url) as gradebook:
        return {gradebook.find_grade(cell, "ps1", "ps1", who).manual_score for who in STUDENTS}


@pytest.mark.parametrize("kind", ["file", pytest.param("server", marks=pytest.mark.nightly)])
def test_two_graders_share_the_work(kind, tmp_path):
    """Nothing is lost while both save as fast as they can, and each sees what the other has saved."""
    with address(kind) as url:
        course = make_toy_course(tmp_path / "course")
        (course.root / "course.toml").write_text(f"gradebook = {json.dumps(url)}\n")
        release(course)
        with Gradebook(course.gradebook_url) as gradebook:
            for who in STUDENTS:
                gradebook.update_or_create_student(who)
                gradebook.update_or_create_submission("ps1", who)
        exchange = make_exchange(tmp_path / "exchange")
        one, other = (make_person(name, tmp_path / name, exchange) for name in ("one", "other"))
        with one.lab(course.root) as first, other.lab(course.root) as second:
            pair = Grader(first), Grader(second)
            mine, yours = ids(course, "why"), ids(course, "double-test")
            for round in (1, 2):
                with ThreadPoolExecutor(2) as pool:
                    done = [
                        pool.submit(pair[0].give, mine, round),
                        pool.submit(pair[1].give, yours, round + 0.5),
                    ]
                    for job in done:
                        job.result()
                assert (points(course, "why"), points(course, "double-test")) == ({round}, {round + 0.5})
                for who in STUDENTS:
                    assert pair[1].ask(f"grade/{mine[who]}")["manual_score"] == round
                    assert pair[0].ask(f"grade/{yours[who]}")["manual_score"] == round + 0.5
            # Also who only looks sees what the other saves.
            pair[0].give(mine, 1.5)
            assert {pair[1].ask(f"grade/{mine[who]}")["manual_score"] for who in STUDENTS} == {1.5}
