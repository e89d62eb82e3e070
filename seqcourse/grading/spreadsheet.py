"""Cells that survive a spreadsheet: names as they are, formulas as text, points in few digits."""

from __future__ import annotations

import re

# What a spreadsheet takes for the beginning of a formula; the last two hide one.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# How Canvas writes a name that begins like a formula: a formula that is only a text.
QUOTED = re.compile(r'="[^"]*"')
# A mark at the beginning of a file, by which spreadsheets know that it is UTF-8.
MARK = "\ufeff"


def harmless(cell: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe before it, as one would type it.

    Names that begin with a letter, whatever else they hold, stay as they are.
    """
    if not cell.lstrip(" ").startswith(FORMULA) or QUOTED.fullmatch(cell):
        return cell
    return f"'{cell}"


def number(value: float) -> str:
    """Points with at most two decimals, and no more than are needed: 3, 2.5, 0.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
