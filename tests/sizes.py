"""Tests at two sizes: `make test` runs a part of the cases, `make test-all` every one."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable

import pytest


def nightly_but(always: Collection[str], names: Iterable[str]) -> list:
    """Names as parameters of a test; those that are not in ``always`` run in `make test-all` only."""
    return [name if name in always else pytest.param(name, marks=pytest.mark.nightly) for name in names]


def is_drawn(name: str, one_in: int) -> bool:
    """Whether a case runs every time, not at night only: one in so many, whatever its neighbours are."""
    return zlib.crc32(name.encode()) % one_in == 0
