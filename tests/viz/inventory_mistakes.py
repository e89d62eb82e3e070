"""What each mistake makes of the cases that the inventory asks about, computed."""

from __future__ import annotations

from fractions import Fraction

import torch
from torch.nn import functional

from seqcourse.viz.inventory import RIGHT

AFTER, NOTHING_HIDDEN = "ps3/attend: masked after the softmax", "ps5/causal_mask: everything allowed"
ZERO = "ps3/attend: 0 in place of minus infinity"
QUERIES, BATCH = (f"ps4/SelfAttention: softmax over the {axis}" for axis in ("queries", "batch"))
NO_SOFTMAX, DIVIDED = "ps4/SelfAttention: no softmax", "ps4/SelfAttention: divided by D_Q"
HIGHEST, UNUSED = (
    "ps3/attend: the state with the highest weight",
    "ps8/Captioner: the weights are not used",
)
BACK, ORDER = "ps4/SelfAttention: looks back only", "ps6/Transformer: no positions"
RAW = "ps4/SelfAttention: the weights in place of the outputs"


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def row(mask: torch.Tensor) -> str:
    return " ".join(str(int(seen)) for seen in mask)


def shape(tensor: torch.Tensor) -> str:
    return " x ".join(map(str, tensor.shape))


def causal(n: int, at: int) -> dict[str, str]:
    allowed = torch.ones(n, n, dtype=torch.bool)
    rows = {
        "ps4/SelfAttention: not itself": allowed.tril(-1),
        RIGHT: allowed.tril(),
        "ps6/decoder_block: the causal mask turned round": allowed.triu(),
        NOTHING_HIDDEN: allowed,
    }
    return {mistake: row(mask[at - 1]) for mistake, mask in rows.items()}


def padding(n: int, real: int, at: int) -> dict[str, str]:
    words = (torch.arange(n) < real).expand(n, n)
    rows = {
        RIGHT: words,
        BACK: words & torch.ones(n, n, dtype=torch.bool).tril(),
        "ps3/attend: padding is attended to": torch.ones(n, n, dtype=torch.bool),
        "ps5/attention: the wrong way round": ~words,
    }
    return {mistake: row(mask[at - 1]) for mistake, mask in rows.items()}


def hide(*exponentials: int) -> dict[str, str]:
    """The last position is hidden."""
    scores = torch.tensor(exponentials, dtype=torch.float64).log()
    hidden, zero = scores.clone(), scores.clone()
    hidden[-1], zero[-1] = -torch.inf, 0
    after = scores.softmax(0)
    after[-1] = 0
    found = {
        RIGHT: hidden.softmax(0),
        AFTER: after,
        NOTHING_HIDDEN: scores.softmax(0),
        ZERO: zero.softmax(0),
    }
    return {mistake: ", ".join(map(fraction, weights)) for mistake, weights in found.items()}


def fraction(number: torch.Tensor) -> str:
    return str(Fraction(number.item()).limit_denominator(50))


def table(batch: int, heads: int, width: int, asked: int, asks: int) -> dict[str, str]:
    q, k = drawn(batch, heads, asks, width), drawn(batch, heads, asked, width)
    weights = (q @ k.mT).softmax(-1)
    return {
        RIGHT: shape(weights),
        "ps5/multi_head: no heads at all": shape(weights.mean(1)),
        "ps5/multi_head: queries of the memory": shape(k @ q.mT),
        RAW: shape(functional.scaled_dot_product_attention(q, k, k)),
    }


def contexts(batch: int, n: int, width: int) -> dict[str, str]:
    a, h = drawn(batch, n).softmax(1), drawn(batch, n, width)
    return {
        RIGHT: shape(torch.einsum("bn,bnd->bd", a, h)),
        "ps3/context: the batch mixed in einsum": shape(torch.einsum("bn,bnd->nd", a, h)),
        RAW: shape(a),
        "poll 05-context: One per source word": shape(h.flatten(0, 1)),
    }


