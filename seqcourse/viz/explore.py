"""A figure with choices: sliders and lists in a kernel, frames drawn beforehand in the page."""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.viz.html import STYLE, Shown, has_widgets, new_id, render

GREEK = {"alpha": "\u03b1", "beta": "\u03b2", "gamma": "\u03b3", "tau": "\u03c4"}
MOST_FRAMES = 24  # in a page; about 12 is kinder to the reader's connection

_SCRIPT = """<script>(function(){
var root=document.getElementById("%s");if(!root)return;
var controls=root.querySelectorAll("[data-sq-choice]"),frames=root.querySelectorAll(".sq-frame");
function show(){var key=[];controls.forEach(function(c){key.push(c.value);
var out=root.querySelector('output[for="'+c.id+'"]');
if(out){var name=JSON.parse(c.dataset.labels)[c.value];
out.textContent=name;c.setAttribute("aria-valuetext",name);}});
frames.forEach(function(f){f.hidden=f.dataset.key!==key.join("-");});}
controls.forEach(function(c){c.addEventListener("input",show);});
root.querySelector(".sq-controls").hidden=false;show();})();</script>"""


def explore(
    draw: Callable[..., Any],
    *,
    alt: str | Callable[..., str],
    start: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    **choices: Any,
) -> Any:
    """Let a reader change what a figure shows. Make the call the last line of its cell.

    ``draw(**values)`` returns a figure, axes (or None for the current figure), or a text.
    ``alt`` describes the figure in a sentence: a function of the same values, or a text with
    fields such as ``"temperature {temperature}"``. Every other keyword is a choice: a list or
    range of values, or a mapping from labels to values. Numbers in order become a slider, the rest
    a list. ``start`` gives the values shown first, ``static`` shorter lists for the built page.

    With a kernel the result is an ipywidgets box; otherwise HTML that holds every combination.
    Raises CourseError for an empty choice, an unknown name, or more than 24 frames in a page.
    """
    if not callable(draw):
        raise CourseError("draw should be a function that makes one figure from the choices.")
    table = {name: _options(name, values) for name, values in choices.items()}
    if not table:
        raise CourseError("explore needs at least one choice, such as temperature=[0.5, 1, 2].")
    first = _first(table, start or {})
    if has_widgets():
        return widget_form(draw, alt, table, first)
    for name, values in (static or {}).items():
        if name not in table:
            raise CourseError(f"static names {name!r}, but the choices are {list(table)}.")
        kept = table[name][first[name]][1]
        table[name] = _options(name, values)
        first[name] = _place(table[name], kept) or 0
    return static_form(draw, alt, table, first)


def static_form(
    draw: Callable[..., Any],
    alt: str | Callable[..., str],
    table: Mapping[str, list[tuple[str, Any]]],
    first: Mapping[str, int],
    names: Mapping[str, str] | None = None,
) -> Shown:
    """Self-contained HTML: one frame per combination, the first shown also without JavaScript.

    ``names`` gives the controls other labels than the names of the choices.
    """
    sizes = [len(options) for options in table.values()]
    total = 1
    for size in sizes:
        total *= size
    if total > MOST_FRAMES:
        raise CourseError(
            f"The built page would hold {total} frames ({' x '.join(map(str, sizes))}), and at "
            f"most {MOST_FRAMES} are sensible. Give shorter lists for the page with static=."
        )
    frames = []
    for places in itertools.product(*map(range, sizes)):
        values = _values(table, places)
        key = "-".join(map(str, places))
        hidden = "" if list(places) == list(first.values()) else " hidden"
        text = render(lambda values=values: draw(**values), alt_text(alt, values))
        frames.append(f'<div class="sq-frame" data-key="{key}"{hidden}>{text}</div>')
    root = new_id("explore", "".join(frames))
    controls = "".join(
        _control(f"{root}-{number}", (names or {}).get(name, name), options, first[name])
        for number, (name, options) in enumerate(table.items())
    )
    body = (
        f'<div class="sq sq-card sq-explore" id="{root}" role="group" aria-label="Figure with '
        f'choices"><div class="sq-controls" hidden>{controls}</div>'
        f'<div class="sq-frames" aria-live="polite">{"".join(frames)}</div></div>'
    )
    shown = ", ".join(f"{name} = {table[name][place][0]}" for name, place in first.items())
    return Shown(body + _SCRIPT % root, f"explore: {total} frames, {shown} shown")


