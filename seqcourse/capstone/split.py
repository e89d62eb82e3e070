"""The hidden split: sentences and scenes that no file of the course holds."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from seqcourse.check.grade.curve import PIXELS, SENTENCES
from seqcourse.data.pairs import BEYOND_SPLITS, LANGUAGES, PAIR_SPLITS, cut_rows
from seqcourse.data.scenes import Scene, compose
from seqcourse.errors import CourseError

Sentence = tuple[str, tuple[str, ...]]  # English, and every right translation
Draw = Callable[[int], Iterator[Sentence]]
FREQUENT = 10  # times that a word has to be in the training pairs
LONGEST = 8  # English words
FEWEST = 40  # sentences of an instructor's file
WORD = re.compile(r"\w+(?:'\w+)?")


@dataclass(frozen=True)
class Split:
    """What every system of a class is measured on; the even ones are public, the odd ones final."""

    sentences: tuple[Sentence, ...]
    scenes: tuple[Scene, ...]

    def half(self, task_size: int, half: str) -> range:
        """The places of a half."""
        return range(half == "final", task_size, 2)


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.lower())


@cache
def _shipped() -> tuple[frozenset[str], Counter[str], Counter[str]]:
    """Every English sentence that the course ships, by its words; how often the training pairs have an
    English word, and a Spanish one."""
    english: Counter[str] = Counter()
    spanish: Counter[str] = Counter()
    keys = set()
    for languages in LANGUAGES:
        for split in PAIR_SPLITS + BEYOND_SPLITS * (languages == "en-es"):
            for source, target in cut_rows(languages, split):
                found = words(source)
                keys.add(" ".join(found))
                if (languages, split) == ("en-es", "train"):
                    english.update(found)
                    spanish.update(words(target))
    return frozenset(keys), english, spanish


def fits(sentence: Sentence) -> bool:
    """Whether a drawn sentence is new, short, and made of words that a student's model can know."""
    keys, english, spanish = _shipped()
    source = words(sentence[0])
    known = any(all(spanish[word] >= FREQUENT for word in words(text)) for text in sentence[1])
    frequent = all(english[word] >= FREQUENT for word in source)
    return frequent and known and len(source) <= LONGEST and " ".join(source) not in keys


def hidden_split(draw: Draw, file: Path | None, seed: int, sentences: int, scenes: int) -> Split:
    """The split that a class's seed draws.

    Args:
        draw: sentences without end for a seed; those that do not fit are left out.
        file: an instructor's own sentences, which then take their place: English, a tab, and one
            translation or several with tabs between them.
    """
    found: dict[str, Sentence] = {}
    if file is not None and file.is_file():
        chosen = _read(file)
        random.Random(seed).shuffle(chosen)
        found = {sentence[0]: sentence for sentence in chosen[:sentences]}
    else:
        for sentence in draw(seed):
            if fits(sentence):
                found.setdefault(" ".join(words(sentence[0])), sentence)
            if len(found) == sentences:
                break
    # Numbers that nobody tries: the seed has 30 bits, and each scene draws more from it.
    first = random.Random(f"scenes of {seed}").getrandbits(60)
    pictures = tuple(compose(first + k, "test", PIXELS) for k in range(scenes))
    return Split(tuple(found.values()), pictures)


def _read(file: Path) -> list[Sentence]:
    """An instructor's sentences.

    Raises:
        CourseError: a line has no translation, or there are too few.
    """
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        source, *targets = (part.strip() for part in line.split("\t"))
        if not source and not any(targets):
            continue
        if not source or not targets or not all(targets):
            raise CourseError(
                f"{file.name}, line {number}: expected English, a tab and its translation (more with "
                f"further tabs), but found {line[:60]!r}."
            )
        found.append((source, tuple(targets)))
    if len(found) < FEWEST:
        raise CourseError(
            f"{file.name} should have at least {FEWEST} sentences, better {SENTENCES}, but has "
            f"{len(found)}."
        )
    return found
