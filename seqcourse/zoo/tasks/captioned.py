"""ViLBERT's pre-training on captions, small: is it worth anything when answers are few (chapter 14)?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqcourse import data
from seqcourse.data import SOS, QuestionBatches, Vocabulary
from seqcourse.data.batching import Loader, TensorBatch, cut, epoch_generator, pad
from seqcourse.data.questions import QUESTION_KINDS
from seqcourse.models import TwoStream
from seqcourse.settings import device, seed_everything
from seqcourse.tokens import MASK
from seqcourse.train import Trainer, TrainingConfig, answer_loss, masked_word_loss

HIDDEN = 0.15  # the share of words and of places to hide
BATCH = 64
STARTS = ("new", "pre-trained")


@dataclass(frozen=True)
class CaptionedBatch(TensorBatch):
    """Grids and captions, partly hidden.

    Attributes:
        grids: (B, N, D), hidden places are zeros.
        tokens: <sos> and the caption's words with <mask>, (B, T).
        lengths: (B,).
        targets: the hidden words, (B, T); ``NOT_ASKED`` elsewhere.
        hidden: which places are hidden, (B, N).
        shown: the detector's probabilities of what each place shows, (B, N, A).
        fits: 1 if the caption is that of the picture, 0 if of another one, (B,).
    """

    grids: Tensor
    tokens: Tensor
    lengths: Tensor
    targets: Tensor
    hidden: Tensor
    shown: Tensor
    fits: Tensor


class Pretraining(nn.Module):
    """A :class:`models.TwoStream` with the three last layers of its pre-training (Lu et al. 2019)."""

    def __init__(self, streams: TwoStream, words: int, things: int) -> None:
        super().__init__()
        self.body, width = streams, len(streams.picture_norm.gamma)
        self.word, self.region = nn.Linear(width, words), nn.Linear(width, things)
        self.fit = nn.Linear(width, 2)

    def forward(self, batch: CaptionedBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of the words (B, T, V), of what places show (B, N, A), and of the fit (B, 2)."""
        x, y = self.body.streams(batch.grids, batch.tokens, batch.lengths)
        return self.word(y), self.region(x), self.fit(x.mean(1) * y[:, 0])


def pretraining_loss(model: Pretraining, batch: CaptionedBatch) -> Tensor:
    r"""The sum of three means: hidden words, hidden places, and whether the caption fits.

    .. math:: L = -\frac{1}{|M|} \sum_{t \in M} \log P(w_t)
        - \frac{1}{|R|} \sum_{n \in R} \sum_k p_{n,k} \log P(k \mid n) - \frac{1}{B} \sum_b \log P(f_b)

    with p the detector's probabilities. Words and places count where the caption is the picture's own.
    """
    words, places, fit = model(batch)
    own = batch.fits.bool()
    loss = cross_entropy(fit, batch.fits) + masked_word_loss(words[own], batch.targets[own])
    hidden = batch.hidden & own[:, None]
    return loss + cross_entropy(places[hidden], batch.shown[hidden])


class Captions(Loader):
    """Grids with their captions, half of them with the caption of another picture.

    Args:
        grids: of all pictures, (N, places, D).
        shown: the detector's probabilities, (N, places, A).
        captions: the words of each, as ids.
        mask_id: id of <mask>.
        size: V, of the vocabulary.
        seed: of order, hiding and other captions.
    """

    def __init__(
        self,
        grids: Tensor,
        shown: Tensor,
        captions: Sequence[Sequence[int]],
        mask_id: int,
        size: int,
        seed: int,
    ) -> None:
        def plan(epoch: int) -> list[tuple[Tensor, int]]:
            """Rows, and the seed of what is hidden in them."""
            generator = epoch_generator(seed, epoch)
            groups = cut(torch.randperm(len(grids), generator=generator), BATCH)
            seeds = torch.randint(2**31, (len(groups),), generator=generator)
            return list(zip(groups, seeds.tolist(), strict=True))

        def collate(group: tuple[Tensor, int]) -> CaptionedBatch:
            rows, generator = group[0], torch.Generator().manual_seed(group[1])
            fits = (torch.rand(len(rows), generator=generator) < 0.5).long()
            other = torch.randint(len(grids), (len(rows),), generator=generator)
            of = torch.where(fits.bool(), rows, other).tolist()
            tokens, lengths = pad([[SOS, *captions[i]] for i in of])
            draws = torch.rand(3, *tokens.shape, generator=generator)
            read, targets = data.mask_words(tokens, draws, mask_id, size, HIDDEN)
            hidden = torch.rand(grids[rows].shape[:2], generator=generator) < HIDDEN
            seen = grids[rows].masked_fill(hidden[..., None], 0.0)
            return CaptionedBatch(seen, read, lengths, targets, hidden, shown[rows], fits)

        super().__init__(plan, collate)


@dataclass
class GridSplit:
    """A split as the frozen network of ``questions-compared`` sees it.

    Attributes:
        grids: (N, places, D).
        shown: what the network takes each place for, probabilities (N, places, A).
        things: ids of what each place really shows, (N, places), 0 for nothing.
        asked: the encoded questions about each scene.
    """

    grids: Tensor
    shown: Tensor
    things: Tensor
    asked: list[list[data.EncodedQuestion]]


