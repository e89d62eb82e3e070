"""The HTML that a built page holds: complete, described, without a network or a kernel."""

from __future__ import annotations

import base64
import io
import re
from functools import cache

import matplotlib.pyplot as plt
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure
from PIL import Image

from seqcourse import CourseError, viz

pytestmark = pytest.mark.usefixtures("static")


def draw(temperature: float, words: int = 3):
    return viz.bars({f"w{i}": i + temperature for i in range(words)}, ylabel="probability")


def alt(temperature: float, words: int = 3) -> str:
    return f"{words} bars at temperature {temperature} & more."


def soup(shown) -> BeautifulSoup:
    return BeautifulSoup(shown._repr_html_(), "html.parser")


@cache
def two_choices(again: bool = False):
    """The same figure once or twice: drawn anew for `again`, and then kept."""
    start = {"temperature": 1, "words": 4}
    return viz.explore(draw, alt=alt, start=start, temperature=[0.5, 1, 2], words=[2, 4])


def test_explore_holds_one_described_frame_for_every_combination():
    frames = soup(two_choices()).select(".sq-frame")
    texts = {frame.img["alt"] for frame in frames}
    assert texts == {alt(t, w) for t in (0.5, 1, 2) for w in (2, 4)}
    assert len({frame.img["src"] for frame in frames}) == 6


def test_explore_shows_the_start_without_javascript_and_the_controls_agree():
    page = soup(two_choices())
    (shown,) = [frame for frame in page.select(".sq-frame") if not frame.has_attr("hidden")]
    assert shown.img["alt"] == alt(1, 4)
    places = [
        page.select_one("input[type=range]")["value"],
        page.select_one("option[selected]")["value"],
    ]
    assert shown["data-key"] == "-".join(places)


def test_explore_has_labels_for_its_controls_and_a_slider_only_for_a_scale():
    page = soup(two_choices())
    labels = {label["for"]: label.text for label in page.select("label")}
    assert labels[page.select_one("input[type=range]")["id"]] == "temperature"
    assert labels[page.select_one("select")["id"]] == "words"
    assert page.select_one("output").text == "1"
    texts = viz.explore(lambda kind: kind, alt="Text.", kind=["rnn", "gru", "lstm"])
    assert not soup(texts).select("input")
    assert [option.text for option in soup(texts).select("option")] == ["rnn", "gru", "lstm"]


def test_frames_are_png_images_of_the_stated_size_and_not_heavy():
    image = soup(two_choices()).select_one(".sq-frame img")
    head, data = image["src"].split(",")
    assert head == "data:image/png;base64"
    raw = base64.b64decode(data)
    assert len(raw) <= 60_000
    with Image.open(io.BytesIO(raw)) as picture:
        picture.load()
        width, height = picture.size
    assert abs(width - 2 * int(image["width"])) <= 2
    assert abs(height - 2 * int(image["height"])) <= 2


def test_a_heavy_frame_is_made_lighter():
    import numpy

    def noise(n):
        figure = Figure(figsize=(6, 6))
        figure.subplots().imshow(numpy.random.default_rng(n).random((60, 60)), interpolation="bicubic")
        return figure

    tag = soup(viz.explore(noise, alt="Noise {n}.", n=[1])).img
    head, data = tag["src"].split(",")
    assert head == "data:image/jpeg;base64"
    assert len(base64.b64decode(data)) <= 60_000
    assert (tag["width"], tag["height"]) == ("576", "576")


def test_ids_are_unique_over_several_outputs_and_every_reference_finds_its_id():
    poll = {"Yes": "It is.", "No": "It is."}
    shown = [
        two_choices(),
        two_choices(again=True),
        viz.ask("Is it?", poll, "Yes"),
        viz.ask("Is it?", poll, "Yes"),
    ]
    page = BeautifulSoup("".join(each._repr_html_() for each in shown), "html.parser")
    ids = [tag["id"] for tag in page.select("[id]")]
    assert len(ids) == len(set(ids)) >= 8
    assert {"".join(tag["for"]) for tag in page.select("[for]")} <= set(ids)
    assert {tag["aria-labelledby"] for tag in page.select("[aria-labelledby]")} <= set(ids)
    scripts = re.findall(r'getElementById\("([^"]+)"\)', page.decode())
    assert len(scripts) == 2 and set(scripts) <= set(ids)


def test_explore_closes_the_figures_it_opened_and_no_others():
    mine = plt.figure()
    viz.explore(draw, alt="A bar at {temperature}.", temperature=[1, 2])
    viz.explore(lambda n: plt.subplots()[1].plot([n]) and None, alt="A line at {n}.", n=[1, 2])
    assert plt.get_fignums() == [mine.number]

    def broken(n):
        plt.figure()
        raise ValueError("broken drawing")

    with pytest.raises(ValueError, match="broken drawing"):
        viz.explore(broken, alt="Nothing.", n=[1])
    assert plt.get_fignums() == [mine.number]


def test_explore_shows_texts_prints_and_objects_and_escapes_them():
    def say(n):
        print("a < b")
        return f"<i>{n}</i>"

    frame = soup(viz.explore(say, alt="A text.", n=[1])).select_one(".sq-frame")
    assert frame.pre.text == "a < b"
    assert frame.p.text == "<i>1</i>"
    table = viz.explore(lambda n: viz.table([[n]], ["n"], "Numbers."), alt="A table.", n=[1, 2])
    assert len(soup(table).select(".sq-frame table")) == 2


