"""The Transformer: against torch.nn.Transformer, no look ahead, one by one as all at once."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from seqcourse import data, decode, models
from seqcourse.train import Trainer, TrainingConfig, teacher_forcing_loss

SRC = torch.randint(3, 20, (3, 7), generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([7, 4, 1])
TGT = torch.randint(3, 23, (3, 6), generator=torch.Generator().manual_seed(1))


def make(norm="pre", **options) -> models.Transformer:
    torch.manual_seed(0)
    return models.Transformer(20, 23, 16, 4, 2, norm=norm, **options).double().eval()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_same_logits_and_gradients_as_torch_nn_transformer(norm):
    ours = make(norm)
    theirs = nn.Transformer(
        16, 4, 2, 2, 64, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    ).eval()
    if norm == "post":  # PyTorch normalises once more; the paper does not
        theirs.encoder.norm = theirs.decoder.norm = None
    load(theirs, ours)
    x, y = (
        positions(embed * 4) for embed, positions in (
            (ours.source_embedding[SRC], ours.source_positions),
            (ours.target_embedding[TGT], ours.target_positions),
        )
    )  # fmt: skip
    hidden = torch.arange(7)[None] >= LENGTHS[:, None]
    ahead = torch.ones(6, 6, dtype=torch.bool).triu(1)
    states = theirs(x, y, tgt_mask=ahead, src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
    expected = states @ ours.target_embedding.T + ours.output_bias
    logits = ours(SRC, LENGTHS, TGT).logits
    torch.testing.assert_close(logits, expected)
    one = torch.autograd.grad(logits.sin().sum(), ours.source_embedding)
    two = torch.autograd.grad(expected.sin().sum(), ours.source_embedding)
    torch.testing.assert_close(one, two)


def load(theirs: nn.Transformer, ours: models.Transformer) -> None:
    """Copy our weights into PyTorch's module."""
    norms = {"self_norm": "norm1", "mlp_norm": "norm2"}, {
        "self_norm": "norm1", "cross_norm": "norm2", "mlp_norm": "norm3"
    }  # fmt: skip
    stacks = (ours.encoder, theirs.encoder, norms[0]), (ours.decoder, theirs.decoder, norms[1])
    with torch.no_grad():
        for blocks, stack, names in stacks:
            for block, layer in zip(blocks, stack.layers, strict=True):
                pairs = [(block.self_attention, layer.self_attn)]
                if block.cross_attention is not None:
                    pairs.append((block.cross_attention, layer.multihead_attn))
                for own, other in pairs:
                    other.in_proj_weight.copy_(own.in_weight)
                    other.in_proj_bias.copy_(own.in_bias.normal_())
                    other.out_proj.load_state_dict(own.out.state_dict())
                layer.linear1.load_state_dict(block.mlp.inner.state_dict())
                layer.linear2.load_state_dict(block.mlp.outer.state_dict())
                for own, other in names.items():
                    getattr(layer, other).weight.copy_(getattr(block, own).gamma.normal_())
                    getattr(layer, other).bias.copy_(getattr(block, own).beta.normal_())


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_step_by_step_gives_what_all_at_once_gives(norm, positions):
    model = make(norm, positions=positions)
    whole = model(SRC, LENGTHS, TGT, need_weights=True)
    memory = model.encode(SRC, LENGTHS)
    state = model.start(memory)
    for t in range(6):
        out = model.step(TGT[:, t], state, memory)
        state = out.state
        torch.testing.assert_close(out.logits, whole.logits[:, t])
        torch.testing.assert_close(out.weights, whole.weights[:, t])


def test_a_length_for_each_sentence_is_asked_for():
    with pytest.raises(ValueError, match=r"each of the 3 sequences, but lengths is \(1,\)"):
        make().encode(SRC, LENGTHS[:1])


