"""An audit of the checks finds what it should: misjudged answers, distances, forms."""

from __future__ import annotations

import dataclasses
import functools
from functools import cache
from math import inf
from pathlib import Path

import pytest
import torch

from cellgrader.course.folders import Course
from seqcourse.audit import exercises, forms, results, rule, second
from seqcourse.audit.answers import OPERATOR, RIGHT, WRONG, Answer
from seqcourse.audit.exercises import Desk, audit
from seqcourse.audit.in_process import answered_space, handed_over
from seqcourse.audit.trial import judge_in, judged, measuring, try_in
from seqcourse.check.calls.compare import COARSE, FINE, Likely, compare, is_right
from seqcourse.check.calls.inputs import copy
from seqcourse.check.calls.margin import Distance, noted
from seqcourse.check.grade.verdict import Judge

ROOT = Path(__file__).resolve().parents[2]
COURSE = Course(ROOT, "grading/audit")
SEED = 20_001


@cache
def desk(name: str) -> Desk:
    return Desk(COURSE, name, SEED)


# --- what an audit finds ---------------------------------------------------------------------------


def record_of(changes: dict, answers: list[Answer], monkeypatch: pytest.MonkeyPatch) -> dict:
    """The record of `similarities` with a changed exercise and these answers."""
    one = desk("ps4")
    (check,) = one.exercises()["similarities"]
    changed = dataclasses.replace(check, exercise=dataclasses.replace(check.exercise, **changes))
    monkeypatch.setattr(one, "_judges", {})
    monkeypatch.setattr(one, "exercises", lambda: {"similarities": [changed]})
    monkeypatch.setattr(one, "answers", lambda exercise, kind: [a for a in answers if a.kind == kind])
    return audit(one, "similarities")


def test_a_right_answer_that_is_refused_is_a_fault(monkeypatch):
    right = desk("ps4").answers("similarities", RIGHT)[1:2]  # not computed as the reference is
    strict = record_of({"tolerance": 1e-17}, right, monkeypatch)
    assert (strict[RIGHT]["tried"], strict[RIGHT]["accepted"]) == (1, 0)
    assert any("float32" in fault for fault in strict[RIGHT]["faults"])
    assert any("should be at least" in fault for fault in results.faults(strict))


@pytest.mark.parametrize("kind", [WRONG, OPERATOR])
def test_a_wrong_answer_that_is_accepted_is_a_fault(kind, monkeypatch):
    right = desk("ps4").answers("similarities", RIGHT)[0]
    record = record_of({}, [dataclasses.replace(right, kind=kind, says="transpose")], monkeypatch)[kind]
    assert (record["tried"], record["refused"]) == (1, 0)
    assert record["faults"][0].startswith("accepted: ")


def test_a_mistake_with_another_name_is_a_fault(monkeypatch):
    wrong = desk("ps4").answers("similarities", WRONG)[0]
    record = record_of({}, [dataclasses.replace(wrong, says="something else")], monkeypatch)[WRONG]
    assert (record["refused"], record["named"]) == (1, 0)
    assert record["faults"][0].startswith("not named: ")


# --- distances -------------------------------------------------------------------------------------


def test_distances_to_right_results_are_noted_and_to_likely_mistakes_are_not():
    right, wrong = torch.tensor([1.0, 3.0]).double(), torch.tensor([1.0, 3.5]).double()
    with noted() as found, pytest.raises(AssertionError, match="Is it the other one"):
        compare("f", wrong, right, (), [Likely("Is it the other one?", lambda: wrong)])
    assert found == [Distance(0.125, FINE)] and found[0].ratio > 1
    with noted() as found:
        assert is_right(right.float(), right.float() + 2e-6)
        assert not is_right(torch.tensor(float("nan")), torch.tensor(1.0))
        assert not is_right(right, torch.ones(3))
    assert [one.tolerance for one in found] == [COARSE, COARSE] and found[1].error == inf
    assert 0 < found[0].ratio < 1


