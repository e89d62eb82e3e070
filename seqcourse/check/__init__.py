"""Self-checks that students run: `check.ps1.rnn_step(rnn_step)` names the likely mistake."""

import contextlib

from seqcourse.check import core
from seqcourse.check.core import Mistake
from seqcourse.check.panel import progress

__all__ = ["Mistake", "core", "progress", "ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7", "ps8", "ps9"]


class LeftOut:
    """Stands for the self-checks of an assignment while work is graded."""

    experiment = staticmethod(contextlib.nullcontext)

    def __getattr__(self, name: str):
        def left_out(*answers, **named) -> None:
            print("Self-checks are left out while work is graded.")

        return left_out


def __getattr__(name: str):
    """Load the checks of an assignment when they are first asked for, and what hidden tests import."""
    from importlib import import_module
    from importlib.util import find_spec

    if name == "verdict":
        return import_module("seqcourse.check.grade.verdict")
    if name.startswith("ps") and name in __all__:
        if find_spec(f"seqcourse.check.{name}").origin is None:  # a folder that a sandbox has emptied
            return LeftOut()
        return import_module(f"seqcourse.check.{name}")
    raise AttributeError(f"seqcourse.check has no attribute {name!r}")
