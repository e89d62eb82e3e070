"""From a notebook's code cells to Python's syntax trees, IPython's magics taken out."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

# Magics whose text is Python code that runs among the notebook's own names.
RUNS_PYTHON = {"time", "timeit", "prun", "capture", "memit", "mprun", "lprun"}
_MAGIC = re.compile(r"^\s*(%|!|\?)|\?\s*$")
LONGEST = 400_000  # characters of one cell that are still read


def python_of(cells: Sequence[str]) -> Iterator[ast.Module]:
    """The syntax tree of every cell that Python can read; what it cannot read does not run either."""
    for source in cells:
        tree = _tree(source)
        if tree is not None:
            yield tree


@lru_cache(maxsize=256)  # every exercise of a notebook is read from the same cells
def _tree(source: str) -> ast.Module | None:
    return parsed(plain(source))


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a piece of source, or None."""
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a student's string
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def plain(source: str) -> str:
    """A cell as Python would get it from IPython; `%%time` and the like leave their body."""
    source = source.lstrip("\ufeff").replace("\r\n", "\n")
    first, _, body = source.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        name, _, rest = first[2:].strip().partition(" ")
        kept = rest if name in ("time", "timeit", "prun") and not rest.startswith("-") else ""
        return f"{kept}\n{plain(body)}" if name in RUNS_PYTHON else ""
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        lines = source.split("\n")
        return "\n".join("" if _MAGIC.search(line) else line for line in lines)
    try:
        return TransformerManager().transform_cell(source)
    except Exception:  # a cell that IPython cannot read
        return source
