"""Attention as bands: each translated word is joined to the words it looked at, a weight is a width."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from seqcourse.live.figure import percent

UNIT = 22  # pixels: how wide a weight of 1 is, as in the drawings
LEAST = 0.03  # a weight below has no band
LETTER, LONGEST = 8.2, 13  # how wide a letter is, and how many letters of a word are shown
WIDEST = 760  # of two lines of words; longer sentences have two columns only
HINT = "Point at a translated word, or go to it with the Tab key: you see its weights in percent."
NAME = "How much each translated word looks at each word of the sentence"


def bands_of(source: Sequence[str], target: Sequence[str], weights: Any) -> str:
    """Two lines of words with bands between them, and for narrow places two columns.

    The same as runtime/bands.js makes. A style sheet shows the weights of the word that is pointed at,
    so it works without a script, too.

    Args:
        source: the N words that were read.
        target: the M words that were written.
        weights: (M, N).
    """
    rows = [list(map(float, row)) for row in weights]
    forms = "".join(_form(source, target, rows, across) for across in (True, False))
    return f'<div class="sq-bands sq-scroll">{forms}</div><p class="sq-note">{HINT}</p>'


def _form(
    source: Sequence[str], target: Sequence[str], weights: Sequence[Sequence[float]], across: bool
) -> str:
    """Lines of words one above the other, or "" if they are too long; or columns side by side."""
    sides = [[_room(word, across) for word in words] for words in (source, target)]
    long = max(map(sum, sides))
    if across and long > WIDEST:
        return ""
    read, written = (
        [(long - sum(side)) / 2 + sum(side[:k]) + room / 2 for k, room in enumerate(side)]
        for side in sides
    )
    words = "".join(
        _text(word, *((at, 34, "middle") if across else (150, at + 5, "end")))
        for word, at in zip(source, read, strict=True)
    )
    for word, at, room, row in zip(target, written, sides[1], weights, strict=True):
        seen = sorted(zip(row, source, strict=True), key=lambda pair: -pair[0])
        said = ", ".join(f"{percent(weight)} {other}" for weight, other in seen if weight >= LEAST)
        box = (at - room / 2 + 2, 156, room - 4) if across else (241, at - 12, 118)
        x, y, wide = (f"{value:.1f}" for value in box)
        shown = _text(word, *((at, 173, "middle") if across else (246, at + 5, "start")))
        words += (
            f'<g class="sq-goal"><g tabindex="0" role="img" '
            f'aria-label="{html.escape(f"{word}: {said}")}">'
            f'<rect x="{x}" y="{y}" width="{wide}" height="24" rx="4"/>{shown}</g>'
            f'<g aria-hidden="true">{_flow(source, read, row, at, across)}</g></g>'
        )
    size = f"{long:.0f} 186" if across else f"360 {long:.0f}"
    return (
        f'<svg class="{"sq-across" if across else "sq-down"}" viewBox="0 0 {size}" role="group" '
        f'style="max-width:{f"{long:.0f}" if across else 430}px" aria-label="{NAME}">{words}</svg>'
    )


def _flow(
    source: Sequence[str], read: Sequence[float], row: Sequence[float], at: float, across: bool
) -> str:
    """The bands into one word, side by side there as a drawing pours them, each with its percent."""
    drawn, place = "", at - UNIT * sum(row) / 2
    for word, start, weight in zip(source, read, row, strict=True):
        place += UNIT * weight / 2
        if weight >= LEAST:
            a, b = f"{start:.1f}", f"{place:.1f}"
            d = f"M{a} 44C{a} 99 {b} 99 {b} 154" if across else f"M158 {a}C197 {a} 197 {b} 236 {b}"
            drawn += f'<path d="{d}" stroke-width="{max(UNIT * weight, 1):.1f}"/>'
            beside = (start, 14, "middle") if across else (142 - _long(word), start + 5, "end")
            drawn += _text(percent(weight), *beside, "sq-percent")
        place += UNIT * weight / 2
    return drawn


def _long(word: str) -> float:
    return LETTER * min(len(word), LONGEST)


def _room(word: str, across: bool) -> float:
    """How much of its line or column a word takes."""
    return max(34, _long(word) + 10) if across else 26


def _text(text: str, x: float, y: float, end: str, kind: str = "") -> str:
    """A word, cut if it is long."""
    shown = html.escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "\u2026")
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{end}"{kind}>{shown}</text>'
