"""Heat maps, alignments, curves and bars; each returns the matplotlib axes it drew on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array, as_labels
from seqcourse.viz.style import COLOURS, DASHES, DIVERGING, LINES, MARKERS, SEQUENTIAL, figure_axes

_PRINTED_CELLS = 80  # "auto" prints the numbers of a matrix with at most this many cells


def heatmap(
    matrix: Any,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    *,
    xlabel: str,
    ylabel: str,
    label: str,
    ax: Axes | None = None,
    title: str | None = None,
    values: bool | str = "auto",
    vmin: float | None = None,
    vmax: float | None = None,
    diverging: bool = False,
    digits: int = 2,
    colourbar: bool = True,
) -> Axes:
    """A matrix (R, C) as coloured squares, row 0 on top.

    ``rows`` and ``columns`` name the R rows and C columns (None numbers them); ``label`` says what
    the colour measures, with its unit. ``values`` prints the numbers into the squares (``"auto"``:
    when there are at most 80). ``diverging`` puts white at zero, for numbers with a sign.
    Raises CourseError when the labels do not fit the shape.
    """
    matrix = as_array(matrix, "matrix", 2)
    _require(xlabel=xlabel, ylabel=ylabel, label=label)
    for labels, size, name, what in (
        (rows, matrix.shape[0], "rows", "rows (its first dimension)"),
        (columns, matrix.shape[1], "columns", "columns (its second dimension)"),
    ):
        if labels is not None and len(as_labels(labels, name)) != size:
            raise CourseError(
                f"The matrix has {size} {what}, but {name} names {len(labels)}. "
                f"Its shape is {tuple(matrix.shape)}."
            )
    n_rows, n_columns = matrix.shape
    ax = figure_axes(ax, _map_size(n_rows, n_columns, rows))
    if diverging and vmax is None:
        vmax = float(np.nanmax(np.abs(matrix))) or 1.0
    if diverging and vmin is None:
        vmin = -float(vmax)  # type: ignore[arg-type]
    image = ax.imshow(
        matrix, cmap=DIVERGING if diverging else SEQUENTIAL, vmin=vmin, vmax=vmax, aspect="auto"
    )
    _name_ticks(ax.xaxis, columns, n_columns)
    _name_ticks(ax.yaxis, rows, n_rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if title:
        ax.set_title(title)
    if values is True or (values == "auto" and matrix.size <= _PRINTED_CELLS):
        _print_values(ax, image, matrix, digits)
    if colourbar:
        bar = ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.02)
        bar.outline.set_visible(False)  # type: ignore[operator]
    return ax


def alignment(
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    ax: Axes | None = None,
    *,
    title: str | None = None,
    links: Iterable[tuple[int, int]] | None = None,
    values: bool | str = False,
    colourbar: bool = True,
) -> Axes:
    """Attention weights as a picture: target words down, source words across on top.

    ``weights`` (Tp, T): row t holds a_{t,i}, how much target word t looks at source word i; the
    colours always run from 0 to 1, so that maps can be compared. ``links`` outlines the squares of
    an alignment made by hand, as pairs (source index, target index) counted from 0.
    Raises CourseError when the words and the shape do not fit, and says which.
    The form of the figure goes back to Bahdanau et al. (2015), figure 3.
    """
    weights = as_array(weights, "weights", 2)
    source = as_labels(source_tokens, "source_tokens")
    target = as_labels(target_tokens, "target_tokens")
    _check_alignment(weights.shape, len(source), len(target))
    ax = heatmap(
        weights,
        target,
        source,
        xlabel="source",
        ylabel="target",
        label="attention weight",
        ax=ax if ax is not None else figure_axes(None, _alignment_size(source, target, colourbar)),
        values=values,
        vmin=0.0,
        vmax=1.0,
        colourbar=colourbar,
    )
    ax.set_aspect("equal")
    ax.xaxis.set_label_position("top")
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    if max(map(len, source)) > 4:
        for tick in ax.get_xticklabels():
            tick.set(rotation=45, ha="left", rotation_mode="anchor")
    ax.set_xticks(np.arange(len(source) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(target) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="#DFE3E8", linewidth=0.8, linestyle="-")
    ax.tick_params(which="minor", length=0)
    if title:
        ax.set_title(title)
    for i, t in links or ():
        if not (0 <= i < len(source) and 0 <= t < len(target)):
            raise CourseError(
                f"The link ({i}, {t}) points outside the sentences: it should be (source index "
                f"below {len(source)}, target index below {len(target)}), counted from 0."
            )
        ax.add_patch(Rectangle((i - 0.44, t - 0.44), 0.88, 0.88, fill=False, lw=2, ec=COLOURS["blue"]))
    return ax


def curves(
    series: Mapping[str, Any],
    *,
    xlabel: str,
    ylabel: str,
    x: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
    logx: bool = False,
    logy: bool = False,
    ylim: tuple[float | None, float | None] | None = None,
    markers: bool | str = "auto",
) -> Axes:
    """Lines over a common axis, told apart by colour, dashes and (for few points) markers.

    ``series`` maps a name to y values (over ``x``, or over 1, 2, 3 ... where there is none), to a
    pair (x, y), or to (x, y, spread), which adds a band y +- spread. The labels should give the
    unit. Raises CourseError for an empty mapping or lengths that differ.
    """
    _require(xlabel=xlabel, ylabel=ylabel)
    if not isinstance(series, Mapping) or not series:
        raise CourseError(
            "series should be a mapping from a line's name to its values, with at least one line; "
            f"it is {type(series).__name__}{' with no entry' if series == {} else ''}."
        )
    ax = figure_axes(ax, (6.0, 3.6))
    drawn = len(ax.lines)
    for number, (name, line) in enumerate(series.items(), start=drawn):
        xs, ys, spread = _line(name, line, x)
        few = len(ys) <= 25 if markers == "auto" else bool(markers)
        colour = LINES[number % len(LINES)]
        ax.plot(
            xs,
            ys,
            label=name,
            color=colour,
            linestyle=DASHES[number % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)] if few else "",
        )
        if spread is not None:
            ax.fill_between(xs, ys - spread, ys + spread, color=colour, alpha=0.18, linewidth=0)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if logx:
        ax.set_xscale("log")
    elif all((line.get_xdata() % 1 == 0).all() for line in ax.lines):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))  # no tick at step 2.5
    if logy:
        ax.set_yscale("log")
    if ylim is not None:
        ax.set_ylim(*ylim)
    if title:
        ax.set_title(title)
    ax.grid(axis="y")
    if len(ax.lines) > 1:
        ax.legend(handlelength=3.2)
    return ax


def bars(
    values: Mapping[str, Any],
    *,
    ylabel: str,
    xlabel: str = "",
    ax: Axes | None = None,
    title: str | None = None,
    errors: Mapping[str, Any] | None = None,
    digits: int = 1,
    ylim: tuple[float | None, float | None] | None = None,
) -> Axes:
    """Bars from ``{label: number}``, or side by side from ``{series: {label: number}}``.

    The numbers stand above the bars with ``digits`` decimals. ``errors`` has the same form as
    ``values`` and draws plus or minus that much. Raises CourseError when there is no bar to draw
    or the groups do not name the same labels.
    """
    _require(ylabel=ylabel)
    if not isinstance(values, Mapping) or not values:
        raise CourseError("values should be a mapping {label: number} with at least one entry.")
    nested = all(isinstance(group, Mapping) for group in values.values())
    groups = dict(values) if nested else {"": values}
    spreads = (dict(errors) if nested else {"": errors}) if errors is not None else {}
    labels = [str(label) for label in next(iter(groups.values()))]
    for name, group in groups.items():
        if [str(label) for label in group] != labels:
            raise CourseError(
                f"Every group of bars should name the same labels in the same order: "
                f"{labels}, but {name!r} has {list(group)}."
            )
    ax = figure_axes(ax, (min(7.6, max(4.0, 0.55 * len(labels) * len(groups) + 1.6)), 3.4))
    width, places = 0.8 / len(groups), np.arange(len(labels))
    for number, (name, group) in enumerate(groups.items()):
        heights = as_array(list(group.values()), f"the bars {name!r}" if name else "values", 1)
        spread = spreads.get(name)
        drawn = ax.bar(
            places + (number - (len(groups) - 1) / 2) * width,
            heights,
            width * 0.92,
            label=name or None,
            color=LINES[number % len(LINES)],
            yerr=None if spread is None else [float(spread[key]) for key in group],
            ecolor=COLOURS["ink"],
            capsize=3,
        )
        ax.bar_label(drawn, fmt=f"%.{digits}f", padding=2, fontsize=8)
    turned = max(len(label) for label in labels) * len(labels) > 60
    angle = dict(rotation=35, ha="right", rotation_mode="anchor") if turned else {}
    ax.set_xticks(places, labels, **angle)
    ax.tick_params(axis="x", length=0)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.margins(y=0.12)
    if ylim is not None:
        ax.set_ylim(*ylim)
    if title:
        ax.set_title(title, pad=24 if nested else None)
    ax.grid(axis="y")
    if nested:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(groups), borderaxespad=0.2)
    return ax


def _require(**labels: str) -> None:
    for name, text in labels.items():
        if not isinstance(text, str) or not text.strip():
            raise CourseError(f"{name} should say what is measured, with its unit, but it is {text!r}.")


def _check_alignment(shape: tuple[int, ...], n_source: int, n_target: int) -> None:
    """Raise a sentence that says which side does not fit, and what is probably the matter."""
    if shape == (n_target, n_source):
        return
    wrong = []
    if shape[0] != n_target:
        wrong.append(f"{shape[0]} rows for {n_target} target tokens")
    if shape[1] != n_source:
        wrong.append(f"{shape[1]} columns for {n_source} source tokens")
    if shape == (n_source, n_target):
        hint = "They look transposed: pass weights.T, or swap the two lists."
    elif {shape[0] - n_target, shape[1] - n_source} <= {0, 1}:
        hint = "One more than the tokens is often <eos>: add '<eos>' to the tokens, or cut it off."
    else:
        hint = "Check that the weights and the words belong to the same sentence pair."
    raise CourseError(
        f"The weights should have shape (target tokens, source tokens) = ({n_target}, {n_source}), "
        f"but they have shape {tuple(shape)}: {' and '.join(wrong)}. {hint}"
    )


def _line(name: str, line: Any, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The x values, y values and spread of one entry of ``series``."""
    spread = None
    if isinstance(line, tuple) and len(line) in (2, 3) and hasattr(line[0], "__len__"):
        xs = as_array(line[0], f"the x values of {name!r}", 1)
        ys = as_array(line[1], f"the y values of {name!r}", 1)
        if len(line) == 3:
            spread = as_array(line[2], f"the spread of {name!r}", 1)
    else:
        ys = as_array(line, f"the y values of {name!r}", 1)
        xs = np.arange(1, len(ys) + 1.0) if x is None else as_array(x, "x", 1)
    for other, what in ((xs, "x values"), (spread, "numbers in its spread")):
        if other is not None and len(other) != len(ys):
            raise CourseError(
                f"The line {name!r} has {len(ys)} y values but {len(other)} {what}: "
                f"there should be as many of each."
            )
    return xs, ys, spread


