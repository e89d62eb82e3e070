"""The icon fonts of the theme, with the signs that the book uses."""

from __future__ import annotations

import hashlib
import io
import logging
import re
from pathlib import Path

FACE = re.compile(r"@font-face\s*\{[^}]*fontawesome[^}]*\}")
SOURCE = re.compile(r"src:[^;}]*")
SIGN = re.compile(r'"([^"\s])"')  # every sign that the sheet puts before or after something


def subset(css: str, static: Path, folder: Path) -> str:
    """The sheet with small fonts in ``folder``; a font whose signs are not used is left out."""
    signs = {ord(sign) for sign in SIGN.findall(css)}

    def smaller(found: re.Match[str]) -> str:
        full = re.search(r'url\("?([^")]+)\.(?:woff2|ttf)', found[0])
        file = static / f"{full[1]}.ttf" if full else None
        if file is None or not file.is_file():
            return found[0]
        content = with_signs(file, signs)
        name = f"{file.stem}.{hashlib.sha256(content).hexdigest()[:12]}.woff"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        return SOURCE.sub(f'src:url("{folder.name}/{name}") format("woff")', found[0])

    return FACE.sub(smaller, css)


def with_signs(file: Path, signs: set[int]) -> bytes:
    """A font with some signs only, as WOFF, which needs no further library to write."""
    from fontTools import subset as tools

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # Sphinx would print each table
    options = tools.Options(
        flavor="woff", layout_features=[], name_IDs=[], hinting=False, notdef_outline=True
    )
    with tools.load_font(str(file), options) as font:
        font["head"].modified = font["head"].created  # the same bytes, whenever it is made
        font.recalcTimestamp = False
        cutter = tools.Subsetter(options)
        cutter.populate(unicodes=signs)
        cutter.subset(font)
        made = io.BytesIO()
        tools.save_font(font, made, options)
    return made.getvalue()
