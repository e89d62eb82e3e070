"""Language models: the next character, word or subword of a book."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse import data
from seqcourse.data import SubwordVocabulary, Vocabulary
from seqcourse.train import language_model_loss
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks import adapted, authors, blocks, memory, norms, pieces
from seqcourse.zoo.tasks.evaluation import bits, mean_loss


class LanguageTask(Task):
    """One long text in three parts; subclasses define the text and its pieces."""

    use = "generate(prompt)"
    generates = True
    why_not_translate = "is a language model: it has nothing to translate"

    def texts(self) -> dict[str, str]:
        """The parts "train", "valid" and "test" as text."""
        raise NotImplementedError

    def vocabulary(self) -> Vocabulary | SubwordVocabulary:
        """The pieces of the training part."""
        raise NotImplementedError

    def ids(self, vocabulary: Vocabulary | SubwordVocabulary, split: str) -> Tensor:
        """A part of the text as ids, (N,)."""
        raise NotImplementedError

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The vocabulary, once for input and output."""
        vocabulary = self.vocabulary()
        return vocabulary, vocabulary

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> data.TextBatches:
        """Windows of a part; shuffled for training."""
        return data.TextBatches(
            self.ids(target, split),
            length=self.recipe.options["length"],
            batch_size=self.recipe.batch_size,
            shuffle=split == "train",
            seed=self.recipe.seed,
        )

    def loss(self) -> Callable:
        """Cross-entropy per piece."""
        return language_model_loss

    def validate(
        self, source: Vocabulary, target: Vocabulary, split: str = "valid"
    ) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss per piece on a held-out part."""
        ids = self.ids(target, split)
        return lambda model: mean_loss(model, ids)


class CharacterTask(LanguageTask):
    """One book, character by character; its last tenth is held out, halved into valid and test."""

    only_measured = studies = ("memory", "norms", "parts")

    def texts(self) -> dict[str, str]:
        book = data.load_book(self.recipe.data)
        ends = [0, int(0.9 * len(book)), int(0.95 * len(book)), len(book)]
        parts = zip(("train", "valid", "test"), ends, ends[1:], strict=False)
        return {name: book[a:b] for name, a, b in parts}

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.build(list(self.texts()["train"]))

    def ids(self, vocabulary: Vocabulary, split: str) -> Tensor:
        return torch.tensor(vocabulary.encode(list(self.texts()[split]), eos=False))

    def read(self, text: str, vocabulary: Vocabulary) -> list[str]:
        return list(text)

    def write(self, tokens: list[str], vocabulary: Vocabulary) -> str:
        return "".join(tokens)

    def measure(self, system: System) -> dict[str, Any]:
        """Bits per character on the held-out end of the book."""
        with torch.inference_mode():
            nats = self.validate(system.source, system.target, "test")(system.model)
        return {"bits_per_character": bits(nats), "characters": len(self.texts()["test"])}

    def study(self, system: System, name: str) -> dict[str, Any]:
        """Chapter 1's first symbols, chapter 10's norms and parts: trainings beside the model of this
        book.
        """
        study = {"memory": memory.measure, "norms": norms.measure, "parts": blocks.measure}[name]
        return study(**self.recipe.options[name])


class BooksTask(LanguageTask):
    """The children's books, paragraph after paragraph, each with <eos> at its end."""

    def texts(self) -> dict[str, str]:
        splits = ("train", "valid", "test")
        return {s: "\n".join(self.paragraphs(s)) + "\n" for s in splits}

    def paragraphs(self, split: str) -> list[str]:
        """Lower-cased paragraphs of all books, in reading order."""
        books = data.load_books(split).values()
        return [part.lower() for text in books for part in data.paragraphs(text)]

    def measure(self, system: System) -> dict[str, Any]:
        """Perplexity per piece on the held-out ends of the books; bits per character of their text."""
        ids, characters = self.ids(system.target, "test"), len(self.texts()["test"])
        with torch.inference_mode():
            nats = mean_loss(system.model, ids)
        return {
            "perplexity": float(torch.tensor(nats).exp()),
            "bits_per_character": bits(nats) * (len(ids) - 1) / characters,
            "pieces": len(ids),
            "characters": characters,
        }


class WordTask(BooksTask):
    """The children's books word by word; words that occur fewer than three times are <unk>."""

    min_count = 3

    def tokens(self, split: str) -> list[list[str]]:
        """The words of each paragraph."""
        return [data.tokenize(paragraph) for paragraph in self.paragraphs(split)]

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.build(self.tokens("train"), min_count=self.min_count)

    def ids(self, vocabulary: Vocabulary, split: str) -> Tensor:
        return torch.tensor([i for tokens in self.tokens(split) for i in vocabulary.encode(tokens)])

    def measure(self, system: System) -> dict[str, Any]:
        """The same, and the share of <unk>, which is easier to guess than a word."""
        unknown = (self.ids(system.target, "test") == data.UNK).double().mean().item()
        return {**super().measure(system), "unknown_share": unknown}


class SubwordTask(BooksTask):
    """The children's books in subwords, for pre-training; measured by fine-tuning too."""

    only_measured = studies = ("authors", "pieces", "adapted")

    def vocabulary(self) -> SubwordVocabulary:
        return SubwordVocabulary.train(self.paragraphs("train"), self.recipe.options["vocabulary"])

    def ids(self, vocabulary: SubwordVocabulary, split: str) -> Tensor:
        return torch.tensor([i for text in self.paragraphs(split) for i in vocabulary.encode(text)])

    def read(self, text: str, vocabulary: SubwordVocabulary) -> list[str]:
        return vocabulary.tokenize(text)

    def write(self, tokens: list[str], vocabulary: SubwordVocabulary) -> str:
        return vocabulary.detokenize(tokens)

    def study(self, system: System, name: str) -> Any:
        """Chapter 12's authors, with and without this pre-training; vocabularies of other sizes; this
        model adapted to everyday sentences.
        """
        asked = self.recipe.options[name]
        if name != "pieces":
            return {"authors": authors, "adapted": adapted}[name].measure(system, **asked)
        texts = {split: self.paragraphs(split) for split in ("train", "valid", "test")}
        return pieces.measure(texts, **asked)
