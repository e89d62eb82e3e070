"""Kinds of inputs that hidden checks of every exercise hold, and what an exercise need not see.

Without a word the gradients of all floating inputs are compared, the first case is in single precision,
every second one has other strides, and what has no gradients is called once more with other numbers of
the same sizes. The card of an exercise says what is left out, and the reason:
"excused: gradients - why; float32 - why". `tests/check/test_kinds.py` compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from seqcourse.check.calls.inputs import as_float32, each_tensor, noncontiguous

GRADIENTS, FLOAT32, STRIDES, AGAIN = "gradients", "float32", "strides", "again"
# What the kinds are called in the sentence that names the input.
WORDS = {FLOAT32: "float32", STRIDES: "not contiguous", AGAIN: "other numbers"}

Arguments = dict[str, Any]


def varied(made: Mapping[str, Arguments], excused: Mapping[str, str]) -> dict[str, Arguments]:
    """The cases of a check in both precisions and with other strides, named after them."""
    found = {}
    for number, (kind, given) in enumerate(made.items()):
        form, change = (STRIDES, _strided) if number % 2 else (FLOAT32, as_float32)
        changed = given if form in excused or number > 1 and form == FLOAT32 else change(given)
        same = _forms(changed) == _forms(given)
        found[kind if same else f"{kind}, {WORDS[form]}"] = given if same else changed
    return found


def _strided(given: Arguments) -> Arguments:
    """Only what the answer is handed itself: a model would notice nothing."""
    return {
        name: value if callable(value) else each_tensor(lambda _, part: noncontiguous(part), value)
        for name, value in given.items()
    }


def _forms(value: Any) -> list[tuple]:
    found: list[tuple] = []

    def note(_: str, part: Tensor) -> Tensor:
        found.append((part.dtype, part.stride()))
        return part

    each_tensor(note, value)
    return found
