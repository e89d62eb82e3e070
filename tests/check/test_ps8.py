"""The examples with numbers in the text of assignment 8, and what its own checks rest on."""

from __future__ import annotations

import pytest
import torch

from seqcourse import data, functional
from seqcourse.check import Mistake, ps8
from seqcourse.check.inside.ps8 import Looker
from tests.check.texts import tensor, texts

TEXT = texts("ps8")


def test_a_message_says_which_loss_it_means():
    def train(model, optimizer, batches, share, clip):
        losses = []
        for grid, captions in batches:
            logits, weights = model(grid, captions)
            penalty = functional.doubly_stochastic(weights, captions != data.PAD)
            loss = functional.sequence_loss(logits, captions) + share * penalty
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            losses.append(loss.item() + (len(losses) == 1))
        return losses

    with pytest.raises(Mistake, match="^train: the loss of the second batch is a number, but not"):
        ps8.train(train)


def test_cut_patches():
    image = tensor([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    assert ps8.cut_patches.reference(image, 2).tolist() == [[[1, 2, 5, 6], [3, 4, 7, 8]]]
    text = TEXT["ps8-cut_patches-md"]
    assert "`[[1, 2, 3, 4], [5, 6, 7, 8]]`" in text and "`[[1, 2, 5, 6], [3, 4, 7, 8]]`" in text


def test_embed_patches():
    given = [[[3]]], [[2], [0]], [1, 0], [5, 5], [[0, 0], [10, 10]]
    found = ps8.embed_patches.reference(*map(tensor, given))
    assert found.tolist() == [[[5, 5], [17, 10]]]
    assert "The result is `[[5, 5], [17, 10]]`" in TEXT["ps8-embed_patches-md"]


@pytest.mark.parametrize(
    ("box", "hit"), [((20, 40, 40, 60), True), ((30, 45, 60, 60), True), ((10, 40, 30, 60), False)]
)
def test_points_at(box, hit):
    maps = tensor([[[0.1, 0.2, 0.1], [0.1, 0.4, 0.1]]])
    assert ps8.points_at.reference(maps, tensor([box]), 60).tolist() == [hit]
    text = TEXT["ps8-points_at-md"]
    assert "`[[0.1, 0.2, 0.1], [0.1, 0.4, 0.1]]`" in text and str(box) in text


@pytest.mark.parametrize("seed", range(20))
def test_boxes_are_hit_and_missed_and_some_end_in_a_centre(seed):
    given = ps8.points_at.make(60, 3, 5, seed=seed)
    hits = ps8.points_at.reference(**given)
    assert 10 < hits.sum() < 45
    maps, boxes, size = given.values()
    flat = maps.flatten(1).argmax(dim=1)
    x = (flat % 5 + 0.5) * size / 5
    assert (boxes[:, 0] == x).any() and (boxes[:, 2] == x).any()
    assert torch.allclose(maps.sum(dim=(1, 2)), torch.ones(60).double())
    alone = ps8.points_at.make(1, 4, 4, kind="hit", seed=seed)
    assert ps8.points_at.reference(**alone).tolist() == [True]


@pytest.mark.parametrize(("real", "told"), [([[True, True]], "0.5"), ([[True, False]], "0.82")])
def test_doubly_stochastic(real, told):
    weights = tensor([[[0.9, 0.1], [0.6, 0.4]]])
    found = ps8.doubly_stochastic.reference(weights, torch.tensor(real))
    assert f"{found.item():.2f}".rstrip("0") == told
    assert f"= {told}$" in TEXT["ps8-doubly_stochastic-md"]


def test_rollout():
    layers = tensor([[[0.5, 0.5], [0, 1]], [[0, 1], [1, 0]]])[None, :, None]
    assert ps8.rollout.reference(layers).tolist() == [[0.625]]
    text = TEXT["ps8-rollout-md"]
    assert "`[0.375, 0.625]`" in text and "share is 0.625." in text
    given = ps8.rollout.make(2)["weights"]
    whole = functional.attention_rollout(given)[:, 0, 1:]
    assert torch.allclose(ps8.rollout.reference(given), whole)


@pytest.mark.parametrize("row", [[1, 2, 3], [1, 2, 3, 9]])
def test_pyramid_layer(row):
    x, lengths = tensor(row)[None, :, None], torch.tensor([3])
    pairs, halved = ps8.pyramid_layer.reference(x, lengths, lambda pairs, lengths: pairs)
    assert pairs.tolist() == [[[1, 2], [3, 0]]] and halved.tolist() == [2]
    assert "`[1, 2]` and `[3, 0]`" in TEXT["ps8-pyramid_layer-md"]


def test_the_padding_of_the_inputs_is_never_zero():
    given = ps8.pyramid_layer.make([5, 2, 3], extra=1)
    assert (given["x"] != 0).all()


def test_caption_step():
    def readout(y, s, c):
        return 100 * y + 10 * s + c

    logits, (s, m), weights = ps8.caption_step.reference(
        tensor([[3]]),
        (tensor([[1]]), tensor([[7]])),
        tensor([[[4]]]),
        lambda s, grid: grid[..., 0] * s,
        lambda s: 0 * s,
        lambda x, state: (x.sum(dim=-1, keepdim=True) + state[0], state[1]),
        readout,
    )
    assert [v.item() for v in (logits, s, m, weights)] == [362, 6, 7, 1]
    text = TEXT["ps8-caption_step-md"]
    assert "the new state is 6 and the logit $300 + 60 + 2 = 362$" in text


def test_the_loop_adds_a_share_of_the_penalty():
    assert 1.2 + 0.1 * 0.5 == pytest.approx(1.25)
    assert "its loss with `share` 0.1 is 1.25" in TEXT["ps8-train-md"]
    given = ps8.train.make([4, 2, 3], clip=50.0)
    (first, *_), _ = ps8.train.reference(**given)
    (plain, *_), _ = ps8.train.reference(**{**given, "share": 0.0})
    model = Looker(*given["weights"])
    grid, captions = given["batches"][0]
    logits, weights = model(grid, captions)
    assert plain == pytest.approx(functional.sequence_loss(logits, captions).item())
    penalty = functional.doubly_stochastic(weights, captions != 0).item()
    assert first == pytest.approx(plain + given["share"] * penalty)


def test_pictures_of_the_captioner_show_what_their_captions_name():
    given = ps8.Captioner.make(places=5)
    strongest = given["grids"][..., :4].amax(dim=-1).argmax(dim=-1)
    short = given["texts"][:, 2] == 0
    assert 5 < short.sum() < 60 and torch.equal(strongest == 4, short)
    assert (given["other"][:, 0] != given["captions"][:, 0]).all()


def test_the_broken_captioner_of_the_notebook_has_each_of_the_three_faults():
    def fresh(*arguments):
        space = {"torch": torch, "data": data, "caption_step": ps8.caption_step.reference}
        exec(TEXT["ps8-broken-given"], space)
        return [space["Broken"]()(*arguments) for _ in range(2)]

    right = ps8.mended.reference
    one_cell = ps8.mended.make(1, rows=1, columns=1, seed=3)
    first, second = fresh(*one_cell.values())
    assert torch.equal(first[0], right(**one_cell)[0])  # all is well but for the second call
    assert torch.equal(second[0][:, : first[0].shape[1]], first[0]) and len(second[0]) < len(
        second[0][0]
    )
    several = ps8.mended.make(4, rows=1, columns=1, seed=3)
    assert fresh(*several.values())[0][0].shape[1] < right(**several)[0].shape[1]
    larger = ps8.mended.make(1, seed=3)
    assert not torch.allclose(fresh(*larger.values())[0][1][:, 0], right(**larger)[1][:, 0])


def test_co_attention():
    one = (tensor([[1]]),) * 3
    mask = torch.ones(1, 1, dtype=torch.bool)
    x, y, *weights = ps8.co_attention.reference(tensor([[[2]]]), tensor([[[3]]]), mask, mask, one, one)
    assert (x.item(), y.item()) == (5, 5) and all(a.item() == 1 for a in weights)
    assert "$x' = 2 + 3 = 5$ and $y' = 3 + 2 = 5$" in TEXT["ps8-co_attention-md"]


def test_no_stream_reads_padding():
    given = ps8.co_attention.make(2, 4, 5, n_lengths=[4, 2], m_lengths=[3, 5])
    _, _, a, b = ps8.co_attention.reference(**given)
    assert (a[0, :, 3:] == 0).all() and (b[1, :, 2:] == 0).all()
    for weights in (a, b):
        assert torch.allclose(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
