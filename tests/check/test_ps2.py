"""The examples in the text of assignment 2; its beam search against the package and the whole tree."""

from __future__ import annotations

import math

import pytest
import torch

from seqcourse.check import Mistake, ps2
from seqcourse.check.calls.compare import outcome, same
from seqcourse.check.ps2 import beams, gumbel, scheduled
from tests.check.texts import tensor, texts

TEXT = texts("ps2")


def test_final_states():
    found = ps2.final_states.reference(tensor([[[1, 6], [2, 5], [9, 9]]]), torch.tensor([2]))
    assert found.tolist() == [[2, 6]]
    assert "`lengths = [2]` give `[[2, 6]]`" in TEXT["ps2-final_states-md"]


def test_decoder_step():
    weights = ([[0.4]], [[0.3]], [[0.1]], [-0.1], [[1], [-2]], [0, 1])
    logits, s = ps2.decoder_step.reference(
        torch.tensor([1]), *(tensor(v) for v in ([[1]], [[2]], [[0], [0.5]], *weights))
    )
    assert f"{s.item():.3f}" == f"{logits[0, 0]:.3f}" == "0.537"
    assert f"{logits[0, 1]:.3f}" == "-0.074"
    assert "the logits are $0.537$ and $-0.074$" in TEXT["ps2-decoder_step-md"]


def test_teacher_forced_loss():
    y = torch.tensor([[1, 3, 2], [1, 2, 0]])
    losses, mean = ps2.teacher_forced_loss.reference(
        lambda tokens, state: (torch.zeros(len(tokens), 4), state), None, y
    )
    assert [f"{loss:.3f}" for loss in losses] == ["2.773", "1.386"] and f"{mean:.3f}" == "1.386"
    assert "`[2.773, 1.386]` and the mean is 1.386" in TEXT["ps2-teacher_forced_loss-md"]


def test_greedy():
    def step(tokens, left):
        word = torch.where(left > 0, 3, 2)
        return torch.nn.functional.one_hot(word, 4), left - 1

    written = ps2.greedy.reference(step, torch.tensor([2, 0]), torch.tensor([1, 1]), 9)
    assert written.tolist() == [[3, 3, 2], [2, 0, 0]]
    assert "returns `[[3, 3, 2], [2, 0, 0]]`" in TEXT["ps2-greedy-md"]


def test_gumbel_softmax():
    relaxed, word = ps2.gumbel_softmax.reference(tensor([[0, math.log(3)]]), tensor([[0.9, 0.5]]), 1)
    assert word.tolist() == [0]
    assert [f"{y:.3f}" for y in relaxed[0]] == ["0.687", "0.313"]
    assert "`[[0.687, 0.313]]`" in TEXT["ps2-gumbel_softmax-md"]
    assert f"{-math.log(-math.log(0.9)):.3f} {-math.log(-math.log(0.5)):.3f}" == "2.250 0.367"


@pytest.mark.parametrize(("epsilon", "fed"), [(1.0, [[1, 4, 5]]), (0.0, [[1, 3, 3]])])
def test_scheduled_sampling(epsilon, fed):
    def step(tokens, state):
        return torch.nn.functional.one_hot(torch.full_like(tokens, 3), 6).double(), state

    y = torch.tensor([[1, 4, 5, 2]])
    assert scheduled.reference_scheduled_sampling(step, None, y, epsilon, None)[1].tolist() == fed
    assert f"`{fed}`" in TEXT["ps2-scheduled_sampling-md"]


def two_words(tokens, state):
    """The decoder of the example of exercise 7."""
    rows = {1: (0, 0, 0, 0.6, 0.4), 3: (0, 0, 0.5, 0.25, 0.25), 4: (0, 0, 0.9, 0.05, 0.05)}
    return tensor([rows[token] for token in tokens.tolist()]).log(), state


def test_beam_search():
    for alpha, score in ((0.0, "-1.022"), (1.0, "-0.511")):
        words, found = beams.reference_beam_search(two_words, None, 2, 9, alpha)
        assert words.tolist() == [4, 2] and f"{found:.3f}" == score
        assert f"${score}$" in TEXT["ps2-beam_search-md"] or f"= {score}$" in TEXT["ps2-beam_search-md"]
    words, score = beams.reference_beam_search(two_words, None, 1, 9, 0.0)
    assert words.tolist() == [3, 2] and score.exp().item() == pytest.approx(0.3)


def full_search(step, state, max_len, alpha):
    """The best of all finished sentences of at most max_len words: every one is looked at."""
    ended, growing = [], [((), torch.tensor(0.0).double(), state)]
    for _ in range(max_len):
        grown = []
        for words, log_prob, before in growing:
            logits, after = step(torch.tensor([words[-1] if words else 1]), before)
            gains = logits.log_softmax(dim=-1)[0]
            grown += [((*words, k), log_prob + gain, after) for k, gain in enumerate(gains)]
        ended += [path for path in grown if path[0][-1] == 2]
        growing = [path for path in grown if path[0][-1] != 2]
    words, score = max(((w, p / len(w) ** alpha) for w, p, _ in ended), key=lambda path: path[1])
    return torch.tensor(words), score


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
def test_a_beam_that_prunes_nothing_is_a_full_search(alpha):
    for seed in range(5):
        given = ps2.beam_search.make(2000, 4, alpha, v=5, seed=seed)
        assert same(
            beams.reference_beam_search(*given.values()),
            full_search(given["step"], given["state"], 4, alpha),
        )


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [11, 22])
def test_other_seeds_tell_the_mistakes_too(seed):
    """The hidden inputs may be drawn anew: every mistake still loses points somewhere."""
    unseen = []
    for likely in ps2.beam_search.likely:
        lost = False
        for cases in (beams.plain_cases(seed), beams.normalised_cases(seed)):
            found = {}
            for k, case in enumerate(cases.values()):
                found |= ps2.beam_search.record(likely.answer, ps2.beam_search.make(**case), f"{k}.")
            try:
                ps2.beam_search.judge_all(
                    found, {kind: ps2.beam_search.make(**case) for kind, case in cases.items()}
                )
            except Mistake:
                lost = True
        if not lost:
            unseen.append(likely.question)
    assert not unseen


@pytest.mark.parametrize("seed", [5, 20_001])
def test_every_case_of_gumbel_softmax_tells_whether_the_draw_is_understood(seed):
    """Its points are given by case: only what shows in some cases alone earns a part of them."""
    partly = []
    for likely in ps2.gumbel_softmax.likely:
        shown = []
        for case in gumbel.gumbel_cases(seed).values():
            given = tuple(ps2.gumbel_softmax.make(**case).values())
            right = ps2.gumbel_softmax.reference(*given)
            shown.append(not same(outcome(likely.answer, given), right))
        assert any(shown), likely.question
        if not all(shown):
            partly.append(likely.question[:30])
    assert set(partly) <= {"A low temperature makes exp ov", "Did you add noise a second tim"}
    assert partly
