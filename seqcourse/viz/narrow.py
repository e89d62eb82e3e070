"""A figure once more for a phone: as wide as its screen, labels as large, panels below each other.

The wide form of a figure carries the narrow one behind its own end, where no viewer reads on: so a
notebook needs no code for it, and the site's pages (`seqcourse.pages.figures`) show one or the other.
"""

from __future__ import annotations

import base64
import io
import itertools
import pickle
import re
import textwrap
import warnings
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

WIDTH = 3.6  # inches, of 96 CSS pixels: what a phone of 390 pixels has beside its margins
WIDEST = 3.85  # a figure that needs more does not fit, and scrolls as the wide form does
SLIMMEST = 0.75  # nor does one whose names leave a panel less
LEAST = 8.25  # points: 11 CSS pixels
TALLEST = 2.6  # inches of an ordinary panel
NUMBER = re.compile(r"[-\u2212]?[\d.,]+%?|\$.*\$")


def with_narrow(shown: str, figure: Figure, form: str) -> str:
    """What a notebook shows of a figure (an SVG, or a PNG in base64) with the narrow form at its end."""
    small = narrow(figure, form)
    if small is None:
        return shown
    end = f"<!--narrow {base64.b64encode(small).decode()}-->"
    if form == "svg":
        return shown + end
    return base64.b64encode(base64.b64decode(shown) + end.encode()).decode()


def narrow(figure: Figure, form: str) -> bytes | None:
    """A figure drawn for a phone, as a file; None if it is narrow as it is, or does not fit."""
    copy = arranged(figure)
    if copy is None:
        return None
    file = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else None
    copy.savefig(file, format=form, dpi=192, bbox_inches="tight", pad_inches=0.04, metadata=metadata)
    return file.getvalue()


def arranged(figure: Figure) -> Figure | None:
    """A figure's copy for a phone; None if the figure is narrow as it is, or does not fit."""
    if figure.get_size_inches()[0] <= WIDTH:
        return None
    manager, figure.canvas.manager = figure.canvas.manager, None  # a copy is no figure of pyplot's
    try:
        kept = pickle.dumps(figure)
    except (pickle.PicklingError, AttributeError, TypeError):  # a function inside it is no module's
        return None
    finally:
        figure.canvas.manager = manager
    for columns in (9, 1):  # as many as seem to fit, else one
        copy = pickle.loads(kept)
        with warnings.catch_warnings(action="ignore"):  # of a layout that does not fit: seen below
            copy.draw_without_rendering()
            before = _collisions(copy)
            _rearrange(copy, columns)
        slim = any(_inches(ax)[0] < SLIMMEST for ax in copy.axes if ax.axison and not _is_bar(ax))
        if not slim and copy.get_tightbbox().width <= WIDEST and _collisions(copy) <= before:
            return copy
    return None


def _rearrange(figure: Figure, most: int = 9) -> None:
    """Panels below each other, smaller but readable text, legends above, names that do not collide."""
    width, height = figure.get_size_inches()
    for text in figure.findobj(Text):
        text.set_fontsize(max(0.9 * text.get_fontsize(), LEAST))
    for ax in figure.axes:
        if not ax.axison and not ax.has_data() and not ax.texts:
            ax.remove()  # the end of a grid that is not full
    panels = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    before = {ax: _inches(ax)[1] for ax in panels}
    across, rows = _stack(figure, panels, width, height, most)
    legends = {ax: ax.get_legend() for ax in panels if ax.get_legend() and ax.get_legend().get_visible()}
    for legend in legends.values():
        legend.set_visible(False)
    figure.set_layout_engine("constrained")
    figure.set_size_inches(WIDTH, rows)
    room = WIDTH / across - (0.65 if across == 1 else 0.1)
    for text in (figure._suptitle, figure._supxlabel):
        _wrap(text, WIDTH - 0.2)
    for ax in figure.axes:
        for text in (*_titles(ax).values(), ax.xaxis.label):
            _wrap(text, room)
    _lay_out(figure)
    crowded = [ax for ax in panels if _inches(ax)[0] < room / 2 and not _shaped(ax)]
    for ax in crowded:
        names = [textwrap.fill(label.get_text(), 16) for label in ax.get_yticklabels()]
        ax.set_yticks(ax.get_yticks(), names)
    if crowded:
        _lay_out(figure)
    for ax in panels:
        _part(ax)
        if ax in legends:
            _legend_above(ax, legends[ax])
    _lay_out(figure)
    # What legends and names took from the panels comes on top.
    flat = [ax for ax in panels if not _shaped(ax)]
    lost = max([0.0, *(min(before[ax], TALLEST - 0.8) - _inches(ax)[1] for ax in flat)])
    rows += lost * len(panels) / across
    for _ in range(6):
        figure.set_size_inches(WIDTH, rows)
        _lay_out(figure)
        if not _collisions(figure):
            break
        rows *= 1.2
    for ax in panels:
        _wrap(ax.yaxis.label, _inches(ax)[1] + 0.3)


def _lay_out(figure: Figure) -> None:
    """Give every panel its place, as a drawing of the figure would, but draw nothing."""
    figure.get_layout_engine().execute(figure)


def _inches(ax: Axes) -> tuple[float, float]:
    """How wide and high a panel is, without its names."""
    place, (width, height) = ax.get_position(), ax.figure.get_size_inches()
    return place.width * width, place.height * height


