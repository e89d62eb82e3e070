"""A check of a class: built, given weights, called twice, gradients of its parameters compared."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqcourse.check.calls.modules import module_arguments, record_module
from seqcourse.check.calls.payload import pack
from seqcourse.check.core import Likely
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge, Verdict
from seqcourse.check.hidden import HiddenCheck


class Trace(nn.Module):
    """A fading memory of everything it was called with: m = decay * m + scale * x + shift."""

    def __init__(self, d: int, decay: float) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
        self.decay = decay
        self.memory = None

    def forward(self, x):
        new = self.scale * x + self.shift
        self.memory = new if self.memory is None else self.decay * self.memory + new
        return self.memory


class Forgetful(Trace):
    def forward(self, x):
        self.memory = None
        return super().forward(x)


TRACE = Exercise(
    "Trace",
    module_arguments,
    Trace,
    likely=[Likely("Does a call forget what the calls before it left?", Forgetful)],
    record=record_module,
)
CHECK = HiddenCheck(
    "trace-grade",
    TRACE,
    {
        "a batch of rows": dict(
            build=dict(d=4, decay=0.5), weights=dict(scale=[4], shift=[4]), inputs=dict(x=[3, 4])
        ),
        "a batch of one": dict(
            build=dict(d=2, decay=0.9),
            weights=dict(scale=[2], shift=[2]),
            inputs=dict(x=[1, 2]),
            calls=3,
        ),
    },
)


def verdict(student: object) -> Verdict:
    judge = Judge(CHECK, seed=5)
    return judge.verdict(pack(probe(judge.request, {"Trace": student})))


class OtherWay(nn.Module):
    """The same from a list of all inputs."""

    def __init__(self, d, decay):
        super().__init__()
        self.shift = nn.Parameter(torch.rand(d))
        self.scale = nn.Parameter(torch.rand(d))
        self.seen, self.decay = [], decay

    def forward(self, x):
        self.seen.append(x)
        return sum(
            self.decay**age * (self.scale * x + self.shift) for age, x in enumerate(reversed(self.seen))
        )


class Plain:
    """No module at all, its weights are attributes."""

    def __init__(self, d, decay):
        self.scale, self.shift, self.decay, self.memory = torch.ones(d), torch.zeros(d), decay, 0

    def __call__(self, x):
        self.memory = self.decay * self.memory + self.scale * x + self.shift
        return self.memory


@pytest.mark.parametrize("student", [Trace, OtherWay, Plain])
def test_a_right_class_gets_everything(student):
    assert verdict(student) == Verdict(1.0)


class Detached(Trace):
    def forward(self, x):
        memory = super().forward(x)
        return memory.detach() + self.shift - self.shift.detach()


class Cut(Trace):
    """The gradient of the first call does not reach the second."""

    def forward(self, x):
        if self.memory is not None:
            self.memory = self.memory.detach()
        return super().forward(x)


class WithoutShift(Trace):
    def __init__(self, d, decay):
        super().__init__(d, decay)
        del self.shift
        self.shift = 0


class More(Trace):
    def __init__(self, d, decay):
        super().__init__(d, decay)
        self.linear = nn.Linear(d, d)


class OneSize(Trace):
    def __init__(self, d, decay):
        super().__init__(4, decay)


class NoInit(nn.Module):
    def __init__(self, d, decay):
        self.scale = nn.Parameter(torch.ones(d))


class InPlace(Trace):
    def forward(self, x):
        return super().forward(x.mul_(1.0001))


class Stops(Trace):
    def forward(self, x):
        if self.memory is not None:
            raise ValueError(f"the input was {x.tolist()}")
        return super().forward(x)


@pytest.mark.parametrize(
    ("student", "words"),
    [
        (
            Forgetful,
            "Trace (second call of one object, in training mode): the shape",
        ),
        (Forgetful, "Does a call forget what the calls before it left?"),
        (Detached, "no gradient reaches scale"),
        (Cut, "the gradient of scale is not"),
        (WithoutShift, "should have these parameters, with these names and shapes: shift (4,)."),
        (More, "more parameters than it should: only scale (4,); shift (4,) are asked for"),
        (OneSize, "names and shapes: scale (2,); shift (2,). "),
        (NoInit, "could not be built with d, decay: it stopped with AttributeError"),
        (InPlace, "changes its input x of call 1"),
        (
            Stops,
            "in training mode) stopped with ValueError. It was called with a tensor",
        ),
        (lambda d, decay: None, "names and shapes: scale (4,); shift (4,)."),
        (lambda: None, "could not be built with d, decay: it stopped with TypeError"),
        (7, "could not be built"),
    ],
)
def test_what_is_wrong_with_a_class_is_said(student, words):
    found = verdict(student)
    assert found.share == 0 and words in found.sentence


def test_a_class_that_is_not_written_is_unsolved():
    class Empty:
        def __init__(self, d, decay):
            raise NotImplementedError

    assert not verdict(Empty).solved
