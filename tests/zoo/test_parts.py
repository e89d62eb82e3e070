"""What each change of the block buys: a trial of the study, whose blocks differ in one part."""

import pytest
import torch

from seqcourse import models
from seqcourse.zoo.tasks import parts


@pytest.fixture(scope="module")
def library():
    return parts.Library()


def test_blocks_differ_in_one_part_and_hardly_in_size(library):
    sizes = {
        name: models.number_of_parameters(library.model(**made))
        for name, made in {**parts.AGES, **parts.CHANGES}.items()
    }
    table = parts.BEYOND * parts.WIDTH  # of learned positions
    for name, made in parts.CHANGES.items():
        assert len(made) == 1
        without = sizes["2020"] - (table if "positions" in made else 0)
        if "group" not in name:
            assert abs(sizes[name] / without - 1) < 0.05, name
    assert sizes["1 group"] < sizes["2020"]


def test_bits_are_those_of_single_texts(library):
    torch.manual_seed(0)
    model = library.model(positions="rotary").eval()
    ids, size = library.ids["valid"], parts.LENGTH
    count = (len(ids) - 1) // size
    with torch.inference_mode():
        logs = [
            model(ids[None, k * size : (k + 1) * size])
            .logits[0, 40:]
            .log_softmax(-1)
            .gather(-1, ids[k * size + 41 : (k + 1) * size + 1, None])
            .mean()
            for k in range(count)
        ]
    expected = -torch.stack(logs).mean().item() / torch.log(torch.tensor(2.0)).item()
    assert library.bits(model, "valid", first=40) == pytest.approx(expected, rel=1e-5)


def test_a_window_at_reading_time_is_taken_out_again(library):
    torch.manual_seed(0)
    model = library.model(positions="rotary", window=30).eval()
    plain, narrow = library.beyond(model), library.beyond(model, 4)
    assert plain != narrow and library.beyond(model) == plain


def test_a_trial_of_the_study(monkeypatch):
    monkeypatch.setattr(parts, "AGES", {"2020": parts.AGES["2020"]})
    monkeypatch.setattr(parts, "CHANGES", {"rotary": parts.CHANGES["rotary"]})
    found = parts.measure([1e-3, 1e-2], [9], [0, 1], steps=4, every=2, windows=[16])
    assert found["rotary"]["parameters"] == found["2020"]["parameters"] - parts.BEYOND * parts.WIDTH
    for one in found.values():
        assert one["rate"] == float(min(one["tried"], key=one["tried"].get))
        assert [len(bits) for bits in one["bits"]] == [2, 2] and len(one["beyond"]) == 2
    assert list(found["rotary"]["windows"]) == ["16"]
