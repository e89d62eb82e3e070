"""The verdict's side of a hidden check: what it gives, what it says, and what no file can do to it."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy
import pytest
import torch

from cellgrader import bounds
from seqcourse.check import ps1, ps3
from seqcourse.check.calls.payload import pack
from seqcourse.check.calls.values import arrays
from seqcourse.check.calls.watch import paused
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge
from seqcourse.check.hidden import BY_CASE, HiddenCheck
from seqcourse.errors import CourseError
from tests.sizes import nightly_but

SOFTMAX = HiddenCheck(
    "softmax-grade",
    replace(ps3.softmax, forbid=("log_softmax",)),
    {
        "no mask": dict(batch=3, time=5),
        "a batch of one": dict(batch=1, time=4),
        "a mask": dict(batch=4, time=3, kind="mask"),
        "masked scores far above the others": dict(batch=3, time=6, kind="hidden"),
    },
    share=BY_CASE,
)
LINKS = HiddenCheck(
    "links-grade",
    replace(ps3.links, forbid=()),
    {"a few words": dict(time=7, words=5, length=5), "one": dict(time=2, words=1, length=1)},
)
RATE = HiddenCheck(
    "rate-grade",
    replace(ps3.alignment_error_rate, forbid=()),
    {"one sentence": dict(sentences=1), "many sentences": dict(sentences=30)},
)
# Not recorded: the checks' own answers are refused.
right_softmax, right_links, right_rate, right_local = (
    paused(exercise.reference)
    for exercise in (ps3.softmax, ps3.links, ps3.alignment_error_rate, ps3.local_weights)
)
ORDINARY = [SOFTMAX, LINKS, RATE]


def asked(check, student, seed=3):
    judge = Judge(check, seed)
    return judge.verdict(pack(probe(judge.request, {check.answer: student})))


def test_an_error_of_pytorch_s_is_told_and_no_unsolved_exercise():
    found = asked(LINKS, lambda weights, length: weights.to("meta").cpu())
    assert found.solved and "links stopped with NotImplementedError. It was called" in found.sentence


def handed(changed, check=SOFTMAX, seed=3):
    """The verdict on a right answer's arrays, some of them changed (or with None taken out) by name."""
    judge = Judge(check, seed)
    found = {**probe(judge.request, {check.answer: right(check)}), **changed}
    return judge.verdict(pack({name: value for name, value in found.items() if value is not None}))


def right(check):
    """The reference; not recorded, since the checks' own answers are refused."""
    return paused(check.exercise.reference)


@pytest.mark.parametrize("check", ORDINARY, ids=lambda check: check.answer)
def test_a_right_answer_gets_all(check):
    found = asked(check, right(check))
    assert (found.share, found.findings) == (1.0, ())


@pytest.mark.parametrize("seed", range(12))
def test_the_mistake_told_is_one_that_explains_all_cases(seed):
    """On one sentence alone many wrong counts give the same rate; over all cases only one does."""

    def only_sure(predicted, sure, possible):
        right = sum(len(a & s) for a, s in zip(predicted, sure, strict=True))
        return 1 - right / (sum(map(len, predicted)) + sum(map(len, sure)))

    assert "|A & P| missing above" in asked(RATE, only_sure, seed).sentence


def test_a_mistake_that_stops_is_named_though_other_cases_come_out_right():
    local = HiddenCheck(
        "local_weights-grade",
        ps3.local_weights,
        {"a few sentences": dict(batch=3, time=10), "a batch of one": dict(batch=1, time=6)},
        share=BY_CASE,
    )

    def no_axis(scores, centre, width, mask):
        distance = torch.arange(scores.shape[1]) - centre
        return right_local(scores, centre, width, mask) + 0 * distance

    found = asked(local, no_axis)
    assert found.share == 0.5 and "centre[:, None]" in found.sentence


def test_a_list_where_a_set_is_asked_for_and_a_set_of_tensors_are_named():
    right = right_links
    found = asked(
        LINKS, lambda weights, length: sorted(right(weights, length), key=lambda link: link[1])
    )
    assert "expected a set, got a list" in found.sentence and "Is it a list?" in found.sentence
    found = asked(LINKS, lambda *given: {(torch.tensor(i), t) for i, t in right(*given)})
    assert "plain whole numbers" in found.sentence


def test_a_set_that_was_changed_in_place_is_named():
    def changes(predicted, sure, possible):
        rate = right_rate(predicted, sure, possible)
        predicted[0] &= sure[0]
        return rate

    assert "changes its input predicted" in asked(RATE, changes).sentence


def test_a_gradient_that_stops_is_told_with_its_error():
    def through_numpy(scores, mask=None):
        return torch.from_numpy(right_softmax(torch.from_numpy(scores.numpy()), mask).numpy())

    found = asked(SOFTMAX, through_numpy)
    assert found.share == 0 and "no gradient reaches scores: on the way it stops" in found.sentence


def test_gradients_switched_off_for_the_whole_notebook_cost_nothing():
    torch.set_grad_enabled(False)
    try:
        assert asked(SOFTMAX, right(SOFTMAX)).share == 1
    finally:
        torch.set_grad_enabled(True)


