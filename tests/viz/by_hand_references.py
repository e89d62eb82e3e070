"""The right result of each calculation of the book, by torch or the package's own functions."""

from __future__ import annotations

import math

import torch
from sacrebleu.metrics import BLEU

from seqcourse import data, functional, metrics
from seqcourse import nn as course_nn
from seqcourse.decode import filter_logits
from seqcourse.train import inverse_sigmoid_decay

SOFT = torch.softmax


def two_best(n):
    candidates = torch.cat([n["a"] * n["p"], n["b"] * n["r"]])
    return candidates.topk(2).values


def reached(n):
    """By a layer's mask, and by the product of several."""
    w, layers = int(n["w"]), int(n["L"])
    size = 2 * w * layers + 9
    middle = size // 2
    mask = functional.window_mask(torch.arange(size).float(), w, size).double()
    return torch.stack([(mask.matrix_power(k)[middle] > 0).sum() for k in (1, layers)])


def masked(n):
    size, length = int(n["n"]), n["length"][None].long()
    mask = functional.causal_mask(size) & functional.length_mask(length, size)
    return torch.stack([mask[-1].sum(), mask.sum()])


def cached(n):
    layers, width, positions = (int(n[name]) for name in "LDn")
    kept = course_nn.MultiHeadAttention(width, 1).keys_values(torch.zeros(1, positions, width))
    return layers * sum(part.numel() for part in kept)


def clipped(n):
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = n["g"].float()
    torch.nn.utils.clip_grad_norm_([weight], n["c"].item())
    return weight.grad


def lstm(n):
    """One step whose gates and candidate are the given numbers, for an input of one 1."""
    before = [torch.logit(n[gate], eps=1e-12) for gate in "if"]
    before += [torch.atanh(n["g"]), torch.logit(n["o"], eps=1e-12)]
    w_hh = torch.zeros(4, 1).double()
    state = torch.zeros(1, 1).double(), n["c"].double()[None, None]
    h, c = functional.lstm_step(torch.ones(1, 1).double(), state, torch.stack(before)[:, None], w_hh)
    return torch.cat([c, h])


def summed(p):
    """The loss of a sequence, summed and per word, for these probabilities of the right words."""
    logits = torch.stack([p, 1 - p], dim=-1).log()[None]
    mean = functional.sequence_loss(logits, torch.zeros(1, len(p), dtype=torch.long), pad_id=-1)
    return torch.stack([len(p) * mean, mean])


def bleu(n):
    metric = BLEU(max_ngram_order=2, smooth_method="none", tokenize="none")
    found = metric.corpus_score([" ".join(n["out"])], [[" ".join(n["ref"])]])
    return torch.tensor([*found.precisions, found.score]) / 100


def smoothed(n):
    """The target is where the smoothed loss has its minimum: minus its gradient, plus the softmax."""
    logits = torch.zeros(1, 1, int(n["V"]), dtype=torch.double, requires_grad=True)
    loss = functional.sequence_loss(
        logits, torch.zeros(1, 1, dtype=torch.long), pad_id=-1, label_smoothing=n["s"].item()
    )
    (gradient,) = torch.autograd.grad(loss, logits)
    return (SOFT(logits, -1) - gradient)[0, 0, :2]


def warmed(n):
    """The paper's formula, as a share of its value at the end of the warm-up."""

    def rate(step):
        return 512**-0.5 * torch.minimum(step**-0.5, step * n["w"].double() ** -1.5)

    return torch.stack([rate(n["a"]), rate(n["b"])]) / rate(n["w"])


def three(n):
    source, target = int(n["N"]), int(n["M"])
    masks = [torch.ones(source, source), functional.causal_mask(target), torch.ones(target, source)]
    return torch.stack([mask.sum() for mask in masks])


def in_words(n, *words):
    """Every word as often as it occurs."""
    return [word for word, name in zip(words, "abcd", strict=False) for _ in range(int(n[name]))]


def pairs(n):
    text = in_words(n, "low", "lower", "newest", "wider")
    return [sum(word.count(pair) for word in text) for pair in ("lo", "we", "er")]


def joined(n):
    text = " ".join(in_words(n, "low", "newer", "wider"))
    return [len(text.replace(" ", "")), len(text.replace(" ", "").replace("er", "R"))]


