"""The room of a model that reads a row of symbols: its numbers are PyTorch's, its stops are true."""

from __future__ import annotations

import math

import pytest
import torch

from seqcourse import CourseError, live, zoo
from seqcourse.live.room import ROW as KIND
from seqcourse.live.room import stops
from seqcourse.zoo.tasks import repeats
from tests.sizes import nightly_but

from .conftest import BAD, ROW, ROWS, ask
from .hooked import HookedRow, close, compare, send, walk

pytestmark = pytest.mark.browser
TEXT = ROWS[0]
ATTENTIONS = [f"decoder.{layer}.self_attention" for layer in range(2)]
CHANGES = {
    "heads off": [
        {"kind": "off", "part": ATTENTIONS[0], "head": 1},
        {"kind": "off", "part": ATTENTIONS[1], "head": 3},
    ],
    "keys": [{"kind": "keys", "part": ATTENTIONS[1], "a": 6, "b": 9}],
    "values": [{"kind": "values", "part": ATTENTIONS[0], "a": 2, "b": 5}],
    "hold": [{"kind": "hold", "part": ATTENTIONS[1], "head": 2, "row": 17, "column": 4}],
    "places": [
        {"kind": "place", "part": "decoder", "at": 5, "to": 7},
        {"kind": "place", "part": "decoder", "at": 6, "to": 30},
    ],
    **{
        f"patch of {state}": [
            {"kind": "patch", "part": f"decoder.{state}", "at": at, "text": ROWS[1], "from": 3}
        ]
        for state, at in (("x0", 6), ("s0", 6), ("s1", 17))
    },
    "heat": [{"kind": "heat", "part": "output", "to": 2}],
}
CHANGES["several"] = [
    one for name in ("heads off", "keys", "places", "patch of s0") for one in CHANGES[name]
]


@pytest.fixture(scope="module")
def hooked() -> HookedRow:
    return HookedRow(zoo.load(ROW))


def check(page, hooked, text: str, at: int, changes=()) -> None:
    shown = send(page, ROW, "operate", text=text, at=at, changes=list(changes))
    kept, theirs = send(page, ROW, "kept"), hooked.run(text, [], changes)
    assert kept["E"] is None and shown["encoder"] is None
    assert compare(kept["T"], theirs["decoder"], None) > 1_500 * len(text)
    close(kept["T"]["logits"], theirs["logits"], "logits")
    heat = next((one["to"] for one in changes if one["kind"] == "heat"), 1)
    close(kept["shares"], (theirs["logits"][at] / heat).softmax(-1), "shares")
    plain, ids = hooked.run(text, [])["logits"].softmax(-1), torch.tensor(hooked.ids(text))
    for judged, shares in (
        (shown["row"]["plain"], plain),
        (shown["row"]["again"], theirs["logits"].softmax(-1)),
    ):
        of_next = shares[torch.arange(len(ids) - 1), ids[1:]]
        assert judged["shares"][0] is None
        close(judged["shares"][1:], of_next, "the share that each symbol had")
        known = [t for t in range(1, len(ids)) if text[t - 1 : t + 1] in text[:t]]
        assert judged["count"] == len(known)
        if known:
            loss = -sum(math.log(of_next[t - 1]) for t in known) / len(known)
            assert judged["loss"] == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("name", nightly_but(["several"], CHANGES))
def test_a_change_is_the_same_change_in_pytorch(row, hooked, name):
    plain = send(row, ROW, "operate", text=TEXT, at=17, changes=[])["bars"]
    check(row, hooked, TEXT, 17, CHANGES[name])
    assert send(row, ROW, "operate", text=TEXT, at=17, changes=CHANGES[name])["bars"] != plain


@pytest.mark.parametrize("count", [1, pytest.param(4, marks=pytest.mark.nightly)])
def test_every_number_is_pytorchs(row, hooked, count):
    drawn, _ = repeats.repeats(count, torch.Generator().manual_seed(1))
    whole = ["".join(hooked.system.source.decode(ids[:64].tolist())) for ids in drawn]
    for number, text in enumerate([*ROWS, *whole, "a"]):
        check(row, hooked, text, min(5 * number, len(text) - 1))


