"""GPT and BERT: who sees whom, one by one as all at once, what a classifier reads."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqcourse import data, decode, models, train

TOKENS = torch.randint(4, 19, (3, 7), generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([7, 4, 1])
MASK = torch.arange(7)[None] < LENGTHS[:, None]
SEGMENTS = (torch.arange(7)[None] >= 3).long().expand(3, 7)


def gpt(**options) -> models.GPT:
    torch.manual_seed(0)
    return lively(models.GPT(19, 16, 4, 2, longest=12, **options))


def bert(**options) -> models.BERT:
    torch.manual_seed(0)
    return lively(models.BERT(19, 16, 4, 2, longest=12, **options))


def lively(model: nn.Module) -> nn.Module:
    """With larger numbers than a model begins with, so that nothing is close to anything."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model.double().eval()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_gpt_step_by_step_gives_what_all_at_once_gives(norm, positions):
    model = gpt(norm=norm, positions=positions)
    whole = model(TOKENS).logits
    state = model.start(batch_size=3)
    for t in range(7):
        out = model.step(TOKENS[:, t], state)
        state = out.state
        torch.testing.assert_close(out.logits, whole[:, t])
    assert state[0][0].shape == (3, 4, 7, 4)


def test_a_soft_start_changes_only_how_a_gpt_begins():
    def begun(**options):
        torch.manual_seed(0)
        return models.GPT(19, 16, 4, 2, longest=12, **options).eval()

    usual, soft = begun(), begun(soft_start=True)
    assert begun(soft_start=True, positions="none").positions.table is None
    with torch.no_grad():
        inputs = [model._embed(TOKENS) for model in (usual, soft)]
        changes = [
            m.blocks[0](x, causal=True)[0] - x for m, x in zip((usual, soft), inputs, strict=True)
        ]
    added = [float(y.norm() / x.norm()) for x, y in zip(inputs, changes, strict=True)]
    assert 10 * added[1] < added[0]  # what the first block adds to its input
    table = soft.positions.table
    near, far = (((table[k:] - table[:-k]) ** 2).sum(1) for k in (1, 5))
    assert torch.allclose(near, near[0].expand_as(near), atol=1e-6)  # a shift is the same everywhere
    assert near[0] < far[0]
    usual.load_state_dict(soft.state_dict())
    torch.testing.assert_close(usual.states(TOKENS), soft.states(TOKENS))


def test_gpt_never_looks_ahead_and_bert_does():
    changed = TOKENS.clone()
    changed[:, 4] = (changed[:, 4] - 3) % 15 + 4
    one, two = gpt(), bert()
    torch.testing.assert_close(one.states(changed)[:, :4], one.states(TOKENS)[:, :4])
    assert (one.states(changed)[:, 4:] - one.states(TOKENS)[:, 4:]).abs().amax((0, 2)).min() > 1e-3
    assert (two.states(changed) - two.states(TOKENS)).abs().amax((0, 2)).min() > 1e-3


def test_bert_does_not_see_padding_but_sees_segments():
    model = bert()
    padded = TOKENS.where(MASK, torch.tensor(5))
    before, after = (model.states(t, MASK, SEGMENTS)[MASK] for t in (TOKENS, padded))
    torch.testing.assert_close(before, after)
    assert (model.states(TOKENS, MASK)[MASK] - before).abs().max() > 1e-3
    other = model.states(TOKENS, MASK, 0 * SEGMENTS)[MASK]
    torch.testing.assert_close(model.states(TOKENS, MASK)[MASK], other)


def test_berts_encoder_is_torchs():
    """Post-norm blocks against PyTorch's encoder layer, weights copied, padding and all."""
    ours = bert()
    theirs = nn.TransformerEncoderLayer(
        16, 4, 64, 0.0, activation="gelu", batch_first=True, dtype=torch.float64
    )
    x = ours.embedding_norm(
        ours.embedding[TOKENS] + ours.positions.table[:7] + ours.segment_embedding[SEGMENTS]
    )
    for block in ours.blocks:
        with torch.no_grad():
            theirs.self_attn.in_proj_weight.copy_(block.self_attention.in_weight)
            theirs.self_attn.in_proj_bias.copy_(block.self_attention.in_bias)
            theirs.self_attn.out_proj.load_state_dict(block.self_attention.out.state_dict())
            theirs.linear1.load_state_dict(block.mlp.inner.state_dict())
            theirs.linear2.load_state_dict(block.mlp.outer.state_dict())
            for own, other in ((block.self_norm, theirs.norm1), (block.mlp_norm, theirs.norm2)):
                other.weight.copy_(own.gamma)
                other.bias.copy_(own.beta)
        x = theirs(x, src_key_padding_mask=~MASK)
    torch.testing.assert_close(ours.states(TOKENS, MASK, SEGMENTS)[MASK], x[MASK])


