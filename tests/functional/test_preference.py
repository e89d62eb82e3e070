"""Preferences and rewards, by hand and by what their gradients should be."""

import math

import pytest
import torch

from seqcourse.functional import dpo_loss, group_advantage, policy_loss


def test_a_model_that_has_not_moved_loses_log_2():
    answers = torch.tensor([-3.0, -7.0, -1.0])
    assert dpo_loss(answers, answers - 2, answers, answers - 2).item() == pytest.approx(math.log(2))


def test_one_pair_by_hand():
    """The better answer is 2 nats likelier than before, the worse one 1 nat: 0.5 (2 - 1)."""
    loss = dpo_loss(*(torch.tensor([x]) for x in (-3.0, -4.0, -5.0, -5.0)), beta=0.5)
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-0.5)))


def test_dpo_pulls_the_two_answers_apart_with_equal_force():
    chosen = torch.tensor([-3.0, -2.0], requires_grad=True)
    rejected = torch.tensor([-1.0, -2.5], requires_grad=True)
    dpo_loss(chosen, rejected, chosen.detach() - 1, rejected.detach(), beta=0.3).backward()
    assert (chosen.grad < 0).all()
    torch.testing.assert_close(chosen.grad, -rejected.grad)
    wrong = torch.sigmoid(torch.tensor(-0.3))  # how sure the pair is still taken the wrong way
    torch.testing.assert_close(chosen.grad, (-0.3 * wrong / 2).expand(2))


def test_advantages_are_standard_scores_of_a_group():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 4.0]])
    found = group_advantage(rewards, eps=0.0)
    torch.testing.assert_close(found.mean(-1), torch.zeros(2))
    torch.testing.assert_close(found.std(-1), torch.ones(2))
    torch.testing.assert_close(found[1], torch.tensor([-0.5, -0.5, -0.5, 1.5]))


def test_a_group_of_equals_teaches_nothing():
    assert not group_advantage(torch.ones(2, 5)).any() and not group_advantage(torch.zeros(2, 5)).any()


def test_the_gradient_is_that_of_minus_the_expected_reward():
    """Over all answers, each as often as it is drawn, with any baseline."""
    logits = torch.tensor([0.3, -1.0, 0.8], requires_grad=True)
    reward = torch.tensor([1.0, 5.0, 2.0])
    exact = torch.autograd.grad(-(logits.softmax(0) * reward).sum(), logits)[0]
    for baseline in (0.0, 3.0):
        weights = logits.softmax(0).detach()  # instead of many draws
        loss = policy_loss(logits.log_softmax(0), 3 * weights * (reward - baseline))
        torch.testing.assert_close(torch.autograd.grad(loss, logits)[0], exact)


def test_no_gradient_flows_through_the_advantages():
    log_probs = torch.tensor([-1.0, -2.0], requires_grad=True)
    policy_loss(log_probs, 2 * log_probs).backward()
    torch.testing.assert_close(log_probs.grad, torch.tensor([1.0, 2.0]))


def test_what_does_not_fit_is_refused():
    two, three = torch.zeros(2), torch.zeros(3)
    with pytest.raises(ValueError, match=r"four log-probabilities.*\(3,\)"):
        dpo_loss(two, two, two, three)
    with pytest.raises(ValueError, match="beta should be positive, but is 0"):
        dpo_loss(two, two, two, two, beta=0)
    with pytest.raises(ValueError, match="two or more, not 1"):
        group_advantage(torch.zeros(4, 1))
    with pytest.raises(ValueError, match="one advantage per answer"):
        policy_loss(two, three)
