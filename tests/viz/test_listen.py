"""Recordings to play: the sound arrives as it was, and letters glow where the weights say."""

from __future__ import annotations

import base64
import io
import wave

import numpy as np
import pytest
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz

RATE = 8000
TONE = 0.5 * np.sin(np.arange(RATE) * 0.3)
WEIGHTS = [[0.9, 0.1, 0.0, 0.0], [0.0, 0.0, 0.2, 0.2], [0.0, 0.0, 0.0, 1.0]]


def heard(text="a b", **options):
    return viz.Heard(TONE, RATE, text, WEIGHTS, 0.25, [("a", 0, 0.5), ("b", 0.5, 1)], **options)


def glow(page):
    """Of each letter of the visible recording: how much it glows."""
    letters = page.locator(".sq-item:visible .sq-letter").all()
    return [float(letter.evaluate("e => e.style.getPropertyValue('--w') || 0")) for letter in letters]


def test_the_page_holds_sound_letters_and_words():
    shown = viz.listen({"one": heard(), "two": heard("cd<")})
    soup = BeautifulSoup(shown._repr_html_(), "html.parser")
    assert [b.text for b in soup.select(".sq-letter")] == ["a", " ", "b", "c", "d", "<"]
    assert [s.text for s in soup.select(".sq-item")[0].select(".sq-span")] == ["a", "b"]
    assert "http" not in shown._repr_html_()
    data = base64.b64decode(soup.audio["src"].split(",")[1])
    with wave.open(io.BytesIO(data)) as stream:
        assert (stream.getnchannels(), stream.getframerate()) == (1, RATE)
        samples = np.frombuffer(stream.readframes(RATE), "<i2") / 32767
    np.testing.assert_allclose(samples, TONE, atol=1e-4)
    assert repr(shown).splitlines() == ["Recordings to play:", "  one: a b", "  two: cd<"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "at least one recording"),
        ({"x": viz.Heard(TONE, RATE, "four", WEIGHTS, 0.25)}, "x: .*each of the 4 letters of 'four'"),
        ({"x": viz.Heard([], RATE, "a b", WEIGHTS, 0.25)}, "sound is empty"),
        ({"x": viz.Heard(TONE, RATE, "a b", TONE, 0.25)}, "weights should have 2 dimensions"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(arguments, sentence):
    with pytest.raises(CourseError, match=sentence):
        viz.listen(arguments)


def test_letters_glow_at_their_time_and_a_click_jumps_there(open_page):
    page = open_page(viz.listen({"one": heard(), "two": heard("cde")}))
    assert glow(page) == [0, 0, 0]
    page.get_by_role("button", name="b, 0.9 seconds").click()
    page.wait_for_function("document.querySelector('audio').currentTime > 0.8")
    page.wait_for_function(
        "document.querySelectorAll('.sq-letter')[2].style.getPropertyValue('--w') == 1"
    )
    assert glow(page) == [0, 0.5, 1]  # the space looks at two states alike, at neither very much
    page.get_by_role("button", name="a, 0.1 seconds").click()
    page.wait_for_function(
        "document.querySelectorAll('.sq-letter')[0].style.getPropertyValue('--w') == 1"
    )
    page.get_by_label("recording", exact=True).select_option("two")
    assert page.locator(".sq-letter:visible").all_text_contents() == ["c", "d", "e"]


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.nightly)])
def test_without_javascript_all_can_be_played(open_page, width):
    page = open_page(viz.listen({"one": heard(), "two": heard()}), width=width, javascript=False)
    assert page.locator("audio:visible").count() == 2
    assert not page.locator("select").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
