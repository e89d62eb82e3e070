"""Figures that follow the theme and stay readable on a phone.

An SVG that matplotlib drew is an `<img>`: it cannot see the page's colours, but its own style sheet
knows whether it stands on a dark page (``prefers-color-scheme`` follows the ``color-scheme`` of the
element). So the ground becomes transparent and the ink a variable with two values.

A figure that carries its narrow form (`seqcourse.viz.narrow`) becomes two files, one for phones.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LEAST_TEXT = 10.0  # CSS pixels
NARROWEST = 270  # CSS pixels: the room that every phone has
NARROW = re.compile(rb"<!--narrow ([\w+/=]+)-->$")
PHONE = "screen and (max-width: 600px)"
LIGHT = {"ink": "#222832", "grid": "#dfe3e8", "ground": "#ffffff"}  # as viz/style.py draws them
DARK = {"ink": "#d8dde3", "grid": "#3d454f", "ground": "#14181e"}
_SIZE = re.compile(r"scale\(([\d.]+) -\1\)")
_PLACE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
# A picture with the link to its own file, or with the narrow form, that it may have already.
PICTURE = re.compile(
    r"(?:<picture>(?P<small><source\b[^>]*>))?"
    r'(?P<link><a class="reference internal image-reference"[^>]*>\s*)?'
    r'(?P<tag><img\b[^>]*?\bsrc="(?P<source>[^"]*)"[^>]*>)(?(link)\s*</a>)(?(small)</picture>)'
)

for _prefix, _uri in (("", SVG[1:-1]), ("xlink", "http://www.w3.org/1999/xlink")):
    ElementTree.register_namespace(_prefix, _uri)


def follow_theme(svg: str) -> str:
    """A matplotlib figure with a transparent ground, and ink that is pale on a dark page.

    What lies on a map's squares keeps its colours: the squares keep theirs.
    """
    if "Matplotlib" not in svg or "--ink" in svg:
        return svg
    root = ElementTree.fromstring(svg)
    for metadata in root.findall(f"{SVG}metadata"):
        root.remove(metadata)
    style = ElementTree.Element(f"{SVG}style")
    style.text = f":root{{{_rules(LIGHT)}}}@media (prefers-color-scheme:dark){{:root{{{_rules(DARK)}}}}}"
    root.insert(0, style)
    for figure in root.findall(f"{SVG}g"):
        _clear_ground(figure)
        for part in figure:
            if part.get("id", "").startswith("axes_"):
                _clear_ground(part)
                _recolour_axes(part)
            else:
                _recolour(part)
    return ElementTree.tostring(root, encoding="unicode")


def _rules(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{colour}" for name, colour in colours.items())


def _clear_ground(group: ElementTree.Element) -> None:
    """No white sheet behind a figure or its axes: it is their first patch."""
    first = next((part for part in group if part.get("id", "").startswith("patch_")), None)
    for path in () if first is None else first.iter(f"{SVG}path"):
        path.set("style", path.get("style", "").replace(f"fill: {LIGHT['ground']}", "fill: none"))


def _recolour_axes(axes: ElementTree.Element) -> None:
    is_map = any(
        part.tag == f"{SVG}image" or "Mesh" in part.get("id", "")
        for group in axes
        for part in group.iter()
    )
    box = _box(axes) if is_map else None
    for part in axes:
        kind = part.get("id", "").split("_")[0]
        if box is None or kind == "matplotlib.axis" or (kind == "text" and not _inside(part, box)):
            _recolour(part)


def _recolour(group: ElementTree.Element) -> None:
    for part in group.iter():
        if style := part.get("style"):
            for name in ("ink", "grid"):
                style = style.replace(LIGHT[name], f"var(--{name})")
            part.set("style", style)
    if group.get("id", "").startswith("text_"):  # the plate behind a label
        for path in group.iter(f"{SVG}path"):
            style = path.get("style", "")
            path.set("style", style.replace(f"fill: {LIGHT['ground']}", "fill: var(--ground)"))


def _box(axes: ElementTree.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the axes: of their patch, or without one of their picture.

    Not those of any path: letters are paths, too.
    """
    patch = next((part for part in axes if part.get("id", "").startswith("patch_")), None)
    if patch is not None:
        path = next(patch.iter(f"{SVG}path"))
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d", ""))]
        return min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])
    picture = next(axes.iter(f"{SVG}image"), None)
    if picture is None:
        return 0, 0, 0, 0
    x, y, width, height = (float(picture.get(name, 0)) for name in ("x", "y", "width", "height"))
    return x, -y, x + width, height - y  # it is drawn upside down, with y below 0


