"""Sums, their judges, and ways to learn from verdicts: what each step sees and what it changes."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch

from seqcourse import models, zoo
from seqcourse.settings import device
from seqcourse.zoo.tasks import verdicts
from seqcourse.zoo.tasks.sums import Labelled, SumsTask, answer_loss, whole_loss
from seqcourse.zoo.tasks.verdicts import SAMPLES, SPLITS, WAYS, Learner
from tests.sizes import drawn, nightly_but


class Adds(torch.nn.Module):
    """A model that knows every sum, and says "999" with the probability ``doubt`` instead."""

    def __init__(self, doubt=0.0):
        super().__init__()
        self.doubt = torch.nn.Parameter(torch.tensor(doubt))
        self.said = []

    def start(self, batch_size):
        return None

    def run(self, tokens, state):
        asked = tokens if state is None else torch.cat([state, tokens], 1)
        known = verdicts.symbols()
        texts = ["".join(known.decode(row.tolist())) for row in asked]
        right = [f"{int(t[:2]) + int(t[3:5]):03}"[len(t) - 6] for t in texts]
        index = torch.tensor([known.id(digit) for digit in right])
        chances = torch.zeros(len(asked), len(known))
        chances[:, known.id("9")] += self.doubt
        chances[torch.arange(len(asked)), index] += 1 - self.doubt
        return models.Output(chances.log()[:, None]), asked


@pytest.fixture(scope="module")
def system():
    return zoo.load("sums")


@pytest.fixture
def learner(system):
    return Learner(deepcopy(system.model), verdicts.split("labelled"), rate=1e-3, seed=0)


def test_every_sum_is_in_one_part_at_most_and_is_right():
    seen, known = set(), verdicts.symbols()
    for name in SPLITS:
        part = verdicts.split(name)
        for question, answer in zip(part.questions.tolist(), part.answers.tolist(), strict=True):
            text, said = "".join(known.decode(question)), "".join(known.decode(answer))
            a, b = text[:-1].split("+")
            assert int(a) + int(b) == int(said) and len(said) == 3
            assert text not in seen
            seen.add(text)
    assert len(seen) == sum(end - begin for begin, end in SPLITS.values())


def test_judges_and_shares():
    asked = verdicts.sums(0, 50)
    wrong = asked.answers.clone()
    wrong[:20, 0] = verdicts.symbols().id("7")
    assert verdicts.exact(asked, asked.answers).all() and not verdicts.exact(asked, wrong)[:20].any()
    assert verdicts.careless(asked, wrong).all()
    assert verdicts.share(Adds(), asked) == 1 and verdicts.share(Adds(0.9), asked) < 0.2
    assert 0.9 < verdicts.share_of_eight(Adds(0.3), asked) < 1.01  # 0.7 ** 3 each time


def test_answers_are_written_by_the_model_one_digit_after_another(system):
    """With kept keys and values as without."""
    asked = verdicts.sums(9000, 9020)
    said = verdicts.write(system.model, asked.questions)
    rows = asked.questions
    with torch.no_grad():
        for _ in range(3):
            rows = torch.cat([rows, system.model(rows).logits[:, -1:].argmax(-1)], 1)
    assert torch.equal(said, rows[:, 6:])
    draw = torch.Generator(device()).manual_seed(0)
    assert not torch.equal(verdicts.write(system.model, asked.questions, draw), said)


def test_log_probs_are_those_of_the_answers_alone(system):
    asked = verdicts.sums(9000, 9004)
    found = verdicts.log_probs(system.model, asked.questions, asked.answers)
    rows = torch.cat([asked.questions, asked.answers], 1)
    each = system.model(rows[:, :-1]).logits.log_softmax(-1)
    by_hand = sum(each[range(4), 5 + k, rows[:, 6 + k]] for k in range(3))
    torch.testing.assert_close(found, by_hand)
    torch.testing.assert_close(answer_loss(system.model, asked), -by_hand.mean() / 3)
    everything = sum(each[range(4), k, rows[:, k + 1]] for k in range(8))
    torch.testing.assert_close(whole_loss(system.model, asked), -everything.mean() / 8)


@pytest.mark.parametrize("way", nightly_but([drawn(WAYS)], WAYS))
def test_a_few_steps_raise_what_each_way_wants(learner, way):
    """The reward is expected to rise by any verdict, and the loss of the labels to fall."""
    asked = verdicts.sums(2000, 2400)
    before = verdicts.log_probs(learner.model, asked.questions, asked.answers).exp().mean()
    old = deepcopy(learner.model.state_dict())
    WAYS[way](learner, 20)
    assert any(not torch.equal(old[name], new) for name, new in learner.model.state_dict().items())
    after = verdicts.log_probs(learner.model, asked.questions, asked.answers).exp().mean()
    if way != "old labels":
        assert after > before + 0.01


def test_verdicts_of_eight_answers_to_each_question(learner):
    many, answers, rewards = learner.judged()
    assert rewards.shape == (verdicts.ASKED, SAMPLES)
    groups = many.questions.view(verdicts.ASKED, SAMPLES, -1)
    assert (groups == groups[:, :1]).all()
    assert torch.equal(rewards.flatten(), verdicts.exact(many, answers))
    best, worst = verdicts._best_and_worst(rewards)
    assert torch.equal(rewards.flatten()[best], rewards.amax(1))
    assert torch.equal(rewards.flatten()[worst], rewards.amin(1))


def test_what_a_judge_sees_is_never_among_the_labelled_or_the_held_out(learner, monkeypatch):
    allowed = {tuple(q) for q in verdicts.split("asked").questions.tolist()}
    seen = []
    learner.judge = lambda asked, answers: seen.append(asked) or verdicts.exact(asked, answers)
    for take in (Learner.grouped, Learner.kept, Learner.preferred, Learner.reinforced):
        take(learner, 5)
    assert {tuple(q) for some in seen for q in some.questions.tolist()} <= allowed


@pytest.mark.parametrize("take", [Learner.kept, Learner.preferred])
def test_a_model_that_is_never_right_learns_nothing_and_nothing_breaks(learner, take):
    learner.judge = lambda asked, answers: torch.zeros(len(answers))
    old = deepcopy(learner.model.state_dict())
    take(learner, 5)
    assert all(torch.equal(old[name], new) for name, new in learner.model.state_dict().items())


def test_other_batches_in_every_epoch():
    loader = Labelled(verdicts.split("labelled"), 2, 4, seed=3)
    first = [batch.questions for batch in loader]
    loader.set_epoch(1)
    assert not any(map(torch.equal, first, [batch.questions for batch in loader]))


@pytest.mark.nightly
def test_trials_of_the_studies(monkeypatch):
    short = {"valid": (8000, 8040), "test": (9000, 9040)}
    monkeypatch.setattr(verdicts, "SPLITS", SPLITS | short)
    recipe = zoo.recipe("sums")
    few = {"rates": [1e-3, 1e-2], "choose": [7], "seeds": [0, 1]}
    recipe = replace(
        recipe,
        training=replace(recipe.training, epochs=1),
        options={
            "steps": 2,
            "labels": 400,
            "verdicts": few | {"betas": [0.5, 2.0], "steps": 5, "new": 10},
            "masked": few,
            "early": few | {"labels": 500, "epochs": 1, "steps": 5},
            "careless": {"rate": 1e-3, "seeds": [0], "steps": 4, "every": 2},
        },
    )
    task = SumsTask(recipe)
    found = {name: task.study(None, name) for name in task.studies}
    ways = [way for way in WAYS if way != "DPO"]
    assert [row["way"] for row in found["verdicts"]] == ["start", *ways, "DPO", "DPO", "new labels"]
    assert [row["beta"] for row in found["verdicts"] if "beta" in row] == [0.5, 2.0]
    for row in found["verdicts"][1:] + list(found["masked"].values()):
        assert row["rate"] == float(max(row["tried"], key=row["tried"].get))
        assert len(row["runs"]) == 2 and all(0 <= share <= 1 for share in row["runs"][0].values())
    assert list(found["masked"]) == ["answers", "everything"]
    assert list(found["early"]) == ["start", "old labels", "GRPO", "rejection"]
    assert [row[0] for row in found["careless"][0]] == [0, 2, 4]
    assert all(right <= approved for _, approved, right in found["careless"][0])