GRADIENT, RESULT = "0.gradient.scores", "0.result"
LYING = {
    "no result": {RESULT: None},
    "no gradient": {GRADIENT: None},
    "no input": {"0.after.scores": None},
    "another dtype": {RESULT: numpy.zeros((3, 5), dtype=numpy.float32)},
    "not a number": {RESULT: numpy.full((3, 5), numpy.nan)},
    "infinity": {RESULT: numpy.full((3, 5), numpy.inf)},
    "short whole numbers": {RESULT: numpy.zeros((3, 5), dtype=numpy.uint16)},
    "long whole numbers": {RESULT: numpy.zeros((3, 5), dtype=numpy.uint64)},
    "truth values": {RESULT: numpy.zeros((3, 5), dtype=bool)},
    "a long axis": {RESULT: numpy.zeros((1 << 40, 0))},
    "a word": {RESULT: numpy.array("right")},
    "words": {RESULT: numpy.array(["ValueError", "no"])},
    "an error of numbers": {RESULT: None, RESULT + ".error": numpy.zeros(4)},
    "an error of one word": {RESULT: None, RESULT + ".error": numpy.array("one word")},
    "an error of three words": {RESULT: None, RESULT + ".error": numpy.array(["a", "b", "c"])},
    "a set of fractions": {RESULT: None, RESULT + ".set": numpy.zeros((3, 5))},
    "other numbers": {RESULT: None, RESULT + ".other": numpy.zeros((3, 5))},
    "too many parts": {RESULT: None, RESULT + ".tuple": numpy.array(1 << 60)},
    "less than no parts": {RESULT: None, RESULT + ".tuple": numpy.array(-1)},
    "not a number of parts": {RESULT: None, RESULT + ".list": numpy.array(numpy.nan)},
    "several numbers of parts": {RESULT: None, RESULT + ".list": numpy.ones(7)},
    "a gradient in words": {GRADIENT: numpy.array("None")},
    "a gradient of zeros": {GRADIENT: numpy.zeros((3, 5))},
    "a short gradient": {GRADIENT: numpy.zeros(2)},
}


@pytest.mark.parametrize("kind", LYING)
def test_one_array_that_lies_costs_its_case_and_is_told(kind):
    found = handed(LYING[kind])
    assert found.share == 0.75 and "(Input: no mask, float32.)" in found.sentence


@pytest.mark.parametrize(
    "calls",
    [numpy.zeros(5), numpy.array("torch"), numpy.array(["a", "b"])],
    ids=["numbers", "a word", "words"],
)
def test_names_of_any_form_are_looked_through(calls):
    assert handed({"ran": calls}).share == 1
    assert handed({"ran": numpy.array(["x", "torch:log_softmax"])}).share == 0
    assert handed({"ran": None}).share == 0, "a record was taken away"


ROOM = bounds.RESULT - (1 << 20)


def _deep(levels: int, name: str = "0.result") -> dict[str, numpy.ndarray]:
    names = [name + ".0" * level for level in range(levels)]
    return {f"{place}.tuple": numpy.array(1) for place in names} | {names[-1] + ".0": numpy.ones(1)}


def _wide() -> dict[str, numpy.ndarray]:
    found = {"0.result.list": numpy.array(1_900)}
    for k in range(1_900):
        found |= arrays(**{f"0.result.{k}": [1.0] * 8})
    return found


HUGE = {
    "names that are numbers": lambda: {"ran": numpy.zeros(ROOM, dtype=numpy.uint8)},
    "a result of many numbers": lambda: {"0.result": numpy.zeros(ROOM // 8)},
    "an error of many numbers": lambda: {"0.result.error": numpy.zeros(ROOM, dtype=numpy.uint8)},
    "a set of long rows": lambda: {"0.result.set": numpy.zeros((1_000, ROOM // 1_000), dtype="uint8")},
    "other words of many numbers": lambda: {"0.result.other": numpy.zeros(ROOM, dtype=numpy.uint8)},
    "parts within parts": lambda: _deep(2_500),
    "many parts": _wide,
    "an input of many numbers": lambda: {"0.after.scores": numpy.zeros(ROOM // 8)},
    "a gradient of many numbers": lambda: {"0.gradient.scores": numpy.zeros(ROOM // 8)},
}


@pytest.fixture
def time_out():
    def stop(*_):
        raise TimeoutError("the verdict took more than two minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", nightly_but(["a result of many numbers", "many parts"], HUGE))
@pytest.mark.parametrize("check", ORDINARY, ids=lambda check: check.answer)
def test_no_file_is_too_large_or_too_deep(check, kind, time_out):
    judge = Judge(check, 3)
    found = probe(judge.request, {check.answer: right(check)})
    lying = HUGE[kind]()
    if any(name.startswith("0.result.") for name in lying):
        found = {name: value for name, value in found.items() if not name.startswith("0.result")}
    verdict = judge.verdict(pack({**found, **lying}))
    assert verdict.share <= 1 and len(verdict.sentence) < 3_000
    if any(name.startswith("0.result") for name in lying):
        assert verdict.share < 1 and verdict.sentence


def test_a_check_that_cannot_answer_its_own_inputs_is_the_course_s_mistake():
    broken = Exercise("x", ps1.training_pairs.make, len)
    with pytest.raises(CourseError, match="x-grade should have an answer"):
        Judge(HiddenCheck("x-grade", broken, {"a": dict(size=3, length=1)}), 1)
    with pytest.raises(CourseError, match="TypeError"):
        Judge(HiddenCheck("x-grade", broken, {"a": dict(sizes=3)}), 1)
