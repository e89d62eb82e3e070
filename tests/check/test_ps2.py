"""The examples in the text of assignment 2; its beam search against the package and the whole tree."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch

from seqcourse import decode, functional, viz
from seqcourse.check import Mistake, ps2
from seqcourse.check.compare import outcome, same
from seqcourse.check.load import load_checks
from seqcourse.check.ps2 import beams, gumbel, scheduled

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "solutions" / "ps2" / "ps2.ipynb"
TEXT = {cell.id: cell.source for cell in nbformat.read(PATH, as_version=4).cells}


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


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


def test_the_mean_is_the_package_s_loss():
    given = ps2.teacher_forced_loss.make([3, 5, 1])
    logits, state = [], given["state"]
    for fed in given["y"][:, :-1].T:
        z, state = given["step"](fed, state)
        logits.append(z)
    package = functional.sequence_loss(torch.stack(logits, dim=1), given["y"][:, 1:])
    assert torch.allclose(ps2.teacher_forced_loss.reference(*given.values())[1], package)


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


@pytest.mark.parametrize("cases", [beams.plain_cases, beams.normalised_cases])
@pytest.mark.parametrize("seed", [7, 8])
def test_the_reference_is_the_package_s_beam_search(cases, seed):
    class Model:
        def __init__(self, step, state):
            self.first, self.run = state, step

        def start(self, memory, batch_size=None):
            return self.first

        def step(self, tokens, state, memory):
            logits, state = self.run(tokens, state)
            return SimpleNamespace(logits=logits, state=state, weights=None)

    for case in cases(seed).values():
        given = ps2.beam_search.make(**case)
        words, score = beams.reference_beam_search(*given.values())
        ((best,),) = decode.beam_search(
            Model(given["step"], given["state"]),
            None,
            given["beam_width"],
            length_penalty=given["alpha"],
            max_len=given["max_len"],
            batch_size=1,
        )
        assert words.tolist() == best.tokens + [2] * best.finished
        assert score.item() == pytest.approx(best.score)


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


def test_poll_3():
    assert -3 > -4.2 and -3 / 3 < -4.2 / 6


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


def test_the_searches_are_chosen_in_the_same_way_every_time():
    assert beams.plain_cases(9) == beams.plain_cases(9) != beams.plain_cases(10)
    assert beams.normalised_cases(9) == beams.normalised_cases(9)


def test_exercise_1_points_to_a_section_on_padding_and_both_directions():
    chapter, section = load_checks(ROOT, "ps2").CHECKS[0].see
    (path,) = ROOT.glob(f"book/{chapter}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    text = re.search(rf"^## {section}$(.*?)^## ", text, flags=re.M | re.S)[1]
    assert "<pad>" in text and "from right to left" in text


def test_no_legend_covers_a_line_that_exercise_8_asks_about():
    drawn = "figure, (left, right)" + TEXT["ps2-figure-given"].split("figure, (left, right)")[1]
    lengths = {0.0: [12.38, 11.38, 11.54, 10.92], 1.0: [12.38, 11.46, 11.77, 11.69]}
    space = {"plt": plt, "viz": viz, "widths": (1, 2, 4, 8), "sizes": lengths, "wanted_size": 12.62}
    space["log_probs"] = [-9.11, -7.28, -7.22, -6.47]
    exec(drawn.replace("plt.show()", ""), space)
    space["figure"].canvas.draw()
    legend = space["right"].get_legend().get_window_extent()
    for line in space["right"].lines:
        path = line.get_path().transformed(line.get_transform())
        assert not path.intersects_bbox(legend, filled=False)
    plt.close(space["figure"])


def test_exercise_8_asks_which_it_was_and_does_not_say_so():
    assert "Which of the two do you expect there" in TEXT["ps2-search-md"]
    assert "to blame" not in TEXT["ps2-search-md"]