@pytest.mark.parametrize(
    ("right", "wrong", "proposed"), [(1e-12, 1e-2, 1e-7), (2e-6, 0.5, 1e-3), (4e-5, 0.09, 2e-3)]
)
def test_a_tolerance_off_the_rule_gets_the_middle_as_a_proposal(right, wrong, proposed):
    assert rule.middle(right, wrong) == proposed

    def broken(tolerance: float) -> list[str]:
        return rule.broken(
            {
                RIGHT: {"errors": {f"{tolerance:g}": right}},
                WRONG: {"nearest": [2 * wrong, "some answer"]},
                OPERATOR: {"nearest": [wrong, "some mutant"]},
            }
        )

    assert broken(proposed) == []
    for bad in (2 * right, wrong / 2):
        (told,) = broken(bad)
        assert f"(some mutant): the middle is {proposed:g}" in told


def test_what_is_not_wrong_by_numbers_bounds_nothing():
    assert rule.broken({RIGHT: {"errors": {"1e-07": 1e-15}}, WRONG: {"nearest": []}}) == []
    assert rule.broken({RIGHT: {"errors": {"0": 0.0}}}) == []


# --- forms -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Holder:
    inside: torch.Tensor


@pytest.mark.parametrize("form", forms.FORMS)
def test_a_form_changes_every_tensor_and_no_number(form):
    x = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    x = x.float() if form == "float64" else x
    x = x[:1].repeat(3, 1) if form == "expanded" else x
    whole = {"x": x, "parts": [(x,), Holder(x)], "step": functools.partial(torch.add, x, other=x)}
    changed = forms.each_tensor(forms.FORMS[form], whole)
    inside = changed["step"]
    tensors = [changed["x"], changed["parts"][0][0], changed["parts"][1].inside]
    for tensor in [*tensors, inside.args[0], inside.keywords["other"]]:
        assert (tensor.dtype, tensor.stride()) != (x.dtype, x.stride())
        assert torch.equal(tensor.double(), x.double())
        assert copy(tensor).stride() == tensor.stride() and torch.equal(copy(tensor), tensor)
    assert forms.differs(changed, whole) and not forms.differs(whole, whole)


def test_a_form_that_changes_nothing_is_not_tried():
    (check,) = desk("ps6").exercises()["warmup_rate"]  # of plain numbers
    plain = Judge(measuring(check), SEED)
    assert [form for form in exercises.ALL_FORMS if judge_in(plain, form)] == [forms.AS_MADE]


@pytest.mark.skipif(not second.available(), reason="PyTorch 2.6 lets Python define no device")
def test_the_second_device_tells_answers_that_leave_it(tmp_path):
    (check,) = desk("ps4").exercises()["similarities"]
    judge = judge_in(Judge(measuring(check), SEED), forms.SECOND)
    stays = "def similarities(q, x):\n    return q @ x.mT / q.shape[-1] ** 0.5\n"
    leaves = "def similarities(q, x):\n    return q @ x.mT / q.shape[-1] ** torch.full((1,), 0.5)\n"
    answers = [Answer("similarities", "", text, RIGHT) for text in (stays, leaves)]
    spaces = [answered_space(desk("ps4").space, answer) for answer in answers]
    trials = [try_in(judge, forms.SECOND, space, tmp_path) for space in spaces]
    assert trials[0] and trials[0].accepted and trials[1] is None


def test_a_trial_compares_every_case(tmp_path):
    """Also those after the first wrong one, where the points are all or nothing."""
    (check,) = desk("ps4").exercises()["similarities"]
    judge = Judge(measuring(check), SEED)
    off = Answer("similarities", "", "def similarities(q, x):\n    return q @ x.mT + 1.0\n", WRONG)
    trial = judged(judge, *handed_over(judge.request, answered_space(desk("ps4").space, off), tmp_path))
    assert not trial.accepted and trial.wrong_by_numbers
    assert len(trial.distances) >= len(judge.given()) >= 3
