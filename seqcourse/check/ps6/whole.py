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
from seqcourse.check.calls.values import Given, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside import ps6 as inside
from seqcourse.check.ps6 import decoder, encoder
from seqcourse.check.ps6.smoothing import reference_label_smoothed_loss
from seqcourse.check.told.discreet import error_in_words
from seqcourse.tokens import EOS, PAD, SOS

TOLERANCE, SMALL, LONG = 8e-5, 3e-3, 9
_GIVEN = ("build", "values", "src", "lengths", "tgt", "way", "training")


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
    given = (build, values, src, ends, tgt, way, order == "pre")
    return dict(zip(_GIVEN, given, strict=True))


def _logits(given: Given, take: Callable[[str], Tensor]) -> Tensor:
    """Logits of a whole model (B, N, V), padding at 0; every parameter of a shape is alike.

    take: gives a parameter of a shape, by its name in `given["values"]`.
    """
    build, src, tgt = (given[name] for name in ("build", "src", "tgt"))
    real = functional.length_mask(given["lengths"], src.shape[1])[:, None]

    def norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, take("vector"), take("vector"), 1e-5)

    def attend(queries: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        mapped = (x @ take("square") + take("vector") for x in (queries, memory, memory))
        q, k, v = (x.unflatten(-1, (build["heads"], -1)).transpose(1, 2) for x in mapped)
        y = functional.attention(q, k, v, mask[..., None, :, :])[0]  # (B, H, N, D / H)
        return y.transpose(1, 2).flatten(2) @ take("square") + take("vector")

    def mlp(x: Tensor) -> Tensor:
        return torch.relu(x @ take("inner") + take("inner_bias")) @ take("inner").T + take("vector")

    def read(tokens: Tensor, table: Tensor) -> Tensor:
        places = functional.sinusoidal_encoding(tokens.shape[1], build["width"])
        return table[tokens] * build["width"] ** 0.5 + places.double()

    order, table = build["order"], take("target")
    last = norm if order == "pre" else lambda x: x
    x, y = read(src, take("source")), read(tgt, table)
    for _ in range(build["layers"]):
        x = encoder.reference_encoder_block(x, real, attend, mlp, (norm, norm), order)
    memory = last(x)
    for _ in range(build["layers"]):
        y = decoder.reference_decoder_block(y, memory, real, attend, attend, mlp, (norm,) * 3, order)
    return _without_padding(last(y) @ table.T + take("output_bias"), tgt)


def _without_padding(logits: Tensor, tgt: Tensor) -> Tensor:
    return torch.where((tgt != PAD)[..., None], logits, 0.0)


def _right(given: Given) -> tuple[Tensor, dict[str, Tensor]]:
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
_LONG = "Is a number of words or places written into the model? A text may be of any length."


def _logits_of(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The logits of a wrong answer, as they are recorded of a student's."""

    def logits(*given: Any) -> Any:
        given = dict(zip(_GIVEN, given, strict=True))
        got = result(inside.record_transformer(answer, given), "result")
        return _without_padding(got, given["tgt"]) if _fits(got, given) else got

    return logits


def _fits(got: Any, given: Given) -> bool:
    return isinstance(got, Tensor) and got.shape == (*given["tgt"].shape, given["build"]["target"])


def judge_transformer(found: Mapping[str, Any], given: Given, prefix: str = "") -> None:
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
    if _fits(got, given):
        got = _without_padding(got, given["tgt"])
    likely = [
        Likely(one.question, lambda *_, answer=one.answer: answer(*given.values()))
        for one in Transformer.likely
    ]
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
    through=_logits_of,
    cases={
        "one layer, no padding": dict(lengths=[4, 4], words=[3, 3], seed=40),
        "padding in source and target": dict(lengths=[5, 2, 3], words=[2, 4, 3], layers=2),
        "the order post": dict(lengths=[3, 4], words=[4, 2], order="post", heads=3, seed=20),
        "word by word": dict(lengths=[2, 4], words=[10, 10], way="word by word", seed=30),
        "the order post, and small vectors": dict(
            lengths=[3, 2], words=[2, 3], order="post", small=True, seed=50
        ),
        "a long text": dict(lengths=[140], words=[130], seed=60),
    },
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
    cases={
        "two sentences": dict(lengths=[3, 3]),
        "padding": dict(lengths=[4, 1, 3], seed=10),
        "a batch of one, and no smoothing": dict(lengths=[4], epsilon=0.0, seed=20),
    },
)
