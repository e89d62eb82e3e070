"""A small site with live figures, looked at over http and from its folder."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from seqcourse import data, live
from seqcourse.live import sphinx
from seqcourse.pages import light

TRANSLATORS = {
    "en-es-fixed": "Without attention",
    "en-es-attention": "With attention",
    "en-es-transformer": "The Transformer",
}
SUBWORDS = {"en-es-subwords": "On subwords"}
LABEL, EXAMPLES = "An English sentence", ["we are eating bread", "the red house is big"]
PLANE = ["tom loves mary.", "mary loves tom.", "the house is big.", "we eat bread."]
SCENES = [
    [("camel", 13, 32, 24), ("pink flamingo", 51, 34, 24)],
    [("pink flamingo", 13, 34, 24), ("camel", 51, 32, 24)],
    [("camel", 16, 18, 24), ("camel", 48, 46, 24)],
]
CAPTIONS = ["a camel left of a pink flamingo", "a pink flamingo left of a camel", "two camels"]
WRITERS = {"char-alice": "The LSTM", "alice-transformer": "The Transformer"}
TIMEOUT = 120_000  # milliseconds, for a busy machine
BEGINNING, BEGINNINGS = "The beginning of a text", ["Alice was", "The Queen"]
WORDS, PICTURES, DIGITS = ["knight", "transformer"], [0, 1, 2, 7], ["427", "90210"]
torch.manual_seed(0)
LAYER = torch.nn.Linear(128, 2)  # on the states of books-gpt: some classifier
BAD = {  # texts that no figure is made for
    "empty": "",
    "only spaces": " \u00a0 ",
    "10,000 signs": "word " * 2000,
    "one word of 10,000 signs": "x" * 10_000,
    "emoji": "👩\u200d👩\u200d👧 🙂",
    "a script": "<script>alert(1)</script><img src=x onerror=alert(2)>",
}
DYING = """window.Real = Worker; window.Worker = function (url) {
    window.last = new Real(url); return window.last; };"""
KILL = """() => { last.terminate();
    const answer = seqlive.send("grow", {}).catch(error => error.message);
    last.onerror({ message: "out of memory" }); return answer; }"""
PAGE = """<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Live</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/live/live.css"><script defer src="_static/live/start.js"></script>
</head><body><main><h1>Live</h1>{}</main></body></html>"""

WIDER = """() => [...document.querySelectorAll("main *")]
    .filter(node => !node.closest(".sq-room-scroll, .sq-heard"))
    .filter(node => node.getBoundingClientRect().right > innerWidth + 1)
    .map(node => node.outerHTML.slice(0, 120))"""
DARK = """:root { --pst-color-background: #121212; --pst-color-text-base: #ced6dd;
    --pst-color-surface: #29313d; --pst-color-text-muted: #9ca4af;
    --pst-color-primary: #74baf0; --pst-color-border: #48566b;
    background: #121212; color: #ced6dd; color-scheme: dark; }"""
RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}, "resultTypes": ["violations"]}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Say nothing."""


# One of each kind of figure, on a page of its own and all together on "index".
FIGURES = {
    "translate": lambda: live.translate(TRANSLATORS, LABEL, EXAMPLES),
    "bands": lambda: live.translate({"en-es-attention": "With attention"}, LABEL, EXAMPLES, bands=True),
    "subwords": lambda: live.translate(SUBWORDS, LABEL, EXAMPLES),
    "tree": lambda: live.tree("en-es-fixed", LABEL, EXAMPLES),
    "sample": lambda: live.sample("en-es-fixed", LABEL, EXAMPLES),
    "fill": lambda: live.fill({"books-bert": "BERT"}, "A text", ["the little ___ ran."]),
    "classify": lambda: live.classify(
        "books-gpt", LAYER, ["one", "two"], "Which?", "A text", ["the little fox said"], longest=24
    ),
    "plane": lambda: live.plane("en-es-fixed", LABEL, EXAMPLES, PLANE),
    "slip": lambda: live.slip("en-es-attention", LABEL, EXAMPLES),
    "elsewhere": lambda: live.elsewhere("en-es-attention", LABEL, EXAMPLES),
    "merge": lambda: live.merge("books-gpt", "A text", BEGINNINGS),
    "cells": lambda: live.cells("char-alice", "A text", BEGINNINGS, entry=5),
    "write": lambda: live.write(WRITERS, BEGINNING, BEGINNINGS, length=24, cache=True),
    "fit": lambda: live.fit("captions-soft", "Captions and pictures", SCENES, CAPTIONS),
    "pair": lambda: live.fit("scenes-pair", "A pair judges", SCENES, CAPTIONS),
    "pronounce": lambda: live.pronounce("g2p-transformer", "An English word", WORDS),
    "see": lambda: live.see("fashion-vit", "Test pictures of clothes", PICTURES),
    "listen": lambda: live.listen("digits-speller", "Digits", DIGITS),
}


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """A folder with a light page that has every kind of live figure, each in a section of its name."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQCOURSE_STATIC", "1")
        made = {name: make()._repr_html_() for name, make in FIGURES.items()}
    shown = "".join(f'<section id="{name}">{figure}</section>' for name, figure in made.items())
    sphinx.write_runtime(folder / "_static" / "live")
    sphinx.write_models(folder / "_static" / "live", sphinx.named_models(shown))
    (folder / "index.html").write_text(PAGE.format(shown), encoding="utf-8")
    light.lighten(folder)  # as the book is built
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on a server."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def over_http(site) -> Iterator[str]:
    with served(site) as root:
        yield f"{root}/index.html"


