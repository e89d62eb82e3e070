"""Make the cut of the spoken prompts: the ten digits and short sentences, with their sound."""

from __future__ import annotations

import re
import wave
from pathlib import Path

import numpy

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.digits import DIGITS
from seqcourse.data.prompts import RATE, compress
from seqcourse.data.readers import FILES, pack_array, read_lines
from seqcourse.data.splits import fraction_of
from seqcourse.errors import CourseError

ATTRIBUTION = """\
The recordings in this folder are the Asterisk core sounds, English, recorded by Allison Smith
(http://www.theivrvoice.com) with financial contributions by Digium, Inc. (http://www.digium.com),
copyright 2003-2010 Allison Smith, licensed under the Creative Commons Attribution-ShareAlike 3.0
licence (CC BY-SA 3.0): https://creativecommons.org/licenses/by-sa/3.0/

Changes: a selection was made, samples were stored in one byte each (mu-law), and the transcripts
were set in small letters without punctuation, as source.json and seqcourse/data/build/prompts.py say.
The files in this folder are offered under the same licence.
"""
WORDS = (3, 8)
SECONDS = (1.0, 3.0)
COUNT = 80
VOICE = "en_US_f_Allison"


def build(source: Path, target: Path = FILES) -> None:
    """Write ``prompts`` under ``target``: the ten digits, and short sentences chosen by a hash."""
    transcripts = source / "core-sounds-en.txt.gz"
    texts = _read_transcripts(transcripts)
    spoken = {f"digits/{digit}": word for digit, word in enumerate(DIGITS)}
    sounds = {name: source / VOICE / f"{name}.wav" for name in (*texts, *spoken)}
    low, high = WORDS
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
        if len(chosen) == len(spoken) + COUNT:
            break
        if fitting[name] not in said and SECONDS[0] <= seconds <= SECONDS[1]:
            chosen[name] = fitting[name]
            said.add(fitting[name])
    recordings = [compress(_read_wave(sounds[name])) for name in chosen]
    rows = zip(chosen.items(), recordings, strict=True)
    lines = "".join(f"{name}\t{len(sound)}\t{text}\n" for (name, text), sound in rows)
    sound = pack_array(numpy.concatenate(recordings))
    files = {"sound.npy": sound, "prompts.tsv": lines, "ATTRIBUTION": ATTRIBUTION}
    counts = {
        "digits": len(spoken),
        "sentences": len(chosen) - len(spoken),
        "words": sum(len(text.split()) for text in chosen.values()),
        "seconds": round(sum(len(sound) for sound in recordings) / RATE, 1),
    }
    note = {
        "package": "asterisk-core-sounds-en-wav and asterisk-core-sounds-en 1.6.1-1 (Debian)",
        "file": {
            "sounds": f"usr/share/asterisk/sounds/{VOICE}/NAME.wav",
            "transcripts": "usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz",
        },
        "sha256": {
            "transcripts": sha256(transcripts),
            "chosen sounds, joined": sha256(*(sounds[name] for name in chosen)),
        },
        "licence": "CC-BY-SA 3.0, see ATTRIBUTION",
        "columns": ["name", "samples", "text"],
        "filter": {
            "sentences": f"{low} to {high} words, letters only; {SECONDS[0]:g} to "
            f"{SECONDS[1]:g} s; the first {COUNT} by sha256 of the name; none twice",
            "sound.npy": "all recordings one after the other, 8000 Hz, mu-law (data/prompts.py)",
        },
        "counts": counts,
    }
    write_set("prompts", target / "prompts", files, note)


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
