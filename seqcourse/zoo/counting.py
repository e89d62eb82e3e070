"""A reader that only counts: joint n-grams of CMUdict, used like a checkpoint, but stored nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from seqcourse import data
from seqcourse.data import Vocabulary
from seqcourse.errors import CourseError
from seqcourse.models import JointNgrams
from seqcourse.zoo.system import Translation

NGRAMS = "joint n-grams"


@dataclass(frozen=True)
class NgramReader:
    """Joint n-grams of letters and phonemes, with the vocabularies of the zoo's other readers.

    Attributes:
        model: the n-grams.
        source: letters.
        target: phonemes without stress.
    """

    model: JointNgrams
    source: Vocabulary
    target: Vocabulary

    def log_probs(self, sources: list[list[str]], targets: list[list[str]]) -> list[float]:
        """log P(source, target) in nats, for tokens of N words and of one pronunciation of each."""
        letters = [self.source.encode(tokens, eos=False) for tokens in sources]
        phonemes = [self.target.encode(tokens, eos=False) for tokens in targets]
        return self.model.log_probs(letters, phonemes).tolist()

    def cut(self, word: str, phonemes: list[str]) -> list[tuple[str, list[str]]]:
        """The units of a word and its pronunciation: letters and phonemes of each."""
        ids = self.source.encode(list(word), eos=False), self.target.encode(phonemes, eos=False)
        return [
            ("".join(self.source.decode(letters)), self.target.decode(spoken))
            for letters, spoken in self.model.cut(*ids)
        ]

    def translate(self, texts: list[str], beam: int = 20, n_best: int = 1) -> list[Translation]:
        """Pronounce words; scores are log P(x, y) per phoneme, the end counted.

        Args:
            texts: words of the letters a to z (a single string counts as a list of one).
            beam: how many beginnings are kept for each letter read.
            n_best: how many outputs to keep of each.

        Raises:
            CourseError: if a word cannot be read.
            ValueError: if beam or n_best is below 1.
        """
        if isinstance(texts, str):
            texts = [texts]
        return [self._translate(text, beam, n_best) for text in texts]

    def _translate(self, text: str, beam: int, n_best: int) -> Translation:
        letters = data.letters(text)
        found = self.model.read(self.source.encode(letters, eos=False), n_best, beam)
        if not letters or not found:
            raise CourseError(f"Expected a word of the letters a to z, but got {text!r}.")
        outputs = [self.target.decode(ids) for ids, _ in found]
        scored = [
            (" ".join(o), value / (len(o) + 1)) for o, (_, value) in zip(outputs, found, strict=True)
        ]
        return Translation(letters, outputs[0], *scored[0], None, scored)


@cache
def ngram_reader(*, order: int = 8, every: int = 8) -> NgramReader:
    """Joint n-grams of CMUdict's training words, counted now: no file is read but the dictionary.

    Args:
        order: n.
        every: the units are learned from every so many-th pronunciation; all of them are counted.
    """
    pairs = [(list(e.word), list(p)) for e in data.load_pronunciations("train") for p in e.phones]
    words, spoken = zip(*pairs, strict=True)
    source, target = Vocabulary.build(words), Vocabulary.build(spoken)
    letters = [source.encode(tokens, eos=False) for tokens in words]
    phonemes = [target.encode(tokens, eos=False) for tokens in spoken]
    model = JointNgrams(len(source), len(target), order)
    model.learn_units(letters[::every], phonemes[::every])
    model.count(letters, phonemes)
    return NgramReader(model, source, target)
