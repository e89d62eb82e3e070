"""The file that a student hands in beside a notebook: what is wrong with it is said in a sentence."""

from __future__ import annotations

import json
import pickle

import numpy
import pytest
import torch
from safetensors.torch import save, save_file

from seqcourse.check.grade import checkpoint
from seqcourse.check.grade.checkpoint import parse, read_checkpoint, share_taken, sketch
from seqcourse.errors import CourseError


def file(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(shape: list, begin: int, end: int, dtype: str = "F32") -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


TWO = {"a": entry([1], 0, 4), "b": entry([1], 4, 8)}
BAD = {
    "a pickle": (pickle.dumps({"a": 1}), "is a pickle, which could run code"),
    "an archive of torch.save": (b"PK\x03\x04" + bytes(40), "is a pickle"),
    "nothing": (b"", "breaks off in its first bytes"),
    "a huge header": ((1 << 60).to_bytes(8, "little") + b"{}", "header of at most 1,000,000 bytes"),
    "a header that ends early": ((900).to_bytes(8, "little") + b"{}", "header claims 900"),
    "no JSON": (file(b"{'a': 1}"), "a header in JSON"),
    "JSON that is no object": (file([1, 2]), "a header in JSON"),
    "brackets in brackets": (file(b"[" * 100_000), "a header in JSON"),
    "a name twice": (file(b'{"a": 1, "a": 2}'), "every name once"),
    "an endless number": (file(b'{"a": ' + b"9" * 10_000 + b"}"), "a header in JSON"),
    "notes that are no strings": (file({"__metadata__": {"x": 3}}), "notes that are all strings"),
    "notes that are no object": (file({"__metadata__": "x"}), "notes that are all strings"),
    "an entry that is none": (file({"a": 7}), "says it wrongly of 'a'"),
    "an unknown type": (file({"a": entry([1], 0, 8, "F64")}, bytes(8)), "The types are F32"),
    "a shape below 0": (file({"a": entry([-1, -4], 0, 16)}, bytes(16)), "says it wrongly of 'a'"),
    "a shape with a fraction": (file({"a": entry([1.0], 0, 4)}, bytes(4)), "says it wrongly of 'a'"),
    "True for 1": (file({"a": entry([True], 0, 4)}, bytes(4)), "says it wrongly of 'a'"),
    "a bomb": (file({"a": entry([1 << 40], 0, 1 << 42)}), "says it wrongly of 'a'"),
    "many small axes": (file({"a": entry([2] * 60, 0, 8)}, bytes(8)), "says it wrongly of 'a'"),
    "too many numbers": (
        file({k: entry([2_000_001], 0, 2_000_001, "U8") for k in "ab"}), "at most 4,000,000 numbers"
    ),
    "too many tensors": (file({f"{k}": entry([0], 0, 0) for k in range(2_001)}), "at most 2,000"),
    "tensors on top of each other": (
        file(TWO | {"b": entry([2], 0, 8)}, bytes(8)), "do not lie where they should"
    ),
    "a gap": (file(TWO | {"b": entry([1], 8, 12)}, bytes(12)), "do not lie where they should"),
    "fewer bytes than numbers": (file({"a": entry([3], 0, 8)}, bytes(8)), "do not lie where"),
    "something behind the end": (file(TWO, bytes(8) + b"#!/bin/sh"), "should have 8 bytes after its"),
    "numbers that are missing": (file(TWO, bytes(4)), "should have 8 bytes after its header"),
    "not a number": (
        file({"a": entry([1], 0, 4)}, numpy.float32("nan").tobytes()), "should have finite numbers"
    ),
    "a bfloat16 that is infinite": (
        file({"a": entry([1], 0, 2, "BF16")}, b"\x80\x7f"), "should have finite numbers"
    ),
    "a name that steers a terminal": (file({"\x1b[31mred": 7}), "says it wrongly of '?[31mred'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said(name, tmp_path):
    data, words = BAD[name]
    path = tmp_path / "ps9.safetensors"
    path.write_bytes(data)
    with pytest.raises(CourseError) as raised:
        read_checkpoint(path)
    assert words in str(raised.value)
    assert str(raised.value).startswith("ps9.safetensors ")


def test_a_file_that_is_missing_a_link_or_too_large(tmp_path, monkeypatch):
    path = tmp_path / "ps9.safetensors"
    with pytest.raises(CourseError, match="is not there"):
        read_checkpoint(path)
    path.symlink_to("/dev/zero")
    with pytest.raises(CourseError, match="is a link"):
        read_checkpoint(path)
    path.unlink()
    monkeypatch.setattr(checkpoint, "FILE", 10)
    path.write_bytes(bytes(11))
    with pytest.raises(CourseError, match="should have at most"):
        read_checkpoint(path)


def test_what_safetensors_writes_is_read(tmp_path):
    tensors = {
        "half": torch.randn(3, 4).half(),
        "brain": torch.randn(5).bfloat16(),
        "bytes": torch.randint(0, 255, (7,), dtype=torch.uint8),
        "none": torch.zeros(0, 3),
        "one": torch.tensor(2.5),
        "flag": torch.tensor([True]),
    }
    path = tmp_path / "x.safetensors"
    save_file(tensors, path, metadata={"words": '["a"]'})
    found = read_checkpoint(path)
    assert found.notes == {"words": '["a"]'}
    assert found.parameters == 12 + 5 + 7 + 0 + 1 + 1
    for name, tensor in tensors.items():
        assert numpy.array_equal(found.tensors[name], tensor.float().numpy()), name


def test_sketches_know_a_model_again_and_no_other():
    generator = torch.Generator().manual_seed(0)
    ours = {f"{k}": torch.randn(64, 50, generator=generator) for k in range(4)}
    theirs = {f"x{k}": each.flip(0).t().half().contiguous() for k, each in enumerate(ours.values())}
    trained_alike = {k: torch.randn(64, 50, generator=generator) for k in ours}
    whole = {k: (each * 9).byte() for k, each in trained_alike.items()}
    known = sketch(parse(save(ours)).tensors)
    assert share_taken(sketch(parse(save(theirs)).tensors), known) == 1.0
    assert share_taken(sketch(parse(save(trained_alike)).tensors), known) == 0.0
    assert share_taken(sketch(parse(save(whole)).tensors), sketch(parse(save(whole)).tensors)) == 1.0
    assert share_taken([], known) == 0.0