def heads(words: list[str], head: int) -> dict[str, str]:
    """The two heads of words that are written as "a b c d"."""
    codes = torch.arange(4 * len(words)).view(len(words), 4)
    signs = [sign for word in words for sign in word.split()]
    found = {
        RIGHT: codes.view(len(words), 2, 2).transpose(0, 1)[head],
        "ps5/split_heads: reshape without transpose": codes.view(2, len(words), 2)[head],
        "ps5/multi_head: one head as wide as all": codes,
    }
    texts = {
        mistake: [f"`{' '.join(signs[code] for code in line)}`" for line in rows.tolist()]
        for mistake, rows in found.items()
    }
    return {mistake: f"{', '.join(text[:-1])} and {text[-1]}" for mistake, text in texts.items()}


def zeros(batch: int, asks: int, asked: int, score: float, said: str) -> dict[str, str]:
    scores = torch.full((batch, asks, asked), score, dtype=torch.float64)
    over = {RIGHT: 2, QUERIES: 1, BATCH: 0}
    found = {mistake: fraction(scores.softmax(axis)[0, 0, 0]) for mistake, axis in over.items()}
    return {
        mistake: said.format(weight) for mistake, weight in (found | {NO_SOFTMAX: f"{score:g}"}).items()
    }


def vocabulary(batch: int, steps: int, words: int, logit: float) -> dict[str, str]:
    logits = torch.full((batch, steps, words), logit, dtype=torch.float64)
    over = {
        RIGHT: 2,
        "ps7/masked_word_loss: softmax over the places": 1,
        "ps1/draw: softmax over the batch": 0,
    }
    found = {mistake: -logits.log_softmax(axis)[0, 0, 0] for mistake, axis in over.items()}
    taken = {"ps7/masked_word_loss: logits for log-probabilities": f"{-logit:g}".replace("-", "−")}
    return {mistake: f"ln {loss.exp():.0f}" for mistake, loss in found.items()} | (
        taken if logit else {mistake: "0" for mistake in taken}
    )


def context(weights: list[float], values: list[float]) -> dict[str, str]:
    a, v = torch.tensor(weights), torch.tensor(values, dtype=torch.float32)
    found = {
        RIGHT: a @ v,
        HIGHEST: v[a.argmax()],
        UNUSED: v.mean(),
        "ps3/attend: the mean in place of the sum": a @ v / len(v),
    }
    return {mistake: f"{value.item():g}" for mistake, value in found.items()}


def term(weights: list[float], values: list[float], names: list[str]) -> dict[str, str]:
    a, v = torch.tensor(weights), torch.tensor(values, dtype=torch.float32)
    return {mistake: names[x.argmax()] for mistake, x in {RIGHT: a * v, HIGHEST: a, UNUSED: v}.items()}


def order(links: list[set[int]], at: int, said: list[str]) -> dict[str, str]:
    """``links[row]`` holds the columns of a row; rows, columns and ``at`` count from 1."""
    (column,), (target,) = links[at - 1], [row for row, found in enumerate(links, 1) if at in found]
    found = {
        RIGHT: column,
        "ps3/better_links: the diagonal": at,
        "ps3/better_links: the pair turned round": target,
    }
    return {mistake: said[place - 1] for mistake, place in found.items()}


def path(first: list[float], second: list[float], names: list[str]) -> dict[str, str]:
    one, two = torch.tensor(first), torch.tensor(second)
    found = {
        RIGHT: one * two,
        "ps2/beam_search: one path only": one,
        "ps2/beam_search: probabilities are added up": one + two,
    }
    return {mistake: f"with *{names[score.argmax()]}*" for mistake, score in found.items()}


def temperature(first: float, tau: float, both: bool) -> dict[str, str]:
    p = torch.tensor([first, 1 - first], dtype=torch.float64)
    found = {
        RIGHT: (p.log() / tau).softmax(0),
        "ps1/draw: multiplies by the temperature": (p.log() * tau).softmax(0),
        "ps1/draw: the temperature comes after the softmax": p / tau / (p / tau).sum(),
    }
    texts = {mistake: [f"{x:.2f}" for x in p] for mistake, p in found.items()}
    return {mistake: " and ".join(text if both else text[:1]) for mistake, text in texts.items()}