def _titles(ax: Axes) -> dict[str, Text]:
    return {"center": ax.title, "left": ax._left_title, "right": ax._right_title}


def _is_bar(ax: Axes) -> bool:
    """Whether it only explains colours."""
    return hasattr(ax, "_colorbar")


def _shaped(ax: Axes) -> bool:
    """Whether a panel's squares have to stay square."""
    return ax.get_aspect() != "auto"


def _has_short_names(ax: Axes) -> bool:
    names = (*ax.get_xticklabels(), *ax.get_yticklabels()) if ax.axison else ()
    return all(len(name.get_text()) <= 3 for name in names)


def _stack(
    figure: Figure, panels: list[Axes], width: float, height: float, most: int
) -> tuple[int, float]:
    """Put the panels of a grid into at most `most` columns; how many, and the height that they need."""
    if not panels:
        return 1, height * WIDTH / width
    grid = panels[0].get_subplotspec().get_topmost_subplotspec().get_gridspec()
    across = 1
    if all(_shaped(ax) and _has_short_names(ax) for ax in panels):  # they may become smaller
        across = max(1, min(grid.ncols, most, int(2 * WIDTH * grid.ncols / width)))
    ratios = grid.get_height_ratios()
    natural = [
        height * sum(ratios[row] for row in ax.get_subplotspec().rowspan) / sum(ratios) for ax in panels
    ]
    shrunk = min(1.0, (WIDTH / across) / (width / grid.ncols))
    high = [
        own * shrunk if _shaped(ax) or ax.images else min(own, TALLEST)
        for ax, own in zip(panels, natural, strict=True)
    ]
    rows = [max(high[k : k + across]) for k in range(0, len(panels), across)]
    if across < grid.ncols:
        new = GridSpec(len(rows), across, figure=figure, height_ratios=rows)
        firsts = {ax.get_subplotspec().rowspan.start: ax for ax in reversed(panels)}
        names = {ax: firsts[ax.get_subplotspec().rowspan.start].get_ylabel() for ax in panels}
        for place, ax in enumerate(panels):
            if across == 1 and len(ax.get_shared_y_axes().get_siblings(ax)) > 1:
                ax.tick_params(labelleft=True)
                ax.set_ylabel(names[ax])
            if len(ax.get_shared_x_axes().get_siblings(ax)) > 1:
                ax.tick_params(labelbottom=True)
            ax.set_subplotspec(new[place // across, place % across])
    return across, sum(rows)


def _wrap(text: Text | None, room: float) -> None:
    """Break a text where its line would be longer than `room` inches."""
    if text is None or not text.get_text() or "$" in text.get_text():
        return
    said = text.get_text().replace("\n", " ")
    box = text.get_window_extent()
    long = max(box.width, box.height) / text.figure.dpi
    if long > room:
        text.set_text(textwrap.fill(said, max(12, int(len(said) * room / long))))


def _legend_above(ax: Axes, old: Legend) -> None:
    """A legend stands above its panel, in as many columns as fit."""
    labels = [text.get_text() for text in old.get_texts()]
    handles, known = ax.get_legend_handles_labels()
    if known != labels:
        handles = old.legend_handles
    room = _inches(ax)[0]
    for columns in range(min(len(labels), 4), 0, -1):
        new = ax.legend(
            handles,
            labels,
            title=old.get_title().get_text(),
            ncols=columns,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            fontsize=LEAST + 0.25,
            handlelength=min(old.handlelength, 2.4),
            columnspacing=1.0,
            borderaxespad=0.2,
            borderpad=0.1,
            labelspacing=0.3,
        )
        box = new.get_window_extent()
        over = box.width / ax.figure.dpi - room
        if over <= 0.05:
            break
    if over > 0:
        new.set_bbox_to_anchor((-over / room, 1), ax.transAxes)
    for place, title in _titles(ax).items():
        if title.get_text():
            size, above = title.get_fontsize(), box.height / ax.figure.dpi * 72 + 6
            ax.set_title(title.get_text(), loc=place, pad=above, fontsize=size)


def _part(ax: Axes) -> None:
    """What would collide: names stand aslant, numbers of an axis become fewer, those in squares go."""
    labels = [label for label in ax.get_xticklabels() if label.get_visible() and label.get_text()]
    if _overlaps(labels) and not any(label.get_rotation() for label in labels):
        if all(NUMBER.fullmatch(label.get_text()) for label in labels):
            if isinstance(ax.xaxis.get_major_locator(), FixedLocator):
                for label in labels[1::2]:
                    label.set_visible(False)
            else:
                ax.locator_params(axis="x", nbins=4)
        else:
            above = ax.xaxis.get_ticks_position() == "top"
            for label in labels:
                label.set(rotation=40, ha="left" if above else "right", rotation_mode="anchor")
    if ax.images and _overlaps(ax.texts):
        for text in ax.texts:
            text.set_visible(False)
    elif ax.containers and _overlaps(ax.texts):
        for text in ax.texts:
            text.set(rotation=90)
        ax.margins(y=0.25)


def _collisions(figure: Figure) -> int:
    """How many pairs of words in the panels, and of names at their left, lie over each other."""
    found = 0
    for ax in figure.axes:
        names = [label for label in ax.get_yticklabels() if label.get_text()] if ax.axison else []
        found += _overlaps(names) + (0 if ax.images else _overlaps(ax.texts))
    return found


def _overlaps(texts: Iterable[Text]) -> int:
    boxes = [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]
    return sum(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
