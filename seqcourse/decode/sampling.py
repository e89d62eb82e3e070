"""Writing one word after another: the most likely one each time, or one drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.decode.choosing import best, filter_logits
from seqcourse.decode.interface import LENGTH_PENALTY, Hypothesis, StepModel, normalised
from seqcourse.decode.running import Rows, begin, evaluating, hide, next_log_probs, whole_number
from seqcourse.decode.trees import select
from seqcourse.tokens import EOS


def greedy(
    model: StepModel,
    memory: Any,
    max_len: int = 64,
    batch_size: int | None = None,
    *,
    prefix: Sequence[int] | Tensor | None = None,
    forbid: Sequence[int] = (),
) -> list[Hypothesis]:
    r"""The most likely next word, over and over: y_t = \argmax_w P(w | y_1..y_{t-1}, source).

    This is not the most likely *sequence*: a word that looks best now can lead to where nothing
    likely follows. Among equally likely words the lowest id wins.

    memory: of B sentences, from `model.encode` (call it in evaluation mode), or None for a
        language model, of which `batch_size` (default 1) sequences are then wanted.
    max_len: at most this many tokens per sentence, <eos> counted.
    prefix: the ids that are fed before the first choice, one list for all sentences or a tensor
        (B, P) without padding; default [<sos>]. It is not repeated in the hypotheses. For a model
        that was trained with <sos>, put that in front: [SOS, ...].
    forbid: ids that are never chosen, such as UNK. Log-probabilities remain the model's own.

    Returns B hypotheses. Raises ValueError for arguments or logits that make no sense.
    """

    def choose(log_probs: Tensor) -> Tensor:
        return best(log_probs, 1)[1][:, 0]

    return _write(model, memory, choose, max_len, batch_size, prefix, forbid)


def sample(
    model: StepModel,
    memory: Any,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_len: int = 64,
    generator: torch.Generator | None = None,
    prefix: Sequence[int] | Tensor | None = None,
    batch_size: int | None = None,
    *,
    forbid: Sequence[int] = (),
) -> list[Hypothesis]:
    """Draw every next word from the model's distribution, filtered by `filter_logits`.

    With the defaults, whole sequences come out with exactly the probability the model gives them.
    The same generator seed and the same batch give the same words (one sentence alone may give
    others than in a batch: all rows draw from one stream).

    generator: a `torch.Generator` on the model's device; default: PyTorch's global one.
    temperature, top_k, top_p: see `filter_logits`. `log_prob` of a hypothesis is that of the
        unfiltered model at temperature 1, so that samples can be compared.
    The other arguments, the result and the errors are as in `greedy`.
    """

    def choose(log_probs: Tensor) -> Tensor:
        filtered = filter_logits(log_probs, temperature, top_k, top_p)
        return torch.multinomial(filtered.softmax(-1), 1, generator=generator)[:, 0]

    return _write(model, memory, choose, max_len, batch_size, prefix, forbid)


def _write(
    model: StepModel,
    memory: Any,
    choose: Callable[[Tensor], Tensor],
    max_len: int,
    batch_size: int | None,
    prefix: Sequence[int] | Tensor | None,
    forbid: Sequence[int],
) -> list[Hypothesis]:
    """Extend every sentence by `choose(log_probs (N, V)) -> (N,)` until <eos> or max_len."""
    whole_number("max_len", max_len)
    weights: list[Tensor | None] = []  # of every step, one row per sentence that went on
    with evaluating(model):
        count, tokens, state, device = begin(model, memory, batch_size, prefix)
        memories = Rows(memory, count, device)
        written: list[list[int]] = [[] for _ in range(count)]
        looked_from: list[list[int]] = [[] for _ in range(count)]  # the row of `weights` per token
        log_probs, finished = [0.0] * count, [False] * count
        going = list(range(count))  # the sentence of every row
        for _ in range(max_len):
            out = model.step(tokens, state, memories.of(going))
            step = next_log_probs(out, len(going))
            tokens = choose(hide(step, forbid, must_go_on=True))
            gains = step.gather(-1, tokens[:, None])[:, 0].tolist()
            weights.append(out.weights)
            for row, (sentence, token) in enumerate(zip(going, tokens.tolist(), strict=True)):
                log_probs[sentence] += gains[row]
                if token == EOS:
                    finished[sentence] = True
                else:
                    written[sentence].append(token)
                    looked_from[sentence].append(row)
            state = out.state
            alive = [row for row, sentence in enumerate(going) if not finished[sentence]]
            if not alive:
                break
            if len(alive) < len(going):
                index = torch.tensor(alive, dtype=torch.int64, device=device)
                tokens, state = tokens[index], select(state, index)
                going = [going[row] for row in alive]
    weights = [None if step is None else step.cpu() for step in weights]
    hypotheses = []
    for sentence, ids in enumerate(written):
        length = len(ids) + finished[sentence]
        hypotheses.append(
            Hypothesis(
                tokens=ids,
                log_prob=log_probs[sentence],
                score=normalised(log_probs[sentence], length, LENGTH_PENALTY),
                finished=finished[sentence],
                weights=gather_weights(weights, looked_from[sentence]),
            )
        )
    return hypotheses


def gather_weights(weights: list[Tensor | None], rows: list[int]) -> Tensor | None:
    """One path's attention weights, (len(rows), T): row `rows[t]` of step t's weights (N, T).

    None for a model without attention; (0, T) for a path that wrote nothing.
    """
    if any(step is None for step in weights):
        return None
    if not rows:
        return torch.zeros(0, *weights[0].shape[1:], dtype=weights[0].dtype)
    return torch.stack([weights[t][row] for t, row in enumerate(rows)])
