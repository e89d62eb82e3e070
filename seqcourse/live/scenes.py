"""Live figures with a scene that a reader composes: its caption, and questions about it."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy

from seqcourse.errors import CourseError
from seqcourse.live.figure import choice, frame, map_of, png, style, text_field

Placed = tuple[str, float, float, float]  # name, centre x and y, longer side, as in ``data.arrange``
_DARKEST = 0.68  # of what was not looked at, as runtime/looks.js has it


@dataclass(frozen=True)
class _Wanted:
    """A figure as its author calls it; ``run(scene, model, question)`` gives HTML, and that in words."""

    view: str
    models: Mapping[str, str]
    label: str
    things: Sequence[Placed]
    ground: str
    run: Callable[[Any, str, str], tuple[str, str]]
    questions: Sequence[str] = ()


def caption(
    models: Mapping[str, str], label: str, things: Sequence[Placed], ground: str = "plain"
) -> Any:
    """A scene to compose, its caption, and the map of every word while a thing moves.

    Make the call the last line of its cell. In the page a reader may also show a picture of their own.

    Args:
        models: captioners of the zoo and what a reader calls them, ``{"captions-soft": "Soft"}``; one
            of them answers, chosen from a list if there are several.
        label: what the figure is for.
        things: of the first scene, see ``data.arrange``; its caption is in the page.
        ground: of the first scene, a name in ``sheet.grounds()``.

    Raises:
        CourseError: if there is no model, label or thing, or a name is unknown.
    """
    from seqcourse import zoo

    def run(scene: Any, model: str, _question: str) -> tuple[str, str]:
        (found,) = zoo.load(model).caption([scene.image])
        told = f'<p class="sq-told">{html.escape(found.text)}</p>'
        return told + looks(found.tokens, found.maps), found.text

    return _figure(_Wanted("caption", models, label, things, ground, run))


def ask(
    model: str, label: str, things: Sequence[Placed], questions: Sequence[str], ground: str = "plain"
) -> Any:
    """A scene to compose and a question to type: the answer, and the maps of both streams.

    Make the call the last line of its cell. The maps are the mean of the heads of the last layer.

    Args:
        model: a model of the zoo that answers questions.
        label: what to type.
        things, ground: of the first scene, as in :func:`caption`.
        questions: examples; the first one's answer is in the page.

    Raises:
        CourseError: if there is no label, thing or question, or a name is unknown.
    """
    from seqcourse import zoo
    from seqcourse.zoo.tasks import questions as task

    if not questions:
        raise CourseError("A live figure about questions needs at least one question.")

    def run(scene: Any, name: str, question: str) -> tuple[str, str]:
        found = task.answer(zoo.load(name), scene.image, question)
        words, shares = zip(*found.best, strict=True)
        parts = [
            f'<p class="sq-told">{html.escape(found.text)}</p>',
            map_of(words, ["probability"], [[share] for share in shares], "Likeliest answers"),
            '<p class="sq-note">Where each word looks:</p>',
            looks(found.words, found.at_places[-1].mean(0)),
            '<p class="sq-note">How much each place looks at the word:</p>',
            looks(found.words, found.at_words[-1].mean(0).T),
        ]
        return "".join(parts), found.text

    return _figure(_Wanted("ask", {model: "the answers"}, label, things, ground, run, questions))


def _figure(wanted: _Wanted) -> Any:
    """With a kernel a form that PyTorch answers, without one a part of a page."""
    from seqcourse.live.sheet import grounds
    from seqcourse.live.sheet import things as known
    from seqcourse.viz.html import has_widgets

    if not wanted.models or not wanted.label.strip() or not wanted.things:
        raise CourseError("A live figure needs at least one model, a label and a thing.")
    for name in (one[0] for one in wanted.things):
        if name not in known():
            raise CourseError(f"There is no thing {name!r}. There are: {', '.join(known())}.")
    if wanted.ground not in grounds():
        raise CourseError(f"There is no ground {wanted.ground!r}. There are: {', '.join(grounds())}.")
    return _form(wanted) if has_widgets() else _part_of_a_page(wanted)


def _scene(things: Sequence[Placed], ground: str) -> Any:
    from seqcourse import data
    from seqcourse.live.sheet import grounds

    return data.arrange(things, background=grounds()[ground])


def _answered(
    things: Sequence[Placed], ground: str, run: Callable[[Any], tuple[str, str]], handles: str = ""
) -> tuple[str, str]:
    """The scene with what a model says of it, as the page shows it, and that in words."""
    scene = _scene(things, ground)
    picture, (answers, said) = png(scene.image), run(scene)
    names = ", ".join(one[0] for one in things)
    return (
        f'<div class="sq-stage"><img class="sq-photo" src="{picture}" '
        f'width="64" height="64" alt="A scene with {html.escape(names)} on {html.escape(ground)}">'
        f'{handles}</div><div class="sq-answers" '
        f'style="--picture:url({picture})">{answers}</div>',
        said,
    )


def _part_of_a_page(wanted: _Wanted) -> Any:
    """The first scene, whose things start the models when they are pressed."""
    from seqcourse.viz.html import Shown, new_id

    models, label, questions = wanted.models, wanted.label, wanted.questions
    things, ground = list(wanted.things), wanted.ground
    model, first = next(iter(models)), questions[0] if questions else ""
    name = new_id("live", wanted.view + label + json.dumps(things))
    fields = ""
    if questions:
        fields = text_field(name, label, first, longest=200)
    elif len(models) > 1:
        fields = choice("Captioner", "model", models)
    handles = "".join(
        f'<button type="submit" form="{name}-form" class="sq-thing" aria-label="{html.escape(one[0])}" '
        f'style="{_edges(thing.box)}"></button>'
        for one, thing in zip(things, _scene(things, ground).things, strict=True)
    )
    body, said = _answered(things, ground, lambda scene: wanted.run(scene, model, first), handles)
    return frame(
        name,
        wanted.view,
        models,
        label,
        fields,
        Shown(body, f"{label}: {said}"),
        "Ask" if questions else "Move the things",
        questions,
        scene=json.dumps({"ground": ground, "things": things}),
        eager="",
        sizes=json.dumps({model: _size(model) for model in models}),
    )


def _size(model: str) -> str:
    """How much a reader loads: the model, and things and grounds, which base64 makes a third longer."""
    from seqcourse.live.pack import size_of
    from seqcourse.live.sheet import script

    return size_of(model, besides=0.75 * len(script()))


def _edges(box: tuple[int, int, int, int]) -> str:
    """Where a box is on the stage, in per cent of it."""
    x0, y0, x1, y1 = (100 * edge / 64 for edge in box)
    return f"left:{x0:g}%;top:{y0:g}%;width:{x1 - x0:g}%;height:{y1 - y0:g}%"


def looks(words: Sequence[str], maps: Any) -> str:
    """A map over the picture for every word; the same as runtime/looks.js makes."""
    return f'<div class="sq-looks">{"".join(map(_look, words, numpy.asarray(maps)))}</div>'


def _look(word: str, weights: numpy.ndarray) -> str:
    side, top = round(weights.size**0.5), float(weights.max())
    row, column = divmod(int(weights.argmax()), side)
    veil = numpy.zeros((side, side, 2), numpy.uint8)
    veil[..., 1] = (255 * _DARKEST * (1 - weights.reshape(side, side) / top)).round()
    word = html.escape(word)
    return (
        f'<figure class="sq-look"><div class="sq-seen"><img class="sq-photo" alt="{word}: '
        f'largest weight {top:.2f}, in row {row + 1}, column {column + 1} of {side}" '
        f'src="{png(veil)}" width="{side}" height="{side}"></div>'
        f"<figcaption>{word} <small>{top:.2f}</small></figcaption></figure>"
    )


def _form(wanted: _Wanted) -> Any:
    """An ipywidgets form: for each thing what it is, its place and its size; the ground, the model."""
    import ipywidgets as widgets

    from seqcourse.live import sheet
    from seqcourse.viz.html import STYLE

    wide = {"style": {"description_width": "initial"}}
    slider = partial(widgets.IntSlider, continuous_update=False, **wide)

    def row(one: Placed) -> list[Any]:
        name, x, y, side = one
        return [
            widgets.Dropdown(options=list(sheet.things()), value=name, description="Thing", **wide),
            slider(int(x), 0, sheet.SIZE, description="across"),
            slider(int(y), 0, sheet.SIZE, description="down"),
            slider(int(side), 10, 56, description="size"),
        ]

    models, questions = wanted.models, wanted.questions
    rows = [row(one) for one in wanted.things]
    on = widgets.Dropdown(
        options=list(sheet.grounds()), value=wanted.ground, description="Ground", **wide
    )
    model = widgets.Dropdown(options={said: key for key, said in models.items()}, description="Model")
    asked = widgets.Combobox(
        value=questions[0] if questions else "",
        options=list(questions),
        description=wanted.label,
        **wide,
    )
    shown = widgets.HTML()
    look = STYLE + style()

    def update(_change: Any = None) -> None:
        placed = [tuple(part.value for part in parts) for parts in rows]
        try:
            body, _ = _answered(
                placed, on.value, lambda scene: wanted.run(scene, model.value, asked.value)
            )
        except CourseError as error:
            body = f'<p class="sq-answer">{html.escape(str(error))}</p>'
        shown.value = f'{look}<div class="sq"><div class="sq-live">{body}</div></div>'

    update()
    further = [on, *([model] if len(models) > 1 else []), *([asked] if questions else [])]
    for part in [*further, *(part for parts in rows for part in parts)]:
        part.observe(update, names="value")
    wrap = widgets.Layout(flex_flow="row wrap")
    return widgets.VBox([*(widgets.HBox(parts, layout=wrap) for parts in [*rows, further]), shown])
