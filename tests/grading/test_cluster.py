"""Workers of a Dask cluster that is there already, and what is said where there is none."""

from __future__ import annotations

import pytest

from cellgrader.errors import CourseError
from cellgrader.grade import how
from cellgrader.grade.preview import preview
from cellgrader.grade.submissions import grade
from cellgrader.processes import cluster
from cellgrader.processes.pool import Died

# By their full name, by which workers find them too.
from tests.grading import jobs

from .elsewhere import dask_processes


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("dask")) as address:
        yield address


def test_a_cluster_that_is_there_already(scheduler):
    for note in ("first run", "second run"):  # the second state takes the place of the first
        with cluster.start(jobs.Note(note), run="test", address=scheduler) as there:
            assert there.slots == 2
            found = list(there.results(jobs.note_on, ["a", "b", "c"], str))
            assert [note for _, _, note in found] == [note] * 3
            ((_, _, failed),) = there.results(jobs.raise_error, ["a"], str)
            assert failed == Died("ValueError: what went wrong")


def test_a_worker_elsewhere_that_cannot_grade_is_a_sentence(scheduler):
    with (
        pytest.raises(CourseError, match=r"The worker at tcp://.* cannot grade. It has no time."),
        cluster.start(jobs.Note("refuses"), run="test", address=scheduler),
    ):
        pass


@pytest.mark.timeout(180)  # once it hung: the stack of every thread is printed then
def test_a_cluster_that_is_not_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with (
            pytest.raises(CourseError, match=r"--scheduler should name a running scheduler"),
            cluster.start(jobs.Note(""), run="test", address=address),
        ):
            pass


@pytest.mark.parametrize("what", [grade, preview])
def test_without_dask_a_sentence_says_how_to_install_it(toy, monkeypatch, what):
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    monkeypatch.setattr(how, "find_spec", lambda name: None)
    with pytest.raises(CourseError) as refused:
        what(toy, "ps1", how=how.How(scheduler="tcp://127.0.0.1:8786"))
    assert str(refused.value) == (
        "Grading with --scheduler needs Dask, but it is not installed. "
        "Install it: pip install 'seqcourse[cluster]'"
    )
    assert not toy.records.exists()
