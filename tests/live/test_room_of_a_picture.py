"""The room of a captioner: its numbers are PyTorch's, and a reader chooses the things that it sees."""

from __future__ import annotations

import io

import numpy
import pytest
from PIL import Image

from seqcourse import CourseError, zoo
from seqcourse.live.room import scene
from seqcourse.tokens import EOS
from tests.sizes import nightly_but

from .conftest import BAD, PICTURE, PICTURED, ask
from .hooked import HookedCaptioner, close, compare, send, walk

pytestmark = pytest.mark.browser
TEXT, OTHER = PICTURED[:2]
CROSS = [f"decoder.{layer}.cross_attention" for layer in range(2)]
CHANGES = {
    "a head off": [{"kind": "off", "part": CROSS[1], "head": 2}],
    "keys": [{"kind": "keys", "part": part, "a": 33, "b": 38} for part in CROSS],
    "hold": [{"kind": "hold", "part": CROSS[0], "head": 1, "row": 1, "column": 60}],
    "an MLP off": [{"kind": "mlp", "part": "decoder.1.mlp"}],
    "places": [{"kind": "place", "part": "decoder", "at": 1, "to": 4}],
    "patch of memory": [
        {"kind": "patch", "part": "encoder.memory", "at": at, "text": OTHER, "from": at}
        for at in range(24, 56)
    ],
    "patch of the decoder's c0": [
        {"kind": "patch", "part": "decoder.c0", "at": 1, "text": OTHER, "from": 2}
    ],
}


@pytest.fixture(scope="module")
def hooked() -> HookedCaptioner:
    return HookedCaptioner(zoo.load(PICTURE))


def check(page, hooked, text: str, at: int, changes=()) -> None:
    shown, words = (
        send(page, PICTURE, "operate", text=text, at=at, changes=list(changes)),
        hooked.system.target.tokens,
    )
    kept, plain = send(page, PICTURE, "kept"), hooked.write(text)
    assert shown["plain"] == [words[k] for k in plain]
    assert shown["rewritten"] == [words[k] for k in hooked.write(text, changes)]
    theirs = hooked.run(text, plain[: shown["at"]], changes)
    assert compare(kept["T"], theirs["decoder"], shown["at"] + 1) > 5_000
    close(kept["shares"], theirs["shares"], "shares")
    if not any(one["part"] == "encoder.memory" for one in changes):
        close(kept["E"]["states"]["memory"], hooked.memory(text), "memory")


@pytest.mark.parametrize("name", nightly_but(["patch of memory"], CHANGES))
def test_a_change_is_the_same_change_in_pytorch(picture, hooked, name):
    plain = send(picture, PICTURE, "operate", text=TEXT, at=1, changes=[])["bars"]
    check(picture, hooked, TEXT, 1, CHANGES[name])
    assert send(picture, PICTURE, "operate", text=TEXT, at=1, changes=CHANGES[name])["bars"] != plain


def test_every_number_is_pytorchs(picture, hooked):
    for number, text in enumerate(PICTURED):
        check(picture, hooked, text, number)


def test_what_the_page_invites_to_try_shows_something(hooked):
    def written(text, changes=()):
        words = [hooked.system.target.tokens[k] for k in hooked.write(text, changes)]
        return " ".join(words[:-1])

    heads = [{"kind": "off", "part": part, "head": head} for part in CROSS for head in range(4)]
    blind = {written(text, heads) for text in ("zebra, red tomato", "zebra, zebra", "duck, camel")}
    assert blind == {"a trumpet and two pink flamingos"}
    assert written("zebra, zebra") == "two zebras"
    assert written("zebra, zebra", heads[4:5]) == "three zebras"


def test_every_number_is_the_sum_of_its_terms_down_to_the_picture(picture):
    bars = send(picture, PICTURE, "operate", text=TEXT, at=1, changes=[])["bars"]
    starts = [
        {"t": "share", "id": bars[0]["id"]},
        {"t": "credit"},
        {"t": "head", "side": "decoder", "stage": "c1", "head": 1},
        {"t": "project", "side": "decoder", "stage": "c1", "which": "key", "i": 35, "c": 3},
    ]
    seen = walk(picture, PICTURE, *starts)
    assert any(one["node"].get("stage") == "memory" for one in seen)


