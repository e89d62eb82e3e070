"""Self-checks that students run: `check.ps1.rnn_step(rnn_step)` names the likely mistake."""

from seqcourse.check import core
from seqcourse.check.core import Mistake

__all__ = ["Mistake", "core", "ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7", "ps8"]


def __getattr__(name: str):
    """Load the checks of an assignment when they are first asked for."""
    if name.startswith("ps") and name in __all__:
        from importlib import import_module

        return import_module(f"seqcourse.check.{name}")
    raise AttributeError(f"seqcourse.check has no attribute {name!r}")
