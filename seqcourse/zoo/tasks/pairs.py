"""Tasks on pairs: translation, of words or subwords, and pronunciation."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from torch import nn

from seqcourse import data, metrics
from seqcourse.data import Batches, SubwordVocabulary, Vocabulary
from seqcourse.train import teacher_forcing_loss
from seqcourse.zoo import loading, storage
from seqcourse.zoo.recipes import recipe
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks import heads, positions, race, regimes, scores
from seqcourse.zoo.tasks.evaluation import mean_over

LENGTH_EDGES = (1, 5, 7, 9, 11, 14, 17)  # English words: 1-4, 5-6, 7-8, 9-10, 11-13, 14-16


class PairTask(Task):
    """Pairs of token lists, trained by teacher forcing; subclasses define the pairs."""

    vocabulary_sizes = 2
    use = "translate(texts)"
    translates = True
    studies = ("race", "heads", "positions", "scores", "regimes", "ahead")
    only_measured = ("beams", *studies)
    min_count = 1

    def token_pairs(self, split: str) -> list[tuple[list[str], list[str]]]:
        """Source and target tokens of a split."""
        raise NotImplementedError

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Vocabularies of the training split."""
        sources, targets = zip(*self.token_pairs("train"), strict=True)
        return (
            Vocabulary.build(sources, min_count=self.min_count),
            Vocabulary.build(targets, min_count=self.min_count),
        )

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> Batches:
        """Bucketed batches of a split; shuffled for training."""
        pairs = self.token_pairs(split)
        return Batches(
            [source.encode(s, eos=False) for s, _ in pairs],
            [target.encode(t, eos=False) for _, t in pairs],
            batch_size=self.recipe.batch_size,
            shuffle=split == "train",
            seed=self.recipe.seed,
        )

    def loss(self) -> Callable:
        """Teacher forcing with the recipe's label smoothing."""
        return partial(teacher_forcing_loss, label_smoothing=self.recipe.label_smoothing)

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss per token on the validation split."""
        return mean_over(
            self.batches(source, target, "valid"), teacher_forcing_loss, lambda batch: batch.tokens
        )


class TranslationTask(PairTask):
    """Sentence pairs of Tatoeba, lower-cased words."""

    in_sentences = True
    min_count = 2

    def token_pairs(self, split: str) -> list[tuple[list[str], list[str]]]:
        pairs = data.load_pairs(self.recipe.data, split)
        return [(data.tokenize(p.source), data.tokenize(p.target)) for p in pairs]

    def read(self, text: str, vocabulary: Vocabulary) -> list[str]:
        """Words of a whole sentence, as in training: a missing full stop is added."""
        tokens = data.tokenize(text)
        return tokens if not tokens or tokens[-1] in {".", "?", "!"} else [*tokens, "."]

    def write(self, tokens: list[str], vocabulary: Vocabulary) -> str:
        return data.detokenize(tokens, language=self.recipe.data[-2:])

    def measure(self, system: System) -> dict[str, Any]:
        """BLEU on the held-out English sentences, beam 5, against the first reference and all of
        them; by sentence length, the longer-than-trained split included; and greedy BLEU."""
        split = {name: data.load_pairs(self.recipe.data, name) for name in ("test", "long")}
        began = time.perf_counter()
        found = {k: system.translate([p.source for p in v]) for k, v in split.items()}
        seconds = time.perf_counter() - began
        hypotheses = {k: [t.text for t in v] for k, v in found.items()}
        language = self.recipe.data[-2:]
        first = {k: [lower(p.target, language) for p in v] for k, v in split.items()}
        every = [tuple(lower(r, language) for r in p.references) for p in split["test"]]
        one = metrics.bleu(hypotheses["test"], first["test"])
        many = metrics.bleu(hypotheses["test"], every)
        greedy = [t.text for t in system.translate([p.source for p in split["test"]], beam=1)]
        by_length = metrics.bleu_by_length(
            hypotheses["test"] + hypotheses["long"],
            first["test"] + first["long"],
            [data.count_words(data.tokenize(p.source)) for k in split for p in split[k]],
            LENGTH_EDGES,
        )
        measured = {
            "bleu": one.score,
            "signature": one.signature,
            "bleu_all_references": many.score,
            "bleu_greedy": metrics.bleu(greedy, first["test"]).score,
            "bleu_long": metrics.bleu(hypotheses["long"], first["long"]).score,
            "bleu_by_length": [asdict(length_bin) for length_bin in by_length],
            "sentences": {k: len(v) for k, v in split.items()},
            "sentences_per_second": sum(map(len, found.values())) / seconds,
        }
        if beams := self.recipe.options.get("beams"):
            measured["by_beam"] = by_beam(system, split["test"], first["test"], beams)
        return measured

    def study(self, system: System, name: str) -> Any:
        asked = self.recipe.options[name]
        if name == "heads":
            return heads.measure(self, system, **asked)
        if name == "ahead":
            return ahead(system, **asked)
        return {"race": race, "positions": positions, "scores": scores}[name].measure(**asked)


class SubwordTranslationTask(TranslationTask):
    """Sentence pairs of any length in subwords, so that no word is unknown."""

    def texts(self, split: str) -> tuple[list[str], list[str]]:
        """English and other sentences; the training split includes "rest"."""
        pairs = data.load_pairs(self.recipe.data, split)
        if split == "train":
            pairs = pairs + data.load_pairs(self.recipe.data, "rest")
        return [p.source for p in pairs], [p.target for p in pairs]

    def vocabularies(self) -> tuple[SubwordVocabulary, SubwordVocabulary]:
        size = self.recipe.options["vocabulary"]
        source, target = self.texts("train")
        return SubwordVocabulary.train(source, size), SubwordVocabulary.train(target, size)

    def batches(
        self, source: SubwordVocabulary, target: SubwordVocabulary, split: str = "train"
    ) -> Batches:
        english, other = self.texts(split)
        return Batches(
            [source.encode(text, eos=False) for text in english],
            [target.encode(text, eos=False) for text in other],
            batch_size=self.recipe.batch_size,
            shuffle=split == "train",
            seed=self.recipe.seed,
        )

    def read(self, text: str, vocabulary: SubwordVocabulary) -> list[str]:
        ended = text.rstrip().rstrip("\"'»)").endswith((".", "?", "!"))
        return vocabulary.tokenize(text if ended or not text.strip() else f"{text.rstrip()}.")

    def write(self, tokens: list[str], vocabulary: SubwordVocabulary) -> str:
        return vocabulary.detokenize(tokens)

    def measure(self, system: System) -> dict[str, Any]:
        """The same as for words, and BLEU on held-out sentences of any length with any word."""
        pairs = data.load_pairs(self.recipe.data, "any")
        language = self.recipe.data[-2:]
        found = [t.text for t in system.translate([p.source for p in pairs], batch_size=64)]
        score = metrics.bleu(found, [lower(p.target, language) for p in pairs])
        return {**super().measure(system), "bleu_any": score.score, "sentences_any": len(pairs)}


class PronunciationTask(PairTask):
    """Words of CMUdict, letters to phonemes without stress."""

    def token_pairs(self, split: str) -> list[tuple[list[str], list[str]]]:
        entries = data.load_pronunciations(split)
        return [(list(e.word), list(phones)) for e in entries for phones in e.phones]

    def read(self, text: str, vocabulary: Vocabulary) -> list[str]:
        """Single letters, in lower case, without spaces."""
        return [letter for letter in text.lower() if not letter.isspace()]

    def write(self, tokens: list[str], vocabulary: Vocabulary) -> str:
        return " ".join(tokens)

    def measure(self, system: System) -> dict[str, Any]:
        """Word and phoneme error rates on the held-out words, beam 5; any listed variant is right."""
        entries = data.load_pronunciations("test")
        began = time.perf_counter()
        found = system.translate([e.word for e in entries])
        seconds = time.perf_counter() - began
        error = metrics.pronunciation_error([t.target for t in found], [e.phones for e in entries])
        return {
            "word_error": error.word_error,
            "phoneme_error": error.phoneme_error,
            "words": len(entries),
            "words_per_second": len(entries) / seconds,
        }

    def study(self, system: System, name: str) -> dict[str, Any]:
        return regimes.measure(**self.recipe.options[name])


def by_beam(
    system: System, pairs: Sequence[data.Pair], references: Sequence[str], widths: Sequence[int]
) -> list[dict[str, Any]]:
    """What a wider beam is worth, by probability (length penalty 0) and per token (1).

    Means per sentence of log P and of the ranking's score, the outputs' length over the references',
    BLEU; and BLEU gained over the first width, over the width before and over the other ranking, with
    the interval of a paired bootstrap.

    Args:
        pairs: what to translate.
        references: the first reference of each, as the model writes.
        widths: of the beam, increasing.
    """
    sources = system.sources([p.source for p in pairs])
    rows: list[dict[str, Any]] = []
    texts: dict[tuple[float, int], list[str]] = {}
    for penalty in (0.0, 1.0):
        for place, width in enumerate(widths):
            found = [h[0] for h in system.search(sources, width, length_penalty=penalty)]
            said = [system.text(system.target.decode(h.tokens)) for h in found]
            texts[penalty, width] = said
            quality = metrics.bleu(said, references)
            rows.append(
                {
                    "length_penalty": penalty,
                    "beam": width,
                    "log_prob": sum(h.log_prob for h in found) / len(found),
                    "score": sum(h.score for h in found) / len(found),
                    "length_ratio": quality.output_length / quality.reference_length,
                    "bleu": quality.score,
                }
            )
            against = {"first": (penalty, widths[0]), "narrower": (penalty, widths[max(0, place - 1)])}
            if penalty:
                against["by_probability"] = (0.0, width)
            for name, other in against.items():
                if other != (penalty, width):
                    gain = metrics.bleu_gain(said, texts[other], references)
                    rows[-1][f"over_{name}"] = asdict(gain)
    return rows


def ahead(system: System, of: str) -> dict[str, Any]:
    """BLEU gained over another translator on the test split and, with the long one, by sentence length.

    Beam 5, first references; each gain with the interval of a paired bootstrap over the sentences.

    Args:
        of: the name of the other translator.
    """
    other = loading.load(type(system.task)(recipe(of)), storage.FILES / of)
    split = {name: data.load_pairs(system.recipe.data, name) for name in ("test", "long")}
    pairs = [pair for each in split.values() for pair in each]
    sources, language = [pair.source for pair in pairs], system.recipe.data[-2:]
    sizes = [data.count_words(data.tokenize(source)) for source in sources]
    texts = [[found.text for found in each.translate(sources)] for each in (system, other)]

    def gain(chosen: Sequence[int]) -> dict[str, float]:
        references = [lower(pairs[i].target, language) for i in chosen]
        return asdict(metrics.bleu_gain(*([said[i] for i in chosen] for said in texts), references))

    by_length = []
    for shortest, beyond in itertools.pairwise(LENGTH_EDGES):
        chosen = [i for i, size in enumerate(sizes) if shortest <= size < beyond]
        row = {"shortest": shortest, "longest": beyond - 1, "count": len(chosen)}
        by_length.append({**row, **gain(chosen)})
    return {"of": of, "test": gain(range(len(split["test"]))), "by_length": by_length}


def lower(text: str, language: str = "es") -> str:
    """A reference as the model sees text: tokenised, lower-cased, joined again."""
    return data.detokenize(data.tokenize(text), language=language)
