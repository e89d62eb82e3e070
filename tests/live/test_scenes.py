"""A scene composed in the page: its pixels, its caption, answers about it and all maps are Python's."""

from __future__ import annotations

import random

import numpy
import pytest
from PIL import Image

from seqcourse import data, live, zoo
from seqcourse.errors import CourseError
from seqcourse.live import sheet, sphinx
from seqcourse.viz import html
from seqcourse.zoo.tasks import captions, questions
from tests.sizes import drawn, nightly_but

from .conftest import BAD, DYING, KILL, PAGE, served

TIMEOUT = 120_000  # milliseconds, for a busy machine
CAPTIONERS = {
    "captions-soft": "Soft attention",
    "captions-hard": "Hard attention",
    "captions-transformer": "Transformer",
}
THINGS = [("tiger", 18, 40, 28), ("red tomato", 46, 46, 20)]
QUESTIONS = ["what is left of the tomato ?", "how many tigers are there ?"]
FIRST = "a red tomato next to a tiger"
SEND = """async ([call, scenes, given]) => {
    const found = [];
    for (const scene of scenes) {
        const pixels = seqlive.compose(scene);
        found.push([Array.from(pixels), await seqlive.send(call, { ...given, pixels })]);
    }
    return found; }"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with both figures."""
    folder = tmp_path_factory.mktemp("scenes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQCOURSE_STATIC", "1")
        made = {
            "caption": live.caption(CAPTIONERS, "A scene and its caption", THINGS)._repr_html_(),
            "ask": live.ask("questions", "A question", THINGS, QUESTIONS)._repr_html_(),
        }
    sphinx.write_runtime(folder / "_static" / "live")
    for name, body in made.items():
        (folder / f"{name}.html").write_text(PAGE.format(body), encoding="utf-8")
        sphinx.write_models(folder / "_static" / "live", sphinx.named_models(body))
    return folder


@pytest.fixture(params=["file", pytest.param("http", marks=pytest.mark.nightly)])
def started(request, pages, opened):
    """A page with its models loaded: from the folder, where a page may do less, and from a server."""
    with served(pages) as root:
        folder = root if request.param == "http" else pages.as_uri()

        def start(name: str, script: str = ""):
            page = opened(f"{folder}/{name}.html", script=script)
            said(page, page.locator(".sq-thing").first.click)
            return page

        yield start


def said(page, act) -> str:
    """What the live region says after an act."""
    line = page.locator("p[role=status]")
    before = line.text_content()
    act()
    page.wait_for_function(
        "before => { const said = document.querySelector('p[role=status]').textContent;"
        " return said !== before && !/^(Loading|Computing)/.test(said) }", arg=before, timeout=TIMEOUT,
    )  # fmt: skip
    return line.text_content()


def some_scenes(count: int) -> list[dict]:
    """Scenes with things of all kinds and sizes, some of them across an edge, on every ground."""
    draw = random.Random(17)
    names, grounds = list(sheet.things()), list(sheet.grounds())

    def thing() -> list:
        return [draw.choice(names), draw.randint(0, 64), draw.randint(0, 64), draw.randint(10, 56)]

    return [
        {"ground": grounds[k % len(grounds)], "things": [thing() for _ in range(1 + k % 4)]}
        for k in range(count)
    ]


def composed(scene: dict) -> numpy.ndarray:
    return data.arrange(
        [*map(tuple, scene["things"])], background=sheet.grounds()[scene["ground"]]
    ).image


@pytest.mark.browser
@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", nightly_but([drawn(CAPTIONERS)], CAPTIONERS))
def test_pixels_captions_and_maps_are_pythons(started, name, count):
    page, scenes = started("caption"), some_scenes(count)
    pictures = [composed(scene) for scene in scenes]
    page.evaluate("name => seqlive.load(name, () => {})", name)
    found = page.evaluate(SEND, ["caption", scenes, {"name": name}])
    told = zoo.load(name).caption(pictures)
    for (pixels, mine), picture, theirs in zip(found, pictures, told, strict=True):
        assert pixels == picture.ravel().tolist()
        assert (mine["text"], mine["tokens"]) == (theirs.text, theirs.tokens)
        assert mine["score"] == pytest.approx(theirs.score, abs=1e-4)
        flat = [weights.ravel() for weights in theirs.maps]  # none, where nothing is said
        numpy.testing.assert_allclose(mine["maps"], flat, atol=1e-5)


LOOK = """scene => { const root = document.querySelector("[data-live]");
    return seqlive.looks.caption(root, root.querySelector("form"), seqlive.compose(scene))
        .then(found => found.said); }"""


