"""A small site with live figures, looked at over http and from its folder."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqcourse import live
from seqcourse.live import sphinx

TRANSLATORS = {
    "en-es-fixed": "Without attention",
    "en-es-attention": "With attention",
    "en-es-transformer": "The Transformer",
}
SUBWORDS = {"en-es-subwords": "On subwords"}
LABEL, EXAMPLES = "An English sentence", ["we are eating bread", "the red house is big"]
WRITERS = {"char-alice": "The LSTM", "alice-transformer": "The Transformer"}
BEGINNING, BEGINNINGS = "The beginning of a text", ["Alice was", "The Queen"]
PAGE = """<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Live</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/live/live.css"><script defer src="_static/live/start.js"></script>
</head><body><main><h1>Live</h1>{}</main></body></html>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with a page for each kind of live figure."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQCOURSE_STATIC", "1")
        pages = {
            "index": live.translate(TRANSLATORS, LABEL, EXAMPLES)._repr_html_(),
            "subwords": live.translate(SUBWORDS, LABEL, EXAMPLES)._repr_html_(),
            "heads": live.heads("en-es-transformer", LABEL, EXAMPLES)._repr_html_(),
            "tree": live.tree("en-es-fixed", LABEL, EXAMPLES)._repr_html_(),
            "fill": live.fill({"books-bert": "BERT"}, "A text", ["the little ___ ran."])._repr_html_(),
            "write": live.write(WRITERS, BEGINNING, BEGINNINGS, length=40, cache=True)._repr_html_(),
        }
    sphinx.write_runtime(folder / "_static" / "live")
    for name, shown in pages.items():
        (folder / f"{name}.html").write_text(PAGE.format(shown), encoding="utf-8")
        sphinx.write_models(folder / "_static" / "live", sphinx.named_models(shown))
    return folder


@pytest.fixture(scope="module")
def over_http(site) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture(scope="module", params=["file", pytest.param("http", marks=pytest.mark.nightly)])
def address(request, site, over_http) -> str:
    """The page's address: from the folder, where a page may do less, and from a server."""
    return over_http if request.param == "http" else (site / "index.html").as_uri()


@pytest.fixture
def opened(chrome):
    """Open the page; an error on its console or a request elsewhere fails the test."""
    contexts, troubles = [], []

    def open_at(address: str, javascript: bool = True, script: str = "", may_complain: bool = False):
        context = chrome.new_context(java_script_enabled=javascript)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(script)
        page.on("console", lambda message: may_complain or troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        allowed = (address.rsplit("/", 1)[0], "data:", "blob:")
        page.on("request", lambda r: r.url.startswith(allowed) or troubles.append(r.url))
        page.goto(address)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert troubles == []


def answered(page, timeout: int = 60_000) -> None:
    """Wait until no figure of a page is busy."""
    page.wait_for_function("!document.querySelector('[type=submit][aria-disabled]')", timeout=timeout)
