"""What a student's system reaches on held-out data of the course, with its interval."""

from __future__ import annotations

import random

import numpy
import torch

from seqcourse import data, metrics
from seqcourse.publish.system import PublishedSystem

LONGEST = 9  # tokens of a sentence, as in assignment 9
LETTERS = 6  # of a word, as in assignment 6


def score(system: PublishedSystem, count: int) -> str:
    """The score as a phrase: BLEU, CIDEr, or a speller's share of right words; "" for no sentence."""
    if count < 1:
        return ""
    if system.task == "translator":
        pairs = data.load_pairs("en-es", "test")
        pairs = [pair for pair in pairs if len(data.tokenize(pair.source)) <= LONGEST]
        chosen = _drawn(pairs, count)
        said = [text.lower() for text in system.say([pair.source for pair in chosen])]
        right = [[text.lower() for text in pair.references] for pair in chosen]
        low, high = metrics.bleu_interval(said, right)
        reached = f"BLEU {metrics.bleu(said, right).score:.1f} (95 %: {low:.1f} to {high:.1f})"
        return f"{reached} on {len(chosen)} held-out sentences"
    if system.task == "speller":
        return _right_words(system, count)
    scenes = data.load_scenes("test", count)
    pictures = torch.from_numpy(numpy.stack([scene.image for scene in scenes]))
    told = system.say(pictures.permute(0, 3, 1, 2).float() / 255)
    each = numpy.array(metrics.cider(told, [scene.references for scene in scenes]).each)
    low, high = _interval(each)
    return f"CIDEr {each.mean():.2f} (95 %: {low:.2f} to {high:.2f}) on {count} held-out scenes"


def _right_words(system: PublishedSystem, count: int) -> str:
    known = {each.word: each.phones for each in data.load_pronunciations("test")}
    words = [word for word in known if len(word) <= LETTERS]
    chosen = _drawn(words, count)
    said = zip(chosen, system.say(chosen), strict=True)
    right = numpy.array([tuple(text.split()) in known[word] for word, text in said], dtype=float)
    low, high = _interval(right)
    return f"{right.mean():.0%} (95 %: {low:.0%} to {high:.0%}) of {len(chosen)} unseen words right"


def _drawn(held_out: list, count: int) -> list:
    """So many at random, the same each time: the files are sorted, by length or by letter."""
    return random.Random(0).sample(held_out, min(count, len(held_out)))


def _interval(each: numpy.ndarray) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn with replacement."""
    means = numpy.random.default_rng(0).choice(each, (1000, len(each))).mean(1)
    low, high = numpy.percentile(means, (2.5, 97.5))
    return float(low), float(high)
