"""Figures are drawn without a screen, and none may stay open after a test."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def static(monkeypatch):
    """As while the book is being built."""
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")
