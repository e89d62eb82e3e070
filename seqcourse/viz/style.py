"""One look for every figure: colours, colour maps, fonts, sizes, output format."""

from __future__ import annotations

from typing import Any

from cycler import cycler
from matplotlib import colormaps, rcParams
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure

from seqcourse.errors import CourseError
from seqcourse.settings import is_static
from seqcourse.viz.roles import WEIGHTS

#: Okabe and Ito's palette, which people with the common colour-vision deficiencies can tell
#: apart. The order is the order of the lines in a figure; yellow comes late (pale on white).
COLOURS: dict[str, str] = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "orange": "#E69F00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "ink": "#222832",
    "grey": "#8A929C",
}
LINES: tuple[str, ...] = tuple(COLOURS[name] for name in list(COLOURS)[:6])
DASHES: tuple[str, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))  # type: ignore[assignment]
MARKERS: tuple[str, ...] = ("o", "s", "^", "D", "v", "P")

#: The one map for weights, in their colour: 0 is white, the lightness falls steadily. Never a rainbow.
SEQUENTIAL: Colormap = LinearSegmentedColormap.from_list("seqcourse", WEIGHTS)
#: For numbers with a sign: vermillion below zero, white at zero, blue above.
DIVERGING: Colormap = LinearSegmentedColormap.from_list(
    "seqcourse_signed", ["#8C3D00", "#D55E00", "#F3B48A", "#FFFFFF", "#8CC0E0", "#0072B2", "#07426B"]
)
for _map in (SEQUENTIAL, DIVERGING):
    if _map.name not in colormaps:
        colormaps.register(_map)

_RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.edgecolor": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["ink"],
    "ytick.color": COLOURS["ink"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": "#DFE3E8",
    "grid.linewidth": 0.7,
    "axes.prop_cycle": cycler(color=LINES) + cycler(linestyle=DASHES),
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "figure.figsize": (6.0, 3.6),
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    "image.cmap": "seqcourse",
    "image.interpolation": "nearest",
    "svg.fonttype": "path",  # letters as shapes: no font is needed where the page is read
    "svg.hashsalt": "seqcourse",  # the same figure gives the same file
    "mathtext.fontset": "dejavusans",
}


def use_style(output: str = "svg") -> None:
    """Give every figure that follows the course's look.

    In a notebook it also sets how figures are shown: ``"svg"`` (sharp at every size), or ``"png"``
    at double resolution for those that hold a picture, and the others as with ``"svg"``. While the
    book is built, a figure carries its form for a phone. Elsewhere that part does nothing.
    Raises CourseError for another output.
    """
    if output not in ("svg", "png"):
        raise CourseError(f"output should be 'svg' or 'png', but it is {output!r}.")
    rcParams.update(_RC)
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return
    set_matplotlib_formats("svg", *(["retina"] if output == "png" else []), metadata={"Date": None})
    formatters = shell.display_formatter.formatters
    if output == "png":
        _only(formatters["image/png"], holding_pictures=True)
        _only(formatters["image/svg+xml"], holding_pictures=False)
    if is_static():
        for form in ("png", "svg+xml"):
            _with_narrow(formatters[f"image/{form}"], form.removesuffix("+xml"))


def _only(formatter: Any, holding_pictures: bool) -> None:
    """Let a formatter of IPython show these figures, and leave the others to another one."""
    show = formatter.lookup_by_type(Figure)

    def chosen(figure: Figure) -> Any:
        held = any(axes.images for axes in figure.axes)
        return show(figure) if held == holding_pictures else None

    formatter.for_type(Figure, chosen)


def _with_narrow(formatter: Any, form: str) -> None:
    """Let what a formatter of IPython shows of a figure carry the form for a phone."""
    show = formatter.type_printers.get(Figure)
    if show is None:
        return

    def both(figure: Figure) -> Any:
        shown = show(figure)
        if not shown:
            return shown
        from seqcourse.viz.narrow import with_narrow

        data, *more = shown if isinstance(shown, tuple) else (shown,)
        data = with_narrow(data, figure, form)
        return (data, *more) if more else data

    formatter.for_type(Figure, both)


def figure_axes(ax, size: tuple[float, float]):
    """The axes to draw on: the given ones, or those of a new figure of ``size`` inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
