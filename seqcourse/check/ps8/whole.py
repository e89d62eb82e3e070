"""Exercise 7: a whole captioner, known by what it does, and the loop that trains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse import functional
from seqcourse.check.calls.compare import Mistake, Stopped, describe, is_right, same, stopped, stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.values import Given, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside import ps8 as inside
from seqcourse.tokens import EOS, PAD

TOLERANCE = 1e-4
KINDS, FIRST = 4, 3  # the words for things are 3 to 6, those for sides 7 and 8
ENOUGH = 0.65  # of new pictures, after a short training on others
HIDDEN = 1e-3  # so much of a gradient may come from nowhere
CHANGES = 1e-6  # a trained captioner may hardly ask what the word before last was
LOOKS = 0.02  # a trained captioner prefers some cell by at least this much, at some word


def _pictures(count: int, places: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Grids (K, N, F) with one thing each, and captions (K, 3): its kind, perhaps its side, <eos>.

    The first numbers of a cell are the kind, one-hot, the others its place. A thing in the last cell is
    named without a side, so that captions have two lengths; the first picture has a long one. Each kind
    comes at each place as often as any other: nobody can caption what was never shown.
    """
    every = torch.randperm(KINDS * places, generator=generator)
    drawn = every[torch.arange(count) % len(every)]
    kinds, where = drawn % KINDS, drawn // KINDS
    where[0] = 0
    grid = 0.1 * torch.randn(count, places, KINDS + places, generator=generator)
    grid[..., KINDS:] += torch.eye(places)
    grid[torch.arange(count), where, kinds] += 3.0
    return grid, _right(kinds, where, places)


def _right(kinds: Tensor, where: Tensor, places: int) -> Tensor:
    sides = FIRST + KINDS + (2 * where >= places).long()
    long = torch.stack([FIRST + kinds, sides, torch.full_like(kinds, EOS)], dim=1)
    short = torch.stack([FIRST + kinds, torch.full_like(kinds, EOS), torch.full_like(kinds, PAD)], dim=1)
    return torch.where((where == places - 1)[:, None], short, long)


def captioner_arguments(
    batch: int = 4, places: int = 5, width: int = 24, steps: int = 40, seed: int = 0
) -> dict[str, Any]:
    """A captioner to build, pictures to train it, others to caption, and a few to look at closely."""
    generator = torch.Generator().manual_seed(seed)
    grids, texts = _pictures(192, places, generator)
    new, _ = _pictures(40, places, generator)
    grid, captions = _pictures(batch, places, generator)
    other = captions.clone()
    other[:, 0] = (captions[:, 0] - FIRST + 1) % KINDS + FIRST
    order = torch.randperm(places, generator=generator)
    build = dict(features=KINDS + places, words=FIRST + KINDS + 2, width=width)
    made = dict(build=build, grids=grids, texts=texts, new=new, steps=steps)
    return made | dict(grid=grid, captions=captions, other=other, order=order)


def _same(one: Tensor, other: Tensor) -> bool:
    """Whether two results that have to be the same are."""
    return is_right(one, other, TOLERANCE)


