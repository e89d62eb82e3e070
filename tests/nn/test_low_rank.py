"""Adapters: they begin as nothing, only they learn, and merged weights compute the same."""

import pytest
import torch

from seqcourse import models
from seqcourse.nn.low_rank import LowRank, adapt, merge


@pytest.fixture
def model():
    torch.manual_seed(0)
    return models.GPT(11, width=16, heads=2, layers=2, longest=8).eval()


@pytest.fixture
def tokens():
    return torch.randint(11, (3, 8), generator=torch.Generator().manual_seed(1))


def learn(model, tokens):
    """A few steps; returns which parameters moved."""
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.SGD(learning, lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        models_loss = model(tokens[:, :-1]).logits.log_softmax(-1)
        (-models_loss.gather(-1, tokens[:, 1:, None]).mean()).backward()
        optimizer.step()
    return {name for name, weight in model.named_parameters() if not torch.equal(weight, before[name])}


def test_a_matrix_by_hand():
    change = LowRank(torch.zeros(2, 3), rank=1, alpha=2.0)
    with torch.no_grad():
        change.a.copy_(torch.tensor([[1.0, 2.0, 3.0]]))
        change.b.copy_(torch.tensor([[1.0], [-1.0]]))
    expected = torch.tensor([[3.0, 4.0, 5.0], [-1.0, -4.0, -7.0]])
    weight = torch.tensor([[1.0, 0, -1], [1, 0, -1]])
    torch.testing.assert_close(change(weight).detach(), expected)


def test_an_adapter_begins_as_nothing_and_only_adapters_learn(model, tokens):
    before = model(tokens).logits
    count = models.number_of_parameters(model)
    adapt(model, rank=2)
    torch.testing.assert_close(model(tokens).logits, before)
    moved = learn(model, tokens)
    assert moved and all(name.endswith((".a", ".b")) for name in moved)
    # Two matrices (48 and 16 rows) of the attention and two of the MLP, in two blocks.
    assert models.number_of_parameters(model) - count == 2 * 2 * (48 + 16 + 16 + 16 + 64 + 16 + 16 + 64)


def test_merged_weights_compute_the_same_without_an_adapter(model, tokens):
    names = set(model.state_dict())
    old = {name: weight.clone() for name, weight in model.state_dict().items()}
    adapt(model, rank=3)
    learn(model, tokens)
    with torch.no_grad():
        adapted = model(tokens).logits
        merge(model)
        torch.testing.assert_close(model(tokens).logits, adapted)
    assert set(model.state_dict()) == names
    change = model.blocks[0].mlp.inner.weight - old["blocks.0.mlp.inner.weight"]
    assert torch.linalg.matrix_rank(change.detach(), atol=1e-5) == 3
    assert torch.equal(model.embedding, old["embedding"])


@pytest.mark.parametrize("rank", [0, 17])
def test_a_rank_that_does_not_fit_is_refused(model, rank):
    with pytest.raises(ValueError, match=f"from 1 to 16, but is {rank}"):
        adapt(model, rank)
