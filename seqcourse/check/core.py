"""What the modules of exercises and of tests need of the checks, by one import."""

from __future__ import annotations

from seqcourse.check.calls.compare import Likely, Mistake, compare, describe, same
from seqcourse.check.calls.gradients import gradients
from seqcourse.check.calls.inputs import copy, drawn, noncontiguous, normal
from seqcourse.check.calls.recording import after, judge, poll_verdict, quiet, record, unchanged
from seqcourse.check.calls.values import arrays, result

__all__ = [
    "Likely",
    "Mistake",
    "after",
    "arrays",
    "compare",
    "copy",
    "describe",
    "drawn",
    "gradients",
    "judge",
    "noncontiguous",
    "normal",
    "poll_verdict",
    "quiet",
    "record",
    "result",
    "same",
    "unchanged",
]