def test_explore_takes_a_shorter_list_for_the_page_and_keeps_the_start():
    shown = viz.explore(
        draw,
        alt="T {temperature}.",
        start={"temperature": 3},
        static={"temperature": [1, 3]},
        temperature=range(50),
    )
    frames = soup(shown).select(".sq-frame")
    assert [frame.img["alt"] for frame in frames] == ["T 1.", "T 3."]
    assert [frame.has_attr("hidden") for frame in frames] == [True, False]
    assert repr(shown) == "explore: 2 frames, temperature = 3 shown"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"temperature": range(25)}, "25 frames"),
        ({"temperature": []}, "no value"),
        ({"temperature": 1}, "list or range"),
        ({"temperature": [1], "start": {"temprature": 1}}, "start names 'temprature'"),
        ({"temperature": [1], "start": {"temperature": 2}}, "temperature = 2, which is not among"),
        ({"temperature": [1], "static": {"other": [1]}}, "static names 'other'"),
        ({"temperature": [1, 1]}, "same label"),
        ({}, "at least one choice"),
        ({"temperature": [1], "alt": ""}, "empty"),
        ({"temperature": [1], "alt": "At {heat}."}, "'heat'"),
    ],
)
def test_explore_refuses_what_it_cannot_show(arguments, sentence):
    with pytest.raises(CourseError, match=sentence):
        viz.explore(draw, **{"alt": "Bars.", **arguments})


def test_explore_refuses_a_function_that_shows_nothing():
    with pytest.raises(CourseError, match="nothing to show"):
        viz.explore(lambda n: None, alt="Nothing.", n=[1])


def test_poll_page_says_right_or_wrong_with_each_options_own_reason():
    options = {
        "It is *optimal*": "Pruning can lose the best path.",
        "`K` paths stay & the rest go": "That is pruning.",
        "It needs $K^2$ steps": "One step per word.",
    }
    page = soup(viz.ask("What is beam search?", options, answer="`K` paths stay & the rest go"))
    found = {d.summary.text: d.p.text for d in page.select("details")}
    assert found == {
        "It is optimal": "✗ Not this one. Pruning can lose the best path.",
        "K paths stay & the rest go": "✓ Right. That is pruning.",
        r"It needs \(K^2\) steps": "✗ Not this one. One step per word.",
    }
    assert page.select_one(".sq-question").text == "What is beam search?"
    assert not any(d.has_attr("open") for d in page.select("details"))
    assert len(page.select("details.sq-is-right")) == 1
    assert page.select_one("summary em").text == "optimal"
    assert not page.select("script")


def test_poll_refuses_what_it_cannot_ask():
    with pytest.raises(CourseError, match="answer should be one of"):
        viz.ask("Q?", {"a": "x", "b": "y"}, answer="c")
    with pytest.raises(CourseError, match="'b' has no reason"):
        viz.ask("Q?", {"a": "x", "b": ""}, answer="a")
    with pytest.raises(CourseError, match="at least two"):
        viz.ask("Q?", {"a": "x"}, answer="a")
    with pytest.raises(CourseError, match="question"):
        viz.ask("", {"a": "x", "b": "y"}, answer="a")


def test_a_poll_of_the_book_is_asked_by_its_name():
    page = soup(viz.poll("03-greedy"))
    assert "likeliest word at every step" in page.select_one(".sq-question").text
    assert len(page.select("details.sq-is-right")) == 1
    with pytest.raises(CourseError, match="one of 03-greedy, 03-temperature.*but it is '03-greed'"):
        viz.poll("03-greed")
    with pytest.raises(CourseError, match="one of 01-..., 02-..., .*but it is 'x'"):
        viz.poll("x")


def test_type_in_page_holds_the_result_of_every_example():
    page = soup(viz.type_in(str.upper, "An English sentence", ["one <b>", "two"]))
    assert [frame.text for frame in page.select(".sq-frame")] == ["ONE <B>", "TWO"]
    assert [option.text for option in page.select("option")] == ["one <b>", "two"]
    assert page.label.text == "An English sentence"
    assert page.select_one(".sq-note") is None  # nothing asks to be run elsewhere


def test_type_in_page_stops_at_an_error_and_describes_a_figure():
    def refuse(text):
        raise CourseError(f"no {text}")

    with pytest.raises(CourseError, match="no one"):
        viz.type_in(refuse, "A text", ["one"])
    shown = viz.type_in(
        lambda t: viz.bars({t: 1.0}, ylabel="n"), "A text", ["one"], alt="Bar of {text}."
    )
    assert soup(shown).img["alt"] == "Bar of one."
    with pytest.raises(CourseError, match="at least one text"):
        viz.type_in(str.upper, "A text", [])
    with pytest.raises(CourseError, match="list of words"):
        viz.type_in(str.upper, "A text", "one")


def test_the_same_cell_gives_the_same_page_apart_from_its_number():
    def without_number(shown):
        return re.sub(r"(sq-explore)-\d+-", r"\1-", shown._repr_html_())

    assert without_number(two_choices()) == without_number(two_choices(again=True))
