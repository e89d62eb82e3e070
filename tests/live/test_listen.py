"""Spoken digits: features, letters and maps of the page are PyTorch's; a microphone that hears."""

from __future__ import annotations

import wave

import numpy
import pytest
import torch

from seqcourse import data, live, viz, zoo
from seqcourse import functional as F
from seqcourse.errors import CourseError
from seqcourse.live.recordings import TAKES
from seqcourse.live.speech import speak
from seqcourse.viz import html
from tests import browser as chromium
from tests.sizes import nightly_but

from .conftest import DIGITS, TIMEOUT, ask

pytestmark = pytest.mark.browser
MODEL = "digits-speller"
SPELL = """async ([name, all]) => { const found = [];
    for (const rows of all)
        found.push(await seqlive.send("spell", { name, frames: Float32Array.from(rows.flat()) }));
    return found; }"""
SPEAK = """async ([name, text, voice]) => {
    const found = await seqlive.send("speak", { name, text, voice });
    return { ...found, sound: Array.from(found.sound) }; }"""
PART = """([name, numbers, ...rest]) => {
    const own = {}; seqlive.parts.forEach(part => part(own));
    try { return Array.from(own[name](Float32Array.from(numbers), ...rest)); }
    catch (error) { return error.message; } }"""


@pytest.fixture
def figure(page):
    """The figure, its model loaded by a first question."""
    ask(page, "listen", DIGITS[1])
    return page.locator("#listen")


@pytest.mark.parametrize("count", [20, pytest.param(50, marks=pytest.mark.nightly)])
def test_every_string_is_spelt_as_by_pytorch(page, figure, count):
    strings = data.digit_strings("test", count, most=8, seed=17)
    frames = [string.frames for string in strings]
    found = page.evaluate(SPELL, [MODEL, [rows.tolist() for rows in frames]])
    for mine, theirs in zip(found, zoo.load(MODEL).spell(frames), strict=True):
        assert mine["text"] == theirs.text
        assert mine["score"] == pytest.approx(theirs.score, abs=1e-4)
        numpy.testing.assert_allclose(mine["weights"], theirs.weights, atol=1e-5)


@pytest.mark.parametrize("voice", nightly_but(["0", "sound"], [*map(str, range(TAKES)), "sound"]))
def test_what_the_page_offers_is_what_python_has(page, figure, voice):
    for text in ("0123456789", "7"):
        mine, theirs = page.evaluate(SPEAK, [MODEL, text, voice]), speak(zoo.load(MODEL), text, voice)
        assert mine["text"] == theirs.text
        numpy.testing.assert_allclose(mine["weights"], theirs.weights, atol=1e-4)
        assert len(mine["sound"]) == len(theirs.sound)
        assert [word for word, *_ in mine["said"]] == [word for word, *_ in theirs.words]
        numpy.testing.assert_allclose(
            [times for _, *times in mine["said"]], [times for _, *times in theirs.words], atol=1e-6
        )


def test_features_are_those_of_the_course(page, figure):
    """Coefficients reach several hundred; PyTorch computes them in 32 bits, the page in 64."""
    noise = torch.randn(4321, generator=torch.Generator().manual_seed(0)) * 0.1
    sounds = [torch.from_numpy(digit.sound.copy()) for digit in data.prompt_digits()[:3]]
    for sound in (*sounds, noise, noise[:1], torch.zeros(900)):
        mine = numpy.reshape(page.evaluate(PART, ["mfcc", sound.tolist()]), (-1, 13))
        numpy.testing.assert_allclose(mine, F.mfcc(sound), atol=0.01)


def test_the_sound_of_features_is_that_of_the_course(page, figure, monkeypatch):
    """Without the noise, which is drawn from another stream."""
    monkeypatch.setattr(torch, "randn", lambda size, generator: torch.zeros(size))
    frames = data.digit_strings("test", 1, least=2, seed=1)[0].frames
    mine = page.evaluate(PART, ["soundOf", frames.flatten().tolist(), 13, 110, 0])
    theirs = F.sound_of_mfcc(torch.from_numpy(frames), 110.0)
    assert numpy.abs(mine).max() == pytest.approx(0.9, abs=1e-4)
    numpy.testing.assert_allclose(mine, theirs, atol=1e-3)


