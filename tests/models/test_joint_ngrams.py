"""Kneser-Ney and joint n-grams, against slow and plain ways to compute the same."""

import math
from collections import Counter, defaultdict

import pytest
import torch

from seqcourse.models import JointNgrams, KneserNey

CORPUS = ["abab", "abc", "bca", "aab", "c", "abab", "ccab", "bcab"]


def laid_out(words):
    """Sequences one behind the other, 0 before and 1 behind each; a is 2."""
    rows = [[0, *(ord(c) - ord("a") + 2 for c in word), 1] for word in words]
    places = [place for row in rows for place in range(len(row))]
    return rows, torch.tensor([token for row in rows for token in row]), torch.tensor(places)


class Plain:
    """The formula of the docstring, with dictionaries."""

    def __init__(self, rows, size, order):
        self.size = size
        raw = Counter(
            tuple(row[i : i + k])
            for row in rows
            for k in range(1, order + 1)
            for i in range(len(row) + 1 - k)
        )
        before = defaultdict(set)
        for gram in raw:
            before[gram[1:]].add(gram[0])
        self.count = {
            gram: n if len(gram) == order or gram[0] == 0 else len(before[gram])
            for gram, n in raw.items()
        }
        del self.count[(0,)]  # nothing comes before it, and it is never asked for
        self.discount = {}
        for k in range(1, order + 1):
            counts = Counter(n for gram, n in self.count.items() if len(gram) == k)
            self.discount[k] = counts[1] / (counts[1] + 2 * counts[2]) if counts[1] else 0.5

    def p(self, token, context):
        k = len(context) + 1
        shorter = self.p(token, context[1:]) if context else 1 / self.size
        after = {gram[-1]: n for gram, n in self.count.items() if gram[:-1] == context}
        total, discount = sum(after.values()), self.discount[k]
        if not total:
            return shorter
        own = max(after.get(token, 0) - discount, 0) / total
        return own + discount * len(after) / total * shorter


@pytest.mark.parametrize("order", [2, 3, 5, 9])
def test_kneser_ney_is_its_formula(order):
    rows, tokens, places = laid_out(CORPUS)
    model, plain = KneserNey(tokens, places, 6, order), Plain(rows, 6, order)
    asked, tokens, places = laid_out([*CORPUS, "cba", "bbbb", "accc", "dad"])
    found = iter(model.log_probs(tokens, places).tolist())
    for row in asked:
        assert next(found) == 0.0
        for i in range(1, len(row)):
            wanted = plain.p(row[i], tuple(row[max(0, i + 1 - order) : i]))
            assert next(found) == pytest.approx(math.log(wanted))


@pytest.mark.parametrize("context", [[0], [0, 2], [0, 2, 3, 2], [0, 5, 5], [0, 3, 4, 2, 3]])
def test_probabilities_sum_to_one(context):
    _, tokens, places = laid_out(CORPUS)
    model = KneserNey(tokens, places, 6, 4)
    rows = torch.tensor([[*context, token] for token in range(6)])
    places = torch.arange(rows.shape[1]).repeat(6)
    last = model.log_probs(rows.flatten(), places).view(6, -1)[:, -1]
    assert last.exp().sum().item() == pytest.approx(1.0)


def test_what_kneser_ney_needs():
    with pytest.raises(ValueError, match="two rows of one length"):
        KneserNey(torch.tensor([0, 1]), torch.tensor([0]), 2, 2)
    with pytest.raises(ValueError, match="no sequence has a second token"):
        KneserNey(torch.tensor([0, 0]), torch.tensor([0, 0]), 2, 2)
    with pytest.raises(ValueError, match="between 0 and 1"):
        KneserNey(torch.tensor([0, 2]), torch.tensor([0, 1]), 2, 2)
    with pytest.raises(ValueError, match="order should be at least 2"):
        KneserNey(torch.tensor([0, 1]), torch.tensor([0, 1]), 2, 1)


# A toy spelling: a, b, c, d and "ee"; c sounds as two, a last e is silent.
SOUNDS = {"a": [1], "b": [2], "c": [3, 4], "d": [5], "ee": [6]}