@pytest.mark.parametrize("name", ["several", None])
def test_every_number_is_the_sum_of_its_terms_down_to_the_embeddings(row, name):
    bars = send(row, ROW, "operate", text=TEXT, at=17, changes=CHANGES.get(name, []))["bars"]
    starts = [
        {"t": "share", "id": bars[0]["id"]},
        {"t": "credit"},
        {"t": "head", "side": "decoder", "stage": "s1", "head": 3},
        {"t": "state", "side": "decoder", "stage": "s1", "i": 6, "k": 7},
    ]
    seen = walk(row, ROW, *starts)
    assert {one["node"]["t"] for one in seen} == {
        "share", "logit", "norm", "mean", "spread", "state", "embedding", "wrote", "carried", "weight",
        "score", "turned", "project", "credit", "piece", "head",
    }  # fmt: skip
    for one in seen:
        assert "word" not in one["title"] + one["about"], one


def share(logits, tokens, symbol: str) -> float:
    return float(logits.softmax(-1)[tokens.index(symbol)])


def test_what_the_stops_say_is_so_in_pytorch(hooked):
    tokens = hooked.system.source.tokens
    look, keys, notes = stops(KIND)
    assert [(stop["text"], stop["at"]) for stop in stops(KIND)] == [(TEXT, 17)] * 3
    assert [stop["options"][stop["answer"]] for stop in stops(KIND)] == [
        "the “l” behind the first “w”", "“b”", "nothing in particular"
    ]  # fmt: skip
    assert (TEXT[5], TEXT[6], TEXT[9], TEXT[17]) == ("w", "l", "b", "w")
    plain = hooked.run(TEXT, [])
    weights = plain["decoder"]["looks"]["s1"]["weights"][3, 17]
    assert int(weights.argmax()) == 6 and f"{float(weights[6]):.2f}" == "1.00" in look["because"]
    assert tokens[int(plain["logits"][-1].argmax())] == "l"
    swapped = hooked.run(TEXT, [], keys["changes"])
    assert int(swapped["decoder"]["looks"]["s1"]["weights"][3, 17].argmax()) == 9
    assert f"{share(swapped['logits'][-1], tokens, 'b'):.2f}" == "0.98" in keys["because"]
    without = hooked.run(TEXT, [], notes["changes"])["logits"][-1]
    assert f"{float(without.softmax(-1).max()):.2f}" == "0.08" in notes["because"]
    one_off = hooked.run(TEXT, [], [{"kind": "off", "part": ATTENTIONS[1], "head": 1}])["logits"][-1]
    assert f"{share(one_off, tokens, 'l'):.2f}" == "0.51" in notes["because"]


@pytest.mark.nightly
def test_a_stop_asks_first_then_does_it_then_says_why(row):
    for number, stop in enumerate(stops(KIND), start=1):
        row.get_by_role("button", name=f"{number}: {stop['title']}").click()
        row.wait_for_selector(f".sq-room-stops button:nth-child({number})[aria-current]")
        tour = row.locator(".sq-room-tour")
        assert stop["question"] in tour.text_content() and stop["because"] not in tour.text_content()
        row.wait_for_function("hash => location.hash === hash", arg=f"#induction-{number}")
        tour.get_by_role("button", name=stop["options"][stop["answer"]], exact=True).click()
        row.wait_for_selector(".sq-room-lens:not([hidden]) .sq-room-title")
        assert tour.locator(".sq-is-right").text_content().endswith(stop["because"])
        groups = {one["part"] if one["kind"] == "off" else str(one) for one in stop["changes"]}
        chips = f"document.querySelectorAll('.sq-room-chip').length === {len(groups)}"
        row.wait_for_function(chips)


def test_a_reader_switches_heads_off_and_patches_and_sees_what_it_costs(row):
    now = row.locator(".sq-room-now")
    assert now.text_content().startswith("Symbols that can be looked up: 5. They cost ")
    bars = row.locator(".sq-room-written i")
    assert bars.count() == 17
    assert row.locator(".sq-room-written [aria-pressed=true]").text_content() == "w"
    row.get_by_role("checkbox", name="head 2 of self-attention 2 is on").uncheck()
    row.wait_for_selector(".sq-room-chip")
    assert row.locator(".sq-room-chips p").text_content() == (
        "1 of 8 heads off, still the same next symbol. How many can go? "
        "Try all heads of one attention. Most with the same, so far: 1."
    )
    assert "(before: " in now.text_content()
    row.get_by_role("button", name="b, after self-attention 1", exact=True).first.click()
    row.get_by_label("another row", exact=True).fill("abcdewb")
    row.get_by_label("symbol of another row").select_option("6")
    row.get_by_role("button", name="Patch").click()
    row.wait_for_selector(".sq-patched")
    assert row.locator(".sq-room-chip").nth(1).text_content() == (
        "“b”, after self-attention 1, from “abcdewb” ×"
    )
    row.get_by_role("button", name="Reset").click()
    row.wait_for_function("!document.querySelector('.sq-room-chip')")
    row.locator(".sq-room-written button").nth(3).click()
    row.wait_for_function("document.querySelectorAll('.sq-room-words span').length === 4")


