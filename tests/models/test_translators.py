"""Every translator: one step at a time equals teacher forcing, padding changes nothing, it can learn."""

import pytest
import torch

from seqcourse import data, models, train
from tests.sizes import nightly_but

PLANS = {
    "delayed": lambda **o: models.DelayedModel(12, 13, 8, 16, **o),
    "state": lambda **o: models.EncoderDecoder(12, 13, 8, 16, context="state", **o),
    "separate": lambda **o: models.EncoderDecoder(12, 13, 8, 16, context="separate", **o),
    "average": lambda **o: models.EncoderDecoder(12, 13, 8, 16, context="average", **o),
    "additive": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, **o),
    "general": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, score="general", **o),
    "mlp": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, score="mlp", score_size=5, **o),
    "dot": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, score="dot", bidirectional=False, **o),
    "local": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, window=2, **o),
    "heads": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, heads=3, **o),
    "lstm": lambda **o: models.AttentionSeq2Seq(12, 13, 8, 16, kind="lstm", first_state="mean", **o),
}
WITH_ATTENTION = ["additive", "general", "mlp", "dot", "local", "heads", "lstm"]


@pytest.fixture
def batch():
    torch.manual_seed(0)
    src = torch.randint(4, 12, (3, 6))
    lengths = torch.tensor([6, 2, 4])
    src[torch.arange(6)[None] >= lengths[:, None]] = data.PAD
    return src, lengths, torch.randint(4, 13, (3, 5))


def make(name, **options):
    torch.manual_seed(1)
    return PLANS[name](**options).eval()


def stepwise(model, src, lengths, tgt):
    memory = model.encode(src, lengths)
    state, logits, weights = model.start(memory), [], []
    for t in range(tgt.shape[1]):
        out = model.step(tgt[:, t], state, memory)
        state = out.state
        logits.append(out.logits)
        weights.append(out.weights)
    return torch.stack(logits, 1), weights


@pytest.mark.parametrize("name", PLANS)
def test_steps_equal_teacher_forcing(name, batch):
    model = make(name)
    output = model(*batch)
    logits, weights = stepwise(model, *batch)
    torch.testing.assert_close(logits, output.logits)
    if name in WITH_ATTENTION:
        torch.testing.assert_close(torch.stack(weights, 1), output.weights)
    else:
        assert output.weights is None


@pytest.mark.parametrize("name", PLANS)
def test_padding_and_company_change_nothing(name, batch):
    """The second sentence alone, without padding, gives the same logits."""
    src, lengths, tgt = batch
    model = make(name)
    together = model(src, lengths, tgt).logits[1:2]
    alone = model(src[1:2, :2], lengths[1:2], tgt[1:2]).logits
    torch.testing.assert_close(together, alone)


@pytest.mark.parametrize("name", [n for n in PLANS if n != "delayed"])
def test_a_word_depends_on_earlier_words_and_never_on_later_ones(name, batch):
    src, lengths, tgt = batch
    model = make(name)
    before = model(src, lengths, tgt).logits
    changed = tgt.clone()
    changed[:, 2] = 4 + (changed[:, 2] - 3) % 9
    after = model(src, lengths, changed).logits
    torch.testing.assert_close(after[:, :2], before[:, :2])
    assert not torch.allclose(after[:, 2], before[:, 2])
    assert not torch.allclose(after[:, 4], before[:, 4])


def test_the_delayed_model_ignores_what_was_said(batch):
    src, lengths, tgt = batch
    model = make("delayed")
    torch.testing.assert_close(model(src, lengths, tgt).logits, model(src, lengths, tgt.flip(1)).logits)


def test_only_the_first_state_knows_the_source_in_context_state(batch):
    model = make("state")
    memory = model.encode(*batch[:2])
    assert memory.context is None
    assert model.context_size == 0


