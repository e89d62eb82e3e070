"""What a sandbox sees of assignment 8: the functions that students' answers are handed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse.check.calls.compare import outcome
from seqcourse.check.calls.recording import record, record_losses
from seqcourse.check.calls.values import Found, Given, arrays
from seqcourse.check.calls.watch import paused
from seqcourse.tokens import EOS, PAD

State = tuple[Tensor, Tensor]


def score(s: Tensor, grid: Tensor, *, w_s: Tensor, w_h: Tensor, v: Tensor, scale: float = 1.0) -> Tensor:
    """Additive scores (B, N); scale makes them larger, or changes their sign."""
    return scale * torch.tanh((s @ w_s)[:, None] + grid @ w_h) @ v


def gate(s: Tensor, *, w: Tensor, b: Tensor) -> Tensor:
    """Any number for each picture, (B, 1)."""
    return s @ w + b


def cell(x: Tensor, state: State, *, w_x: Tensor, w_s: Tensor) -> State:
    """A step of an LSTM: x, (s, m) -> (s, m)."""
    s, m = state
    i, f, g, o = (x @ w_x + s @ w_s).chunk(4, dim=-1)
    m = torch.sigmoid(f) * m + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(m), m


def readout(y: Tensor, s: Tensor, c: Tensor, *, w_y: Tensor, w_s: Tensor, w_c: Tensor) -> Tensor:
    """Logits (B, V), linear in the word, the state and the context."""
    return y @ w_y + s @ w_s + c @ w_c


def lstm(pairs: Tensor, lengths: Tensor, *, w_in: Tensor, w_again: Tensor) -> Tensor:
    """A layer that reads in both directions: (B, T, D) -> (B, T, 2 H)."""
    real = torch.arange(pairs.shape[1]) < torch.as_tensor(lengths)[:, None]
    both = []
    for side, order in enumerate((range(pairs.shape[1]), range(pairs.shape[1] - 1, -1, -1))):
        state, states = pairs.new_zeros(len(pairs), w_again.shape[-1]), {}
        for t in order:
            new = torch.tanh(pairs[:, t] @ w_in[side] + 0.5 * state @ w_again[side])
            state = torch.where(real[:, t, None], new, 0 * new)
            states[t] = state
        both.append(torch.stack([states[t] for t in range(pairs.shape[1])], dim=1))
    return torch.cat(both, dim=-1)


def first(mean: Tensor, *, w: Tensor) -> State:
    """A first state and memory, (B, D_S) each, from the mean of a grid (B, D)."""
    s, m = torch.tanh(mean @ w).chunk(2, dim=-1)
    return s, m


def embed(words: Tensor, *, table: Tensor) -> Tensor:
    """The vectors of words, (B, E)."""
    return table[words]


# A training ends when the loss is below the first, or after so many times the steps that most need.
LEARNED, PATIENCE = 0.02, 5


DIRECTIONS = 3  # of the logits


NORMALISING = ("Softmax", "Exp", "Div")  # in the names of PyTorch's steps backwards


def _behind(*ends: Tensor) -> set[Any]:
    """All steps backwards from some tensors."""
    found: set[Any] = set()
    left = [end.grad_fn for end in ends]
    while left:
        step = left.pop()
        if step is not None and step not in found:
            found.add(step)
            left += [before for before, _ in step.next_functions]
    return found


def slopes(model: nn.Module, grid: Tensor, captions: Tensor) -> tuple[Tensor, Tensor, bool]:
    """How the first word's logits change with the grid, and how what they are made of does: the mean of
    the cells, and the context by the weights that are shown. (DIRECTIONS, N F) and (2 D, N F).

    Last, whether the weights that are shown got their sum of 1 apart from the logits.
    """
    model.eval()
    grid = grid.clone().requires_grad_()
    logits, weights = model(grid, captions)
    cells = model.see(grid)
    made_of = torch.cat([cells.mean(dim=1), (weights[:, 0, :, None] * cells).sum(dim=1)], dim=-1)
    generator = torch.Generator().manual_seed(0)
    ways = torch.randn(DIRECTIONS, logits.shape[-1], generator=generator)
    rows = [*(ways @ logits[0, 0]), *made_of[0]]
    reached = [torch.autograd.grad(row, grid, retain_graph=True)[0].flatten() for row in rows]
    apart = {step.name() for step in _behind(weights) - _behind(logits)}
    alone = any(kind in name for name in apart for kind in NORMALISING)
    return torch.stack(reached[:DIRECTIONS]), torch.stack(reached[DIRECTIONS:]), alone


def record_trained(student: Callable[..., Any], given: Given) -> tuple[Any, dict[str, Any]]:
    """Build a captioner and train it on a few pictures: the captioner, and what happened."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(0)
        model = outcome(lambda: student(*given["build"].values()), ())
        if not isinstance(model, nn.Module):
            return None, {"built": model}

        def training() -> int:
            """Adam until the loss is small; how many parameters no gradient reaches."""
            optimizer = torch.optim.Adam(model.parameters(), lr=0.03, fused=True)
            for step in range(PATIENCE * given["steps"]):
                got, texts = model(given["grids"], given["texts"]), given["texts"]
                if not isinstance(got, (tuple, list)):
                    break  # the calls below tell
                loss = nn.functional.cross_entropy(
                    got[0].flatten(0, 1), texts.flatten(), ignore_index=PAD
                )
                if step >= given["steps"] and loss < LEARNED:
                    break  # with the parameters that this loss is of
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            return sum(p.grad is None for p in model.parameters()) * (given["steps"] > 0)

        unreached = outcome(training, ())
        looks = outcome(slopes, (model, given["grid"][:1], given["captions"][:1]))
        return model, {"built": True, "unreached": unreached, "slopes": looks}