def judge_captioner(found: Mapping[str, Any], given: Given, prefix: str = "") -> None:
    """Raise Mistake unless a captioner behaves like one, and learned to caption new pictures."""
    of = partial(_recorded, found, prefix)
    built = of("built", "Captioner(features, words, width)")
    if not (isinstance(built, Tensor) and built.dtype == torch.bool):
        raise Mistake(f"Captioner should be an nn.Module, but is {describe(built)}.")
    left = int(of("unreached", "training through forward(grid, captions)"))
    pairs, seen = _forms(of, given)
    real = (given["captions"] != PAD)[..., None]
    _judge_words(pairs, real)
    _judge_places(of, pairs, real, seen, given["order"])
    logits, weights = pairs["told"]
    if left:
        _fail(
            "some parameters are not reached by the loss of the words",
            "Is a part built and not used, such as weights that do not go into the context, or cut off "
            "by .detach()?",
        )
    wide = (weights.amax(dim=-1) - weights.amin(dim=-1))[real[..., 0]].max()
    if given["steps"] and wide < LOOKS:
        _fail(
            "every cell gets the same weight at every word, also after a training",
            "Does each cell get a score of its own, or do all of them hold the mean of the grid?",
        )
    _expect_pair(of("training", "forward(grid, captions) in training mode"), logits.shape, weights.shape)
    trained = result(found, f"{prefix}training")
    if not _same(trained[0] * real, logits * real) or not _same(trained[1] * real, weights * real):
        _fail(
            "the logits or weights are others in training mode, after model.train()",
            "Is there noise, such as dropout, or does a word see those behind it while it is trained?",
        )
    slopes = result(found, f"{prefix}slopes")
    if not isinstance(slopes, Stopped) and slopes[2] and _is_hidden(*slopes[:2]):
        _fail(
            "the logits do not come from a context with the weights that forward returns",
            "Are the weights of the sum those that are shown? See the first word: all it knows of the "
            "grid are the mean of its cells and the context.",
        )
    _judge_own_words(of, given)


def _recorded(found: Mapping[str, Any], prefix: str, name: str, call: str) -> Any:
    value = result(found, f"{prefix}{name}")
    if isinstance(value, Stopped):
        raise Mistake(stopped(f"Captioner: {call}", value))
    return value


def _forms(of: Callable, given: Given) -> tuple[dict[str, Any], Tensor]:
    """What forward and see returned, if it has the right shapes."""
    b, t = given["captions"].shape
    n, v = given["grid"].shape[1], given["build"]["words"]
    pairs = {}
    for name, (rows, words) in {
        "told": (b, t),
        "other": (b, t),
        "moved": (b, t),
        "alone": (1, t),
        "wider": (b, t + 2),
    }.items():
        got = of(name, "forward(grid, captions)")
        _expect_pair(got, (rows, words, v), (rows, words, n))
        pairs[name] = got
    seen, width = of("seen", "see(grid)"), given["build"]["width"]
    if not isinstance(seen, Tensor) or seen.shape != (b, n, width):
        raise Mistake(
            f"Captioner: see should return cells (B, N, width), but returned {describe(seen)}."
        )
    return pairs, seen


def _judge_words(pairs: Mapping[str, Any], real: Tensor) -> None:
    """Each word's logits depend on the words before it, on its own picture and on nothing else."""
    logits, weights = pairs["told"]

    def differ(
        name: str, at: Any = slice(None), equal: Callable[..., bool] = same, by: float = TOLERANCE
    ) -> bool:
        return not equal((pairs[name][0] * real)[at], (logits * real)[at], by)

    if not _same(weights.sum(-1), torch.ones(weights.shape[:2])) or (weights < 0).any():
        _fail(
            "the weights of a word do not sum to 1 over the places", "Is the softmax over another axis?"
        )
    if differ("other", (slice(None), 0), is_right):
        _fail(
            "the logits of the first word change with the first word of the caption",
            "Is the word fed that is to be predicted? Word t is predicted from word t - 1, the first "
            "from <sos>.",
        )
    if not differ("other", (slice(None), 1), by=CHANGES):
        _fail(
            "the logits of the second word do not change with the first word", "Is the word before fed?"
        )
    if not differ("other", (slice(None), 2), by=CHANGES):
        _fail(
            "the logits of the third word do not change with the first word",
            "Is the state handed on from step to step?",
        )
    if not _same((pairs["wider"][0][:, : logits.shape[1]] * real), logits * real):
        _fail("more padding behind a caption changes its logits", "Does a word look at those behind it?")
    if not _same(pairs["alone"][0] * real[1:2], (logits * real)[1:2]):
        _fail(
            "a picture gets other logits alone than among others",
            "Is there a mean or a softmax over the batch, or does a row get another one's grid?",
        )


