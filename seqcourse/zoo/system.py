"""What a recipe trains for, and a trained model together with its vocabularies: text in, text out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy
import torch
from torch import nn

from seqcourse import data, decode
from seqcourse.data import Vocabulary
from seqcourse.decode import Hypothesis
from seqcourse.errors import CourseError
from seqcourse.models import Memory
from seqcourse.tokens import EOS, MASK, PAD, SOS, UNK
from seqcourse.zoo.recipes import Recipe
from seqcourse.zoo.translation import Translation, sentence_by_sentence

NO_OUTPUT = (PAD, SOS)  # never written, so that every row of weights belongs to a word


class Task(ABC):
    """What a recipe trains for: data, loss, measurement, and the use of a trained system.

    Attributes:
        vocabulary_sizes: how many vocabulary sizes the model takes: 2 for input and output, 1 if they
            are the same or only one is text, 0 if neither is.
        translates: whether :meth:`System.translate` works.
        in_sentences: whether a longer text has to be split into sentences.
        generates: whether :meth:`System.generate` works.
        fills_masks: whether :meth:`System.fill` works.
        use: how to call a trained system, such as ``caption(pictures)``.
        why_not_translate: the end of a sentence that begins with the system's name.
        only_measured: the recipe's options that change what is measured, not what is trained.
        studies: those of them that ask for a chapter's study; it is stored under the option's name.
    """

    vocabulary_sizes = 1
    translates = in_sentences = generates = fills_masks = False
    use = "model"
    why_not_translate = "has nothing to translate"
    only_measured: tuple[str, ...] = ()
    studies: tuple[str, ...] = ()

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    @abstractmethod
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Vocabularies of input and output, which may be the same."""

    @abstractmethod
    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> Any:
        """Batches of a split; shuffled for training."""

    @abstractmethod
    def loss(self) -> Callable:
        """What the trainer minimises, ``loss(model, batch)``."""

    @abstractmethod
    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to a number on held-out data, lower is better."""

    @abstractmethod
    def measure(self, system: System) -> dict[str, Any]:
        """The figures that are stored with a checkpoint."""

    def study(self, system: System, name: str) -> Any:
        """The figures of one of ``studies``."""
        raise NotImplementedError

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """Prepare a model before the training; most tasks do nothing.

        Args:
            short: the most steps to take, in a trial.
        """
        return None

    def watch(self, model: nn.Module, epoch: int) -> dict[str, Any] | None:
        """What to store about a model after an epoch; most tasks store nothing."""
        return None

    def read(self, text: str, vocabulary: Vocabulary) -> list[str]:
        """Split a text into the pieces that the model reads, by default words."""
        return data.tokenize(text)

    def write(self, tokens: list[str], vocabulary: Vocabulary) -> str:
        """Join the pieces that the model writes into a text, by default English."""
        return data.detokenize(tokens, language="en")

    def spell(
        self, system: System, utterances: Sequence[numpy.ndarray], beam: int, n_best: int
    ) -> list[Any]:
        """See :meth:`seqcourse.zoo.System.spell`."""
        raise CourseError(f"{self.recipe.name} does not read speech; digits-speller does.")

    def caption(
        self, system: System, pictures: Sequence[numpy.ndarray], beam: int, n_best: int
    ) -> list[Any]:
        """See :meth:`seqcourse.zoo.System.caption`."""
        raise CourseError(f"{self.recipe.name} does not caption pictures; captions-soft does.")


@dataclass
class System:
    """A model of the zoo, ready to use.

    Attributes:
        task: what it was trained for, and how it reads and writes.
        model: the module, in evaluation mode.
        source: vocabulary of the input; for a language model the same as ``target``.
        target: vocabulary of the output.
        figures: what was measured on held-out data when the checkpoint was made.
    """

    task: Task
    model: nn.Module
    source: Vocabulary
    target: Vocabulary
    figures: dict[str, Any]

    @property
    def recipe(self) -> Recipe:
        """How it was made."""
        return self.task.recipe

    @property
    def device(self) -> torch.device:
        """Where the model's parameters are."""
        return next(self.model.parameters()).device

    def tokens(self, text: str) -> list[str]:
        """Split an input as the recipe's task does.

        Translators were trained on whole sentences, so a missing full stop is added. Words to
        pronounce become single letters; characters stay as they are.
        """
        return self.task.read(text, self.source)

    def text(self, tokens: list[str]) -> str:
        """Join output tokens as the recipe's task does."""
        return self.task.write(tokens, self.target)

    def encode(self, token_lists: list[list[str]]) -> Memory:
        """The encoder's memory of a batch of tokenised inputs."""
        ids, lengths = data.pad([self.source.encode(tokens) for tokens in token_lists])
        with torch.inference_mode():
            return self.model.encode(ids.to(self.device), lengths.to(self.device))

    def translate(
        self,
        texts: list[str],
        beam: int = 5,
        n_best: int = 1,
        length_penalty: float = 1.0,
        batch_size: int = 256,
    ) -> list[Translation]:
        """Translate (or pronounce) texts by beam search.

        Words that are not in the vocabulary become <unk>. For T input tokens the output has at most
        2 T + 10 tokens.

        Args:
            texts: a list, one sentence or word each (a single string counts as a list of one).
            beam: beam width; 1 is greedy decoding.
            n_best: how many outputs to keep of each.
            length_penalty: exponent of the length normalisation.
            batch_size: inputs decoded together.

        Raises:
            CourseError: if an input is empty, the batch size is below 1, or the system does
                not translate.
            ValueError: if beam, n_best or length_penalty make no sense, see ``decode.beam_search``.
        """
        if batch_size < 1:
            raise CourseError(f"batch_size should be at least 1, but it is {batch_size}.")
        sources = self.sources(texts)
        found = self.search(sources, beam, n_best, length_penalty, batch_size)
        return [self.translation(s, h) for s, h in zip(sources, found, strict=True)]

    def sources(self, texts: list[str]) -> list[list[str]]:
        """The tokens of texts to translate.

        Raises:
            CourseError: if a text has no word, or the system does not translate.
        """
        if not self.task.translates:
            raise CourseError(f"{self.recipe.name} {self.task.why_not_translate}.")
        if isinstance(texts, str):
            texts = [texts]
        sources = [self.tokens(text) for text in texts]
        for text, tokens in zip(texts, sources, strict=True):
            if not any(any(c.isalnum() for c in token) for token in tokens):
                raise CourseError(f"Expected a text with at least one word, but got {text!r}.")
        return sources

    def search(
        self,
        sources: list[list[str]],
        beam: int = 5,
        n_best: int = 1,
        length_penalty: float = 1.0,
        batch_size: int = 256,
    ) -> list[list[Hypothesis]]:
        """The best outputs for tokenised inputs, see ``decode.beam_search``.

        Inputs of similar length are decoded together; the results are in the order of the inputs.
        """
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        results: list[list[Hypothesis]] = [[] for _ in sources]
        for at in range(0, len(order), batch_size):
            rows = order[at : at + batch_size]
            found = decode.beam_search(
                self.model,
                self.encode([sources[i] for i in rows]),
                beam,
                n_best,
                length_penalty=length_penalty,
                max_len=2 * len(sources[rows[-1]]) + 10,
                forbid=NO_OUTPUT,
            )
            for i, hypotheses in zip(rows, found, strict=True):
                results[i] = hypotheses
        return results

    def log_probs(
        self, sources: list[list[str]], targets: list[list[str]], batch_size: int = 512
    ) -> list[float]:
        r"""\log P(target | source), in nats, of given outputs; <eos> counts.

        Args:
            sources: tokens of N inputs.
            targets: tokens of an output for each.
            batch_size: pairs scored together.
        """
        order = sorted(range(len(sources)), key=lambda i: (len(sources[i]), len(targets[i])))
        results = [0.0] * len(sources)
        for at in range(0, len(order), batch_size):
            rows = order[at : at + batch_size]
            memory = self.encode([sources[i] for i in rows])
            ids = [self.target.encode(targets[i], eos=False) for i in rows]
            for i, value in zip(rows, decode.score(self.model, memory, ids).tolist(), strict=True):
                results[i] = value
        return results

    def translate_text(self, text: str, beam: int = 5) -> str:
        """Translate a text of any length, sentence by sentence.

        The models were trained on single sentences. Paragraphs are kept.

        Raises:
            CourseError: as :meth:`translate`.
        """
        translate = partial(self.translate, beam=beam)
        if self.task.in_sentences:
            return sentence_by_sentence(text, translate)
        return translate([text])[0].text

    def translation(self, source: list[str], hypotheses: list[Hypothesis]) -> Translation:
        """The hypotheses of a search as text."""
        outputs = [self.target.decode(h.tokens) for h in hypotheses]
        best, weights = hypotheses[0], None
        if best.weights is not None:
            weights = best.weights[:, : len(source) + 1].float().cpu().numpy()
        n_best = [(self.text(o), h.score) for o, h in zip(outputs, hypotheses, strict=True)]
        return Translation(source, outputs[0], n_best[0][0], best.score, weights, n_best)

    def generate(
        self,
        prompt: str,
        length: int | None = None,
        temperature: float = 1.0,
        seed: int = 0,
        **options: Any,
    ) -> str:
        """Continue a text, piece by piece (language models only).

        Args:
            prompt: the text to continue, at least one character.
            length: how many pieces to add: characters, words or subwords. If it is not given: 200, or as
                many as the model can read.
            temperature: divides the logits; below 1 likely pieces become likelier.
            seed: the same seed draws the same text.
            options: see ``decode.sample``, for instance ``top_p``.

        Returns:
            The prompt and what follows.

        Raises:
            CourseError: if the prompt is empty, the text would be longer than the model can read, or
                the system is no language model.
        """
        if not self.task.generates:
            raise CourseError(f"{self.recipe.name} is no language model: use translate.")
        tokens = self.tokens(prompt)
        ids = self.target.encode(tokens, eos=False)
        if not ids:
            raise CourseError("Expected a prompt of at least one character, but it is empty.")
        longest = getattr(self.model, "longest", math.inf)
        if length is None:
            length = max(1, min(200, longest + 1 - len(ids)))
        if len(ids) + length > longest + 1:
            raise CourseError(
                f"{self.recipe.name} reads at most {longest} pieces, but the prompt has {len(ids)} and "
                f"{length} more were asked for. Shorten one of them."
            )
        generator = torch.Generator(self.device).manual_seed(seed)
        prefix = torch.tensor([ids], device=self.device)
        found = decode.sample(
            self.model,
            None,
            temperature=temperature,
            max_len=length,
            generator=generator,
            prefix=prefix,
            forbid=(PAD, SOS, EOS, UNK),
            **options,
        )
        return self.text([*tokens, *self.target.decode(found[0].tokens)])

    def spell(self, utterances: Sequence[numpy.ndarray], beam: int = 5, n_best: int = 1) -> list[Any]:
        """Write down spoken words, with the attention of each letter (spellers only).

        ::

            system.spell([string.frames])[0].text

        Args:
            utterances: frames of each, (T, 13), as :func:`seqcourse.data.load_digits` gives them.
            beam: beam width; 1 is greedy decoding.
            n_best: how many outputs to keep of each.

        Returns:
            For each a :class:`seqcourse.zoo.tasks.Spelling`.

        Raises:
            CourseError: if an utterance has another form, or the system is no speller.
        """
        return self.task.spell(self, utterances, beam, n_best)

    def caption(self, pictures: Sequence[numpy.ndarray], beam: int = 3, n_best: int = 1) -> list[Any]:
        """Caption pictures, with the attention of each word (captioners only).

        ::

            system.caption([scene.image])[0].text

        Args:
            pictures: each (height, width, 3) of type uint8. A picture of another size is cut to its
                middle square and scaled.
            beam: beam width; 1 is greedy decoding.
            n_best: how many captions to keep of each.

        Returns:
            For each a :class:`seqcourse.zoo.tasks.Caption`.

        Raises:
            CourseError: if a picture has another form, or the system is no captioner.
        """
        return self.task.caption(self, pictures, beam, n_best)

    def fill(self, text: str, count: int = 5) -> list[list[tuple[str, float]]]:
        """The likeliest words for each <mask> of a text, with their probabilities (BERT only).

        ::

            system.fill("the little <mask> ran into the wood.")[0][0]

        Raises:
            CourseError: if there is no <mask>, or the system does not fill masks.
        """
        if not self.task.fills_masks:
            raise CourseError(f"{self.recipe.name} does not fill masks; zoo.load('books-bert') does.")
        tokens = self.tokens(text)
        if MASK not in tokens:
            raise CourseError(f"Expected a text with {MASK} where a word is hidden, but got {text!r}.")
        ids = [SOS, *self.source.encode(tokens)]
        if len(ids) > self.model.longest:
            raise CourseError(
                f"{self.recipe.name} reads at most {self.model.longest - 2} words, but the text has "
                f"{len(tokens)}."
            )
        row = torch.tensor([ids], device=self.device)
        with torch.inference_mode():
            logits = self.model(row).words[0].float()
            logits[:, [PAD, SOS, EOS, UNK, self.source.id(MASK)]] = -math.inf
        found = logits[row[0] == self.source.id(MASK)].softmax(-1).topk(count)
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        return [[(self.target.tokens[i], p) for i, p in zip(*pair, strict=True)] for pair in pairs]
