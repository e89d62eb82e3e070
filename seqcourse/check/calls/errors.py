"""Errors that a student's call raised: of a stub, of what kind, and what to ask of them."""

from __future__ import annotations

import dis
import re
from typing import Any

from seqcourse.check.calls.libraries import LIBRARIES
from seqcourse.check.told.discreet import is_discreet


def is_unsolved(error: BaseException) -> bool:
    """Whether an exercise's stub raised this error: a NotImplementedError raised outside libraries.

    PyTorch also raises NotImplementedError, for unsupported operations.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if not isinstance(error, NotImplementedError) or trace is None:
        return False
    code = trace.tb_frame.f_code
    if code.co_filename.startswith(LIBRARIES):
        return False
    # Raised in this line of the answer, not by compiled code that it calls.
    return any(
        step.offset == trace.tb_lasti and step.opname == "RAISE_VARARGS"
        for step in dis.get_instructions(code)
    )


def error_kind(value: Any) -> str:
    return getattr(value, "kind", type(value).__name__)


def signature_question(name: str, got: Exception) -> str:
    """A question if the function does not accept the arguments it was called with, otherwise ""."""
    if error_kind(got) == "TypeError" and str(got).startswith(f"{name.split()[0]}() "):
        return "Does it take the arguments that the text lists, in that order?"
    return ""


# What to ask of an error that no likely mistake explains.
_OF_ERRORS = {
    r"shapes cannot be multiplied|Expected size for first two dimensions": (
        "Is a transpose missing, or one too many? In a @ b the columns of a meet the rows of b."
    ),
    r"must match the size of tensor": (
        "Is an axis missing, such as [:, None]? Or was only one of two sequences shortened? "
        "Sizes are compared from the last axis on."
    ),
    r"[Ii]ndex -?\d+ is out of bounds|[Ii]ndex out of range": (
        "Is an index larger than its axis? argmax() without dim counts through the whole tensor, and a "
        "row number that is computed may need a limit."
    ),
    "A mask should fit": (
        "Which axis of the mask belongs to which of the scores? They are lined up from the last one on."
    ),
    "unexpected keyword argument": (
        "Which function is called in that line, and do its arguments have these names? The table above "
        "the exercise has them."
    ),
    "values to unpack": (
        "Is a shape taken apart into too many axes, or too few? shape[-1] counts from the end."
    ),
    r"Dimension out of range": (
        "Does squeeze() or an index drop an axis, or are axes counted from the front? -1 is the last."
    ),
}
# What to ask of errors that have nothing to do with shapes, whatever the input.
_OF_KINDS = {
    "NameError": "Is the name misspelt, or was the cell that defines it not run?",
    "UnboundLocalError": "Is the name given a value on every way to that line?",
    "ModuleNotFoundError": "Is the module's name misspelt? torch, numpy and math are there.",
    "ZeroDivisionError": "Which number can be 0 there? Ask first, or divide by at least 1.",
    "AttributeError": "What stands before the dot there? print(type(...)) says what it is.",
    "KeyError": "Which keys does it have? Print them just before that line.",
    "RecursionError": "When does the function stop calling itself?",
}
_SHAPES = "What meets in that line? Print the shapes just before it."
_WITH_SHAPES = ("RuntimeError", "IndexError", "ValueError", "TypeError")


def error_question(got: Exception, hint: str) -> str:
    """What to ask of an error: about its kind, then the case's own hint, then about its message."""
    kind, told = error_kind(got), str(got)
    if kind in _OF_KINDS:
        return _OF_KINDS[kind]
    if hint and "Dimension out of range" not in told:
        return hint
    known = next((words for part, words in _OF_ERRORS.items() if re.search(part, told)), hint)
    return known or (_SHAPES if kind in _WITH_SHAPES and not is_discreet() else "")
