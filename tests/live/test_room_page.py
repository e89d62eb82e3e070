"""The machine room as a reader has it: mouse, keyboard, phone, link, tour, and without a script."""

from __future__ import annotations

import html
import itertools
import json
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe

from seqcourse import live
from seqcourse.live import sphinx
from seqcourse.live.room import stops
from tests.sizes import nightly_but

from .conftest import (
    BAD,
    DARK,
    DYING,
    KILL,
    LABEL,
    ROOM,
    ROOM_EXAMPLES,
    RULES,
    TIMEOUT,
    WIDER,
    ask,
    load,
)  # fmt: skip

pytestmark = pytest.mark.browser
BREAD = ROOM_EXAMPLES[0]
HELD = "document.activeElement"
BARS = """() => [...document.querySelectorAll(".sq-room-bar")].map(bar =>
    [...bar.querySelectorAll("span")].map(part => part.textContent).join(" "))"""


def chips(page) -> list[str]:
    return page.locator(".sq-room-chip").all_text_contents()


def title(page) -> str:
    lens = page.locator(".sq-room-lens")
    return lens.locator(".sq-room-title").text_content() if lens.is_visible() else ""


def settled(page) -> None:
    """Wait until all that was asked of the worker has been shown, and what those answers asked for."""
    for _ in range(4):  # pictures of texts, the machine, the lens: one asks after the other
        page.evaluate("() => seqlive.send('kept', { name: 'en-es-transformer' }).then(() => null)")


@pytest.fixture
def machine(room):
    """The machine room on its first sentence, with nothing changed and nothing open."""
    room.set_viewport_size({"width": 1280, "height": 800})
    if (reset := room.get_by_role("button", name="Reset")).count():
        reset.click()
    room.keyboard.press("Escape")
    room.evaluate("history.replaceState(null, '', location.pathname)")
    ask(room, "room", ROOM_EXAMPLES[1])
    ask(room, "room", BREAD)
    assert chips(room) == []
    return room


def opened_at(opened, address: str):
    page = opened(address)
    page.wait_for_selector(".sq-room-floor", timeout=TIMEOUT)
    page.wait_for_function("document.querySelector('#room [type=submit]').textContent === 'Run'")
    return page


def test_looking_changes_nothing_and_a_switch_does(machine):
    before = machine.evaluate(BARS)
    for name in ("map of head 1, cross-attention 2, decoder", "eating, after self-attention 1, encoder"):
        machine.get_by_role("button", name=name).click()
        settled(machine)
        assert machine.evaluate(BARS) == before and chips(machine) == []
    assert title(machine) == "“eating”, after self-attention 1"
    switch = machine.get_by_role("checkbox", name="head 1 of cross-attention 1, decoder is on")
    switch.uncheck()
    machine.wait_for_selector(".sq-room-chip")
    assert chips(machine) == ["head 1 of cross-attention 1 off ×"]
    settled(machine)
    assert machine.evaluate(BARS) != before
    assert "(before " in machine.locator("#room [role=status]").text_content()
    machine.locator(".sq-room-chip").click()
    machine.wait_for_function("!document.querySelector('.sq-room-chip')")
    settled(machine)
    assert machine.evaluate(BARS) == before and switch.is_checked()


