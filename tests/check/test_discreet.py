"""Nothing that a student's code puts into a result or an error comes out in a verdict's sentence."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

from seqcourse.check import Mistake, ps1, ps2
from seqcourse.check.calls.payload import pack
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge
from seqcourse.check.hidden import HiddenCheck
from seqcourse.check.told.discreet import discreet, error_in_words, public, sizes_told


def hidden(exercise, cases, **changes) -> HiddenCheck:
    return HiddenCheck(exercise.name, replace(exercise, name="answer", **changes), cases)


CHECKS = [
    hidden(
        ps1.rnn_step,
        {"a batch of several inputs": dict(batch=3, d=5, h=4)},
        reference=lambda *arguments: torch.zeros(3, 4, dtype=torch.float64),
        likely=(),
        forbid=("RNN",),
    ),
    hidden(ps1.draw, ps1.draw.variants["draw"]["cases"]),
    hidden(ps2.scheduled_sampling, ps2.scheduled_sampling.variants["scheduled"]["cases"]),
    hidden(ps2.beam_search, ps2.beam_search.variants["plain"]["cases"]),
]
MARK = "mark7391"  # stands for a hidden number, in a form that no filter for numbers catches


def secret(arguments) -> str:
    """What a hostile answer would carry out: the inputs, as text."""
    numbers = [
        float(v) for item in arguments if isinstance(item, torch.Tensor) for v in item.flatten()[:9]
    ]
    return MARK + " ".join(f"{number:.6f}" for number in numbers)


def raises_message(*arguments):
    raise ValueError(secret(arguments))


def raises_class_name(*arguments):
    raise type(secret(arguments), (Exception,), {})("no message")


def raises_builtin_name(*arguments):
    raise type("ValueError", (ValueError,), {})(secret(arguments))


def raises_known_beginning(*arguments):
    raise RuntimeError("list index out of range " + secret(arguments))


def raises_known_pattern(*arguments):
    raise TypeError(f"unsupported operand type(s) for +: '{MARK}' and '{MARK}'")


def raises_chosen_operators(*arguments):
    raise TypeError("unsupported operand type(s) for ><=: 'int' and 'set'")


def raises_chosen_digits(*arguments):
    raise IndexError("index 7391 is out of bounds for dimension 7 with size 739")


def raises_chosen_sizes(*arguments):
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (739x1739 and 7391x7390)")


def raises_lying_str(*arguments):
    class Liar(str):
        def __str__(self):
            return secret(arguments)

        __repr__ = __format__ = __str__

    raise ValueError(Liar("x"))


def raises_unsolved(*arguments):
    raise NotImplementedError(secret(arguments))


def returns_text(*arguments):
    return secret(arguments)


def returns_texts(*arguments):
    return [secret(arguments), (secret(arguments), secret(arguments))]


def returns_dict(*arguments):
    return {secret(arguments): 1}


def returns_object(*arguments):
    return type(secret(arguments), (), {"__repr__": lambda self: secret(arguments)})()


def returns_function(*arguments):
    return lambda: None


def returns_numbers(*arguments):
    numbers = [item.flatten()[:9].double() for item in arguments if isinstance(item, torch.Tensor)]
    return torch.cat(numbers) if numbers else torch.ones(1)


def returns_python_number(*arguments):
    return 7391.7391


def returns_whole_number(*arguments):
    return 73917391


def returns_axes(*arguments):
    return torch.zeros(0, *[9] * 18)


def returns_long_axis(*arguments):
    return torch.zeros(73_917_391, 0)


def returns_many(*arguments):
    return tuple(torch.zeros(739, 0) for _ in range(300))


def returns_subclass(*arguments):
    class Lying(torch.Tensor):
        def __repr__(self):
            return secret(arguments)

        @property
        def shape(self):
            return secret(arguments)

    return torch.ones(3, 4).as_subclass(Lying)


HOSTILE = [value for name, value in globals().items() if name.startswith(("raises_", "returns_"))]


def told(check: HiddenCheck, student: object, seed: int = 5) -> str:
    judge = Judge(check, seed)
    found = judge.verdict(pack(probe(judge.request, {"answer": student})))
    assert found.share < 1
    return found.sentence


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.cell)
@pytest.mark.parametrize("student", HOSTILE, ids=lambda student: student.__name__)
def test_no_input_and_no_text_of_a_student_comes_out(check, student):
    sentence = told(check, student)
    assert sentence and len(sentence) < 1000
    assert "7391" not in sentence, "text or a number of the student's"
    assert not re.search(r"\d\.\d", sentence), "a number with decimals"
    assert not re.search(r"739|9, 9|><=", sentence), "a size or a word that only the student chose"


def test_a_module_s_name_is_no_way_out():
    def student(*arguments):
        return arguments[0]

    student.__module__ = "seqcourse." + MARK
    assert MARK not in told(CHECKS[0], student)


def test_outside_of_a_hidden_check_the_words_are_told_in_full():
    assert error_in_words("KeyError", "'x'") == "KeyError: 'x'"
    assert error_in_words("ValueError", "It is odd.") == "ValueError: It is odd"
    with discreet():
        assert error_in_words("KeyError", "'x'") == "KeyError"
        assert error_in_words("Secret", "x") == "an error of its own"


@pytest.mark.parametrize(
    "message",
    [
        "mat1 and mat2 shapes cannot be multiplied (3x5 and 4x5)",
        "mat1 and mat2 must have the same dtype, but got Long and Double",
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        "shape '[6, -1, 4]' is invalid for input of size 23",
        "index 6 is out of bounds for dimension 1 with size 6",
        "unsupported operand type(s) for +: 'NoneType' and 'Tensor'",
        "not enough values to unpack (expected 4, got 3)",
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ],
)
def test_messages_that_hold_sizes_only_are_told(message):
    with discreet(), sizes_told(torch.zeros(3, 5), [torch.zeros(4, 6), torch.zeros(23)], {"heads": 2}):
        assert error_in_words("RuntimeError", message + " and more") == f"RuntimeError: {message}"


def test_of_a_message_s_numbers_only_the_sizes_of_the_call_are_told():
    message = "shape '[2, 6, 87, -1]' is invalid for input of size 5231"
    with discreet(), sizes_told(torch.zeros(2, 3), 87, [5231, 7]):
        told = "RuntimeError: shape '[2, 6, 87, -1]' is invalid for input of size …"
        assert error_in_words("RuntimeError", message) == told
    with discreet():
        told = "RuntimeError: shape '[…, …, …, -…]' is invalid for input of size …"
        assert error_in_words("RuntimeError", message) == told


def test_what_a_student_reads_holds_no_telling_number_and_is_not_long():
    text = "got 0.1234, 1e-05, -2.75 and 123456 at (2, 3)\x1b[31m\u202e " + "x" * 900
    assert public(text).startswith("got …, …, … and … at (2, 3)?[31m? x") and len(public(text)) <= 700


def test_a_self_check_still_tells_numbers():
    with pytest.raises(Mistake, match=r"expected -?\d\.\d+, got"):
        ps1.rnn_step(lambda x, h, *weights: 0 * h)
