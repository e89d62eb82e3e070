"""Exercise 5: which words BERT hides, and what stands there instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import Likely
from seqcourse.check.exercise import Case, Exercise, cases_of
from seqcourse.check.ps7.ids import CLS, FIRST, IGNORE, MASK, PAD, SEP, UNK

CHOSEN, MASKED, KEPT = 0.15, 0.8, 0.9  # borders of the draws


def masking_arguments(
    lengths: Sequence[int],
    v: int = 60,
    specials: bool = True,
    borders: bool = False,
    often: bool = True,
    even: bool = True,
    none: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `mask_words`: tokens (B, T), three uniform draws for each, the vocabulary's size.

    lengths: real tokens of each row. specials: whether rows begin with <cls>, hold <sep> in the middle
    and at the end, some <unk> and <mask>, and padding. borders: draws that lie exactly on 0.15, 0.8,
    0.9 and 0. often: draws that choose about every second place. even: draws that make all three fates
    equally frequent.
    none: draws of which none chooses.
    """
    generator = torch.Generator().manual_seed(seed)
    batch, time = len(lengths), max(lengths)
    tokens = torch.randint(FIRST, v, (batch, time), generator=generator)
    draws = torch.rand(3, batch, time, generator=generator, dtype=torch.float64)
    low = torch.rand(batch, time, generator=generator, dtype=torch.float64) < 0.55
    fate = torch.randint(3, (batch, time), generator=generator)
    if none:
        draws[0] = CHOSEN + (1 - CHOSEN) * draws[0]
    elif often:
        draws[0] = torch.where(low, 0.149 * draws[0], draws[0])
    if even:
        start, width = torch.tensor([0.0, 0.8, 0.9]), torch.tensor([0.79, 0.09, 0.1])
        draws[1] = start.double()[fate] + width.double()[fate] * draws[1]
    steps = draws[2] * (v - FIRST)  # every second one close under the next step: no case for round
    draws[2, :, ::2] = ((steps.floor() + 0.9) / (v - FIRST))[:, ::2]
    if borders:
        exact = torch.tensor([CHOSEN, 0.0, 0.1, 0.05], dtype=torch.float64)
        fates = torch.tensor([MASKED, KEPT, 0.0, MASKED, KEPT], dtype=torch.float64)
        words = torch.tensor([0.0, 0.999, 0.5], dtype=torch.float64)
        place = torch.arange(batch * time).reshape(batch, time)
        draws = torch.stack([exact[place % 4], fates[place % 5], words[place % 3]])
    if specials:
        places, ends = torch.arange(time), torch.tensor(list(lengths))[:, None] - 1
        tokens = torch.where(places % 7 == 3, UNK, torch.where(places % 11 == 6, MASK, tokens))
        tokens = torch.where((places == ends) | (places == ends // 2), SEP, tokens)
        tokens = torch.where(places > ends, PAD, tokens)
        tokens[:, 0] = CLS
        draws[0] = torch.where(tokens < FIRST, 0.149 * draws[0], draws[0])  # were they words
    return {"tokens": tokens, "draws": draws, "size": v}


def _made(
    *,
    word: Callable[[Tensor], Tensor] = lambda tokens: tokens >= FIRST,
    choose: Callable[[Tensor], Tensor] = lambda u: u < CHOSEN,
    masked: Callable[[Tensor], Tensor] = lambda u: u < MASKED,
    other: Callable[[Tensor], Tensor] = lambda u: (u >= MASKED) & (u < KEPT),
    draw: Callable[[Tensor, int], Tensor] = lambda u, size: FIRST + (u * (size - FIRST)).long(),
    which: tuple[int, int, int] = (0, 1, 2),
    labels: Callable[..., Tensor] = lambda tokens, hidden, chosen: tokens.where(chosen, IGNORE),
    only_chosen: bool = True,
) -> Callable[..., Any]:
    """The masking with one part put in another's place."""

    def mask_words(tokens: Tensor, draws: Tensor, size: int) -> tuple[Tensor, Tensor]:
        first, fate, new = (draws[k] for k in which)
        chosen = choose(first) & word(tokens)
        may = chosen if only_chosen else word(tokens)
        hidden = torch.where(may & other(fate), draw(new, size), tokens)
        hidden = torch.where(may & masked(fate), MASK, hidden)
        return hidden, labels(tokens, hidden, chosen)

    return mask_words


reference_mask_words = _made()


def _never(u: Tensor) -> Tensor:
    return torch.zeros_like(u, dtype=torch.bool)


def _up_to(border: float) -> Callable[[Tensor], Tensor]:
    return lambda u: u <= border


def _between(u: Tensor) -> Tensor:
    return (u > MASKED) & (u <= KEPT)


def _always(u: Tensor) -> Tensor:
    return torch.ones_like(u, dtype=torch.bool)


def _at_least_one(u: Tensor) -> Tensor:
    """In a row in which no draw chooses, the smallest draw does."""
    return (u < CHOSEN) | (u == u.amin(dim=-1, keepdim=True)) & ~(u < CHOSEN).any(dim=-1, keepdim=True)


def _another_word(step: int) -> Callable[..., Any]:
    """A random word that would be the old one becomes its neighbour."""

    def mask_words(tokens: Tensor, draws: Tensor, size: int) -> tuple[Tensor, Tensor]:
        hidden, labels = reference_mask_words(tokens, draws, size)
        same = (labels == hidden) & (draws[1] < KEPT)
        return torch.where(same, FIRST + (hidden + step - FIRST) % (size - FIRST), hidden), labels

    return mask_words


_LIKELY = [
    Likely(
        "Is at least one word of a row always chosen? Where no draw is smaller than 15 %, none is.",
        _made(choose=_at_least_one),
    ),
    Likely(
        "Are specials chosen too? Only words are, the ids from FIRST on: never <cls>, <sep> or padding.",
        _made(word=lambda tokens: torch.ones_like(tokens, dtype=torch.bool)),
    ),
    Likely(
        "Is only padding left out? <cls> and <sep> are never chosen either: words are the ids from "
        "FIRST on.",
        _made(word=lambda tokens: tokens != PAD),
    ),
    Likely(
        "Are <unk> and <mask> chosen too? They are specials as well: words are the ids from FIRST on.",
        _made(word=lambda tokens: (tokens != PAD) & (tokens != CLS) & (tokens != SEP)),
    ),
    Likely(
        "Is FIRST taken for a special? It is the first word: tokens >= FIRST.",
        _made(word=lambda tokens: tokens > FIRST),
    ),
    Likely(
        "Did you swap the two? The changed tokens come first, then the labels.",
        lambda *a: reference_mask_words(*a)[::-1],
    ),
    Likely(
        "Does every place have a label? Only the chosen ones have one, all others IGNORE.",
        _made(labels=lambda tokens, hidden, chosen: tokens.clone()),
    ),
    Likely(
        "Do the labels hold what was put there? They hold the word that stood there before.",
        _made(labels=lambda tokens, hidden, chosen: hidden.where(chosen, IGNORE)),
    ),
    Likely(
        "Are labels missing where the word was replaced or kept? Every chosen place has one, whatever "
        "its fate.",
        _made(labels=lambda tokens, hidden, chosen: tokens.where(hidden == MASK, IGNORE)),
    ),
    Likely(
        "Are labels missing where the word was kept? Every chosen place has one, whatever its fate.",
        _made(labels=lambda tokens, hidden, chosen: tokens.where(hidden != tokens, IGNORE)),
    ),
    Likely(
        "Is it the other way round? The labels stand at the chosen places, IGNORE everywhere else.",
        _made(labels=lambda tokens, hidden, chosen: tokens.where(~chosen, IGNORE)),
    ),
    Likely(
        "Is the label of the other places PAD? A loss would take it for a word: use IGNORE.",
        _made(labels=lambda tokens, hidden, chosen: tokens.where(chosen, PAD)),
    ),
    Likely(
        "Are the labels true and false? They hold the words themselves.",
        _made(labels=lambda tokens, hidden, chosen: chosen.long()),
    ),
    Likely(
        "Is every chosen word replaced by <mask>? Some become another, some stay: "
        "draws[1] says which, not draws[0].",
        _made(masked=_always),
    ),
    Likely(
        "Is every chosen word that is not masked replaced by a random one? From 90 % on it stays.",
        _made(other=lambda u: u >= MASKED),
    ),
    Likely("Does no word become a random one? From 80 % up to 90 % it does.", _made(other=_never)),
    Likely(
        "Does the lowest tenth of draws[1] give the random word? Below 80 % it is <mask>, "
        "from there up to 90 % a random word.",
        _made(masked=lambda u: u >= 0.2, other=lambda u: u < 0.1),
    ),
    Likely(
        "Does the lowest tenth of draws[1] give the random word? Below 80 % it is <mask>, "
        "from there up to 90 % a random word.",
        _made(masked=lambda u: (u >= 0.1) & (u < KEPT), other=lambda u: u < 0.1),
    ),
    Likely(
        "Is a word chosen where draws[0] is large? It is where it is smaller than 15 %.",
        _made(choose=lambda u: u >= 1 - CHOSEN),
    ),
    Likely(
        "Are the random and the kept words swapped? From 80 % up to 90 % a random word, "
        "from there on kept.",
        _made(other=lambda u: u >= KEPT),
    ),
    Likely(
        "Are words changed that were not chosen? Masked or replaced is only what draws[0] chose.",
        _made(only_chosen=False),
    ),
    Likely(
        "Is the choice the wrong way round? A word is chosen where draws[0] is smaller than 15 %.",
        _made(choose=lambda u: u >= CHOSEN),
    ),
    Likely(
        "Is one draw used for fate and new word? draws[1] is the fate, draws[2] the new word.",
        _made(which=(0, 1, 1)),
    ),
    Likely("Are draws[0] and draws[1] swapped? draws[0] chooses.", _made(which=(1, 0, 2))),
    *(
        Likely(
            "Is your random word never the one that stood there? It may be that word, too: it is "
            "FIRST + floor(draws[2] * (size - FIRST)), whatever stands there.",
            _another_word(step),
        )
        for step in (1, -1)
    ),
    Likely(
        "Can your random word be a special? It is FIRST + floor(draws[2] * (size - FIRST)).",
        _made(draw=lambda u, size: (u * size).long()),
    ),
    Likely(
        "Does your random word lie beyond the vocabulary? There are size - FIRST words: FIRST + "
        "floor(draws[2] * (size - FIRST)).",
        _made(draw=lambda u, size: FIRST + (u * size).long()),
    ),
    Likely(
        "Is FIRST missing? The random word is FIRST + floor(draws[2] * (size - FIRST)).",
        _made(draw=lambda u, size: (u * (size - FIRST)).long()),
    ),
    Likely(
        "Did you round? floor (or .long()) makes every word equally likely and stays in the vocabulary.",
        _made(draw=lambda u, size: FIRST + (u * (size - FIRST)).round().long()),
    ),
    Likely(
        "Is the last word never drawn? There are size - FIRST words.",
        _made(draw=lambda u, size: FIRST + (u * (size - FIRST - 1)).long()),
    ),
    *(
        Likely(
            "Are the borders the other way? What lies exactly on one belongs above it: 15 % is not "
            "chosen, 80 % is a random word, 90 % is kept.",
            _made(**mistake),
        )
        for mistake in (
            {"choose": _up_to(CHOSEN)},
            {"masked": _up_to(MASKED)},
            {"other": _between},
            {"masked": _up_to(MASKED), "other": _between},
            {"choose": _up_to(CHOSEN), "masked": _up_to(MASKED), "other": _between},
        )
    ),
    Likely(
        "Are your random words floats? Ids are whole numbers: .long().",
        _made(draw=lambda u, size: FIRST + (u * (size - FIRST))),
    ),
    Likely(
        "Did you return the tokens only? The labels are asked for as well.",
        lambda *a: reference_mask_words(*a)[0],
    ),
]


mask_words = Exercise(
    "mask_words",
    make=masking_arguments,
    reference=reference_mask_words,
    likely=_LIKELY,
    cases=[
        *cases_of(
            masking_arguments,
            {
                "the first example": dict(lengths=[30, 30], specials=False),
                "a larger vocabulary": dict(lengths=[25, 25], v=4000, specials=False, seed=1),
                "a single row, of few words": dict(lengths=[40], v=9, specials=False, seed=6),
            },
        ),
        Case(
            "rows with <cls>, <sep> and padding",
            lambda: masking_arguments([20, 31, 9], seed=3),
            "Only words are chosen, the ids from FIRST on.",
        ),
        *cases_of(
            masking_arguments,
            {
                "draws as they come, of which 15 % choose": dict(
                    lengths=[90, 60], often=False, even=False, seed=4
                ),
                "draws exactly on the borders": dict(lengths=[60], specials=False, borders=True),
                "rows of which no word is chosen": dict(
                    lengths=[6, 6], specials=False, none=True, seed=5
                ),
            },
        ),
    ],
    forbid=("mask_words", "MaskedBatches"),
    fixed_precision=True,
    idea="BERT chooses 15 % of the words; most of them become <mask>, some another word, some stay.",
    see=("12", "Pre-train: masked words"),
)
