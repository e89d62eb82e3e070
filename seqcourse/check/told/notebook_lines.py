"""Which line of a notebook a self-check's error comes from, and which cell never ran.

The grader does not ask: a line that depends on hidden inputs would tell about them.
"""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

_noted: list[list[tuple[str, str]]] = []


@contextmanager
def noted_lines() -> Iterator[None]:
    """Within the block, ``note_line`` keeps where errors were raised, for ``line_of``."""
    _noted.append([])
    try:
        yield
    finally:
        _noted.pop()


def note_line(error: BaseException) -> None:
    """Note the last line of the notebook that an error passed through, if anybody asks."""
    if not _noted:
        return
    frames = [
        (frame.f_code.co_qualname, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") == "__main__"
    ]
    if frames:
        name, line = frames[-1]
        _noted[-1].append((str(error), f"It stopped in {name}, line {line} of its cell."))


def line_of(error: BaseException) -> str:
    """A sentence on the line where an error was first raised, if that was noted, otherwise ""."""
    return next((place for text, place in _noted[-1] if text == str(error)), "") if _noted else ""


def never_ran(name: str) -> str:
    """A sentence if the notebook's latest cell that defines an answer has a syntax error, otherwise "".

    Then the answer's name still belongs to what an older cell defined.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return ""
    defines = re.compile(rf"^(?:async )?(?:def|class) {re.escape(name)}\b|^{re.escape(name)} *=", re.M)
    source = next((cell for cell in reversed(shell.user_ns.get("In", [])) if defines.search(cell)), "")
    try:
        compile(shell.transform_cell(source), "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError) as error:
        line = f" in line {error.lineno}" if getattr(error, "lineno", None) else ""
        return (
            f"{name}: its cell has a syntax error{line} and did not run, so the answer from before is "
            "still there. Mend the cell and run it."
        )
    return ""
