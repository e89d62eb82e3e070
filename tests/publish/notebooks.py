"""Notebooks like those of students, with small checkpoints, for the tests of what is published."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from seqcourse import data, own
from seqcourse.publish.system import run

SETUP = """import json
import torch
from torch import nn
import seqcourse
from seqcourse import data, functional
from seqcourse.nn import Recurrent
"""
TRANSLATOR = """TASK = "translator"
EN = "the girl is reading a book . we need water where my key ? tom busy now".split()
ES = "la chica lee un libro . necesitamos agua donde mi llave ? tom ocupado ahora".split()


def load(tensors, notes):
    torch.manual_seed(1)
    model = Model(data.Vocabulary(EN), data.Vocabulary(ES))
    model.load_state_dict(tensors)
    return model.eval()


def translate(model, sentences):
    texts = []
    for sentence in sentences:
        source, lengths = data.pad([model.en.encode(data.tokenize(sentence), eos=ENDS)])
        ids = [data.SOS]
        while len(ids) < LIMIT:
            made = logits(model, source, lengths, torch.tensor([ids]))
            scores = (made[0] if isinstance(made, tuple) else made)[0, -1]
            scores[[data.PAD, data.SOS, data.UNK]] = float("-inf")
            ids.append(int(scores.argmax()))
            if ids[-1] == data.EOS:
                break
        texts.append(data.detokenize(model.es.decode(ids), "es"))
    return texts


def words(model):
    return model.en, model.es
"""
RECURRENT = """ENDS, LIMIT = True, 24


class Model(nn.Module):
    def __init__(self, en, es, width=12):
        super().__init__()
        self.en, self.es = en, es
        self.read, self.write = nn.Embedding(len(en), width), nn.Embedding(len(es), width)
        self.encoder = Recurrent("lstm", width, width, bidirectional=True)
        self.keys, self.cell = nn.Linear(2 * width, width), nn.GRUCell(2 * width, width)
        self.out = nn.Linear(2 * width, len(es))


def logits(model, source, lengths, target):
    memory, _ = model.encoder(model.read(source), lengths)
    memory = model.keys(memory)  # (B, N, D)
    mask = functional.length_mask(lengths, source.shape[1])
    state, context = memory[:, 0], memory[:, 0]
    rows, maps = [], []
    for word in model.write(target).unbind(1):
        state = model.cell(torch.cat([word, context], -1), state)
        scores = (memory @ state[..., None])[..., 0].masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, -1)  # (B, N)
        context = (weights[..., None] * memory).sum(1)
        rows.append(model.out(torch.cat([state, context], -1)))
        maps.append(weights)
    return torch.stack(rows, 1), torch.stack(maps, 1)
"""
TRANSFORMER = """ENDS, LIMIT = False, 40


class Model(nn.Module):
    def __init__(self, en, es, width=16):
        super().__init__()
        self.en, self.es = en, es
        self.read, self.write = nn.Embedding(len(en), width), nn.Embedding(len(es), width)
        self.layer = nn.Transformer(width, 2, 1, 1, 24, dropout=0.1, batch_first=True)
        self.out = nn.Linear(width, len(es))

    def place(self, x):
        return x + functional.sinusoidal_encoding(x.shape[1], x.shape[2]).to(x)


def logits(model, source, lengths, target):
    pad = ~functional.length_mask(lengths, source.shape[1])
    ahead = ~functional.causal_mask(target.shape[1])
    x, y = model.place(model.read(source)), model.place(model.write(target))
    hidden = {"src_key_padding_mask": pad, "memory_key_padding_mask": pad}
    return model.out(model.layer(x, y, tgt_mask=ahead, tgt_is_causal=True, **hidden))
"""
CAPTIONER = """TASK = "captioner"
WORDS = "a camel pink flamingo left of above two and".split()


class Model(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.eyes = nn.Sequential(nn.Conv2d(3, width, 8, 8), nn.ReLU())
        self.table, self.cell = nn.Embedding(len(WORDS) + 4, width), nn.LSTMCell(2 * width, width)
        self.out = nn.Linear(width, len(WORDS) + 4)


def load(tensors, notes):
    model = Model()
    model.load_state_dict(tensors)
    return model.eval()


def logits(model, picture, target):
    grid = model.eyes(picture).flatten(2).mT  # (B, 64, D)
    state, rows, maps = (grid.mean(1), grid.mean(1)), [], []
    for word in model.table(target).unbind(1):
        weights = torch.softmax((grid @ state[0][..., None])[..., 0], -1)
        seen = (weights[..., None] * grid).sum(1)
        state = model.cell(torch.cat([word, seen], -1), state)
        rows.append(model.out(state[0]))
        maps.append(weights.unflatten(-1, (8, 8)))
    return torch.stack(rows, 1), torch.stack(maps, 1)


def words(model):
    return data.Vocabulary(WORDS)


def caption(model, pictures):
    told = []
    for picture in pictures:
        ids, maps = [data.SOS], None
        while len(ids) < 24:
            made, maps = logits(model, picture[None], torch.tensor([ids]))
            made[0, -1, [data.PAD, data.SOS, data.UNK]] = float("-inf")
            best = int(made[0, -1].argmax())
            if best == data.EOS:
                break
            ids.append(best)
        told.append((" ".join(words(model).decode(ids)), None))
    return told
"""
SYSTEMS = {
    "recurrent": SETUP + TRANSLATOR + RECURRENT,
    "transformer": SETUP + TRANSLATOR + TRANSFORMER,
    "captioner": SETUP + CAPTIONER,
}
LOSSES = "[300, [3.2, 2.1, 1.4, 1.1, 0.9, 0.8]]"


def notebook(folder: Path, source: str, quick: bool = False, shown: str = "") -> Path:
    """A notebook of one cell, ``shown`` or the source, and a checkpoint of untrained numbers."""
    path = folder / "ps9.ipynb"
    cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None}
    cell["source"] = (shown or source).splitlines(keepends=True)
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")
    space = run(source, "made.ipynb")
    torch.manual_seed(0)
    if space["TASK"] == "captioner":
        model = space["Model"]()
    else:
        model = space["Model"](data.Vocabulary(space["EN"]), data.Vocabulary(space["ES"]))
    for each in model.parameters():
        torch.nn.init.normal_(each, std=0.6)  # so that the words it writes differ
    name = "ps9-quick.safetensors" if quick else "ps9.safetensors"
    own.save(folder / name, model.state_dict(), {"losses": LOSSES})
    return path
