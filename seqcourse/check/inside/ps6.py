"""What a sandbox sees of assignment 6: parts of a block, small models, how a whole model is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse import functional
from seqcourse.check.calls.compare import outcome
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.modules import begin_alike
from seqcourse.check.calls.recording import record, record_losses
from seqcourse.check.calls.values import Found, Given, arrays
from seqcourse.tokens import EOS

READINGS = count()
NEVER, SURELY = -30.0, 60.0  # the logits of what a model never writes, and of what it surely does
ANOTHER = "The memory of this step is another one than that of start: the source is encoded once."


def attend(
    w_q: Tensor, w_k: Tensor, w_v: Tensor, queries: Tensor, memory: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Attention of the queries (B, N_Q, D) to the memory (B, N, D): (B, N_Q, D)."""
    return functional.attention(queries @ w_q, memory @ w_k, memory @ w_v, mask)[0]


def mlp(inner: Tensor, bias: Tensor, outer: Tensor, x: Tensor) -> Tensor:
    """Two layers with a ReLU between them: (..., D)."""
    return torch.relu(x @ inner + bias) @ outer


@dataclass
class Memory:
    """What a small model's encoder leaves: states (B, T, D), mask (B, T), the number of the reading."""

    states: Tensor
    mask: Tensor
    reading: int | None = None


@dataclass
class Step:
    """What a step gives: logits (B, V), the state after it, weights over the source (B, T)."""

    logits: Tensor
    state: Any
    weights: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class Small:
    """A model with fixed weights and the three methods of the course's models.

    It ends a sentence after about as many words as the first source word's id says (minus 3), and
    would go on with other words after <eos>.

    sources: the vectors of the source words, (64, H).
    table, w, out: the weights of the decoder, (V, H), (H, H), (H, V).
    special: whether the last words are <pad>, <sos> and <eos>; otherwise it writes no <pad> or <sos>.
    late: one entry for each step that was taken when all sentences had ended.
    """

    sources: Tensor
    table: Tensor
    w: Tensor
    out: Tensor
    special: bool = False
    late: list[bool] = field(default_factory=list)

    def __repr__(self) -> str:
        return "a small model"

    def encode(self, src: Tensor, lengths: Tensor) -> Memory:
        mask = functional.length_mask(lengths, src.shape[1])
        return Memory(self.sources[src], mask, next(READINGS))

    def start(self, memory: Memory, batch_size: int | None = None) -> Any:
        read = (memory.states * memory.mask[..., None]).sum(dim=1)
        first = (memory.states[:, :1] - self.sources).abs().sum(dim=-1).argmin(dim=-1)  # (B,)
        left = (first - 3).to(read.dtype)[:, None]
        return torch.tanh(read), left, memory.reading, left.new_zeros(len(left), dtype=torch.bool)

    def step(self, tokens: Tensor, state: Any, memory: Memory) -> Step:
        hidden, left, first, ended = state
        if memory.reading not in (first, None):
            raise ValueError(ANOTHER)
        if ended.all():
            self.late.append(True)
        hidden = torch.tanh(self.table[tokens] + hidden @ self.w)
        logits, left = 2 * hidden @ self.out, left - 1
        special = torch.full((len(tokens), 2), NEVER, dtype=logits.dtype)  # <pad> and <sos>
        ending = logits[:, EOS : EOS + 1] / 2 + 12 * (1 - left.abs())  # likely when no word is left
        if self.special:
            special = special.masked_fill(left == left.new_tensor([2, 1]), SURELY)
            ending = ending.masked_fill(left == 0, SURELY)
        logits = torch.cat([special, ending, logits[:, EOS + 1 :]], dim=1)
        even = memory.mask / memory.mask.sum(dim=1, keepdim=True)
        ended = ended | (logits.argmax(dim=-1) == EOS)
        return Step(logits, (hidden, left, first, ended), even)


