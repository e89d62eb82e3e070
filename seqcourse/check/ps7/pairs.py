"""Exercise 7: pairs of sentences, true and false ones, and how a pair is written down."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.compare import Likely
from seqcourse.check.exercise import Case, Exercise, cases_of
from seqcourse.check.ps7.ids import CLS, FIRST, SEP

# --- one pair, written down -------------------------------------------------------------------------


def pack_arguments(a: int, b: int, longest: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `pack_pair`: two sentences of these sizes, and the most tokens there may be."""
    generator = torch.Generator().manual_seed(seed)
    words = [torch.randint(FIRST, 90, (size,), generator=generator).tolist() for size in (a, b)]
    return {"a": words[0], "b": words[1], "longest": longest}


def _shortened(a: list[int], b: list[int], room: int, *, tie_a: bool = False) -> tuple[list, list]:
    while len(a) + len(b) > room:
        if len(a) > len(b) or (tie_a and len(a) == len(b)):
            a = a[:-1]
        else:
            b = b[:-1]
    return a, b


def _packed(
    a: list[int], b: list[int], *, middle: bool = True, end: bool = True, first: bool = True
) -> tuple[Tensor, Tensor]:
    one = [CLS] * first + a + [SEP] * middle
    other = b + [SEP] * end
    return torch.tensor(one + other), torch.tensor([0] * len(one) + [1] * len(other))


def reference_pack_pair(a: list[int], b: list[int], longest: int) -> tuple[Tensor, Tensor]:
    """<cls> a <sep> b <sep> and the segment of each token, both (N,) with N <= longest."""
    return _packed(*_shortened(a, b, longest - 3))


def _segments(change: Callable[[Tensor, int], Tensor]) -> Callable[..., Any]:
    """Right tokens, other segments: change(segments, place of the first <sep>)."""

    def answer(a, b, longest):
        tokens, segments = reference_pack_pair(a, b, longest)
        return tokens, change(segments.clone(), int((tokens == SEP).nonzero()[0]))

    return answer


def _of(value: Any, number: int) -> Tensor:
    return torch.full_like(value, number)


def _first_sep_in_second(segments: Tensor, place: int) -> Tensor:
    segments[place] = 1
    return segments


def _last_sep_in_first(segments: Tensor, place: int) -> Tensor:
    segments[-1] = 0
    return segments


