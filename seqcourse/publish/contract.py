"""What a page calls of a student's code, as one module; and greedy decoding with it, as in the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse import data
from seqcourse.errors import CourseError
from seqcourse.publish.system import PublishedSystem, modules_of, stopped
from seqcourse.tokens import EOS, PAD, SOS, UNK

LONGEST = 40  # tokens that a page reads or writes
PIXELS = 64
WORDS = ("bench", "dinner", "lash", "lava", "needed", "sprint", "water", "letter")
SENTENCES = (
    "The girl is reading a book.",
    "We need water",
    "I want to buy a new car.",
    "Where is my key?",
    "My brother has two big dogs.",
    "They were tired",
    "Tom is busy now.",
    "Do you like coffee?",
)


class Called(nn.Module):
    """A student's `logits` as a module: tensors in, a tuple of logits (1, M, V) and perhaps maps out.

    Maps are the weights from each written word to each word read, (1, M, N), or to each place of a
    picture, (1, M, places).
    """

    def __init__(self, system: PublishedSystem) -> None:
        super().__init__()
        self.parts = nn.ModuleList(modules_of(system.model))
        self.of, self.logits = (system.model,), system.space["logits"]

    def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
        found = self.logits(self.of[0], *given)
        made = tuple(found) if isinstance(found, tuple | list) else (found,)
        maps = tuple(x.flatten(2) for x in made[1:] if x is not None)
        return made[0], *maps


@dataclass
class Contract:
    """How a page reads and writes: vocabularies, the module, and what the student's sentences end in.

    sizes: (N, M) if the graph takes sentences of these sizes only, padded; None if of any length.
    stops: whether a full stop is added to a sentence without an end.
    ends: whether <eos> ends what is read.
    agree: on how many of ``tried`` inputs greedy decoding says what the student's own function says.
    """

    task: str
    module: Called
    source: data.Vocabulary | None
    target: data.Vocabulary
    sizes: tuple[int, int] | None = None
    stops: bool = True
    ends: bool = True
    agree: int = 0
    tried: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def device(self) -> torch.device:
        """Where `load` put the model."""
        return next((each.device for each in self.module.parameters()), torch.device("cpu"))

    def read(self, text: str) -> list[int]:
        """The ids of a sentence, as the page makes them."""
        tokens = list(text.lower()) if self.task == "speller" else data.tokenize(text)
        if self.stops and tokens[-1:] not in (["."], ["?"], ["!"]):
            tokens.append(".")
        return self.source.encode(tokens, eos=self.ends)[: self.sizes[0] if self.sizes else LONGEST]

    def given(self, what: Any) -> tuple[Tensor, ...]:
        """What is read, as tensors: a sentence's ids and their number, or a picture."""
        if self.task == "captioner":
            return (what.to(self.device),)
        wide = self.sizes[0] if self.sizes else len(what)
        ids = [*what, *[PAD] * (wide - len(what))]
        return torch.tensor([ids]).to(self.device), torch.tensor([len(what)]).to(self.device)

    def wrote(self, ids: Sequence[int]) -> Tensor:
        """What is written so far, as a tensor."""
        wide = self.sizes[1] if self.sizes else len(ids)
        return torch.tensor([[*ids, *[PAD] * (wide - len(ids))]]).to(self.device)

    def greedy(self, what: Any) -> list[int]:
        """The likeliest next word, over and over: what the page does."""
        given, ids = self.given(what), [SOS]
        most = self.sizes[1] if self.sizes else LONGEST
        with torch.inference_mode():
            while len(ids) < most:
                scores = self.module(*given, self.wrote(ids))[0][0, len(ids) - 1].clone()
                scores[[PAD, SOS, UNK]] = -torch.inf
                best = int(scores.argmax())
                if best == EOS:
                    break
                ids.append(best)
        return ids[1:]

    def text(self, ids: Sequence[int]) -> str:
        """What the page shows of what was written."""
        words = self.target.decode(ids)
        return data.detokenize(words, "es") if self.task == "translator" else " ".join(words)


