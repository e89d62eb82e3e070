"""BERT's two tasks: find the hidden words, and say whether the second sentence follows the first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.data.batching import Loader, TensorBatch, cut, epoch_generator, pad
from seqcourse.errors import CourseError
from seqcourse.tokens import EOS, NOT_ASKED, SOS, SPECIALS

CLS, SEP = SOS, EOS  # BERT's names for these tokens


def mask_words(
    tokens: Tensor, draws: Tensor, mask_id: int, size: int, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Hide words as BERT does (Devlin et al. 2019): 80 % of the chosen words become <mask>, 10 % become
    a random word of the vocabulary, and 10 % stay unchanged.

    Args:
        tokens: ids, any shape; specials (ids below 4) and <mask> are never chosen.
        draws: uniform numbers in [0, 1), three for each token, (3, ...): whether it is chosen, how it
            is changed, and which word replaces it.
        mask_id: id of <mask>; the ids of all words are larger.
        size: V, of the vocabulary; replacements have ids above <mask>.
        share: the share of words to choose.

    Returns:
        What the model reads, and its targets: the hidden word, or ``NOT_ASKED``.

    Raises:
        CourseError: if the draws do not fit the tokens.
    """
    if draws.shape != (3, *tokens.shape):
        raise CourseError(
            f"mask_words takes three draws for each token, {(3, *tokens.shape)}, but they are "
            f"{tuple(draws.shape)}."
        )
    first = max(mask_id + 1, len(SPECIALS))  # <mask> directly follows the specials
    chosen = (draws[0] < share) & (tokens >= first)
    other = first + (draws[2] * (size - first)).long().clamp(max=size - first - 1)
    hidden = torch.where(draws[1] < 0.8, mask_id, torch.where(draws[1] < 0.9, other, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, NOT_ASKED)


@dataclass(frozen=True)
class MaskedBatch(TensorBatch):
    """Pairs of sentences with hidden words.

    Attributes:
        tokens: what the model reads, (B, T): <cls> a <sep> b <sep>, padded.
        lengths: of each pair, (B,).
        segments: 0 up to the first <sep>, 1 behind it, (B, T).
        targets: hidden words, (B, T); ``NOT_ASKED`` elsewhere.
        follows: 1 if b follows a in the book, 0 if it comes from elsewhere, (B,).
    """

    tokens: Tensor
    lengths: Tensor
    segments: Tensor
    targets: Tensor
    follows: Tensor


class MaskedBatches(Loader):
    """Pairs of neighbouring sentences, half of them with a second one from elsewhere.

    Every epoch hides different words and replaces different second sentences. A replacement comes from
    another document.

    Args:
        documents: for each text its sentences, for each sentence its ids.
        batch_size: pairs of a batch.
        mask_id: id of <mask>.
        size: V, of the vocabulary.
        longest: tokens of a pair, specials counted; the longer sentence is cut at its end.
        seed: of all draws.
        fresh: draw anew in every epoch; False for a validation set, which must not change.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[Sequence[int]]],
        batch_size: int,
        mask_id: int,
        size: int,
        longest: int = 64,
        seed: int = 0,
        fresh: bool = True,
    ) -> None:
        firsts = [
            (number, place)
            for number, document in enumerate(documents)
            for place in range(len(document) - 1)
        ]
        if len(firsts) < 2 or len(documents) < 2:
            raise CourseError(
                "MaskedBatches needs at least two documents with neighbouring sentences, but got "
                f"{len(documents)} documents with {len(firsts)} neighbours."
            )

        def draw_pair(number: int, place: int, draw: random.Random) -> tuple[list[int], int, bool]:
            """The ids, where the second segment begins, and whether it follows the first."""
            follows = draw.random() < 0.5
            if follows:
                second = documents[number][place + 1]
            else:
                other = draw.randrange(len(documents) - 1)
                second = draw.choice(documents[other + (other >= number)])
            return *join_pair(documents[number][place], second, longest), follows

        def plan(epoch: int) -> list[tuple[list[tuple[list[int], int, bool]], Tensor]]:
            """Pairs, and the draws for :func:`mask_words`."""
            generator = epoch_generator(seed, epoch if fresh else 0)
            draw = random.Random(generator.initial_seed())
            groups = []
            for places in cut(draw.sample(firsts, len(firsts)), batch_size):
                pairs = [draw_pair(*place, draw) for place in places]
                width = max(len(ids) for ids, _, _ in pairs)
                groups.append((pairs, torch.rand(3, len(pairs), width, generator=generator)))
            return groups

        def collate(group: tuple[list[tuple[list[int], int, bool]], Tensor]) -> MaskedBatch:
            pairs, draws = group
            tokens, lengths = pad([ids for ids, _, _ in pairs])
            segments, _ = pad([[0] * begin + [1] * (len(ids) - begin) for ids, begin, _ in pairs])
            follows = torch.tensor([int(true) for _, _, true in pairs])
            tokens, targets = mask_words(tokens, draws, mask_id, size)
            return MaskedBatch(tokens, lengths, segments, targets, follows)

        super().__init__(plan, collate)


def join_pair(a: Sequence[int], b: Sequence[int], longest: int) -> tuple[list[int], int]:
    """<cls> a <sep> b <sep>, and where the second segment begins; the longer one is cut to fit."""
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    return [CLS, *a, SEP, *b, SEP], len(a) + 2
