"""The machinery of the self-checks, on small functions of its own."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy
import pytest
import torch

from seqcourse import functional
from seqcourse.check import Mistake, core
from seqcourse.check.compare import compare
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.forbidden import refuse
from seqcourse.check.polls import Polls
from seqcourse.check.watch import Watch


def double(x, y):
    return 2 * x + y


def make(batch: int = 2, size: int = 3, dtype: torch.dtype = torch.float64):
    return core.normal({"x": (batch, size), "y": (batch, size)}, dtype=dtype)


LIKELY = [core.Likely("Did you forget y?", lambda x, y: 2 * x)]
DOUBLE = Exercise(
    "double",
    make,
    double,
    LIKELY,
    standard_cases(make, {"batch": 2, "size": 3}, {"batch": 4, "size": 5}),
)


def message_of(student, **options) -> str:
    with pytest.raises(Mistake) as caught:
        replace(DOUBLE, **options)(student)
    return str(caught.value)


def test_a_right_function_passes_and_says_so(capsys):
    DOUBLE(lambda x, y: x + x + y)
    assert capsys.readouterr().out.startswith("✓ double: 5 calls, gradients")


def test_a_graded_cell_says_in_validate_what_the_self_check_says(capsys):
    calls = []

    def right(x, y):
        calls.append(x)
        return 2 * x + y

    def unsolved(x, y):
        raise NotImplementedError

    for check in (DOUBLE.validate, DOUBLE, DOUBLE.validate):
        check(right)
    assert len(calls) == 2 * (len(DOUBLE.cases) + 2), "what has just passed is not called again"
    assert capsys.readouterr().out.count("hidden checks see more") == 2
    with pytest.raises(Mistake, match="Did you forget y"):
        DOUBLE.validate(lambda x, y: 2 * x)
    with pytest.raises(NotImplementedError, match="double is not solved yet"):
        DOUBLE.validate(unsolved)
    polls = Polls({"poll_1": "ab", "poll_2": "ab"})
    polls.validate(poll_1="a")
    with pytest.raises(NotImplementedError, match="poll_2 has no answer yet"):
        polls.validate(poll_2=None)
    with pytest.raises(Mistake, match="should be one of"):
        polls.validate(poll_1="c")


@pytest.mark.parametrize(
    ("student", "words"),
    [
        (lambda x, y: 2 * x, "Did you forget y?"),
        (lambda x, y: 3 * x + y, "the numbers are not. At index"),
        (lambda x, y: None, "return statement missing"),
        (lambda x, y: (2 * x + y, x), "expected a tensor (2, 3), got a tuple of 2"),
        (lambda x, y: (2 * x + y).T, "should be (2, 3), but is (3, 2)"),
        (lambda x, y: (2 * x + y)[..., None], "axis of size 1 too many"),
        (lambda x, y: (2 * x + y).squeeze(), "wrong for a batch of 1"),
        (lambda x, y: (2 * x + y).float(), "dtype should be torch.float64"),
        (lambda x, y: (2 * x + y) / 0 * 0, "NaN"),
        (lambda x, y: 2 * x.view(-1).view(x.shape) + y, "reshape instead of view"),
        (lambda x, y: 2 * x + y if x.shape[0] < 4 else x / [], "wrong for other sizes"),
        (lambda x, y: x.add_(x).add_(y), "changes its input x"),
        (lambda x, y: 2 * x.requires_grad_() + y, "turns on requires_grad"),
        (7, "should be a function, but is 7"),
    ],
)
def test_what_is_wrong_is_said(student, words):
    assert words in message_of(student)


def test_a_number_in_place_of_a_tensor_stops_the_gradient_and_is_told_so():
    def total(x, y):
        return (2 * x + y).sum()

    told = message_of(lambda x, y: total(x, y).item(), reference=total)
    assert "no gradient reaches x" in told and ".item()" in told

    def both(x, y):
        return 2 * x + y, total(x, y)

    def half(x, y):
        return 2 * x + y, total(x, y).item()

    assert "the gradient of x is not" in message_of(half, reference=both)


def test_a_gradient_that_is_cut_off_is_found():
    assert "no gradient reaches x" in message_of(lambda x, y: 2 * x.detach() + y)
    assert "the gradient of x is not" in message_of(lambda x, y: x + x.detach() + y)


def test_an_error_is_matched_with_the_mistake_that_stops_in_the_same_way():
    likely = [core.Likely("Did you multiply matrices?", lambda x, y: x @ y)]
    with pytest.raises(Mistake, match="Did you multiply matrices"):
        replace(DOUBLE, likely=likely)(lambda x, y: torch.matmul(x, y))


def test_an_unsolved_exercise_is_no_mistake():
    def student(x, y):
        raise NotImplementedError()

    with pytest.raises(NotImplementedError):
        DOUBLE(student)
    with pytest.raises(NotImplementedError):
        core.record(student, make())


def test_an_error_of_pytorch_s_is_no_unsolved_exercise():
    for call in (lambda x, y: torch.nn.Module()(x), lambda x, y: x.to("meta").cpu()):
        with pytest.raises(Mistake, match="stopped with NotImplementedError: "):
            DOUBLE(call)


def uses_softmax(source: str, forbidden: tuple[str, ...] = ("softmax", "Softmax")) -> bool:
    """Whether the function or class `answer` of a cell runs what is forbidden."""
    space = {"__name__": "__main__", "torch": torch, "nn": torch.nn, "functional": functional}
    exec(compile(source, "cell", "exec"), space)
    answer, x = space["answer"], torch.ones(3)
    with Watch() as watch:
        if answer is torch.softmax:
            answer(x, -1)
        else:
            (answer() if isinstance(answer, type) else answer)(x)
    try:
        refuse("answer", watch.ran, forbidden)
    except Mistake as mistake:
        assert "is to be built here" in str(mistake)
        return True
    return False


OWN = """
def softmax(x):
    return x.exp()