def widget_form(
    draw: Callable[..., Any],
    alt: str | Callable[..., str],
    table: Mapping[str, list[tuple[str, Any]]],
    first: Mapping[str, int],
) -> Any:
    """An ipywidgets box: one control per choice and the frame, redrawn when a value changes.

    A frame that was drawn once is kept, so going back is immediate. The image is swapped as a
    whole, so nothing flickers, and no figure stays open.
    """
    import ipywidgets as widgets

    controls = {name: _widget(widgets, name, options, first[name]) for name, options in table.items()}
    frame = widgets.HTML()
    drawn: dict[tuple[int, ...], str] = {}

    def frame_for(places: tuple[int, ...]) -> str:
        if places not in drawn:
            values = _values(table, places)
            drawn[places] = render(lambda: draw(**values), alt_text(alt, values))
        return f'{STYLE}<div class="sq">{drawn[places]}</div>'

    def update(_change: Any = None) -> None:
        try:
            frame.value = frame_for(tuple(control.index for control in controls.values()))
        except Exception as error:  # a callback's traceback would be lost in a log
            text = html.escape(f"{type(error).__name__}: {error}")
            frame.value = f'{STYLE}<div class="sq"><pre class="sq-print">{text}</pre></div>'

    frame.value = frame_for(tuple(first.values()))  # an error in the first drawing stops the cell
    for control in controls.values():
        control.observe(update, names="index")
    row = widgets.HBox(list(controls.values()), layout=widgets.Layout(flex_flow="row wrap"))
    return widgets.VBox([row, frame])


def alt_text(alt: str | Callable[..., str], values: Mapping[str, Any]) -> str:
    """The alternative text for one set of values; raises CourseError when it says nothing."""
    try:
        text = alt(**values) if callable(alt) else alt.format(**values)
    except (KeyError, IndexError) as error:
        raise CourseError(f"alt names the field {error}, but the choices are {list(values)}.") from error
    if not isinstance(text, str) or not text.strip():
        raise CourseError("alt should describe the figure in a sentence, but it is empty.")
    return text


def _options(name: str, values: Any) -> list[tuple[str, Any]]:
    """A choice as a list of (label, value)."""
    if isinstance(values, Mapping):
        options = [(str(label), value) for label, value in values.items()]
    elif isinstance(values, str) or not hasattr(values, "__iter__"):
        raise CourseError(
            f"The choice {name!r} should be a list or range of values, but it is {values!r}."
        )
    else:
        options = [(_label(value), value) for value in values]
    if not options:
        raise CourseError(f"The choice {name!r} has no value to choose from.")
    if len({label for label, _ in options}) < len(options):
        raise CourseError(
            f"Two values of the choice {name!r} have the same label: {[o[0] for o in options]}."
        )
    return options


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _first(table: Mapping[str, list[tuple[str, Any]]], start: Mapping[str, Any]) -> dict[str, int]:
    """The place of the first value of every choice."""
    unknown = [name for name in start if name not in table]
    if unknown:
        raise CourseError(f"start names {unknown[0]!r}, but the choices are {list(table)}.")
    first = dict.fromkeys(table, 0)
    for name, wanted in start.items():
        place = _place(table[name], wanted)
        if place is None:
            raise CourseError(
                f"start asks for {name} = {wanted!r}, which is not among its values "
                f"{[value for _, value in table[name]]}."
            )
        first[name] = place
    return first


def _place(options: list[tuple[str, Any]], wanted: Any) -> int | None:
    """Where a value stands among the options; None when it is not there."""
    return next((place for place, (_, value) in enumerate(options) if value == wanted), None)


def _values(table: Mapping[str, list[tuple[str, Any]]], places: tuple[int, ...]) -> dict[str, Any]:
    pairs = zip(table.items(), places, strict=True)
    return {name: options[place][1] for (name, options), place in pairs}


def _is_scale(options: list[tuple[str, Any]]) -> bool:
    """Three or more numbers that only rise or only fall: a slider says more than a list."""
    values = [value for _, value in options]
    if len(values) < 3 or any(isinstance(v, bool) for v in values):
        return False
    if not all(isinstance(value, Real) for value in values):
        return False
    steps = [b - a for a, b in itertools.pairwise(values)]
    return all(step > 0 for step in steps) or all(step < 0 for step in steps)


def _words(name: str) -> str:
    """What a reader calls a choice."""
    return GREEK.get(name, name.replace("_", " "))


def _control(control_id: str, name: str, options: list[tuple[str, Any]], place: int) -> str:
    label = html.escape(_words(name))
    opening = f'<div class="sq-control"><label for="{control_id}">{label}</label>'
    if _is_scale(options):
        labels = html.escape(json.dumps([label for label, _ in options]))
        now = html.escape(options[place][0])
        return (
            f'{opening}<input type="range" id="{control_id}" data-sq-choice min="0" '
            f'max="{len(options) - 1}" step="1" value="{place}" autocomplete="off" '
            f'data-labels="{labels}" aria-valuetext="{now}">'
            f'<output for="{control_id}">{now}</output></div>'
        )
    items = "".join(
        f'<option value="{i}"{" selected" if i == place else ""}>{html.escape(label)}</option>'
        for i, (label, _) in enumerate(options)
    )
    return f'{opening}<select id="{control_id}" data-sq-choice autocomplete="off">{items}</select></div>'


def _widget(widgets: Any, name: str, options: list[tuple[str, Any]], place: int) -> Any:
    common = {
        "options": options,
        "index": place,
        "description": _words(name),
        "style": {"description_width": "initial"},
    }
    if _is_scale(options):
        return widgets.SelectionSlider(**common, continuous_update=False)
    width = widgets.Layout(width="auto", max_width="100%")
    return widgets.Dropdown(**common, layout=width)
