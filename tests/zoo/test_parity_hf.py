"""Small random models of HF transformers, and ours with the same weights: the same numbers."""

from __future__ import annotations

import pytest
import torch

from seqcourse import models
from seqcourse.errors import CourseError
from seqcourse.zoo.convert import FAMILIES, from_hf, to_hf

transformers = pytest.importorskip("transformers")
EXACT = dict(rtol=0, atol=1e-12)
# Their rotary angles are computed in 32 bits, and so are ours for whole positions.
ROTARY = dict(rtol=0, atol=3e-5)


def bert(**changes):
    config = transformers.BertConfig(
        vocab_size=37,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=50,
        max_position_embeddings=13,
        layer_norm_eps=1e-12,
        initializer_range=0.5,
        **changes,
    )
    torch.manual_seed(0)
    theirs = transformers.BertForPreTraining(config).double().eval()
    shaken(theirs)
    ours = models.BERT(37, 24, 4, 3, hidden=50, longest=13, eps=1e-12).double().eval()
    return theirs, ours


def gpt2():
    config = transformers.GPT2Config(
        vocab_size=41, n_positions=17, n_embd=20, n_layer=3, n_head=5, initializer_range=0.5
    )
    torch.manual_seed(1)
    theirs = transformers.GPT2LMHeadModel(config).double().eval()
    shaken(theirs)
    ours = models.GPT(41, 20, 5, 3, longest=17, activation="gelu_tanh").double().eval()
    return theirs, ours


def llama():
    config = transformers.LlamaConfig(
        vocab_size=43,
        hidden_size=48,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        intermediate_size=70,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        initializer_range=0.3,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    )
    torch.manual_seed(2)
    theirs = transformers.LlamaForCausalLM(config).double().eval()
    shaken(theirs)
    ours = models.GPT(43, 48, 6, 3, groups=2, hidden=70, base=100_000.0, **models.TODAY)
    ours = ours.double().eval()
    return theirs, ours


@torch.no_grad()
def shaken(model):
    """Biases and scales begin as zeros and ones, which would hide a mistake."""
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.add_(torch.randn_like(parameter) * 0.3)


MAKE = {"bert": bert, "gpt2": gpt2, "llama": llama}


@pytest.mark.parametrize("with_segments", [False, True])
@pytest.mark.parametrize("with_mask", [False, True])
def test_bert(with_mask, with_segments):
    theirs, ours = bert()
    ours.load_state_dict(from_hf("bert", theirs.state_dict()))
    tokens = torch.randint(37, (3, 11))
    lengths = torch.tensor([11, 4, 1])
    mask = torch.arange(11) < lengths[:, None] if with_mask else None
    segments = (torch.arange(11) > 5).long().expand(3, -1) if with_segments else None
    with torch.no_grad():
        expected = theirs(
            tokens,
            attention_mask=None if mask is None else mask.long(),
            token_type_ids=segments,
            output_hidden_states=True,
        )
        got = ours(tokens, mask, segments)
        states = ours.states(tokens, mask, segments)
    real = torch.ones(3, 11, dtype=torch.bool) if mask is None else mask
    torch.testing.assert_close(states[real], expected.hidden_states[-1][real], **EXACT)
    torch.testing.assert_close(got.words[real], expected.prediction_logits[real], **EXACT)
    # They say "follows" first, we second.
    torch.testing.assert_close(got.follows, expected.seq_relationship_logits.flip(1), **EXACT)


def test_a_mask_matters_to_bert():
    theirs, ours = bert()
    ours.load_state_dict(from_hf("bert", theirs.state_dict()))
    tokens = torch.randint(37, (1, 7))
    short = torch.arange(7)[None] < 4
    with torch.no_grad():
        masked, cut, whole = ours(tokens, short), ours(tokens[:, :4]), ours(tokens)
    torch.testing.assert_close(masked.words[:, :4], cut.words, **EXACT)
    assert not torch.allclose(masked.words[:, :4], whole.words[:, :4])