def record_translate(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """What `record` writes down, and how many steps were taken when all sentences had ended."""
    model = replace(given["model"], late=[])
    found = record(student, {**given, "model": model}, prefix)
    return found | arrays(**{f"{prefix}late": len(model.late)})


def record_transformer(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """Build a model, give every parameter the numbers of its shape, and run it.

    No name is asked for: all parameters of a shape get the same numbers. So a model is known by how
    many it has of each shape, by its logits, and by the lengths of its gradients, in order of size.
    """
    values, build = given["values"], given["build"]
    model = outcome(lambda: student(*build.values()), ())
    if not isinstance(model, nn.Module):
        return arrays(**{f"{prefix}built": model})
    parts = [part for p in model.parameters() for part in record_parts(p.data, values)]
    spreads = [
        part.std() * part.shape[-1] ** 0.5 for kind, part in parts if kind in ("source", "target")
    ]
    alike = begin_alike(model.parameters())
    for kind, part in parts:
        if kind in values:
            value = values[kind]
            turned = part.dim() == value.dim() == 2 and part.shape != value.shape
            part.copy_((value.mT if turned else value).reshape(part.shape))
    found = {"built": True} | {kind: sum(k == kind for k, _ in parts) for kind in (*values, "other")}
    found |= {"spreads": torch.tensor(spreads), "alike": alike}  # before any numbers were given
    result = outcome(_Run.of(given), (model.double().train(given["training"]),))
    found["result"] = result
    if given["way"] == "at once" and isinstance(result, Tensor) and result.requires_grad:
        weights = normal({"w": result.shape}, 7)["w"] * (given["tgt"] != 0)[..., None]
        (result * weights).sum().backward()
        grads = [(p, torch.zeros_like(p) if p.grad is None else p.grad) for p in model.parameters()]
        reached = [part for _, grad in grads for part in record_parts(grad, values)]
        for kind in values:
            found[f"reached.{kind}"] = torch.tensor(
                sorted(part.norm().item() for k, part in reached if k == kind)
            )
    return arrays(**{f"{prefix}{name}": item for name, item in found.items()})


def record_parts(tensor: Tensor, values: Mapping[str, Tensor]) -> list[tuple[str, Tensor]]:
    """What a parameter is, by its shape. Several maps may lie in one tensor, and the heads of a map may
    have an axis of their own.
    """
    for kind, value in values.items():
        if tensor.shape in (value.shape, value.shape[::-1]):
            return [(kind, tensor)]
    d = len(values["vector"])
    for many in (2, 3):
        for shape, axis in (((many * d,), 0), ((many * d, d), 0), ((d, many * d), 1)):
            if tensor.shape == shape:
                kind = "square" if len(shape) == 2 else "vector"
                return [(kind, part) for part in tensor.chunk(many, axis)]
    if tensor.dim() and len(tensor) <= 4 and tensor.shape[1:] in ((d, d), (d,)):
        return [("square" if tensor.dim() == 3 else "vector", part) for part in tensor]
    if tensor.dim() == 3 and tensor.numel() == d * d and d in tensor.shape:
        return [("square", tensor.transpose(0, 1) if tensor.shape[1] == d else tensor)]
    if tensor.dim() == 2 and tensor.numel() == d:
        return [("vector", tensor)]
    return [("other", tensor)]


class _Run:
    """The two ways through a model: all words at once, and word by word."""

    @staticmethod
    def of(given: Given) -> Callable[[nn.Module], Any]:
        src, lengths, tgt = (given[name] for name in ("src", "lengths", "tgt"))

        @torch.no_grad()
        def word_by_word(model: Any) -> Tensor:
            memory = model.encode(src, lengths)
            aside = model.encode(src.flip(0), lengths.flip(0))
            state, other, logits = model.start(memory), model.start(aside), []
            for tokens, more in zip(tgt.unbind(1), tgt.flip(1).unbind(1), strict=True):
                if len(src) > 1:  # another text is written in turn
                    other = model.step(more, other, aside).state
                out = model.step(tokens, state, memory)
                state = out.state
                if len(out.logits) != len(tokens) or out.logits.dim() != 2:
                    wanted, found = f"({len(tokens)}, V)", tuple(out.logits.shape)
                    raise ValueError(f"step should give logits of the shape {wanted}, but gives {found}")
                logits.append(out.logits)
            return torch.stack(logits, dim=1)

        return word_by_word if given["way"] == "word by word" else lambda model: model(src, lengths, tgt)


class Guess(nn.Module):
    """A small model for `train_step`: the next word from the word before and the mean of the source."""

    def __init__(self, source: Tensor, target: Tensor, out: Tensor) -> None:
        super().__init__()
        self.source, self.target, self.out = map(nn.Parameter, (source, target, out))

    def forward(self, src: Tensor, lengths: Tensor, tgt_in: Tensor) -> Tensor:
        real = functional.length_mask(lengths, src.shape[1])[..., None]
        read = (self.source[src] * real).sum(1, keepdim=True) / lengths[:, None, None]
        # Other logits outside of training: `train_step` leaves the mode as it is.
        return torch.tanh(self.target[tgt_in] + read) @ self.out * (1 if self.training else 2)


def record_each_step(
    step: Callable[..., Any],
    weights: Sequence[Tensor],
    batches: Sequence[tuple[Tensor, Tensor, Tensor]],
    rates: Sequence[float],
    epsilon: float,
) -> tuple[list[Any], list[Tensor]]:
    """What `step` returns for each batch, and the weights of a small model after all of them."""
    model = Guess(*(weight.clone() for weight in weights))
    optimizer = torch.optim.SGD([{"params": [p]} for p in model.parameters()], lr=1.0)
    losses = []
    for batch, rate in zip(batches, rates, strict=True):
        for p in model.parameters():
            p.grad = torch.ones_like(p)  # as an interrupted step leaves them
        losses.append(step(model, optimizer, *batch, rate, epsilon))
    return losses, [p.detach() for p in model.parameters()]


def record_taught(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """Some steps of training with the answer, for a probe."""

    return record_losses(partial(record_each_step, student), given, prefix)
