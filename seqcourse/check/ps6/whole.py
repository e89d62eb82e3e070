"""Exercise 8: a whole Transformer, known by its shapes and its numbers, and one step of its training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.compare import Likely, Mistake, Stopped, compare, describe, is_right
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.modules import ALIKE
from seqcourse.check.calls.values import result
from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inside import ps6 as inside
from seqcourse.check.ps6 import decoder, encoder
from seqcourse.check.ps6.smoothing import reference_label_smoothed_loss
from seqcourse.check.told.discreet import error_in_words
from seqcourse.tokens import EOS, PAD, SOS

TOLERANCE, SMALL, LONG = 8e-5, 3e-3, 9


def transformer_arguments(
    lengths: Sequence[int],
    words: Sequence[int],
    width: int = 6,
    heads: int = 2,
    layers: int = 1,
    order: str = "pre",
    way: str = "at once",
    small: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """A model to build, the numbers of every shape, and sentences: their lengths and their words'.

    small: whether what is learned makes vectors so small that the norms' epsilon counts.
    """
    source, target, hidden = 5 * width, 4 * width, width + 3
    build = dict(source=source, target=target, width=width, heads=heads, layers=layers)
    build |= dict(hidden=hidden, order=order)
    values = normal({"square": (width, width), "inner": (width, hidden)}, seed)
    values |= normal({"vector": (width,), "inner_bias": (hidden,)}, seed + 1)
    values |= normal({"source": (source, width), "target": (target, width)}, seed + 2)
    values |= normal({"output_bias": (target,)}, seed + 3)
    values["square"] = 0.7 * (values["square"] + values["square"].T)  # either way round the same
    values["vector"] = 0.6 + 0.4 * values["vector"]
    if small:
        scales = {"vector": SMALL, "inner_bias": SMALL, "target": 0.1 / SMALL}  # for usual logits
        values |= {name: scale * values[name] for name, scale in scales.items()}
    generator = torch.Generator().manual_seed(seed + 4)
    src, tgt = (
        torch.randint(3, size, (len(ends), max(ends)), generator=generator)
        for size, ends in ((source, lengths), (target, words))
    )
    tgt[:, 0] = SOS
    ends = torch.tensor(list(lengths))
    src = src.masked_fill(~functional.length_mask(ends, src.shape[1]), PAD)
    tgt = tgt.masked_fill(~functional.length_mask(torch.tensor(list(words)), tgt.shape[1]), PAD)
    given = dict(build=build, values=values, src=src, lengths=ends, tgt=tgt, way=way)
    return given | {"training": order == "pre"}


def _logits(
    given: Mapping[str, Any],
    take: Callable[[str], Tensor] | None = None,
    *,
    seen: Callable[[int], Tensor] = functional.causal_mask,
    masks: tuple[bool, bool] = (True, True),
    rows: int = 0,
    places: tuple[float | None, float | None] = (1.0, 1.0),
    first: int = 0,
    cut: bool = True,
    join: bool = True,
    scale: bool = True,
    lasts: tuple[bool, bool] = (True, True),
    order: str = "",
    heads: int = 0,
    act: Callable[[Tensor], Tensor] = torch.relu,
    table: str = "target",
    end: Callable[[Tensor], Tensor] = lambda z: z,
    bias: bool = True,
    eps: float = 1e-5,
) -> Tensor:
    """Logits of a whole model, padding at 0; every parameter of a shape is alike. Options: mistakes."""
    build, values = given["build"], given["values"]
    take = take or values.__getitem__
    order, heads = order or build["order"], heads or build["heads"]
    width, real = build["width"], functional.length_mask(given["lengths"], given["src"].shape[1])

    def norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, take("vector"), take("vector"), eps)

    def attend(queries: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        mapped = (x @ take("square") + take("vector") for x in (queries, memory, memory))
        q, k, v = (
            x.unflatten(-1, (heads, -1)).transpose(1, 2)
            if cut
            else x.reshape(len(x), heads, x.shape[1], -1)
            for x in mapped
        )
        y = functional.attention(q, k, v, mask[..., None, :, :])[0]  # (B, H, N, D / H)
        y = y.transpose(1, 2).flatten(2) if join else y.reshape(queries.shape)
        return y @ take("square") + take("vector")

    def ahead(queries: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        return attend(queries, memory, seen(queries.shape[1]))

    def mlp(x: Tensor) -> Tensor:
        return act(x @ take("inner") + take("inner_bias")) @ take("inner").T + take("vector")

    def read(tokens: Tensor, rows: Tensor, place: float | None) -> Tensor:
        x = rows[tokens] * (width**0.5 if scale else 1.0)
        if place is None:
            return x
        at = (torch.arange(tokens.shape[1]) + first) * place
        return x + functional.sinusoidal_encoding(at, width).double()

    tables = {name: take(name) for name in ("source", "target")}
    x = read(given["src"], tables["source"], places[0])
    for _ in range(build["layers"]):
        mask = real[:, None] if masks[0] else torch.ones_like(real[:, None])
        x = encoder.reference_encoder_block(x, mask, attend, mlp, (norm, norm), order)
    memory = norm(x) if build["order"] == "pre" and lasts[0] else x
    mask = (real if masks[1] else torch.ones_like(real))[:, None]
    memory = memory.roll(rows, 0)
    y = read(given["tgt"], tables[table], places[1])
    for _ in range(build["layers"]):
        y = decoder.reference_decoder_block(y, memory, mask, ahead, attend, mlp, (norm,) * 3, order)
    y = norm(y) if build["order"] == "pre" and lasts[1] else y
    z = end(y @ tables["target"].T + (take("output_bias") if bias else 0.0))
    return z * (given["tgt"] != PAD)[..., None]


def _right(given: Mapping[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
    """The logits, and the lengths of the gradients of all parameters, by their shape, sorted."""
    taken: dict[str, list[Tensor]] = {kind: [] for kind in given["values"]}

    def take(kind: str) -> Tensor:
        taken[kind].append(given["values"][kind].clone().requires_grad_())
        return taken[kind][-1]

    logits = _logits(given, take)
    (logits * normal({"w": logits.shape}, 7)["w"]).sum().backward()
    return logits.detach(), {
        kind: torch.tensor(sorted(p.grad.norm().item() for p in ps), dtype=torch.float64)
        for kind, ps in taken.items()
    }


_SHAPES = {
    "other": "that exercise 3 does not count",
    "target": "target × D, the table of target words",
    "source": "source × D, the table of source words",
    "output_bias": "target, the bias of the logits",
    "square": "D × D, of the attentions",
    "inner": "D × hidden, of the MLPs",
    "inner_bias": "hidden, of the MLPs",
    "vector": "D, biases, γ and β",
}
_COUNTS = {
    ("target", 1): "Has the output a matrix of its own? It is tied: the table of target words.",
    ("target", -1): "Do both languages share a table? Each has its own.",
    ("other", 1): "Are positions learned? Sines and cosines are computed, they are no parameters. Or is "
    "a matrix in pieces? Several may lie in one parameter, but each of them whole.",
    ("output_bias", -1): "Do the logits lack their bias, one number for every target word?",
    ("square", -1): "Has every attention of every block four matrices of its own, and is every list of "
    "blocks an nn.ModuleList?",
    ("square", 1): "Has a block of the encoder a cross-attention, or is there a matrix too many?",
    ("vector", -1): "Is a bias or a norm missing? With the order pre one more norm ends each side.",
    ("vector", 1): "Is there a norm or a bias too many? With the order post every block ends in a norm.",
}
_LIKELY: dict[str, dict[str, Any] | tuple[dict[str, Any], ...]] = {
    "Can a word look ahead? Position t of the decoder sees positions up to t: your decoder_block makes "
    "that mask.": dict(seen=lambda size: torch.ones(size, size, dtype=torch.bool)),
    "Is padding of the source attended to? The mask belongs in the encoder and in the "
    "cross-attention.": (
        dict(masks=(False, False)),
        dict(masks=(False, True)),
        dict(masks=(True, False)),
    ),
    "Does a sentence look at the memory of another row of the batch?": (dict(rows=1), dict(rows=-1)),
    "Are positions left out? Without them the order of the words is lost.": (
        dict(places=(None, None)),
        dict(places=(None, 1.0)),
        dict(places=(1.0, None)),
    ),
    "Is every word at position 0? In `step` position t belongs to the word after t words.": (
        dict(places=(1.0, 0.0)),
        dict(places=(0.0, 0.0)),
    ),
    "Are positions counted from 1? The first word is at position 0.": dict(first=1),
    "Does a word see only itself? In `step` the state holds all words written so far.": (
        dict(seen=lambda size: torch.eye(size).bool(), places=(1.0, 0.0)),
        dict(seen=lambda size: torch.eye(size).bool()),
    ),
    "Do the logits belong to the first word? Those after the newest word are asked for.": dict(
        end=lambda z: z[:, :1].expand_as(z)
    ),
    "Are vectors cut into heads, or joined again, without transpose? A reshape does not exchange "
    "axes.": (dict(cut=False), dict(join=False), dict(cut=False, join=False)),
    "Are the embeddings not multiplied by the root of D, or are the positions, too?": dict(scale=False),
    "Is the last norm missing? With the order pre one ends the encoder and one the decoder.": (
        dict(lasts=(False, False)),
        dict(lasts=(False, True)),
        dict(lasts=(True, False)),
    ),
    "Is that the other order? The class is told which.": (dict(order="pre"), dict(order="post")),
    "Is there one head? D is cut into `heads` parts, each with a softmax of its own.": dict(heads=1),
    "Is there another function than ReLU in the MLP?": (
        dict(act=functional.gelu_tanh),
        dict(act=functional.gelu),
        dict(act=lambda x: x),
    ),
    "Are target words looked up in the table of source words?": dict(table="source"),
    "Is that a softmax? Logits are asked for.": (
        dict(end=lambda z: z.softmax(-1)),
        dict(end=lambda z: z.log_softmax(-1)),
    ),
    "Is the bias of the logits not added?": dict(bias=False),
    "Is there another epsilon in the norms? The text says which.": tuple(
        dict(eps=eps) for eps in (1e-3, 1e-4, 1e-6, 1e-8, 0.0)
    ),
}
_IN_THE_MODEL = (
    "Is the state kept in the model? Where two texts are written in turn, one gets the other's words: "
    "the state is what start and step return."
)
_LONG = "Is a number of words or places written into the model? A text may be of any length."


def _in_turn(given: Mapping[str, Any]) -> Tensor:
    """A mistake in writing word by word: two texts, written in turn, share their words."""
    both = torch.stack([given["tgt"].flip(1), given["tgt"]], dim=2).flatten(1)
    return _logits({**given, "tgt": both})[:, 1::2]


def judge_transformer(found: Mapping[str, Any], given: Mapping[str, Any], prefix: str = "") -> None:
    """Raise Mistake unless a model has the right parameters, logits and gradients."""
    built = result(found, f"{prefix}built")
    if isinstance(built, Stopped):
        words = error_in_words(built.kind, str(built))
        raise Mistake(f"Transformer stopped with {words} when it was built.")
    if not (isinstance(built, Tensor) and built.dtype == torch.bool):
        raise Mistake(f"Transformer should be an nn.Module, but is {describe(built)}.")
    values = {kind: value.double() for kind, value in given["values"].items()}  # as in `record`
    given = {**given, "values": values}
    right, reached = _right(given)
    for kind, words in _SHAPES.items():
        wanted, has = len(reached.get(kind, ())), int(result(found, f"{prefix}{kind}"))
        if wanted != has:
            question = _COUNTS.get((kind, 1 if has > wanted else -1), "")
            more = "more" if has > wanted else "fewer"
            raise Mistake(
                f"Transformer has {more} parameters than it should of "
                f"{'a' if kind == 'other' else 'the'} shape {words}. {question}"
            )
    spreads = result(found, f"{prefix}spreads")
    if (spreads < 0.6).any() or (spreads > 1.6).any():
        raise Mistake(
            "Transformer: its tables begin with numbers that are too large or too small.",
            "Are they drawn with the standard deviation 1 / sqrt(D)?",
        )
    if bool(result(found, f"{prefix}alike")):
        raise Mistake(f"Transformer: {ALIKE}")
    got = result(found, f"{prefix}result")
    shown = (given["src"], given["lengths"], given["tgt"])
    if isinstance(got, Tensor) and got.shape == right.shape:
        got = torch.where((given["tgt"] != PAD)[..., None], got, 0.0)
    likely = [
        Likely(question, lambda *_, how=how: _logits(given, **how))
        for question, hows in _LIKELY.items()
        for how in (hows if isinstance(hows, tuple) else (hows,))
    ]
    likely.append(Likely(_IN_THE_MODEL, lambda *_: _in_turn(given)))
    hint = _LONG if max(given["src"].shape[1], given["tgt"].shape[1]) > LONG else ""
    name = "Transformer" if given["way"] == "at once" else "Transformer (encode, start and step)"
    name += " in training mode" if given["training"] else ""
    compare(name, got, right, shown, likely, hint=hint, tolerance=TOLERANCE)
    for kind, lengths in reached.items() if given["way"] == "at once" else ():
        mine = result(found, f"{prefix}reached.{kind}").double()
        if not is_right(mine, lengths, TOLERANCE):
            raise Mistake(
                f"Transformer: the logits are right, gradients of the shape {_SHAPES[kind]} are not.",
                "Is a part built that is never used, or cut off by .detach()?",
            )


Transformer = Exercise(
    "Transformer",
    tolerance=TOLERANCE,
    because="Positions in single precision are good enough.",
    make=transformer_arguments,
    judge=judge_transformer,
    record=inside.record_transformer,
    cases=cases_of(
        transformer_arguments,
        {
            "one layer, no padding": dict(lengths=[4, 4], words=[3, 3], seed=40),
            "padding in source and target": dict(lengths=[5, 2, 3], words=[2, 4, 3], layers=2),
            "the order post": dict(lengths=[3, 4], words=[4, 2], order="post", heads=3, seed=20),
            "word by word": dict(lengths=[2, 4], words=[10, 10], way="word by word", seed=30),
            "the order post, and small vectors": dict(
                lengths=[3, 2], words=[2, 3], order="post", small=True, seed=50
            ),
            "a long text": dict(lengths=[140], words=[130], seed=60),
        },
    ),
    forbid=("Transformer", "TransformerEncoder", "TransformerDecoder", "Block", "MultiHeadAttention"),
)


def step_arguments(
    lengths: Sequence[int], steps: int = 3, epsilon: float = 0.1, v: int = 9, seed: int = 0
) -> dict[str, Any]:
    """Arguments of some steps: a small model's weights, batches with targets of these lengths, rates."""
    weights = normal({"source": (12, 4), "target": (v, 4), "out": (4, v)}, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    batches = []
    for number in range(steps):
        ends = torch.tensor([*lengths[number:], *lengths[:number]])
        src = torch.randint(3, 12, (len(ends), 5), generator=generator)
        targets = torch.randint(3, v, (len(ends), int(max(ends))), generator=generator)
        targets[torch.arange(len(ends)), ends - 1] = EOS
        targets = targets.masked_fill(~functional.length_mask(ends, targets.shape[1]), PAD)
        batches.append((src, torch.full_like(ends, 4), targets))
    rates = [0.5 / (number + 1) for number in range(steps)]
    return dict(weights=tuple(weights.values()), batches=batches, rates=rates, epsilon=epsilon)


def _step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    lengths: Tensor,
    targets: Tensor,
    rate: float,
    epsilon: float,
) -> float:
    """One step of training: the decoder is fed each target's word before."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    fed = torch.cat([torch.full_like(targets[:, :1], SOS), targets[:, :-1]], dim=1)
    loss = reference_label_smoothed_loss(model(src, lengths, fed), targets, epsilon, PAD)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


train_step = Exercise(
    "train_step",
    make=step_arguments,
    reference=partial(inside.record_each_step, _step),
    record=inside.record_taught,
    through=lambda step: partial(inside.record_each_step, step),
    parts=(
        *(f"the loss of the {number} step" for number in ("first", "second", "third")),
        *["a weight matrix after three steps"] * 3,
    ),
    cases=cases_of(
        step_arguments,
        {
            "two sentences": dict(lengths=[3, 3]),
            "padding": dict(lengths=[4, 1, 3], seed=10),
            "a batch of one, and no smoothing": dict(lengths=[4], epsilon=0.0, seed=20),
        },
    ),
)
