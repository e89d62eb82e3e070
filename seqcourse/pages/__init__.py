"""What makes the pages of the book light, whole and easy to find: extensions of Sphinx, one per concern.

`_config.yml` names this package as one extension. Every module of `PARTS` has a ``setup(app)`` of its
own, so that each would also do alone, in Jupyter Book and in plain Sphinx with MyST-NB.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# In the order in which what they do at the end of a build has to happen.
PARTS: tuple[str, ...] = (
    "formulas",
    "addresses",
    "assignments",
    "front",
    "search",
    "access",
    "figures",
    "light",
)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    for part in PARTS:
        import_module(f"seqcourse.pages.{part}").setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
