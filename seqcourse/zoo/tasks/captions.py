"""Captions of composed scenes: training data, use and measurement of a captioner."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from seqcourse import data, decode, metrics
from seqcourse.data import CaptionBatches, Vocabulary, grammar
from seqcourse.data.geometry import Box
from seqcourse.data.pictures import kinds
from seqcourse.data.scenes import Scene, load_scenes
from seqcourse.errors import CourseError
from seqcourse.train import captioning_loss
from seqcourse.zoo.system import NO_OUTPUT, System, Task
from seqcourse.zoo.tasks import layers
from seqcourse.zoo.tasks.evaluation import mean_over

VALID, TEST = 512, 1000  # scenes
LONGEST = 24  # words of a caption; the grammar's longest has 15


@dataclass(frozen=True)
class Caption:
    """A captioner's output for one picture.

    text: the caption; tokens: its words; maps: for each word the decoder's attention, (T', G, G), or
    None for a captioner without attention; score: log-probability per word; n_best: the best captions
    with their scores, best first.
    """

    text: str
    tokens: list[str]
    maps: numpy.ndarray | None
    score: float
    n_best: list[tuple[str, float]]


class CaptionTask(Task):
    """Scenes in English, trained by teacher forcing with the recipe's ``doubly`` as regulariser."""

    use = "caption(pictures)"
    only_measured = studies = ("layers",)
    why_not_translate = "reads pictures and no text: use caption"

    @property
    def size(self) -> int:
        """Sides of the pictures, in pixels."""
        return self.recipe.sizes.get("size", 64)

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The words of the grammar for the things of the training scenes."""
        vocabulary = Vocabulary(grammar.vocabulary(kinds("train")))
        return vocabulary, vocabulary

    def pairs(self, split: str) -> tuple[numpy.ndarray, list[str]]:
        """Pictures (N, S, S, 3) and captions of a split, composed once in a process."""
        count = {"train": self.recipe.options["scenes"], "valid": VALID}.get(split, TEST)
        return _composed(split, count, self.size)

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> CaptionBatches:
        """Batches of a split; shuffled for training."""
        pictures, captions = self.pairs(split)
        return CaptionBatches(
            pictures,
            [[target.encode(data.tokenize(text), eos=False)] for text in captions],
            batch_size=self.recipe.batch_size,
            shuffle=split == "train",
            seed=self.recipe.seed,
        )

    def loss(self) -> Callable:
        """Cross-entropy of the words, and the recipe's terms for the maps."""
        known = ("doubly", "reinforce", "entropy")
        return partial(captioning_loss, **{k: v for k, v in self.recipe.options.items() if k in known})

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss per word on scenes of unseen pairs."""
        return mean_over(
            self.batches(source, target, "valid"), captioning_loss, lambda batch: batch.tokens
        )

    def caption(
        self,
        system: System,
        pictures: Sequence[numpy.ndarray],
        beam: int = 3,
        n_best: int = 1,
        batch_size: int = 100,
    ) -> list[Caption]:
        """Captions by beam search, see :meth:`seqcourse.zoo.System.caption`."""
        found = []
        for batch in self.inputs(pictures).split(batch_size):
            with torch.inference_mode():
                memory = system.model.encode(batch.to(system.device))
            hypotheses = decode.beam_search(
                system.model, memory, beam, n_best, max_len=LONGEST, forbid=NO_OUTPUT
            )
            found += [_caption(system, each) for each in hypotheses]
        return found

    def inputs(self, pictures: Sequence[numpy.ndarray]) -> Tensor:
        """What the model reads: pictures, (B, 3, S, S)."""
        return data.to_tensor(numpy.stack([fitted(picture, self.size) for picture in pictures]))

    def measure(self, system: System) -> dict[str, Any]:
        """On scenes of held-out pairs: exact matches, BLEU, CIDEr and the pointing game; on scenes with
        things that were never trained on: exact matches."""
        scenes = load_scenes("test", TEST, self.size)
        began = time.perf_counter()
        found = self.caption(system, [scene.image for scene in scenes])
        seconds = time.perf_counter() - began
        texts = [each.text for each in found]
        every = [scene.references for scene in scenes]
        measured = {
            **said(texts, every),
            "bleu": metrics.bleu(texts, every).score,
            "cider": metrics.cider(texts, every).score,
            "pointing": pointing(found, scenes),
            "scenes": len(scenes),
            "scenes_per_second": len(scenes) / seconds,
        }
        unseen = load_scenes("unseen", TEST, self.size)
        texts = [each.text for each in self.caption(system, [scene.image for scene in unseen])]
        measured["unseen"] = said(texts, [scene.references for scene in unseen])
        return measured

    def study(self, system: System, name: str) -> dict[str, Any]:
        """The pointing game with the maps of each layer, and with the mean of all."""
        scenes = load_scenes("test", TEST, self.size)
        pictures = [scene.image for scene in scenes]
        captions = self.caption(system, pictures)
        words = [caption.tokens for caption in captions]
        found = {}
        for reading, maps in layers.readings(system, words, self.inputs(pictures)).items():
            shown = [replace(each, maps=own) for each, own in zip(captions, maps, strict=True)]
            found[reading] = pointing(shown, scenes)
        return found


def said(texts: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
    """Exact match of things, counts and relations, see :func:`seqcourse.metrics.caption_match`."""
    right = [[grammar.read_caption(one) for one in known] for known in references]
    return asdict(metrics.caption_match([grammar.read_caption(text) for text in texts], right))


def mentions(tokens: Sequence[str], scene: Scene) -> dict[int, list[Box]]:
    """The words of a caption that begin the name of a thing in the scene, and the boxes of that thing.

    In "two fire trucks" the word is "fire", with the box of each fire truck. Names of absent things are
    left out, because they have no box.

    Args:
        tokens: the caption's words.
        scene: of the picture.

    Returns:
        Number of the word, counted from 0 -> boxes (x0, y0, x1, y1) in pixels.
    """
    boxes: dict[str, list[Box]] = {}
    for thing in scene.things:
        boxes.setdefault(thing.name, []).append(thing.box)
    forms = {tuple(form.split()): k.name for k in kinds() for form in (k.name, k.plural)}
    longest = max(map(len, forms))
    found, at = {}, 0
    while at < len(tokens):
        ends = range(min(longest, len(tokens) - at), 0, -1)
        length = next((n for n in ends if tuple(tokens[at : at + n]) in forms), 0)
        if length:
            name = forms[tuple(tokens[at : at + length])]
            if name in boxes:
                found[at] = boxes[name]
        at += max(1, length)
    return found


def pointing(captions: Sequence[Caption], scenes: Sequence[Scene]) -> dict[str, float] | None:
    """The pointing game over all correct names in captions; None for captioners without maps.

    ``share``: how many peaks are in their box; the peak is the centre of the place with the largest
    weight. ``drawn``: the same for the map as figures show it, see :func:`seqcourse.metrics.blurred`.
    ``chance``: the same for a random place. ``others``: the same with the map of the next name in the
    list, mostly the other thing of the same picture.
    """
    maps, boxes = [], []
    for caption, scene in zip(captions, scenes, strict=True):
        if caption.maps is None:
            return None
        for number, box in mentions(caption.tokens, scene).items():
            maps.append(caption.maps[number])
            boxes.append(box)
    if not maps:
        return {"share": 0.0, "drawn": 0.0, "chance": 0.0, "others": 0.0, "words": 0}
    size = scenes[0].image.shape[0]
    game = metrics.pointing_game(maps, boxes, size)
    drawn = metrics.pointing_game(maps, boxes, size, blur=metrics.DRAWN)
    others = metrics.pointing_game(maps[1:] + maps[:1], boxes, size)
    return {
        "share": game.share,
        "drawn": drawn.share,
        "chance": game.chance,
        "others": others.share,
        "words": game.count,
    }


def fitted(picture: Any, size: int) -> numpy.ndarray:
    """A picture (H, W, 3) of type uint8 as (size, size, 3): its middle square, made smaller or larger.

    Raises:
        CourseError: if it has another form.
    """
    found = numpy.asarray(picture)
    if found.ndim != 3 or found.shape[2] != 3 or found.dtype != numpy.uint8:
        raise CourseError(
            f"A picture should be (height, width, 3) of type uint8, such as "
            f"numpy.asarray(image.convert('RGB')), but it is {found.shape} of type {found.dtype}."
        )
    if found.shape[:2] == (size, size):
        return found
    from PIL import Image

    side = min(found.shape[:2])
    top, left = (found.shape[0] - side) // 2, (found.shape[1] - side) // 2
    square = Image.fromarray(found[top : top + side, left : left + side])
    return numpy.asarray(square.resize((size, size), Image.Resampling.BOX))


@cache
def _composed(split: str, count: int, size: int) -> tuple[numpy.ndarray, list[str]]:
    pictures, captions = numpy.empty((count, size, size, 3), numpy.uint8), []
    for start in range(0, count, 1000):  # a thousand at a time, so that little is held twice
        for scene in load_scenes(split, min(1000, count - start), size, start):
            pictures[scene.number] = scene.image
            captions.append(scene.caption)
    return pictures, captions


def _caption(system: System, hypotheses: list[decode.Hypothesis]) -> Caption:
    texts = [system.target.decode(each.tokens) for each in hypotheses]
    best, maps, side = hypotheses[0], None, system.model.side
    if best.weights is not None:
        maps = best.weights.float().numpy().reshape(-1, side, side)
    n_best = [(" ".join(words), each.score) for words, each in zip(texts, hypotheses, strict=True)]
    return Caption(n_best[0][0], texts[0], maps, best.score, n_best)
