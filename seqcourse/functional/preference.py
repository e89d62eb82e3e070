"""Losses that need no right answer: which of two is better, or how good each one is."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import logsigmoid

from seqcourse.functional.precision import widened


def dpo_loss(
    chosen: Tensor, rejected: Tensor, chosen_before: Tensor, rejected_before: Tensor, beta: float = 0.1
) -> Tensor:
    r"""Direct preference optimisation (Rafailov et al. 2023), the mean over pairs of answers.

    .. math:: L = -\frac{1}{B} \sum_b \log \sigma\!\left(\beta \left[
        \log \frac{\pi(y_b^+ \mid x_b)}{\pi_0(y_b^+ \mid x_b)} -
        \log \frac{\pi(y_b^- \mid x_b)}{\pi_0(y_b^- \mid x_b)} \right]\right)

    Args:
        chosen: log-probabilities that the model gives to the better answers, in nats, (B,).
        rejected: those of the worse answers, (B,).
        chosen_before, rejected_before: the same from the model before the training, :math:`\pi_0`.
        beta: how much is lost for moving away from that model.

    Returns:
        Scalar.

    Raises:
        ValueError: if the four differ in shape or beta is not positive.
    """
    given = chosen, rejected, chosen_before, rejected_before
    if len({tuple(each.shape) for each in given}) > 1:
        shapes = ", ".join(str(tuple(each.shape)) for each in given)
        raise ValueError(f"dpo_loss needs four log-probabilities for each pair, but they are {shapes}.")
    if beta <= 0:
        raise ValueError(f"beta should be positive, but is {beta}.")
    margin = (widened(chosen) - chosen_before) - (widened(rejected) - rejected_before)
    return -logsigmoid(beta * margin).mean().to(chosen.dtype)


def group_advantage(rewards: Tensor, eps: float = 1e-4) -> Tensor:
    r"""How much better than the others of its group each answer is (GRPO, Shao et al. 2024).

    .. math:: A_{b,k} = \frac{r_{b,k} - \frac{1}{K} \sum_j r_{b,j}}{s_b + \epsilon}

    with s the standard deviation of the K rewards of a group, their squares divided by K - 1. A group
    that is all right or all wrong teaches nothing.

    Args:
        rewards: of the K answers to each of B questions, (B, K).

    Returns:
        (B, K).

    Raises:
        ValueError: if a group has fewer than two answers.
    """
    if rewards.shape[-1] < 2:
        raise ValueError(
            "group_advantage compares answers to one question: it needs two or more, not "
            f"{rewards.shape[-1]}."
        )
    wide = widened(rewards)
    mean, spread = wide.mean(-1, keepdim=True), wide.std(-1, keepdim=True)
    return ((wide - mean) / (spread + eps)).to(rewards.dtype)


def policy_loss(log_probs: Tensor, advantages: Tensor) -> Tensor:
    r"""What REINFORCE descends (Williams 1992), for answers that the model has drawn itself.

    .. math:: L = -\frac{1}{N} \sum_n A_n \log \pi(y_n \mid x_n)

    Its gradient is that of minus the expected reward, if A is the reward less anything that does not
    depend on the answer. The loss itself means nothing.

    Args:
        log_probs: of the answers, in nats, of any shape.
        advantages: one for each; no gradient flows through them.

    Returns:
        Scalar.

    Raises:
        ValueError: if there is not one advantage for each answer.
    """
    if log_probs.shape != advantages.shape:
        raise ValueError(
            f"policy_loss needs one advantage per answer, but there are {tuple(log_probs.shape)} "
            f"log-probabilities and {tuple(advantages.shape)} advantages."
        )
    return -(widened(log_probs) * advantages.detach()).mean().to(log_probs.dtype)
