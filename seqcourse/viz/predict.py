"""A question in front of a figure: the answer is laid over the reader's guess."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any

from seqcourse.viz.html import STYLE, Shown, has_widgets, inline, new_id, plain, style
from seqcourse.viz.poll import spoken
from seqcourse.viz.poll import static_form as poll_form
from seqcourse.viz.poll import widget_form as poll_widget
from seqcourse.viz.predictions import PREDICTIONS, Prediction, judge, load_prediction, shares

WIDTH, LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 360, 52, 340, 22, 150, 180  # of the drawing
SCRIPT = PREDICTIONS / "predict.js"
ASK, SHOW = "This is my guess", "Show me"
_STYLE = style("predict")
_KIND = '<span class="sq-kind">Predict</span>'
_SHOW = f'<details class="sq-show"><summary>{SHOW}</summary>{{}}</details>'


def predict(name: str) -> Any:
    """Ask for a guess before the figure that follows, for example "07-windows".

    In the built page the figure opens with the guess or with "Show me"; without a script, and on paper,
    all is open. Make the call the last line of its cell, in front of the figure's cells, one of which
    calls ``predicted``. Raises CourseError when there is no such prediction.
    """
    found = load_prediction(name)
    if isinstance(found, Prediction):
        return widget_form(found) if has_widgets() else static_form(found)
    asked = {key: found[key] for key in ("question", "options", "answer")}
    said = f"<strong>{inline(found['answer'])}.</strong> {inline(found['options'][found['answer']])}"
    if has_widgets():
        return _with_show(poll_widget(**asked), f"<p>{said}</p>")
    shown = poll_form(**asked, asked=f"prediction/{name}", more=_SHOW.format(f"<p>{said}</p>"))
    body = shown.body.replace("sq-poll", "sq-poll sq-predict", 1)
    body = re.sub(r'(<p class="sq-question"[^>]*>)', rf"\1{_KIND}", body, count=1)
    return Shown(_page(body), shown.text)


def static_form(prediction: Prediction) -> Shown:
    """HTML with the answer folded; a script lays it over the guess."""
    root = new_id("predict", prediction.name)
    told = {
        "row": prediction.row,
        "truth": prediction.truth,
        "near": prediction.near,
        "wrong": [shares(x) if prediction.row else x for x, _ in prediction.wrong],
        "scale": [prediction.low, prediction.high, BOTTOM, TOP],
        "unit": prediction.unit,
    }
    sliders = "".join(_slider(prediction, i, root) for i in prediction.guessed)
    sentences = [prediction.so, *(why for _, why in prediction.wrong)]
    body = (
        f'<div class="sq sq-card sq-predict tex2jax_process" id="{root}" role="group" '
        f'data-asked="prediction/{prediction.name}" aria-labelledby="{root}-asked">'
        f'<p class="sq-question" id="{root}-asked">{_KIND}{inline(prediction.question)}</p>'
        f'<div class="sq-controls" hidden>{sliders}'
        f'<button type="button">{ASK}</button></div><div role="status"></div>'
        f"{_SHOW.format(f'{chart(prediction)}<p>{inline(prediction.so)}</p>')}"
        f"<div hidden>{''.join(f'<p>{inline(text)}</p>' for text in sentences)}</div>"
        f'<script type="application/json">{json.dumps(told, separators=(",", ":"))}</script></div>'
    )
    return Shown(_page(body), plain(prediction.question))


def _page(body: str) -> str:
    return f"{_STYLE}{body}<script data-once>\n{SCRIPT.read_text(encoding='utf-8')}</script>\n"


def _range(prediction: Prediction) -> tuple[float, float, float, float]:
    """Low and high end, step and first place of a slider: a row's are heights from 0 to 10."""
    if prediction.row:
        return 0, 10, 1, 5
    return prediction.low, prediction.high, prediction.step, prediction.start


def _slider(prediction: Prediction, column: int, root: str) -> str:
    low, high, step, start = _range(prediction)
    name = f"{inline(prediction.columns[column])} {prediction.of}".strip()
    return (
        f'<span class="sq-control"><label for="{root}-{column}">{name}'
        f'</label><input type="range" id="{root}-{column}" min="{low:g}" max="{high:g}" step="{step:g}" '
        f'value="{start:g}"><output for="{root}-{column}"></output></span>'
    )


