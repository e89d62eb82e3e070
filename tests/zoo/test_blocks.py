"""What each change of the block buys: a trial of the study, whose blocks differ in one part."""

import pytest
import torch

from seqcourse import models
from seqcourse.zoo.tasks import blocks


class Shelf(blocks.Library):
    """The books, of which only the first pages are read to measure."""

    def __init__(self) -> None:
        super().__init__()
        for split in ("valid", "test"):
            self.ids[split] = self.ids[split][:10_000]


@pytest.fixture(scope="module")
def library():
    return Shelf()


def test_blocks_differ_in_one_part_each(library):
    sizes = {
        name: models.number_of_parameters(library.model(**made)) for name, made in blocks.BLOCKS.items()
    }
    kinds = {name: made["positions"] for name, made in blocks.BLOCKS.items()}
    assert sizes["2020"] - blocks.BEYOND * blocks.WIDTH == sizes["no positions"] == sizes["rotary"]
    assert [kinds.pop(name) for name in ("2020", "no positions")] == ["learned", "none"]
    assert set(kinds.values()) == {"rotary"}
    changed = [
        set(blocks.BLOCKS[name]) - {"positions"} for name in kinds if name not in ("rotary", "today")
    ]
    assert all(len(names) == 1 for names in changed)
    assert abs(sizes["gated"] / sizes["rotary"] - 1) < 0.001 and sizes["window"] == sizes["rotary"]
    assert sizes["1 pair"] < sizes["2 pairs"] < sizes["4 pairs"] < sizes["rotary"]


def test_bits_are_those_of_single_texts(library):
    torch.manual_seed(0)
    model = library.model(positions="rotary").eval()
    ids, size = library.ids["valid"], blocks.LENGTH
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


@pytest.mark.nightly
def test_a_trial_of_the_study(monkeypatch):
    monkeypatch.setattr(blocks, "Library", Shelf)
    monkeypatch.setattr(blocks, "BLOCKS", {name: blocks.BLOCKS[name] for name in ("2020", "rotary")})
    found = blocks.measure([1e-3, 1e-2], [9], [0, 1], steps=4, every=2, windows=[16])
    assert found["rotary"]["parameters"] == found["2020"]["parameters"] - blocks.BEYOND * blocks.WIDTH
    for one in found.values():
        assert one["rate"] == float(min(one["tried"], key=one["tried"].get))
        assert [len(bits) for bits in one["bits"]] == [2, 2] and len(one["beyond"]) == 2
    assert list(found["rotary"]["windows"]) == ["16"]
