"""Play a recording and see letters light up: sound, letters and attention, in the browser alone."""

from __future__ import annotations

import base64
import html
import io
import json
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array
from seqcourse.viz.html import Shown, new_id, style

BRIGHT = 0.4  # a letter that never looks more than this anywhere never glows fully

_STYLE = style("listen")

# Every item holds what its letters look at: weights[letter][state], and how long a state lasts.
_SCRIPT = """<script>(function(){
var root=document.getElementById("%s");if(!root)return;
var choose=root.querySelector("[data-sq-item]"),items=root.querySelectorAll(".sq-item");
items.forEach(function(item){
var known=JSON.parse(item.dataset.heard),audio=item.querySelector("audio");
var letters=item.querySelectorAll(".sq-letter"),head=item.querySelector(".sq-head");
function show(){var t=audio.currentTime,u=Math.min(known.states-1,Math.floor(t/known.step));
var begun=t>0&&!audio.ended;
letters.forEach(function(b,i){var w=begun?known.weights[i][u]/known.most[i]:0;
b.style.setProperty("--w",w.toFixed(2));});
head.style.left=(100*Math.min(1,t/known.seconds)).toFixed(2)+"%%";}
function run(){show();if(!audio.paused&&!audio.ended)requestAnimationFrame(run);}
audio.addEventListener("play",run);["seeked","timeupdate","pause","ended"].forEach(function(e){
audio.addEventListener(e,show);});
letters.forEach(function(b,i){b.disabled=false;b.addEventListener("click",function(){
audio.currentTime=Math.max(0.001,(known.peaks[i]+0.5)*known.step);});});});
function pick(){items.forEach(function(item,i){var on=String(i)===choose.value;item.hidden=!on;
if(!on)item.querySelector("audio").pause();});}
choose.addEventListener("input",pick);
root.querySelector(".sq-controls").hidden=false;root.querySelector(".sq-note").hidden=false;pick();
})();</script>"""


@dataclass
class Heard:
    """One recording and what was written down.

    Attributes:
        sound: samples between -1 and 1, (N,).
        rate: Hz.
        text: what was written, one letter per row of ``weights``.
        weights: attention, (letters, states).
        seconds_per_state: how long a state lasts.
        words: for each word that is really said: the word, its begin and its end in seconds.
    """

    sound: Any
    rate: int
    text: str
    weights: Any
    seconds_per_state: float
    words: Sequence[tuple[str, float, float]] = ()


def listen(heard: Mapping[str, Heard]) -> Shown:
    """Recordings to play; while one plays, every letter glows as much as it looks at that moment.

    A click on a letter jumps to the moment at which it looks most. A strip below shows what is really
    said and when. All of it happens in the browser, in JupyterLab as in the built page; without
    JavaScript every recording can be played and its text is shown. Make the call the last line of
    its cell.

    Args:
        heard: recordings by the labels under which they are offered.

    Raises:
        CourseError: if there is no recording, or sound, text and weights do not fit.
    """
    if not isinstance(heard, Mapping) or not heard:
        raise CourseError("heard should be a mapping {label: Heard} with at least one recording.")
    root = new_id("listen", "".join(item.text + label for label, item in heard.items()))
    options = "".join(
        f'<option value="{i}">{html.escape(label)}</option>' for i, label in enumerate(heard)
    )
    controls = (
        f'<div class="sq-controls" hidden><div class="sq-control"><label for="{root}-item">recording'
        f'</label><select id="{root}-item" data-sq-item autocomplete="off">{options}</select>'
        "</div></div>"
    )
    body = "".join(_item(label, item) for label, item in heard.items())
    note = (
        '<p class="sq-note" hidden>Play: a letter glows while you hear what the speller listened to '
        "when it wrote that letter. Click a letter to jump there. The strip shows what is said.</p>"
    )
    text = (
        f'<div class="sq sq-card sq-listen" id="{root}" role="group" aria-label="Recordings to play">'
        f"{controls}{body}{note}</div>"
    )
    lines = [f"  {label}: {item.text}" for label, item in heard.items()]
    return Shown(_STYLE + text + _SCRIPT % root, "\n".join(["Recordings to play:", *lines]))


def _item(label: str, item: Heard) -> str:
    sound, weights = as_array(item.sound, "sound", 1), as_array(item.weights, "weights", 2)
    if len(weights) != len(item.text) or not weights.size or not len(sound):
        raise CourseError(
            f"{label}: there should be sound, and weights with a row for each of the {len(item.text)} "
            f"letters of {item.text!r}, but there are {len(sound)} samples and weights {weights.shape}."
        )
    seconds = len(sound) / item.rate
    known = {
        "weights": np.round(weights, 3).tolist(),
        "most": np.round(weights.max(1).clip(BRIGHT), 3).tolist(),
        "peaks": weights.argmax(1).tolist(),
        "states": weights.shape[1],
        "step": item.seconds_per_state,
        "seconds": round(seconds, 4),
    }
    letters = "".join(
        f'<button type="button" disabled class="sq-letter" aria-label="{_spoken(letter)}, '
        f'{(peak + 0.5) * item.seconds_per_state:.1f} seconds">{html.escape(letter)}</button>'
        + ('</span><span class="sq-word">' if letter == " " else "")
        for letter, peak in zip(item.text, known["peaks"], strict=True)
    )
    spans = "".join(
        f'<span class="sq-span" style="left:{100 * begin / seconds:.2f}%;'
        f'width:{100 * (end - begin) / seconds:.2f}%">{html.escape(word)}</span>'
        for word, begin, end in item.words
    )
    return (
        f'<div class="sq-item" data-heard="{html.escape(json.dumps(known))}">'
        f'<audio controls preload="auto" aria-label="{html.escape(label)}" '
        f'src="data:audio/wav;base64,{_wave(sound, item.rate)}"></audio>'
        f'<div class="sq-letters"><span class="sq-word">{letters}</span></div>'
        f'<div class="sq-time">{spans}<span class="sq-head"></span></div></div>'
    )


def _spoken(letter: str) -> str:
    return "space" if letter == " " else html.escape(letter)


def _wave(sound: np.ndarray, rate: int) -> str:
    """Samples as a WAV file of 16 bits, in base 64."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(rate)
        stream.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
    return base64.b64encode(buffer.getvalue()).decode()
