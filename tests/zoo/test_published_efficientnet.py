"""EfficientNet-lite0: its padding by hand, what it recognises, and its features on the disk."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy
import pytest
import torch
from torch import nn

from seqcourse import models
from seqcourse.errors import CourseError
from seqcourse.models import efficientnet
from seqcourse.zoo import published
from seqcourse.zoo.published import packages
from seqcourse.zoo.published.efficientnet import PictureEncoder, square
from tests.sizes import nightly_but

ROOT = Path(__file__).resolve().parents[2]
HERE = published.find("efficientnet")
extra = pytest.mark.skipif(HERE is None, reason="EfficientNet-lite0 is an extra that is not here")


@pytest.mark.parametrize("length", [7, 8, 15, 16])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
def test_same_padding_is_tensorflows(length, kernel, stride):
    """Place by place, as TensorFlow's page on padding says it, in one dimension at a time."""
    torch.manual_seed(0)
    layer = efficientnet.SameConvolution(1, 1, kernel, stride, bias=False)
    x = torch.randn(1, 1, length, 6)
    got = layer(x)
    out = -(-length // stride)
    assert got.shape == (1, 1, out, -(-6 // stride))
    missing = max((out - 1) * stride + kernel - length, 0)
    across = max((-(-6 // stride) - 1) * stride + kernel - 6, 0)
    for row in range(out):
        for column in range(got.shape[3]):
            expected = torch.tensor(0.0)
            for i in range(kernel):
                for j in range(kernel):
                    r = row * stride + i - missing // 2
                    c = column * stride + j - across // 2
                    if 0 <= r < length and 0 <= c < 6:
                        expected = expected + layer.weight[0, 0, i, j] * x[0, 0, r, c]
            torch.testing.assert_close(got[0, 0, row, column], expected, rtol=0, atol=1e-5)


def test_an_even_stride_2_pads_at_the_end_only():
    layer = efficientnet.SameConvolution(1, 1, 3, 2, bias=False)
    nn.init.ones_(layer.weight)
    x = torch.ones(1, 1, 4, 4)
    # windows start at 0 and 2: the first is full, the second lacks its last row or column
    assert layer(x)[0, 0].tolist() == [[9, 6], [6, 4]]


def test_the_published_shapes_and_count():
    model = models.EfficientNetLite0().eval()
    assert models.number_of_parameters(model) == 4_652_008
    assert len(model.blocks) == 16
    with torch.inference_mode():
        x = torch.randn(1, 3, 64, 96)
        features = model.features(x)
        assert features.shape == (1, 1280, 2, 3)
        assert features.min() >= 0 and features.max() <= 6
        torch.testing.assert_close(model(x), model.classifier(features.mean((2, 3))))
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    assert {norm.eps for norm in norms} == {1e-3} and len(norms) == 2 + 3 * 16 - 1
    with pytest.raises(ValueError, match=r"\(B, 3, H, W\), but their shape is \(1, 4, 8, 8\)"):
        model.features(torch.zeros(1, 4, 8, 8))


def test_pictures_are_prepared_as_in_training():
    encoder = PictureEncoder(models.EfficientNetLite0().eval(), "untrained")
    wide = numpy.full((100, 300, 3), 255, numpy.uint8)
    wide[:, 100:200] = (127, 0, 254)  # the middle square
    ready = encoder.prepare([wide, numpy.zeros((224, 224, 3), numpy.uint8)])
    assert ready.shape == (2, 3, 224, 224)
    torch.testing.assert_close(ready[0, :, 112, 112], torch.tensor([0.0, -127 / 128, 127 / 128]))
    assert (ready[1] == -127 / 128).all()
    for wrong in (numpy.zeros((8, 8), numpy.uint8), numpy.zeros((8, 8, 3))):
        with pytest.raises(CourseError, match="should be .height, width, 3. of type uint8"):
            encoder.prepare([wrong])
    with pytest.raises(CourseError, match="the list is empty"):
        encoder.features([])


def test_what_is_not_here_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv(packages.VARIABLE, str(tmp_path))
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match="seqcourse data fetch efficientnet"):
        published.load_efficientnet()
    path = tmp_path / published.package("efficientnet").module
    path = path / published.package("efficientnet").inside[0]
    path.parent.mkdir(parents=True)
    for content in (b"", b"no weights"):
        path.write_bytes(content)
        with pytest.raises(CourseError, match="they cannot be read"):
            published.load_efficientnet()
    torch.save({"another": torch.zeros(1)}, path)
    with pytest.raises(CourseError, match="they cannot be read"):
        published.load_efficientnet()


def test_the_photographs_that_it_should_know():
    known = published.known_photographs()
    assert len(known) >= 40
    assert all(one.pixels.shape == (224, 224, 3) for one in known)
    assert Counter(one.classes[0] for one in known).most_common(1)[0][1] == 1
    assert all(0 <= number < 1000 for one in known for number in one.classes)


@extra
def test_its_first_answer_is_right_on_eight_of_ten():
    known = published.known_photographs()
    encoder = published.load_efficientnet()
    answers = encoder.classify([one.pixels for one in known], count=5)
    right = {one.name: best[0][0] in one.classes for one, best in zip(known, answers, strict=True)}
    wrong = [name for name, hit in right.items() if not hit]
    assert sum(right.values()) >= 0.8 * len(known), wrong
    assert all(right[name] for name in ("zebra", "violin", "duck", "flamingo")), wrong
    for best in answers:
        chances = [chance for _, chance in best]
        assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1.0001


@extra
@pytest.mark.parametrize("trap", nightly_but(["padding"], ["scale", "padding", "epsilon"]))
def test_the_traps_of_the_weights_cost_certainty(monkeypatch, trap):
    """Input from 0 to 1, PyTorch's own padding, its usual epsilon: each makes the answers worse."""
    known = published.known_photographs()[::3]
    encoder = published.load_efficientnet()

    def certainty():
        """The mean probability of the right classes."""
        with torch.inference_mode():
            chances = encoder.model(encoder.prepare([one.pixels for one in known])).softmax(-1)
        right = [row[list(one.classes)].sum() for row, one in zip(chances, known, strict=True)]
        return sum(right).item() / len(known)

    before = certainty()
    if trap == "scale":
        ready = encoder.prepare
        monkeypatch.setattr(encoder, "prepare", lambda pictures: (ready(pictures) + 1) / 2)
    elif trap == "padding":
        monkeypatch.setattr(
            efficientnet.SameConvolution,
            "forward",
            lambda self, x: nn.functional.conv2d(
                x, self.weight, None, self.stride, self.kernel_size[0] // 2, 1, self.groups
            ),
        )
    else:
        for module in encoder.model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eps = 1e-5
    assert before > 0.6
    assert certainty() < before - 0.005


class Counting(nn.Module):
    """A stand-in for the network that counts the pictures it sees, and hangs after some."""

    def __init__(self, most=math.inf):
        super().__init__()
        self.classifier = nn.Linear(1, 1)
        self.seen, self.most = 0, most

    def features(self, x):
        if self.seen >= self.most:
            time.sleep(600)
        self.seen += len(x)
        return x.mean((2, 3))[:, :, None, None].expand(-1, -1, 7, 7)


def some(count, seed=0):
    rng = numpy.random.default_rng(seed)
    return [rng.integers(0, 256, (20, 30, 3), dtype=numpy.uint8) for _ in range(count)]


def test_no_picture_is_computed_twice(tmp_path):
    encoder = PictureEncoder(Counting(), "counting")
    pictures = some(20)
    first = encoder.features([*pictures, pictures[0]], tmp_path)
    assert first.shape == (21, 3, 7, 7) and first.dtype == torch.float16
    assert encoder.model.seen == 20 == len(list((tmp_path / "counting").iterdir()))
    again = encoder.features(pictures[::-1], tmp_path)
    assert torch.equal(again, first[:20].flip(0)) and encoder.model.seen == 20
    torch.testing.assert_close(first[:20].float(), encoder.compute(pictures), atol=1e-3, rtol=1e-3)
    changed = pictures[3].copy()
    changed[0, 0, 0] ^= 1  # by its content, not by its place
    seen = encoder.model.seen
    encoder.features([changed], tmp_path)
    assert encoder.model.seen == seen + 1
    other = PictureEncoder(Counting(), "other weights")
    other.features(pictures[:2], tmp_path)
    assert other.model.seen == 2


def test_a_damaged_file_is_made_again(tmp_path):
    encoder = PictureEncoder(Counting(), "counting")
    pictures = some(3)
    first = encoder.features(pictures, tmp_path)
    paths = sorted((tmp_path / "counting").iterdir())
    paths[0].write_bytes(paths[0].read_bytes()[:100])
    paths[1].write_bytes(b"")
    numpy.save(paths[2], numpy.zeros(3))
    assert torch.equal(encoder.features(pictures, tmp_path), first)
    assert encoder.model.seen == 6


def fill(folder):
    PictureEncoder(Counting(most=96), "counting").features(some(160), Path(folder))


@pytest.mark.nightly
def test_a_killed_run_loses_one_batch_at_most(tmp_path):
    # In a Python of its own: a fork of this one could wait for ever for a lock of another thread.
    command = [sys.executable, "-c", f"from {__name__} import fill; fill({str(tmp_path)!r})"]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        deadline = time.monotonic() + 300
        while len(list(tmp_path.glob("counting/*.npy"))) < 32 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    kept = len(list(tmp_path.glob("counting/*.npy")))
    assert 32 <= kept < 160
    encoder = PictureEncoder(Counting(), "counting")
    found = encoder.features(some(160), tmp_path)
    assert encoder.model.seen == 160 - kept
    torch.testing.assert_close(found.float(), encoder.compute(some(160)), atol=1e-3, rtol=1e-3)


def test_the_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    from seqcourse.zoo.published import efficientnet as module

    monkeypatch.setenv(module.CACHE_VARIABLE, str(tmp_path))
    PictureEncoder(Counting(), "counting").features(some(1))
    assert len(list((tmp_path / "features/counting").iterdir())) == 1


def test_a_square_is_the_middle():
    picture = numpy.zeros((40, 80, 3), numpy.uint8)
    picture[:, 20:60] = 200
    assert (square(picture, 40) == 200).all()
    assert (square(picture, 10)[:, 1:-1] > 190).all()
    assert square(picture[:, 20:60], 40).shape == (40, 40, 3)
