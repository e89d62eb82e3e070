"""Prompts: what is in the cut, what a byte per sample costs, and that the cut is made again."""

import gzip
import json
import wave

import numpy
import pytest

from seqcourse import data
from seqcourse.data import build, prompts, readers
from seqcourse.data.build import prompts as builder
from seqcourse.errors import CourseError


def test_what_the_cut_holds():
    sentences, digits = data.load_prompts(), data.prompt_digits()
    note = json.loads((readers.FILES / "prompts" / "source.json").read_text())["counts"]
    assert (len(sentences), len(digits)) == (note["sentences"], note["digits"])
    assert [d.text for d in digits] == list(data.DIGITS)
    assert "weasels have eaten our phone system" in {p.text for p in sentences}
    for prompt in sentences:
        assert set(prompt.text) <= set("abcdefghijklmnopqrstuvwxyz' ")
        assert 3 <= len(prompt.text.split()) <= 8 and 1 <= prompt.seconds <= 3
        assert prompt.sound.dtype == numpy.float32
        assert 0.05 < abs(prompt.sound).max() <= 1  # somebody speaks
    total = sum(p.seconds for p in [*sentences, *digits])
    assert total == pytest.approx(note["seconds"], abs=0.1)


def test_both_cuts_stay_within_their_budget():
    sizes = [p.stat().st_size for n in ("digits", "prompts") for p in (readers.FILES / n).iterdir()]
    assert sum(sizes) < 2.6e6


def test_a_byte_per_sample_costs_little():
    quiet, loud = numpy.float32([0, 1e-4, -2e-3, 0.01]), numpy.linspace(-1, 1, 501, dtype="f4")
    for sound in (quiet, loud):
        error = abs(prompts.expand(prompts.compress(sound)) - sound)
        assert (error <= 0.025 * abs(sound) + 1e-4).all()
    stored = numpy.arange(1, 256, dtype="u1")
    numpy.testing.assert_array_equal(prompts.compress(prompts.expand(stored)), stored)
    assert prompts.expand(prompts.compress(numpy.zeros(1))) == 0


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Please try again.", "please try again"),
        ("Call-Forward on Busy.", "call forward on busy"),
        ("I'm sorry, that's it!", "i'm sorry that's it"),
    ],
)
def test_transcripts_are_cleaned(text, clean):
    assert builder.clean_transcript(text) == clean


def write_wave(path, samples, rate=8000):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(rate)
        stream.writeframes(samples.astype("<i2").tobytes())


@pytest.fixture
def source(tmp_path):
    rng = numpy.random.default_rng(0)
    lines = ["; a comment", "", "beep: [a beep tone]", "half: ... is not all", "long: So it goes on."]
    for number in range(6):
        lines.append(f"say-{number}: We say word{'abcdef'[number]} again.")
        write_wave(tmp_path / builder.VOICE / f"say-{number}.wav", rng.normal(0, 3000, 9000))
    write_wave(tmp_path / builder.VOICE / "long.wav", rng.normal(0, 3000, 90_000))
    lines.append("say-again: We say worda again.")  # said twice
    write_wave(tmp_path / builder.VOICE / "say-again.wav", rng.normal(0, 3000, 9000))
    for digit in range(10):
        write_wave(tmp_path / builder.VOICE / "digits" / f"{digit}.wav", rng.normal(0, 900, 4000))
    (tmp_path / "core-sounds-en.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return tmp_path


def test_the_cut_is_made_again_byte_by_byte_and_sounds_as_its_source(source):
    for name in ("one", "two"):
        assert build.main(["prompts", "--source", str(source), "--target", str(source / name)]) == 0
    one, two = source / "one" / "prompts", source / "two" / "prompts"
    assert {p.name: p.read_bytes() for p in one.iterdir()} == {
        p.name: p.read_bytes() for p in two.iterdir()
    }
    rows = [line.split("\t") for line in (one / "prompts.tsv").read_text().splitlines()]
    assert [row[2] for row in rows[:10]] == list(data.DIGITS)
    assert sorted(row[2] for row in rows[10:]) == [f"we say word{c} again" for c in "abcdef"]
    sound = prompts.expand(numpy.load(one / "sound.npy"))
    with wave.open(str(source / builder.VOICE / "digits" / "0.wav")) as stream:
        true = numpy.frombuffer(stream.readframes(4000), "<i2") / 2**15
    assert abs(sound[:4000] - true).max() < 0.03 * abs(true).max()


def test_bad_sources_are_said(source):
    target = source / "target"
    path = source / builder.VOICE / "digits" / "3.wav"
    write_wave(path, numpy.zeros(100), rate=16_000)
    with pytest.raises(CourseError, match="at 8000 Hz, but found 1 of 2 bytes at 16000 Hz"):
        builder.build(source, target)
    path.write_bytes(b"no sound")
    with pytest.raises(CourseError, match="3.wav: expected a WAV file"):
        builder.build(source, target)
    path.unlink()
    with pytest.raises(CourseError, match="asterisk-core-sounds-en-wav"):
        builder.build(source, target)
    (source / "core-sounds-en.txt.gz").unlink()
    with pytest.raises(CourseError, match="Debian package asterisk-core-sounds-en,"):
        builder.build(source, target)
    assert not target.exists()
