"""A pair of encoders and its loss."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from seqcourse import functional as F
from seqcourse.models import ContrastivePair

WORDS, LENGTHS = torch.tensor([[1, 7, 8, 9], [1, 5, 0, 0], [1, 6, 4, 0]]), torch.tensor([4, 2, 3])


@pytest.fixture
def grids():
    return torch.randn(3, 9, 16, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def pair():
    torch.manual_seed(0)
    return ContrastivePair(12, width=16, heads=2, layers=2).eval()


def test_a_pair_compares_unit_vectors_of_pictures_and_captions(pair, grids):
    pictures, texts = pair.see(grids), pair.read(WORDS, LENGTHS)
    for vectors in (pictures, texts):
        torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3))
    torch.testing.assert_close(pair(grids, WORDS, LENGTHS), pictures @ texts.T / 0.07)
    pair.log_scale.data.fill_(9.0)
    assert pair.scale().item() == pytest.approx(100)


def test_padding_of_captions_changes_nothing(pair, grids):
    alone = pair(grids, WORDS[1:2, :2], LENGTHS[1:2])
    torch.testing.assert_close(pair(grids, WORDS, LENGTHS)[:, 1:2], alone)


def test_every_part_of_a_pair_is_trained(pair, grids):
    F.contrastive_loss(pair(grids, WORDS, LENGTHS)).backward()
    silent = [name for name, p in pair.named_parameters() if p.grad is None or not p.grad.any()]
    assert not silent


def test_contrastive_loss_by_hand_and_with_captions_of_no_picture():
    logits = torch.tensor([[2.0, 0.0, 1.0], [1.0, 3.0, -1.0]])
    own = torch.arange(2)
    expected = (cross_entropy(logits, own) + cross_entropy(logits[:, :2].T, own)) / 2
    torch.testing.assert_close(F.contrastive_loss(logits), expected)
    assert F.contrastive_loss(torch.zeros(8, 8)).item() == pytest.approx(torch.tensor(8.0).log().item())
    with pytest.raises(ValueError, match="a caption for each picture"):
        F.contrastive_loss(logits.T)
