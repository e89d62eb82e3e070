"""Tests at two sizes: `make test` runs a part of the cases, `make test-all` every one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest


def nightly_but(always: Collection[str], names: Iterable[str]) -> list:
    """Names as parameters of a test; those that are not in ``always`` run in `make test-all` only."""
    return [name if name in always else pytest.param(name, marks=pytest.mark.nightly) for name in names]
