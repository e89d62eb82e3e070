"""What `seqcourse audit` stored is about the answers as they are, keeps the rule, and is found again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from cellgrader.course.folders import Course
from cellgrader.release.sample import load_checks
from seqcourse.audit import results, rule
from seqcourse.audit.answers import HELD_OUT, OPERATOR, RIGHT, WRONG
from seqcourse.audit.exercises import Desk, audit
from seqcourse.check.hidden import HiddenCheck
from tests.sizes import nightly_but

ROOT = Path(__file__).resolve().parents[2]
COURSE = Course(ROOT, "grading/audit")
STORED = results.read(ROOT / results.RESULTS)
NAMES = ["ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7", "ps8"]
SEED = 20_001


@cache
def desk(name: str) -> Desk:
    return Desk(COURSE, name, SEED)


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_results_are_about_the_corpus_as_it_is(name):
    """A new answer, exercise or tolerance asks for `seqcourse audit psN --only NAME`."""
    checks = load_checks(COURSE, name)
    records = {check.answer: check.exercise for check in checks.CHECKS if isinstance(check, HiddenCheck)}
    assert list(STORED[name]) == list(records)
    for exercise, told in STORED[name].items():
        for kind, answers in ((RIGHT, checks.RIGHT), (WRONG, checks.WRONG), (HELD_OUT, checks.HELD_OUT)):
            tried = told.get(kind, results.HELD_NONE)["tried"]
            assert tried == len(answers[exercise]), (exercise, kind)
        asked = records[exercise].tolerance, records[exercise].because
        assert (told["tolerance"], told["because"]) == asked, exercise


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_misjudged_and_every_tolerance_keeps_the_rule(name):
    for exercise, told in STORED[name].items():
        assert results.faults(told) == [], exercise
        right, wrong, made = told[RIGHT], told[WRONG], told.get(OPERATOR, results.NONE)
        assert right["accepted"] == right["tried"] >= 3
        assert wrong["named"] == wrong["refused"] == wrong["tried"] >= 6
        assert made["refused"] + made["explained"] == made["tried"] <= made["made"]
        assert bool(told["because"]) == (told["tolerance"] is not None)
        if told["tolerance"]:  # one of its own is the middle
            key = f"{told['tolerance']:g}"
            center = rule.middle(right["errors"][key], rule.nearest(told)[0])
            assert 0.5 <= told["tolerance"] / center <= 2, exercise


def close(told: dict, stored: dict) -> bool:
    """Whether the errors of a new audit are like the stored ones: machines round differently."""
    return all(
        error <= max(10 * stored[RIGHT]["errors"][tolerance], float(tolerance) / 10)
        for tolerance, error in told[RIGHT]["errors"].items()
    )


# Tensors with gradients, and plain numbers.
FEW = {"ps4": ["attention"], "ps6": ["layer_norm", "warmup_rate"]}


@pytest.mark.parametrize("name", nightly_but(["ps4"], FEW))
def test_a_few_answers_give_what_is_stored(name):
    for exercise in FEW[name]:
        told = audit(desk(name), exercise, most=2)
        stored = STORED[name][exercise]
        assert results.faults(told) == []
        assert 2 <= told[RIGHT]["accepted"] <= stored[RIGHT]["accepted"]
        assert set(told[RIGHT]["forms"]) == set(stored[RIGHT]["forms"]) and close(told, stored)
        assert rule.nearest(told) >= (0.5 * rule.nearest(stored)[0],)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_audit_gives_what_is_stored(name):
    for exercise, stored in STORED[name].items():
        told = audit(desk(name), exercise)
        assert results.faults(told) == [], exercise
        for kind in {RIGHT, WRONG, HELD_OUT} & set(stored):  # of the mutants a sample may be stored
            counts = [key for key, value in stored[kind].items() if isinstance(value, (int, dict))]
            for key in set(counts) - {"errors"}:
                assert told[kind][key] == stored[kind][key], (exercise, kind, key)
        assert close(told, stored), exercise
