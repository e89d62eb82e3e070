"""The hidden check of a whole system: what is asked of it, and how its answers are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy

from cellgrader.printable import printable
from seqcourse import metrics
from seqcourse.capstone.split import Draw, Split, hidden_split
from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.values import result
from seqcourse.check.grade import curve
from seqcourse.check.grade.checkpoint import read_checkpoint
from seqcourse.check.inside.ps9 import CALLS, FEW, IN_TIME, PARTS, SLIGHT, THEIRS, ZERO, is_theirs
from seqcourse.data.scenes import word_boxes

PUBLIC, FINAL = "public", "final"
# With parts of the checkpoint at zero, the score has to fall by FALL for MATTERS of the parts: others
# may be unused. With slightly changed numbers, HELD of it has to stay, or SAME of the answers word for
# word: a weak system's score on a few inputs may hang on one word. Systems that earn less than SOMETHING
# are not asked.
FALL, MATTERS, HELD, SAME, SOMETHING = 0.05, 0.25, 0.5, 0.2, 0.05
SAMPLES = 300
_split = lru_cache(maxsize=4)(hidden_split)


@dataclass(frozen=True)
class SystemCheck:
    """The hidden check behind the grade cell of a system.

    cell: the grade cell, by its nbgrader name.
    draw: English sentences without end for a seed, each with its translations.
    file: an instructor's own sentences, if there is such a file.
    beside: the checkpoint's name.
    half: which half of the hidden split earns the points.
    sentences, scenes: how many; fewer in tests.
    """

    cell: str
    draw: Draw
    file: Path | None = None
    beside: str = "ps9.safetensors"
    half: str = PUBLIC
    sentences: int = curve.SENTENCES
    scenes: int = curve.SCENES
    answer: str = "system"
    see: tuple[str, str] = ("", "")
    forbid: tuple[str, ...] = ()
    for_class: bool = field(default=True, init=False)  # one split for everybody: a leaderboard compares

    def choose(self, seed: int) -> int:
        """The seed is all that a split depends on."""
        return seed

    def make(self, seed: int) -> Split:
        """The hidden split of a seed."""
        return _split(self.draw, self.file, seed, self.sentences, self.scenes)

    def request(self, made: Split) -> dict[str, Any]:
        """What the probe is told: English and pictures. The examiner adds the checkpoint."""
        return {
            "answer": self.answer,
            "system": "seqcourse.check.inside.ps9:run_system",
            "seconds": curve.SECONDS / IN_TIME,
            "sentences": [english for english, _ in made.sentences],
            "pictures": numpy.stack([scene.image for scene in made.scenes]),
        }

    def files(self, *folders: Path) -> dict[str, Any]:
        """What the examiner adds to a request, from the first folder that has the checkpoint."""
        paths = [folder / self.beside for folder in folders]
        found = read_checkpoint(next((path for path in paths if path.is_file()), paths[0]))
        return {"checkpoint": found.data, "notes": found.notes}

    def judge_system(self, found: Mapping[str, numpy.ndarray], made: Split) -> dict[str, Any]:
        """What a system reached, from what the probe handed over.

        Returns:
            task, texts, share (of the points), reasons (why not all of them), and for each half its
            measures: see ``measured``.

        Raises:
            Mistake: there is no system, or it does not keep to what was agreed.
            Stopped: its code raised an error.
        """
        task, texts, maps = read_outputs(found, made)
        known = {half: measured(task, texts, maps, made, half) for half in (PUBLIC, FINAL)}
        share = curve.system_share(task, known[self.half])
        reasons = []
        unused = _unused(found, task, texts, made) if share > SOMETHING else ""
        if unused:
            share, reasons = 0.0, [unused]
        elif share < 1:
            reasons.append(_full_points(task))
        done = int(sum(map(bool, texts)))
        if done < len(texts):
            reasons.append(
                f"{len(texts) - done} of {len(texts)} answers were empty; what is not done after "
                f"{curve.SECONDS} s counts as empty."
            )
        return {
            "task": task,
            "texts": texts,
            "share": share,
            "reasons": reasons,
            "half": self.half,
            **known,
        }


def read_outputs(
    found: Mapping[str, numpy.ndarray], made: Split
) -> tuple[str, list[str], list[numpy.ndarray | None]]:
    """Task, texts and maps, as many as there are inputs, out of what nobody can trust."""
    if "wrong_task" in found or "task" not in found or str(found["task"]) not in CALLS:
        raise Mistake('TASK should be "translator" or "captioner", but is not.')
    task = str(found["task"])
    if "absent" in found:
        missing = str(found["absent"])
        missing = missing if missing in ("load", CALLS[task]) else "load"
        raise Mistake(
            f"There should be a function {missing}, but there is none: its cell stopped with an error, "
            "or has the tag of a cell that only shows something."
        )
    if THEIRS in found:
        raise Mistake(is_theirs(task))
    if "stopped.error" in found:
        error = result(found, "stopped")
        raise error if isinstance(error, Exception) else Mistake("The system stopped with an error.")
    count = len(made.sentences if task == curve.TRANSLATOR else made.scenes)
    texts = _texts(found, "texts")[:count]
    maps = [_map(found.get(f"maps.{number}"), text) for number, text in enumerate(texts)]
    rest = count - len(texts)
    return task, [*texts, *[""] * rest], [*maps, *[None] * rest]


def _texts(found: Mapping[str, numpy.ndarray], name: str) -> list[str]:
    """Texts of a probe, each on one line."""
    value = found.get(name, numpy.array([""]))
    if value.dtype.kind != "U" or value.ndim != 1:
        raise Mistake("The outputs should be texts, but something else came.")
    return [printable(text.strip()) for text in value.tolist()]


def _map(value: numpy.ndarray | None, text: str) -> numpy.ndarray | None:
    """The maps of a caption if they fit its words, else None."""
    if value is None or value.dtype.kind != "f" or value.ndim != 3 or not value.size:
        return None
    fits = len(value) == len(text.split()) and bool(numpy.isfinite(value).all())
    return value if fits else None


def measured(
    task: str, texts: Sequence[str], maps: Sequence[Any], made: Split, half: str
) -> dict[str, float]:
    """The measures of a half: bleu, or cider and pointing; ``score`` is the first of them, ``low`` and
    ``high`` the middle 95 % over resampled test sets."""
    places = made.half(len(texts), half)
    said = [texts[place].lower() for place in places]
    right = _right(task, made, places)
    if task == curve.TRANSLATOR:
        score = metrics.bleu(said, right).score
        low, high = metrics.bleu_interval(said, right, SAMPLES)
        found = {"bleu": score, "score": score, "low": low, "high": high}
        return {name: round(value, 1) for name, value in found.items()}
    each = numpy.array(metrics.cider(said, right).each)
    means = numpy.random.default_rng(0).choice(each, (SAMPLES, len(each))).mean(1)
    low, high = numpy.percentile(means, (2.5, 97.5))
    pointing = _pointing(texts, maps, made, places)
    found = {"cider": each.mean(), "score": each.mean(), "low": low, "high": high, "pointing": pointing}
    return {name: round(float(value), 2) for name, value in found.items()}


def _pointing(texts: Sequence[str], maps: Sequence[Any], made: Split, places: Sequence[int]) -> float:
    """The share of named things on which the maps' peaks lie; at least one per picture is expected."""
    chosen, boxes = [], []
    for place in places:
        for word, where in word_boxes(texts[place], made.scenes[place].things):
            if where and maps[place] is not None:
                chosen.append(maps[place][word])
                boxes.append(where)
    if not chosen:
        return 0.0
    return metrics.pointing_game(chosen, boxes, curve.PIXELS).hits / max(len(chosen), len(places))