@pytest.mark.nightly
def test_the_score_counts_the_heads_that_are_off_while_the_sentence_is_the_same(machine):
    score = machine.locator(".sq-room-chips p")
    needed = ("head 3 of cross-attention 1, decoder is on", "head 2 of cross-attention 2, decoder is on")
    switches = machine.get_by_role("checkbox", name="head ", exact=False)
    names = switches.evaluate_all("all => all.map(one => one.ariaLabel)")
    assert len(names) == 24 and {*needed} < {*names}
    for count, name in enumerate([name for name in names if name not in needed] + [needed[0]], start=1):
        machine.get_by_role("checkbox", name=name, exact=True).uncheck()
        machine.wait_for_function(
            "n => document.querySelector('.sq-room-chips p')?.textContent.startsWith(n + ' of 24 ')",
            arg=count,
        )
    assert score.text_content() == (
        "23 of 24 heads off, another sentence. How many can go? Most with the same, so far: 22."
    )
    groups = machine.locator(".sq-room-chip").all_text_contents()
    assert "heads 1, 2, 3, 4 of self-attention 1 (encoder) off ×" in groups and len(groups) == 6
    assert machine.locator(".sq-room-anew").text_content().startswith("It writes: ")
    machine.get_by_role("checkbox", name="MLP 1 of encoder is on").uncheck()
    settled(machine)
    assert score.text_content() == ""  # more than heads is changed
    ask(machine, "room", ROOM_EXAMPLES[1])
    machine.get_by_role("button", name="Reset").click()
    machine.wait_for_function("!document.querySelector('.sq-room-chip')")
    machine.get_by_role("checkbox", name=needed[0]).uncheck()
    machine.wait_for_function("document.querySelectorAll('.sq-room-chip').length === 1")
    assert score.text_content().startswith("1 of 24 heads off, ")
    assert "22" not in score.text_content()  # counted anew for a new sentence


def test_changes_are_taken_back_one_by_one_and_all_at_once(machine):
    for name in ("head 2 of cross-attention 1, decoder is on", "MLP 1 of encoder is on"):
        machine.get_by_role("checkbox", name=name).uncheck()
        settled(machine)
    machine.locator(".sq-room-below input[type=range]").fill("0.5")
    settled(machine)
    wanted = ["head 2 of cross-attention 1 off ×", "MLP 1 (encoder) off ×", "temperature 0.5 ×"]
    assert chips(machine) == wanted
    machine.get_by_role("button", name="Undo").click()
    settled(machine)
    assert chips(machine) == wanted[:2]
    machine.get_by_role("button", name="Reset").click()
    settled(machine)
    assert chips(machine) == []
    assert machine.locator(".sq-room-anew").text_content() == ""
    machine.get_by_role("button", name="Undo").click()  # what was reset comes back
    settled(machine)
    assert chips(machine) == wanted[:2]


