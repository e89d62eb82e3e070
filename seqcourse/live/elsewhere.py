"""A live figure: at one word the decoder looks at one position only, and writes on from there."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.live.figure import figure
from seqcourse.tokens import EOS, PAD, SOS

CAPTION = "What it writes if it looks at one position only"
MOST = 20  # tokens: every position is tried at every step


@dataclass(frozen=True)
class Row:
    """A word of the translation, its weights over the source, and what each position alone gives."""

    word: str
    weights: Sequence[float]
    alone: Sequence[str]


def elsewhere(model: str, label: str, examples: Sequence[str]) -> Any:
    """A sentence to type, and for each word of its translation what each position alone would bring.

    In a page a reader presses a cell, and the translation goes on from there. Make the call the last
    line of its cell.

    Args:
        model: a recurrent translator of the zoo with attention.
        label: what to type.
        examples: sentences; the first one's table is in the page.

    Raises:
        CourseError: if there is no label or example, if the model has no such attention, or if a
            sentence is longer than 20 tokens.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    system = zoo.load(model)
    if system.recipe.model != "AttentionSeq2Seq":
        raise CourseError(
            f"The model should be a recurrent translator with attention, but {model!r} is none. "
            f'Choose another, such as "en-es-attention".'
        )

    def run(text: str) -> Shown:
        (source,) = system.sources([text])
        if len(source) > MOST:
            raise CourseError(
                f"Write at most {MOST} words and punctuation marks here; these are {len(source)}."
            )
        rows = rows_of(system, source)
        words = [row.word for row in rows]
        language = system.recipe.data[-2:]
        return Shown(table_of(rows, [*source, "<eos>"], language), " ".join(words) or "nothing")

    return figure("elsewhere", {model: "The translator"}, label, examples, run)


def rows_of(system: Any, source: Sequence[str]) -> list[Row]:
    """A row for each word of the greedy translation."""
    import torch

    with torch.inference_mode():
        memory = system.encode([source])
        rows = []
        for token, before, state, weights in _steps(system, memory, {}):
            if token == EOS:
                break
            alone = [_best(_step(system, before, state, _only(memory, i))) for i in range(len(weights))]
            rows.append(Row(_name(system, token), weights.tolist(), [_name(system, i) for i in alone]))
    return rows


def goes_on(system: Any, source: Sequence[str], place: int, column: int) -> list[str]:
    """The greedy translation that looks at position `column` alone when it writes word `place`."""
    import torch

    with torch.inference_mode():
        steps = _steps(system, system.encode([source]), {place: column})
        return [_name(system, token) for token, *_ in steps if token != EOS]


def _steps(system: Any, memory: Any, only: Mapping[int, int]) -> Iterator[tuple]:
    """Each word with the word and the state before it, and its weights (T,); only: step -> position."""
    state, before, most = system.model.start(memory), SOS, 2 * memory.mask.shape[1] + 8
    for place in range(most):
        seen = _only(memory, only[place]) if place in only else memory
        out = _step(system, before, state, seen)
        token = _best(out)
        yield token, before, state, out.weights[0]
        if token == EOS:
            return
        state, before = out.state, token


def _only(memory: Any, position: int) -> Any:
    """The same memory, of which one position may be looked at: its weight is 1."""
    mask = memory.mask.new_zeros(memory.mask.shape)
    mask[:, position] = True
    return replace(memory, mask=mask)


def _step(system: Any, before: int, state: Any, memory: Any) -> Any:
    import torch

    return system.model.step(torch.tensor([before], device=system.device), state, memory)


def _best(out: Any) -> int:
    logits = out.logits[0].clone()
    logits[[PAD, SOS]] = -float("inf")
    return int(logits.argmax())


def _name(system: Any, token: int) -> str:
    return system.target.tokens[token]


def table_of(rows: Sequence[Row], source: Sequence[str], language: str) -> str:
    """A row per word, a column per position; bold: the same word. As runtime/elsewhere.js makes it."""
    told = f'<p class="sq-told" lang="{language}">{html.escape(" ".join(row.word for row in rows))}</p>'
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in source)
    body = ""
    for row in rows:
        cells = "".join(
            f'<td lang="{language}" style="--w:{weight:.3f}">{_in_bold(word, word == row.word)}</td>'
            for word, weight in zip(row.alone, row.weights, strict=True)
        )
        body += f'<tr><th scope="row" lang="{language}">{html.escape(row.word)}</th>{cells}</tr>'
    return (
        f'{told}<div class="sq-scroll"><table class="sq-weights sq-alone"><caption>{CAPTION}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _in_bold(word: str, same: bool) -> str:
    return f"<b>{html.escape(word)}</b>" if same else html.escape(word)
