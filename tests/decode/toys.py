"""Tiny models for the tests of decoding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqcourse.tokens import EOS

A, B, C = 3, 4, 5  # ordinary words, after <pad>, <sos>, <eos>


@dataclass
class Out:
    logits: Tensor
    state: object
    weights: Tensor | None = None


class Tables:
    """Sentence b's next-word distribution is an independent random table row for every prefix.

    The state is the prefix itself as a number, inside a nest of containers, so that a wrongly
    reordered state shows at once; the attention weights are a function of sentence and prefix.
    `memory` is {"which": (B,)}: the sentence's number in the tables.
    """

    def __init__(self, vocabulary: int, depth: int, sentences: int = 1, seed: int = 0) -> None:
        maker = torch.Generator().manual_seed(seed)
        self.vocabulary = vocabulary
        prefixes = sum(vocabulary**length for length in range(depth + 1))
        shape = (sentences, prefixes, vocabulary)
        self.logits = 2.0 * torch.randn(shape, generator=maker, dtype=torch.float64)
        self.logits[:, :, :2] = float("-inf")  # <pad> and <sos> are never written
        self.weights = torch.rand((sentences, prefixes, 4), generator=maker, dtype=torch.float64)
        self.memory = {"which": torch.arange(sentences)}
        self.rows_stepped = 0

    def start(self, memory, batch_size=None):
        return {"prefix": (torch.full_like(memory["which"], -1), None), "name": "tables"}

    def after(self, prefix: Tensor, token: Tensor) -> Tensor:
        """Number of the prefix one token longer; -1 before <sos>, 0 after it."""
        return torch.where(prefix < 0, 0, prefix * self.vocabulary + token + 1)

    def step(self, tokens, state, memory):
        self.rows_stepped += len(tokens)
        prefix = self.after(state["prefix"][0], tokens)
        which = memory["which"]
        return Out(
            self.logits[which, prefix],
            {"prefix": (prefix, None), "name": "tables"},
            self.weights[which, prefix],
        )

    def weights_along(self, sentence: int, tokens: list[int]) -> Tensor:
        """What the weights of these tokens have to be."""
        prefix, rows = torch.tensor(0), []
        for token in tokens:
            rows.append(self.weights[sentence, prefix])
            prefix = self.after(prefix, torch.tensor(token))
        return torch.stack(rows) if rows else self.weights.new_zeros(0, 4)

    def log_prob(self, sentence: int, tokens: list[int], finished: bool) -> float:
        """log P of an output, word by word from the table."""
        prefix, total = torch.tensor(0), 0.0
        for token in [*tokens, *([EOS] if finished else [])]:
            total += self.logits[sentence, prefix].log_softmax(-1)[token].item()
            prefix = self.after(prefix, torch.tensor(token))
        return total


class Written:
    """A language model of one sentence whose probabilities are written down by prefix."""

    def __init__(self, probabilities: dict[tuple[int, ...], dict[int, float]], vocabulary=6):
        self.probabilities, self.vocabulary = probabilities, vocabulary

    def start(self, memory, batch_size=None):
        return {
            "prefix": torch.full((batch_size or 1, 12), -1),
            "length": torch.zeros(batch_size or 1).long(),
        }

    def step(self, tokens, state, memory):
        prefix, length = state["prefix"].clone(), state["length"] + 1
        prefix[torch.arange(len(tokens)), length - 1] = tokens
        logits = torch.full((len(tokens), self.vocabulary), float("-inf"))
        for row, size in enumerate(length.tolist()):
            for token, p in self.probabilities[tuple(prefix[row, 1:size].tolist())].items():
                logits[row, token] = torch.tensor(p).log()
        return Out(logits, {"prefix": prefix, "length": length})


class Recurrent(nn.Module):
    """A GRU encoder-decoder with dot-product attention, random and untrained."""

    def __init__(self, vocabulary: int = 12, size: int = 8, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.encoder, self.cell = nn.GRUCell(size, size), nn.GRUCell(2 * size, size)
        self.output = nn.Linear(2 * size, vocabulary)
        self.dropout = nn.Dropout(dropout)
        self.encoded = self.started = 0
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=1.0)

    def encode(self, src, src_lengths):
        self.encoded += 1
        mask = torch.arange(src.shape[1])[None] < src_lengths[:, None]
        h, states = torch.zeros(len(src), self.cell.hidden_size), []
        for t in range(src.shape[1]):
            h = torch.where(mask[:, t, None], self.encoder(self.embedding(src[:, t]), h), h)
            states.append(h)
        return {"states": torch.stack(states, 1), "mask": mask, "final": h}

    def start(self, memory, batch_size=None):
        self.started += 1
        return (memory["final"], [memory["final"].new_zeros(len(memory["final"]), 1)])

    def step(self, tokens, state, memory):
        s, (count,) = state
        scores = torch.einsum("bd,btd->bt", s, memory["states"])
        weights = scores.masked_fill(~memory["mask"], float("-inf")).softmax(-1)
        context = torch.einsum("bt,btd->bd", weights, memory["states"])
        s = self.cell(torch.cat([self.embedding(tokens), context], -1), s)
        logits = self.output(self.dropout(torch.cat([s, context], -1)))
        logits = logits.index_fill(-1, torch.tensor([0, 1]), -30.0)
        return Out(
            logits + 0.3 * count * (torch.arange(logits.shape[-1]) == EOS), (s, [count + 1]), weights
        )


def recurrent(seed: int = 0, **options) -> Recurrent:
    """The same random model for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Recurrent(**options).eval()


def sources(seed: int, count: int, vocabulary: int = 12, longest: int = 7) -> tuple[Tensor, Tensor]:
    """Random padded sentences of different lengths."""
    maker = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (count,), generator=maker)
    lengths[0] = longest
    src = torch.randint(3, vocabulary, (count, longest), generator=maker)
    return src.masked_fill(torch.arange(longest)[None] >= lengths[:, None], 0), lengths
