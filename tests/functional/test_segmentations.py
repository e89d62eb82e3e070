"""All ways to cut two sequences together, against writing them down one by one."""

import math

import pytest
import torch

from seqcourse import functional as F

STEPS = ((1, 0), (1, 1), (1, 2), (2, 1))


def ways(source, target, at=(0, 0)):
    """Every way to get from a place to the end: a list of (kind, t, s)."""
    if at == (source, target):
        return [[]]
    t, s = at
    return [
        [(kind, t, s), *rest]
        for kind, (a, b) in enumerate(STEPS)
        if t + a <= source and s + b <= target
        for rest in ways(source, target, (t + a, s + b))
    ]


def random_weights(batch, source, target, dtype=torch.float64):
    generator = torch.Generator().manual_seed(source * 10 + target)
    shapes = [(batch, source + 1 - a, target + 1 - b) for a, b in STEPS]
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


@pytest.mark.parametrize(("source", "target"), [(2, 2), (3, 4), (5, 3), (4, 6), (6, 2)])
def test_sum_and_best_of_all_ways(source, target):
    weights = random_weights(1, source, target)
    lengths = torch.tensor([source]), torch.tensor([target])
    values = [sum(weights[k][0, t, s].item() for k, t, s in way) for way in ways(source, target)]
    assert len(values) > 1
    together = F.log_segmentations(weights, STEPS, *lengths)
    assert together.item() == pytest.approx(math.log(sum(map(math.exp, values))))
    assert F.log_segmentations(weights, STEPS, *lengths, best=True).item() == pytest.approx(max(values))


def test_the_gradient_is_the_share_of_the_ways():
    weights = [w.requires_grad_() for w in random_weights(1, 4, 3)]
    lengths = torch.tensor([4]), torch.tensor([3])
    shares = torch.autograd.grad(F.log_segmentations(weights, STEPS, *lengths), weights)
    chances = [(math.exp(sum(weights[k][0, t, s].item() for k, t, s in way)), way) for way in ways(4, 3)]
    total = sum(chance for chance, _ in chances)
    for kind, share in enumerate(shares):
        for t in range(share.shape[1]):
            for s in range(share.shape[2]):
                wanted = sum(chance for chance, way in chances if (kind, t, s) in way) / total
                assert share[0, t, s].item() == pytest.approx(wanted, abs=1e-12)
    taken = torch.autograd.grad(F.log_segmentations(weights, STEPS, *lengths, best=True), weights)
    best = max(chances)[1]
    found = [tuple(map(int, (k, t, s))) for k, share in enumerate(taken) for _, t, s in share.nonzero()]
    assert sorted(found) == sorted(best)


def test_company_of_other_lengths_changes_nothing():
    weights = random_weights(3, 5, 6)
    lengths = torch.tensor([5, 3, 4]), torch.tensor([6, 2, 5])
    together = F.log_segmentations(weights, STEPS, *lengths)
    for row, (source, target) in enumerate(zip(*map(torch.Tensor.tolist, lengths), strict=True)):
        own = [
            w[row : row + 1, : source + 1 - a, : target + 1 - b]
            for w, (a, b) in zip(weights, STEPS, strict=True)
        ]
        alone = F.log_segmentations(own, STEPS, torch.tensor([source]), torch.tensor([target]))
        torch.testing.assert_close(alone[0], together[row])


def test_where_there_is_no_way():
    """Five target tokens need three source tokens; the gradient stays a number."""
    weights = [w.requires_grad_() for w in random_weights(2, 3, 5)]
    found = F.log_segmentations(weights, STEPS, torch.tensor([2, 3]), torch.tensor([5, 5]))
    assert found[0] < F.IMPOSSIBLE / 2 < found[1]
    for share in torch.autograd.grad(found[1], weights):
        assert share[0].count_nonzero() == 0 and share.isfinite().all()
    pieces = [torch.zeros(1, 3, 3)]  # two source tokens and one target token each
    lengths = torch.tensor([4]), torch.tensor([2])
    assert F.log_segmentations(pieces, ((2, 1),), *lengths).item() == 0.0
    assert F.log_segmentations([torch.zeros(1, 2, 3)], ((2, 1),), torch.tensor([3]), lengths[1]) < -5e3
    with pytest.raises(ValueError, match="a token of the source"):
        F.log_segmentations(weights[:1], ((0, 1),), torch.tensor([2]), torch.tensor([2]))
