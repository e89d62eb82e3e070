"""What every search does: check its arguments, start the model, step it, leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any, NamedTuple

import torch
from torch import Tensor

from seqcourse.decode.interface import StepLike, StepModel
from seqcourse.decode.trees import device_of, row_count, select
from seqcourse.tokens import PAD, SOS

ONE_LENGTH = (
    "Give prefixes without padding, those of one length in one call: prefix[i : i + 1, :lengths[i]] is "
    "the i-th alone, if it was padded on the right."
)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """No gradients and no dropout inside; every module's training flag as before afterwards."""
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    flags = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        with torch.inference_mode():
            yield
    finally:
        for module, flag in zip(modules, flags, strict=True):
            module.training = flag


class Start(NamedTuple):
    """Where a search begins: `count` sentences, the token to feed each, the state before it."""

    count: int
    tokens: Tensor  # (count,)
    state: Any
    device: torch.device


def begin(
    model: StepModel, memory: Any, batch_size: int | None, prefix: Sequence[int] | Tensor | None
) -> Start:
    """Start the model and feed it all but the last token of the prefix (by default just <sos>)."""
    rows = row_count(memory)
    if batch_size is not None:
        whole_number("batch_size", batch_size)
        if rows is not None and rows != batch_size:
            raise ValueError(
                f"batch_size is {batch_size}, but the memory holds {rows} sentences. "
                f"Leave batch_size out: it is for language models, which have no memory."
            )
    count = rows if rows is not None else batch_size or 1
    if count == 0:
        raise ValueError("the memory holds no sentence; expected at least one. Encode some first.")
    fed = _ids_of(prefix, count)
    state = model.start(memory) if memory is not None else _start_without(model, count)
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    device = device_of(memory, state, parameters)
    fed = fed.to(device, torch.int64)
    column = (fed if fed.dim() == 2 else fed[None]).expand(count, -1).unbind(1)
    for tokens in column[:-1]:
        state = model.step(tokens, state, memory).state
    return Start(count, column[-1], state, device)


def _ids_of(prefix: Sequence[int] | Tensor | None, count: int) -> Tensor:
    """The ids of a prefix, (P,), (1, P) or (count, P)."""
    if isinstance(prefix, Sequence):
        sizes = {len(row) for row in prefix if _has_length(row)}
        if len(sizes) > 1:
            raise ValueError(
                f"the prefixes of one call should be of one length, but they have between {min(sizes)} "
                f"and {max(sizes)} ids. {ONE_LENGTH}"
            )
    try:
        fed = torch.as_tensor([SOS] if prefix is None else prefix)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"prefix should be a list of ids, such as a vocabulary's encode gives, but it is "
            f"{prefix!r:.60}."
        ) from error
    if fed.numel() == 0:
        raise ValueError(
            "prefix is empty; expected at least one token to begin with. "
            "Leave it out to begin with <sos>."
        )
    if (
        fed.dim() not in (1, 2)
        or fed.is_floating_point()
        or (fed.dim() == 2 and len(fed) not in (1, count))
    ):
        raise ValueError(
            f"prefix should be a list of ids, or a tensor of them of shape (P,), (1, P) or "
            f"({count}, P), but its shape is {tuple(fed.shape)} and its type {fed.dtype}."
        )
    if fed.shape[-1] > 1 and (fed[..., [0, -1]] == PAD).any():
        raise ValueError(
            f"the prefix is padded: <pad> (id {PAD}) stands at an end, and the model would read it as "
            f"a word. {ONE_LENGTH}"
        )
    return fed


def _has_length(row: Any) -> bool:
    return not isinstance(row, str) and hasattr(row, "__len__") and getattr(row, "ndim", 1) > 0


def _start_without(model: StepModel, count: int) -> Any:
    """The first state of a language model, which has no memory."""
    try:
        return model.start(None, batch_size=count)
    except (AttributeError, TypeError) as error:
        raise ValueError(
            f"The memory is None, as for a language model, but {type(model).__name__} cannot start "
            f"without one. Encode the sources first: memory = model.encode(src, src_lengths)."
        ) from error


def next_log_probs(out: StepLike, rows: int) -> Tensor:
    """log softmax of a step's logits, (rows, V), in at least single precision.

    Raises ValueError for logits of another shape, and for rows that are no distribution: NaN,
    +inf, or nothing but -inf.
    """
    logits = out.logits
    if logits.dim() != 2 or logits.shape[0] != rows:
        raise ValueError(
            f"model.step should give logits of shape ({rows}, V), one row per token it was fed, "
            f"but it gave {tuple(logits.shape)}."
        )
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    log_probs = torch.log_softmax(logits, dim=-1)
    # A row that is no distribution comes out as NaN everywhere: one column tells.
    if torch.isnan(log_probs[:, 0]).any():
        raise ValueError(
            "model.step gave logits that are no distribution: expected finite numbers (or -inf "
            "for some words), but a row holds NaN or +inf, or -inf everywhere. Look for a "
            "division by zero, a mask that hides every word, or a training run that diverged."
        )
    return log_probs


def hide(log_probs: Tensor, forbid: Sequence[int], must_go_on: bool = False) -> Tensor:
    """Give the forbidden tokens the log-probability -inf, in place, so that none is chosen.

    Raises ValueError for ids outside the vocabulary and, where every row must go on, for a row
    in which nothing is left.
    """
    if not forbid:
        return log_probs
    size = log_probs.shape[-1]
    for token in forbid:
        token_in_vocabulary("forbid", token, size)
    places = torch.tensor(list(forbid), dtype=torch.int64, device=log_probs.device)
    hidden = log_probs.index_fill_(-1, places, float("-inf"))
    if must_go_on and (hidden.amax(-1) == float("-inf")).any():
        raise ValueError(
            f"forbid = {list(forbid)} leaves no word to choose: all that the model allows at some "
            f"step is forbidden. Forbid less."
        )
    return hidden


class Rows:
    """The memory of the sentences that the rows of a step belong to.

    The encoder ran once per sentence. Here its memory is repeated for every path of a sentence,
    and only again when the list of sentences has changed.
    """

    def __init__(self, memory: Any, count: int, device: torch.device) -> None:
        self._memory, self._device = memory, device
        self._sentences, self._rows = list(range(count)), memory

    def of(self, sentences: list[int]) -> Any:
        """The memory with row r being that of sentence `sentences[r]`."""
        if sentences != self._sentences:
            rows = torch.tensor(sentences, dtype=torch.int64, device=self._device)
            self._sentences, self._rows = sentences, select(self._memory, rows)
        return self._rows


def whole_number(name: str, value: int) -> None:
    """Raise ValueError unless value is an integer above 0, Python's, NumPy's or a tensor's."""
    try:
        whole = not isinstance(value, bool) and index(value) >= 1
    except TypeError:
        whole = False
    if not whole:
        raise ValueError(f"{name} should be a whole number of at least 1, but it is {value!r}.")


def penalty(value: float) -> None:
    """Raise ValueError unless value can be the alpha of length normalisation."""
    if not 0.0 <= value < float("inf"):
        raise ValueError(
            f"length_penalty should be a finite number of at least 0 (0: none, 1: mean per token), "
            f"but it is {value!r}."
        )


def token_in_vocabulary(name: str, token: int, size: int) -> None:
    """Raise ValueError unless token is an id of a vocabulary of `size` words."""
    if not 0 <= token < size:
        raise ValueError(
            f"{name} names token {token}, but the model's vocabulary has the ids 0 to {size - 1}."
        )
