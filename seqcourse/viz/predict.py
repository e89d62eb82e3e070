"""A question in front of a figure: the answer is laid over the reader's guess."""

from __future__ import annotations

import json
from typing import Any

from seqcourse.viz.html import STYLE, Shown, has_widgets, inline, new_id, plain
from seqcourse.viz.poll import spoken
from seqcourse.viz.poll import static_form as poll_form
from seqcourse.viz.poll import widget_form as poll_widget
from seqcourse.viz.predictions import PREDICTIONS, Prediction, judge, load_prediction, shares
from seqcourse.viz.predictions.chart import BOTTOM, TOP, chart

SCRIPT = PREDICTIONS / "predict.js"
ASK, SHOW = "This is my guess", "Show me"
_STYLE = """<style>
.sq-predict svg{display:block;width:100%;max-width:30rem;height:auto;color:inherit}
.sq-predict svg text{font:13px system-ui,sans-serif;fill:currentColor;text-anchor:middle}
.sq-predict svg text.sq-end{text-anchor:end}
.sq-predict :is(.sq-known path,.sq-axis){fill:none;stroke:var(--sq-muted,currentColor);stroke-width:1.5}
.sq-predict .sq-known rect{fill:var(--sq-line)}
.sq-predict .sq-guess :is(rect,path){fill:none;stroke:var(--sq-q);stroke-width:2.5;stroke-dasharray:5 3}
.sq-predict .sq-truth rect{fill:var(--sq-y)}
.sq-predict .sq-truth path{fill:none;stroke:var(--sq-y);stroke-width:2.5}
.sq-predict .sq-controls .sq-controls{margin:0}.sq-predict button{font:inherit;color:inherit;
 cursor:pointer;background:var(--sq-soft);border:1px solid var(--sq-line);border-radius:4px;
 padding:.25rem .8rem}
.sq.sq-card.sq-predict .sq-show{margin:.5rem 0 0;padding:0;border:0;background:none}
.sq-predict .sq-show summary{cursor:pointer}.sq-predict [role=status]:not(:empty){margin:.4rem 0}
.sq-predict[data-guessed] .sq-key::before{content:"";display:inline-block;width:1.4em;
 border-top:2.5px dashed var(--sq-q);vertical-align:middle;margin-right:.4em}
.sq-predict:not([data-ready]) .sq-guess{display:none}
.bd-article [hidden=until-found]{display:block!important;content-visibility:hidden}
@media screen{.sq-predict[data-ready]:not([data-open]) .sq-truth{display:none}}
@media print{.sq-predict:not([data-guessed]) .sq-guess,.sq-predict :is([role=status],.sq-controls){
 display:none}
 .bd-article [hidden=until-found]{content-visibility:visible}}
</style>"""
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
    said = f"{inline(found['answer'])}: {inline(found['options'][found['answer']])}"
    if has_widgets():
        return _with_show(poll_widget(**asked), f"<p>{said}</p>")
    shown = poll_form(**asked, asked=f"prediction/{name}", more=_SHOW.format(f"<p>{said}</p>"))
    body = shown.body.replace("sq-poll", "sq-poll sq-predict", 1)
    return Shown(_page(body.replace('-question">', f'-question">{_KIND}', 1)), shown.text)


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
