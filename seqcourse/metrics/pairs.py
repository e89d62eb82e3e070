"""Arguments that come in pairs: one reference for each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def same_length(**lists: Sequence[Any]) -> None:
    """Raise ValueError unless all are lists (not strings) of one length, and not empty."""
    for name, values in lists.items():
        if isinstance(values, str):
            raise ValueError(
                f"{name} should be a list with one entry per sentence, but it is the string "
                f"{values[:40]!r}. Put it into a list."
            )
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{size} {name}" for name, size in sizes.items())
        raise ValueError(f"one entry per sentence is expected everywhere, but there are {told}.")
    if 0 in sizes.values():
        raise ValueError(f"{' and '.join(sizes)} are empty; expected at least one sentence.")
