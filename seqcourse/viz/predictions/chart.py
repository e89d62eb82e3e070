"""The drawing of a prediction: what is known, the reader's guess with dashes, and what was measured."""

from __future__ import annotations

import html
from collections.abc import Sequence

from seqcourse.viz.html import plain
from seqcourse.viz.predictions import Prediction

WIDTH, LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 360, 52, 340, 22, 150, 180


def chart(prediction: Prediction, guess: Sequence[float] = (), seen: bool = True) -> str:
    """The columns as SVG, without what was measured unless ``seen``; ``predict.js`` moves the guess."""
    truth, given = prediction.truth, prediction.given
    at = [LEFT + (RIGHT - LEFT) / len(truth) * (i + 0.5) for i in range(len(truth))]
    half = min(0.36 * (RIGHT - LEFT) / len(truth), 34)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * _share(prediction, value), 1)

    def bar(i: int, value: float, half: float) -> str:
        high = f'y="{y(value)}" height="{BOTTOM - y(value):.1f}"'
        return f'<rect x="{at[i] - half:.1f}" width="{2 * half:.1f}" {high}/>'

    def said(i: int, right: float = 0, down: float = -6) -> str:
        where = f'x="{at[i] + right:.1f}" y="{y(truth[i]) + down:.1f}"'
        return f"<text {where}>{as_text(prediction, truth[i])}</text>"

    def path(columns: Sequence[int]) -> str:
        return "M" + " L".join(f"{at[i]:.1f} {y(truth[i])}" for i in columns)

    known, measured = range(given), range(given, len(truth))
    guess = guess or [prediction.low] * len(prediction.guessed)
    if prediction.line:
        begin = f"M{at[given - 1]:.1f} {y(truth[given - 1])} L{at[-1]:.1f} "
        shown = f'<path d="{path(known)}"/>'
        drawn = f'<path data-begin="{begin}" d="{begin}{y(guess[0])}"/>'
        found = f'<path d="{path(range(given - 1, len(truth)))}"/>' + said(-1, 20, 4)
    else:
        shown = "".join(bar(i, truth[i], half) + said(i) for i in known)
        drawn = "".join(bar(i, x, half) for i, x in zip(prediction.guessed, guess, strict=True))
        found = "".join(bar(i, truth[i], half / 2) + said(i) for i in measured)
    names = "".join(
        f'<text x="{x:.1f}" y="{BOTTOM + 20}">{html.escape(plain(name))}</text>'
        for x, name in zip(at, prediction.columns, strict=True)
    )
    if prediction.of:
        names += f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT + 12}">{html.escape(prediction.of)}</text>'
    ends = "".join(
        f'<text class="sq-end" x="{LEFT - 6}" y="{y(value) + 4}">{as_text(prediction, value)}</text>'
        for value in (prediction.low, prediction.high)
    )
    told = "Measured: " + ", ".join(
        f"{plain(name)} {as_text(prediction, x)}"
        for name, x in zip(prediction.columns, truth, strict=True)
    )
    found, told = (f'<g class="sq-truth">{found}</g>', told) if seen else ("", "Your guess")
    high = HEIGHT + 18 * bool(prediction.of)
    return (
        f'<svg viewBox="0 0 {WIDTH} {high}" role="img" aria-label="{html.escape(told)}.">'
        f'<path class="sq-axis" d="M{LEFT} {TOP} V{BOTTOM} H{RIGHT}"/>{ends}{names}'
        f'<g class="sq-known">{shown}</g>{found}'
        f'<g class="sq-guess">{drawn}</g></svg>'
    )


def as_text(prediction: Prediction, value: float) -> str:
    """A number with its unit."""
    return html.escape(f"{value:g}{prediction.unit}")


def _share(prediction: Prediction, value: float) -> float:
    return (value - prediction.low) / (prediction.high - prediction.low)
