"""What a reader answered comes back after 1, 7 and 30 days: a directive, and a script on every page.

The page "What you still know" holds every question of the book; `again.js` shows those that are due,
by what the reader's own browser keeps.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from seqcourse.viz.by_hand import folded_form
from seqcourse.viz.html import STYLE
from seqcourse.viz.paper import load_question
from seqcourse.viz.poll import load_poll, static_form
from seqcourse.viz.predict import predict

SCRIPT = Path(__file__).with_suffix(".js")
ASKED = re.compile(r'^viz\.(poll|predict|by_hand)\("([\w-]+)"\)$', re.M)
REPEATED = re.compile(r"<style>.*?</style>|<script data-once>.*?</script>\n?", re.S)
PAGE = (SCRIPT.parent / "front_files" / "again.html").read_text(encoding="utf-8")


def questions(book: Path) -> Iterator[tuple[str, str, str]]:
    """Every question of a folder of notebooks: its name in the browser, its page, and its card."""
    makers = {
        "poll": ("poll", lambda key: static_form(**load_poll(key), asked=f"poll/{key}").body),
        "predict": ("prediction", lambda key: predict(key).body),
        "by_hand": ("hand", lambda key: folded_form(load_question(key))),
    }
    for notebook in sorted(book.glob("[0-9]*.ipynb")):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            for of, key in ASKED.findall("".join(cell["source"])):
                kind, make = makers[of]
                yield f"{kind}/{key}", notebook.stem, make(key)


class Again(SphinxDirective):
    """All questions, of which the reader sees those that are due."""

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        self.env.note_reread()
        held, once = "", {}
        for name, page, card in questions(Path(self.env.doc2path(self.env.docname)).parent):
            once |= dict.fromkeys(REPEATED.findall(card))
            marks = f'data-of="{name}" data-page="{escape(page)}"'
            held += f"<template {marks}>{REPEATED.sub('', card)}</template>\n"
        return [nodes.raw("", STYLE + "".join(once) + PAGE.format(held), format="html")]


def _begin(app: Any) -> None:
    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(SCRIPT, folder / SCRIPT.name)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("again", Again)
    app.add_js_file(SCRIPT.name, loading_method="defer")
    app.connect("builder-inited", _begin)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