def contract(system: PublishedSystem) -> Contract:
    """Look at a system's `words` and `logits`, on a small example.

    Raises:
        CourseError: one of them does not give what a page needs.
    """
    name = system.name
    found = system.space["words"](system.model)
    wanted = 1 if system.task == "captioner" else 2
    told = "a pair of data.Vocabulary, read and written" if wanted == 2 else "a data.Vocabulary"
    both = tuple(found) if isinstance(found, tuple | list) else (found,)
    if len(both) != wanted or not all(isinstance(each, data.Vocabulary) for each in both):
        raise CourseError(f"words of {name} should give {told}, but gives {type(found).__name__}.")
    made = Contract(system.task, Called(system).eval(), both[0] if wanted == 2 else None, both[-1])
    _try(made, name)
    return made


def _try(made: Contract, name: str) -> None:
    ids = made.wrote([SOS, *(4, 5, 6) * 2])  # seven, a number that is rarely one of heads
    what = made.read("we are here .") if made.source else example_picture()
    with torch.inference_mode():
        try:
            logits, *maps = made.module(*made.given(what), ids)
        except Exception as error:
            raise stopped(f"logits of {name}", error) from error
        other = ids.clone()
        other[0, -1] = 4
        again = made.module(*made.given(what), other)[0]
    shape = (1, ids.shape[1], len(made.target))
    if not isinstance(logits, Tensor):
        raise CourseError(
            f"logits of {name} should give a tensor, or a pair of tensors, but gives a "
            f"{type(logits).__name__}."
        )
    if tuple(logits.shape) != shape:
        raise CourseError(
            f"logits of {name} should give {shape} for one sentence of {shape[1]} written words, a row "
            f"for what follows each of them, but gives {tuple(logits.shape)}."
        )
    # By entry: where a student's code has -inf, a difference would be NaN.
    same = torch.isclose(again[:, :-1], logits[:, :-1], rtol=0, atol=1e-4, equal_nan=True)
    if not same.all():
        raise CourseError(
            f"logits of {name} look ahead: another last word changes the logits before it. A mask "
            f"(functional.causal_mask) hides what follows."
        )
    read = len(what) if made.source else None
    for each in maps:
        if each.dim() != 3 or each.shape[1] != shape[1] or (read and each.shape[2] != read):
            raise CourseError(
                f"The weights that logits of {name} hands over should be a row over what is read for "
                f"each written word, (1, {shape[1]}, {read or 'rows, columns'}), but they are "
                f"{tuple(each.shape)}."
            )
        if read is None and math.isqrt(each.shape[2]) ** 2 != each.shape[2]:
            raise CourseError(
                f"The weights that logits of {name} hands over should have as many rows as columns, "
                f"but they have {each.shape[2]} places."
            )


def example_picture() -> Tensor:
    """A picture to try code on, the same each time, (1, 3, S, S)."""
    return torch.linspace(0, 1, 3 * PIXELS**2).sin().view(1, 3, PIXELS, PIXELS)


def settle(made: Contract, system: PublishedSystem) -> None:
    """Find out how the student's function ends a sentence, and how often the page says the same."""
    if system.task == "captioner":
        scenes = data.load_scenes("test", len(SENTENCES))
        pictures = torch.stack([_picture(scene.image) for scene in scenes])
        said, ways = system.say(pictures), [(False, False)]
        inputs = [[each[None] for each in pictures]]
    else:
        texts = WORDS if system.task == "speller" else SENTENCES
        stops = (False,) if system.task == "speller" else (True, False)
        said, ways = system.say(list(texts)), list(product(stops, (True, False)))
        inputs = list(_read(made, ways, texts))
    made.tried = len(said)
    counts = []
    for given in inputs:
        written = [made.text(made.greedy(each)) for each in given]
        counts.append(sum(_bare(a) == _bare(b) for a, b in zip(written, said, strict=True)))
    best = max(range(len(ways)), key=lambda k: counts[k])
    (made.stops, made.ends), made.agree = ways[best], counts[best]


def _bare(text: str) -> str:
    """A text without what a student's function may do otherwise: capital letters, spaces at signs."""
    return "".join(text.lower().split())


def _read(
    made: Contract, ways: Sequence[tuple[bool, bool]], texts: Sequence[str]
) -> Iterator[list[list[int]]]:
    for made.stops, made.ends in ways:
        yield [made.read(text) for text in texts]


def _picture(image: Any) -> Tensor:
    """(3, S, S), from 0 to 1."""
    return torch.tensor(image).permute(2, 0, 1).float() / 255
