"""BERT's pre-training: hidden words, and whether one sentence follows another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from seqcourse import data
from seqcourse.data import NOT_ASKED, SPECIALS, Vocabulary
from seqcourse.tokens import MASK
from seqcourse.train import bert_loss
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks.evaluation import mean_over


class MaskedTask(Task):
    """Neighbouring sentences of the children's books, word by word."""

    use = "fill(text)"
    fills_masks = True
    why_not_translate = "is a language model: it has nothing to translate"
    min_count = 3

    def documents(self, split: str) -> list[list[list[str]]]:
        """For each paragraph with two sentences or more: for each sentence its words."""
        texts = data.load_books(split).values()
        found = [
            [data.tokenize(sentence) for sentence in data.sentences(paragraph)]
            for text in texts
            for paragraph in data.paragraphs(text)
        ]
        return [document for document in found if len(document) > 1]

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """<mask> and the frequent words of the training part."""
        sentences = [sentence for document in self.documents("train") for sentence in document]
        words = Vocabulary.build(sentences, min_count=self.min_count).tokens[len(SPECIALS) :]
        vocabulary = Vocabulary([MASK, *words])
        return vocabulary, vocabulary

    def read(self, text: str, vocabulary: Vocabulary) -> list[str]:
        """Words, with every <mask> as one token."""
        first, *others = (data.tokenize(part) for part in text.split(MASK))
        return first + [token for part in others for token in (MASK, *part)]

    def batches(
        self, source: Vocabulary, target: Vocabulary, split: str = "train"
    ) -> data.MaskedBatches:
        """Pairs of a part; other words hidden in every epoch of the training."""
        return data.MaskedBatches(
            [[target.encode(s, eos=False) for s in document] for document in self.documents(split)],
            batch_size=self.recipe.batch_size,
            mask_id=target.id(MASK),
            size=len(target),
            longest=self.recipe.options["length"],
            seed=self.recipe.seed,
            fresh=split == "train",
        )

    def loss(self) -> Callable:
        """The sum of both tasks' losses."""
        return bert_loss

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to the mean of that sum on the validation part."""
        return mean_over(list(self.batches(source, target, "valid")), bert_loss, lambda batch: 1)

    def measure(self, system: System) -> dict[str, Any]:
        """On the held-out ends: the shares of hidden words and of pairs that are right, and the share of
        the most frequent word."""
        right = among_five = asked = judged = pairs = common = 0
        first = system.target.id(",")
        with torch.inference_mode():
            for batch in self.batches(system.source, system.target, "test"):
                batch = batch.to(system.device)
                mask = torch.arange(batch.tokens.shape[1], device=system.device)
                out = system.model(batch.tokens, mask < batch.lengths[:, None], batch.segments)
                hidden = batch.targets != NOT_ASKED
                best = out.words[hidden].topk(5).indices
                truth = batch.targets[hidden]
                right += int((best[:, 0] == truth).sum())
                among_five += int((best == truth[:, None]).sum())
                common += int((truth == first).sum())
                asked += len(truth)
                judged += int((out.follows.argmax(-1) == batch.follows).sum())
                pairs += len(batch.follows)
        return {
            "hidden_words_right": right / asked,
            "hidden_words_among_five": among_five / asked,
            "most_frequent_word": common / asked,
            "hidden_words": asked,
            "pairs_right": judged / pairs,
            "pairs": pairs,
        }
