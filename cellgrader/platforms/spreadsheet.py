"""Format CSV cells for spreadsheets: escape formulas, round points."""

from __future__ import annotations

import re

from cellgrader.printable import printable

# Spreadsheets read a cell that begins with one of =+-@ as a formula. Some split cells at other
# characters than commas, too, and then drop quotes.
FORMULA = re.compile(r"^ *(?=[=+\-@])|(?<=[;\t|])[ \"]*(?=[=+\-@])")
# Canvas writes a name that begins like a formula as a formula that contains only a string.
QUOTED = re.compile(r'="[^";\t|]*"')
# The byte order mark, by which spreadsheets recognise UTF-8.
MARK = "\ufeff"


def harmless(cell: str) -> str:
    """The text on one line, with an apostrophe before what looks like a formula."""
    cell = printable(cell)
    return cell if QUOTED.fullmatch(cell) else FORMULA.sub(r"'\g<0>", cell)


def number(value: float) -> str:
    """Points with at most two decimals and no trailing zeros: 3, 2.5, 0.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