def _name_ticks(axis: Any, labels: Sequence[str] | None, size: int) -> None:
    if labels is None:
        axis.set_major_locator(MaxNLocator(nbins=min(size, 10), integer=True))
        return
    axis.set_ticks(range(size), as_labels(labels, "labels"))
    if axis.axis_name == "x" and sum(len(str(label)) + 2 for label in labels) > 55:
        for tick in axis.get_ticklabels():
            tick.set(rotation=45, ha="right", rotation_mode="anchor")


def _print_values(ax: Axes, image: Any, matrix: np.ndarray, digits: int) -> None:
    """Write each number into its square, dark on light and light on dark."""
    colours = image.cmap(image.norm(matrix))
    light = colours[..., :3] @ np.array([0.299, 0.587, 0.114])
    for (row, column), value in np.ndenumerate(matrix):
        if np.isnan(value):
            continue
        ink = COLOURS["ink"] if light[row, column] > 0.55 else "white"
        text = f"{value:.{digits}f}"
        if float(text) == 0:
            text = f"{0:.{digits}f}"  # no "-0.00"
        ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=8)


def _map_size(n_rows: int, n_columns: int, rows: Sequence[str] | None) -> tuple[float, float]:
    words = 0.08 * max((len(str(row)) for row in rows), default=0) if rows is not None else 0.3
    return (min(9.0, max(3.4, 0.5 * n_columns + words + 1.6)), min(7.5, max(2.0, 0.4 * n_rows + 1.1)))


def _alignment_size(
    source: Sequence[str], target: Sequence[str], colourbar: bool
) -> tuple[float, float]:
    square = 0.42 if max(len(source), len(target)) <= 14 else 0.3
    across = square * len(source) + 0.085 * max(map(len, target)) + 0.6 + 0.9 * colourbar
    down = square * len(target) + 0.065 * max(map(len, source)) + 0.7
    return max(3.2, across), max(2.4, down)
