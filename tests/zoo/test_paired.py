"""Pictures paired with captions: what is judged, and a trial of the study."""

import pytest
import torch

from seqcourse import data
from seqcourse.data import Vocabulary
from seqcourse.zoo.tasks import paired


@pytest.fixture(scope="module")
def scenes():
    return [data.compose(number, "train") for number in range(140)]


@pytest.fixture(scope="module")
def pairs(scenes):
    """Grids that show each kind of thing as noise of its own."""
    names = Vocabulary(sorted({thing.name for scene in scenes for thing in scene.things}))
    looks = torch.randn(len(names), 8, generator=torch.Generator().manual_seed(0))
    grids, shown = torch.zeros(len(scenes), 4, 8), torch.full((len(scenes), 4, len(names)), 0.01)
    for row, scene in enumerate(scenes):
        for place, thing in enumerate(scene.things):
            grids[row, place] = looks[names.id(thing.name)]
            shown[row, place, names.id(thing.name)] = 0.9
    words = Vocabulary(sorted({word for scene in scenes for word in scene.caption.split()}))
    split = paired.SceneGrids(scenes, grids, shown)
    return paired.Pairs(dict.fromkeys(("train", "valid", "test"), split), words, names)


def test_two_things_are_swapped_where_the_caption_says_a_side():
    assert paired.swapped("a cat left of a red dog") == "a red dog left of a cat"
    assert paired.swapped("a cat above a dog") == "a dog above a cat"
    for caption in ("a cat next to a dog", "a cat and a dog", "two cats", "a cat below a cat"):
        assert paired.swapped(caption) is None


def test_a_perfect_judge_finds_everything_and_a_blind_one_hardly_anything(pairs, scenes):
    own = torch.tensor([[other.caption in scene.references for other in scenes] for scene in scenes])
    assert set(pairs.found(own.float(), "test").values()) == {1.0}
    blind = pairs.found(torch.zeros(len(scenes), len(scenes)), "test")
    assert blind["caption in 1"] < 0.1 and blind["caption in 5"] < 0.2


def test_names_alone_find_the_scenes_with_other_things(pairs):
    found = pairs.found(pairs.by_names("test"), "test")
    assert found["caption in 5"] > 0.9 and found["picture in 5"] > 0.9


def test_swapped_captions_stand_behind_the_own_ones(pairs):
    plain, hard = ([*pairs.batches(0, hard)][0] for hard in (False, True))
    count = len(plain.grids)
    assert torch.equal(plain.grids, hard.grids) and len(plain.tokens) == count
    assert torch.equal(hard.tokens[:count, : plain.tokens.shape[1]], plain.tokens)
    assert len(hard.tokens) > count


def test_a_trial_of_the_pairs(pairs):
    sizes = {"width": 8, "heads": 2, "layers": 1}
    found = paired.measure(pairs, [1e-3, 1e-2], [9], [0, 1], epochs=1, sizes=sizes)
    for name in ("pairs", "swapped"):
        one = found[name]
        assert one["rate"] == float(max(one["tried"], key=one["tried"].get))
        assert len(one["found"]) == len(one["sides"]) == 2 and one["sides"][0]["of"] > 10
    assert len(found["fit"]) == len(found["shown"]) == paired.SHOWN
