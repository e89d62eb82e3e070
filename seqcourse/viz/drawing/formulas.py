"""Texts with formulas between dollars ("$a_{t,i}$"), for SVG and for HTML, and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

SMALL = 11.6  # units; nothing is set smaller, subscripts included
_PIECE = re.compile(r"([_^])(\{[^}]*\}|.)|([A-Za-zΑ-ω]+)|([^A-Za-zΑ-ω_^]+)")
_NARROW, _BROAD = set(" .,:;|'()[]{}filjrt1⊤"), set("mwMW")


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Split a text into (level, style, letters).

    The level is "" on the line, "_" below or "^" above it; the style "" for plain text, "i" for a
    letter of a formula (italic) and "r" for the rest of it (upright).
    """
    for k, part in enumerate(text.split("$")):
        if k % 2 == 0:
            if part:
                yield "", "", part
            continue
        for level, raised, letters, rest in _PIECE.findall(part):
            found = _PIECE.findall(raised.strip("{}")) if level else [("", "", letters, rest)]
            for _, _, word, other in found:
                yield level, "i" if len(word) == 1 else "r", word or other


def length(text: str, size: float = 13) -> float:
    """About how long a text is. The page's font decides, so this is a little too much."""
    total = 0.0
    for level, _, letters in pieces(text):
        for letter in letters:
            broad = 0.9 if letter in _BROAD else 0.7 if letter.isupper() else 0.58
            total += (0.8 if level else 1) * (0.35 if letter in _NARROW else broad)
    return size * total


def for_svg(text: str, size: float = 13) -> str:
    """The text as content of an SVG ``<text>`` of this size."""
    made, hangs = "", 0.0
    for level, style, letters in pieces(text):
        at = {"": 0, "_": 0.26 * size, "^": -0.36 * size}[level]
        move = f' dy="{at - hangs:.1f}"' if at != hangs else ""
        small = f' font-size="{max(SMALL, 0.74 * size):g}"' if level else ""
        letters = escape(letters)
        made += f'<tspan class="{style}"{move}{small}>{letters}</tspan>' if style or move else letters
        hangs = at
    return made


def for_html(text: str) -> str:
    """The text as HTML: **bold**, *emphasis*, and no formula is broken over two lines."""
    made = ""
    for k, part in enumerate(text.split("$")):
        if k % 2 == 0:
            bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(part))
            made += re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", bold)
            continue
        inner = ""
        for level, style, letters in pieces(f"${part}$"):
            tag = {"": "span", "_": "sub", "^": "sup"}[level]
            inner += f'<{tag} class="{style}">{escape(letters)}</{tag}>'
        made += f'<span class="f">{inner}</span>'
    return made


def plain(text: str) -> str:
    """The text without its marks, for screen readers and terminals."""
    return re.sub(r"[$*_^{}]", "", text)


def number(value: float | str, digits: int = 1) -> str:
    """A number with a real minus sign and without "-0.0"; a string stays as it is."""
    if isinstance(value, str):
        return value
    if value == float("-inf"):
        return "\u2212\u221e"
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\u2212")