def test_berts_two_heads():
    model = bert()
    out = model(TOKENS, MASK, SEGMENTS)
    assert out.words.shape == (3, 7, 19) and out.follows.shape == (3, 2)
    only_first = model.states(TOKENS, MASK, SEGMENTS)
    only_first[:, 1:] = 0
    torch.testing.assert_close(out.follows, model.follows(model.pooled(only_first)))
    body = models.BERT(19, 16, 4, 2, longest=12, pretraining=False)
    extra = set(model.state_dict()) - set(body.state_dict())
    assert {name.split(".")[0] for name in extra} == {"word_dense", "word_norm", "word_bias", "follows"}


def test_as_many_texts_as_words_are_no_doubt_for_bert():
    """Three texts of three words: a causal mask is refused, and what the package asks for itself is
    told apart by an axis."""
    tokens, lengths = TOKENS[:, :3], torch.tensor([3, 2, 1])
    mask, segments = torch.arange(3)[None] < lengths[:, None], SEGMENTS[:, :3]
    model = bert()
    with pytest.raises(ValueError, match=r"two readings here.*mask\[:, None\] if.*mask\[None\] if"):
        model(tokens, torch.ones(3, 3, dtype=torch.bool).tril())
    out = model(tokens, mask[:, None], segments)
    for row, length in enumerate(lengths):
        alone = model(tokens[row : row + 1, :length], segments=segments[row : row + 1, :length])
        torch.testing.assert_close(alone.words[0], out.words[row, :length])
    batch = data.MaskedBatch(
        tokens, lengths, segments, tokens.where(mask, -100), torch.tensor([1, 0, 1])
    )
    parts = (out.words[mask], tokens[mask]), (out.follows, batch.follows)
    expected = sum(nn.functional.cross_entropy(*part) for part in parts)
    torch.testing.assert_close(train.bert_loss(model, batch).double(), expected, rtol=1e-5, atol=1e-5)
    classifier = models.Classifier(model, 5).double()
    alone = classifier(tokens[2:, :1], lengths[2:])
    torch.testing.assert_close(classifier(tokens, lengths).classes[2:], alone.classes)


@pytest.mark.parametrize("make", [gpt, bert])
def test_a_classifier_reads_the_real_text_and_no_padding(make):
    torch.manual_seed(1)
    model = models.Classifier(make(), 5).double()
    out = model(TOKENS, LENGTHS, need_words=True)
    assert out.classes.shape == (3, 5) and out.words.shape == (3, 7, 19)
    padded = TOKENS.where(MASK, torch.tensor(5))
    torch.testing.assert_close(model(padded, LENGTHS).classes, out.classes)
    for row, length in enumerate(LENGTHS):
        alone = model(TOKENS[row : row + 1, :length], LENGTHS[row : row + 1])
        torch.testing.assert_close(alone.classes[0], out.classes[row])
    first = TOKENS.clone()
    first[:, 0] = (first[:, 0] - 3) % 15 + 4
    assert ((model(first, LENGTHS).classes - out.classes).abs().amax(1) > 1e-4).all()


@pytest.mark.parametrize("make", [gpt, bert])
@pytest.mark.parametrize(("wrong", "range"), [(0, "0 to 7"), (-1, "-1 to 7"), (99, "3 to 99")])
def test_an_empty_text_is_not_classified_from_its_padding(make, wrong, range):
    lengths = torch.tensor([7, 3, wrong])
    with pytest.raises(ValueError, match=f"between 1 and the padded length 7, but they go from {range}"):
        models.Classifier(make(), 5).double()(TOKENS, lengths)


@pytest.mark.parametrize("make", [gpt, bert])
def test_maps_are_weights(make):
    maps = make().maps(TOKENS)
    assert maps.shape == (3, 2, 4, 7, 7)
    torch.testing.assert_close(maps.sum(-1), torch.ones(3, 2, 4, 7).double())
    assert (maps.triu(1) == 0).all() == (make is gpt)


def test_a_text_that_is_too_long_is_a_sentence():
    for model in (gpt(), bert()):
        with pytest.raises(ValueError, match="learned 12 positions, but the sequence needs 13"):
            model.states(torch.full((1, 13), 5))


def test_sampling_drives_gpt():
    prefix = torch.tensor([[5, 6]])
    one, two = (
        decode.sample(
            gpt(), None, max_len=6, prefix=prefix, generator=torch.Generator().manual_seed(seed)
        )[0]
        for seed in (0, 0)
    )
    assert one.tokens == two.tokens and 1 <= len(one.tokens) <= 6


def test_a_step_through_float32_gradients_reaches_every_parameter():
    model = gpt()
    model(TOKENS).logits.sin().sum().backward()
    assert all(p.grad.abs().max() > 0 for p in model.parameters() if p is not model.positions.table)
    assert (model.positions.table.grad.abs().amax(1) > 0).tolist() == [True] * 7 + [False] * 5
