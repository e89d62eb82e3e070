"""Two streams that answer questions: who can know what, and what the maps show."""

from __future__ import annotations

import pytest
import torch

from seqcourse import models
from seqcourse import nn as course_nn

PICTURES = torch.randint(0, 256, (3, 3, 16, 16), generator=torch.manual_seed(0), dtype=torch.uint8)
TOKENS = torch.randint(4, 19, (3, 6), generator=torch.manual_seed(1))
LENGTHS = torch.tensor([6, 4, 2])


def two_stream(fusion: str = "co-attention", **options) -> models.TwoStream:
    torch.manual_seed(0)
    sizes = {"width": 16, "heads": 2, "layers": 2, "size": 16, "channels": [4, 8], **options}
    model = models.TwoStream(19, 7, fusion=fusion, **sizes)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    return model.double().eval()


@pytest.mark.parametrize("fusion", ["co-attention", "apart"])
def test_padding_does_not_matter_and_real_words_do(fusion):
    model = two_stream(fusion)
    before = model(PICTURES, TOKENS, LENGTHS).answers
    assert before.shape == (3, 7)
    padded = TOKENS.clone()
    padded[1, 4:], padded[2, 2:] = 0, 0
    torch.testing.assert_close(model(PICTURES, padded, LENGTHS).answers, before)
    changed = TOKENS.clone()
    changed[:, 1] = (changed[:, 1] - 3) % 15 + 4
    assert (model(PICTURES, changed, LENGTHS).answers - before).abs().amax(1).min() > 1e-4


def test_both_ways_see_the_picture_and_have_the_same_parameters():
    other = PICTURES.flip(3)
    for fusion in ("co-attention", "apart"):
        model = two_stream(fusion)
        moved = model(other, TOKENS, LENGTHS).answers - model(PICTURES, TOKENS, LENGTHS).answers
        assert (moved.abs().amax(1) > 1e-4).all()
    both = (two_stream(fusion).state_dict() for fusion in ("apart", "co-attention"))
    first, second = ({name: value.shape for name, value in state.items()} for state in both)
    assert first == second


def test_grids_of_another_model_go_in_as_they_are():
    whole, rest = two_stream(), two_stream(channels=None)
    found = rest.load_state_dict(whole.state_dict(), strict=False)
    assert not found.missing_keys
    grids = whole.encoder(PICTURES)
    out = rest(grids, TOKENS, LENGTHS)
    torch.testing.assert_close(out.answers, whole(PICTURES, TOKENS, LENGTHS).answers)
    assert out.regions is None
    namer = models.GridNamer(7, width=16, size=16, channels=[4, 8]).double().eval()
    namer.load_state_dict(whole.state_dict(), strict=False)
    torch.testing.assert_close(namer(PICTURES), grids)


def test_streams_apart_do_not_interact_before_the_product():
    """The vector of the picture is the same whatever is asked; with co-attention it is not."""
    other = (TOKENS - 3) % 15 + 4
    for fusion, interacts in (("co-attention", True), ("apart", False)):
        model, found = two_stream(fusion), []
        hook = model.picture_norm.register_forward_hook(
            lambda module, read, out, found=found: found.append(out)
        )
        model(PICTURES, TOKENS, LENGTHS), model(PICTURES, other, LENGTHS)
        hook.remove()
        assert torch.allclose(*found) is not interacts


def test_regions_are_told_place_by_place_and_do_not_know_the_question():
    model = two_stream()
    out = model(PICTURES, TOKENS, LENGTHS)
    assert out.regions.shape == (3, 16, 7)
    torch.testing.assert_close(model(PICTURES, TOKENS.flip(1), LENGTHS).regions, out.regions)


@pytest.mark.parametrize("fusion", ["co-attention", "apart"])
def test_as_many_questions_as_words_are_no_doubt(fusion):
    """Three questions of three words: a mask of the keys could be one of queries and keys."""
    model, lengths = two_stream(fusion), torch.tensor([3, 2, 1])
    together = model(PICTURES, TOKENS[:, :3], lengths).answers
    alone = model(PICTURES[2:], TOKENS[2:, :1], lengths[2:]).answers
    torch.testing.assert_close(together[2:], alone)


def test_maps_of_both_directions():
    model = two_stream()
    at_words, at_places = model.maps(PICTURES, TOKENS, LENGTHS)
    assert at_words.shape == (3, 2, 2, 16, 6) and at_places.shape == (3, 2, 2, 6, 16)
    torch.testing.assert_close(at_words.sum(-1), torch.ones(3, 2, 2, 16, dtype=torch.float64))
    torch.testing.assert_close(at_places.sum(-1), torch.ones(3, 2, 2, 6, dtype=torch.float64))
    assert (at_words[1, ..., 4:] == 0).all() and (at_words[2, ..., 2:] == 0).all()
    found = []
    hook = model.meetings[0].register_forward_hook(lambda module, read, out: found.append(read))
    model(PICTURES, TOKENS, LENGTHS)
    hook.remove()
    _, _, (first, _) = model.meetings[0](*found[0], y_mask=torch.arange(6) < LENGTHS[:, None],
                                         need_weights=True)  # fmt: skip
    torch.testing.assert_close(at_words[:, 0], first)
    assert isinstance(model.meetings[0], course_nn.CoAttention)


def test_what_does_not_fit_gets_a_sentence():
    with pytest.raises(ValueError, match="co-attention, apart"):
        models.TwoStream(19, 7, fusion="sum")
    with pytest.raises(ValueError, match="no co-attention to show"):
        two_stream("apart").maps(PICTURES, TOKENS, LENGTHS)
    with pytest.raises(ValueError, match="learned 4 positions"):
        two_stream(longest=4)(PICTURES, TOKENS, LENGTHS)
    with pytest.raises(ValueError, match="between 1 and the padded length 6, but they go from 0 to 6"):
        two_stream()(PICTURES, TOKENS, torch.tensor([6, 4, 0]))
