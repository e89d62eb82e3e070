"""TeX formulas as HTML for the eye and MathML for everything that reads aloud, made by KaTeX.

KaTeX is a JavaScript library. It runs in Python, through ``mini_racer``, so that a page comes with
its formulas ready and needs no script to show them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from seqcourse.errors import CourseError

KATEX = Path(__file__).parent / "katex"
_LOCK = threading.Lock()

TOKEN = re.compile(
    r"\\(?:begin|end)\s*\{[^}]*\}"  # an environment's borders
    r"|\\\\(?:\s*\[[^\]]*\])?"  # the end of a row, perhaps with extra space
    r"|\\[a-zA-Z]+|\\.|.",
    re.S,
)
NEW_ROW = r"\\"
ENVIRONMENT = re.compile(r"\\begin\{(\w+)\}((?:(?!\\(?:begin|end)\{\1\}).)*)\\end\{\1\}", re.S)
# What LaTeX would number row by row: here a formula has one number, from Sphinx.
NUMBERED = {"align": "aligned", "gather": "gathered", "equation": "gathered", "split": "aligned"}
BORDER = re.compile(r"\\(begin|end)\{(\w+)\*?\}")


class FormulaError(CourseError):
    """KaTeX does not understand a formula; the message says where it stopped."""


@lru_cache(maxsize=1)
def _engine(process: int) -> subprocess.Popen:
    """The program that runs KaTeX for this process."""
    if find_spec("py_mini_racer") is None:
        raise CourseError(
            "The formulas of the pages need the package mini-racer, which is not installed. "
            "Install what the site needs: pip install 'seqcourse[site]'"
        )
    program = [sys.executable, str(Path(__file__).with_name("engine.py"))]
    pipe = subprocess.PIPE
    return subprocess.Popen(program, stdin=pipe, stdout=pipe, encoding="utf-8", bufsize=1)


@lru_cache(maxsize=10_000)
def katex(tex: str, display: bool = False, output: str = "htmlAndMathml") -> str:
    r"""A formula as KaTeX makes it; ``output`` is "htmlAndMathml", "html" or "mathml".

    >>> katex("a^2", output="mathml")[:20]
    '<span class="katex">'

    Raises FormulaError: an unknown command, a brace too many.
    """
    with _LOCK:
        engine = _engine(os.getpid())
        engine.stdin.write(json.dumps([tex, {"displayMode": display, "output": output}]) + "\n")
        answer = engine.stdout.readline()
    if not answer:
        raise CourseError(f"The program that runs KaTeX stopped with status {engine.wait()}.")
    made, wrong = json.loads(answer)
    if made is None:
        raise FormulaError(f"KaTeX cannot read the formula {' '.join(tex.split())}: {wrong}")
    return made


def split(tex: str, *separators: str) -> list[str]:
    r"""The parts of a formula between separators that no brace or environment encloses.

    >>> split(r"a, \qquad \frac{b \qquad c}{d}", r"\qquad")
    ['a,', '\\frac{b \\qquad c}{d}']
    """
    parts, depth = [""], 0
    for token in TOKEN.findall(tex):
        name = token[:2] if token.startswith(r"\\") else token
        if depth == 0 and name in separators:
            parts.append("")
            continue
        depth += token == "{" or token == r"\left" or token.startswith(r"\begin")
        depth -= token == "}" or token == r"\right" or token.startswith(r"\end")
        parts[-1] += token
    return [part.strip() for part in parts]


def display(tex: str) -> str:
    r"""A displayed formula that gives way where there is little room, as HTML.

    For the eye it is rows of the pieces between ``\qquad``, which wrap. A piece that is an
    ``aligned`` environment becomes a grid of its rows and columns. Each piece may break after its
    signs. The MathML is that of the formula as a whole.
    """
    tex = BORDER.sub(lambda found: rf"\{found[1]}{{{NUMBERED.get(found[2], found[2])}}}", tex.strip())
    rows = split(tex, NEW_ROW)
    whole = tex if len(rows) == 1 else rf"\begin{{gathered}}{tex}\end{{gathered}}"
    read_aloud = re.search("<math.*</math>", katex(whole, True, "mathml"), re.S)[0]
    hidden = f'<span class="katex"><span class="katex-mathml">{read_aloud}</span></span>'
    return _span("formula", hidden + _rows(rows))


def _for_the_eye(tex: str) -> str:
    return katex(rf"\displaystyle {tex}", output="html")


def _span(kind: str, content: str) -> str:
    return f'<span class="seq-{kind}">{content}</span>'


def _rows(rows: list[str]) -> str:
    return "".join(_span("row", "".join(map(_piece, split(row, r"\qquad")))) for row in rows if row)


def _piece(tex: str) -> str:
    found = ENVIRONMENT.fullmatch(tex)
    if found and found[1] == "gathered":
        return _span("rows", _rows(split(found[2], NEW_ROW)))
    if found and found[1] == "aligned":
        rows = [split(row, "&") for row in split(found[2], NEW_ROW) if row]
        columns = max(map(len, rows))
        lines = "".join(_span("line", _pairs(row)) for row in rows)
        return f'<span class="seq-grid" style="--columns: {columns}">{lines}</span>'
    return _span("piece", _for_the_eye(tex)) if tex else ""


def _pairs(cells: list[str]) -> str:
    """A row of an ``aligned`` environment: pairs of columns that meet at a sign."""
    pairs = [cells[at : at + 2] for at in range(0, len(cells), 2)]
    return "".join(_span("pair", "".join(map(_cell, pair, (0, 1)))) for pair in pairs)


def _cell(tex: str, right: int) -> str:
    # An empty group before the sign at the left border of a column gives the sign its space.
    parts = split("{}" + tex if right and tex else tex, r"\qquad")
    return _span("cell", "".join(_span("part", _for_the_eye(part) if part else "") for part in parts))
