"""What a student's system reaches on held-out sentences or scenes of the course, with its interval."""

from __future__ import annotations

import numpy
import torch

from seqcourse import data, metrics
from seqcourse.publish.system import System

LONGEST = 9  # tokens of a sentence, as in assignment 9


def score(system: System, count: int) -> str:
    """The score as a phrase: BLEU of a translator, CIDEr of a captioner; "" for no sentence."""
    if count < 1:
        return ""
    if system.task == "translator":
        pairs = data.load_pairs("en-es", "test")
        pairs = [pair for pair in pairs if len(data.tokenize(pair.source)) <= LONGEST]
        chosen = pairs[:: max(1, len(pairs) // count)][:count]
        said = [text.lower() for text in system.say([pair.source for pair in chosen])]
        right = [[text.lower() for text in pair.references] for pair in chosen]
        low, high = metrics.bleu_interval(said, right)
        reached = f"BLEU {metrics.bleu(said, right).score:.1f} (95 %: {low:.1f} to {high:.1f})"
        return f"{reached} on {len(chosen)} held-out sentences"
    scenes = data.load_scenes("test", count)
    pictures = torch.from_numpy(numpy.stack([scene.image for scene in scenes]))
    told = system.say(pictures.permute(0, 3, 1, 2).float() / 255)
    each = numpy.array(
        metrics.cider([text for text, _ in told], [scene.references for scene in scenes]).each
    )
    means = numpy.random.default_rng(0).choice(each, (1000, len(each))).mean(1)
    low, high = numpy.percentile(means, (2.5, 97.5))
    return f"CIDEr {each.mean():.2f} (95 %: {low:.2f} to {high:.2f}) on {count} held-out scenes"
