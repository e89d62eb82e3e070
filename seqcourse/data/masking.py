"""BERT's two questions to a text: which word is hidden, and does the second sentence follow?"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.data.batching import pad
from seqcourse.data.vocabulary import EOS, SOS, SPECIALS
from seqcourse.errors import CourseError

NOT_ASKED = -100  # target where nothing is hidden
CLS, SEP = SOS, EOS  # BERT's names for the course's signs


def mask_words(
    tokens: Tensor, draws: Tensor, mask_id: int, size: int, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Hide words as BERT does (Devlin et al. 2019): of the chosen ones 80 % become <mask>, 10 % another
    word drawn from the vocabulary, and 10 % stay as they are, so that the model can never be sure.

    Args:
        tokens: ids, any shape; specials (ids below 4) are never chosen.
        draws: uniform numbers in [0, 1), three for each token, (3, ...): whether it is chosen, what
            becomes of it, and which word takes its place.
        mask_id: id of <mask>, which stands in front of all words.
        size: V, of the vocabulary; replacements come from the ids behind <mask>.
        share: of the words that are chosen.

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
    chosen = (draws[0] < share) & (tokens >= len(SPECIALS))
    first = max(mask_id + 1, len(SPECIALS))  # <mask> stands right behind the specials
    other = first + (draws[2] * (size - first)).long().clamp(max=size - first - 1)
    hidden = torch.where(draws[1] < 0.8, mask_id, torch.where(draws[1] < 0.9, other, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, NOT_ASKED)


@dataclass(frozen=True)
class MaskedBatch:
    """Pairs of sentences with hidden words.

    Attributes:
        tokens: what the model reads, (B, T): <cls> a <sep> b <sep>, padded.
        lengths: of each pair, (B,).
        segments: 0 up to the first <sep>, 1 behind it, (B, T).
        targets: hidden words, (B, T); ``NOT_ASKED`` elsewhere.
        follows: 1 where b stands behind a in the book, 0 where it comes from elsewhere, (B,).
    """

    tokens: Tensor
    lengths: Tensor
    segments: Tensor
    targets: Tensor
    follows: Tensor

    def to(self, device: torch.device | str) -> MaskedBatch:
        """The same on ``device``."""
        return MaskedBatch(*(part.to(device) for part in vars(self).values()))


class MaskedBatches:
    """Pairs of neighbouring sentences, half of them with a second one from elsewhere.

    In every epoch other words are hidden and other pairs are false. A false second sentence comes from
    another document, and from no place that follows the first.

    Args:
        documents: for each text its sentences, for each sentence its ids.
        batch_size: pairs of a batch.
        mask_id: id of <mask>.
        size: V, of the vocabulary.
        longest: tokens of a pair, specials counted; the longer sentence is cut at its end.
        seed: where everything is drawn from.
        fresh: other draws in every epoch; a validation set asks the same questions again.
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
        self._firsts = [
            (number, place)
            for number, document in enumerate(documents)
            for place in range(len(document) - 1)
        ]
        if len(self._firsts) < 2 or len(documents) < 2:
            raise CourseError(
                "MaskedBatches needs at least two documents with neighbouring sentences, but got "
                f"{len(documents)} documents with {len(self._firsts)} neighbours."
            )
        self._documents, self._batch_size, self._longest = documents, batch_size, longest
        self._mask_id, self._size = mask_id, size
        self._seed, self._fresh, self.epoch = seed, fresh, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the draws of epoch ``epoch``."""
        self.epoch = epoch if self._fresh else 0

    def __len__(self) -> int:
        return -(-len(self._firsts) // self._batch_size)

    def __iter__(self) -> Iterator[MaskedBatch]:
        seed = self._seed * 100_003 + self.epoch
        draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
        order = draw.sample(self._firsts, len(self._firsts))
        for at in range(0, len(order), self._batch_size):
            yield self._batch(order[at : at + self._batch_size], draw, generator)

    def _batch(
        self, places: list[tuple[int, int]], draw: random.Random, generator: torch.Generator
    ) -> MaskedBatch:
        pairs, segments, follows = [], [], []
        for number, place in places:
            true = draw.random() < 0.5
            second = self._documents[number][place + 1] if true else self._elsewhere(number, draw)
            ids, first_end = join_pair(self._documents[number][place], second, self._longest)
            pairs.append(ids)
            segments.append([0] * first_end + [1] * (len(ids) - first_end))
            follows.append(int(true))
        tokens, lengths = pad(pairs)
        draws = torch.rand(3, *tokens.shape, generator=generator)
        tokens, targets = mask_words(tokens, draws, self._mask_id, self._size)
        return MaskedBatch(tokens, lengths, pad(segments)[0], targets, torch.tensor(follows))

    def _elsewhere(self, number: int, draw: random.Random) -> Sequence[int]:
        other = draw.randrange(len(self._documents) - 1)
        document = self._documents[other + (other >= number)]
        return document[draw.randrange(len(document))]


def join_pair(a: Sequence[int], b: Sequence[int], longest: int) -> tuple[list[int], int]:
    """<cls> a <sep> b <sep>, and where the second segment begins; the longer one is cut to fit."""
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    return [CLS, *a, SEP, *b, SEP], len(a) + 2
