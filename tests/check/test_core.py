"""The machinery of the self-checks, on small functions of its own."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import pytest
import torch

from seqcourse.check import Mistake, core
from seqcourse.check.calls.compare import compare
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.polls import Polls


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
    standard_cases({"batch": 2, "size": 3}, {"batch": 4, "size": 5}),
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


def test_an_error_of_pytorch_s_is_no_unsolved_exercise():
    for call in (lambda x, y: torch.nn.Module()(x), lambda x, y: x.to("meta").cpu()):
        with pytest.raises(Mistake, match="stopped with NotImplementedError: "):
            DOUBLE(call)


def test_the_global_random_state_is_left_alone():
    torch.manual_seed(3)
    wanted = torch.rand(4)
    torch.manual_seed(3)
    DOUBLE(double)
    assert torch.equal(torch.rand(4), wanted)


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
