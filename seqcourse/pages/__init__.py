"""What makes the pages of the book light, whole and easy to find: extensions of Sphinx, one per concern.

`_config.yml` names this package as one extension. Every module of `PARTS` has a ``setup(app)`` of its
own, so that each would also do alone, in Jupyter Book and in plain Sphinx with MyST-NB.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

# In the order in which what they do at the end of a build has to happen.
PARTS: tuple[str, ...] = (
    "plain",
    "code",
    "formulas",
    "addresses",
    "your_class",
    "assignments",
    "second",
    "front",
    "again",
    "search",
    "access",
    "figures",
    "light",
)


def version() -> str:
    """One number for all files of this package."""
    files = sorted(path for path in Path(__file__).parent.rglob("*") if path.is_file())
    code = [path.read_bytes() for path in files if "__pycache__" not in path.parts]
    return hashlib.sha256(b"".join(code)).hexdigest()[:16]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    # Sphinx makes every page again when a setting has changed: this one changes with the code.
    app.add_config_value("seqcourse_pages", version(), "env")
    for part in PARTS:
        import_module(f"seqcourse.pages.{part}").setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
