"""The frame of every live figure: a form with a kernel, a part of a page without one."""

from __future__ import annotations

import base64
import html
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqcourse.errors import CourseError

if TYPE_CHECKING:
    import numpy

    from seqcourse.viz.html import Shown

RUNTIME = Path(__file__).parent / "runtime"


def figure(
    view: str,
    models: Mapping[str, str],
    label: str,
    examples: Sequence[str],
    run: Callable[[str], Shown],
    controls: str = "",
    **options: Any,
) -> Any:
    """A figure that answers a text: with a kernel by ``run(text)``, in a page by a view of the runtime.

    Args:
        view: its name in ``live.views`` of the runtime.
        models: of the zoo, and what a reader calls them.
        label: what to type.
        examples: texts; the answer to the first one is in the page.
        run: computes an answer with PyTorch.
        controls: more fields of the form, as HTML.
        options: attributes ``data-...`` that the view reads.

    Raises:
        CourseError: if there is no model, label or example.
    """
    from seqcourse import viz
    from seqcourse.viz.html import Shown, has_widgets, new_id

    if not models or not label.strip() or not examples:
        raise CourseError("A live figure needs at least one model, a label and an example.")
    if has_widgets():
        return viz.type_in(lambda text: Shown(style() + run(text).body, text), label, examples)
    first, name = run(examples[0]), new_id("live", view + label + "".join(examples))
    said = f"{label}: {examples[0]!r} becomes {first.text}"
    fields, answer = text_field(name, label, examples[0]) + controls, Shown(first.body, said)
    return frame(name, view, models, label, fields, answer, examples=examples, **options)


def frame(
    name: str,
    view: str,
    models: Mapping[str, str],
    label: str,
    fields: str,
    first: Shown,
    button: str = "Run",
    examples: Sequence[str] = (),
    **options: Any,
) -> Shown:
    """The part of a page: a hidden form that the page's script shows, and the first answer.

    Args:
        name: the figure's id.
        view, models, options: as in :func:`figure`.
        label: what the figure is called.
        fields: of the form, as HTML.
        first: the answer that is in the page.
        button: what the form's button says.
        examples: texts to try, each on a button of its own.
    """
    from seqcourse.live.pack import size_of
    from seqcourse.viz.html import Shown

    data = {
        "live": view,
        "models": json.dumps(dict(models), ensure_ascii=False),
        "sizes": json.dumps({model: size_of(model) for model in models}),
        **options,
    }
    given = " ".join(f'data-{key}="{html.escape(str(value))}"' for key, value in data.items())
    return Shown(
        f'<div class="sq sq-card" id="{name}" role="group" aria-label="{html.escape(label)}" {given}>'
        f'<form class="sq-controls" id="{name}-form" hidden>{fields}'
        f'<button type="submit">{html.escape(button)}</button>{_to_try(examples)}</form>'
        f'<progress max="1" value="0" hidden></progress><p role="status"></p>'
        f'<div class="sq-live">{first.body}</div></div>',
        first.text,
    )


def style() -> str:
    """The style sheet of live figures, for a figure with a kernel."""
    return f"<style>{(RUNTIME / 'live.css').read_text(encoding='utf-8')}</style>"


def png(pixels: numpy.ndarray) -> str:
    """A picture as an address that holds it whole."""
    from PIL import Image

    stored = io.BytesIO()
    Image.fromarray(pixels).save(stored, format="png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stored.getvalue()).decode()


def _to_try(examples: Sequence[str]) -> str:
    made = "".join(f'<button type="button" lang="en">{html.escape(text)}</button>' for text in examples)
    return f'<p class="sq-examples">Try: {made}</p>' if examples else ""


def text_field(name: str, label: str, text: str, longest: int | None = None, key: str = "text") -> str:
    """A control of the form of the figure ``name``: a text to type, and what it says at first."""
    limit = f'maxlength="{longest}" ' if longest else ""
    return (
        f'<label for="{name}-{key}">{html.escape(label)}</label>'
        f'<input id="{name}-{key}" name="{key}" autocomplete="off" lang="en" '
        f'{limit}value="{html.escape(text)}">'
    )


def slider(label: str, name: str, low: float, high: float, step: float, value: float) -> str:
    """A control of a form: a number to choose."""
    return (
        f'<label class="sq-control">{label} <input type="range" name="{name}" min="{low}" max="{high}" '
        f'step="{step}" value="{value}"><output>{value}</output></label>'
    )


def map_of(rows: Sequence[str], columns: Sequence[str], weights: Any, caption: str) -> str:
    """Weights as a table: the larger a weight, the darker its cell. Below 0.005 a cell is empty."""
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in columns)
    body = ""
    for word, row in zip(rows, weights, strict=True):
        cells = "".join(
            f'<td style="--w:{w:.3f}">{"" if w < 0.005 else f"{w:.2f}"}</td>' for w in map(float, row)
        )
        body += f'<tr><th scope="row">{html.escape(word)}</th>{cells}</tr>'
    return (
        f'<div class="sq-scroll"><table class="sq-weights"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def bars_of(caption: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Probabilities as a table with bars: word, share, note. A row with a note is pale."""
    body = ""
    for word, share, note in rows:
        pale = ' class="sq-pale"' if note else ""
        body += (
            f'<tr{pale}><th scope="row">{html.escape(word)}</th>'
            f'<td style="--w:{share:.3f}">{share:.3f}</td><td>{html.escape(note)}</td></tr>'
        )
    return (
        f'<table class="sq-bars"><caption>{html.escape(caption)}</caption><tbody>{body}</tbody></table>'
    )


def percent(share: float) -> str:
    """A share as a reader reads it; what is not quite 0 or 1 says so."""
    if share < 0.005:
        return "<1\u00a0%"
    return ">99\u00a0%" if share >= 0.995 else f"{math.floor(100 * share + 0.5)}\u00a0%"


def choice(label: str, name: str, options: Mapping[str, str]) -> str:
    """A control of a form: one of ``{value: what a reader calls it}``, and the first one at first."""
    made = "".join(
        f'<option value="{value}">{html.escape(text)}</option>' for value, text in options.items()
    )
    return f'<label class="sq-control">{label} <select name="{name}">{made}</select></label>'