def test_gpt2():
    theirs, ours = gpt2()
    ours.load_state_dict(from_hf("gpt2", theirs.state_dict()))
    tokens = torch.randint(41, (2, 17))
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens).logits, theirs(tokens).logits, **EXACT)


def test_llama():
    theirs, ours = llama()
    ours.load_state_dict(from_hf("llama", theirs.state_dict()))
    tokens = torch.randint(43, (2, 19))
    with torch.no_grad():
        expected = theirs(tokens).logits
        torch.testing.assert_close(ours(tokens).logits, expected, **ROTARY)
        for block in ours.blocks:
            block.self_attention.rotary = 10_000.0  # far outside the tolerance: it can fail
        assert (ours(tokens).logits - expected).abs().max() > 1e-2


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_agree(family):
    theirs, ours = MAKE[family]()
    ours.load_state_dict(from_hf(family, theirs.state_dict()))
    tokens = torch.randint(1, 37, (2, 9))  # the embedding of their padding, 0, gets no gradient
    theirs_says, ours_says = theirs(tokens), ours(tokens)
    words = (
        (theirs_says.prediction_logits, ours_says.words)
        if family == "bert"
        else (theirs_says.logits, ours_says.logits)
    )
    for logits in words:
        logits.log_softmax(-1)[..., 3].sum().backward()
    expected = {name: p.grad for name, p in theirs.named_parameters() if p.grad is not None}
    mine = {name: p.grad for name, p in ours.named_parameters() if p.grad is not None}
    got = to_hf(family, mine)
    assert expected.keys() <= got.keys()
    close = 1e-2 if family == "llama" else 1e-9  # of sums over all words and places
    for name, gradient in expected.items():
        torch.testing.assert_close(got[name], gradient, rtol=0, atol=close)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_directions(family):
    theirs, ours = MAKE[family]()
    shaken(ours)
    # Ours, through their names and back, are ours; and their model takes the names.
    state = ours.state_dict()
    back = from_hf(family, to_hf(family, state))
    assert back.keys() == state.keys()
    assert all(torch.equal(back[name], state[name]) for name in state)
    missing = theirs.load_state_dict(to_hf(family, state), strict=False)
    assert not missing.unexpected_keys
    assert not missing.missing_keys
    tokens = torch.randint(37, (2, 9))
    with torch.no_grad():
        expected, got = theirs(tokens), ours(tokens)
    pair = (got.words, expected.prediction_logits) if family == "bert" else (got.logits, expected.logits)
    torch.testing.assert_close(*pair, **(ROTARY if family == "llama" else EXACT))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_body_alone(family):
    theirs, _ = MAKE[family]()
    body = theirs.base_model
    got = from_hf(family, body.state_dict())
    whole = from_hf(family, theirs.state_dict())
    assert got.items() and all(torch.equal(whole[name], tensor) for name, tensor in got.items())
    again = to_hf(family, got, prefix=False)
    assert all(torch.equal(again[name], tensor) for name, tensor in body.state_dict().items())


def test_what_does_not_fit_is_refused():
    theirs, _ = gpt2()
    state = theirs.state_dict()
    with pytest.raises(CourseError, match="should be one of bert, gpt2, llama"):
        from_hf("xlnet", state)
    with pytest.raises(CourseError, match="should hold"):
        from_hf("gpt2", {n: t for n, t in state.items() if "h.1.ln_2.weight" not in n})
    with pytest.raises(CourseError, match="should not hold"):
        from_hf("gpt2", {**state, "transformer.extra": torch.zeros(1)})
    with pytest.raises(CourseError, match="should be tied"):
        from_hf("gpt2", {**state, "lm_head.weight": state["lm_head.weight"] + 1})
    with pytest.raises(CourseError, match="should not hold"):
        to_hf("gpt2", {"extra": torch.zeros(1)})
