"""A live figure: what an encoder knows of some sentences, and of the reader's, in a plane."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

from seqcourse.live.figure import figure

WIDTH, HEIGHT, EDGE = 640, 420, 60  # of the drawing, in its own pixels
WIDE, HIGH = 7.5, 14  # a letter of it


def plane(model: str, label: str, examples: Sequence[str], sentences: Sequence[str]) -> Any:
    r"""A sentence to type, and its place among others in the plane of their two main directions.

    The plane is found by principal components of the encoder's last states :math:`x_i`: the two
    directions along which these sentences differ most. Make the call the last line of its cell.

    Args:
        model: a translator of the zoo whose encoder hands over one vector.
        label: what to type.
        examples: sentences; the first one is in the page.
        sentences: those that make the plane, at least three.

    Raises:
        CourseError: if there is no label or example, or fewer than three sentences.
    """
    import torch

    from seqcourse import zoo
    from seqcourse.errors import CourseError
    from seqcourse.viz.html import Shown

    if len(sentences) < 3:
        raise CourseError(f"A plane needs at least three sentences, but there are {len(sentences)}.")
    system = zoo.load(model)
    vectors = last_states(system, sentences)
    mean = vectors.mean(0)
    rows = torch.linalg.svd(vectors - mean, full_matrices=False)[2][:2]  # (2, H)
    at = (vectors - mean) @ rows.T
    low, high = at.amin(0), at.amax(0)
    room = torch.tensor([WIDTH - 4.0 * EDGE, HEIGHT - 2.0 * EDGE])
    rows = rows * (room / (high - low))[:, None]
    shift = torch.tensor([EDGE, EDGE]) - low * room / (high - low) - rows @ mean
    points = [[round(value, 1) for value in row] for row in (vectors @ rows.T + shift).tolist()]

    def run(text: str) -> Shown:
        (own,) = last_states(system, [text]) @ rows.T + shift
        shown = _drawing(points, sentences, text, *own.tolist())
        return Shown(shown, f"{text!r} at {own[0]:.0f} across and {own[1]:.0f} down")

    data = {
        "rows": json.dumps([[round(value, 4) for value in row] for row in rows.tolist()]),
        "shift": json.dumps([round(value, 2) for value in shift.tolist()]),
    }
    return figure("plane", {model: "The encoder"}, label, examples, run, **data)


def last_states(system: Any, texts: Sequence[str]) -> Any:
    """What the encoder hands to the decoder for each text, (N, H) on the CPU."""
    import torch

    with torch.inference_mode():
        return system.encode(system.sources(list(texts))).final.float().cpu()


def _apart(x: float, y: float, words: str, other_x: float, other_y: float, others: str) -> bool:
    """Whether two labels leave each other room."""
    left, right = (x, words), (other_x, others)
    (first, text), (second, _) = sorted((left, right))
    return abs(y - other_y) >= HIGH or first + WIDE * len(text) < second


def _drawing(
    points: Sequence[Sequence[float]], sentences: Sequence[str], text: str, x: float, y: float
) -> str:
    """The sentences as dots with their words; the reader's one as a larger dot, kept inside."""
    dots, taken = "", []
    for (a, b), words in zip(points, sentences, strict=True):
        # Beside its dot, or a little higher or lower, where no other words are.
        lines = [b + 4 + shift for shift in (0, -9, 9, -16, 16, -24, 24)]
        free = [line for line in lines if all(_apart(a, line, words, *other) for other in taken)]
        line = (free or lines)[0]
        taken.append((a, line, words))
        dots += (
            f'<circle cx="{a}" cy="{b}" r="4"/>'
            f'<text x="{a + 8:.1f}" y="{line:.1f}">{html.escape(words)}</text>'
        )
    x, y = min(max(x, 10), WIDTH - 10), min(max(y, 10), HEIGHT - 10)
    return (
        f'<div class="sq-scroll"><svg class="sq-landing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{len(sentences)} sentences in a plane, and yours among them"><g>{dots}</g>'
        f'<g class="sq-own" transform="translate({x:.1f} {y:.1f})"><circle r="7"/>'
        f'<text x="11" y="5">{html.escape(text)}</text></g></svg></div>'
    )