class Softmax:
    softmax = 1.0

    def __init__(self):
        self.log_softmax = {}

    def __call__(self, x):
        return x * self.softmax

class Child(Softmax):
    pass

parameters = {"softmax": 1.0}
layer, relu = Softmax(), torch.relu
"""


@pytest.mark.parametrize(
    "body",
    [
        "return [softmax(y) for y in x]",
        "return Softmax()(x)",
        "return Child().softmax * layer(x) + layer.softmax",
        "return Softmax.softmax * x",
        "return layer.log_softmax",
        "return parameters['softmax'] * len(parameters.values())",
        "from seqcourse.data import pad\n    return pad([[1], [2, 3]])",
        "return functional.length_mask(torch.tensor([2]), 3), torch.relu(x), relu(x)",
        "class In(Child):\n        def softmax(self):\n            pass\n    return In().softmax()",
    ],
)
def test_what_somebody_wrote_is_no_use_of_the_library(body):
    forbidden = ("softmax", "Softmax", "log_softmax", "parameters", "seqcourse.functional.weighted_sum")
    assert not uses_softmax(f"{OWN}\ndef answer(x):\n    {body}", forbidden)


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x):\n    return torch.softmax(x, 0)\ndef answer(x):\n    return softmax(x)",
        "softmax = torch.softmax\ndef answer(x):\n    return softmax(x, 0)",
        "from torch.nn.functional import softmax as s\ndef answer(x):\n    return s(x, 0)",
        "def answer(x):\n    from torch import softmax as s\n    return s(x, 0)",
        "layer = nn.Softmax(-1)\ndef answer(x):\n    return layer(x)",
        "class A(nn.Softmax):\n    pass\ndef answer(x):\n    return A(-1)(x)",
        "class A:\n    def f(me, x):\n        return x.softmax(0)\ndef answer(x):\n    return A().f(x)",
        "def answer(x):\n    return (lambda y: y.softmax(0))(x)",
        "class answer:\n    def __call__(self, x):\n        return functional.softmax(x)",
        "answer = torch.softmax",
        "answer = nn.Softmax(-1)",
        "answer = functional.softmax",
    ],
)
def test_what_the_library_has_is_found_under_any_name(source):
    assert uses_softmax(source)


def test_a_function_of_the_package_is_told_from_pytorch_s():
    for name, found in (("functional", True), ("torch", False)):
        source = f"def answer(x):\n    return {name}.softmax(x, dim=-1) + x.softmax(-1)"
        assert uses_softmax(source, ("seqcourse.functional.softmax",)) is found


def test_the_global_random_state_is_left_alone():
    torch.manual_seed(3)
    wanted = torch.rand(4)
    torch.manual_seed(3)
    DOUBLE(double)
    assert torch.equal(torch.rand(4), wanted)


def test_results_survive_the_way_through_plain_arrays():
    results = {
        "one": torch.arange(3),
        "pair": (torch.ones(2), torch.zeros(1, 2)),
        "nothing": None,
        "letter": "b",
        "stop": ValueError("no such thing"),
    }
    found = core.arrays(**results)
    assert all(isinstance(value, numpy.ndarray) for value in found.values())
    assert not any(value.dtype.hasobject for value in found.values())
    assert core.same(core.result(found, "one"), results["one"])
    assert core.same(core.result(found, "pair"), results["pair"])
    assert core.result(found, "nothing") is None
    assert core.result(found, "letter") == "b"
    assert str(core.result(found, "stop")) == "no such thing"
    with pytest.raises(Mistake, match="handed over no other"):
        core.result(found, "other")


def judged(student) -> None:
    core.judge(
        "double", core.record(student, make(), gradient=("x",)), make(), double, LIKELY, "", ["x"]
    )


def test_what_was_written_down_of_a_call_is_judged():
    judged(lambda x, y: x + x + y)
    with pytest.raises(Mistake, match="forget y"):
        judged(lambda x, y: 2 * x)
    with pytest.raises(Mistake, match="changes its input x"):
        judged(lambda x, y: x.mul_(2) + y)
    with pytest.raises(Mistake, match="no gradient reaches x"):
        judged(lambda x, y: 2 * x.detach() + y)


def test_quiet_swallows_warnings_and_stderr(capfd):
    with core.quiet():
        warnings.warn("careful", stacklevel=2)
        print("to stderr", file=sys.stderr)
    assert capfd.readouterr().err == ""


def test_polls_say_answered_and_never_right_or_wrong(capsys):
    polls = Polls({"poll_1": "abc", "poll_2": "ab"})
    polls(poll_1="a", poll_2=None)
    assert capsys.readouterr().out == "poll_1: answered.\npoll_2: no answer yet.\n"
    with pytest.raises(Mistake, match='poll_2 should be one of "a", "b"'):
        polls(poll_2="c")
    for answer in (None, "a", "A"):
        with pytest.raises(Mistake):
            core.poll_verdict("poll_1", core.arrays(answer=answer)["answer"], "b")
    core.poll_verdict("poll_1", core.arrays(answer="b")["answer"], "b")


def test_noncontiguous_holds_the_same_numbers():
    x = torch.arange(12.0).reshape(3, 4)
    spread = core.noncontiguous(x)
    assert torch.equal(spread, x)
    assert not spread.is_contiguous()
    assert core.copy(spread).stride() == spread.stride()


def test_a_single_number_is_held_to_the_precision_of_the_inputs():
    """A number of Python's is float64, whatever it was computed from."""
    x = torch.tensor([0.1, 0.7])
    python, tensor = x.double().sum() + 1e-6, x.sum()
    for got, right in ((python, x.double().sum()), (python, tensor), (tensor, python)):
        compare("total", got, right, [x])
    compare("total", torch.tensor(0.5), torch.tensor(0.5, dtype=torch.float64), [x.double()])
    compare("follows", torch.tensor(True), torch.tensor(1))
    with pytest.raises(Mistake, match="not the right one"):
        compare("total", python, x.double().sum(), [x.double()])
    with pytest.raises(Mistake, match="dtype should be torch.float64 like the input's"):
        compare("totals", tensor[None], tensor[None].double(), [x.double()])
    with pytest.raises(Mistake, match="should be a whole number"):
        compare("count", torch.tensor(1.0), torch.tensor(1), [x])
