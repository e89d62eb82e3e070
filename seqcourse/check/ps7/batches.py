"""Exercise 1: documents as rows of inputs and targets for a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Case, Exercise, cases_of
from seqcourse.check.ps7.ids import FIRST, IGNORE, PAD

Documents = Sequence[Sequence[int]]


def batch_arguments(sizes: Sequence[int], length: int, end: int = 2, seed: int = 0) -> dict[str, Any]:
    """Arguments of `language_batch`: documents of these sizes, the length of a row, the separator."""
    generator = torch.Generator().manual_seed(seed)
    documents = [torch.randint(FIRST, 60, (size,), generator=generator).tolist() for size in sizes]
    return {"documents": documents, "length": length, "end": end}


def _stream(documents: Documents, end: int) -> list[int]:
    return [token for document in documents for token in [*document, end]]


def _cut(inputs: list[int], targets: list[int], length: int, pad: int = PAD, ignore: int = IGNORE):
    """Two streams as rows; what is left in the last row is filled up."""
    left = -len(inputs) % length
    rows = torch.tensor(inputs + [pad] * left), torch.tensor(targets + [ignore] * left)
    return tuple(row.reshape(-1, length) for row in rows)


def reference_language_batch(documents: Documents, length: int, end: int) -> tuple[Tensor, Tensor]:
    """Inputs and targets (R, length): all documents as one stream, each followed by `end`."""
    stream = _stream(documents, end)
    return _cut(stream[:-1], stream[1:], length)


def _streamed(make: Callable[[Documents, int], list[int]], **fill: int) -> Callable[..., Any]:
    """Rows of another stream than the right one."""

    def answer(documents, length, end):
        stream = make(documents, end)
        return _cut(stream[:-1], stream[1:], length, **fill)

    return answer


def _between(documents, end):
    return _stream(documents, end)[:-1]


def _in_front(documents, end):
    return [token for document in documents for token in [end, *document]]


def _empty_left_out(documents, end):
    return _stream([document for document in documents if document], end)


def _no_separator(documents, end):
    return [token for document in documents for token in document]


def _one_row_too_many(documents, length, end):
    stream = _stream(documents, end)
    rows = len(stream) // length + 1
    inputs = stream[:-1] + [PAD] * (rows * length - len(stream) + 1)
    targets = stream[1:] + [IGNORE] * (rows * length - len(stream) + 1)
    return torch.tensor(inputs).reshape(rows, length), torch.tensor(targets).reshape(rows, length)


def _last_token_is_an_input(documents, length, end):
    """The whole stream is fed; after its last token nothing is asked."""
    stream = _stream(documents, end)
    return _cut(stream, [*stream[1:], IGNORE], length)


def _cut_before_the_shift(documents, length, end):
    rows = _cut(*[_stream(documents, end)] * 2, length)
    return rows[0][:, :-1], rows[1][:, 1:]


def _document_per_row(documents, length, end):
    real = [list(document) for document in documents if document]
    rows = [_cut(document, [*document[1:], end], length) for document in real]
    return tuple(torch.cat(part) for part in zip(*rows, strict=True))


def _rolled(documents, length, end):
    stream = _stream(documents, end)
    return _cut(stream, [*stream[1:], stream[0]], length)


def _rolled_in_row(documents, length, end):
    inputs = reference_language_batch(documents, length, end)[0]
    return inputs, inputs.roll(-1, dims=1)


def _down_the_columns(documents, length, end):
    parts = reference_language_batch(documents, length, end)
    return tuple(part.reshape(length, -1).T for part in parts)


def _ends_ignored(documents, length, end):
    inputs, targets = reference_language_batch(documents, length, end)
    return inputs, targets.masked_fill(targets == end, IGNORE)


def _overlapping(documents, length, end):
    stream = torch.tensor(_stream(documents, end))
    return stream[:-1].unfold(0, length, 1), stream[1:].unfold(0, length, 1)


def _filled_in_front(documents, length, end):
    stream = _stream(documents, end)
    left = -(len(stream) - 1) % length
    return _cut([PAD] * left + stream[:-1], [IGNORE] * left + stream[1:], length)


def _rowwise(pairs: tuple[Tensor, Tensor]) -> tuple[list, list]:
    return tuple(part.tolist() for part in pairs)


_LIKELY = {
    "Did you swap the two? The inputs come first, the targets one place later.": (
        lambda *a: reference_language_batch(*a)[::-1]
    ),
    "Is the separator missing? `end` stands after every document.": _streamed(_no_separator),
    "Does the last document have no separator after it? Where it ends must be learned too.": _streamed(
        _between
    ),
    "Is an empty document left out? Its separator stands in the stream like that of any other.": (
        _streamed(_empty_left_out)
    ),
    "Does the separator stand in front of each document? It stands after it.": _streamed(_in_front),
    "Are the inputs filled up with IGNORE? It is no id that a model can be fed: use PAD.": _streamed(
        _stream, pad=IGNORE
    ),
    "Are the inputs filled up with the separator? They are filled up with PAD.": (
        lambda documents, length, end: _cut(
            _stream(documents, end)[:-1], _stream(documents, end)[1:], length, pad=end
        )
    ),
    "Does the filling stand in front? It fills up the last row, behind.": _filled_in_front,
    "Are PAD and IGNORE swapped? Inputs are filled up with PAD, targets with IGNORE.": _streamed(
        _stream, pad=IGNORE, ignore=PAD
    ),
    "Is there a row of nothing but filling? Of S tokens S - 1 are asked for, which makes "
    "(S - 1) / length rows, rounded up.": _one_row_too_many,
    "Is the last token of the stream an input? Nothing follows it: the inputs are stream[:-1].": (
        _last_token_is_an_input
    ),
    "Did you cut rows first and then shift within each row? The first token of every row is then "
    "never asked for. Shift the stream, then cut both.": _cut_before_the_shift,
    "Is the id of the separator written into your code? It is handed in as `end`.": (
        lambda documents, length, end: reference_language_batch(documents, length, 2)
    ),
    "Does every document begin a row of its own? They follow each other in one stream.": (
        _document_per_row
    ),
    "Does the end of the stream ask for its beginning (torch.roll)? Nothing follows it.": _rolled,
    "Does the end of a row ask for its own beginning? It asks for what follows in the stream.": (
        _rolled_in_row
    ),
    "Does the stream run down the columns? Each row holds `length` neighbouring tokens.": (
        _down_the_columns
    ),
    "Is the separator never a target? That a document ends is learned like a word.": _ends_ignored,
    "Do your rows overlap? The next row begins where the row before it ends.": _overlapping,
    "Are they lists? Two tensors are asked for: torch.tensor(...).": (
        lambda *a: _rowwise(reference_language_batch(*a))
    ),
}


_FILLED = "Inputs are filled up with PAD, targets with IGNORE, as far as the last row reaches."

language_batch = Exercise(
    "language_batch",
    make=batch_arguments,
    reference=reference_language_batch,
    likely=_LIKELY,
    cases=[
        Case("the first example", lambda: batch_arguments((4, 1, 5), 4)),
        Case(
            "another separator",
            lambda: batch_arguments((3, 6), 5, end=3),
            "Is the id of the separator written into your code?",
        ),
        Case("rows of one token", lambda: batch_arguments((2, 3), 1)),
        Case("an empty document", lambda: batch_arguments((3, 0, 2), 7, seed=4)),
        *cases_of(
            batch_arguments,
            {
                "a last row that is filled up": dict(sizes=(5, 3, 2), length=5, seed=1),
                "one document, shorter than a row": dict(sizes=(4,), length=9, seed=2),
                "a last row with a single token": dict(sizes=(6, 4), length=5, seed=3),
            },
            _FILLED,
        ),
    ],
    forbid=("TextBatches",),
    idea="A language model reads all documents as one stream, and every token asks for the next.",
    see=("12", "Pre-train: the next word"),
)