def test_no_word_sees_what_comes_later_nor_padding():
    model = make()
    before = model(SRC, LENGTHS, TGT).logits
    later = TGT.clone()
    later[:, 3:] = 5
    torch.testing.assert_close(model(SRC, LENGTHS, later).logits[:, :3], before[:, :3])
    padded = SRC.clone()
    padded[1, 4:] = 9
    torch.testing.assert_close(model(padded, LENGTHS, TGT).logits, before)


def test_the_order_of_the_source_counts_only_through_the_positions():
    turned = SRC.flip(1)
    full = torch.full((3,), 7)
    blind = make(positions="none")
    torch.testing.assert_close(blind(SRC, full, TGT).logits, blind(turned, full, TGT).logits)
    for seeing in (make(positions="sinusoidal"), make(positions="rotary")):
        assert (seeing(SRC, full, TGT).logits - seeing(turned, full, TGT).logits).abs().max() > 0.01


def test_as_many_sentences_as_words_are_no_doubt():
    """Three sentences of three words, three words each to say: every mask is (3, 3)."""
    model = make()
    src, tgt, lengths = SRC[:3, :3], TGT[:3, :3], torch.tensor([3, 2, 1])
    logits, maps = model(src, lengths, tgt).logits, model.maps(src, lengths, tgt)
    for row, length in enumerate(lengths):
        one = src[row : row + 1, :length], lengths[row : row + 1], tgt[row : row + 1]
        torch.testing.assert_close(model(*one).logits[0], logits[row])
        torch.testing.assert_close(model.maps(*one).encoder[0], maps.encoder[row][..., :length, :length])


def test_the_three_kinds_of_maps():
    model = make()
    maps = model.maps(SRC, LENGTHS, TGT)
    assert maps.encoder.shape == (3, 2, 4, 7, 7)
    assert maps.decoder.shape == (3, 2, 4, 6, 6)
    assert maps.cross.shape == (3, 2, 4, 6, 7)
    for found in vars(maps).values():
        torch.testing.assert_close(found.sum(-1), torch.ones(found.shape[:-1]).double())
    assert (maps.decoder.triu(1) == 0).all() and (maps.cross[1, ..., 4:] == 0).all()
    expected = model(SRC, LENGTHS, TGT, need_weights=True).weights
    torch.testing.assert_close(maps.cross[:, -1].mean(1), expected)


def test_the_parameters_counted_by_hand():
    d, d_ff, layers = 16, 64, 2
    attention, mlp, norm = 4 * d * d + 4 * d, 2 * d * d_ff + d + d_ff, 2 * d
    encoder = layers * (attention + mlp + 2 * norm) + norm
    decoder = layers * (2 * attention + mlp + 3 * norm) + norm
    embeddings = (20 + 23) * d + 23
    assert sum(p.numel() for p in make().parameters()) == encoder + decoder + embeddings


def test_beam_search_drives_it_and_a_wide_beam_finds_the_best():
    model = make()
    memory = model.encode(SRC, LENGTHS)
    for kept in (1, 3):
        found = decode.beam_search(model, memory, max_len=4, beam_width=kept)
        assert len(found) == 3
    best = decode.exhaustive_search(model, model.encode(SRC[:1], LENGTHS[:1]), max_len=2)
    wide = decode.beam_search(model, model.encode(SRC[:1], LENGTHS[:1]), max_len=2, beam_width=600)
    assert math.isclose(best[0][0].log_prob, wide[0][0].log_prob, rel_tol=1e-9)


@pytest.mark.slow
def test_it_learns_to_reverse():
    torch.manual_seed(0)
    model = models.Transformer(14, 14, 32, 4, 1)
    pairs = data.copy_task(1280, (2, 5), reverse=True)
    batches = data.Batches(*pairs, batch_size=64, shuffle=True)
    trainer = Trainer(
        model, teacher_forcing_loss, TrainingConfig(epochs=25, learning_rate=5e-3, warmup_steps=50)
    )
    history = trainer.fit(batches)
    assert history.epoch_losses[-1] < 0.5 < history.epoch_losses[0]