def _right(task: str, made: Split, places: Sequence[int]) -> list[tuple[str, ...]]:
    """The right texts for these inputs."""
    if task == curve.TRANSLATOR:
        return [tuple(text.lower() for text in made.sentences[place][1]) for place in places]
    return [made.scenes[place].references for place in places]


def _unused(found: Mapping[str, numpy.ndarray], task: str, texts: Sequence[str], made: Split) -> str:
    """Why a system earns nothing whose answers do not depend on its checkpoint; else ""."""
    right = _right(task, made, range(min(FEW, len(texts))))

    def score(said: Sequence[str]) -> float:
        said = [text.lower() for text in [*said, *[""] * FEW]][: len(right)]
        if task == curve.TRANSLATOR:
            return metrics.bleu(said, right).score
        return float(numpy.mean(metrics.cider(said, right).each))

    whole = score(texts)
    slight = _texts(found, SLIGHT) if SLIGHT in found else texts
    same = sum(one == other for one, other in zip(slight, texts, strict=False)) / len(right)
    if same < SAME and score(slight) < HELD * whole:
        return (
            "With the checkpoint's numbers changed by half a percent, half of the score is lost: "
            "the system looks whether the numbers are the same, and does not use what it learned."
        )
    runs = [run for run in (f"{ZERO}.{k}" for k in range(PARTS)) if run in found]
    falls = [score(_texts(found, run)) < (1 - FALL) * whole for run in runs]
    if not whole or sum(falls) >= MATTERS * len(falls):
        return ""
    return (
        "With tensors of the checkpoint at zero, one after another, the answers are as good as before: "
        "the system does not use what it learned."
    )


def _full_points(task: str) -> str:
    if task == curve.TRANSLATOR:
        return f"The curve gives all points from BLEU {max(curve.BLEU)} on."
    return (
        f"The curve gives all points from CIDEr {max(curve.CIDER)} and pointing {max(curve.POINTING)} "
        f"on."
    )


def score_in_words(task: str, measures: Mapping[str, float]) -> str:
    """The measures of a half: "BLEU 31.4 (27.0 to 35.8)"."""
    name = "BLEU" if task == curve.TRANSLATOR else "CIDEr"
    pointing = f", pointing {measures['pointing']:g}" if "pointing" in measures else ""
    return f"{name} {measures['score']:g} ({measures['low']:g} to {measures['high']:g}){pointing}"
