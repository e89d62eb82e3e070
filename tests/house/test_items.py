"""Statistics of exercises on classes whose values are known, and counts that tell of nobody."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from cellgrader.marks.scores import Row, Scores
from cellgrader.notebook.document import Exercise
from cellgrader.pages.report import ExerciseResult, FrequentMistake, Report
from seqcourse.cli import export, items
from seqcourse.errors import CourseError

# Twelve people: the first six have what is asked first, the last three the second, and so on.
CLASS = np.array([[1, 0, 4]] * 3 + [[1, 0, 2]] * 3 + [[0, 0, 2]] * 3 + [[0, 1, 0]] * 3, float)
MAXIMA = np.array([1.0, 1.0, 4.0])


def test_a_class_made_by_hand():
    """Shares by counting; correlations and Wilson's interval worked out on paper."""
    first, second, third = items.item_statistics(CLASS, MAXIMA)
    assert (first.people, first.share, second.share, third.share) == (12, 0.5, 0.25, 0.5)
    assert first.interval == pytest.approx((0.2538, 0.7462), abs=1e-4)
    # rest of the first: 4 2 2 1 of 5, so means 3 and 1.5, variance 1.1875: 0.75 / sqrt(1.1875)
    assert first.discrimination == pytest.approx(0.75 / 1.1875**0.5)
    # rest of the second: 5 3 2 0, mean 10/3 against 0, variance 3.25
    assert second.discrimination == pytest.approx(-(10 / 3) * (3 / 16) ** 0.5 / 3.25**0.5)
    assert (second.upper, second.lower, second.suspect) == (0, 1, True)
    assert (first.upper, first.lower, first.suspect) == (1, 0, False)
    low, high = np.tanh(np.arctanh(first.discrimination) + 1.959964 * np.array([-1, 1]) / 3)
    assert first.range == pytest.approx((low, high))


def test_right_or_wrong_gives_the_point_biserial_correlation():
    points = (np.random.default_rng(3).random((40, 6)) < 0.6).astype(float)
    for j, found in enumerate(items.item_statistics(points, np.ones(6))):
        rest, own = points.sum(1) - points[:, j], points[:, j] == 1
        p = own.mean()
        by_groups = (rest[own].mean() - rest[~own].mean()) * (p * (1 - p)) ** 0.5 / rest.std()
        assert found.discrimination == pytest.approx(by_groups)


def test_a_simulated_class_has_the_values_that_its_model_says():
    """Two-parameter logistic items; the expected values by quadrature over abilities."""
    ability = np.linspace(-6, 6, 2001)
    weight = np.exp(-(ability**2) / 2)
    weight /= weight.sum()
    slope, hard = np.array([0.5, 1.0, 2.0, 1.5, -1.0]), np.array([-1.0, 0.0, 0.5, 1.5, 0.0])

    def right(theta):
        return 1 / (1 + np.exp(-slope * (theta[:, None] - hard)))

    p = right(ability)
    share = weight @ p
    cov = (p - share).T @ (weight[:, None] * (p - share))
    variance = share * (1 - share)
    rng = np.random.default_rng(0)
    answers = (rng.random((20_000, 5)) < right(rng.standard_normal(20_000))).astype(float)
    for j, found in enumerate(items.item_statistics(answers, np.ones(5))):
        others = [k for k in range(5) if k != j]
        rest = (variance[others] - np.diag(cov)[others]).sum() + cov[np.ix_(others, others)].sum()
        expected = cov[j, others].sum() / (variance[j] * rest) ** 0.5
        assert found.share == pytest.approx(share[j], abs=0.012)
        assert found.discrimination == pytest.approx(expected, abs=0.03)
        assert found.suspect == (slope[j] < 0)


def test_points_that_wait_are_left_out_and_few_people_say_nothing():
    waiting = CLASS.copy()
    waiting[:3, 2] = np.nan
    first, _, third = items.item_statistics(waiting, MAXIMA)
    assert (first.people, first.share, third) == (12, 0.5, None)
    assert items.item_statistics(CLASS[:9], MAXIMA) == [None] * 3
    assert items.item_statistics(np.full((12, 3), np.nan), MAXIMA) == [None] * 3
    (same, *_) = items.item_statistics(np.ones((12, 3)), np.ones(3))
    assert same.discrimination is None and same.range is None and not same.suspect


def report(people: int, full: int, mistakes: tuple[FrequentMistake, ...] = ()) -> Report:
    exercises = (Exercise("one", True, (), 2.0, number="1"), Exercise("two", True, (), 1.0, number="2"))
    rows = tuple(
        Row(f"student{k}", "graded", "", {"one": 2.0 * (k < full), "two": 1.0}) for k in range(people)
    )
    tasks = (
        ExerciseResult("one", "1", 1.0, 2.0, mistakes),
        ExerciseResult("two", "2", 1.0, 1.0, ()),
    )
    return Report(Scores("ps1", exercises, rows), rows, tasks)


def test_the_report_names_its_exercises():
    found = items.of_report(report(20, 12))
    assert (found["one"].share, found["two"].share) == (0.6, 1.0)
    assert items.as_table(found).row_count == 2
    assert items.of_report(report(9, 4)) == {}


def test_no_count_tells_of_fewer_than_ten(tmp_path, monkeypatch, capsys):
    mistakes = (FrequentMistake("asked often", 12, ""), FrequentMistake("asked rarely", 9, ""))
    folder = SimpleNamespace(folder=tmp_path)
    monkeypatch.setattr(export, "_report", lambda name: (folder, report(25, 15, mistakes)))
    export.contribute_counts("ps1", None)
    written = (tmp_path / "counts-ps1.json").read_text(encoding="utf-8")
    counts = json.loads(written)
    assert counts["people"] == 25 and counts["exercises"] == {
        "one": {"full points": 15, "mistakes": {"asked often": 12}},
        "two": {"full points": None, "mistakes": {}},  # nobody without: that tells of each
    }
    assert "student" not in written and written.strip() in capsys.readouterr().out
    for full in (9, 16):
        monkeypatch.setattr(export, "_report", lambda name, full=full: (folder, report(25, full)))
        export.contribute_counts("ps1", tmp_path / "other.json")
        one = json.loads((tmp_path / "other.json").read_text(encoding="utf-8"))["exercises"]["one"]
        assert one["full points"] is None
    monkeypatch.setattr(export, "_report", lambda name: (folder, report(19, 10)))
    with pytest.raises((CourseError, SystemExit)):
        export.contribute_counts("ps1", None)