@pytest.fixture(scope="session", params=["file", pytest.param("http", marks=pytest.mark.nightly)])
def address(request, site, over_http) -> str:
    """The page's address: from the folder, where a page may do less, and from a server."""
    return over_http if request.param == "http" else (site / "index.html").as_uri()


@pytest.fixture
def opened(chrome):
    """Open a page of a test's own; an error on its console or a request elsewhere fails the test."""
    contexts, troubles = [], []

    def open_at(address: str, javascript: bool = True, script: str = "", may_complain: bool = False):
        context, page = watched(chrome, address, troubles, may_complain, java_script_enabled=javascript)
        contexts.append(context)
        page.add_init_script(script)
        page.goto(address)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert troubles == []


@contextmanager
def still(chrome, address: str) -> Iterator:
    """A page without motion, and its complaints."""
    troubles = []
    context, page = watched(chrome, address, troubles, reduced_motion="reduce")
    page.goto(address)
    yield page, troubles
    context.close()


@pytest.fixture(scope="module")
def shared(chrome, address):
    """One page for the tests of a module, where each model is loaded once, and its complaints."""
    with still(chrome, address) as opened:
        yield opened


@pytest.fixture
def page(shared):
    """The shared page; an error on its console or a request elsewhere fails the test."""
    page, troubles = shared
    troubles.clear()
    yield page
    assert troubles == []