@pytest.mark.nightly
@pytest.mark.browser
def test_where_a_captioner_says_nothing_the_page_says_so(started):
    page = started("caption")
    said(page, lambda: page.get_by_label("Captioner").select_option("captions-transformer"))
    scene = {"ground": "plain", "things": [["pineapple", 2, 4, 12]]}
    assert page.evaluate(LOOK, scene) == "It says: nothing."


@pytest.mark.browser
@pytest.mark.parametrize("count", [7, pytest.param(67, marks=pytest.mark.nightly)])
def test_answers_and_both_streams_maps_are_pythons(started, count):
    page, scenes, system = started("ask"), some_scenes(count), zoo.load("questions")
    for text in (
        "How many tigers are there?",
        "what is left of the fire truck ?",
        "what colour is the hen",
    ):
        found = page.evaluate(SEND, ["ask", scenes, {"name": "questions", "text": text}])
        for (_, mine), scene in zip(found, scenes, strict=True):
            theirs = questions.answer(system, composed(scene), text)
            assert mine["words"] == theirs.words
            assert [name for name, _ in mine["best"]] == [name for name, _ in theirs.best]
            shares = [share for _, share in theirs.best]
            assert [share for _, share in mine["best"]] == pytest.approx(shares, abs=1e-4)
            numpy.testing.assert_allclose(mine["atWords"], theirs.at_words, atol=1e-5)
            numpy.testing.assert_allclose(mine["atPlaces"], theirs.at_places, atol=1e-5)


@pytest.mark.browser
def test_a_reader_composes_with_the_keyboard_and_the_mouse(started):
    page = started("caption")
    assert page.locator(".sq-told").text_content().startswith(FIRST)
    tiger = page.get_by_role("button", name="tiger, at 18 across and 40 down, 28 large")
    tiger.focus()
    assert "tiger: 18 across, 32 down, on plain." in said(
        page, lambda: page.keyboard.press("Shift+ArrowUp")
    )
    assert "tiger: 20 across, 32 down, on plain." in said(
        page, lambda: page.keyboard.press("ArrowRight")
    )
    page.keyboard.press("+")
    at = "20 across and 32 down, 30 large"
    assert page.get_by_role("button", name=f"tiger, at {at}").is_visible()
    assert "toucan: 20 across" in said(page, lambda: page.keyboard.press("n"))
    now = page.get_by_role("button", name=f"toucan, at {at}")
    assert now.evaluate("node => node === document.activeElement")
    assert "cow:" in said(page, lambda: page.get_by_label("The chosen thing").select_option("cow"))
    told = said(page, lambda: page.get_by_label("Ground").select_option("stripes"))
    scene = {"ground": "stripes", "things": [["cow", 20, 32, 30], ["red tomato", 46, 46, 20]]}
    (theirs,) = zoo.load("captions-soft").caption([composed(scene)])
    assert told.startswith(f"It says: {theirs.text}.")
    assert page.locator(".sq-look").count() == len(theirs.tokens)
    page.get_by_role("button", name="cow").focus()
    assert "tomato" in said(page, lambda: page.keyboard.press("Delete"))
    assert page.get_by_role("button", name="red tomato, at").evaluate(
        "n => n === document.activeElement"
    )
    said(page, page.get_by_role("button", name="Add a thing").click)
    assert page.locator(".sq-thing").count() == 2

    box = page.get_by_role("button", name="red tomato, at").bounding_box()
    x, y, pixel = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 20
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x, y - 4 * step * pixel)
    page.mouse.up()
    page.get_by_text("red tomato: 46 across, 26 down, on stripes.").wait_for(timeout=TIMEOUT)


@pytest.mark.browser
def test_a_readers_own_picture_is_described_and_comes_back(started, tmp_path):
    page = started("caption")
    noise = numpy.random.default_rng(0).integers(0, 256, (150, 130, 3), dtype=numpy.uint8)
    Image.fromarray(noise).save(tmp_path / "own.png")
    own = page.get_by_label("Your own picture")
    (theirs,) = zoo.load("captions-soft").caption([captions.fitted(noise, 64)])
    told = said(page, lambda: own.set_input_files(tmp_path / "own.png"))
    assert told == f"It says: {theirs.text}."
    assert page.get_by_text("knows only the course's things").is_visible()

    Image.new("1", (20_000, 20_000)).save(tmp_path / "huge.png")
    assert "400 million pixels" in said(page, lambda: own.set_input_files(tmp_path / "huge.png"))
    (tmp_path / "none.png").write_text("no picture")
    assert "not a picture" in said(page, lambda: own.set_input_files(tmp_path / "none.png"))
    assert FIRST in said(page, page.get_by_role("button", name="Back to the scene").click)
    Image.new("RGB", (5000, 1), "red").save(tmp_path / "line.png")
    (theirs,) = zoo.load("captions-soft").caption([numpy.full((64, 64, 3), (255, 0, 0), numpy.uint8)])
    assert theirs.text in said(page, lambda: own.set_input_files(tmp_path / "line.png"))


