"""The machine room: a Transformer translator that stands open from the words to the next word."""

from __future__ import annotations

import html
import json
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from seqcourse.live.figure import bars_of, figure
from seqcourse.live.page import maps_of_heads
from seqcourse.tokens import SOS

STOPS = Path(__file__).parent / "room.toml"
OPENS = "stop-|room="  # what in an address, behind the "#", opens the machine


@cache
def stops() -> list[dict[str, Any]]:
    """The stops of the tour: a question with options, what is then done, and one sentence why."""
    read = tomllib.loads(STOPS.read_text(encoding="utf-8"))["stop"]
    return [{"changes": [], "look": None, **stop} for stop in read]


def room(model: str, label: str, examples: Sequence[str], tour: bool = True) -> Any:
    """A Transformer translator with its lid off: every number can be asked where it comes from.

    Make the call the last line of its cell. In a page parts can be switched off, exchanged, moved and
    replaced, and a tour of twelve stops leads through the machine. With a kernel the translation, the
    first word's bars and the maps of all heads are shown, but nothing is operated.

    Args:
        model: a translator of the zoo that is a Transformer with sinusoidal positions and pre-norm.
        label: what to type.
        examples: sentences; the first one's answer is in the page.
        tour: with the twelve stops, which only one page of a book can have.

    Raises:
        CourseError: if there is no label or example.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown, has_widgets

    system = zoo.load(model)

    def run(text: str) -> Shown:
        found = system.translate([text], beam=1)[0]
        body = f"<p>It writes, word by word the likeliest: <b>{html.escape(found.text)}</b></p>"
        body += bars_of("The first word", next_words(system, found.source))
        body += maps_of_heads(system, found) if has_widgets() else _questions() if tour else ""
        return Shown(body, found.text)

    told = json.dumps(stops() if tour else [], ensure_ascii=False)
    return figure("room", {model: "The Transformer"}, label, examples, run, stops=told, opens=OPENS)


def next_words(
    system: Any, source: Sequence[str], written: Sequence[str] = (), count: int = 5
) -> list[tuple[str, float, str]]:
    """The likeliest words after some that are written, as rows of :func:`bars_of`."""
    import torch

    from seqcourse import data

    ids, lengths = data.pad([system.source.encode(source)])
    fed = torch.tensor([[SOS, *system.target.encode(written, eos=False)]])
    with torch.inference_mode():
        logits = system.model(*(x.to(system.device) for x in (ids, lengths, fed))).logits[0, -1]
    best = logits.softmax(-1).topk(count)
    words = [system.target.tokens[k] for k in best.indices.tolist()]
    return [(word, share, "") for word, share in zip(words, best.values.tolist(), strict=True)]


def _questions() -> str:
    """The tour's questions and their answers, for those who have no script."""
    rows = ""
    for number, stop in enumerate(stops(), start=1):
        answer = f"{stop['options'][stop['answer']]}. {stop['because']}"
        title, question = (html.escape(stop[key]) for key in ("title", "question"))
        rows += (
            f'<li id="stop-{number}"><b>{title}.</b> {question}'
            f"<details><summary>Answer</summary><p>{html.escape(answer)}</p></details></li>"
        )
    return f'<p class="sq-note">The twelve stops of the tour:</p><ol class="sq-room-told">{rows}</ol>'