def test_pauses_are_left_out(page, figure):
    word, pause = data.prompt_digits()[1].sound, numpy.zeros(4000, numpy.float32)
    alone = page.evaluate(PART, ["withoutPauses", word.tolist()])
    assert 0.2 * len(word) < len(alone) < len(word)
    whole = numpy.concatenate([pause, word[: len(word) // 200 * 200], pause])
    assert page.evaluate(PART, ["withoutPauses", whole.tolist()]) == pytest.approx(alone)
    assert "Nothing was heard" in page.evaluate(PART, ["withoutPauses", pause.tolist()])


def test_a_reader_types_digits_and_plays_them(page, figure):
    assert ask(page, "listen", "4 2, 7").startswith("Written: four two seven.")
    letters = figure.locator("button.sq-letter")
    assert "".join(letters.all_text_contents()) == "four two seven"
    assert figure.locator(".sq-span").all_text_contents() == ["four", "two", "seven"]
    letters.nth(5).focus()
    page.keyboard.press("Enter")  # jumps to the moment of the "t"
    glowing = "document.querySelectorAll('#listen .sq-letter')[5].style.getPropertyValue('--w') > 0.4"
    page.wait_for_function(glowing)
    assert 0.3 < page.evaluate("document.querySelector('#listen audio').currentTime") < 0.8
    page.evaluate("document.querySelector('#listen audio').play()")
    page.wait_for_function("() => document.querySelector('#listen audio').ended")
    figure.get_by_label("spoken by").select_option("sound")
    assert ask(page, "listen", "1").startswith("Written: one.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "digits from 0 to 9"),
        ("four", "digits from 0 to 9"),
        ("1" * 11, "At most 10 digits, please; these are 11"),
    ],
)
def test_what_is_no_digits_is_answered_by_a_sentence(page, figure, text, words):
    before = figure.locator(".sq-live").inner_html()
    assert words in ask(page, "listen", text)
    assert figure.locator(".sq-live").inner_html() == before
    with pytest.raises(CourseError, match=words):
        speak(zoo.load(MODEL), text)


WITHOUT = {  # what getUserMedia does, and what the reader is told
    "NotAllowedError": "The microphone was not allowed",
    "NotFoundError": "There is no microphone here",
}
NO_MICROPHONE = """name => { navigator.mediaDevices.getUserMedia = async () => {
    throw new DOMException("", name); }; }"""


@pytest.mark.nightly
def test_without_a_microphone_there_is_a_sentence(opened, address):
    page = opened(address)
    figure = page.locator("#listen")
    figure.locator(".sq-live").hover()
    button = figure.get_by_role("button", name="Microphone")
    for error, words in WITHOUT.items():
        page.evaluate(NO_MICROPHONE, error)
        button.click()
        figure.get_by_text(words).wait_for()
        assert words in figure.get_by_role("status").text_content()
    page.evaluate("delete Navigator.prototype.mediaDevices")
    button.click()
    figure.get_by_text("gives a page like this one no microphone").wait_for()


# A microphone that is there, and whether it was closed again.
QUIET = """mode => { let asked = 0; window.asked = () => asked;
    navigator.mediaDevices.getUserMedia = async () => { asked++;
        const heard = new AudioContext(), silence = new ConstantSourceNode(heard, { offset: 0 });
        const { stream } = silence.connect(heard.createMediaStreamDestination());
        silence.start();
        return (window.stream = stream); };
    if (mode) window.MediaRecorder = class { constructor() { throw new Error("no such format"); } }; }"""
# Something was recorded: the recorder has handed out sound twice, its head and more.
RECORDED = """root => new Promise(done => {
    const { recorder } = root.querySelector("[data-live]");
    let pieces = 0;
    recorder.addEventListener("dataavailable", ({ data }) => {
        if (data.size && (pieces += 1) > 2) done();
        else if (recorder.state === "recording") setTimeout(() => recorder.requestData(), 100);
    });
    recorder.requestData(); })"""
CLOSED = "() => stream.getTracks().every(track => track.readyState === 'ended')"


def test_a_microphone_is_asked_for_once_and_closed(opened, address):
    page = opened(address)
    figure = page.locator("#listen")
    figure.locator(".sq-live").hover()
    page.evaluate(QUIET, False)
    button = figure.get_by_role("button", name="Microphone")
    button.evaluate("button => { button.click(); button.click(); }")
    stop = figure.get_by_role("button", name="Stop")
    stop.wait_for()
    figure.evaluate(RECORDED)
    stop.click()
    figure.get_by_text("Nothing was heard").wait_for(timeout=TIMEOUT)
    assert page.evaluate("asked()") == 1 and page.evaluate(CLOSED)
    page.evaluate(QUIET, True)
    button.click()
    figure.get_by_text("did not start (no such format)").wait_for()
    assert page.evaluate(CLOSED)


def test_with_a_kernel_a_form_answers(monkeypatch):
    for place in (html.__dict__, viz.type_in.__globals__):
        monkeypatch.setitem(place, "has_widgets", lambda: True)
    form = live.listen(MODEL, "Digits", DIGITS)
    box = form.children[0].children[0]
    box.value = "90210"
    assert "<audio" in form.children[-1].outputs[0]["data"]["text/html"]
    box.value = "nine"
    assert "digits from 0 to 9" in form.children[-2].value


HEAR = """async ([name, samples]) => { try {
    await seqlive.send("hear", { name, sound: Float32Array.from(samples) });
    return ""; } catch (error) { return error.plain && error.message; } }"""


@pytest.mark.nightly
def test_a_recording_without_words_is_answered_by_a_sentence(page, figure):
    click = [0.0] * 4000 + [0.5] * 20 + [0.0] * 4000
    for sound, words in (
        ([0.0] * 8000, "Nothing was heard"),
        ([], "Nothing was heard"),
        (click, "too short to be a digit"),
        ([0.1] * 72_000, "At most 8 seconds"),
    ):
        assert words in page.evaluate(HEAR, [MODEL, sound])


@pytest.fixture
def microphone(chrome, tmp_path):
    """A browser whose microphone hears "four one" in the voice of the prompts, then silence."""
    digits, pause = data.prompt_digits(), numpy.zeros(2000)
    sound = numpy.concatenate([pause, pause, digits[4].sound, pause, digits[1].sound, pause])
    times = numpy.arange(6 * len(sound)) / 6
    samples = numpy.interp(times, range(len(sound)), sound)  # 48,000 a second
    with wave.open(str(tmp_path / "spoken.wav"), "wb") as stream:
        stream.setparams((1, 2, 48_000, 0, "NONE", ""))
        stream.writeframes((samples * 32767).astype("<i2").tobytes())
    fake = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
    running = chrome.browser_type.launch(
        executable_path=chromium.find_chromium(),
        args=[
            *(*chromium.flags(), *fake),
            f"--use-file-for-fake-audio-capture={tmp_path / 'spoken.wav'}%noloop",
        ],
    )
    yield running
    running.close()


@pytest.mark.nightly
def test_a_microphone_is_heard(microphone, address):
    page = microphone.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    figure = page.locator("#listen")
    figure.locator(".sq-live").hover()
    button = figure.get_by_role("button", name="Microphone")
    button.click()
    figure.get_by_text("Speak up to five digits").wait_for()
    page.wait_for_timeout(3500)
    figure.get_by_role("button", name="Stop").click()
    figure.get_by_text("Heard: four one.").wait_for(timeout=TIMEOUT)
    assert figure.locator("audio").evaluate("audio => audio.duration") > 0.5
    here = address.rsplit("/", 1)[0]
    assert all(url.startswith((here, "blob:", "data:")) for url in asked)  # no sound leaves the page
