"""A small calculation for a pencil: the page says which mistake gives the numbers typed."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from seqcourse.viz.html import STYLE, Shown, has_widgets, inline, new_id, style
from seqcourse.viz.paper import (
    EMPTY,
    MALFORMED,
    NEXT,
    UNKNOWN,
    WORKED,
    Calculation,
    Draw,
    draws,
    filled,
    judge,
    load_question,
    with_fields,
)

SCRIPT = Path(__file__).with_suffix(".js")
DRAWS = 24  # in a page
_STYLE = style("by_hand")


def by_hand(name: str) -> Any:
    """Ask the calculation ``name`` of the book, for example "05-context", with fields to type into.

    Make the call the last line of its cell. Raises CourseError when there is no such calculation.
    """
    question = load_question(name)
    return widget_form(question) if has_widgets() else static_form(question)


def static_form(question: Calculation) -> Shown:
    """HTML with the first draw and its worked sum folded; a script makes the boxes answer."""
    drawn = list(islice(draws(question), DRAWS))
    texts = [filled(text, drawn[0].fields, tagged=True) for text in with_fields(question)]
    lines = 1 + len(question.given)
    asked, given, (where, worked, so, *asks) = texts[0], texts[1:lines], texts[lines:]
    bank = {
        "draws": [[draw.fields, draw.right, draw.mistakes] for draw in drawn],
        "tolerance": question.tolerance,
        "labels": question.labels(),
        "words": {
            "unknown": UNKNOWN,
            "empty": EMPTY,
            "malformed": MALFORMED,
            "worked": WORKED,
            "next": NEXT,
        },
    }
    stored = json.dumps(bank, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    root = new_id("by-hand", question.name)
    says = "".join(f"<p>{text}</p>" for text in (where, so, *asks))
    body = (
        f'<div class="sq sq-card sq-by-hand tex2jax_process" id="{root}" role="group" '
        f'data-asked="hand/{question.name}" aria-labelledby="{root}-asked">'
        f"{_asked(asked, given, f'{root}-asked')}"
        f'<div class="sq-scroll sq-boxes">{_boxes(question, drawn)}</div>'
        f'<div class="sq-controls" hidden><button type="button">Check</button>'
        f'<button type="button">Other numbers</button></div><div role="status"></div>'
        f"<details><summary>The worked sum</summary><p>{worked}</p></details>"
        f"<div hidden>{says}</div>"
        f'<script type="application/json">{stored}</script></div>'
    )
    script = f"<script data-once>\n{SCRIPT.read_text(encoding='utf-8')}</script>\n"
    text = re.sub(r"<[^>]+>", "", " ".join([asked, *given]))
    return Shown(_STYLE + body + script, f"By hand: {html.unescape(text)}")


def folded_form(question: Calculation) -> str:
    """The HTML of the first draw with its worked sum folded, where no boxes are needed."""
    draw = next(draws(question))
    asked, *more = (filled(text, draw.fields) for text in with_fields(question))
    given, worked = more[: len(question.given)], more[len(question.given) + 1]
    shown = _asked(asked, given, new_id("asked", question.name))
    return (
        f'{_STYLE}<div class="sq sq-card sq-by-hand">{shown}'
        f"<details><summary>The worked sum</summary><p>{worked}</p></details></div>"
    )


def _asked(asked: str, given: Sequence[str], name: str) -> str:
    lines = "".join(f"<li>{line}</li>" for line in given)
    lines = f'<ul class="sq-given">{lines}</ul>' if lines else ""
    return f'<p class="sq-question" id="{name}"><span class="sq-kind">By hand</span>{asked}</p>{lines}'


def _boxes(question: Calculation, drawn: Sequence[Draw]) -> str:
    """A table of fields; a telephone shows digits alone where no result has a minus sign."""
    least = min(min(map(min, [draw.right, *draw.mistakes])) for draw in drawn)
    mode = ' inputmode="decimal"' if least >= 0 else ""
    corner = "<td></td>" if question.rows else ""
    head = corner + "".join(f'<th scope="col">{inline(column)}</th>' for column in question.columns)
    labels, rows = iter(question.labels()), ""
    for row in question.rows or [""]:
        cells = "".join(
            f'<td class="sq-box"><input hidden autocomplete="off"{mode} '
            f'aria-label="{html.escape(next(labels))}"></td>'
            for _ in question.columns
        )
        rows += f"<tr>{f'<th scope=row>{inline(row)}</th>' if row else ''}{cells}</tr>"
    return (
        f"<div><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"  # stays a table
    )


def widget_form(question: Calculation) -> Any:
    """An ipywidgets box: the question, its fields, two buttons, and what is said."""
    import ipywidgets as widgets

    texts, numbers = with_fields(question), draws(question)
    asked, said = widgets.HTMLMath(), widgets.HTMLMath()
    fields = [
        widgets.Text(
            description=label,
            layout=widgets.Layout(width="auto"),
            style={"description_width": "initial"},
            continuous_update=False,
        )
        for label in question.labels()
    ]
    state: dict[str, Any] = {}

    def another(_button: Any = None) -> None:
        state.update(drawn=next(numbers), tries=0)
        shown = [filled(text, state["drawn"].fields) for text in texts[: 1 + len(question.given)]]
        asked.value = (
            f'{STYLE}{_STYLE}<div class="sq">{_asked(shown[0], shown[1:], new_id("asked", ""))}</div>'
        )
        said.value = ""
        for box in fields:
            box.value = ""

    def check(_button: Any = None) -> None:
        typed = [box.value for box in fields]
        kind, text = judge(question, state["drawn"], typed, state["tries"])
        state["tries"] += kind == "wrong"
        mark = {"right": "<strong>✓ Right.</strong> ", "wrong": "<strong>✗ Not yet.</strong> "}.get(
            kind, ""
        )
        good = " sq-is-right" if kind == "right" else ""
        text = mark + filled(text, state["drawn"].fields)
        said.value = f'{STYLE}<div class="sq sq-answer{good}" role="status">{text}</div>'

    buttons = [widgets.Button(description=name) for name in ("Check", "Other numbers")]
    for button, act in zip(buttons, (check, another), strict=True):
        button.on_click(act)
    another()
    columns = f"repeat({len(question.columns)}, minmax(0, 15rem))"
    grid = widgets.GridBox(fields, layout=widgets.Layout(grid_template_columns=columns))
    return widgets.VBox([asked, grid, widgets.HBox(buttons), said])