def test_symbols_that_stand_twice_are_told_apart_and_the_chosen_row_is_in_sight(row):
    row.set_viewport_size({"width": 1280, "height": 800})
    assert row.get_by_role("button", name="w (2nd), expected with ").count() == 1
    row.get_by_role("button", name="map of head 4, self-attention 2").click()
    asks = row.locator(".sq-room-asks")
    asks.wait_for()
    heads = row.locator(".sq-room-weights thead th").all_text_contents()
    assert heads[5:7] == ["w 1st", "l"] and asks.locator("th").text_content() == "w 2nd"
    box = row.locator(".sq-room-large").bounding_box()
    for one in (asks.locator("th"), row.get_by_role("button", name="1.00: w (2nd) looks at l")):
        place = one.bounding_box()
        assert box["y"] <= place["y"] and place["y"] + place["height"] <= box["y"] + box["height"] + 1
        assert box["x"] - 3 <= place["x"] and place["x"] + place["width"] <= box["x"] + box["width"]
    below = row.locator(".sq-room-below")
    assert below.evaluate("node => node.scrollWidth <= node.clientWidth")
    newest = row.locator(".sq-room-newest")
    assert (newest.text_content(), newest.get_attribute("title")) == ("w", "w (2nd)")
    row.get_by_role("button", name="1.00: w (2nd) looks at l").click()
    asks = "Exchange the key of “l” in all heads with that of"
    row.get_by_role("combobox", name=asks).select_option("k (2nd)")
    row.get_by_role("button", name=asks).click()
    row.locator(
        ".sq-room-chip", has_text="keys “l” ↔ “k (2nd)”, all heads of self-attention 2"
    ).wait_for()


@pytest.mark.nightly
def test_a_new_row_begins_again(row):
    for _ in range(5):
        before = row.locator("[name=text]").input_value()
        row.get_by_role("button", name="A new row").click()
        row.wait_for_function("text => document.querySelector('[name=text]').value !== text", arg=before)
        text = row.locator("[name=text]").input_value()
        period = next(p for p in range(12, 19) if text[p:] == text[: len(text) - p])
        assert 6 <= len(text) - period <= 10 and set(text) <= set(repeats.SYMBOLS)
        row.wait_for_function(
            "n => document.querySelectorAll('.sq-room-written i').length === n - 1", arg=len(text)
        )


@pytest.mark.nightly
def test_what_is_no_row_is_answered_by_a_sentence(row):
    shown = row.locator(".sq-room-written").inner_html()
    for kind, text in [*BAD.items(), ("a sign", "abc?"), ("too long", "ab" * 33)]:
        said = ask(row, "room", text)
        assert said.endswith(".") and "did not work" not in said, (kind, said)
        assert row.locator(".sq-room-written").inner_html() == shown, kind
    row.evaluate(
        "hash => { location.hash = hash; }",
        '#room={"text":"abab","at":1,"changes":[{"kind":"off","part":"encoder.0.self_attention","head":0}]}',
    )
    row.wait_for_function("document.querySelector('[role=status]').textContent.includes('no such part')")
    assert ask(row, "room", "ab ab").startswith("Next symbol: ")


def test_without_a_script_the_first_row_and_the_questions_are_there(opened, row_address):
    page = opened(row_address, javascript=False)
    assert page.locator("#room .sq-bars tr").count() == 5
    assert page.get_by_text("Behind this row it expects: l").count() == 1
    assert [page.locator(f"#induction-{number}").count() for number in (1, 2, 3)] == [1, 1, 1]


def test_a_gpt_of_another_kind_has_no_room():
    with pytest.raises(CourseError, match="books-gpt has no machine room"):
        live.room("books-gpt", "A row", ["abc"])
