"""A text box that runs a function: translate a sentence, spell a word, continue a text."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_labels
from seqcourse.viz.explore import static_form as explore_page
from seqcourse.viz.html import STYLE, Shown, has_widgets, render


def type_in(
    run: Callable[[str], Any],
    label: str,
    examples: Sequence[str],
    *,
    alt: str = "The result for: {text}",
) -> Any:
    """A box with a button that shows ``run(text)``; ``examples`` fill it with one click.

    ``run`` returns a text, a figure or axes (``alt`` describes it, with the field ``{text}``), or
    anything that shows itself. Without a kernel the page shows the results of the examples, to be
    chosen from a list. A CourseError from ``run`` is shown as its sentence with a kernel, and
    stops the build of a page. Make the call the last line of its cell. Raises CourseError when
    there is no label or no example.
    """
    if not callable(run):
        raise CourseError("run should be a function that takes a text and returns what to show.")
    if not isinstance(label, str) or not label.strip():
        raise CourseError(f"label should say what to type, but it is {label!r}.")
    texts = as_labels(examples, "examples")
    if not texts:
        raise CourseError("examples should hold at least one text, since the page shows those.")
    if has_widgets():
        return widget_form(run, label, texts, alt)
    return static_form(run, label, texts, alt)


def static_form(run: Callable[[str], Any], label: str, texts: list[str], alt: str) -> Shown:
    """The results of the examples, made beforehand, and a list to choose from."""
    page = explore_page(
        lambda text: run(text),
        lambda text: alt.format(text=text),
        {"text": [(text, text) for text in texts]},
        {"text": 0},
        names={"text": label},
    )
    return Shown(page.body, f"{label}: {len(texts)} examples, {texts[0]!r} shown")


def widget_form(run: Callable[[str], Any], label: str, texts: list[str], alt: str) -> Any:
    """An ipywidgets box: text box, button, examples, result."""
    import ipywidgets as widgets

    box = widgets.Text(
        value=texts[0],
        description=label,
        continuous_update=False,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="auto", flex="1 1 20rem"),
    )
    button = widgets.Button(description="Run", tooltip="Run with the text in the box")
    button.layout = widgets.Layout(width="auto")
    result = widgets.HTML()
    live = widgets.Output()  # runs scripts, which widgets.HTML does not
    last: list[str] = []

    def put(still: str, moving: str = "") -> None:
        data = {"text/html": moving, "text/plain": label}
        display = {"output_type": "display_data", "data": data, "metadata": {}}
        result.value, live.outputs = still, (display,) if moving else ()

    def show(text: str) -> None:
        shown = render(lambda: run(text), alt.format(text=text))
        whole = f'{STYLE}<div class="sq">{shown}</div>'
        put(*(("", whole) if "<script" in shown else (whole, "")))
        last[:] = [text]

    def update(_event: Any = None) -> None:
        if last == [box.value]:
            return
        button.disabled = True
        try:
            show(box.value)
        except CourseError as error:
            put(f'{STYLE}<div class="sq sq-answer">{html.escape(str(error))}</div>')
        except Exception as error:  # a callback's traceback would be lost in a log
            text = html.escape(f"{type(error).__name__}: {error}")
            put(f'{STYLE}<div class="sq"><pre class="sq-print">{text}</pre></div>')
        finally:
            button.disabled = False

    def fill(text: str) -> Any:
        chip = widgets.Button(description=text, tooltip=f"Try: {text}")
        chip.layout = widgets.Layout(width="auto", max_width="100%")
        chip.on_click(lambda _button: setattr(box, "value", text))
        return chip

    show(texts[0])  # an error in the first example stops the cell
    box.observe(update, names="value")
    button.on_click(update)
    wrap = widgets.Layout(flex_flow="row wrap")
    rows = [widgets.HBox([box, button], layout=wrap)]
    if len(texts) > 1:
        rows.append(widgets.HBox([fill(text) for text in texts], layout=wrap))
    return widgets.VBox([*rows, result, live])
