"""The fonts of text, icons and formulas, with the signs that the book uses.

The face of the text stands inside the sheet: it is there with the first line, so that nothing moves.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import logging
import re
from collections.abc import Iterable
from pathlib import Path

FACE = re.compile(r"@font-face\s*\{[^}]*\}")
FAMILY = re.compile(r"font-family:\s*([^;}]+)")
SOURCE = re.compile(r"src:[^;}]*")
FILE = re.compile(r'url\("?([^")]+)\.(?:woff2?|ttf)')
TEXT = "vendor/literata"
SIGN = re.compile(r'"([^"\s])"')  # every sign that the sheet puts before or after something


def subset(css: str, pages: Iterable[str], static: Path, folder: Path) -> str:
    """The sheet with small fonts in ``folder``; a font that no rule names is left out.

    An icon is a sign that the sheet writes, all others are in the text of the pages.
    """
    rules = FACE.sub("", css)
    icons = set(SIGN.findall(css))
    letters = set().union(*map(html.unescape, pages))

    def smaller(found: re.Match[str]) -> str:
        family = FAMILY.search(found[0])
        if family and family[1].strip("\"' ") not in rules:
            return ""
        full = FILE.search(found[0])
        there = [static / f"{full[1]}.{form}" for form in ("ttf", "woff")] if full else []
        file = next(filter(Path.is_file, there), None)
        if file is None:
            return found[0]
        if TEXT in found[0]:
            code = base64.b64encode(with_signs(file, letters, ["kern"])).decode()
            return SOURCE.sub(f'src:url("data:font/woff;base64,{code}") format("woff")', found[0])
        content = with_signs(file, icons if "fontawesome" in found[0] else letters)
        name = f"{file.stem}.{hashlib.sha256(content).hexdigest()[:12]}.woff"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        return SOURCE.sub(f'src:url("{folder.name}/{name}") format("woff")', found[0])

    return FACE.sub(smaller, css)


def with_signs(file: Path, signs: Iterable[str], features: Iterable[str] = ()) -> bytes:
    """A font with some signs and features only, as WOFF, which needs no further library to write."""
    from fontTools import subset as tools

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # Sphinx would print each table
    options = tools.Options(
        flavor="woff", layout_features=list(features), name_IDs=[], hinting=False, notdef_outline=True
    )
    with tools.load_font(str(file), options) as font:
        font["head"].modified = font["head"].created  # the same bytes, whenever it is made
        font.recalcTimestamp = False
        cutter = tools.Subsetter(options)
        cutter.populate(unicodes=map(ord, signs))
        cutter.subset(font)
        made = io.BytesIO()
        tools.save_font(font, made, options)
    return made.getvalue()
