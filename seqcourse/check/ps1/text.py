"""Exercises 2 and 6: what a character model learns from, and how it writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Case, Exercise, cases_of
from seqcourse.check.inputs import normal
from seqcourse.check.inside import ps1 as inside


def pairs_arguments(size: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `training_pairs`: a text of `size` characters, all different, and a length.

    Their numbers are large: nothing is said of how many characters there are.
    """
    generator = torch.Generator().manual_seed(seed)
    return {"ids": torch.randperm(size, generator=generator) * 10**9 + 3, "length": length}


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


_PAIRS_LIKELY = {
    "Are the targets the inputs themselves? They are one place later in the text.": (
        lambda ids, length: (reference_training_pairs(ids, length)[0],) * 2
    ),
    "Did you swap the two? The inputs come first, the targets are one place later.": (
        lambda ids, length: reference_training_pairs(ids, length)[::-1]
    ),
    "Does the last character of a row ask for the first of the same row? It asks for the "
    "character that follows in the text.": _pairs_rolled_in_row,
    "Does the last character of the text ask for the first one (torch.roll)? Nothing follows "
    "it: the number of rows is (N - 1) // length.": _pairs_rolled,
    "The last target would lie after the end of the text. Is the number of rows (N - 1) // length?": (
        _pairs_one_row_too_many
    ),
    "Is the last full row missing? Is the number of rows (N - 1) // length?": (
        lambda ids, length: reference_training_pairs(ids[:-1], length)
    ),
    "Does a row begin `length` + 1 characters after the one before? Cut `length` characters, and look "
    "one place further for the targets.": (
        lambda ids, length: tuple(
            ids[: len(ids) // (length + 1) * (length + 1)].reshape(-1, length + 1)[:, part]
            for part in (slice(0, -1), slice(1, None))
        )
    ),
    "Is what is left over dropped at the beginning of the text? It is dropped at the end.": (
        lambda ids, length: reference_training_pairs(ids[(len(ids) - 1) % length :], length)
    ),
    "Do your rows overlap? The next row begins where the row before it ends.": (
        lambda ids, length: (ids[:-1].unfold(0, length, 1), ids[1:].unfold(0, length, 1))
    ),
    "Does the text run down the columns? Each row holds `length` neighbouring characters.": (
        lambda ids, length: tuple(
            part.reshape(length, -1).T for part in reference_training_pairs(ids, length)
        )
    ),
}


def _numbered(size: int, length: int) -> dict[str, Any]:
    return {"ids": torch.arange(3, 3 + size) * 7 % 61 * 10**9, "length": length}


training_pairs = Exercise(
    "training_pairs",
    make=pairs_arguments,
    reference=reference_training_pairs,
    likely=_PAIRS_LIKELY,
    cases=[
        Case("the first example", lambda: _numbered(12, 3)),
        *cases_of(
            _numbered,
            {
                "10 characters in rows of 3: exactly 3 rows": dict(size=10, length=3),
                "9 characters in rows of 3: only 2 rows have all their targets": dict(size=9, length=3),
                "rows of 1": dict(size=6, length=1),
            },
            "Are the rows counted with (N - 1) // length?",
        ),
    ],
    idea="A language model learns to say at every place which character comes next.",
    see=("01", "A network that writes"),
)


def writer_arguments(batch: int, prompt: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `continue_text`: a small network whose `choose` takes the unlikeliest."""
    v, h = 29, 12  # so large that two mistakes hardly ever write the same
    weights = normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed=seed + 1)
    start = normal({"h": (batch, h), "count": (batch, 1)}, seed=seed + 2)
    generator = torch.Generator().manual_seed(seed)
    return {
        "step": partial(inside.write_step, **weights),
        "state": (start["h"], start["count"]),
        "prompt": torch.randint(v, (batch, prompt), generator=generator),
        "length": length,
        "choose": partial(inside.unlikeliest, []),
    }


def _own(written, prompt, choose, logits):
    return written[-1]


def _write(
    step,
    state,
    prompt,
    length,
    choose,
    *,
    keep=True,
    feed=_own,
    first=(),
    forget=False,
    early=False,
) -> list[Tensor]:
    """Read a prompt and write; the options make mistakes."""
    for asked in getattr(choose, "args", ()):  # `unlikeliest` begins anew
        asked.clear()
    start = state
    for t in range(prompt.shape[1]):
        logits, new = step(prompt[:, t], state)
        state = new if keep else start
        if early and t + 1 < prompt.shape[1]:
            choose(logits)
    state = start if forget else state
    for tokens in first:  # fed once more before the first choice
        logits, state = step(tokens, state)
    written = [choose(logits)]
    while len(written) < length:
        logits, new = step(feed(written, prompt, choose, logits), state)
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


_WRITER_LIKELY = {
    "Do you feed the last character of the prompt twice? The logits after reading it already "
    "give the first new one.": (
        lambda step, state, prompt, *rest: _written(first=[prompt[:, -1]])(step, state, prompt, *rest)
    ),
    "Is only the last character of the prompt read? The state should know all of it.": (
        lambda step, state, prompt, *rest: _written()(step, state, prompt[:, -1:], *rest)
    ),
    "Is only the first character of the prompt read? The state should know all of it.": (
        lambda step, state, prompt, *rest: _written()(step, state, prompt[:, :1], *rest)
    ),
    "Does every step start from the first state? Hand on the state that step returns.": _written(
        keep=False
    ),
    "Is the last character of the prompt never read? The first new one comes after it.": (
        lambda step, state, prompt, *rest: _written()(step, state, prompt[:, :-1], *rest)
    ),
    "Is what the prompt left in the state forgotten? Writing goes on from the state after it.": _written(
        forget=True
    ),
    "Did you pick the likeliest character yourself? What comes next is up to choose: use "
    "choose(logits).": (
        lambda *arguments: _written()(*arguments[:-1], lambda logits: logits.argmax(dim=-1))
    ),
    "Is the last character of the prompt fed again and again? Feed the newest choice.": _written(
        feed=lambda written, prompt, *rest: prompt[:, -1]
    ),
    "Is choose called twice for a character? A draw comes out differently each time: call it once, and "
    "feed what it gave.": _written(feed=lambda written, prompt, choose, logits: choose(logits)),
    "Is choose called while the prompt is still read? A draw comes out differently each time: call it "
    "for new characters only.": _written(early=True),
    "Does your result hold the prompt as well? Only the new characters are asked for.": (
        lambda step, state, prompt, length, choose: torch.cat(
            [prompt, reference_continue_text(step, state, prompt, length, choose)], dim=1
        )
    ),
    "Does your result begin with the end of the prompt? Only the new characters are asked for.": (
        lambda step, state, prompt, length, choose: torch.cat(
            [prompt[:, -1:], _written()(step, state, prompt, length - 1, choose)], dim=1
        )[:, :length]
    ),
    "Is the first new character missing? It comes from the logits after the prompt.": _with_length(
        1, begin=1
    ),
    "Is there one character too many?": _with_length(1),
    "Is there one character too few?": _with_length(-1),
    "Did you stack along the first axis? The batch comes first: torch.stack(written, dim=1).": (
        lambda *arguments: torch.stack(_write(*arguments))
    ),
    "Did you return a list? Stack it to one tensor.": _write,
}


continue_text = Exercise(
    "continue_text",
    make=writer_arguments,
    reference=reference_continue_text,
    likely=_WRITER_LIKELY,
    cases=cases_of(
        writer_arguments,
        {
            "the first example": dict(batch=2, prompt=4, length=6, seed=0),
            "a batch of 1": dict(batch=1, prompt=3, length=5, seed=10),
            "a prompt of one character": dict(batch=3, prompt=1, length=4, seed=20),
            "length 1": dict(batch=2, prompt=3, length=1, seed=30),
            "a longer text": dict(batch=4, prompt=6, length=12, seed=40),
        },
    ),
    idea="A network writes by reading its own last character as the next input.",
    see=("01", "A network that writes"),
)
