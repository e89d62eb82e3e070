"""Words to pronounce, and spoken digits to spell."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from seqcourse.errors import CourseError
from seqcourse.live.figure import choice, figure, map_of
from seqcourse.live.recordings import TAKES, takes

if TYPE_CHECKING:
    from seqcourse.viz import Heard
    from seqcourse.viz.html import Shown

# A word in which each phoneme of CMUdict is heard, as the dictionary itself explains them.
PHONEMES = dict(
    pair.split(":")
    for pair in (
        "AA:odd AE:at AH:hut AO:ought AW:cow AY:hide B:be CH:cheese D:dee DH:thee EH:Ed ER:hurt EY:ate "
        "F:fee G:green HH:he IH:it IY:eat JH:gee K:key L:lee M:me N:knee NG:ping OW:oat OY:toy P:pee "
        "R:read S:sea SH:she T:tea TH:theta UH:hood UW:two V:vee W:we Y:yield Z:zee ZH:seizure"
    ).split()
)
MOST = 10  # digits
STATE = 0.1  # seconds that a state of the listener stands for
VOICES = {str(take): f"recordings {take + 1}" for take in range(TAKES)} | {"sound": "another voice"}


def pronounce(model: str, label: str, examples: Sequence[str]) -> Any:
    """A word to type, its phonemes, and where each phoneme looked among the letters.

    Make the call the last line of its cell.

    Args:
        model: a model of the zoo from letters to phonemes.
        label: what to type.
        examples: words; the first one's phonemes are in the page.

    Raises:
        CourseError: if there is no label or example.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    system = zoo.load(model)

    def run(text: str) -> Shown:
        found = system.translate([text])[0]
        known = dict.fromkeys(found.target)  # each once
        legend = ", ".join(f"{one} as in {PHONEMES[one]}" for one in known)
        weights = map_of(found.target, [*found.source, "<eos>"], found.weights, "Where it looks")
        body = f'<p class="sq-said">{found.text}</p><p class="sq-note">{legend}.</p>{weights}'
        return Shown(body, found.text)

    models = {model: "the model"}
    return figure(
        "pronounce", models, label, examples, run, phonemes=" ".join(map(":".join, PHONEMES.items()))
    )


def listen(model: str, label: str, examples: Sequence[str]) -> Any:
    """Digits to choose and to hear, or to speak; letters light up when the speller listens to them.

    Make the call the last line of its cell. With a kernel there is no microphone.

    Args:
        model: a speller of the zoo.
        label: what to type.
        examples: strings of digits; the first one's spelling is in the page.

    Raises:
        CourseError: if there is no label or example.
    """
    from seqcourse import viz, zoo
    from seqcourse.viz.html import Shown, has_widgets

    system = zoo.load(model)

    def run(text: str) -> Shown:
        heard = speak(system, text)
        if has_widgets():
            return viz.listen({text: heard})
        return Shown(_still(heard), heard.text)

    controls = (
        choice("spoken by", "voice", VOICES)
        + '<button type="button" data-microphone hidden>Microphone</button>'
        '<input type="hidden" name="turn" value="0">'
    )
    return figure("listen", {model: "the speller"}, label, examples, run, controls)


def speak(system: Any, text: str, voice: str = "0") -> Heard:
    """Digits as a text, spoken by the recordings that a page offers, and what the model writes.

    Raises:
        CourseError: if the text is not made of one to ten digits.
    """
    import torch

    from seqcourse import data, viz
    from seqcourse import functional as F

    digits = re.sub(r"[\s,.-]", "", text)
    if not re.fullmatch("[0-9]+", digits):
        raise CourseError("Write digits from 0 to 9, such as 427.")
    if len(digits) > MOST:
        raise CourseError(f"At most {MOST} digits, please; these are {len(digits)}.")
    if voice == "sound":
        parts = [data.prompt_digits()[int(digit)].sound for digit in digits]
        sound = torch.from_numpy(numpy.concatenate(parts))
        frames, second = F.mfcc(sound), data.prompts.RATE
    else:
        parts = [takes()[int(voice)][int(digit)].frames for digit in digits]
        frames = torch.from_numpy(numpy.concatenate(parts))
        sound, second = F.sound_of_mfcc(frames, 110.0), 1 / data.digits.HOP
    ends = numpy.cumsum([len(part) for part in parts]) / second
    said = [
        (data.DIGITS[int(digit)], float(end - len(part) / second), float(end))
        for digit, part, end in zip(digits, parts, ends, strict=True)
    ]
    found = system.spell([frames.numpy()])[0]
    return viz.Heard(sound, 8000, found.text, found.weights, STATE, said)


def _still(heard: Heard) -> str:
    """Letters, what is said, and the map; runtime/listening.js adds the sound."""
    letters = "".join(f'<span class="sq-letter">{html.escape(letter)}</span>' for letter in heard.text)
    seconds = len(heard.sound) / heard.rate
    spans = "".join(
        f'<span class="sq-span" style="left:{100 * begin / seconds:.2f}%;'
        f'width:{100 * (end - begin) / seconds:.2f}%">{word}</span>'
        for word, begin, end in heard.words
    )
    moments = [f"{STATE * k:.1f}" for k in range(heard.weights.shape[1])]
    rows = heard.text.replace(" ", "␣")
    weights = map_of(list(rows), moments, heard.weights, "Where each letter listens, in seconds")
    return (
        f'<div class="sq-listen"><div class="sq-letters">{letters}</div>'
        f'<div class="sq-time">{spans}</div>{weights}</div>'
    )