def masked_words(n):
    """Over a grid of draws, so that the shares are exact."""
    words = torch.full((200,), 9)
    chosen = (torch.arange(200) + 0.5) / 200
    kept = torch.where(chosen < 0.15, (chosen / 0.15), 0.5)
    read, targets = data.mask_words(
        words, torch.stack([chosen, kept, torch.full((200,), 0.999)]), 4, 100
    )
    asked = targets != data.NOT_ASKED
    counts = [(read == 4) & asked, (read != 4) & (read != 9) & asked, (read == 9) & asked]
    return torch.stack([count.sum() for count in counts]) * n["n"] / 200


def adapted(n):
    layer = torch.nn.Linear(2, 2, bias=False).double()
    layer.weight.data.copy_(n["W"] + torch.outer(n["B"], n["A"]))
    return layer(n["x"]).detach()


def induced(n):
    """Where the last symbol stood before, by comparing it with all earlier ones."""
    *earlier, last = n["read"].tolist()
    place = max(i for i, symbol in enumerate(earlier) if symbol == last)
    return [place + 2, (earlier + [last])[place + 1]]


def in_one_row(n):
    mask = functional.causal_mask(int(n["N"] + n["T"]))
    return [mask.numel(), mask.sum()]


def advantage(n):
    right = torch.arange(int(n["K"])) < n["c"]
    every = functional.group_advantage(right.double()[None], eps=0.0)[0]
    return every[[0, -1]]


def halved(n):
    lengths, x = n["T"][None].long(), torch.zeros(1, int(n["T"]), 1)
    found = []
    for _ in range(3):
        x, lengths = functional.pair_neighbours(x, lengths)
        x = x[..., :1]
        found.append(lengths)
    return torch.cat(found)


def heard(n):
    log_p = torch.stack([n["q"], n["p"]], dim=-1).log()[:, None]
    one, three = torch.tensor([1]), torch.tensor([3])
    return torch.nn.functional.ctc_loss(log_p, one[None], three, one, reduction="sum").neg().exp()


def reward(n):
    scores = n["a"].log().requires_grad_()
    picked = functional.log_softmax(scores)[:1]
    loss = functional.policy_loss(picked, (n["R"] - n["b"])[None])
    return -torch.autograd.grad(loss, scores)[0]


def edits(n):
    error = metrics.word_error_rate([" ".join(n["out"])], [" ".join(n["ref"])])
    return [error.rate * len(n["ref"]), error.rate]


def patches(n):
    size = int(n["P"])
    image = torch.zeros(1, int(n["C"]), int(n["S"]), int(n["S"]))
    return list(functional.patches(image, size).shape[1:])


def both_layers(n):
    return functional.attention_rollout(torch.stack([n["A"], n["B"]])[None, :, None])


def perceptron(n):
    hidden = torch.relu(torch.nn.functional.linear(n["x"], n["W"], n["b"]))
    return torch.nn.functional.linear(hidden, n["v"][None], n["c"][None].double())


def parameters(n):
    block = course_nn.Block(int(n["D"]), heads=1, hidden=4 * int(n["D"]))
    rooms = block.self_attention, block.mlp
    return [sum(p.numel() for p in room.parameters()) for room in rooms]


def grouped(n):
    width = int(n["H"] * n["D"])
    layer = course_nn.MultiHeadAttention(width, int(n["H"]), groups=int(n["G"]))
    kept = layer.keys_values(torch.zeros(1, int(n["T"]), width))
    return int(n["L"]) * sum(part.numel() * 4 for part in kept)


def recurrent(n):
    old, w_ih, w_hh = n["h"].double()[None, None], n["w"][None], n["u"].double()[None, None]
    return functional.rnn_step(n["x"][None], old, w_ih, w_hh, n["b"].double()[None], old.new_zeros(1))


def windowed(scores):
    place = torch.tensor([1.5])
    shares = functional.softmax(scores[None], mask=functional.window_mask(place, 1, 4))
    return (shares * functional.gaussian_window(place, 1, 4))[0]


