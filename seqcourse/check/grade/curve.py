"""From the measure of a system to its share of the points: the published curve of assignment 9.

The share is linear between two rows of a table. The page and the self-check print these tables.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

TRANSLATOR, CAPTIONER = "translator", "captioner"
TASKS = (TRANSLATOR, CAPTIONER)
# Measure -> share of the points. BLEU is 0 to 100 and CIDEr 0 to 10; pointing is a share of the names.
BLEU = {25: 0.0, 50: 0.5, 62: 0.8, 72: 1.0}
CIDER = {1: 0.0, 3: 0.5, 4: 0.8, 5: 1.0}
POINTING = {0.3: 0.0, 0.5: 0.7, 0.6: 1.0}
# How much of the captioner's share each of its two measures gives.
OF_CIDER, OF_POINTING = 0.8, 0.2
# The hidden split, of which one half is public and the other is final; and seconds for all of it.
SENTENCES, SCENES, SECONDS = 200, 200, 100
PIXELS = 64  # side of a scene


def share(curve: Mapping[float, float], measure: float) -> float:
    """The share of the points, 0 to 1, that a measure earns."""
    places = sorted(curve)
    at = bisect_right(places, measure)
    if at == 0:
        return curve[places[0]]
    if at == len(places):
        return curve[places[-1]]
    low, high = places[at - 1], places[at]
    return curve[low] + (curve[high] - curve[low]) * (measure - low) / (high - low)


def system_share(task: str, measures: Mapping[str, float]) -> float:
    """The share of the points of a system: measures by name (bleu; or cider and pointing)."""
    if task == TRANSLATOR:
        return share(BLEU, measures["bleu"])
    return OF_CIDER * share(CIDER, measures["cider"]) + OF_POINTING * share(
        POINTING, measures["pointing"]
    )
