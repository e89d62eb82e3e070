"""The language of hidden checks: requests, shares, judges of several cases, the way through here()."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy
import pytest
import torch

from seqcourse.check import Mistake, core, ps1
from seqcourse.check.calls.payload import pack
from seqcourse.check.calls.recording import record
from seqcourse.check.calls.watch import paused
from seqcourse.check.core import Likely
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade import verdict
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge, Verdict
from seqcourse.check.hidden import ALL_OR_NOTHING, BY_CASE, HiddenCheck, Poll, importable
from seqcourse.errors import CourseError

CASES = {
    "characters left over": dict(size=8, length=3),
    "rows that fit": dict(size=10, length=3),
    "one row": dict(size=5, length=4),
    "rows of one": dict(size=4, length=1),
}


def check(share: str = ALL_OR_NOTHING, **changes) -> HiddenCheck:
    return HiddenCheck(
        "pairs-grade", replace(ps1.training_pairs, name="pairs", **changes), CASES, share=share
    )


# Not recorded: the checks' own answers are refused.
cuts = paused(ps1.training_pairs.reference)


def ask(a_check, student, seed: int = 3) -> Verdict:
    judge = Judge(a_check, seed)
    return judge.verdict(pack(probe(judge.request, {a_check.answer: student})))


def loses_the_last_row(ids, length):
    """Right, but where the rows fit exactly."""
    return cuts(ids[:-1], length)


def test_all_or_nothing_and_points_by_case():
    assert ask(check(), cuts) == Verdict(1.0)
    found = ask(check(), loses_the_last_row)
    assert found.share == 0 and found.sentence.count("(Input:") == 1
    found = ask(check(share=BY_CASE), loses_the_last_row)
    assert 0 < found.share < 1
    assert "(Input: rows that fit" in found.sentence and "characters left over" not in found.sentence
    found = ask(check(share=BY_CASE), lambda ids, length: None)
    assert found.share == 0 and len(found.findings) == 1, "the same sentence is said once"
    assert all(kind in found.sentence for kind in CASES)


def test_a_request_holds_the_inputs_and_nothing_of_the_checks():
    judge = Judge(check(forbid=("unfold",)), seed=40)
    request = dict(judge.request)
    calls = pickle.loads(request.pop("calls"))
    assert [set(call["given"]) for call in calls] == [{"ids", "length"}] * 5
    assert [call["given"]["length"] for call in calls] == [3, 3, 4, 1, 3]
    words = str(request) + str(judge.request["calls"])
    assert not any(kind in words for kind in CASES)
    assert not any(word in words for word in ("reference", "Likely", "unfold", "seed", "check.ps1"))


def test_the_gradient_of_an_optional_argument_is_asked_for_where_it_is_given():
    def make(given: bool, seed: int):
        return {"x": torch.ones(2), "memory": torch.ones(2) if given else None}

    exercise = Exercise("add", make, lambda x, memory: x)
    a_check = HiddenCheck("add-grade", exercise, {"one": dict(given=False), "both": dict(given=True)})
    calls = pickle.loads(Judge(a_check, 1).request["calls"])
    assert [call["gradient"] for call in calls] == [("x",), ("x", "memory")]


def test_cases_may_be_chosen_from_the_seed():
    chosen = []

    def choose(seed):
        chosen.append(seed)
        return {
            "a text": dict(size=9, length=2, seed=seed + 1),
            "another": dict(size=9, length=2, seed=7),
        }

    judge = Judge(HiddenCheck("pairs-grade", replace(ps1.training_pairs, name="pairs"), choose), seed=5)
    for _ in range(3):
        judge.verdict(pack(probe(judge.request, {"pairs": cuts})))
    assert chosen == [5], "cases are chosen once"
    made = [given["ids"] for given in judge.given().values()]
    assert [len(ids) for ids in made] == [9, 9] and not torch.equal(*made)


def test_ways_to_call_must_be_where_the_probe_finds_them():
    assert importable(record) == "seqcourse.check.calls.recording:record"
    for nowhere in (lambda seed: {}, ask, Judge.given, torch.randn, ps1.training_pairs.make):
        with pytest.raises(ValueError, match="seqcourse.check.inside"):
            importable(nowhere)
    with pytest.raises(ValueError, match="reference or a judge"):
        Exercise("a", ps1.training_pairs.make)
    with pytest.raises(ValueError, match="has no shares"):
        check(judge_all=print, share=BY_CASE)


def test_gradients_are_compared_where_they_are_asked_for():
    def cut(x, h, *weights):
        return core.copy(x @ weights[0].T + weights[2]).detach() + h @ weights[1].T + weights[3]

    def linear(x, h, w_ih, w_hh, b_ih, b_hh):
        return x @ w_ih.T + b_ih + h @ w_hh.T + b_hh

    cases = {"several inputs": dict(batch=3, d=2, h=4)}
    exercise = Exercise("linear", ps1.rnn_step.make, linear)
    a_check = HiddenCheck("l-grade", exercise, cases)
    assert ask(a_check, linear) == Verdict(1.0)
    assert "no gradient reaches" in ask(a_check, cut).sentence
    excused = replace(exercise, excused={"gradients": "nobody trains it"})
    assert ask(HiddenCheck("l-grade", excused, cases), cut).share == 1


def test_a_judge_of_its_own_may_judge_one_case_or_all():
    def judge_one(found, given, prefix):
        if core.result(found, f"{prefix}result")[0].shape[1] != given["length"]:
            raise Mistake("pairs: the rows have another length.")

    def judge_all(found, made):
        assert list(made) == list(CASES)
        for number, given in enumerate(made.values()):
            judge_one(found, given, f"{number}.")

    for options in ({"judge": judge_one}, {"judge_all": judge_all}):
        a_check = check(reference=None, likely=(), **options)
        assert ask(a_check, cuts).share == 1
        found = ask(a_check, lambda ids, length: (ids[None], ids[None]))
        assert found.share == 0 and "the rows have another length" in found.sentence
        assert "could not be judged" in ask(a_check, lambda ids, length: 7).sentence


def test_a_poll_is_one_letter():
    poll = Poll("poll_1-grade", "poll_1", "b", ("01", "Polls"))
    assert ask(poll, "b") == Verdict(1.0)
    for wrong in ("a", "B", " b", "bb", "", None, 2, 98, b"b", ["b"], ("b",), {"b"}, "b" * 30, print):
        assert ask(poll, wrong).share == 0
    for lying in ({"answer": numpy.array(["b"])}, {"answer": numpy.array(98)}, {}):
        assert Judge(poll, 1).verdict(pack(lying)).share == 0

    class AlwaysEqual(str):
        __eq__ = __ne__ = lambda self, other: True
        __hash__ = str.__hash__

    assert ask(poll, AlwaysEqual("c")).share == 0


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("timeout", "took too long on the hidden inputs"),
        ("signal 9", "was stopped by the system"),
        ("exit 3", "ended the process that called it"),
        ("", "ended the process"),
    ],
)
def test_without_a_result_there_is_a_sentence(ending, words):
    found = Judge(check(), seed=1).verdict(None, ending)
    assert found.share == 0 and words in found.sentence


@pytest.mark.parametrize("data", [b"", b"nothing", pack(core.arrays(other=torch.ones(2)))])
def test_what_is_no_result_earns_nothing(data):
    for a_check in (check(), check(share=BY_CASE), Poll("p-grade", "p", "a")):
        assert Judge(a_check, seed=1).verdict(data).share == 0


def test_likely_mistakes_that_never_show_are_not_asked():
    forgot = Likely("Did you forget it?", lambda ids, length: None)
    found = ask(check(likely=[forgot]), lambda ids, length: (ids, ids))
    assert "forget it" not in found.sentence


def course(folder, source: str) -> None:
    (folder / "solutions" / "checks").mkdir(parents=True)
    (folder / "solutions" / "checks" / "ps9.py").write_text(source, encoding="utf-8")


def test_a_grade_cell_of_the_instructor_s_notebook_runs_both_halves(tmp_path, monkeypatch):
    course(
        tmp_path,
        "from seqcourse.check.hidden import Poll\nCHECKS = [Poll('poll_1-grade', 'poll_1', 'a')]\n",
    )
    monkeypatch.chdir(tmp_path / "solutions")
    verdict.here("ps9", "poll_1-grade", {"poll_1": "a"})
    with pytest.raises(Mistake, match="not the right one"):
        verdict.here("ps9", "poll_1-grade", {"poll_1": "b"})
    with pytest.raises(CourseError, match="no such|none"):
        verdict.here("ps9", "poll_2-grade", {})
    with pytest.raises(CourseError, match="there are none in"):
        verdict.here("ps8", "poll_1-grade", {})