def _inside(text: ElementTree.Element, box: tuple[float, float, float, float]) -> bool:
    for part in text.iter():
        if place := _PLACE.search(part.get("transform", "")):
            x, y = map(float, place.groups())
            return box[0] <= x <= box[2] and box[1] <= y <= box[3]
    return False


def least_width(svg: str) -> int | None:
    """The CSS pixels that a figure has to be wide for its smallest label to be LEAST_TEXT high."""
    width = re.search(r'viewBox="0 0 ([\d.]+)', svg)
    sizes = [100 * float(size) for size in _SIZE.findall(svg)]
    if not width or not sizes:
        return None
    return round(LEAST_TEXT / min(sizes) * float(width.group(1)))


def forms(file: bytes) -> tuple[bytes, bytes | None]:
    """A figure's file without the narrow form behind its end, and that form, if it has one."""
    found = NARROW.search(file)
    return (file[: found.start()], base64.b64decode(found[1])) if found else (file, None)


def widen(body: str, images: dict[str, Path]) -> str:
    """Every figure of an article in a box that scrolls where its labels would become too small.

    One with a narrow form shows that on a phone. A figure is also a link to its file, which `reading.js`
    opens as large as the screen has room. `images` are the files behind the names in the page. A PNG
    has labels of 10 points at 96 dots.
    """

    def wrap(found: re.Match[str]) -> str:
        tag, source = found["tag"], found["source"]
        path = images.get(source.rsplit("/", 1)[-1])
        wide, narrow = forms(path.read_bytes()) if path is not None else (b"", None)
        if path is not None and path.suffix == ".svg":
            least = least_width(wide.decode())
        else:
            drawn = re.search(r'\bwidth(?:="|: ?)(\d+)', tag)
            least = round(0.75 * int(drawn.group(1))) if drawn else None
        if least is None or least <= NARROWEST:
            return found[0]
        small = found["small"]
        if narrow is not None:
            small = f'<source media="{PHONE}" srcset="{_narrow_name(source)}">'
        if small:
            tag = f"<picture>{small}{tag}</picture>"
        both = " seq-both" if small else ""
        link = f'<a class="seq-large" href="{source}" title="Open large">'
        return f'<div class="seq-wide{both}" style="--least:{least}px">{link}{tag}</a></div>'

    return body if "seq-wide" in body else PICTURE.sub(wrap, body)


def _narrow_name(name: str) -> str:
    stem, dot, form = name.rpartition(".")
    return f"{stem}-narrow{dot}{form}"


def _widen_page(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if context.get("body"):
        images = {name: Path(app.srcdir, source) for source, name in app.builder.images.items()}
        context["body"] = widen(context["body"], images)


def _finish_files(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, "_images")
    for path in [*folder.glob("*.svg"), *folder.glob("*.png")]:
        file = path.read_bytes()
        wide, narrow = forms(file)
        for place, form in ((path, wide), (path.with_name(_narrow_name(path.name)), narrow)):
            if form is not None and path.suffix == ".svg":
                form = follow_theme(form.decode()).encode()
            if form is not None and (place != path or form != file):
                place.write_bytes(form)


def setup(app: Any) -> None:
    """Called by `seqcourse.pages`."""
    app.connect("html-page-context", _widen_page, priority=900)
    app.connect("build-finished", _finish_files)
