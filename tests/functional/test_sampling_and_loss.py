"""The Gumbel trick draws from the softmax; the loss is the negative log-likelihood."""

import math

import pytest
import torch

from seqcourse import functional as F


def test_gumbel_max_draws_from_the_softmax():
    """Frequencies of 40,000 draws stay within four standard errors of the probabilities."""
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    n = 40_000
    draws = F.gumbel_max(logits.expand(n, 4), torch.Generator().manual_seed(3))
    p = torch.softmax(logits, -1)
    error = (p * (1 - p) / n).sqrt()
    frequency = torch.bincount(draws, minlength=4) / n
    assert torch.all((frequency - p).abs() < 4 * error)


def test_gumbel_noise_goes_where_it_is_wanted_whatever_the_generators_device():
    """The device without storage stands for a GPU here."""
    noise = F.gumbel_noise((2, 3), generator=torch.Generator(), device=torch.device("meta"))
    assert noise.device.type == "meta"


def test_gumbel_noise_has_the_gumbel_mean_and_variance():
    noise = F.gumbel_noise((200_000,), generator=torch.Generator().manual_seed(0))
    assert noise.mean().item() == pytest.approx(0.5772, abs=0.02)  # Euler's constant
    assert noise.var().item() == pytest.approx(math.pi**2 / 6, abs=0.05)


def test_gumbel_softmax_between_one_hot_and_uniform():
    logits = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    draw = lambda t: F.gumbel_softmax(logits, t, torch.Generator().manual_seed(1))  # noqa: E731
    hard = F.gumbel_max(logits, torch.Generator().manual_seed(1))
    cold = draw(1e-4)
    torch.testing.assert_close(cold, torch.nn.functional.one_hot(hard, 5).float())
    torch.testing.assert_close(draw(1e6), torch.full((6, 5), 0.2), atol=1e-4, rtol=0)


def test_gumbel_softmax_lets_gradients_through_and_max_does_not():
    logits = torch.randn(3, 4, requires_grad=True)
    F.gumbel_softmax(logits, 0.7)[:, 0].sum().backward()
    assert logits.grad.abs().sum() > 0
    assert not F.gumbel_max(logits).is_floating_point()


@pytest.mark.parametrize("temperature", [0.0, -1.0])
def test_temperature_must_be_positive(temperature):
    with pytest.raises(ValueError, match="temperature above 0"):
        F.gumbel_softmax(torch.zeros(2), temperature)


def test_loss_counts_real_words_only():
    logits = torch.randn(2, 4, 6, dtype=torch.float64)
    targets = torch.tensor([[4, 5, 2, 0], [3, 2, 0, 0]])
    log_p = F.log_softmax(logits)
    real = [(b, t) for b in range(2) for t in range(4) if targets[b, t] != 0]
    expected = -sum(log_p[b, t, targets[b, t]] for b, t in real) / len(real)
    torch.testing.assert_close(F.sequence_loss(logits, targets), expected)
    logits[1, 2:] = 1e3  # at padding anything may stand
    torch.testing.assert_close(F.sequence_loss(logits, targets), expected)


def test_label_smoothing_spreads_evenly():
    logits, targets, epsilon = (
        torch.randn(1, 3, 5, dtype=torch.float64),
        torch.tensor([[4, 1, 2]]),
        0.2,
    )
    wanted = torch.full((3, 5), epsilon / 5, dtype=torch.float64)
    wanted[torch.arange(3), targets[0]] += 1 - epsilon
    expected = -(wanted * F.log_softmax(logits[0])).sum(-1).mean()
    torch.testing.assert_close(F.sequence_loss(logits, targets, label_smoothing=epsilon), expected)


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, math.nan])
def test_a_smoothing_that_is_no_share_is_refused(smoothing):
    with pytest.raises(ValueError, match="label_smoothing should be at least 0 and below 1"):
        F.sequence_loss(torch.zeros(1, 2, 5), torch.ones(1, 2, dtype=torch.int64), 0, smoothing)


def test_targets_outside_the_vocabulary_are_named():
    with pytest.raises(ValueError, match="ids from 0 to 4, one for each logit, but they go from 1 to 7"):
        F.sequence_loss(torch.zeros(1, 2, 5), torch.tensor([[1, 7]]))


def test_loss_says_which_shapes_disagree():
    with pytest.raises(ValueError, match=r"\(2, 3, 5\).*\(2, 4\)"):
        F.sequence_loss(torch.zeros(2, 3, 5), torch.zeros(2, 4, dtype=torch.int64))
