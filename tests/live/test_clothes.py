"""What the page sees in a picture of clothes, and where it looked, is what PyTorch sees."""

from __future__ import annotations

import base64

import numpy
import pytest

from seqcourse import data, live, viz, zoo
from seqcourse.live.clothes import picture, verdict
from seqcourse.live.figure import png
from seqcourse.pages.frames import SMALLEST
from seqcourse.viz import html

from .conftest import PICTURES, TIMEOUT, answered

pytestmark = pytest.mark.browser
MODEL, LABEL = "fashion-vit", "Test pictures of clothes"
CLASSIFY = """async pictures => { await seqlive.load("fashion-vit", () => {}); const found = [];
    for (const pixels of pictures)
        found.push(await seqlive.send("classify", { name: "fashion-vit", pixels }));
    return found; }"""
# A picture is taken over a moment after it was chosen; it is asked about at once then.
NONE = "button => { button.closest('[data-live]').kind = ''; }"
TAKEN = "button => button.closest('[data-live]').kind === button.querySelector('img').alt"
PIXELS = "() => Array.from(document.querySelector('#see [data-live]').pixels)"


@pytest.fixture
def figure(page):
    """The figure after the reader chose the second picture, at first before anything is loaded."""
    figure = page.locator("#see")
    second = figure.locator("[data-picture]").nth(1)
    second.evaluate(NONE)
    second.click()
    page.wait_for_function(TAKEN, arg=second.element_handle(), timeout=TIMEOUT)
    answered(page, "see")
    return figure


def shown(figure) -> tuple[list[float], list[float]]:
    """The probabilities and the rollout (of its largest) that a reader sees."""
    shares = figure.locator(".sq-shares td").all_text_contents()
    veil = figure.locator(".sq-rollout i").evaluate_all(
        "all => all.map(i => i.style.getPropertyValue('--w'))"
    )
    return [float(share) for share in shares], [float(share) for share in veil]


def as_shown(log_probs, rollout) -> tuple[list[float], list[float]]:
    return numpy.exp(log_probs).tolist(), (rollout / rollout.max()).tolist()


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.nightly)])
def test_every_picture_is_seen_as_by_pytorch(page, count):
    images = data.load_fashion("test").images[:count]
    noise = numpy.random.default_rng(0).integers(0, 256, (2, 28, 28)).astype("u1")
    images = numpy.concatenate([images, noise, numpy.zeros((1, 28, 28), "u1")])
    system = zoo.load(MODEL)
    found = page.evaluate(CLASSIFY, [image.flatten().tolist() for image in images])
    for image, mine in zip(images, found, strict=True):
        log_probs, rollout = verdict(system, image)
        assert mine["classes"] == list(data.CLOTHES)
        assert numpy.argmax(mine["logProbs"]) == log_probs.argmax()
        numpy.testing.assert_allclose(mine["logProbs"], log_probs, atol=1e-4)
        numpy.testing.assert_allclose(mine["rollout"], rollout, atol=1e-5)


def test_a_chosen_picture_is_read_exactly_and_shown(page, figure):
    image = data.load_fashion("test").images[PICTURES[1]]
    assert page.evaluate(PIXELS) == image.flatten().tolist()
    log_probs, rollout = verdict(zoo.load(MODEL), image)
    for mine, theirs, step in zip(
        shown(figure), as_shown(log_probs, rollout), (0.005, 0.0005), strict=True
    ):
        assert mine == pytest.approx(theirs, abs=1.02 * step)
    said = figure.locator("[role=status]").text_content()
    assert said.startswith(data.CLOTHES[log_probs.argmax()])
    assert said.endswith(f"The picture is labelled {picture(PICTURES[1])[1]}.")


@pytest.mark.nightly
def test_pictures_stay_inside_the_page():
    """A page on disk may not read the dots of a picture from a file."""
    for number in range(100):
        address = png(picture(number)[0]).partition(",")[2]
        assert len(base64.b64decode(address)) < SMALLEST


def test_a_stroke_changes_picture_and_answer(page, figure):
    before, box = page.evaluate(PIXELS), figure.locator("canvas").bounding_box()
    answer = shown(figure)
    figure.get_by_role("button", name="Clear").click()
    assert not any(page.evaluate(PIXELS))
    page.mouse.move(box["x"] + 40, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 200, steps=4)
    page.mouse.up()
    answered(page, "see")
    pixels = numpy.array(page.evaluate(PIXELS)).reshape(28, 28)
    assert (pixels[4:24, 4:6] > 100).all() and not pixels[:, 10:].any()
    assert page.evaluate(PIXELS) != before and shown(figure) != answer
    log_probs, rollout = verdict(zoo.load(MODEL), pixels.astype("u1"))
    assert shown(figure)[1] == pytest.approx(as_shown(log_probs, rollout)[1], abs=0.001)


def test_the_keyboard_draws_and_takes_away(page, figure):
    figure.get_by_role("button", name="Clear").click()
    answered(page, "see")  # it would speak over the place of the pen
    figure.get_by_role("application", name="The picture to draw on").focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert figure.locator("[role=status]").text_content() == "Column 15, row 15."
    page.keyboard.press("Space")
    pixels = numpy.array(page.evaluate(PIXELS)).reshape(28, 28)
    assert pixels[14, 14] == 210 and pixels[14, 20] == 0
    assert "%" in answered(page, "see")
    page.keyboard.press("Delete")
    assert not any(page.evaluate(PIXELS))


def test_with_a_kernel_a_form_answers(monkeypatch):
    monkeypatch.setattr(html, "has_widgets", lambda: True)
    monkeypatch.setitem(viz.type_in.__globals__, "has_widgets", lambda: True)
    form = live.see(MODEL, LABEL, PICTURES)
    form.children[0].children[0].value = "7"
    assert "rollout" in form.children[-2].value
    form.children[0].children[0].value = "seven"
    assert "Write the number of a test picture" in form.children[-2].value
