"""Whatever an answer returns becomes plain arrays, and what they mean comes back."""

from __future__ import annotations

from fractions import Fraction

import numpy
import pytest
import torch

from seqcourse.check.calls.compare import Other, Stopped, describe, same
from seqcourse.check.calls.payload import pack, unpack
from seqcourse.check.calls.values import MOST_PARTS, arrays, plainly, result
from seqcourse.check.told.discreet import discreet, sizes_told


def there_and_back(value):
    return result(unpack(pack(arrays(result=value))), "result")


@pytest.mark.parametrize(
    "value",
    [
        set(),
        {3, 1, 2},
        {(0, 1), (3, 2)},
        {(0, 1, 5)},
        torch.tensor([[1.0, 2.0]]),
        (torch.ones(2), torch.zeros(0, 3)),
        [torch.ones(2), (torch.ones(1), "b")],
        (),
        [],
        "b",
        None,
    ],
    ids=lambda value: describe(value),
)
def test_plain_values_come_back_as_they_were(value):
    got = there_and_back(value)
    assert type(got) is type(value) and same(got, value)


def test_numbers_of_every_kind_come_back_as_tensors():
    for value in (2, 2.0, True, numpy.float32(2), numpy.array(2), torch.tensor(2.0)):
        got = there_and_back(value)
        assert isinstance(got, torch.Tensor) and got.shape == () and float(got) == float(value)
    assert there_and_back({(numpy.int64(2), 0)}) == {(2, 0)}
    assert there_and_back(frozenset({1})) == {1}
    assert there_and_back({10**400}) != {10**400}, "no place is that large"


def test_a_tuple_without_end_in_a_set_is_looked_at_for_a_while():
    assert there_and_back({HugeTuple((1, 2))}) == {(1,) * 10}


def test_an_error_comes_back_with_its_kind():
    got = there_and_back(ValueError("no such thing"))
    assert isinstance(got, Stopped) and (got.kind, str(got)) == ("ValueError", "no such thing")
    assert len(str(there_and_back(ValueError("x" * 10**6)))) <= 1_000


def endless():
    while True:
        yield 1


class HugeTuple(tuple):
    def __len__(self):
        return 2

    def __iter__(self):
        return endless()


class HugeSet(set):
    def __iter__(self):
        return endless()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}, "a dict"),
        (endless(), "a generator"),
        (endless, "a function"),
        ({0.5}, "plain whole numbers"),
        ({True}, "plain whole numbers"),
        ({(0, 1), 2}, "plain whole numbers"),
        ({(0, 1), (2,)}, "plain whole numbers"),
        ({(torch.tensor(0), 1)}, "plain whole numbers"),
        (HugeSet({1}), "plain whole numbers"),
        (set(range(MOST_PARTS + 1)), "plain whole numbers"),
        ([0] * (MOST_PARTS + 1), "very many parts"),
        (HugeTuple((1, 2)), "very many parts"),
        (torch.ones(2, dtype=torch.bfloat16), "not plain numbers"),
        (torch.ones(2, 2).to_sparse(), "not plain numbers"),
        (torch.ones(2, dtype=torch.complex64), "not a tensor|not plain numbers"),
        (torch.zeros(1).expand(10**12), "very many numbers"),
        (numpy.zeros((1_000, 1_000)), "very many numbers"),
        (numpy.array([object()]), "not plain numbers"),
        (Fraction(1, 3), "not a tensor"),
        (10**30, "not a tensor"),
        (object(), "not a tensor"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_told_in_fixed_words(value, words):
    got = there_and_back(value)
    assert isinstance(got, Other)
    assert any(word in describe(got) for word in words.split("|")), got


def test_words_that_no_probe_of_ours_wrote_are_not_repeated():
    found = {"result.other": numpy.array("the first input is 0.123")}
    assert "0.123" not in describe(result(found, "result"))
    assert not isinstance(result({"result.error": numpy.zeros(9)}, "result"), Stopped)


def test_the_oracle_goes_the_same_way():
    assert isinstance(plainly(lambda x: x / 2)(3), torch.Tensor)
    assert plainly(lambda: {(1, 2)})() == {(1, 2)}
    with pytest.raises(ZeroDivisionError):
        plainly(lambda: 1 / 0)()


def test_what_is_described_of_hidden_values_is_no_number_and_no_size_of_a_set():
    value = ([1.25, {1, 2, 3}, [[[7]]]], *range(9))
    assert "1.25" in describe(value) and "a set of 3" in describe(value)
    with discreet():
        assert "of …" in describe(value), "a size that nobody knows is not told"
        with sizes_told(value):
            told = describe(value)
    assert "1.25" not in told and "a set of" not in told and told.endswith("...)")
    assert told.count("a list of 1") == 1, "no deeper than two levels"
