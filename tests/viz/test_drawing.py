"""Drawings of mechanisms: well-formed, described, coloured by role, laid out and stepped."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from seqcourse.errors import CourseError
from seqcourse.viz import drawing
from seqcourse.viz.drawing import page
from seqcourse.viz.drawing.canvas import Drawing
from seqcourse.viz.drawing.formulas import for_html, length, number
from seqcourse.viz.drawing.layout import Box, way
from seqcourse.viz.roles import OTHERS, ROLES

WORDS = ["we", "eat", "bread"]
ALT = "Three words go up into three states in a row, and on into a context."
STEPS = ["**Read.** Each word makes a state $h_t$.", "**Sum up.** The last one is the context $c$."]


def encoder(d):
    states = [d.vector("k", [0.5, -0.25]).named(f"$h_{t}$", "k", side="t") for t in (1, 2, 3)]
    words = [d.word(word) for word in WORDS]
    d.arrow(words, states)
    d.chain(*states)
    d.step(1, 1)
    d.ring(states[0])
    d.step(2)
    context = d.vector("y", 2).named("$c = h_3$", "y", side="t")
    d.arrow(states[2], context, "y")
    d.table([[*states, context], [*words, None]], across=d.pick(60, 30))


@pytest.fixture(autouse=True)
def new_page(monkeypatch):
    monkeypatch.setattr(page, "_given", False)


@pytest.fixture
def in_the_book(monkeypatch):
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")


def shown():
    return drawing.show(encoder, "An encoder", ALT, STEPS)


def pictures(html: str) -> list[ElementTree.Element]:
    """The SVGs of a page, parsed."""
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", html, re.S)]


def test_both_forms_are_well_formed_and_say_what_is_seen(in_the_book):
    wide, narrow = pictures(shown()._repr_html_())
    assert (wide.get("class"), narrow.get("class")) == ("wide", "narrow")
    for picture in (wide, narrow):
        assert picture.get("role") == "img"
        texts = {node.get("id"): node.text for node in picture.iter() if node.tag in ("title", "desc")}
        assert [texts[name] for name in picture.get("aria-labelledby").split()] == ["An encoder", ALT]
        assert {"we", "eat", "bread"} <= {node.text for node in picture.iter("text")}
    ids = re.findall(r' id="([^"]+)"', shown()._repr_html_() + shown()._repr_html_())
    assert len(ids) == len(set(ids))


def test_the_same_role_has_the_same_colour_in_every_tensor():
    d = Drawing(True)
    for role in "qkvyx":
        thing = d.tensor(role, (2, 3))
        assert all(f'class="c r-{role}"' in part.marks for part in thing.parts)
    assert 'class="c r-a"' in d.grid("a", [[0.5]]).marks
    for role, known in ROLES.items():
        for pair in (known.light, known.dark):
            assert all(colour in page.STYLE for colour in pair), role


def luminance(colour: str) -> float:
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_and_lines_can_be_told_from_the_ground(dark):
    stage, ink = OTHERS["stage"][dark], OTHERS["ink"][dark]
    assert contrast(OTHERS["mute"][dark], stage) >= 4.5
    assert contrast(OTHERS["on"][dark], OTHERS["full"][dark]) >= 4.5
    for name, role in ROLES.items():
        fill, line = role.dark if dark else role.light
        assert contrast(ink, fill) >= 4.5, name
        assert contrast(line, stage) >= (4.5 if name in "qkvay" else 3), name


def test_without_a_script_the_last_step_is_shown_with_all_sentences(in_the_book):
    html = shown()._repr_html_()
    wide = pictures(html)[0]
    groups = [node for node in wide.iter("g") if "st" in node.get("class", "").split()]
    gone = [node for node in groups if "gone" in node.get("class")]
    assert [node.get("data-at") for node in gone] == ["1 1"]  # the ring of step 1, and nothing else
    assert not any(name in node.get("class") for node in groups for name in ("dim", "later"))
    assert "<li><b>Read" in html and "<li><b>Sum up" in html


def test_what_a_later_arrow_touches_stands_out_again():
    d = Drawing(True)
    first, second = d.word("we"), d.word("eat")
    d.step(2)
    d.arrow(first, d.word("bread"))
    assert (first.lit, second.lit) == ({1, 2}, {1})


def test_style_and_script_are_given_once_per_page_of_the_book(in_the_book):
    first, second = shown()._repr_html_(), shown()._repr_html_()
    assert first.count("<style>.sq-drawing") == first.count("<script>") == 1
    assert "<style" not in second and "<script" not in second


def test_in_jupyterlab_every_output_stands_alone_and_is_an_image_without_trust(monkeypatch):
    monkeypatch.delenv("SEQCOURSE_STATIC", raising=False)
    for html in (shown()._repr_html_(), shown()._repr_html_()):
        assert "<style>" in html and "<script>" in html
        body = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.S)  # what its sanitizer leaves
        assert "<svg" not in body
        code = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', body)[1]
        picture = base64.b64decode(code).decode()
        ElementTree.fromstring(picture)
        assert "var(--d-k)" in picture and "--d-k:#d3efe1" in picture  # its colours come along
        assert f'alt="{ALT}"' in body


def test_a_form_that_is_too_wide_says_by_how_much():
    def broad(d):
        d.row(*(d.vector("q", 10, (30, 12), upright=False) for _ in range(3)), gap=10)

    with pytest.raises(CourseError, match=r"wide form .* is 232 units wider than 692"):
        drawing.show(broad, "Broad", ALT)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": " "}, "needs a title"),
        ({"alt": "A drawing"}, "at least four words"),
        ({"steps": ["Read. No lead."]}, "begin with a lead"),
        ({"legend": {"z": "a state"}}, "role 'z'"),
    ],
)
def test_what_a_reader_would_miss_is_refused(changes, words):
    with pytest.raises(CourseError, match=words):
        drawing.show(**{"draw": encoder, "title": "An encoder", "alt": ALT} | changes)


def test_the_rows_of_a_tensor_are_its_vectors_lying_or_upright():
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    d = Drawing(True)
    for upright in (False, True):
        parts = d.tensor("k", values, upright=upright).parts
        assert [re.findall(r">(\d\.0)<", part.marks) for part in parts] == [
            ["1.0", "2.0", "3.0"],
            ["4.0", "5.0", "6.0"],
        ]
    assert parts[0].cy == parts[1].cy and parts[0].h > parts[0].w  # upright: side by side


def test_a_mask_is_hatched_and_a_hidden_score_has_no_number():
    d = Drawing(True)
    mask = d.grid("k", [["", "/", "\\", "/\\"]])
    assert (mask.marks.count("<circle"), mask.marks.count('class="hatch"')) == (1, 4)
    scores = d.grid("e", [[0.4, float("-inf"), float("nan")]])
    assert re.findall(r"<text[^>]*>([^<]*)<", scores.marks) == ["0.40", "\u2212\u221e"]


def test_flows_are_as_wide_as_their_shares():
    d = Drawing(True)
    things, target = [d.word("we"), d.word("eat"), d.word("bread")], d.word("context")
    d.table([things, [None, target, None]], 40, 40)
    d.pour(things, target, [0.25, 0.75, 0.0], "a", unit=20)
    assert re.findall(r'pipe r-a" stroke-width="([\d.]+)"', d.svg("n", "t", ALT)) == ["5.0", "15.0"]


def test_flows_to_one_thing_may_have_roles_of_their_own():
    d = Drawing(True)
    kept, pruned, root = d.word("me"), d.word("sentí"), d.word("<sos>")
    d.row(root, d.column(kept, pruned))
    d.pour([kept, pruned], root, [0.6, 0.4], ["a", "no"], sides="lr")
    assert re.findall(r'pipe r-(\w+)"', d.svg("n", "t", ALT)) == ["a", "no"]


def test_labels_keep_the_neighbours_away():
    d = Drawing(True)
    left, right = d.word("we").say("a long label", "r"), d.word("eat").say("another", "l")
    d.row(left, right, gap=10)
    assert right.outer("l") - left.outer("r") == pytest.approx(10)
    assert left.outer("r") - left.r > length("a long label")


def test_columns_of_a_table_are_in_line_and_even_ones_equally_far_apart():
    d = Drawing(True)
    rows = [[d.word(word) for word in ("we", "understand", "it")], [d.vector("k", 2) for _ in range(3)]]
    d.table(rows, across=10, even=True)
    middles = [word.cx for word in rows[0]]
    assert middles == pytest.approx([vector.cx for vector in rows[1]])
    assert middles[1] - middles[0] == pytest.approx(middles[2] - middles[1])


@pytest.mark.parametrize(
    ("place", "sides", "corners"),
    [
        ((100, 0), "", 2),  # beside: straight
        ((100, 80), "rl", 4),  # a step to the side
        ((100, 80), "rt", 3),  # one corner
        ((100, 0), "tt", 4),  # out and back in on the same side
        ((-100, 80), "rt", 5),  # the long way round
    ],
)
def test_ways_have_right_angles_and_end_at_the_box(place, sides, corners):
    a, b = Box(20, 20), Box(20, 20, *place)
    points = way(a, b, sides)
    assert len(points) == corners
    assert all(p[0] == q[0] or p[1] == q[1] for p, q in zip(points, points[1:], strict=False))
    x, y = points[-1]
    assert b.l - 4 < x < b.r + 4 and b.t - 4 < y < b.b + 4


def test_formulas_and_numbers():
    assert for_html("**Keys.** *b* after 2 * 3 * 4") == "<b>Keys.</b> <em>b</em> after 2 * 3 * 4"
    html = for_html("**Keys.** $a_{t,i}$ < 1")
    assert html.startswith('<b>Keys.</b> <span class="f"><span class="i">a</span><sub class="i">t</sub>')
    assert html.endswith("</span> &lt; 1")
    assert (number(-0.04), number(-1.26), number("q")) == ("0.0", "\u22121.3", "q")


def test_a_picture_is_an_image_with_cells_in_the_order_of_reading():
    d = Drawing(wide=True)
    pixels = np.arange(24, dtype=np.uint8).reshape(4, 6)
    box = d.picture(pixels, 60, (2, 3))
    assert (box.w, box.h, len(box.cells)) == (60, 40, 6)
    assert [(c.l, c.t, c.w, c.h) for c in box.cells[3:5]] == [(0, 20, 20, 20), (20, 20, 20, 20)]
    assert d.picture(pixels, 30).cells == []
    image = ElementTree.fromstring(d.svg("d", "A picture", ALT)).find(".//image")
    bytes_ = base64.b64decode(image.get("href").split(",")[1])
    from PIL import Image

    assert (np.asarray(Image.open(io.BytesIO(bytes_))) == pixels).all()


def test_a_module_holds_its_mask_beside_its_name_or_below_it():
    for w, beside in ((200, True), (100, False)):
        d = Drawing(True)
        mask = d.grid("k", [["", "/"], ["", ""]], (9, 9), (1, 1))
        cells = mask.marks
        box = d.module("Attention", "not ahead", w, 80, inside=mask)
        x, y = map(float, re.search(r"translate\(([\d.]+) ([\d.]+)\)", box.marks).groups())
        assert cells in box.marks and not mask.marks
        assert (x > 160) == beside and x + mask.w < w and y + mask.h < 80


def test_ports_have_their_role_and_joints_only_a_place():
    d = Drawing(True)
    assert 'class="c r-q"' in d.port("$Q$", "q").marks
    joint = d.joint(8)
    assert (joint.w, joint.h, joint.marks) == (0, 8, "")


@pytest.mark.parametrize(
    ("angle", "tip"), [(0, (20, 5)), (np.pi / 2, (35, 20)), (np.pi, (20, 35)), (2.5 * np.pi, (35, 20))]
)
def test_the_hand_of_a_dial_turns_clockwise_from_twelve(angle, tip):
    dial = Drawing(wide=True).dial("q", angle, radius=20)
    found = re.search(r'cx="([\d.]+)" cy="([\d.]+)"', dial.marks)
    assert (float(found[1]), float(found[2])) == tip and (dial.w, dial.h) == (40, 40)