REFERENCES = {
    "05-context": lambda n: functional.weighted_sum(n["a"][None], n["h"][None])[0],
    "05-weights": lambda n: functional.softmax(n["e"]),
    "05-padding": lambda n: functional.softmax(n["e"], mask=torch.tensor([True, True, False])),
    "05-bell": lambda n: windowed(n["e"]),
    "06-scaled": lambda n: functional.dot_score(n["q"][None], n["x"][None, None]) / math.sqrt(4),
    "06-rows": lambda n: SOFT(n["E"], dim=1),
    "06-key": lambda n: torch.nn.functional.linear(n["x"], n["W"].T),
    "06-output": lambda n: functional.weighted_sum(SOFT(n["e"], 0)[None], n["V"][None])[0],
    "03-step": two_best,
    "03-length": lambda n: torch.stack([n["p"] / n["n"], n["r"] / n["m"]]),
    "03-nucleus": lambda n: SOFT(filter_logits(n["q"].log()[None], top_p=n["p"].item())[0], 0),
    "07-similar": lambda n: torch.einsum("id,jd->ij", n["X"], n["X"]),
    "07-position": lambda n: functional.sinusoidal_encoding(n["t"][None].float(), 4, base=100.0),
    "07-shift": lambda n: functional.shift_matrix(n["turn"].item(), 2) @ torch.stack([n["s"], n["c"]]),
    "07-window": reached,
    "08-row": lambda n: functional.softmax(n["e"].repeat(3, 1), mask=functional.causal_mask(3))[1],
    "08-count": masked,
    "08-cache": cached,
    "09-split": lambda n: course_nn.MultiHeadAttention(6, 2).double().split(n["x"][None])[0, 1, 0],
    "09-join": lambda n: torch.nn.functional.linear(n["h"], n["W"].T),
    "09-scale": lambda n: [n["D"] / n["H"], (n["D"] / n["H"]) ** 0.5],
    "01-step": recurrent,
    "01-clip": clipped,
    "01-lstm": lstm,
    "02-product": lambda n: torch.outer(*2 * [torch.stack([n["p"], 1 - n["p"]])]),
    "02-loss": lambda n: summed(n["p"]),
    "02-bleu": bleu,
    "04-teacher": lambda n: summed(n["t"].diagonal())[0].neg().exp(),
    "04-schedule": lambda n: inverse_sigmoid_decay(n["i"].item(), n["k"].item()),
    "04-gumbel": lambda n: functional.softmax(n["z"] / n["tau"]),
    "10-norm": lambda n: functional.layer_norm(
        n["h"], torch.ones(4).double(), torch.zeros(4).double(), eps=0
    ),
    "10-mlp": perceptron,
    "10-count": parameters,
    "10-pair": lambda n: functional.rotate(n["q"][None], torch.atan2(n["s"], n["c"])[None]),
    "10-rms": lambda n: functional.rms_norm(n["h"], torch.ones(2).double(), eps=0),
    "10-grouped": grouped,
    "11-smooth": smoothed,
    "11-warm": warmed,
    "11-three": three,
    "11-pairs": pairs,
    "11-join": joined,
    "12-masked": masked_words,
    "12-auxiliary": lambda n: -n["p"].log() + 0.5 * summed(n["q"])[1],
    "12-scale": lambda n: [
        n["N"] * sum(torch.zeros(4 * n["D"].long(), n["D"].long()).numel() for _ in range(3)),
        torch.nn.Embedding(int(n["V"]), int(n["D"])).weight.numel(),
    ],
    "12-lora": adapted,
    "12-rank": lambda n: [
        torch.zeros(int(n["r"]), int(n["n"])).numel() + torch.zeros(int(n["m"]), int(n["r"])).numel(),
        torch.zeros(int(n["m"]), int(n["n"])).numel(),
    ],
    "12-advantage": advantage,
    "12-induction": induced,
    "13-gate": lambda n: n["g"] * functional.weighted_sum(n["a"][None], n["h"][None])[0],
    "13-once": lambda n: functional.doubly_stochastic(n["a"][None], torch.ones(1, 3, dtype=torch.bool)),
    "13-reward": reward,
    "14-patches": patches,
    "14-places": lambda n: [n["H"] * n["W"], torch.ones(2 * [int(n["H"] * n["W"])]).numel()],
    "14-rollout": both_layers,
    "14-fit": lambda n: [SOFT(n["s"], 1)[0, 0], SOFT(n["s"], 0)[0, 0]],
    "14-row": in_one_row,
    "15-wer": edits,
    "15-pyramid": halved,
    "15-ctc": heard,
}