def widget_form(prediction: Prediction) -> Any:
    """An ipywidgets box: the question, the drawing, a slider for each column, and what is said."""
    import ipywidgets as widgets

    low, high, step, start = _range(prediction)
    asked, drawn, said = widgets.HTMLMath(), widgets.HTML(), widgets.HTMLMath()
    asked.value = f'{STYLE}{_STYLE}<div class="sq"><b>{inline(prediction.question)}</b></div>'
    sliders = [
        widgets.FloatSlider(
            value=start, min=low, max=high, step=step, description=plain(prediction.columns[i])
        )
        for i in prediction.guessed
    ]
    button = widgets.Button(description=ASK)

    def guess() -> list[float]:
        found = [slider.value for slider in sliders]
        return shares(found) if prediction.row else found

    def draw(_change: Any = None, seen: bool = False) -> None:
        ready = " data-ready data-open data-guessed"
        drawn.value = (
            f'{STYLE}<div class="sq sq-predict"{ready}>{chart(prediction, guess(), seen)}</div>'
        )

    def tell(_button: Any) -> None:
        number = judge(prediction, guess())
        text = prediction.wrong[number - 1][1] if number else prediction.so
        said.value = f'{STYLE}<div class="sq">{spoken(not number, text)}</div>'
        draw(seen=True)

    for slider in sliders:
        slider.observe(draw, names="value")
    button.on_click(tell)
    draw()
    box = widgets.VBox([asked, drawn, *sliders, button, said])
    return _with_show(box, f"{chart(prediction)}<p>{inline(prediction.so)}</p>")


def _with_show(box: Any, answer: str) -> Any:
    """The same box with the answer folded below: HTML that needs no kernel to open."""
    import ipywidgets as widgets

    shown = f'{STYLE}{_STYLE}<div class="sq sq-card sq-predict">{_SHOW.format(answer)}</div>'
    box.children = (*box.children, widgets.HTMLMath(shown))
    return box


def chart(prediction: Prediction, guess: Sequence[float] = (), seen: bool = True) -> str:
    """The columns as SVG, without what was measured unless ``seen``; ``predict.js`` moves the guess."""
    truth, given = prediction.truth, prediction.given
    at = [LEFT + (RIGHT - LEFT) / len(truth) * (i + 0.5) for i in range(len(truth))]
    half = min(0.36 * (RIGHT - LEFT) / len(truth), 34)

    def y(value: float) -> float:
        share = (value - prediction.low) / (prediction.high - prediction.low)
        return round(BOTTOM - (BOTTOM - TOP) * share, 1)

    def bar(i: int, value: float, half: float) -> str:
        high = f'y="{y(value)}" height="{BOTTOM - y(value):.1f}"'
        return f'<rect x="{at[i] - half:.1f}" width="{2 * half:.1f}" {high}/>'

    def said(i: int, right: float = 0, down: float = -6) -> str:
        where = f'x="{at[i] + right:.1f}" y="{y(truth[i]) + down:.1f}"'
        return f"<text {where}>{_text(prediction, truth[i])}</text>"

    def path(columns: Sequence[int]) -> str:
        return "M" + " L".join(f"{at[i]:.1f} {y(truth[i])}" for i in columns)

    known, measured = range(given), range(given, len(truth))
    guess = guess or [prediction.low] * len(prediction.guessed)
    if prediction.line:
        begin = f"M{at[given - 1]:.1f} {y(truth[given - 1])} L{at[-1]:.1f} "
        shown = f'<path d="{path(known)}"/>'
        drawn = f'<path data-begin="{begin}" d="{begin}{y(guess[0])}"/>'
        found = f'<path d="{path(range(given - 1, len(truth)))}"/>' + said(-1, 20, 4)
    else:
        shown = "".join(bar(i, truth[i], half) + said(i) for i in known)
        drawn = "".join(bar(i, x, half) for i, x in zip(prediction.guessed, guess, strict=True))
        found = "".join(bar(i, truth[i], half / 2) + said(i) for i in measured)
    names = "".join(
        f'<text x="{x:.1f}" y="{BOTTOM + 20}">{html.escape(plain(name))}</text>'
        for x, name in zip(at, prediction.columns, strict=True)
    )
    if prediction.of:
        names += f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT + 12}">{html.escape(prediction.of)}</text>'
    ends = "".join(
        f'<text class="sq-end" x="{LEFT - 6}" y="{y(value) + 4}">{_text(prediction, value)}</text>'
        for value in (prediction.low, prediction.high)
    )
    told = "Measured: " + ", ".join(
        f"{plain(name)} {_text(prediction, x)}"
        for name, x in zip(prediction.columns, truth, strict=True)
    )
    found, told = (f'<g class="sq-truth">{found}</g>', told) if seen else ("", "Your guess")
    high = HEIGHT + 18 * bool(prediction.of)
    return (
        f'<svg viewBox="0 0 {WIDTH} {high}" role="img" aria-label="{html.escape(told)}.">'
        f'<path class="sq-axis" d="M{LEFT} {TOP} V{BOTTOM} H{RIGHT}"/>{ends}{names}'
        f'<g class="sq-known">{shown}</g><g class="sq-guess">{drawn}</g>{found}</svg>'
    )


def _text(prediction: Prediction, value: float) -> str:
    """A number with its unit."""
    return html.escape(f"{value:g}{prediction.unit}")