def test_attention_follows_the_four_equations(batch):
    """One step written out from the parameters."""
    src, lengths, tgt = batch
    model = make("additive")
    memory, score, cell = model.encode(src, lengths), model.attention.score, model.cell
    s = torch.randn(3, 16)
    out = model.step(tgt[:, 0], s, memory)
    e = torch.tanh((s @ score.w_s.T)[:, None] + memory.states @ score.w_h.T) @ score.v
    a = torch.softmax(e.masked_fill(~memory.mask, float("-inf")), -1)
    c = (a[..., None] * memory.states).sum(1)
    torch.testing.assert_close(out.weights, a)
    y = model.target_embedding[tgt[:, 0]]
    gru = torch.nn.GRUCell(8 + 32, 16)
    gru.load_state_dict(cell.state_dict())
    s1 = gru(torch.cat([y, c], -1), s)
    torch.testing.assert_close(out.state, s1)
    hidden = torch.tanh(model.readout(torch.cat([s1, c, y], -1)))
    torch.testing.assert_close(out.logits, hidden @ model.target_embedding.T + model.output_bias)


@pytest.mark.parametrize("name", ["separate", "additive"])
def test_distributions_stand_in_for_words(name, batch):
    """A one-hot row means the word itself: what the Gumbel-softmax relies on."""
    src, lengths, tgt = batch
    model = make(name)
    memory = model.encode(src, lengths)
    one_hot = torch.nn.functional.one_hot(tgt[:, 0], 13).float()
    by_id = model.step(tgt[:, 0], model.start(memory), memory).logits
    torch.testing.assert_close(model.step(one_hot, model.start(memory), memory).logits, by_id)


@pytest.mark.slow
@pytest.mark.parametrize("name", nightly_but(["additive"], ["separate", "additive", "local", "heads"]))
def test_it_learns_to_copy(name):
    """A few seconds of training bring the loss far below that of guessing."""
    model = make(name, dropout=0.0)
    src, tgt = data.copy_task(64, 3, symbols=8, seed=0)
    batches = data.Batches(src, tgt, batch_size=64)
    config = train.TrainingConfig(epochs=100, learning_rate=2e-2)
    history = train.Trainer(model, train.teacher_forcing_loss, config).fit(batches)
    assert history.epoch_losses[0] > 1.5
    assert history.epoch_losses[-1] < 0.5 * history.epoch_losses[0]


def test_options_are_checked():
    with pytest.raises(ValueError, match="state, separate, average"):
        models.EncoderDecoder(5, 5, 4, 4, context="none")
    with pytest.raises(ValueError, match="dot, general, additive, mlp"):
        models.AttentionSeq2Seq(5, 5, 4, 4, score="cosine")
    with pytest.raises(ValueError, match="heads should be at least 1, but it is 0"):
        models.AttentionSeq2Seq(5, 5, 4, 4, heads=0)
    with pytest.raises(ValueError, match="one head"):
        models.AttentionSeq2Seq(5, 5, 4, 4, heads=2, window=3)


@pytest.mark.parametrize("name", PLANS)
def test_the_shortest_input(name):
    """One sentence of one word, one word to write."""
    output = make(name)(torch.tensor([[4]]), torch.tensor([1]), torch.tensor([[1]]))
    assert output.logits.shape == (1, 1, 13)
    assert torch.isfinite(output.logits).all()
    if name in WITH_ATTENTION:
        assert output.weights.item() == pytest.approx(1)  # there is nowhere else to look


@pytest.mark.parametrize("name", PLANS)
def test_16_bits_change_little(name, batch):
    """Under mixed precision forward and single steps still agree, and gradients arrive everywhere."""
    model = make(name)
    exact = model(*batch).logits
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = model(*batch)
        logits, _ = stepwise(model, *batch)
    torch.testing.assert_close(output.logits.float(), exact, atol=0.05, rtol=0.05)
    torch.testing.assert_close(logits.float(), exact, atol=0.05, rtol=0.05)
    output.logits.float().pow(2).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


def test_words_and_lengths_that_do_not_fit_are_named(batch):
    src, lengths, tgt = batch
    model = make("additive")
    with pytest.raises(IndexError, match="between 0 and 11.* to 12.*another vocabulary"):
        model(src.masked_fill(src == src.max(), 12), lengths, tgt)
    with pytest.raises(ValueError, match="padded length 6, but they go from 2 to 7"):
        model(src, lengths + (lengths == 6), tgt)
