"""Where a tolerance has to lie: well above the errors of right answers, well below those of wrong ones.

The rule: a tolerance is at least MARGIN times the largest error of a right answer in any form, and at
most 1 / MARGIN of the smallest error of an answer that is wrong by its numbers. Exercises share one
tolerance for float64 and one for float32. Where these break the rule, an exercise has one of its own:
the middle between the two errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log10
from typing import Any

MARGIN = 4.0


def middle(right: float, wrong: float) -> float:
    """The geometric mean of the two errors, rounded to one digit: as many times one as the other."""
    exact = (right * wrong) ** 0.5
    unit = 10.0 ** (log10(exact) // 1)
    return float(f"{round(exact / unit) * unit:.0e}")


def nearest(record: Mapping[str, Any]) -> tuple[float, str]:
    """The smallest error of an answer that is wrong by its numbers, and which; infinite if none is."""
    kinds = [record.get(kind, {}).get("nearest") for kind in ("wrong", "held out", "operator")]
    return min((tuple(one) for one in kinds if one), default=(inf, ""))


def broken(record: Mapping[str, Any]) -> list[str]:
    """The tolerances of an exercise that break the rule, each in a sentence that proposes another."""
    wrong, name = nearest(record)
    found = []
    for key, right in record["right"]["errors"].items():
        tolerance = float(key)
        if MARGIN * right <= tolerance <= wrong / MARGIN:
            continue
        proposal = f"the middle is {middle(right, wrong):g}" if 0 < right and wrong < inf else "widen it"
        found.append(
            f"the tolerance {key} should be at least {MARGIN:g} times the largest error of a right "
            f"answer, {right:.1e}, and at most 1/{MARGIN:g} of the smallest of a wrong one, {wrong:.1e} "
            f"({name or 'none'}): {proposal}"
        )
    return found
