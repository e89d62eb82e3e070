"""Questions about scenes and kinds of clothes: the data of both tasks, and the losses."""

from __future__ import annotations

from types import SimpleNamespace

import numpy
import pytest
import torch
from torch.nn.functional import cross_entropy

from seqcourse import data, models, train, zoo
from seqcourse.errors import CourseError
from seqcourse.zoo.tasks import clothes, compared, questions

RECIPE = zoo.Recipe(
    name="some-questions",
    about="Questions about few scenes",
    task="questions",
    data="scenes",
    model="TwoStream",
    sizes={"width": 16, "heads": 4, "channels": [4, 8, 8]},
    training=train.TrainingConfig(epochs=1, max_steps=2),
    batch_size=8,
    options={"scenes": 24, "first": 1, "regions": 0.5},
)
CLOTHES = zoo.Recipe(
    name="some-clothes",
    about="Kinds of clothes by a small network",
    task="clothes",
    data="fashion-mnist",
    model="ConvNet",
    sizes={"classes": 10, "stages": [12, 24]},
    training=train.TrainingConfig(learning_rate=1e-2),
    batch_size=32,
    options={
        "few": {"pictures": [2], "steps": 2, "rates": [1e-3, 1e-2], "choose": [3], "seeds": [0, 1]}
    },
)


@pytest.fixture(scope="module")
def task():
    return zoo.task_of(RECIPE)


def test_every_question_of_every_split_but_unseen_is_made_of_known_words(task):
    source, target = task.vocabularies()
    for split in ("train", "valid", "test"):
        found = questions.scenes(split, 60)
        assert found.pictures.shape == (60, 64, 64, 3)
        for number, about in enumerate(found.asked):
            for question in about:
                asked = questions.encode(question, source, target)
                assert asked.tokens[0] == data.SOS and data.UNK not in asked.tokens
                assert target.tokens[asked.answer] == question.answer
            names = {thing.name for thing in data.compose(number, split).things}
            assert set(found.grids[number]) - {""} == names & set(found.grids[number])


def test_the_grid_names_what_its_boxes_hold():
    box = (16, 0, 40, 24)  # of 64 pixels: columns 2 to 4, rows 0 to 2
    thing = data.Thing("tiger", "tigre", None, box)
    scene = SimpleNamespace(image=numpy.zeros((64, 64, 3), numpy.uint8), things=(thing,))
    grid = numpy.array(questions.grid_of(scene)).reshape(8, 8)
    assert (grid[0:3, 2:5] == "tiger").all() and (grid == "tiger").sum() == 9


def test_one_question_about_each_scene_and_kinds_evenly():
    pictures = numpy.arange(400, dtype=numpy.uint8).reshape(-1, 1, 1, 1).repeat(3, 3)
    how_many = data.EncodedQuestion((1, 5), 4, "how many")
    asked = [[how_many] * 9 + [data.EncodedQuestion((1, 6, 7), 5, "what colour")]] * 400
    batches = data.QuestionBatches(pictures, numpy.zeros((400, 1)), asked, 64, seed=2)
    assert len(batches) == 7
    drawn = []
    for epoch in (0, 1, 0):
        batches.set_epoch(epoch)
        found = list(batches)
        seen = torch.cat([b.images[:, 0, 0, 0] for b in found])
        assert sorted(seen.tolist()) == sorted(pictures[:, 0, 0, 0].tolist())
        drawn.append(torch.cat([b.labels for b in found]))
        assert 140 < (drawn[-1] == 4).sum() < 260  # about half, though nine of ten are "how many"
        for batch in found:
            assert (batch.lengths == torch.where(batch.labels == 4, 2, 3)).all()
    assert torch.equal(drawn[0], drawn[2]) and not torch.equal(drawn[0], drawn[1])
    everything = data.QuestionBatches(pictures[:3], numpy.zeros((3, 1)), asked[:3], 8, shuffle=False)
    assert sum(len(b.labels) for b in everything) == 30 and len(everything) == 4
    with pytest.raises(CourseError, match="one has none"):
        data.QuestionBatches(pictures[:1], numpy.zeros((1, 1)), [[]])
    with pytest.raises(CourseError, match="as many lists"):
        data.QuestionBatches(pictures[:2], numpy.zeros((1, 1)), asked[:2])


def test_the_losses_are_cross_entropies():
    torch.manual_seed(0)
    model = models.TwoStream(19, 7, width=16, heads=2, size=16, channels=[4, 8]).eval()
    batch = data.QuestionBatch(
        torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8),
        torch.randint(4, 19, (2, 5)),
        torch.tensor([5, 3]),
        torch.tensor([4, 6]),
        torch.randint(0, 7, (2, 16)),
    )
    out = model(*batch.inputs)
    answers = cross_entropy(out.answers, batch.labels)
    torch.testing.assert_close(train.answer_loss(model, batch), answers)
    log_p = out.regions.log_softmax(-1)
    regions = -sum(log_p[b, n, batch.regions[b, n]] for b in range(2) for n in range(16)) / 32
    torch.testing.assert_close(train.answer_loss(model, batch, 0.5), answers + 0.5 * regions)
    torch.testing.assert_close(train.region_loss(model, batch), regions)
    images = data.ImageBatch(torch.randn(2, 1, 8, 8), torch.tensor([1, 3]))
    net = models.ConvNet(5, stages=[4]).eval()
    log_p = net(images.images).log_softmax(-1)
    torch.testing.assert_close(train.label_loss(net, images), -(log_p[0, 1] + log_p[1, 3]) / 2)


