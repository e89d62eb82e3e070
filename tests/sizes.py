"""Tests at two sizes: `make test` runs a part of the cases, `make test-all` every one."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable

import pytest


def nightly_but(always: Collection[str], names: Iterable[str]) -> list:
    """Names as parameters of a test; those that are not in ``always`` run in `make test-all` only."""
    return [name if name in always else pytest.param(name, marks=pytest.mark.nightly) for name in names]


def drawn(names: Iterable[str]) -> str:
    """The one of these names that stands for all of them every time: always the same one."""
    return min(names, key=lambda name: zlib.crc32(name.encode()))
