"""The bytes between a student's process and the grader: whatever they hold, reading them is safe."""

from __future__ import annotations

import json
import pickle
import random
import struct

import numpy
import pytest

from cellgrader import bounds
from seqcourse.check.calls.payload import pack, unpack
from seqcourse.check.calls.values import arrays


def packed(**values) -> bytes:
    return pack(arrays(**values))


def with_header(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_what_is_packed_is_unpacked():
    found = {
        "numbers": numpy.arange(6.0).reshape(2, 3),
        "whole": numpy.array(7),
        "yes": numpy.array([True, False]),
        "none at all": numpy.zeros((0, 3)),
        "half": numpy.ones(2, dtype=numpy.float16),
        "word": numpy.array("naïve"),
        "words": numpy.array(["ValueError", "it failed"]),
    }
    got = unpack(pack(found))
    assert set(got) == set(found)
    for name, value in found.items():
        assert got[name].dtype == value.dtype and got[name].shape == value.shape, name
        assert numpy.array_equal(got[name], value), name


def test_an_array_that_is_not_contiguous_keeps_its_numbers():
    spread = numpy.arange(12.0).reshape(3, 4).T[::-1, ::2]
    assert numpy.array_equal(unpack(pack({"x": spread}))["x"], spread)


def test_objects_become_a_word_and_are_never_pickled():
    class Bomb:
        def __reduce__(self):
            return (print, ("bang",))

    data = pack({"thing": numpy.array([Bomb()], dtype=object)})
    assert b"Bomb" not in data and str(unpack(data)["thing"]) == "an array of object"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        pickle.dumps({"answer": numpy.ones(2)}),
        pickle.dumps(print),
        b"PK\x03\x04" + bytes(100),
        b"\x93NUMPY\x01\x00" + bytes(100),
        struct.pack("<Q", 1 << 62),
        struct.pack("<Q", (1 << 64) - 1) + b"{}",
        with_header(b"[" * 5_000),
        with_header(b'{"x": '),
        with_header({"x": {"dtype": "F64", "shape": [1 << 40], "data_offsets": [0, 1 << 43]}}),
        with_header(
            {"x": {"dtype": "F64", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 8]}}, bytes(8)
        ),
        with_header({"x": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}}, bytes(8)),
        with_header({"x": {"dtype": "F64", "shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
        with_header({"x": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}, bytes(8)),
        with_header({"x": {"dtype": "O", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)),
        with_header({"x": {"dtype": "F64", "shape": "one", "data_offsets": [0, 8]}}, bytes(8)),
        with_header({"x": 7}),
        with_header([1, 2, 3]),
        with_header({"text:x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, b"oops"),
        with_header({"text:x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, b"[12]"),
        with_header({"text:x": {"dtype": "U8", "shape": [9], "data_offsets": [0, 9]}}, b'{"a":"b"}'),
        with_header(
            {"text:x": {"dtype": "U8", "shape": [5000], "data_offsets": [0, 5000]}}, b"[" * 5000
        ),
        bytes(bounds.RESULT + 1),
        pack({f"x{k}": numpy.array(["y" * 100] + [""] * 20_000) for k in range(3)}),
        with_header(
            {f"x{k}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for k in range(20_001)}
        ),
    ],
    ids=lambda data: f"{len(data)}-bytes-{data[:9].hex()}",
)
def test_anything_else_is_refused(data):
    with pytest.raises(ValueError):
        unpack(data)


def test_every_truncation_is_refused():
    data = packed(result=(numpy.ones(3), "some words"), error=ValueError("no"))
    for size in range(len(data)):
        with pytest.raises(ValueError):
            unpack(data[:size])


def test_random_bytes_and_flipped_bits_give_arrays_or_a_ValueError():
    rng = random.Random(7)
    good = bytearray(packed(result=(numpy.ones(3), "some words"), error=ValueError("no")))
    refused = 0
    for _ in range(3_000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.2:
            data = bytearray(rng.randbytes(rng.randrange(200)))
        try:
            found = unpack(bytes(data))
        except ValueError:
            refused += 1
        else:
            assert all(isinstance(value, numpy.ndarray) for value in found.values())
            assert not any(value.dtype.hasobject for value in found.values())
    assert 500 < refused < 3_000


def text(words: list[str]) -> bytes:
    data = json.dumps(words).encode()
    return with_header(
        {"text:x": {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, len(data)]}}, data
    )


def test_many_names_pass_and_text_that_would_fill_the_memory_does_not():
    names = [f"a_name_of_a_function_{k}" for k in range(2_000)]
    assert unpack(pack({"calls": numpy.array(names)}))["calls"].tolist() == names
    with pytest.raises(ValueError, match="very long text"):
        unpack(text(["x" * 40_000] + [""] * 10_000))
    with pytest.raises(ValueError, match="unreadable text"):
        unpack(text(["x" * 200_000]))