def toy():
    """Words of three of these, spelt with a = 1 ... e = 5, and what they sound like."""
    words = [x + y + z for x in SOUNDS for y in SOUNDS for z in SOUNDS] + ["abe", "dabe", "cade"]
    pairs = []
    for word in words:
        sounds, rest = [], word[:-1] if word in {"abe", "dabe", "cade"} else word
        while rest:
            piece = "ee" if rest.startswith("ee") else rest[0]
            sounds, rest = [*sounds, *SOUNDS[piece]], rest[len(piece) :]
        pairs.append(([ord(c) - ord("a") + 1 for c in word], sounds))
    return zip(*pairs, strict=True)


@pytest.fixture(scope="module")
def model():
    made = JointNgrams(6, 7, order=3)
    made.learn_units(*toy(), rounds=8)
    made.count(*toy())
    return made


def test_learning_never_makes_the_pairs_less_likely(model):
    assert len(model.rounds) == 8
    learned = model.rounds[1:]  # the first ones are no probabilities yet
    assert all(later >= earlier - 1e-4 for earlier, later in zip(learned, learned[1:], strict=False))
    assert learned[-1] > learned[0] + 0.5


def test_it_reads_what_it_was_never_told(model):
    assert model.read([3, 1, 3, 4])[0][0] == [3, 4, 1, 3, 4, 5]  # c a c d
    assert model.read([2, 5, 5, 1, 2])[0][0] == [2, 6, 1, 2]  # b ee a b
    assert model.read([9]) == []


def test_where_it_cuts(model):
    assert model.cut([3, 1, 5, 5], [3, 4, 1, 6]) == [((3,), (3, 4)), ((1,), (1,)), ((5, 5), (6,))]
    for source, target in zip(*toy(), strict=True):
        units = model.cut(source, target)
        assert [i for letters, _ in units for i in letters] == source
        assert [i for _, sounds in units for i in sounds] == target
    with pytest.raises(ValueError, match="cannot be cut into units"):
        model.cut([1], [1, 2, 3])


def test_the_best_of_what_is_read_is_judged_alike(model):
    """Cut in the likeliest way, with n = 1 or with n: on these words it is the same."""
    for word in ([3, 1, 4], [1, 5, 5, 2], [4, 4]):
        found = model.read(word, n_best=3)
        values = model.log_probs([word] * len(found), [target for target, _ in found])
        assert values[0].item() == pytest.approx(found[0][1])
        scores = [value for _, value in found]
        assert scores == sorted(scores, reverse=True)
        assert all(value <= score + 1e-9 for value, score in zip(values.tolist(), scores, strict=True))


def test_what_cannot_be_asked(model):
    with pytest.raises(ValueError, match="call count"):
        JointNgrams(6, 7).read([1])
    with pytest.raises(ValueError, match="call count"):
        JointNgrams(6, 7).log_probs([[1]], [[1]])
    with pytest.raises(ValueError, match="order should be at least 2, but it is 1"):
        JointNgrams(6, 7, order=1)
    with pytest.raises(ValueError, match="n_best and beam should be at least 1, but are 0 and 20"):
        model.read([1], n_best=0)


def test_company_does_not_change_what_is_judged(model):
    sources, targets = map(list, toy())
    together = model.log_probs(sources, targets)
    for i in range(0, len(sources), 17):
        assert model.log_probs([sources[i]], [targets[i]])[0] == pytest.approx(together[i].item())
    short = [[1], [1], [1], [2]], [[1], [2], [2], [2]]  # one letter each: shorter than the padding
    alone = [model.log_probs([x], [y]).item() for x, y in zip(*short, strict=True)]
    assert model.log_probs(*short).tolist() == pytest.approx(alone)
    with torch.inference_mode():
        torch.testing.assert_close(model.log_probs(sources, targets), together)


def test_pairs_that_cannot_be_cut(model):
    values = model.log_probs([[1], [1, 2], [1]], [[1, 2, 3], [1, 2], [1]])
    assert values[0] == -math.inf and values[1:].isfinite().all()
    assert model.log_probs([[1]], [[1, 2, 3]]).tolist() == [-math.inf]
    assert model.log_probs([], []).tolist() == []
    with pytest.raises(ValueError, match="No pair can be cut"):
        JointNgrams(6, 7).learn_units([[1]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="No pair can be cut"):
        JointNgrams(6, 7).count([[1]], [[1, 2, 3]])