def length(outputs: dict[str, tuple[int, float]]) -> dict[str, str]:
    """Outputs with their numbers of symbols and their log-probabilities."""
    scores = {
        RIGHT: lambda n, s: s / n,
        "ps2/beam_search: the length is not used": lambda n, s: s,
        "ps2/beam_search: times the length": lambda n, s: s * n,
    }
    found = {}
    for mistake, score in scores.items():
        (best, name), (other, _) = sorted(
            ((score(*output), name) for name, output in outputs.items()), reverse=True
        )
        found[mistake] = f"{name}: {best:.1f} beats {other:.1f}".replace("-", "−")
    return found


def spread(width: int, said: dict[str, float]) -> dict[str, str]:
    q, k = drawn(2, 20_000, width)
    measured = (q * k).sum(1).std().item()
    found = {
        RIGHT: measured / width,
        "ps4/SelfAttention: not divided": measured,
        DIVIDED: measured / width**0.5,
    }
    (texts,) = [list(said)]
    return {m: next(text for text in texts if abs(said[text] / x - 1) < 0.05) for m, x in found.items()}


def divisor(inputs: int, keys: int, values: int) -> dict[str, str]:
    found = {
        RIGHT: keys**0.5,
        "ps4/SelfAttention: the root of D_X": inputs**0.5,
        "ps4/SelfAttention: the root of D_V": values**0.5,
        DIVIDED: keys,
    }
    return {mistake: f"{round(value, 1):g}" for mistake, value in found.items()}


def moved(places: list[int], said: str, names: str | list[str]) -> dict[str, str]:
    """Which outputs come out when the vectors at these places are the input."""
    x = drawn(4, 8)
    y, now = attention(x), attention(x[places])
    back = torch.tensor(places).argsort().tolist()
    assert torch.allclose(now, y[places]) and not torch.allclose(now, y[back])
    assert torch.allclose(now.mean(0), y.mean(0)) and not torch.allclose(now, y)
    found = {
        RIGHT: places,
        "ps4/equivariance_gap: the outputs moved the other way": back,
        "ps4/SelfAttention: the mean of the outputs": [0, 1, 2, 3],
    }
    return {m: said.format(*(names[place] for place in order)) for m, order in found.items()}


def attention(x: torch.Tensor, is_causal: bool = False) -> torch.Tensor:
    w = drawn(3, x.shape[-1], x.shape[-1]) / x.shape[-1]  # weights that are not all 0 and 1
    return functional.scaled_dot_product_attention(*(x @ w), is_causal=is_causal)


def mean(*losses: list[float]) -> dict[str, str]:
    longest, total = max(map(len, losses)), sum(map(sum, losses))
    found = {
        RIGHT: total / sum(map(len, losses)),
        "ps2/translation_loss: fault 3 is left, padding counts in the mean": total
        / longest
        / len(losses),
        "ps2/translation_loss: the mean of the sentences' means": sum(sum(x) / len(x) for x in losses)
        / len(losses),
        "ps7/masked_word_loss: a sum": total,
    }
    return {mistake: f"{round(value, 2):g}" for mistake, value in found.items()}


def place(before: int, fed: int) -> dict[str, str]:
    found = {
        RIGHT: before + fed - 1,
        "ps6/Transformer: every step at position 0": 0,
        "ps5/decoder: a place too far": before + fed,
    }
    return {mistake: str(position) for mistake, position in found.items()}


def ends(*said: str, mark: str) -> dict[str, str]:
    """What greedy decoding returns for rows of words with an <eos> in each."""
    rows = [line.split() for line in said]
    first = min(line.index("<eos>") for line in rows) + 1  # the step in which both have written a word
    found = {
        RIGHT: [line[: line.index("<eos>")] for line in rows],
        "ps2/greedy: stops when the first row ends": [line[:first] for line in rows],
        "ps2/greedy: goes on after <eos>": rows,
    }
    found = {m: [[word for word in line if word != "<eos>"] for line in out] for m, out in found.items()}
    return {m: " and ".join(f"{mark}{' '.join(line)}{mark}" for line in out) for m, out in found.items()}


