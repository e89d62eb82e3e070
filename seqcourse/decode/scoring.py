"""The log-probability of outputs that are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.decode.interface import StepModel
from seqcourse.decode.running import Rows, begin, evaluating, next_log_probs, token_in_vocabulary
from seqcourse.decode.trees import row_count, select
from seqcourse.tokens import EOS, PAD


def score(
    model: StepModel,
    memory: Any,
    token_lists: Sequence[Sequence[int]],
    finished: bool | Sequence[bool] = True,
    *,
    prefix: Sequence[int] | Tensor | None = None,
) -> Tensor:
    r"""\log P(y | source) = \sum_t \log P(y_t | y_1..y_{t-1}, source) of every given output.

    memory: of N sentences, one per output, or of one sentence, which is then the source of all N; None
        for a language model.
    token_lists: N lists of ids without padding, as in `Hypothesis.tokens`: without <sos> and <eos>.
    finished: whether <eos> follows the last token and counts: one answer for all, or one for each.
    prefix: the ids that are fed first, without being scored; default [<sos>].

    Returns (N,) float64 on the CPU. An output that the model rules out has -inf.

    Raises ValueError where the numbers of outputs, sentences and flags do not fit, for ids outside the
    vocabulary, for <eos> among them and for padding.
    """
    count = len(token_lists)
    if count == 0:
        raise ValueError("token_lists is empty; expected at least one output to score.")
    each = isinstance(finished, Iterable)
    flags = list(map(bool, finished)) if each else [bool(finished)] * count
    if len(flags) != count:
        raise ValueError(f"finished has {len(flags)} entries for {count} outputs; give one for each.")
    sentences = row_count(memory)
    if sentences not in (None, 1, count):
        raise ValueError(
            f"the memory holds {sentences} sentences for {count} outputs; expected one for each, "
            f"or a single one for all. Use decode.select(memory, index) to repeat or pick rows."
        )
    targets, totals = _targets(token_lists, flags), [0.0] * count
    with evaluating(model):
        start = begin(model, memory, count if sentences is None else None, prefix)
        memories = Rows(memory, start.count, start.device)
        going = [row for row in range(count) if targets[row]]
        sentences = [row if start.count > 1 else 0 for row in going]
        index = torch.tensor(sentences, dtype=torch.int64, device=start.device)
        tokens, state = start.tokens[index], select(start.state, index)
        position = 0
        while going:
            out = model.step(tokens, state, memories.of(sentences))
            log_probs = next_log_probs(out, len(going))
            wanted = [targets[row][position] for row in going]
            for token in wanted:
                token_in_vocabulary("token_lists", token, log_probs.shape[-1])
            tokens = torch.tensor(wanted, dtype=torch.int64, device=start.device)
            gains = log_probs.gather(-1, tokens[:, None])[:, 0].tolist()
            for row, gain in zip(going, gains, strict=True):
                totals[row] += gain
            position += 1
            alive = [place for place, row in enumerate(going) if len(targets[row]) > position]
            index = torch.tensor(alive, dtype=torch.int64, device=start.device)
            tokens, state = tokens[index], select(out.state, index)
            going = [going[place] for place in alive]
            sentences = [sentences[place] for place in alive]
    return torch.tensor(totals, dtype=torch.float64)


def _targets(token_lists: Sequence[Sequence[int]], flags: Sequence[bool]) -> list[list[int]]:
    """The ids to score, with <eos> behind those outputs that have ended."""
    targets = [
        [*map(int, ids), *([EOS] if ends else [])] for ids, ends in zip(token_lists, flags, strict=True)
    ]
    _check_unpadded([ids[: len(ids) - ends] for ids, ends in zip(targets, flags, strict=True)])
    for number, ids in enumerate(targets):
        if EOS in ids[: len(ids) - flags[number]]:
            raise ValueError(
                f"output {number} holds <eos> (id {EOS}) before its end, but an output ends there. "
                f"Leave <eos> out: finished=True adds it."
            )
    return targets


def _check_unpadded(outputs: list[list[int]]) -> None:
    """Refuse the rows of a padded table: as long as each other, and <pad> at an end of some of them.

    A model may have written <pad> itself, so one alone is no sign.
    """
    padded = [bool(ids) and PAD in (ids[0], ids[-1]) for ids in outputs]
    if any(padded) and not all(padded) and len(set(map(len, outputs))) == 1:
        raise ValueError(
            f"output {padded.index(True)} is padded: <pad> (id {PAD}) stands at an end, and would be "
            f"scored as a word. Leave padding out: token_lists may hold lists of different lengths."
        )
