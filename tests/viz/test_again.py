"""What was answered comes back after 1, 7 and 30 days, by the reader's own clock and browser."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from seqcourse import viz
from seqcourse.pages.again import PAGE, REPEATED, SCRIPT, questions
from tests.notebooks.finding import ROOT

FIRST = datetime(2026, 3, 1, 12)
POLL, GUESS, HAND = "poll/05-highest", "prediction/05-race", "hand/05-context"
HOST = "http://course.test"
FORBIDDEN = """Object.defineProperty(window, 'localStorage', {
    get() { throw new DOMException('The operation is insecure.', 'SecurityError'); }})"""
# Whether a fold has told that it opened, a moment later. The page's own script hears it first.
TOLD = """() => { window.told = false; document.addEventListener(
    "toggle", ({ target }) => { window.told ||= target.open; }, true); }"""
LINE = '<p class="seq-again-line" hidden><b></b> to answer again today.</p>'


@pytest.fixture(scope="module")
def cards() -> dict[str, tuple[str, str]]:
    return {name: (page, card) for name, page, card in questions(ROOT / "book")}


def test_every_question_has_a_card_without_what_is_said_once(cards):
    assert {POLL, GUESS, HAND} <= set(cards)
    assert cards[POLL][0] == "05_attention_in_the_decoder"
    for name, (_, card) in cards.items():
        assert "sq-card" in card, name
        assert (f'data-asked="{name}"' in card) != name.startswith("hand/"), name
        rest = REPEATED.sub("", card)
        assert "<style" not in rest and "data-once" not in rest
        assert "<summary>" in rest, name


@pytest.fixture
def visit(chrome, static, tmp_path, cards):
    """Open the chapter or the page of what is due, on a day, in one and the same browser."""
    context = chrome.new_context(offline=True, accept_downloads=True)
    # Chromium gives each file:// page a process that now and then opens before the last one's answer
    # is kept (1 of 288 under load); pages of one host share theirs.
    context.route(
        f"{HOST}/*",
        lambda route: route.fulfill(path=tmp_path / route.request.url.rsplit("/", 1)[1]),
    )
    script = f"<script defer>{SCRIPT.read_text(encoding='utf-8')}</script>"
    asked = viz.poll("05-highest"), viz.predict("05-race"), viz.by_hand("05-context")
    chapter = "".join(each._repr_html_() for each in asked)
    held = ""
    for name in (POLL, GUESS, HAND):
        at, card = cards[name]
        held += f'<template data-of="{name}" data-page="{at}">{REPEATED.sub("", card)}</template>'
    first = "".join(REPEATED.findall(cards[GUESS][1]))
    for name, body in {"chapter": chapter, "again": first + PAGE.format(held), "index": LINE}.items():
        html = (
            f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>t</title>{body}{script}</html>'
        )
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
    troubles = []
    page = context.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))

    def opened(name: str, day: float, forbidden: bool = False):
        page.clock.set_fixed_time(FIRST + timedelta(days=day))
        if forbidden:
            page.add_init_script(FORBIDDEN)
        page.goto(f"{HOST}/{name}.html")
        return page

    yield opened
    context.close()
    assert troubles == []


def choose(page, right: bool) -> None:
    card = page.locator(".sq-poll").first
    folds = card.locator("details.sq-is-right" if right else "details:not(.sq-is-right)")
    folds.first.locator("summary").click()


def kept(page) -> dict:
    return json.loads(page.evaluate("localStorage.getItem('seq-answers') ?? '{}'"))


@pytest.mark.browser
def test_a_poll_comes_back_after_1_7_and_30_days_and_then_no_more(visit):
    page = visit("chapter", 0)
    choose(page, right=False)
    page.wait_for_function("localStorage.getItem('seq-answers')")
    page.evaluate(TOLD)
    choose(page, right=True)  # the first answer counts
    page.wait_for_function("told")
    assert kept(page)[POLL]["right"] is False
    for due, wait in ((1, 7), (8, 30), (38, 0)):
        early = visit("again", due - 1)
        assert early.locator(".sq-poll").count() == 0
        assert visit("index", due).locator(".seq-again-line").text_content().startswith("1 question ")
        page = visit("again", due)
        assert (
            "1 answered, 1 to be asked again today." in page.get_by_role("status").first.text_content()
        )
        assert (
            page.locator("a").get_attribute("href") == f"05_attention_in_the_decoder.html#asked-{POLL}"
        )
        before = kept(page)[POLL]["stage"]
        choose(page, right=True)
        page.wait_for_function(
            "n => Object.values(JSON.parse(localStorage['seq-answers']))[0].stage > n", arg=before
        )
        assert visit("again", due).locator(".sq-poll").count() == 0
        if wait:
            text = visit("again", due).get_by_role("status").first.text_content()
            assert f"The next one comes back in {wait} days." in text
    assert "0 to be asked again" in visit("again", 1000).get_by_role("status").first.text_content()
    assert not visit("index", 1000).locator(".seq-again-line").is_visible()


@pytest.mark.browser
def test_a_prediction_is_asked_again_and_a_wrong_answer_begins_again(visit):
    page = visit("chapter", 0)
    page.locator(".sq-predict input").fill("50")
    page.get_by_role("button", name="This is my guess").click()
    assert kept(page) == {GUESS: {"day": 20513, "stage": 0, "right": True}}
    page = visit("again", 1)
    page.locator(".sq-predict input").fill("100")
    page.get_by_role("button", name="This is my guess").click()
    assert kept(page)[GUESS] == {"day": 20514, "stage": 0, "right": False}
    assert visit("again", 2).locator(".sq-predict svg").is_visible()


@pytest.mark.browser
def test_of_a_calculation_the_first_numbers_count(visit):
    page = visit("chapter", 0)
    for box in page.locator(".sq-by-hand input").all():
        box.fill("77")
    page.get_by_role("button", name="Check").click()
    assert kept(page) == {HAND: {"day": 20513, "stage": 0, "right": False}}
    page = visit("again", 1)
    page.get_by_text("The worked sum").click()
    assert page.get_by_role("link").text_content() == "Work it out in its chapter"


@pytest.mark.browser
def test_export_delete_and_import(visit, tmp_path):
    page = visit("chapter", 0)
    choose(page, right=True)
    page.wait_for_function("localStorage.getItem('seq-answers')")
    page = visit("again", 0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export my answers").click()
    download.value.save_as(tmp_path / "answers.json")
    before = kept(page)
    assert json.loads((tmp_path / "answers.json").read_text(encoding="utf-8")) == before
    with page.expect_download() as download:
        page.get_by_role("button", name="Export cards for Anki").click()
    download.value.save_as(tmp_path / "cards.txt")
    *head, card = (tmp_path / "cards.txt").read_text(encoding="utf-8").strip().split("\n")
    assert head[:2] == ["#separator:tab", "#html:true"] and all(line.startswith("#") for line in head)
    name, front, back, tag = card.split("\t")
    assert (name, tag) == (POLL, "seqcourse::05_attention_in_the_decoder")
    assert "the context is the hidden state with the highest weight" in front and "Right" in back
    assert "Right" not in front
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete all answers").click()
    assert kept(page) == {} and page.get_by_role("status").first.text_content().startswith("Deleted.")
    page.locator("input[type=file]").set_input_files(tmp_path / "cards.txt")
    page.get_by_text("This file holds no answers that were exported here.").wait_for()
    page.locator("input[type=file]").set_input_files(tmp_path / "answers.json")
    page.get_by_text("Read. 1 answered").wait_for()
    assert kept(page) == before


@pytest.mark.browser
def test_where_the_browser_keeps_nothing_a_sentence_says_so(visit):
    page = visit("chapter", 0, forbidden=True)
    choose(page, right=True)
    page = visit("again", 0, forbidden=True)
    assert "keeps nothing" in page.get_by_role("status").first.text_content()
    assert page.locator("button:enabled").count() == 0
    assert not visit("index", 0, forbidden=True).locator(".seq-again-line").is_visible()
