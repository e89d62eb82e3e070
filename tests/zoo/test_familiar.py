"""The captioner of real photographs: its features, its fixed directions, and what it says."""

from __future__ import annotations

import numpy
import pytest
import torch

from seqcourse import models, zoo
from seqcourse.data import load_familiar, load_familiar_features
from seqcourse.errors import CourseError
from seqcourse.models.feature_captioner import FeatureGrid
from seqcourse.zoo import published
from seqcourse.zoo.published import grids as grids_module
from seqcourse.zoo.published.grids import grids, kept_grids

NAME = "captions-photographs"
extra = pytest.mark.skipif(published.find("efficientnet") is None, reason="no EfficientNet-lite0 here")


def test_the_stored_photographs_get_the_captions_that_were_measured():
    measured = zoo.figures(NAME)["measured"]["photographs"]
    things = load_familiar()
    said = zoo.load(NAME).caption(list(load_familiar_features()))
    assert {one.name: c.text for one, c in zip(things, said, strict=True)} == measured["captions"]
    true = sum(caption.text in one.captions for one, caption in zip(things, said, strict=True))
    assert true == measured["true"] >= 6 and measured["of"] == len(things)
    assert all(caption.maps.shape == (len(caption.tokens), 7, 7) for caption in said)


def test_on_composed_scenes_with_other_grounds_it_names_and_points():
    measured = zoo.figures(NAME)["measured"]
    assert measured["object_words"] > 0.8
    game = measured["pointing"]
    assert game["share"] > max(game["chance"], game["others"]) + 0.1


@extra
def test_the_stored_features_are_those_of_the_photographs():
    made = grids([one.pixels for one in load_familiar()]).astype(int)
    away = numpy.abs(made - load_familiar_features())
    assert away.max() <= 2 and (away > 0).mean() < 0.001


@extra
def test_the_fixed_directions_are_the_classifiers():
    directions = zoo.load(NAME).model.encoder.directions
    fresh = FeatureGrid(8, 7, 1280, len(directions), 0.0)
    fresh.look_along(published.load_efficientnet().model.classifier.weight)
    cosine = torch.nn.functional.cosine_similarity(directions, fresh.directions, dim=1)
    assert cosine.abs().min() > 0.99  # stored in 6 bits


def test_the_kept_directions_explain_most_of_the_classifiers_differences():
    torch.manual_seed(0)
    classifier = torch.randn(50, 4) @ torch.randn(4, 30) + 5  # rank 4, besides a common offset
    grid = FeatureGrid(8, 3, 30, 4, 0.0)
    grid.look_along(classifier)
    centred = classifier - classifier.mean(0)

    rest = centred.T - grid.directions.T @ torch.linalg.pinv(grid.directions.T) @ centred.T
    assert rest.norm() < 1e-3 * centred.norm()
    products = grid.directions @ grid.directions.T
    assert torch.allclose(products, products.diag().diag(), atol=1e-5)


def test_features_of_eight_bits_are_read_as_numbers_up_to_six():
    torch.manual_seed(0)
    model = models.FeatureCaptioner(9, 8, 8, width=8, side=3, channels=5, kept=4, first="learned").eval()
    whole = torch.randint(0, 256, (2, 5, 3, 3), dtype=torch.uint8)
    words = torch.tensor([[1, 5], [1, 6]])
    out, same = model(whole, None, words), model(whole * (6 / 255), None, words)
    assert torch.allclose(out.logits, same.logits, atol=1e-5)
    assert out.weights.shape == (2, 2, 9)
    with pytest.raises(ValueError, match=r"should be \(B, 5, 3, 3\)"):
        model(whole[:, :4], None, words)
    trained = {name for name, _ in model.named_parameters()}
    assert "encoder.out.weight" in trained and "encoder.directions" not in trained


def test_pictures_and_features_are_not_mixed():
    task = zoo.task_of(zoo.recipe(NAME))
    features = numpy.zeros((7, 7, 1280), numpy.uint8)
    assert task.inputs([features, features]).shape == (2, 1280, 7, 7)
    for wrong in ([features, numpy.zeros((64, 64, 3), numpy.uint8)], [], [features[..., :9]]):
        with pytest.raises(CourseError, match="features \\(7, 7, 1280\\)"):
            task.inputs(wrong)


def test_features_are_kept_on_the_disk_and_a_broken_file_is_made_again(tmp_path, monkeypatch):
    calls = []

    def counted(pictures, encoder=None):
        calls.append(len(pictures))
        return numpy.full((len(pictures), 7, 7, 1280), 3, numpy.uint8)

    monkeypatch.setattr(grids_module, "grids", counted)
    pictures = numpy.zeros((2, 8, 8, 3), numpy.uint8)
    for _ in range(2):
        assert (kept_grids(pictures, tmp_path) == 3).all()
    assert calls == [2]
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"half")
    kept_grids(pictures, tmp_path)
    kept_grids(pictures + 1, tmp_path)
    assert calls == [2, 2, 2] and len([*tmp_path.iterdir()]) == 2
