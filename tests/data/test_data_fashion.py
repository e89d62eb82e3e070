"""Fashion-MNIST: the cut, the full set by path, batches, and what damaged files get."""

from __future__ import annotations

import gzip

import numpy
import pytest
import torch

from seqcourse import data
from seqcourse.data import fashion
from seqcourse.data.build import fashion as builder
from seqcourse.errors import CourseError


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A small folder in the published form, 500 and 110 pictures of each kind."""
    folder, rng = tmp_path_factory.mktemp("published"), numpy.random.default_rng(0)
    for split, each in (("train", 500), ("test", 110)):
        labels = rng.permutation(numpy.repeat(numpy.arange(10, dtype=numpy.uint8), each))
        images = numpy.zeros((len(labels), 28, 28), numpy.uint8)
        images[:, 0, 0] = labels
        images[:, 0, 1:3] = numpy.arange(len(labels))[:, None] // [256, 1] % 256
        for name, numbers in zip(fashion.PUBLISHED[split], (images, labels), strict=True):
            head = bytes([0, 0, 8, numbers.ndim]) + numpy.array(numbers.shape, ">u4").tobytes()
            (folder / name).write_bytes(gzip.compress(head + numbers.tobytes()))
    return folder


def test_the_cut_is_balanced_and_its_splits_share_no_picture():
    found = {split: data.load_fashion(split) for split in data.SPLITS}
    assert {split: len(part) for split, part in found.items()} == {
        "train": 4000,
        "valid": 500,
        "test": 1000,
    }
    seen = {split: {image.tobytes() for image in part.images} for split, part in found.items()}
    for part in found.values():
        assert part.images.shape == (len(part), 28, 28) and part.images.dtype == numpy.uint8
        assert len(set(numpy.bincount(part.labels).tolist())) == 1
    assert len(data.CLOTHES) == 10
    assert not seen["train"] & seen["test"] and not seen["valid"] & (seen["train"] | seen["test"])


def test_what_the_labels_say_can_be_seen():
    """Means of two kinds whose shape everybody knows: trousers have a gap, bags have none."""
    train = data.load_fashion("train")
    trousers, bag = (train.images[train.labels == data.CLOTHES.index(k)] for k in ("trousers", "bag"))
    assert trousers[:, 24, 13:15].mean() < 0.5 * trousers[:, 24, 9:12].mean()
    assert bag[:, 20, 13:15].mean() > 0.9 * bag[:, 20, 9:12].mean()


def test_the_full_set_by_path_and_the_cut_made_of_it(published, tmp_path):
    full = {split: data.load_fashion(split, published) for split in data.SPLITS}
    assert [len(part) for part in full.values()] == [4500, 500, 1100]
    assert full["test"].images[:, 0, 0].tolist() == full["test"].labels.tolist()
    few = full["train"].first(3)
    assert numpy.bincount(few.labels).tolist() == [3] * 10
    # They are the first ones, in the order they stood in.
    for kind in range(10):
        rows = numpy.flatnonzero(full["train"].labels == kind)[:3]
        assert (few.images[few.labels == kind] == full["train"].images[rows]).all()
    for name in ("one", "two"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(builder, "EACH", {"train": 40, "valid": 5, "test": 10})
            builder.build(published, tmp_path / name)
    one, two = (sorted((tmp_path / name / "fashion-mnist").iterdir()) for name in ("one", "two"))
    assert [p.name for p in one] == [p.name for p in two] and len(one) == 8
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(one, two, strict=True))
    stored = fashion.read_idx(tmp_path / "one/fashion-mnist/test-images.idx.xz")
    assert (stored == full["test"].first(10).images).all()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no gzip", "cannot be read as a whole"),
        (gzip.compress(b"\0\0\x08\x01" + bytes(100))[:20], "cannot be read as a whole"),
        (gzip.compress(b"P5 28 28"), "begins with 80, 53, 32"),
        (gzip.compress(b"\0\0\x08\x01\0\0\0\x05abc"), "expected 5 numbers .* found 3"),
        (gzip.compress(b"\0\0\x08\x03\0\0\0\x05"), "expected"),
    ],
    ids=["no gzip", "cut off", "another format", "too few numbers", "no sizes"],
)
def test_a_damaged_file_is_said(content, words, tmp_path):
    path = tmp_path / "some.gz"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=words):
        fashion.read_idx(path)


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(CourseError, match="dataset-fashion-mnist"):
        data.load_fashion("test", tmp_path)
    with pytest.raises(CourseError, match="no split 'dev'"):
        data.load_fashion("dev")
    with pytest.raises(CourseError, match="1 to 100 pictures"):
        data.load_fashion("test").first(101)


def test_batches_hold_everything_once_and_in_another_order_each_time():
    images = numpy.arange(7 * 4, dtype=numpy.uint8).reshape(7, 2, 2)
    batches = data.ImageBatches(images, range(7), batch_size=3, seed=1)
    orders = []
    for epoch in (0, 1, 0):
        batches.set_epoch(epoch)
        found = list(batches)
        assert len(found) == len(batches) == 3
        orders.append(torch.cat([batch.labels for batch in found]).tolist())
        for batch in found:
            assert batch.images.shape[1:] == (1, 2, 2)
            values = (batch.images[:, 0, 0, 0] + 1) * 127.5
            torch.testing.assert_close(values, batch.labels * 4.0)
    assert sorted(orders[0]) == list(range(7))
    assert orders[0] == orders[2] != orders[1]
    with pytest.raises(CourseError, match="as many labels"):
        data.ImageBatches(images, range(6), 3)


def test_colours_become_channels_and_bytes_numbers_from_minus_one_to_one():
    image = numpy.zeros((1, 2, 3, 3), numpy.uint8)
    image[0, 1, 2] = (255, 0, 51)
    x = data.image_tensor(image)
    assert x.shape == (1, 3, 2, 3)
    torch.testing.assert_close(x[0, :, 1, 2], torch.tensor([1.0, -1.0, -0.6]))
    with pytest.raises(CourseError, match="bytes from 0 to 255"):
        data.image_tensor(image.astype(float))
