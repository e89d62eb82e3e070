"""Exercises 2 and 6: what a character model learns from, and how it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check import core
from seqcourse.check.core import Case, Likely


def pairs_arguments(size: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `training_pairs`: a text of `size` characters, all different, and a length."""
    generator = torch.Generator().manual_seed(seed)
    return {"ids": torch.randperm(size, generator=generator) + 3, "length": length}


def reference_training_pairs(ids: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Rows of a text and the same rows one place later, each (M, length)."""
    rows = (len(ids) - 1) // length
    cut = rows * length
    return ids[:cut].reshape(rows, length), ids[1 : cut + 1].reshape(rows, length)


def _pairs_one_row_too_many(ids, length):
    rows = len(ids) // length
    inputs = ids[: rows * length].reshape(rows, length)
    return inputs, ids[1 : rows * length + 1].reshape(rows, length)


def _pairs_rolled(ids, length):
    cut = len(ids) // length * length
    return ids[:cut].reshape(-1, length), torch.roll(ids, -1)[:cut].reshape(-1, length)


def _pairs_rolled_in_row(ids, length):
    inputs = reference_training_pairs(ids, length)[0]
    return inputs, torch.roll(inputs, -1, dims=1)


TRAINING_PAIRS = [
    Likely(
        "Are the targets the inputs themselves? They are one place later in the text.",
        lambda ids, length: (reference_training_pairs(ids, length)[0],) * 2,
    ),
    Likely(
        "Did you swap the two? The inputs come first, the targets are one place later.",
        lambda ids, length: reference_training_pairs(ids, length)[::-1],
    ),
    Likely(
        "Does the last character of a row ask for the first of the same row? It asks for the "
        "character that follows in the text.",
        _pairs_rolled_in_row,
    ),
    Likely(
        "Does the last character of the text ask for the first one (torch.roll)? Nothing follows "
        "it: the number of rows is (N - 1) // length.",
        _pairs_rolled,
    ),
    Likely(
        "The last target would lie after the end of the text. Is the number of rows (N - 1) // length?",
        _pairs_one_row_too_many,
    ),
    Likely(
        "Is the last full row missing? Is the number of rows (N - 1) // length?",
        lambda ids, length: reference_training_pairs(ids[:-1], length),
    ),
    Likely(
        "Do your rows overlap? The next row begins where the row before it ends.",
        lambda ids, length: (ids[:-1].unfold(0, length, 1), ids[1:].unfold(0, length, 1)),
    ),
    Likely(
        "Does the text run down the columns? Each row holds `length` neighbouring characters.",
        lambda ids, length: tuple(
            part.reshape(length, -1).T for part in reference_training_pairs(ids, length)
        ),
    ),
]


def training_pairs(student: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Check exercise 2: inputs and targets of a language model."""

    def make(size: int, length: int) -> Callable[[], dict[str, Any]]:
        return lambda: {"ids": torch.arange(3, 3 + size) * 7 % 61, "length": length}

    many = "Are the rows counted with (N - 1) // length?"
    cases = [
        Case("the first example", make(12, 3)),
        Case("10 characters in rows of 3: exactly 3 rows", make(10, 3), many),
        Case("9 characters in rows of 3: only 2 rows have all their targets", make(9, 3), many),
        Case("rows of 1", make(6, 1), many),
    ]
    core.check_function("training_pairs", student, reference_training_pairs, cases, TRAINING_PAIRS)


def writer_arguments(batch: int, prompt: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `continue_text`: a small network whose `choose` takes the unlikeliest."""
    v, h = 29, 12  # so large that two mistakes hardly ever write the same
    weights = core.normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed=seed + 1)

    def step(tokens: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Any]:
        state_h, count = state
        state_h = torch.tanh(weights["table"][tokens] + state_h @ weights["w"])
        return state_h @ weights["out"], (state_h, count + 1)

    start = core.normal({"h": (batch, h), "count": (batch, 1)}, seed=seed + 2)
    generator = torch.Generator().manual_seed(seed)
    return {
        "step": step,
        "state": (start["h"], start["count"]),
        "prompt": torch.randint(v, (batch, prompt), generator=generator),
        "length": length,
        "choose": lambda logits: logits.argmin(dim=-1),
    }


def _write(step, state, prompt, length, choose, *, keep=True, feed="own", first=()) -> list[Tensor]:
    """Read a prompt and write; the options make the mistakes of CONTINUE_TEXT."""
    start = state
    for t in range(prompt.shape[1]):
        logits, new = step(prompt[:, t], state)
        state = new if keep else start
    for tokens in first:  # fed once more before the first choice
        logits, state = step(tokens, state)
    written = [choose(logits)]
    while len(written) < length:
        logits, new = step(written[-1] if feed == "own" else prompt[:, -1], state)
        state = new if keep else start
        written.append(choose(logits))
    return written


def reference_continue_text(step, state, prompt, length, choose) -> Tensor:
    """The tokens written after the prompt, (B, length)."""
    return torch.stack(_write(step, state, prompt, length, choose), dim=1)


def _written(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: torch.stack(_write(*arguments, **mistake), dim=1)


def _with_length(change: int, begin: int = 0) -> Callable[..., Tensor]:
    return lambda step, state, prompt, length, choose: torch.stack(
        _write(step, state, prompt, length + change, choose)[begin:], dim=1
    )


CONTINUE_TEXT = [
    Likely(
        "Do you feed the last character of the prompt twice? The logits after reading it already "
        "give the first new one.",
        lambda step, state, prompt, length, choose: _written(first=[prompt[:, -1]])(
            step, state, prompt, length, choose
        ),
    ),
    Likely(
        "Is only the last character of the prompt read? The state should know all of it.",
        lambda step, state, prompt, length, choose: reference_continue_text(
            step, state, prompt[:, -1:], length, choose
        ),
    ),
    Likely(
        "Is only the first character of the prompt read? The state should know all of it.",
        lambda step, state, prompt, length, choose: reference_continue_text(
            step, state, prompt[:, :1], length, choose
        ),
    ),
    Likely(
        "Does every step start from the first state? Hand on the state that step returns.",
        _written(keep=False),
    ),
    Likely(
        "Did you pick the likeliest character yourself? What comes next is up to choose: use "
        "choose(logits).",
        lambda step, state, prompt, length, choose: reference_continue_text(
            step, state, prompt, length, lambda logits: logits.argmax(dim=-1)
        ),
    ),
    Likely(
        "Is the last character of the prompt fed again and again? Feed the newest choice.",
        _written(feed="prompt"),
    ),
    Likely(
        "Does your result hold the prompt as well? Only the new characters are asked for.",
        lambda step, state, prompt, length, choose: torch.cat(
            [prompt, reference_continue_text(step, state, prompt, length, choose)], dim=1
        ),
    ),
    Likely(
        "Is the first new character missing? It comes from the logits after the prompt.",
        _with_length(1, begin=1),
    ),
    Likely("Is there one character too many?", _with_length(1)),
    Likely("Is there one character too few?", _with_length(-1)),
    Likely(
        "Did you stack along the first axis? The batch comes first: torch.stack(written, dim=1).",
        lambda *arguments: torch.stack(_write(*arguments)),
    ),
    Likely(
        "Did you return a list? Stack it to one tensor.",
        lambda *arguments: _write(*arguments),
    ),
]


def continue_text(student: Callable[..., Tensor]) -> None:
    """Check exercise 6: read a prompt, then write on from it."""
    sizes = {
        "the first example": (2, 4, 6),
        "a batch of 1": (1, 3, 5),
        "a prompt of one character": (3, 1, 4),
        "length 1": (2, 3, 1),
        "a longer text": (4, 6, 12),
    }
    cases = [
        Case(label, lambda s=size, k=k: writer_arguments(*s, seed=10 * k))
        for k, (label, size) in enumerate(sizes.items())
    ]
    core.check_function("continue_text", student, reference_continue_text, cases, CONTINUE_TEXT)