def _equally(a: list[int], b: list[int], over: int) -> tuple[list[int], list[int]]:
    return a[: max(0, len(a) - over // 2)], b[: max(0, len(b) - (over - over // 2))]


_PACK = {
    "Do the three specials not count? With them there may be `longest` tokens.": (
        lambda a, b, longest: _packed(*_shortened(a, b, longest))
    ),
    "Are only two specials counted? There are three: <cls>, <sep>, <sep>.": (
        lambda a, b, longest: _packed(*_shortened(a, b, longest - 2))
    ),
    "Is there one token too few? `longest` tokens are allowed.": (
        lambda a, b, longest: _packed(*_shortened(a, b, longest - 4))
    ),
    "Did you cut the end of the whole? The last <sep> is lost then: shorten the sentences first.": (
        lambda a, b, longest: tuple(part[:longest] for part in _packed(a, b))
    ),
    "Is only the second sentence shortened? Take the last token from the longer of the two.": (
        lambda a, b, longest: _packed(a[: longest - 3], b[: max(0, longest - 3 - len(a))])
    ),
    "Is only the first sentence shortened? Take the last token from the longer of the two.": (
        lambda a, b, longest: _packed(a[: max(0, longest - 3 - len(b))], b[: longest - 3])
    ),
    "Does each sentence get half of the room? A short one leaves its rest to the other: take the "
    "last token from the longer one, again and again.": (
        (lambda a, b, longest: _packed(a[: (longest - 3) // 2], b[: (longest - 3) // 2])),
        (
            lambda a, b, longest: _packed(
                a[: (longest - 3) - (longest - 3) // 2], b[: (longest - 3) // 2]
            )
        ),
    ),
    "When both are equally long, is the first one shortened? Shorten b then.": (
        lambda a, b, longest: _packed(*_shortened(a, b, longest - 3, tie_a=True))
    ),
    "Are tokens taken from the front? Take the last ones.": (
        lambda a, b, longest: _packed(
            *(part[::-1] for part in _shortened(a[::-1], b[::-1], longest - 3))
        )
    ),
    "Are both shortened by the same number of tokens? Only the longer one loses them.": (
        lambda a, b, longest: _packed(*_equally(a, b, max(0, len(a) + len(b) + 3 - longest)))
    ),
    "Is the rest filled up with padding? A pair has as many tokens as it needs.": (
        lambda a, b, longest: tuple(
            torch.nn.functional.pad(part, (0, longest - len(part)))
            for part in reference_pack_pair(a, b, longest)
        )
    ),
    "Is nothing shortened? There may be `longest` tokens.": (lambda a, b, longest: _packed(a, b)),
    "Is the last <sep> missing? The form is <cls> a <sep> b <sep>.": (
        (lambda a, b, longest: _packed(*_shortened(a, b, longest - 3), end=False)),
        (lambda a, b, longest: _packed(*_shortened(a, b, longest - 2), end=False)),
    ),
    "Is the <sep> between the two missing? The form is <cls> a <sep> b <sep>.": (
        lambda a, b, longest: _packed(*_shortened(a, b, longest - 3), middle=False)
    ),
    "Is <cls> missing? The form is <cls> a <sep> b <sep>.": (
        lambda a, b, longest: _packed(*_shortened(a, b, longest - 3), first=False)
    ),
    "Does the first <sep> belong to segment 1? It still belongs to a: 0.": _segments(
        _first_sep_in_second
    ),
    "Does the last <sep> belong to segment 0? It belongs to b: 1.": _segments(_last_sep_in_first),
    "Are the segments 1 and 2? They are 0 and 1.": _segments(lambda s, place: s + 1),
    "Are the segments swapped? a has 0, b has 1.": _segments(lambda s, place: 1 - s),
    "Is every token in segment 0? What belongs to b has 1.": _segments(lambda s, place: _of(s, 0)),
    "Did you return the tokens only? The segments are asked for as well.": (
        lambda *a: reference_pack_pair(*a)[0]
    ),
    "Did you swap the two? The tokens come first, then the segments.": (
        lambda *a: reference_pack_pair(*a)[::-1]
    ),
    "Are they lists? Two tensors are asked for: torch.tensor(...).": (
        lambda *a: tuple(part.tolist() for part in reference_pack_pair(*a))
    ),
}


pack_pair = Exercise(
    "pack_pair",
    make=pack_arguments,
    reference=reference_pack_pair,
    likely=_PACK,
    cases=[
        Case("the first example", lambda: pack_arguments(3, 2, 20)),
        Case("a pair that just fits", lambda: pack_arguments(3, 7, 13, seed=1)),
        *cases_of(
            pack_arguments,
            {
                "a first sentence that is too long": dict(a=11, b=3, longest=12, seed=2),
                "a second sentence that is too long": dict(a=2, b=11, longest=10, seed=3),
                "two sentences that are too long": dict(a=8, b=10, longest=12, seed=4),
                "two sentences, equally long": dict(a=6, b=6, longest=8, seed=5),
            },
            "Take the last token from the longer sentence, or from b if both are equally long.",
        ),
    ],
    forbid=("join_pair", "MaskedBatches"),
    idea="Two sentences become one row of tokens; a second row says which token belongs to which.",
    see=("12", "Pre-train: does this sentence follow?"),
)


# --- which pairs ------------------------------------------------------------------------------------

Documents = Sequence[Sequence[str]]
Triple = tuple[str, str, int]
_WORDS = "cat hare queen tea rabbit door key rose duchess king turtle gryphon hatter mouse".split()
_NEARLY = ("oh!", "Oh! Oh!", "Oh", "Oh?")  # none of them reads exactly like "Oh!"


def pairs_arguments(
    sizes: Sequence[int], repeated: bool = False, twins: bool = False, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `sentence_pairs`: documents with these numbers of sentences, two draws per pair.

    repeated: some sentences, such as "Oh!", stand in every document, and some that are nearly the same.
    twins: the last document holds the same sentences as the first.
    """
    rng = numpy.random.default_rng(seed)
    names = iter(rng.permutation(len(_WORDS) ** 2))

    def sentence() -> str:
        number = int(next(names))
        return f"The {_WORDS[number % len(_WORDS)]} saw the {_WORDS[number // len(_WORDS)]}."

    documents = [[sentence() for _ in range(size)] for size in sizes]
    if repeated:
        nearly = itertools.cycle(_NEARLY)
        for document in documents:
            for place in range(1, len(document), 2):
                document[place] = "".join(("Oh", "!"))  # equal, and no two of them the same object
            for place in range(2, len(document), 4):
                document[place] = next(nearly)
    if twins:
        documents[-1] = list(documents[0])
    count = sum(size - 1 for size in sizes)
    draws = torch.from_numpy(rng.random((count, 2)))
    order = torch.from_numpy(rng.permutation(count))
    draws[:, 0] = 0.5 * draws[:, 0] + 0.5 * (order % 2)  # half of the pairs are false
    if count > 2:  # and one draw lies exactly on the border
        draws[int(order[-1 - count % 2]), 0] = 0.5
    return {"documents": documents, "draws": _telling(sizes, draws)}


def _telling(sizes: Sequence[int], draws: Tensor) -> Tensor:
    """Draws of which a third of the false pairs' lie close under a step, and a third close above one.

    There floor, round, and a number of candidates that is off by one give different sentences.
    """
    candidates = [sum(sizes) - size for size in sizes for _ in range(size - 1)]
    false = [k for k in range(len(draws)) if draws[k, 0] >= 0.5]
    for number, k in enumerate(false):
        n, third = candidates[k], int(draws[k, 1] * candidates[k] / 3)
        if number % 3 == 0:
            draws[k, 1] = (third + 0.9) / n
        elif number % 3 == 1:
            draws[k, 1] = (n - 1 - third + 0.05) / n
    return draws


def _neighbours(documents: Documents) -> Iterator[tuple[int, int]]:
    for number, document in enumerate(documents):
        for place in range(len(document) - 1):
            yield number, place


def _others(documents: Documents, number: int, place: int) -> list[str]:
    """Sentences of all other documents, without those that read like the true one."""
    true = documents[number][place + 1]
    return [s for k, document in enumerate(documents) if k != number for s in document if s != true]


def _at(candidates: Sequence[str], draw: float) -> str:
    return candidates[int(draw * len(candidates))]


def _made(
    *,
    others: Callable[[Documents, int, int], list[str]] = _others,
    pick: Callable[[Sequence[str], float], str] = _at,
    true: Callable[[float], bool] = lambda u: u < 0.5,
    label: Callable[[bool], int] = int,
    neighbours: Callable[[Documents], Any] = _neighbours,
    row: Callable[[int, int, int], int] = lambda k, place, false: k,
    which: int = 1,
) -> Callable[..., list[Triple]]:
    """The pairs with one part put in another's place."""

    def pairs(documents: Documents, draws: Tensor) -> list[Triple]:
        made: list[Triple] = []
        false = 0
        for k, (number, place) in enumerate(neighbours(documents)):
            u = draws[row(k, place, false)].tolist()
            follows = true(u[0])
            b = documents[number][place + 1]
            if not follows:
                b = pick(others(documents, number, place), u[which])
                false += 1
            made.append((documents[number][place], b, label(follows)))
        return made

    return pairs


reference_sentence_pairs = _made()


def _everything(documents: Documents, number: int, place: int) -> list[str]:
    return [s for document in documents for s in document]


def _repeated_too(documents: Documents, number: int, place: int) -> list[str]:
    return [s for k, document in enumerate(documents) if k != number for s in document]


def _unlike(documents: Documents, number: int, place: int) -> list[str]:
    """Sentences of the documents that hold other sentences."""
    true = documents[number][place + 1]
    return [s for other in documents if other != documents[number] for s in other if s != true]


def _first_alike(documents: Documents, number: int, place: int) -> list[str]:
    return _others(documents, list(documents).index(documents[number]), place)


def _but(alike: Callable[[str, str], bool]) -> Callable[[Documents, int, int], list[str]]:
    """Sentences of the other documents, without those that are like the true one in another way."""
    return lambda documents, number, place: [
        s for s in _repeated_too(documents, number, place) if not alike(s, documents[number][place + 1])
    ]


def _across(documents: Documents, draws: Tensor, fitting: bool = True) -> list[Triple]:
    """The last sentence of a document and the first of the next taken for a pair."""
    flat = [(number, s) for number, document in enumerate(documents) for s in document]
    made = []
    for k in range(len(draws) if fitting else len(flat) - 1):
        u = draws[k].tolist()
        (number, a), (_, true) = flat[k], flat[k + 1]
        others = [s for n, s in flat if n != number and s != true]
        made.append((a, true, 1) if u[0] < 0.5 else (a, _at(others, u[1]), 0))
    return made


_PAIRS = [
    *(
        Likely(
            "Is the end of one document paired with the beginning of the next? Only neighbours within a "
            "document follow each other.",
            lambda documents, draws, fitting=fitting: _across(documents, draws, fitting),
        )
        for fitting in (True, False)
    ),
    *(
        Likely(
            "Are two documents taken for one where they hold the same sentences? Each is a document of "
            "its own: compare their numbers, not what they hold.",
            _made(others=others),
        )
        for others in (_unlike, _first_alike)
    ),
    *(
        Likely(
            "Is a sentence left out that reads nearly like the true one? Only those that read exactly "
            "like it are no candidates.",
            _made(others=_but(alike)),
        )
        for alike in (
            lambda one, other: one.lower() == other.lower(),
            lambda one, other: one.strip(".!?") == other.strip(".!?"),
            lambda one, other: other in one,
            lambda one, other: one in other,
        )
    ),
    Likely(
        "Are all sentences candidates? Only those of the other documents are, and none that reads like "
        "the true one.",
        _made(others=_everything),
    ),
    Likely(
        "Is the coin the wrong way round? A pair is true where draws[k, 0] is smaller than one half.",
        _made(true=lambda u: u >= 0.5),
    ),
    Likely(
        "Is the coin the wrong way round? A pair is true where draws[k, 0] is smaller than one half.",
        _made(true=lambda u: u > 0.5),
    ),
    Likely("Is every pair labelled 1? A false one has 0.", _made(label=lambda follows: 1)),
    Likely(
        "Is the first candidate always picked? draws[k, 1] says which.", _made(pick=lambda c, u: c[0])
    ),
]


sentence_pairs = Exercise(
    "sentence_pairs",
    make=pairs_arguments,
    reference=reference_sentence_pairs,
    likely=_PAIRS,
    cases=cases_of(
        pairs_arguments,
        {
            "the first example": dict(sizes=[6, 5, 7]),
            "two documents": dict(sizes=[5, 2], seed=1),
            "a document with one sentence, which makes no pair": dict(sizes=[1, 4, 3], seed=2),
            "two documents that hold the same sentences": dict(sizes=[4, 3, 4], twins=True, seed=4),
            "sentences that stand in every document": dict(sizes=[8, 6, 9], repeated=True, seed=3),
        },
    ),
    forbid=("MaskedBatches",),
    idea="Half of the pairs are neighbours in a document; in the others b comes from another document.",
    see=("12", "Pre-train: does this sentence follow?"),
)
