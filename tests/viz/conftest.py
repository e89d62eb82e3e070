"""Figures are drawn without a screen, and none may stay open after a test."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest

plt.switch_backend("Agg")  # before a test puts up a shell of its own, which has no events


@pytest.fixture(autouse=True)
def figures_of_its_own():
    """Matplotlib's own settings, whatever style a notebook's cells chose in this process before."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        yield
    plt.close("all")


@pytest.fixture
def static(monkeypatch):
    """As while the book is being built."""
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")


@pytest.fixture
def open_page(chrome, tmp_path):
    """Open outputs as one HTML file; errors on the console or requests to a host fail the test."""
    contexts, troubles = [], []

    def opened(*shown, width: int = 1280, javascript: bool = True, **options):
        path = tmp_path / "page.html"
        body = "".join(each._repr_html_() for each in shown)
        path.write_text(
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width"><title>t</title></head><body>{body}</body></html>'
        )
        size = {"width": width, "height": 800}
        options |= {"viewport": size, "java_script_enabled": javascript, "offline": True}
        context = chrome.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or troubles.append(r.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