def watched(chrome, address: str, troubles: list[str], may_complain: bool = False, **options):
    """A new page that tells what its console said, and what it asked for elsewhere."""
    context = chrome.new_context(**options)
    page = context.new_page()
    page.on("console", lambda message: may_complain or troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    allowed = (address.rsplit("/", 1)[0], "data:", "blob:")
    page.on("request", lambda r: r.url.startswith(allowed) or troubles.append(r.url))
    return context, page


def ask(page, name: str, text: str | None = None) -> str:
    """Type a text into a figure and press Enter; what its status says when it has answered."""
    root = page.locator(f"#{name}")
    box = root.get_by_role("textbox").and_(root.locator("[name=text]"))
    if text is not None:
        box.fill(text)
    box.press("Enter")
    return answered(page, name)


def answered(page, name: str) -> str:
    """Wait until a figure is not busy; what its status says then."""
    busy = f"!document.querySelector('#{name} [type=submit][aria-disabled]')"
    page.wait_for_function(busy, timeout=TIMEOUT)
    return page.locator(f"#{name} [role=status]").text_content()


def sentences(count: int) -> list[str]:
    """Held-out sentences of translators, and some of all lengths and with words that nobody knows."""
    pairs = [pair.source for pair in data.load_pairs("en-es", "test")]
    rare = ["xyzzy!", "Tom, Tom and Tom.", "no", 'Is 2:30 p.m. fine, or is it "too late"?', "a " * 40]
    return rare + pairs[:: len(pairs) // (count - len(rare))][: count - len(rare)]


def load(page, *models: str) -> None:
    """Load models, without a figure that asks for them."""
    page.evaluate("names => Promise.all(names.map(name => seqlive.load(name, () => {})))", models)


ROOM = "en-es-transformer"
ROOM_EXAMPLES = ["we are eating bread", "the man bit the dog"]
ROW, ROWS = "induction", ["kfaqdwlzubxmkfaqdw", "thequickbrownthequ", "questionablyquest"]
PICTURE, PICTURED = "captions-transformer", ["zebra, red tomato", "red tomato, zebra, duck", "zebra"]


def room_page(folder: Path, model: str, label: str, examples: list[str]) -> str:
    """The address of a page with one room, in the section "room"."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQCOURSE_STATIC", "1")
        shown = live.room(model, label, examples)._repr_html_()
    sphinx.write_runtime(folder / "_static" / "live")
    sphinx.write_models(folder / "_static" / "live", [model])
    styles = "".join(
        f'<link rel="stylesheet" href="_static/live/{name}">' for name in sphinx.own_styles(shown)
    )
    page = PAGE.format(f'<section id="room">{shown}</section>').replace("</head>", f"{styles}</head>")
    (folder / "index.html").write_text(page, encoding="utf-8")
    light.lighten(folder)  # as the book is built
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="session")
def room_address(tmp_path_factory) -> str:
    """The address of a page with nothing but the machine room, in a folder."""
    return room_page(tmp_path_factory.mktemp("room"), ROOM, LABEL, ROOM_EXAMPLES)


@pytest.fixture(scope="session")
def row_address(tmp_path_factory) -> str:
    """The same with the room of a model that reads one row of symbols."""
    return room_page(tmp_path_factory.mktemp("row"), ROW, "A row of symbols", ROWS)


@pytest.fixture(scope="session")
def picture_address(tmp_path_factory) -> str:
    """The same with the room of a captioner."""
    return room_page(tmp_path_factory.mktemp("picture"), PICTURE, "Things, from left to right", PICTURED)


def shared_page(address: str):
    """A fixture: one page with a room for the tests of a module, and its complaints."""

    @pytest.fixture(scope="module")
    def page_of_the_module(chrome, request):
        with still(chrome, request.getfixturevalue(address)) as opened:
            yield opened

    return page_of_the_module


def room_on(shared: str, *texts: str):
    """A fixture: the shared page, its room on the last of these texts, with nothing changed; an error on
    its console fails the test.
    """

    @pytest.fixture
    def room(request):
        page, troubles = request.getfixturevalue(shared)
        troubles.clear()
        page.wait_for_function("document.querySelector('#room form:not([hidden])')")
        if (reset := page.get_by_role("button", name="Reset")).count():
            reset.click()
        for text in texts:
            ask(page, "room", text)
        yield page
        assert troubles == []

    return room


shared_room, room = shared_page("room_address"), room_on("shared_room", ROOM_EXAMPLES[0])
shared_row, row = shared_page("row_address"), room_on("shared_row", ROWS[1], ROWS[0])
shared_picture = shared_page("picture_address")
picture = room_on("shared_picture", *reversed(PICTURED))