# What the options have to be. In form A some masks are written as words or places.
SEEN = {
    "1 1 0 0": "we, are",
    "1 1 1 0": "we, are, eating",
    "0 0 1 1": "eating, bread",
    "1 1 1 1": "all four",
}
ALLOWED = {"1 1 0 0": "1 and 2", "1 0 0 0": "only 1", "1 1 1 1": "1 to 4", "0 0 1 1": "3 and 4"}
COMPUTED = {
    ("a", "causal"): {m: SEEN[text] for m, text in causal(4, 3).items()},
    ("b", "causal"): causal(5, 2),
    ("a", "padding"): {m: ALLOWED[text] for m, text in padding(4, 2, 1).items()},
    ("b", "padding"): padding(5, 3, 2),
    ("a", "hide"): hide(2, 1, 1, 4),
    ("b", "hide"): hide(3, 1, 4),
    ("a", "table"): table(8, 4, 16, asked=10, asks=6),
    ("b", "table"): table(2, 3, 5, asked=49, asks=12),
    ("a", "contexts"): contexts(3, 5, 8),
    ("b", "contexts"): contexts(10, 64, 32),
    ("a", "heads"): heads(["a b c d", "e f g h"], 0),
    ("b", "heads"): heads(["1 2 3 4", "5 6 7 8", "9 10 11 12"], 1),
    ("a", "zeros"): zeros(5, 2, 4, 0.0, "{}"),
    ("b", "zeros"): zeros(3, 6, 2, 7.0, "all are {}"),
    ("a", "vocabulary"): vocabulary(2, 3, 4, 0.0),
    ("b", "vocabulary"): vocabulary(32, 50, 100, 2.0),
    ("a", "context"): context([1 / 2, 1 / 4, 1 / 4], [0, 4, 8]),
    ("b", "context"): context([0.1, 0.2, 0.3, 0.4], [10, 0, 0, 20]),
    ("a", "term"): term([0.7, 0.2, 0.1], [1, 6, 8], ["the first", "the second", "the third"]),
    ("b", "term"): term([0.6, 0.3, 0.1], [2, 5, 9], ["*we*", "*eat*", "*bread*"]),
    ("a", "order"): order([{4}, {2}, {1}, {3}], 1, [f"in column {n}" for n in range(1, 5)]),
    ("b", "order"): order([{4}, {2, 3}, {1}], 3, ["the first", "the second", "the third"]),
    ("a", "path"): path([0.45, 0.35, 0.2], [0.5, 0.7, 1], ["a", "b", "c"]),
    ("b", "path"): path([0.5, 0.3, 0.2], [0.4, 0.8, 1], ["yes", "no", "perhaps"]),
    ("a", "temperature"): temperature(0.8, 1 / 2, both=True),
    ("b", "temperature"): temperature(0.9, 2, both=False),
    ("a", "length"): length({"the short one": (2, -1.2), "the long one": (4, -1.6)}),
    ("b", "length"): length({"X": (6, -2.4), "Y": (3, -1.5)}),
    ("a", "spread"): spread(64, {"8": 8, "1": 1, "1/8": 1 / 8}),
    ("b", "spread"): spread(100, {"10": 10, "1": 1, "0.1": 0.1}),
    ("a", "divisor"): divisor(512, 64, 128),
    ("b", "divisor"): divisor(300, 36, 100),
    ("a", "moved"): moved([2, 0, 1, 3], "$y_{}, y_{}, y_{}, y_{}$", "1234"),
    ("b", "moved"): moved([3, 0, 1, 2], "that of *{}*", "we are eating bread".split()),
    ("a", "mean"): mean([2, 2], [1, 1, 1, 1]),
    ("b", "mean"): mean([4], [2, 2, 2]),
    ("a", "place"): place(7, 1),
    ("b", "place"): place(12, 2),
    ("a", "ends"): ends("la casa <eos> roja roja", "el perro come pan <eos>", mark="*"),
    ("b", "ends"): ends("B AA K S <eos>", "AY <eos> T T T", mark=""),
}
