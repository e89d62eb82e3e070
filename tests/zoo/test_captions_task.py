"""What captions say and where they point, measured on captions made by hand."""

from types import SimpleNamespace

import numpy
import pytest
import torch

from seqcourse import CourseError, data, seed_everything, zoo
from seqcourse.data.scenes import compose
from seqcourse.train import TrainingConfig
from seqcourse.zoo.tasks.captions import Caption, CaptionTask, fitted, mentions, pointing, said


def scene_of(*things):
    """A stand-in: pairs of a name and a box, 64 pixels."""
    made = tuple(SimpleNamespace(name=name, box=box) for name, box in things)
    return SimpleNamespace(things=made, image=numpy.zeros((64, 64, 3), numpy.uint8))


LEFT, RIGHT = (0, 0, 30, 30), (34, 34, 64, 64)


def test_a_name_is_found_in_one_word_or_two_and_in_the_plural():
    scene = scene_of(("fire truck", LEFT), ("fire truck", RIGHT), ("tomato", (30, 0, 40, 20)))
    found = mentions("two fire trucks and a red tomato".split(), scene)
    assert found == {1: [LEFT, RIGHT], 6: [(30, 0, 40, 20)]}
    assert mentions("a tiger next to a flag".split(), scene) == {}
    assert mentions([], scene) == {}


def test_every_thing_of_a_scene_is_found_in_its_own_caption():
    for number in range(60):
        scene = compose(number, "unseen")
        found = mentions(scene.caption.split(), scene)
        assert sorted(b for boxes in found.values() for b in boxes) == sorted(
            thing.box for thing in scene.things
        )


def caption_of(text, *peaks):
    maps = numpy.full((len(text.split()), 8, 8), 0.01)
    for number, (row, column) in enumerate(peaks):
        maps[number, row, column] = 0.5
    return Caption(text, text.split(), maps, -0.1, [(text, -0.1)])


def test_a_model_that_likes_no_words_best_still_has_a_map_per_word():
    """<pad> and <sos> are no output: leaving them out afterwards would shift the maps."""
    made = recipe_of("SoftCaptioner", embed_size=8, hidden_size=8, width=8, size=32)
    task = CaptionTask(made)
    words, _ = task.vocabularies()
    network = zoo.build_model(made, words, words).eval()
    with torch.no_grad():
        network.output_bias[[data.PAD, data.SOS]] = 50.0
    (found,) = zoo.System(task, network, words, words, {}).caption([compose(0, size=32).image])
    assert found.tokens and found.maps.shape == (len(found.tokens), 4, 4)


def test_pointing_counts_names_only():
    scene = scene_of(("tiger", LEFT), ("tomato", RIGHT))
    text, elsewhere = "a tiger next to a tomato", (0, 7)
    peaks = [elsewhere, (1, 1), elsewhere, elsewhere, elsewhere, (6, 6)]
    found = pointing([caption_of(text, *peaks)], [scene])
    assert found["share"] == 1 and found["words"] == 2
    assert found["others"] == 0  # each map laid over the other thing
    assert 0.1 < found["chance"] < 0.3
    swapped = [elsewhere, (6, 6), elsewhere, elsewhere, elsewhere, (1, 1)]
    assert pointing([caption_of(text, *swapped)], [scene])["share"] == 0
    without = Caption(text, text.split(), None, -0.1, [(text, -0.1)])
    assert pointing([without], [scene]) is None


def test_what_is_said_rightly():
    scenes = [compose(number, "test") for number in range(40)]
    every = [scene.references for scene in scenes]
    right = said([scene.caption for scene in scenes], every)
    assert right["object_words"] == right["counts"] == right["relations"] == right["whole"] == 1
    wrong = said(["a zebra"] * 40, every)
    assert wrong["object_words"] < 0.2 and wrong["whole"] == 0


def test_a_picture_of_any_size_is_fitted():
    picture = numpy.zeros((40, 100, 3), numpy.uint8)
    picture[:, 30:70] = 200  # the middle square
    assert (fitted(picture, 16) == 200).all()
    assert fitted(picture, 64).shape == (64, 64, 3)
    same = numpy.ones((16, 16, 3), numpy.uint8)
    assert fitted(same, 16) is same
    with pytest.raises(CourseError, match="of type uint8"):
        fitted(picture / 255, 16)
    with pytest.raises(CourseError, match=r"\(height, width, 3\)"):
        fitted(picture[..., 0], 16)


def recipe_of(model, **sizes):
    return zoo.Recipe(
        name="tiny",
        about="",
        task="captions",
        data="scenes",
        model=model,
        sizes=sizes,
        training=TrainingConfig(),
        batch_size=16,
        options={"scenes": 40, "doubly": 0.01},
    )


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        ("FixedCaptioner", {"embed_size": 8, "hidden_size": 8, "width": 8, "size": 32}),
        ("SoftCaptioner", {"embed_size": 8, "hidden_size": 8, "width": 8, "size": 32}),
        ("TransformerCaptioner", {"width": 8, "heads": 2, "layers": 1, "size": 32}),
    ],
)
def test_a_recipe_of_the_task_runs_from_scenes_to_captions(model, sizes):
    """Untrained: vocabularies, batches, loss, validation and captions with maps."""
    seed_everything(0)
    made = recipe_of(model, **sizes)
    task = CaptionTask(made)
    words, _ = task.vocabularies()
    network = zoo.build_model(made, words, words)
    batches = task.batches(words, words)
    batch = next(iter(batches))
    assert len(batches) == 3 and batch.src.shape == (16, 3, 32, 32)
    assert (batch.tgt_out != 3).all()  # the grammar's words are all known
    assert task.loss()(network, batch).item() > 1
    assert task.validate(words, words)(network.eval()) > 1
    system = zoo.System(task, network, words, words, {})
    scene = compose(0, "test", size=32)
    one, two = system.caption([scene.image, numpy.zeros((50, 80, 3), numpy.uint8)], n_best=2)
    assert one.text == " ".join(one.tokens) and len(one.n_best) == 2
    assert len(two.tokens) <= 24
    if model == "FixedCaptioner":
        assert one.maps is None
    else:
        assert one.maps.shape == (len(one.tokens), 4, 4)
        numpy.testing.assert_allclose(one.maps.sum((1, 2)), 1, atol=1e-5)


def test_a_translator_tells_no_pictures():
    with pytest.raises(CourseError, match="captions-soft does"):
        zoo.load("g2p-transformer").caption([numpy.zeros((64, 64, 3), numpy.uint8)])