def test_a_reader_chooses_things_sees_where_heads_look_and_patches_a_place(picture):
    written = picture.locator(".sq-room-written button")
    assert " ".join(written.all_text_contents()) == "a zebra next to a red tomato (end)"
    written.nth(1).click()
    picture.get_by_role("button", name="map of head 1, cross-attention 2, decoder").click()
    picture.wait_for_selector(".sq-room-weights")
    assert picture.locator(".sq-room-weights button").count() == 64
    total = sum(map(float, picture.locator(".sq-room-weights button").all_text_contents()))
    assert total == pytest.approx(1, abs=0.33)  # each is rounded
    places = picture.locator(".sq-room-scene button")
    assert places.count() == 64
    places.nth(35).click()
    picture.get_by_label("another picture", exact=True).fill("duck")
    list_ = picture.get_by_label("word of another picture")
    list_.locator("option").nth(63).wait_for(state="attached")
    picture.get_by_role("button", name="Patch").click()
    picture.locator(".sq-room-chip").wait_for()
    assert picture.locator(".sq-room-chip").text_content() == "“row 5, column 4”, memory, from “duck” ×"
    assert picture.locator(".sq-room-scene .sq-patched").count() == 1
    picture.keyboard.press("Escape")
    places.nth(35).focus()
    picture.keyboard.press("ArrowDown")
    assert picture.evaluate("document.activeElement.ariaLabel") == "row 6, column 4, memory"
    said = ask(picture, "room", "zebra, zebra")
    assert "It writes: two zebras" in said


def test_a_head_that_is_off_is_grey_crossed_out_and_no_brighter(picture):
    def seen() -> float:  # the middle brightness: the lines of a cross do not count
        shown = Image.open(io.BytesIO(map_.screenshot())).convert("L")
        return float(numpy.median(numpy.asarray(shown)[6:-6, 6:-6]))

    map_ = picture.get_by_role("button", name="map of head 1, cross-attention 1, decoder")
    before = seen()
    picture.get_by_role("checkbox", name="head 1 of cross-attention 1, decoder is on").uncheck()
    picture.wait_for_selector(".sq-off")
    picture.mouse.move(0, 0)
    assert seen() < before
    style = map_.evaluate(
        "one => [getComputedStyle(one).filter, getComputedStyle(one, '::after').content]"
    )
    assert style == ["grayscale(1)", '""']


def test_the_other_picture_has_other_things(picture):
    ask(picture, "room", "duck")
    picture.locator(".sq-room-scene button").nth(35).click()
    other = picture.get_by_label("another picture", exact=True)
    assert other.input_value() == "zebra, red tomato"


@pytest.mark.nightly
def test_what_is_no_scene_is_answered_by_a_sentence(picture):
    shown = picture.locator(".sq-room-written").inner_html()
    for kind, text in [
        *BAD.items(),
        ("a thing too many", "duck, duck, duck, duck, duck"),
        ("a dragon", "dragon"),
    ]:
        said = ask(picture, "room", text)
        assert said.startswith("Write one to 4 things with commas between them"), (kind, said)
        assert picture.locator(".sq-room-written").inner_html() == shown, kind


def test_without_a_script_the_first_picture_is_captioned(opened, picture_address, hooked):
    page = opened(picture_address, javascript=False)
    words = [hooked.system.target.tokens[k] for k in hooked.write(TEXT) if k != EOS]
    assert page.get_by_text(f"word by word the likeliest: {' '.join(words)}").count() == 1
    assert page.locator("#room .sq-bars tr").count() == 5


def test_things_stand_from_left_to_right():
    places = [
        (thing.name, numpy.mean(thing.box[::2])) for thing in scene("duck,  Zebra ,red tomato").things
    ]
    assert [name for name, _ in places] == ["duck", "zebra", "tomato"]
    assert [place for _, place in places] == sorted(place for _, place in places)
    with pytest.raises(CourseError, match="at most 4 things"):
        scene("duck, dragon")
