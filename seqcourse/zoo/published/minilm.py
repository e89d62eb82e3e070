"""all-MiniLM-L6-v2 in our own encoder: sentences to vectors (Reimers and Gurevych 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional as F
from seqcourse.errors import CourseError
from seqcourse.models.bert import BERT
from seqcourse.settings import device
from seqcourse.zoo.convert import from_hf
from seqcourse.zoo.published.packages import found
from seqcourse.zoo.storage import read_json

LONGEST = 256  # tokens that it was fine-tuned with


@dataclass
class SentenceEncoder:
    """A BERT whose states are averaged: one vector of length 1 per sentence.

    Attributes:
        model: in evaluation mode.
        tokenizer: of the ``tokenizers`` library, WordPiece, lower-case.
    """

    model: BERT
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.model.embedding.device

    def batch(self, sentences: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Token ids (B, T), [CLS] first and [SEP] last, and the mask (B, T), True = a real token.

        Raises:
            CourseError: if there is no sentence, or one is empty.
        """
        if isinstance(sentences, str):
            sentences = [sentences]
        if not sentences or not all(sentence.strip() for sentence in sentences):
            raise CourseError(f"Expected sentences of at least one word each, but got {sentences!r}.")
        coded = self.tokenizer.encode_batch(list(sentences))
        tokens = torch.tensor([code.ids for code in coded], device=self.device)
        mask = torch.tensor([code.attention_mask for code in coded], device=self.device).bool()
        return tokens, mask

    def encode(self, sentences: Sequence[str]) -> Tensor:
        r"""Sentences to vectors (B, 384) of length 1: the mean of the last layer's states.

        .. math:: u = \frac{1}{T} \sum_t h_t, \qquad e = u / \lVert u \rVert

        So the product of two vectors is the cosine of the angle between them.
        """
        tokens, mask = self.batch(sentences)
        with torch.inference_mode():
            states = self.model.states(tokens, mask[:, None])  # (B, T, D)
            return mean_of_real(states, mask)


def mean_of_real(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of the states (B, T, D) where the mask (B, T) is True, at length 1: (B, D)."""
    weights = mask.to(states.dtype)
    mean = F.weighted_sum(weights / weights.sum(1, keepdim=True), states)
    return torch.nn.functional.normalize(mean, dim=-1)


def load_minilm() -> SentenceEncoder:
    """Load all-MiniLM-L6-v2 on the course's device.

    Raises:
        CourseError: if the files are missing.
    """
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    place = found("minilm") / "model"
    config = read_json(place / "config.json")
    model = BERT(
        config["vocab_size"],
        config["hidden_size"],
        config["num_attention_heads"],
        config["num_hidden_layers"],
        hidden=config["intermediate_size"],
        longest=config["max_position_embeddings"],
        segments=config["type_vocab_size"],
        eps=config["layer_norm_eps"],
        pretraining=False,
    )
    model.load_state_dict(from_hf("bert", load_file(place / "model.safetensors")))
    tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()
    return SentenceEncoder(model.to(device()).eval().requires_grad_(False), tokenizer)