@pytest.mark.nightly
@pytest.mark.browser
def test_a_picture_dropped_on_a_figure_that_nobody_touched_is_described(pages, opened, tmp_path):
    page = opened((pages / "caption.html").as_uri())
    noise = numpy.random.default_rng(1).integers(0, 256, (90, 64, 3), dtype=numpy.uint8)
    Image.fromarray(noise).save(tmp_path / "own.png")
    box = page.locator(".sq-stage").bounding_box()
    at = {"x": box["x"] + 30, "y": box["y"] + 30}
    files = {"items": [], "files": [str(tmp_path / "own.png")], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver"):
        session.send("Input.dispatchDragEvent", {"type": kind, **at, "data": files})
    page.wait_for_function("document.querySelector('[data-live]').isSetUp")  # now it takes a drop
    session.send("Input.dispatchDragEvent", {"type": "drop", **at, "data": files})
    (theirs,) = zoo.load("captions-soft").caption([captions.fitted(noise, 64)])
    page.get_by_text(f"It says: {theirs.text}.").wait_for(timeout=TIMEOUT)
    assert page.get_by_role("img", name="Your picture").is_visible()


@pytest.mark.nightly  # in every run: of another figure, test_every_view
@pytest.mark.browser
def test_after_its_worker_died_a_scene_goes_on(started):
    page = started("caption", DYING)
    assert page.evaluate(KILL) == "out of memory"
    page.get_by_role("button", name="tiger").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("tiger. tiger: 20 across, 40 down, on plain.").wait_for(timeout=TIMEOUT)
    assert page.get_by_role("progressbar").is_hidden()


@pytest.mark.nightly
@pytest.mark.browser
def test_what_is_no_question_is_answered_by_a_sentence(started):
    page = started("ask")
    asked = page.get_by_role("textbox", name="A question")
    for text, words in [
        ("", "Write a question"),
        ("what is the <b>colour</b> ?", 'does not know the word "<b>colour</b>"'),
        ("is the " * 8, "at most 15 words; these are 17"),
        ("how many cows are there", "It answers: zero"),
    ]:
        asked.fill(text)
        assert words in said(page, lambda: page.keyboard.press("Enter"))
    for kind, text in BAD.items():
        asked.evaluate("(box, text) => (box.value = text)", text)  # the box itself cuts what is pasted
        page.keyboard.press("Enter")
        page.wait_for_function("!document.querySelector('[aria-disabled]')", timeout=TIMEOUT)
        told = page.locator("p[role=status]").text_content()
        assert told.startswith(("Write", "The model does not know")), (kind, told)
        assert len(told) < 400 and page.locator(".sq-told").text_content()[:4] == "zero", (kind, told)


@pytest.mark.browser
def test_without_javascript_the_first_example_is_there(pages, opened):
    page = opened((pages / "caption.html").as_uri(), javascript=False)
    assert page.get_by_text(FIRST).is_visible() and page.locator(".sq-look").count() == 7
    assert not page.get_by_role("button").first.is_visible()


@pytest.mark.browser
def test_the_example_that_came_with_the_page_is_what_the_page_makes(pages, opened):
    for name in ("caption", "ask"):
        page = opened((pages / f"{name}.html").as_uri())
        names = "nodes => nodes.map(node => node.alt ?? node.ariaLabel ?? node.textContent)"
        came = page.locator(".sq-answers :is(.sq-seen > *, td, figcaption)").evaluate_all(names)
        said(page, page.locator("form [type=submit]").click)
        assert page.locator(".sq-answers :is(.sq-seen > *, td, figcaption)").evaluate_all(names) == came


def test_with_a_kernel_pytorch_answers(monkeypatch):
    monkeypatch.setattr(html, "has_widgets", lambda: True)
    form = live.ask("questions", "A question", THINGS, QUESTIONS)
    (first, _, further), shown = (
        (form.children[0], form.children[1], form.children[2]),
        form.children[-1],
    )
    assert ">tiger<" in shown.value
    first.children[0].value = "cow"
    assert ">cow<" in shown.value
    further.children[-1].value = "what is xyzzy ?"
    assert "does not know the word" in shown.value


@pytest.mark.parametrize(
    ("things", "ground", "words"),
    [
        ([], "plain", "at least one model, a label and a thing"),
        ([("gnu", 1, 1, 9)], "plain", "There is no thing 'gnu'"),
        (THINGS, "lava", "There is no ground 'lava'"),
    ],
)
def test_a_call_with_unknown_names_is_refused(things, ground, words):
    with pytest.raises(CourseError, match=words):
        live.caption(CAPTIONERS, "A scene", things, ground)