def tab_to(page, kind: str) -> None:
    """Press the Tab key until a number of that kind has the keyboard."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate(f"{HELD}.dataset.node") == kind:
            return
    raise AssertionError(f"The Tab key does not lead to a number of the kind {kind!r}.")


def test_the_keyboard_leads_from_the_last_share_to_an_embedding(machine):
    """Down through the whole machine: the decoder, a head, its key, the memory, the encoder."""
    machine.locator(".sq-room-bar").first.focus()
    machine.keyboard.press("Enter")
    machine.wait_for_function(
        "document.querySelector('.sq-room-lens .sq-room-title')?.textContent.startsWith('The share')"
    )
    way = [
        "logit",
        "norm",
        "state",
        "mlp",
        "neuron",
        "norm",
        "state",
        "wrote",
        "weight",
        "score",
        "project",
    ]
    seen = []
    for kind in way:
        tab_to(machine, kind)
        machine.keyboard.press("Enter")
        before = len(seen)
        machine.wait_for_function(
            f"document.querySelectorAll('.sq-room-trail button').length === {before + 1}"
        )
        seen.append(title(machine))
        assert machine.evaluate(f"{HELD}.className") == "sq-room-title"  # where a screen reader goes on
    assert "of the query of" in seen[-1]
    for _ in range(20):  # through norms and states, down to the table
        kinds = machine.locator(".sq-room-sum [data-node]").evaluate_all(
            "all => all.map(b => b.dataset.node)"
        )
        kind = next(k for k in ("embedding", "norm", "state") if k in kinds)
        steps = machine.locator(".sq-room-trail button").count()
        tab_to(machine, kind)
        machine.keyboard.press("Enter")
        machine.wait_for_function(
            f"document.querySelectorAll('.sq-room-trail button').length === {steps + 1}"
        )
        if kind == "embedding":
            break
    assert title(machine).startswith("Number ") and " of the embedding of " in title(machine)
    assert machine.locator(".sq-room-lens .sq-heard").text_content().startswith(title(machine))
    machine.locator(".sq-room-trail button").first.press("Enter")
    settled(machine)
    assert title(machine).startswith("The share of")
    machine.keyboard.press("Escape")
    assert title(machine) == ""
    assert machine.evaluate(f"{HELD}.ariaLabel").startswith("estamos 0.94")  # where it began


def test_arrow_keys_walk_an_opened_map_and_escape_goes_one_step_back(machine):
    machine.get_by_role("button", name="map of head 2, self-attention 1, encoder").press("Enter")
    machine.wait_for_selector(".sq-room-weights")
    settled(machine)
    whole, columns = title(machine), machine.locator(".sq-room-weights thead th").count()
    assert machine.locator(".sq-room-weights [tabindex='0']").count() == 1
    machine.locator(".sq-room-weights button").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown"):
        machine.keyboard.press(key)
    at = f"[...document.querySelectorAll('.sq-room-weights button')].indexOf({HELD})"
    assert machine.evaluate(at) == columns + 1
    machine.keyboard.press("Enter")
    machine.wait_for_selector(".sq-room-trail button")
    settled(machine)
    machine.keyboard.press("Escape")
    machine.wait_for_function("!document.querySelector('.sq-room-trail button')")
    settled(machine)
    assert title(machine) == whole


@pytest.mark.nightly
def test_taking_back_the_last_change_leaves_the_focus_beside_it(machine):
    machine.get_by_role("checkbox", name="head 1 of cross-attention 1, decoder is on").uncheck()
    machine.get_by_role("button", name="Undo").press("Enter")
    machine.wait_for_function("!document.querySelector('.sq-room-chip')")
    settled(machine)
    assert machine.evaluate(f"{HELD}.textContent").startswith("Why “")


@pytest.mark.nightly
def test_arrow_keys_walk_the_floors_and_escape_comes_back(machine):
    tile = machine.get_by_role("button", name="we, word + position, encoder")
    tile.focus()
    for key, label in [
        ("ArrowRight", "are, word + position, encoder"),
        ("ArrowDown", "map of head 2, self-attention 1, encoder"),
        ("ArrowDown", "head 2 of self-attention 1, encoder is on"),
        ("ArrowDown", "are, after self-attention 1, encoder"), ("ArrowDown", "MLP 1 of encoder is on"),
        ("ArrowDown", "are, after block 1, encoder"),  # the column is kept
        ("ArrowUp", "MLP 1 of encoder is on"), ("ArrowUp", "are, after self-attention 1, encoder"),
        ("ArrowLeft", "we, after self-attention 1, encoder"),
        ("ArrowLeft", "we, after self-attention 1, encoder"),
    ]:  # fmt: skip
        machine.keyboard.press(key)
        assert machine.evaluate(f"{HELD}.ariaLabel") == label
    machine.keyboard.press("Enter")
    machine.wait_for_selector(".sq-room-lens .sq-room-title")
    settled(machine)
    machine.locator(".sq-room-grid [aria-pressed=true]").focus()
    machine.keyboard.press("ArrowDown")
    machine.wait_for_function(f"{HELD}.ariaLabel.startsWith('number 25:')")
    machine.keyboard.press("Escape")
    assert machine.evaluate(f"{HELD}.ariaLabel") == "we, after self-attention 1, encoder"
    # one stop of the Tab key for each floor
    assert machine.locator(".sq-room-floor [tabindex='0']").count() == 2


def test_what_the_lens_offers_is_done(machine):
    machine.locator(".sq-room-written button").nth(2).click()
    settled(machine)
    machine.get_by_role("button", name="map of head 1, cross-attention 2, decoder").click()
    machine.locator(".sq-room-weights [data-node=weight]").nth(14).click()  # "comiendo" at "eating"
    machine.get_by_role("button", name="Let it look only at “eating”").click()
    settled(machine)
    assert chips(machine) == ["head 1 of cross-attention 2: “comiendo” → “eating” ×"]
    asks = "Exchange the key of “eating” in all heads with that of"
    machine.get_by_role("combobox", name=asks).select_option("bread")
    machine.get_by_role("button", name=asks).click()
    settled(machine)
    assert chips(machine)[1] == "keys “eating” ↔ “bread”, all heads of cross-attention 2 ×"
    machine.get_by_role("button", name="bread, word + position, encoder").click()
    machine.get_by_role("button", name="one later").click()
    settled(machine)
    assert chips(machine)[2] == "“bread” (encoder) at place 4 ×"
    machine.get_by_role("button", name="Reset").click()
    settled(machine)
    machine.get_by_role("button", name="bread, memory: what the decoder reads, encoder").click()
    machine.get_by_role("button", name="Patch").click()
    machine.locator(".sq-room-chip").wait_for()
    settled(machine)
    assert chips(machine)[0] == "“bread”, memory, from “she drinks red wine” ×"
    assert machine.locator(".sq-room-anew button").all_text_contents() == ["vino"]
    assert machine.locator(".sq-patched").count() == 1
    # a state of the decoder: of a word that it would write for the other sentence
    machine.get_by_role("button", name="estamos, after block 2, decoder").click()
    there = machine.get_by_label("word of another sentence")
    there.locator("option", has_text="<sos>").wait_for(state="attached")
    assert there.locator("option").all_text_contents()[:4] == ["<sos>", "ella", "bebe", "vino"]
    there.select_option("vino")
    machine.get_by_role("button", name="Patch").click()
    settled(machine)
    machine.wait_for_function("document.querySelectorAll('.sq-room-chip').length === 2")
    assert chips(machine)[1] == "“estamos”, after block 2, from “she drinks red wine” ×"
    machine.get_by_role("button", name="the same number there").click()
    machine.locator(".sq-room-lens .sq-room-title", has_text="“vino”").wait_for()
    # no text is offered as another one than itself
    ask(machine, "room", "She drinks red wine.")
    machine.get_by_role("button", name="wine, after block 1, encoder").click()
    assert machine.get_by_label("another sentence", exact=True).input_value() == ROOM_EXAMPLES[0]
    ask(machine, "room", BREAD)
    # another sentence keeps what is bound to no word
    machine.get_by_role("checkbox", name="head 3 of cross-attention 1, decoder is on").uncheck()
    settled(machine)
    ask(machine, "room", ROOM_EXAMPLES[1])
    assert chips(machine) == ["head 3 of cross-attention 1 off ×"]


@pytest.mark.nightly
def test_a_word_is_compared_with_others(machine):
    machine.get_by_role("button", name="Why “estamos”, not “comemos”?").click()
    machine.wait_for_selector(".sq-room-lens select")
    assert title(machine) == "Why “estamos” and not “comemos”"
    machine.get_by_label("Compared with").select_option("vamos")
    machine.wait_for_function(
        "document.querySelector('.sq-room-lens .sq-room-title').textContent.includes('vamos')"
    )
    assert machine.locator(".sq-room-sum li").count() == 8 + 1 + 1  # the largest, the rest, the sum
    machine.get_by_role("button", name="the other 17 together").click()
    assert machine.locator(".sq-room-sum li").count() == 25 + 1


def blind(machine) -> None:
    """Switch off all heads that look at the encoder: the translation becomes another one."""
    for layer, head in itertools.product((1, 2), range(1, 5)):
        machine.get_by_role(
            "checkbox", name=f"head {head} of cross-attention {layer}, decoder is on"
        ).uncheck()
        settled(machine)


@pytest.mark.nightly
def test_the_word_that_is_lost_is_the_one_to_compare_with(machine):
    blind(machine)
    machine.get_by_role("button", name="Why “¿”, no longer “estamos”?").click()
    machine.wait_for_selector(".sq-room-lens select")
    assert title(machine) == "Why “¿”, no longer “estamos”"
    rivals = machine.get_by_label("Compared with")
    assert rivals.locator("option").first.text_content() == "estamos"
    assert rivals.evaluate("list => list.selectedIndex") == 0
    marks = machine.locator(".sq-room-sum i.sq-changed")
    assert marks.count() == 8 + 1 and marks.first.evaluate("i => i.style.getPropertyValue('--b')")
    lost = machine.locator(".sq-room-sum li", has_text="cross-attention 2, head")  # off: 0, and on top
    assert "0.00" in lost.locator("em").all_text_contents()
    *_, now, before = machine.locator(".sq-room-sum li em").all_text_contents()
    assert float(now) > 0 > float(before.replace("−", "-"))
    heard = machine.locator(".sq-room-lens .sq-heard").text_content()
    assert f"The sum {now} (before your changes {before})" in heard


@pytest.mark.nightly
def test_a_new_word_asks_why_it_is_written_and_its_link_does_so_again(machine, opened, room_address):
    blind(machine)
    words = machine.locator(".sq-room-anew button[aria-pressed]")
    assert words.count() == 10  # of a sentence that finds no end
    machine.get_by_role("button", name="… 10 more").press("Enter")
    assert words.count() == 20
    machine.get_by_role("button", name="acaso (1st): why this word?").press("Enter")
    machine.wait_for_selector(".sq-room-lens select")
    settled(machine)
    assert title(machine).startswith("Why “acaso”, no longer “")
    pressed = machine.locator(".sq-room-machine [aria-pressed=true], .sq-room-anew [aria-pressed=true]")
    assert pressed.all_text_contents() == ["acaso"]
    heads = machine.locator(".sq-room-floor").nth(1).locator(".sq-room-words span")
    assert heads.all_text_contents() == ["<sos>", "¿"]  # what is written with the changes so far
    machine.keyboard.press("Escape")
    assert machine.evaluate(f"{HELD}.textContent") == "acaso"  # where it began
    pressed.press("Enter")
    machine.wait_for_selector(".sq-room-lens select")
    settled(machine)
    other = opened_at(opened, machine.url)
    settled(other)
    assert (title(other), other.evaluate(BARS)) == (title(machine), machine.evaluate(BARS))
    for page in (machine, other):
        page.locator(".sq-room-written button").nth(1).click()
        settled(page)
        assert page.locator(".sq-room-written [aria-pressed=true]").text_content() == "comiendo"


@pytest.mark.nightly
def test_a_stop_puts_the_changes_away_and_gives_them_back(machine):
    blind(machine)
    before, mine = machine.evaluate(BARS), chips(machine)
    score = machine.locator(".sq-room-chips p").text_content()
    for number in (10, 2):  # of the same sentence and of another one
        machine.locator(".sq-room-stops button").nth(number - 1).click()
        machine.wait_for_function("hash => location.hash === hash", arg=f"#stop-{number}")
        machine.locator(".sq-room-options button").first.click()
        machine.wait_for_selector(".sq-room-chip")
        settled(machine)
        machine.get_by_role("button", name="Undo").click()
        settled(machine)
        assert chips(machine) == []
        machine.get_by_role("button", name="Bring your changes back").click()
        machine.wait_for_function("document.querySelectorAll('.sq-room-chip').length === 2")
        settled(machine)
        assert (machine.evaluate(BARS), chips(machine)) == (before, mine)
        assert machine.locator(".sq-room-chips p").text_content() == score  # with the record
        assert machine.locator("[name=text]").input_value() == BREAD
        assert machine.get_by_role("button", name="Start the tour").count() == 1


def test_a_link_brings_a_state_back(machine, opened, room_address):
    machine.locator(".sq-room-written button").nth(2).click()
    machine.get_by_role("checkbox", name="head 1 of cross-attention 1, decoder is on").uncheck()
    settled(machine)
    machine.get_by_role("button", name="map of head 2, cross-attention 2, decoder").click()
    settled(machine)
    other = opened_at(opened, machine.url)
    assert "#room=" in machine.url
    settled(other)
    assert (chips(other), other.evaluate(BARS)) == (chips(machine), machine.evaluate(BARS))
    assert title(other) == title(machine) == "Head 2 of cross-attention 2, decoder"
    assert other.locator(".sq-room-written [aria-pressed=true]").text_content() == "pan"


def link(**state) -> str:
    return "#room=" + quote(json.dumps(state))


@pytest.mark.parametrize(
    "hash_",
    [
        link(text=BREAD, at=0, changes=[{"kind": "explode", "part": "encoder"}]),
        *nightly_but((), [
            link(text=BREAD, at=0, changes=[{"kind": "off", "part": "decoder.7.self<b>", "head": 0}]),
            link(text=BREAD, at=0, changes=[], node={"t": "constructor"}),
            link(text="", at="x", changes=None),
            "#room=%7Bno", "#stop-99",
        ]),
    ],
)  # fmt: skip
def test_a_link_that_is_none_is_answered_by_a_sentence(machine, hash_):
    machine.evaluate("hash => { location.hash = hash; }", hash_)
    settled(machine)
    said = machine.locator("#room [role=status]").text_content()
    assert said.endswith(".") and "did not work" not in said
    assert chips(machine) == [] and title(machine) == ""
    assert ask(machine, "room", BREAD).startswith("Next word: estamos, 0.94.")


def test_a_page_opened_with_a_link_that_is_none_opens_all_the_same(opened, room_address):
    page = opened_at(opened, room_address + link(text=BREAD, at=1, changes=[{"kind": "explode"}]))
    said = page.locator("#room [role=status]").text_content()
    assert said.startswith("The address could not be followed. Next word: estamos, 0.94.")
    assert chips(page) == []


@pytest.mark.parametrize("numbers", [(2, 9, 12), pytest.param(range(1, 13), marks=pytest.mark.nightly)])
def test_a_stop_asks_first_then_does_it_then_says_why(machine, numbers):
    for number in numbers:
        stop = stops()[number - 1]
        machine.locator(".sq-room-stops button").nth(number - 1).click()
        machine.wait_for_selector(f".sq-room-stops button:nth-child({number})[aria-current]")
        settled(machine)
        tour = machine.locator(".sq-room-tour")
        assert stop["question"] in tour.text_content() and stop["because"] not in tour.text_content()
        assert chips(machine) == [] and title(machine) == ""  # nothing is given away
        machine.wait_for_function("hash => location.hash === hash", arg=f"#stop-{number}")
        chosen = (stop["answer"] + number) % len(stop["options"])  # right at some stops only
        tour.get_by_role("button", name=stop["options"][chosen], exact=True).click()
        settled(machine)
        machine.wait_for_function("!!document.querySelector('.sq-room-tour .sq-answer')")
        verdict = tour.locator(".sq-answer")
        right = chosen == stop["answer"]
        start = "Right" if right else "Not so"
        assert verdict.text_content() == f"{start}: {stop['options'][stop['answer']]}. {stop['because']}"
        assert ("sq-is-right" in verdict.get_attribute("class")) == right
        # the heads of one attention share a sign
        signs = {json.dumps({**one, "head": ""}) for one in stop["changes"]}
        machine.wait_for_function(f"document.querySelectorAll('.sq-room-chip').length === {len(signs)}")
        if stop["look"]:
            machine.wait_for_function("!!document.querySelector('.sq-room-lens:not([hidden])')")
            assert title(machine)
        assert tour.get_by_role("button", name="Next stop" if number < 12 else "End the tour").count()
    machine.get_by_role("button", name="End the tour").click()
    machine.get_by_role("button", name="Start the tour").click()
    machine.wait_for_selector(".sq-room-stops button:nth-child(1)[aria-current]")
    machine.locator(".sq-room-options button").first.click()
    machine.get_by_role("button", name="Next stop").click()
    machine.wait_for_selector(".sq-room-stops button:nth-child(2)[aria-current]")


@pytest.mark.nightly
def test_a_link_leads_to_a_stop(opened, room_address):
    page = opened_at(opened, f"{room_address}#stop-8")
    assert "8 of 12. It looks across" in page.locator(".sq-room-tour").text_content()
    assert page.locator(".sq-room-written [aria-pressed=true]").text_content() == "pan"
    page.evaluate("location.hash = '#stop-2'")
    page.wait_for_function("document.querySelector('[name=text]').value === 'the man bit the dog'")
    settled(page)
    assert page.locator(".sq-room-written").evaluate("node => node.getBoundingClientRect().top") < 400


def test_on_a_phone_nothing_is_wider_and_the_result_stays_in_view(opened, room_address):
    page = opened(room_address, may_complain=True)  # axe asks for style sheets, which a folder refuses
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("location.hash = '#stop-12'")
    page.wait_for_selector(".sq-room-options button", timeout=TIMEOUT)
    page.locator(".sq-room-options button").nth(1).click()
    page.wait_for_selector(".sq-room-lens:not([hidden])")
    settled(page)
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(WIDER) == []
        floors = page.locator(".sq-room-floors")
        for side in ("start", "end"):
            floors.evaluate("(node, block) => node.scrollIntoView({ block })", side)
            box = page.locator(".sq-room-bar").first.bounding_box()
            assert 0 <= box["y"] and box["y"] + box["height"] <= 844
            sheet = page.locator(".sq-room-side").bounding_box()
            assert sheet["height"] <= 0.66 * 844 and sheet["y"] >= 250  # the machine is to be seen, too
        ask(page, "room", "my sister has a red car and a very big black dog")  # a longer sentence
    report = Axe().run(page, options=RULES).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report] == []


def test_on_a_low_screen_the_evidence_has_room_and_undo_stays_in_view(machine):
    machine.set_viewport_size({"width": 1093, "height": 500})
    machine.get_by_role("checkbox", name="on").first.click()
    below, undo = machine.locator(".sq-room-below"), machine.get_by_role("button", name="Undo")
    machine.locator(".sq-room-bar").first.click()
    machine.wait_for_selector(".sq-room-lens:not([hidden])")
    settled(machine)
    assert below.bounding_box()["height"] >= 0.4 * 500 - 1
    top = undo.bounding_box()["y"]
    below.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    assert below.evaluate("node => node.scrollTop") > 60  # further than the row is high
    frame, row = below.bounding_box(), undo.bounding_box()
    assert frame["y"] - 1 <= row["y"] <= top


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing(opened, room_address, theme):
    page = opened(room_address, may_complain=True)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    if theme == "dark":  # as the site's theme does
        page.add_style_tag(content=DARK)
    page.evaluate("location.hash = '#stop-11'")
    page.wait_for_selector(".sq-room-options button", timeout=TIMEOUT)
    page.locator(".sq-room-options button").first.click()
    page.wait_for_selector(".sq-room-weights")
    found = []
    for act in (lambda: None, lambda: page.locator(".sq-room-weights button").nth(3).click(),
                lambda: page.locator(".sq-room-tile").nth(4).click(),
                lambda: page.locator(".sq-room-next > button").click(),
                lambda: page.locator(".sq-room-anew button").first.click()):  # fmt: skip
        act()
        settled(page)
        report = Axe().run(page, context="#room", options=RULES).response["violations"]
        found += [(rule["id"], rule["nodes"][0]["html"][:150]) for rule in report]
    assert found == []


def test_bad_input_is_answered_by_a_sentence_and_nothing_is_lost(machine):
    shown = machine.locator(".sq-room-written")
    machine.get_by_role("checkbox", name="head 1 of cross-attention 1, decoder is on").uncheck()
    settled(machine)
    before = shown.inner_html()
    for kind, text in BAD.items():
        said = ask(machine, "room", text)
        assert said.endswith((".", ")")) and len(said.split()) > 2, (kind, said)
        assert not said.startswith("That did not work"), (kind, said)
        if said.startswith(("Write", "This model", "The machine room")):
            assert shown.inner_html() == before, kind
        assert machine.locator("#room script").count() == 0
        before = shown.inner_html()
    assert "24 words" in ask(machine, "room", "a " * 30)
    assert chips(machine) == ["head 1 of cross-attention 1 off ×"]


@pytest.mark.nightly
def test_a_worker_that_dies_is_started_again(opened, room_address):
    page = opened(room_address, script=DYING)
    ask(page, "room", BREAD)
    page.locator(".sq-room-tile").first.click()
    settled(page)
    assert page.evaluate(KILL) == "out of memory"
    page.locator(".sq-room-switch input").first.uncheck()
    page.wait_for_selector(".sq-room-chip", timeout=TIMEOUT)
    settled(page)
    assert title(page) == "“we”, word + position"


def test_another_figure_of_the_page_works_beside_it(machine):
    load(machine, ROOM)
    found = machine.evaluate("given => seqlive.send('translate', given)", {"name": ROOM, "text": BREAD})
    assert found["text"] == "estamos comiendo pan."


def test_nothing_is_loaded_before_a_touch_and_without_a_script_the_example_is_there(
    opened, room_address
):
    page = opened(room_address)
    page.wait_for_timeout(300)
    names = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    assert not [name for name in names if "models/" in name or "room.js" in name]
    said, button = page.locator(".sq-room-closed"), page.locator("#room [type=submit]")
    assert button.text_content() in said.text_content() and button.text_content() == "Open the machine"
    ask(page, "room")
    assert (said.count(), button.text_content()) == (0, "Run")
    page = opened(room_address, javascript=False)
    shown = page.locator("#room .sq-live")
    assert shown.get_by_text("estamos comiendo pan.").count() == 1
    assert shown.locator(".sq-bars tr").count() == 5
    assert shown.locator("li").count() == 12 and page.locator("#stop-8").count() == 1


def test_a_page_in_print_has_its_state_and_no_buttons_of_the_tour(machine):
    machine.get_by_role("button", name="map of head 1, cross-attention 2, decoder").click()
    settled(machine)
    machine.add_style_tag(
        content="@media print { main .sq button { display: none !important; } }"
    )  # the site's
    machine.emulate_media(media="print")
    try:
        assert (
            machine.locator(".sq-room-weights").is_visible()
            and machine.locator(".sq-room-bar").first.is_visible()
        )
        assert not machine.locator(".sq-room-stops, .sq-room-close").first.is_visible()
    finally:
        machine.emulate_media(media="screen")


def test_a_style_of_its_own_comes_with_its_page_only(monkeypatch):
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")
    made = live.room(ROOM, LABEL, [BREAD])._repr_html_()
    assert sphinx.own_styles(made) == ["room.css"] and sphinx.named_models(made) == {ROOM}
    assert sphinx.own_styles(made.replace('data-live="room"', 'data-live="translate"')) == []
    assert html.escape(stops()[0]["question"]) in made
    alone = live.room(ROOM, LABEL, [BREAD], tour=False)._repr_html_()
    assert 'data-stops="[]"' in alone and "stop-1" not in alone


WEIGHTS, GRID = ".sq-room-weights", ".sq-room-grid"


@pytest.mark.parametrize(
    ("width", "theme"), [(390, "dark"), pytest.param(1280, "dark", marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize(
    ("address", "shows"),
    [
        (
            "row_address",
            {"map of head 2, self-attention 2": WEIGHTS, "m, after self-attention 2": GRID},
        ),
        (
            "picture_address",
            {"map of head 2, cross-attention 2, decoder": WEIGHTS, "row 5, column 3, memory": GRID},
        ),
    ],
    ids=["row", "picture"],
)
def test_another_room_on_a_phone_and_in_the_dark(opened, request, address, shows, width, theme):
    page = opened(request.getfixturevalue(address), may_complain=True)
    page.set_viewport_size({"width": width, "height": 844})
    if theme == "dark":
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        page.add_style_tag(content=DARK)
    if address == "row_address":
        page.evaluate("location.hash = '#induction-2'")
        page.wait_for_selector(".sq-room-options button", timeout=TIMEOUT)
        page.locator(".sq-room-options button").first.click()
        page.wait_for_selector(".sq-room-sum")
    else:
        ask(page, "room")
    for name, shown in shows.items():
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_selector(f".sq-room-lens:not([hidden]) {shown}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(WIDER) == []
        report = Axe().run(page, context="#room", options=RULES).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"][:150]) for rule in report] == []
