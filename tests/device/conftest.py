"""The second device is there while a test of this folder runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seqcourse.audit import second

if not second.available():
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def present() -> Iterator[None]:
    with second.present():
        yield
