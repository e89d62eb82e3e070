"""A student's model as an ONNX graph; what cannot be exported is named by its line."""

from __future__ import annotations

import contextlib
import io
import linecache
import logging
import re
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram

from seqcourse.errors import CourseError
from seqcourse.publish.contract import LONGEST, Contract, example_picture
from seqcourse.tokens import SOS

FIXED = 16, 24  # words read and written, where a graph takes one size only
OPSET = 20
# What errors of PyTorch's exporter hold, and what they mean.
PACKS = (
    "PyTorch packs by the values of the lengths, which a page has only later: give one sentence "
    "unpacked, or use seqcourse.nn.Recurrent"
)
REASONS = {
    "_detect_is_causal_mask": "PyTorch looks whether the mask is causal: say tgt_is_causal=True",
    "pack_padded_sequence": PACKS,
    "pad_packed_sequence": PACKS,
    "data-dependent": "it looks at the values of a tensor, which a page has only later",
}


def program(made: Contract, name: str) -> ExportedProgram:
    """Trace the module: for any lengths if its code allows it, else for fixed ones, padded.

    Sets ``made.sizes``.

    Raises:
        CourseError: a line cannot be exported; the sentence names it.
    """
    made.sizes = None
    with contextlib.suppress(Exception):
        traced = _traced(made, (8, 6), any_length=True)
        if _takes_any_length(traced, made):
            return traced
    made.sizes = FIXED  # a loop over the words is unrolled for one length
    try:
        traced = _traced(made, FIXED)
    except Exception as error:
        made.sizes = None
        raise CourseError(_sentence(error, name)) from error
    _check_padded(traced, made, name)
    return traced


def _traced(made: Contract, sizes: tuple[int, int], any_length: bool = False) -> ExportedProgram:
    options: dict[str, Any] = {}
    if any_length:
        # The module takes any number of tensors: their shapes are those of one argument.
        lengths = {1: Dim.AUTO}
        axes = (lengths, None, lengths) if made.source else (None, lengths)
        options["dynamic_shapes"] = {"given": axes}
        options["prefer_deferred_runtime_asserts_over_guards"] = True
    with quiet(), torch.no_grad():
        return torch.export.export(made.module, _example(made, *sizes), strict=False, **options)


def _example(made: Contract, read: int, written: int) -> tuple[Tensor, ...]:
    """Inputs of these sizes."""
    target = made.wrote([SOS, *(4 + k % 3 for k in range(written - 1))])
    if made.source is None:
        return *made.given(example_picture()), target
    return *made.given([4 + k % 4 for k in range(read)]), target


def _takes_any_length(traced: ExportedProgram, made: Contract) -> bool:
    """Whether the traced program computes what the module does, at other lengths than it saw."""
    run = traced.module()
    for sizes in ((2, 1), (3, 11), (13, 4), (LONGEST, LONGEST)):
        given = _example(made, *sizes)
        with torch.no_grad():
            for ours, theirs in zip(run(*given), made.module(*given), strict=True):
                if ours.shape != theirs.shape or not torch.allclose(ours, theirs, atol=1e-4):
                    return False
    return True


def _check_padded(traced: ExportedProgram, made: Contract, name: str) -> None:
    """Refuse a program of fixed sizes in which the padding changes what is written.

    Raises:
        CourseError: it does.
    """
    run = traced.module()
    for read, written in ((2, 1), (5, 3), (FIXED[0], 9)):
        made.sizes = None
        alone = _example(made, read, written)
        made.sizes = FIXED
        with torch.no_grad():
            padded = run(*_example(made, read, written))
            for ours, theirs in zip(padded, made.module(*alone), strict=True):
                ours = ours[:, :written]
                if ours.shape != theirs.shape:  # weights
                    ours = ours[:, :, : theirs.shape[2]]
                if not torch.allclose(ours, theirs, atol=1e-4, equal_nan=True):
                    raise CourseError(
                        f"logits of {name} gives other numbers when <pad> stands behind the sentence or "
                        f"behind what is written. A loop over words has one length in a page, so the "
                        f"page pads to {FIXED[0]} and {FIXED[1]}: hide what lies behind lengths, with "
                        f"functional.length_mask or seqcourse.nn.Recurrent."
                    )


def onnx(traced: ExportedProgram, made: Contract, name: str) -> bytes:
    """The graph of a traced module as ONNX.

    Raises:
        CourseError: the packages that make it are missing, or an operation has no form in ONNX.
    """
    missing = [each for each in ("onnx", "onnxscript") if find_spec(each) is None]
    if missing:
        raise CourseError(
            f"A page needs {' and '.join(missing)}, which are not installed. "
            f'Install them: pip install "seqcourse[publish]"'
        )
    with quiet(), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        names = ["source", "lengths", "target"] if made.source else ["picture", "target"]
        try:
            graph = torch.onnx.export(
                traced, (), dynamo=True, opset_version=OPSET, input_names=names, verbose=False
            )
        except Exception as error:
            raise CourseError(_sentence(error, name)) from error
        path = Path(folder, "model.onnx")
        graph.save(str(path))
        return path.read_bytes()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without what the exporter tells its developers, and without PyTorch's shortcut through a trained
    nn.Transformer, which looks at the values of its masks.
    """
    before, shortcut = logging.root.manager.disable, torch.backends.mha.get_fastpath_enabled()
    logging.disable(logging.ERROR)
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings(), contextlib.ExitStack() as redirected:
            warnings.simplefilter("ignore")
            for redirect in (contextlib.redirect_stdout, contextlib.redirect_stderr):
                redirected.enter_context(redirect(io.StringIO()))
            yield
    finally:
        logging.disable(before)
        torch.backends.mha.set_fastpath_enabled(shortcut)


def _sentence(error: BaseException, name: str) -> str:
    """What cannot be exported: the last line of the notebook that ran, and why."""
    text, found, each = "", None, error
    while each is not None:
        called = traceback.extract_tb(each.__traceback__)
        text += f"{each}\n{' '.join(frame.name for frame in called)}\n"
        frames = [frame for frame in called if _is_own(frame.filename, name)]
        found = (frames[-1].filename, frames[-1].lineno, frames[-1].name) if frames else found
        each = each.__cause__ or each.__context__
    if found is None:  # the exporter quotes the line of a traced operation
        quoted = re.findall(r'File "([^"]+)", line (\d+), in (\w+)', text)
        quoted = [(file, int(line), where) for file, line, where in quoted if _is_own(file, name)]
        found = quoted[-1] if quoted else None
    why = next((said for sign, said in REASONS.items() if sign in text), "")
    if not why:
        first = next(iter(str(error).strip().splitlines()), "")
        why = f"{type(error).__name__}: {first[:200]}"
    if found is None:
        return f"The model of {name} cannot be exported: {why}."
    file, number, where = found
    line = linecache.getline(file, number).strip()
    return f"This line of {name}, in {where}, cannot be exported: `{line}`. The reason: {why}."


def _is_own(file: str, name: str) -> bool:
    """Whether a file's name is that of the notebook's code, or of a cell of the one that runs."""
    return file == name or "ipykernel_" in file or file.startswith("<ipython-input")
