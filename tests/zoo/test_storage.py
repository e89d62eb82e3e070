"""Checkpoints on disk: small, whole, and refused with a sentence when they are not."""

import math
import os
import shutil

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse import CourseError, zoo
from seqcourse.zoo import storage


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 7), min_size=2, max_size=4), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_rounding_stays_within_half_a_step(shape, size, seed):
    w = size * torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    back = storage.dequantize(storage.quantize({"w": w}))["w"]
    step = w.flatten(1).abs().amax(1).view(-1, *[1] * (w.dim() - 1)) / 31
    assert torch.all((back - w).abs() <= step * 0.5001)


@pytest.mark.parametrize("many", [1, 2, 3, 4, 5, 64, 67])
def test_four_numbers_packed_into_three_bytes_come_back(many):
    numbers = torch.arange(many).flip(0) % 64
    stored = storage.pack(numbers)
    assert stored.dtype == torch.uint8 and stored.numel() == 3 * math.ceil(many / 4)
    assert torch.equal(storage.unpack(stored)[:many], numbers.int())


def test_a_matrix_takes_less_than_a_fifth_of_32_bits():
    stored = storage.quantize({"w": torch.randn(200, 300)})
    assert sum(t.numel() * t.element_size() for t in stored.values()) < 200 * 300 * 4 / 5


def test_vectors_are_kept_exactly_and_a_row_of_zeros_stays_zero(tmp_path):
    state = {"bias": torch.randn(7), "w": torch.zeros(2, 3), "scalar": torch.tensor(3.5)}
    storage.write_weights(tmp_path, state)
    back = storage.read_weights(tmp_path)
    assert set(back) == set(state)
    for name in state:
        assert torch.equal(back[name], state[name])


def test_a_missing_checkpoint_says_how_to_make_it(tmp_path):
    with pytest.raises(CourseError, match="seqcourse train"):
        storage.read_weights(tmp_path / "en-es-attention")


def test_a_damaged_checkpoint_is_named(tmp_path):
    storage.write_weights(tmp_path, {"w": torch.randn(20, 20)})
    path = tmp_path / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CourseError, match="weights.safetensors should be a checkpoint"):
        storage.read_weights(tmp_path)


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    storage.write_json(tmp_path / "figures.json", {"bleu": 1})
    with pytest.raises(TypeError):
        storage.write_json(tmp_path / "figures.json", {"bleu": object()})

    def full(*_):
        raise OSError("no space left")

    old = {"w": torch.ones(2, 3)}
    storage.write_weights(tmp_path, old)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        storage.write_json(tmp_path / "figures.json", {"bleu": 2})
    with pytest.raises(OSError, match="no space"):
        storage.write_weights(tmp_path, {"w": torch.zeros(2, 3)})
    assert storage.read_json(tmp_path / "figures.json") == {"bleu": 1}
    torch.testing.assert_close(storage.read_weights(tmp_path), old)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["figures.json", "weights.safetensors"]


def test_files_of_another_recipe_are_refused(tmp_path):
    """The attention model's weights beside the fixed model's name."""
    for name in ("weights.safetensors", storage.SOURCE, storage.TARGET):
        shutil.copy(zoo.FILES / "en-es-attention" / name, tmp_path)
    with pytest.raises(CourseError, match="do not belong to the recipe 'en-es-fixed'"):
        zoo.load("en-es-fixed", tmp_path)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(CourseError, match="en-es-attention"):
        zoo.load("en-de")


def test_all_checkpoints_together_stay_small():
    """The course's limit for all of its checkpoints is 24 MB."""
    sizes = {p: p.stat().st_size for p in zoo.FILES.rglob("*.safetensors")}
    assert len(sizes) == len(zoo.names())
    assert sum(sizes.values()) < 24e6