class CaptionLesson:
    """Captions of all training scenes; answers only to questions about some.

    Args:
        parts: "train", "valid" and "test".
        captions: of the training scenes.
        words: the vocabulary of captions and questions, ``<mask>`` first.
        answers: how many answers there are.
        sizes: of the :class:`models.TwoStream`.
    """

    def __init__(
        self,
        parts: dict[str, GridSplit],
        captions: Sequence[str],
        words: Vocabulary,
        answers: int,
        sizes: dict[str, Any],
    ) -> None:
        self.parts, self.words, self.answers, self.sizes = parts, words, answers, sizes
        self.captions = [words.encode(caption.split(), eos=False) for caption in captions]

    def model(self) -> TwoStream:
        """Freshly initialised."""
        made = TwoStream(len(self.words), self.answers, channels=None, **self.sizes)
        return made.to(device())

    def pretrain(self, seed: int, epochs: int, rate: float) -> dict[str, Tensor]:
        """Weights after pre-training on all captions; no question and no answer is seen."""
        seed_everything(seed)
        train = self.parts["train"]
        model = Pretraining(self.model(), len(self.words), train.shown.shape[2]).to(device())
        batches = Captions(
            train.grids, train.shown, self.captions, self.words.id(MASK), len(self.words), seed
        )
        config = TrainingConfig(epochs=epochs, learning_rate=rate, warmup_steps=100, decay="linear")
        Trainer(model, pretraining_loss, config).fit(batches)
        return model.body.state_dict()

    def fine_tune(
        self, weights: dict[str, Tensor] | None, scenes: int, rate: float, seed: int, steps: int
    ) -> TwoStream:
        """Learn to answer from the questions about so many scenes.

        Args:
            weights: to begin with; those of the answers' last layers are new in any case.
            seed: which scenes are labelled, the order, the new weights.
        """
        seed_everything(seed)
        model, train = self.model(), self.parts["train"]
        if weights:
            model.load_state_dict({k: v for k, v in weights.items() if "answer" not in k}, strict=False)
        rows = torch.randperm(len(train.grids))[:scenes]
        batches = QuestionBatches(
            train.grids[rows],
            train.things[rows],
            [train.asked[row] for row in rows.tolist()],
            BATCH,
            seed=seed,
        )
        config = TrainingConfig(
            epochs=steps, max_steps=steps, learning_rate=rate, warmup_steps=steps // 10, decay="linear"
        )
        Trainer(model, answer_loss, config).fit(batches)
        model.eval()
        return model

    def right(self, model: TwoStream, split: str) -> dict[str, float]:
        """The share of correct answers to the questions of each kind, and of "all"."""
        part, found = self.parts[split], []
        batches = QuestionBatches(part.grids, part.things, part.asked, 256, shuffle=False)
        with torch.inference_mode():
            for batch in batches:
                batch = batch.to(device())
                found += (model(*batch.inputs).answers.argmax(-1) == batch.labels).tolist()
        kinds = [one.kind for about in part.asked for one in about]
        shares = {"all": sum(found) / len(found)}
        for kind in QUESTION_KINDS:
            of_kind = [hit for hit, other in zip(found, kinds, strict=True) if other == kind]
            shares[kind] = sum(of_kind) / len(of_kind)
        return {kind: round(share, 4) for kind, share in shares.items()}


def tune(score: Callable[[float], float], rates: Sequence[float]) -> tuple[dict[float, float], float]:
    """The score of each learning rate, and the best; while that is the largest, twice as large a one is
    tried."""
    tried = {rate: score(rate) for rate in rates}
    while (best := max(tried, key=tried.__getitem__)) == max(tried):
        tried[2 * best] = score(2 * best)
    return tried, best


def measure(
    lesson: CaptionLesson,
    labelled: Sequence[int],
    tuning: Sequence[dict[str, Any]],
    choose: Sequence[int],
    seeds: Sequence[int],
    pretraining: dict[str, Any],
) -> list[dict[str, Any]]:
    """Correct answers with and without pre-training on captions, each at its best learning rate.

    Args:
        labelled: numbers of training scenes whose questions are answered.
        tuning: short and long ones, each with ``steps`` and ``rates`` to :func:`tune` for both starts.
        choose: seeds with which the best of them is chosen, by the answers on "valid".
        seeds: seeds with which it is judged, on "test": pre-training, scenes and start are its own.
        pretraining: ``epochs`` and ``rate``.

    Returns:
        For each number, fine-tuning and kind of start: ``tried``, the mean of each rate on "valid";
        ``rate``, the best; ``right``, the shares on "test" for each of ``seeds``.
    """
    weights = {seed: lesson.pretrain(seed, **pretraining) for seed in {*choose, *seeds}}
    rows = []
    for scenes, tuned, start in product(labelled, tuning, STARTS):

        def right(
            rate: float, seed: int, split: str, scenes=scenes, steps=tuned["steps"], start=start
        ) -> dict[str, float]:
            begin = weights[seed] if start == "pre-trained" else None
            return lesson.right(lesson.fine_tune(begin, scenes, rate, seed, steps), split)

        tried, best = tune(
            lambda rate: mean(right(rate, s, "valid")["all"] for s in choose), tuned["rates"]
        )
        rows.append(
            {
                "scenes": scenes,
                "steps": tuned["steps"],
                "start": start,
                "tried": {f"{rate:g}": round(share, 4) for rate, share in tried.items()},
                "rate": best,
                "right": [right(best, seed, "test") for seed in seeds],
            }
        )
        print(rows[-1], flush=True)
    return rows
