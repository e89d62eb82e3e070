"""Every exercise sees every kind of input among its hidden cases, or says in words why it need not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
import torch

from seqcourse.check import Mistake
from seqcourse.check.calls import kinds
from seqcourse.check.calls.inputs import each_tensor, normal
from seqcourse.check.calls.payload import pack
from seqcourse.check.cards import card
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge
from seqcourse.check.hidden import HiddenCheck
from tests.check import test_assignments as assignments


def _exercises() -> list[Any]:
    return [
        pytest.param(name, exercise, id=f"{name}-{exercise}")
        for name in assignments.ASSIGNMENTS
        for exercise in assignments._exercises(name)
        if not exercise.startswith("poll")
    ]


def _tensors(given: Mapping[str, Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    each_tensor(lambda _, part: found.append(part) or part, given)
    return found


def _seen(checks: list[HiddenCheck], cases: list[dict[str, Any]]) -> dict[str, bool]:
    """Kind -> whether the hidden cases show it, as far as there is anything to show it with."""
    exercise = checks[0].exercise
    tensors = [part for given in cases for part in _tensors(given)]
    precisions = {part.dtype for part in tensors if part.is_floating_point()}
    trained = any(check.exercise.trained(given) for check in checks for given in cases)
    more = any(kinds.WORDS[kinds.AGAIN] in kind for check in checks for kind in check.choose(1))
    return {
        kinds.GRADIENTS: trained,
        kinds.FLOAT32: not precisions or {torch.float32, torch.float64} <= precisions,
        kinds.STRIDES: not tensors or any(not part.is_contiguous() for part in tensors),
        kinds.AGAIN: trained or exercise.is_class or more,
    }


@pytest.mark.parametrize(("assignment", "exercise"), _exercises())
def test_every_kind_is_seen_or_excused_in_words(assignment, exercise):
    folder = assignments.ROOT / "solutions" / "checks" / assignment
    excused = card.read(folder / f"{exercise}.txt").told.get("excused", {})
    judges = [one for one in assignments._judges(assignment) if one.check.answer == exercise]
    assert judges[0].check.exercise.excused.items() >= excused.items()
    cases = [given for judge in judges for given in judge.given().values()]
    seen = _seen([judge.check for judge in judges], cases)
    for kind, shown in seen.items():
        assert shown or kind in excused, f"{exercise} does not see {kind}, and its card does not say why"
        assert not shown or kind not in excused, f"{exercise} sees {kind}: its card need not excuse it"
    others = {kind.removeprefix(f"{kinds.GRADIENTS} of ") for kind in set(excused) - set(seen)}
    assert others <= set(cases[0]), "of which argument?"
    assert all(len(why.split()) > 2 for why in excused.values()), "an excuse is a reason in words"


def _linear(state: tuple[torch.Tensor, ...], layer: Callable[..., torch.Tensor]) -> torch.Tensor:
    return state[0] + layer(state[1])


def _layer(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x @ w


def _make(n: int, seed: int = 0) -> dict[str, Any]:
    drawn = normal({"h": (2, n), "c": (2, n), "w": (n, n)}, seed)
    return {"state": (drawn["h"], drawn["c"]), "layer": partial(_layer, w=drawn["w"])}


LINEAR = Exercise("linear", _make, _linear)
CHECK = HiddenCheck("linear-grade", LINEAR, {"a few rows": dict(n=3), "wide rows": dict(n=4)})


def _told(answer: Callable[..., Any]) -> str:
    judge = Judge(CHECK, 7)
    return judge.verdict(pack(probe(judge.request, {"linear": answer}))).sentence


def _counting(state, layer, before=[]):  # noqa: B006
    before.append(1)
    return _linear(state, layer) + (len(before) > 1)


def _in_place(state, layer):
    state[0].add_(layer(state[1]))
    return state[0]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (_linear, ""),
        (
            lambda state, layer: state[0].detach() + layer(state[1]),
            "no gradient reaches part 1 of state",
        ),
        (
            lambda state, layer: state[0] + layer(state[1]).detach(),
            "no gradient reaches part 2 of state",
        ),
        (torch.no_grad()(_linear), "no gradient reaches"),
        (lambda state, layer: _linear(state, layer).double(), "the dtype should be torch.float32"),
        (lambda state, layer: state[0].view(-1).view(2, -1) + layer(state[1]), "not contiguous"),
        (_counting, "another call with the same inputs gives another result"),
        (_in_place, "changes its input state"),
    ],
)
def test_what_does_not_train_is_seen_without_a_word_in_the_record(answer, says):
    told = _told(answer)
    assert says in told and bool(told) == bool(says)


def test_what_a_function_holds_is_as_it_was_after_its_gradient_was_taken():
    given = _make(3)
    LINEAR.judge_case(LINEAR.record(_linear, given, "", ("state", "layer")), _make(3), "linear", "")
    assert not given["layer"].keywords["w"].requires_grad
    assert CHECK.exercise.trained(given) == ("state", "layer")
    with pytest.raises(Mistake, match="the w of layer"):
        cut = LINEAR.record(
            lambda state, layer: _linear(state, _detached(layer)), _make(3), "", ("layer",)
        )
        LINEAR.judge_case(cut, _make(3), "linear", "", ("layer",))


def _detached(layer):
    return lambda x: x @ layer.keywords["w"].detach()