def _judge_places(
    of: Callable, pairs: Mapping[str, Any], real: Tensor, seen: Tensor, order: Tensor
) -> None:
    """Cells in another order change no logits, and each cell is seen for itself."""
    logits, weights = pairs["told"]
    if not is_right(pairs["moved"][0] * real, logits * real, TOLERANCE):
        _fail(
            "the logits change when the cells come in another order",
            "Is the grid laid out as one vector, or cut at a fixed cell? Each cell knows its place.",
        )
    if not _same(pairs["moved"][1] * real, weights[..., order] * real):
        _fail("the weights do not move with the cells", "Are these the weights of the places?")
    alone = of("cells", "see(grid) of single cells")
    if not _same(alone, seen.flatten(0, 1)[:, None]):
        _fail(
            "see gives a cell another vector alone than among others",
            "Is there a mean, a norm or a softmax over the cells? Each cell is seen for itself.",
        )


def _judge_own_words(of: Callable, given: Given) -> None:
    """A caption consists of the likeliest words, and most captions are right."""
    n, v = given["grid"].shape[1], given["build"]["words"]
    said = of("said6", "caption(grid, 6)")
    _judge_said(of("said1", "caption(grid, 1)"), said, given)
    if (said < 0).any() or (said >= v).any():
        _fail("a caption has an id that is no word of the vocabulary", "Is an index of a cell returned?")
    echo = of("echo", "forward(grid, captions)")  # for its own words
    _expect_pair(echo, (*said.shape, v), (*said.shape, n))
    chosen = echo[0].gather(-1, said[..., None])[..., 0]
    likeliest = echo[0].amax(dim=-1) - chosen <= TOLERANCE
    if not (likeliest | (said == PAD)).all():
        _fail(
            "a caption has another word than the likeliest one that forward gives for the words before",
            "Are its own words fed back one by one, from <sos> on, and its state from step to step?",
        )


def _is_hidden(logits: Tensor, made_of: Tensor) -> bool:
    """Whether logits change with the grid where nothing changes that they are made of, see `slopes`."""
    logits, basis = logits.double(), torch.linalg.svd(made_of.double(), full_matrices=False)
    known = basis.Vh[basis.S > 1e-6 * basis.S[0]]
    return bool((logits - logits @ known.T @ known).norm() > HIDDEN * logits.norm())


def _fail(what: str, question: str) -> None:
    raise Mistake(f"Captioner: {what}.", question)


def _expect_pair(got: Any, *shapes: tuple[int, ...]) -> None:
    fits = isinstance(got, (tuple, list)) and len(got) == 2
    if not fits or any(
        not isinstance(one, Tensor) or tuple(one.shape) != shape
        for one, shape in zip(got, shapes, strict=True)
    ):
        raise Mistake(
            f"Captioner: forward should return logits (B, T, V) and weights (B, T, N), but returned "
            f"{describe(got)}."
        )


def _judge_said(short: Any, said: Any, given: Given) -> None:
    """Raise Mistake unless the captions have the right form, and most are right."""
    new, places = given["new"], given["grid"].shape[1]
    strongest = new[..., :KINDS].amax(dim=-1)  # (K, N)
    where = strongest.argmax(dim=-1)
    kinds = new[torch.arange(len(new)), where, :KINDS].argmax(dim=-1)
    right = _right(kinds, where, places)
    for got in (short, said):
        if (
            not isinstance(got, Tensor)
            or got.dtype != torch.int64
            or got.ndim != 2
            or len(got) != len(new)
        ):
            raise Mistake(
                f"Captioner: caption should return ids (B, L), int64, but returned {describe(got)}."
            )
    if short.shape[1] != 1 or said.shape[1] > 6:
        _fail(
            "caption writes another number of words than `longest` allows", "Does the loop count <sos>?"
        )
    ended = (said == EOS).cumsum(dim=1) - (said == EOS).long() > 0  # after the first <eos>
    if (said[ended] != PAD).any():
        _fail("after <eos> a caption goes on", "Is it filled with <pad>, data.PAD?")
    if given["steps"] and (said[~ended] == PAD).any():
        _fail("a caption has <pad> before any <eos>", "Is its <eos> left out? A row ends with it.")
    if said.shape[1] < 6 and not (said == EOS).any(dim=1).all():
        _fail(
            "caption stops before all captions have ended",
            "Does the loop end at the first <eos> of the batch? Every row goes on to its own.",
        )
    if said.shape[1] > 1 and ((said[:, :-1] == EOS).cumsum(dim=1)[:, -1] > 0).all():
        _fail("caption writes on when all captions have ended", "Does the loop stop then?")
    wide = torch.full((len(new), 6), PAD)
    wide[:, : said.shape[1]] = said
    share = (wide == torch.nn.functional.pad(right, (0, 3))).all(dim=1).double().mean()
    if given["steps"] and share < ENOUGH:
        _fail(
            "after a short training it captions too few new pictures rightly",
            "Do the words depend on the cells that are looked at, and on the state?",
        )