def test_figures_by_kind_count_what_they_say():
    asked = [question for about in questions.scenes("test", 60).asked for question in about]
    every = questions.by_kind(asked, [True] * len(asked))
    some = questions.by_kind(asked, [question.answer == "one" for question in asked])
    assert every["accuracy"] == 1
    assert sum(part["questions"] for part in every["kinds"].values()) == len(asked)
    assert some["kinds"]["how many"]["accuracy"] == some["kinds"]["how many"]["commonest"]
    assert some["kinds"]["what colour"]["accuracy"] == 0
    assert some["numbers"]["one"] == 1 and some["numbers"]["zero"] == 0
    assert every["kinds"]["how many"]["chance"] == 1 / 5
    assert 0 < every["open colours"]["questions"] < every["kinds"]["what colour"]["questions"]


def test_asking_a_model_and_a_word_that_it_does_not_know(task):
    source, target = task.vocabularies()
    system = zoo.System(task, zoo.build_model(task.recipe, source, target).eval(), source,
                        target, {})  # fmt: skip
    picture = data.compose(0, "test").image
    found = questions.answer(system, picture, "How many tigers are there?")
    assert found.words == ["<sos>", "how", "many", "tigers", "are", "there", "?"]
    assert found.text == found.best[0][0] and len(found.best) == 5
    assert found.at_words.shape == (2, 4, 64, 7) and found.at_places.shape == (2, 4, 7, 64)
    with pytest.raises(CourseError, match="does not know the word 'unicorns'"):
        questions.answer(system, picture, "how many unicorns are there")


def test_the_encoder_is_prepared_and_nothing_else(task):
    source, target = task.vocabularies()
    model = zoo.build_model(RECIPE, source, target)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    task.prepare(model, source, target, short=2)
    moved = {
        name.split(".")[0]
        for name, value in model.state_dict().items()
        if not torch.equal(value, before[name])
    }
    assert moved == {"encoder", "region"}
    loss = task.loss()(model, next(iter(task.batches(source, target))))
    assert loss.requires_grad and loss > 0


def test_kinds_of_clothes_are_learned_and_measured():
    task = zoo.task_of(CLOTHES)
    kinds, _ = task.vocabularies()
    model = zoo.build_model(CLOTHES, kinds, kinds)
    assert model.head.out_features == 10  # of no vocabulary's size
    test = data.load_fashion("test").first(20)
    before = clothes.accuracy(model, test)
    learned = clothes.train_on(CLOTHES, each=20, steps=40)
    assert before < 0.25 and clothes.accuracy(learned, test) > 0.3
    system = zoo.System(task, learned, kinds, kinds, {})
    found = task.measure(system)
    assert found["pictures"] == 1000 and 0 <= found["accuracy"] <= 1
    few = task.study(system, "few")
    assert set(few) == {"2"} and set(few["2"]["tried"]) == {"0.001", "0.01"}
    assert few["2"]["rate"] in (1e-3, 1e-2) and len(few["2"]["accuracy"]) == 2


def test_the_convolutions_are_ahead_and_the_distance_shrinks():
    """As measured when the checkpoints were made: the claim of the chapter."""
    vit, cnn = (zoo.figures(name) for name in ("fashion-vit", "fashion-cnn"))
    assert abs(vit["parameters"] / cnn["parameters"] - 1) < 0.02
    for few in (vit["measured"]["few"], cnn["measured"]["few"]):
        for of in few.values():
            rates = sorted(map(float, of["tried"]))
            assert rates[0] < of["rate"] < rates[-1]
            assert of["tried"][f"{of['rate']:g}"] == max(of["tried"].values())
    little, more = (
        min(cnn["measured"]["few"][n]["accuracy"]) - max(vit["measured"]["few"][n]["accuracy"])
        for n in ("4", "400")
    )
    assert little > 0.1 > more > 0
    assert min(vit["measured"]["accuracy"], cnn["measured"]["accuracy"]) > 0.75


def test_streams_that_meet_answer_more_than_equally_large_ones_apart():
    stored = zoo.figures("questions-compared")["measured"]
    assert stored["named"] > 0.8
    ways = {way: stored["ways"][way] for way in compared.WAYS}
    assert len({way["parameters"] for way in ways.values()}) == 1
    for told in ways.values():
        tried = told["tried"]
        assert f"{told['rate']:g}" == min(tried, key=tried.get)
        assert len(tried) == 4 and len(told["runs"]) == 3
    for kind in ("how many", "what is where"):
        meet, apart, text = (
            [run["kinds"][kind]["accuracy"] for run in told["runs"]] for told in ways.values()
        )
        assert min(meet) > max(apart) and min(apart) > max(text)
        ahead = stored["ways"]["ahead"][kind]
        assert ahead["low"] > 0
        assert ahead["mean"] == pytest.approx((sum(meet) - sum(apart)) / 3, abs=1e-6)


def test_an_advantage_comes_with_an_interval_over_scenes(monkeypatch):
    monkeypatch.setitem(questions.HELD_OUT, "test", 60)
    asked = [question for about in questions.scenes("test", 60).asked for question in about]
    more = numpy.array([1.0 if question.kind == "how many" else 0.0 for question in asked])
    found = compared.ahead_by_kind(more, draws=50)
    assert found["how many"] == {"mean": 1, "low": 1, "high": 1}
    assert found["what colour"] == {"mean": 0, "low": 0, "high": 0}
    noisy = compared.ahead_by_kind(more * numpy.random.default_rng(0).random(len(more)), draws=200)
    assert noisy["how many"]["low"] < noisy["how many"]["mean"] < noisy["how many"]["high"]


def test_a_stored_model_answers_about_a_new_scene():
    system = zoo.load("questions")
    right = total = 0
    for number in range(2000, 2030):
        scene = data.compose(number, "test")
        for question in data.questions(scene):
            right += questions.answer(system, scene.image, question.text).text == question.answer
            total += 1
    assert right / total > 0.75