def record_captioner(trained: tuple[Any, dict[str, Any]], given: Given, prefix: str = "") -> Found:
    """What a trained captioner does with other pictures."""
    model, found = trained
    if model is not None and not isinstance(found["unreached"], Exception):
        model.eval()
        grid, captions = given["grid"], given["captions"]
        after = torch.cat([captions, torch.full_like(captions[:, :2], PAD)], dim=1)
        calls = {
            "told": (grid, captions),
            "other": (grid, given["other"]),
            "moved": (grid[:, given["order"]], captions),
            "alone": (grid[1:2], captions[1:2]),
            "wider": (grid, after),
        }
        with torch.no_grad():
            found |= {name: outcome(model, arguments) for name, arguments in calls.items()}
            found["seen"] = outcome(lambda: model.see(grid), ())
            found["cells"] = outcome(lambda: model.see(grid.flatten(0, 1)[:, None]), ())  # one by one
            for longest in (1, 6):
                found[f"said{longest}"] = outcome(lambda n=longest: model.caption(given["new"], n), ())
            found["echo"] = outcome(lambda: model(given["new"], found["said6"]), ())
            model.train()
            found["training"] = outcome(model, (grid, captions))
            model.eval()
    return arrays(**{f"{prefix}{name}": item for name, item in found.items()})


record_captioner.before = record_trained


def up_to_the_end(result: Any) -> Any:
    """Ids (B, L) and weights (B, L, N), without the weights behind a row's first <eos>."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        return result
    ids, weights = result
    if not isinstance(ids, Tensor) or not isinstance(weights, Tensor) or ids.shape != weights.shape[:2]:
        return result
    behind = (ids == EOS).cumsum(dim=1) - (ids == EOS).long() > 0
    return ids, weights.masked_fill(behind[..., None], 0)


def record_mended(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """A call of `mended`: what an ended row is fed, and so where it looks, does not matter."""
    end = paused(up_to_the_end)
    return record(lambda *arguments: end(student(*arguments)), given, prefix)


class Looker(nn.Module):
    """A small captioner for `train`: grid, captions -> logits (B, T, V), weights (B, T, N)."""

    def __init__(self, table: Tensor, look: Tensor, out: Tensor) -> None:
        super().__init__()
        self.table, self.look, self.out = map(nn.Parameter, (table, look, out))

    def forward(self, grid: Tensor, captions: Tensor) -> tuple[Tensor, Tensor]:
        y = self.table[captions.roll(1, 1)]  # (B, T, D)
        weights = torch.softmax(y @ self.look @ grid.mT, dim=-1)
        # Other logits outside of training: `train` leaves the mode as it is.
        return torch.tanh(y + weights @ grid) @ self.out * (1 if self.training else 2), weights


def record_each_step(
    train: Callable[..., Any],
    weights: Sequence[Tensor],
    batches: Sequence[tuple[Tensor, Tensor]],
    rate: float,
    share: float,
    clip: float,
    once: bool = False,
) -> tuple[Any, list[Tensor]]:
    """What `train` returns, and the weights of a small captioner after it.

    once: whether the batches are handed over so that they can be read only once.
    """
    model = Looker(*(weight.clone() for weight in weights))
    groups = [{"params": [p]} for p in model.parameters()]
    optimizer = torch.optim.SGD(groups, lr=rate)
    for p in model.parameters():
        p.grad = torch.ones_like(p)  # as an interrupted step leaves them
    losses = train(model, optimizer, iter(batches) if once else batches, share, clip)
    return losses, [p.detach() for p in model.parameters()]


def record_train(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """A training with the answer, for a probe; losses may be numbers or tensors."""

    return record_losses(partial(record_each_step, student), given, prefix)