Captioner = Exercise(
    "Captioner",
    tolerance=TOLERANCE,
    because="Two calls of one model differ by rounding in single precision.",
    fixed_precision=True,
    make=captioner_arguments,
    judge=judge_captioner,
    record=inside.record_captioner,
    cases={
        "pictures of six cells": dict(places=6),
        "pictures of five cells, before any training": dict(batch=3, steps=0),
    },
    forbid=(
        "SoftCaptioner",
        "FixedCaptioner",
        "HardCaptioner",
        "TransformerCaptioner",
        "MultiheadAttention",
    ),
)


def train_arguments(
    lengths: Sequence[int], share: float = 0.5, clip: float = 0.5, once: bool = False, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `train`: a small captioner's weights, three batches, rate, share and clip.

    once: whether the batches can be read only once.
    """
    weights = normal({"table": (8, 3), "look": (3, 3), "out": (3, 8)}, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    batches = []
    for k in range(3):
        ends = torch.tensor([*lengths[k:], *lengths[:k]])
        captions = torch.randint(3, 8, (len(ends), max(lengths)), generator=generator)
        captions[torch.arange(len(ends)), ends - 1] = EOS
        captions = captions.masked_fill(~functional.length_mask(ends, captions.shape[1]), PAD)
        batches.append((normal({"g": (len(ends), 4, 3)}, seed + 2 + k)["g"], captions))
    shares = dict(rate=0.3, share=share, clip=clip)
    return dict(weights=tuple(weights.values()), batches=batches, **shares, once=once)


def _train(
    model: Any,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    share: float,
    clip: float,
) -> list[float]:
    """A pass over the batches: the words' loss and its share of the penalty, cut gradients, a step."""
    losses = []
    for grid, captions in batches:
        logits, weights = model(grid, captions)
        penalty = functional.doubly_stochastic(weights, captions != PAD)
        loss = functional.sequence_loss(logits, captions) + share * penalty
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def _read_twice(weights: Any, batches: Any, *settings: Any) -> Any:
    """Nothing is left of the batches when the training begins."""
    *settings, once = settings
    return inside.record_each_step(_train, weights, [] if once else batches, *settings)


train = Exercise(
    "train",
    make=train_arguments,
    reference=partial(inside.record_each_step, _train),
    through=lambda train: partial(inside.record_each_step, train),
    tolerance=9e-5,
    because="PyTorch cuts a norm to a little less than asked: it divides by the norm plus 0.000001.",
    record=inside.record_train,
    parts=(
        *(f"the loss of the {number} batch" for number in ("first", "second", "third")),
        *["a weight matrix after three batches"] * 3,
    ),
    likely={
        "Are the batches counted, indexed or read twice? A generator gives them one by one, and once: "
        "for grid, captions in batches.": (stopping(r"has no len\(\)|not subscriptable"), _read_twice)
    },
    cases={
        "captions of one length": dict(lengths=[3, 3]),
        "padding": dict(lengths=[4, 2, 3], seed=10),
        "gradients that are not too long": dict(lengths=[2, 4], clip=50.0, share=0.1, seed=20),
        "batches that can be read once": dict(lengths=[3, 2], once=True, seed=30),
    },
)
