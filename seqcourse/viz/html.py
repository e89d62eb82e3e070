"""HTML that a notebook shows: ids, a small style sheet, inline marks, results made into HTML."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import itertools
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.settings import is_static
from seqcourse.viz.roles import for_widgets

_COUNTER = itertools.count(1)
FRAME_BYTES = 60_000  # a frame that is heavier is saved again with fewer dots


def style(name: str) -> str:
    """A style sheet of the folder `styles`, for an output to bring along."""
    text = (Path(__file__).parent / "styles" / f"{name}.css").read_text(encoding="utf-8")
    return f"<style>\n{text}</style>"


# The theme's own variables first, then JupyterLab's, then plain values: light and dark come free.
STYLE = style("card").replace("LIGHT", for_widgets(dark=False)).replace("DARK", for_widgets(dark=True))


class Shown:
    """Something a notebook shows as HTML; in a terminal it prints its plain text."""

    def __init__(self, body: str, text: str) -> None:
        self.body = body
        self.text = text

    def _repr_html_(self) -> str:
        return STYLE + self.body

    def __repr__(self) -> str:
        return self.text


def new_id(kind: str, content: str) -> str:
    """An id that is new in this process, and differs between notebooks shown on one page."""
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    return f"sq-{kind}-{next(_COUNTER)}-{digest}"


def has_widgets() -> bool:
    """True where widgets answer: a kernel runs, and the book is not being built."""
    if is_static():
        return False
    try:
        import ipywidgets  # noqa: F401
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


def inline(text: str) -> str:
    """Text as HTML with four marks: `code`, *emphasis*, $mathematics$ and [links](page.html#section)."""
    pieces = re.split(r"(`[^`]+`|\$[^$\s](?:[^$]*[^$\s])?\$)", text)
    made = []
    for piece in pieces:
        if len(piece) > 2 and piece[0] == piece[-1] == "`":
            made.append(f"<code>{html.escape(piece[1:-1])}</code>")
        elif len(piece) > 2 and piece[0] == piece[-1] == "$":
            math = html.escape(piece[1:-1])
            made.append(f'<span class="math notranslate nohighlight">\\({math}\\)</span>')
        else:
            piece = html.escape(piece)
            piece = re.sub(r"\*([^*\s](?:[^*]*[^*\s])?)\*", r"<em>\1</em>", piece)
            made.append(re.sub(r"\[([^\]]+)\]\(([\w.#-]+)\)", r'<a href="\2">\1</a>', piece))
    return "".join(made)


def plain(text: str) -> str:
    """The same text without its marks, for places that show no HTML."""
    return re.sub(r"`([^`]+)`|\*([^*\s][^*]*)\*|\$([^$]+)\$", r"\1\2\3", text)


def render(call: Callable[[], Any], alt: str) -> str:
    """Run ``call`` and return what it made as HTML; every figure it opened is closed again.

    A figure (or axes) becomes an image with the text ``alt``; an object with ``_repr_html_`` its
    HTML; anything else its text. What was printed comes first. Raises CourseError when the call
    returned nothing, drew nothing and printed nothing.
    """
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            result = call()
        opened = [number for number in plt.get_fignums() if number not in before]
        figure = _figure_of(result)
        if figure is None and result is None and opened:
            figure = plt.figure(opened[-1])
        parts = []
        if printed.getvalue().strip():
            parts.append(f'<pre class="sq-print">{html.escape(printed.getvalue().rstrip())}</pre>')
        if figure is not None:
            parts.append(image_tag(figure, alt))
        elif hasattr(result, "_repr_html_") and result._repr_html_() is not None:
            parts.append(result._repr_html_())
        elif result is not None:
            parts.append(f'<p class="sq-text">{html.escape(str(result))}</p>')
        if not parts:
            raise CourseError(
                "The function made nothing to show: it should return a figure, axes or a text, "
                "or draw with matplotlib."
            )
        return "".join(parts)
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def image_tag(figure: Any, alt: str) -> str:
    """The figure as an ``<img>`` whose data stands in the page itself, at double resolution.

    PNG; a figure that would be heavier than 60 kB (a photograph) becomes a JPEG or gets fewer dots. One
    whose label is "photograph" keeps its colours on a dark page.
    """
    photo = ' class="sq-photo"' if figure.get_label() == "photograph" else ""
    width, height, data = _frame(figure)
    tag = (
        f'<img{photo} src="{data}" alt="{html.escape(alt)}" width="{width}" height="{height}" '
        'decoding="sync">'
    )
    if not is_static():
        return tag
    from seqcourse.viz.narrow import arranged

    copy = arranged(figure)
    if copy is None:
        return tag
    width, height, data = _frame(copy)
    small = f'media="screen and (max-width: 600px)" srcset="{data}" width="{width}" height="{height}"'
    return f"<picture><source {small}>{tag}</picture>"


def _frame(figure: Any) -> tuple[int, int, str]:
    """Width and height of a figure in CSS pixels, and its data, with fewer dots where it is heavy."""
    for dots in (192, 144, 96):
        kind, data, size = _encoded(_drawn(figure, dots), figure.get_label() == "photograph")
        if len(data) <= FRAME_BYTES:
            break
    width, height = (round(96 / dots * side) for side in size)
    return width, height, f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _drawn(figure: Any, dots: int) -> bytes:
    raw = io.BytesIO()
    figure.savefig(raw, format="png", dpi=dots, facecolor="white")
    return raw.getvalue()


def _encoded(drawn: bytes, photograph: bool) -> tuple[str, bytes, tuple[int, int]]:
    """A figure's bytes: PNG with a palette (a third of the size), or JPEG where PNG is heavy."""
    from PIL import Image

    with Image.open(io.BytesIO(drawn)) as picture:
        whole = picture.convert("RGB")
    flat, photo = io.BytesIO(), io.BytesIO()
    whole.quantize(colors=128, dither=Image.Dither.NONE).save(flat, format="png", optimize=True)
    if len(flat.getvalue()) <= FRAME_BYTES and not photograph:
        return "png", flat.getvalue(), whole.size
    whole.save(photo, format="jpeg", quality=80)
    if photograph or len(photo.getvalue()) < len(flat.getvalue()):
        return "jpeg", photo.getvalue(), whole.size  # a palette of 128 turns a tomato into an orange
    return "png", flat.getvalue(), whole.size


def _figure_of(result: Any) -> Any:
    """The figure behind a figure, an axes, or a list, tuple or array of axes; None otherwise."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if hasattr(result, "flat"):
        result = list(result.flat)
    if isinstance(result, (list, tuple)) and result and isinstance(result[0], (Axes, Figure)):
        result = result[0]
    if isinstance(result, Axes):
        result = result.get_figure(root=True) if _has_subfigures() else result.figure
    return result if isinstance(result, Figure) else None


def _has_subfigures() -> bool:
    """matplotlib 3.10 and later can climb from a subfigure to its figure."""
    import matplotlib

    return tuple(int(part) for part in matplotlib.__version__.split(".")[:2]) >= (3, 10)
