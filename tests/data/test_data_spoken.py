"""Batches of spoken strings: what is in them, and that epochs differ and come again."""

import numpy
import pytest
import torch

from seqcourse import data
from seqcourse.data import spoken
from seqcourse.errors import CourseError

LETTERS = data.Vocabulary(sorted({" ", *"".join(data.DIGITS)}))


def test_a_batch_holds_frames_and_letters():
    strings = data.digit_strings("valid", 5, seed=2)
    batch = data.spoken_batch(strings, LETTERS)
    assert batch.src.shape == (5, max(len(s.frames) for s in strings), 13) and len(batch) == 5
    for row, string in enumerate(strings):
        length = len(string.frames)
        assert batch.src_lengths[row] == length
        numpy.testing.assert_array_equal(batch.src[row, :length], string.frames)
        assert not batch.src[row, length:].any()
        assert "".join(LETTERS.decode(batch.tgt_out[row].tolist())) == string.text
        assert batch.tgt_in[row, 0] == data.SOS
    torch.testing.assert_close(
        batch.tgt_in[:, 1:] * (batch.tgt_out[:, 1:] > 0),
        batch.tgt_out[:, :-1] * (batch.tgt_out[:, 1:] > 0),
    )
    assert batch.tokens == sum(len(s.text) + 1 for s in strings)


def test_epochs_differ_come_again_and_grow():
    make = {"count": 40, "batch_size": 8, "variation": (0.1, 0.1), "grow": 1}
    batches = data.SpokenBatches(LETTERS, "valid", **make)
    first = [b.src for b in batches]
    assert len(batches) == 5 and {len(s.digits) for g in batches.groups for s in g} == {1}
    batches.set_epoch(3)
    assert max(len(s.digits) for g in batches.groups for s in g) == 4
    batches.set_epoch(9)
    assert max(len(s.digits) for g in batches.groups for s in g) == 5
    batches.set_epoch(0)
    assert all(torch.equal(a, b.src) for a, b in zip(first, batches, strict=True))


def test_held_out_strings_stay_as_they_are():
    batches = data.SpokenBatches(LETTERS, "test", 20, 8, variation=None)
    before = [s.recordings for g in batches.groups for s in g]
    batches.set_epoch(4)
    assert before == [s.recordings for g in batches.groups for s in g]
    known = {r.number: r.frames for r in data.load_digits("test")}
    string = batches.groups[0][0]
    numpy.testing.assert_array_equal(
        string.frames, numpy.concatenate([known[n] for n in string.recordings])
    )


def test_speed():
    line = numpy.arange(9, dtype=numpy.float32)[:, None]
    assert data.change_speed(line, 1.0).tolist() == line.tolist()
    numpy.testing.assert_allclose(data.change_speed(line, 2.0)[:, 0], [0, 8 / 3, 16 / 3, 8], rtol=1e-6)
    slow = data.change_speed(line, 0.5)
    assert len(slow) == 18 and slow[0] == 0 and slow[-1] == 8 and (numpy.diff(slow[:, 0]) > 0).all()
    assert len(data.change_speed(line[:1], 3.0)) == 1


def test_a_varied_recording_says_the_same():
    rng = numpy.random.default_rng(0)
    recording = data.load_digits("valid")[0]
    varied = spoken.vary(recording, rng, speed=0.2, noise=0.1)
    assert varied.digit == recording.digit and varied.frames.dtype == numpy.float32
    assert 0.8 <= len(recording.frames) / len(varied.frames) <= 1.25
    same = spoken.vary(recording, rng, speed=0.0, noise=0.0)
    numpy.testing.assert_array_equal(same.frames, recording.frames)


def test_utterances_that_do_not_fit_are_named():
    for wrong in ([], [numpy.zeros((0, 13))], [numpy.zeros((3, 13)), numpy.zeros((3, 12))]):
        with pytest.raises(CourseError, match="utterance"):
            data.pad_frames(wrong)
