"""With a kernel the same calls give forms that PyTorch answers."""

from __future__ import annotations

import pytest

from seqcourse import live, viz
from seqcourse.viz import html


@pytest.fixture(autouse=True)
def kernel(monkeypatch):
    monkeypatch.delenv("SEQCOURSE_STATIC", raising=False)
    monkeypatch.setattr(html, "has_widgets", lambda: True)
    monkeypatch.setitem(viz.type_in.__globals__, "has_widgets", lambda: True)


@pytest.mark.parametrize(
    ("call", "typed", "words"),
    [
        (
            lambda: live.translate({"en-es-attention": "A"}, "A sentence", ["hello"]),
            "the red house",
            "roja",
        ),
        (
            lambda: live.sample("en-es-fixed", "A sentence", ["hello"], count=2),
            "the red house",
            "<li>",
        ),
        (
            lambda: live.write({"char-alice": "A"}, "A text", ["Alice"], length=9),
            "The Queen",
            "The Queen",
        ),
        (
            lambda: live.fill({"books-bert": "A"}, "A text", ["the ___ ran."]),
            "the little ___ .",
            "Blank 1",
        ),
        (
            lambda: live.room("en-es-transformer", "A sentence", ["we are eating bread"]),
            "the man bit the dog",
            'aria-label="Decoder, source, layer 2, head 4"',
        ),
        (
            lambda: live.room("induction", "A row", ["abcdefghijklmnabcd"]),
            "kfaqdwlzubxmkfaqdw",
            'aria-label="Layer 2, head 4"',
        ),
        (
            lambda: live.cells("char-alice", "A text", ["Alice"], entry=0),
            "Why,",
            ">y</span>",
        ),
    ],
)
def test_a_form_answers(call, typed, words):
    form = call()
    box, button = form.children[0].children
    box.value = typed
    button.click()
    shown = form.children[-2]
    assert words in shown.value
    box.value = ""
    assert "at least" in shown.value or "Expected a text" in shown.value
