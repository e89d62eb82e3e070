"""What the decoder is fed: the truth, its own words, some of each."""

import pytest
import torch

from seqcourse import data, models, train
from seqcourse.train import regimes


@pytest.fixture
def setting():
    torch.manual_seed(0)
    model = models.AttentionSeq2Seq(12, 12, 8, 12).eval()
    batch = next(iter(data.Batches(*data.copy_task(8, 5, symbols=8, seed=0), batch_size=8)))
    return model, batch


@pytest.mark.parametrize("choose", ["argmax", "sample", "gumbel"])
def test_share_zero_is_teacher_forcing(setting, choose):
    model, batch = setting
    logits = train.unroll(model, batch.src, batch.src_lengths, batch.tgt_in, 0.0, choose)
    expected = model(batch.src, batch.src_lengths, batch.tgt_in).logits
    torch.testing.assert_close(logits, expected)


def test_share_one_is_free_running(setting):
    """Fed with its own best word each time, the model sees what greedy decoding would feed it."""
    model, batch = setting
    logits = train.unroll(model, batch.src, batch.src_lengths, batch.tgt_in, 1.0)
    memory = model.encode(batch.src, batch.src_lengths)
    state, previous = model.start(memory), batch.tgt_in[:, 0]
    for t in range(batch.tgt_in.shape[1]):
        out = model.step(previous, state, memory)
        torch.testing.assert_close(logits[:, t], out.logits)
        state, previous = out.state, out.logits.argmax(-1)


def test_the_coin_is_thrown_with_the_given_share(setting):
    """With share 1/4, about a quarter of the inputs are the model's own (counted by a spy)."""
    model, batch = setting
    fed = []

    class Spy:
        encode, start = model.encode, model.start

        def step(self, tokens, state, memory):
            fed.append(tokens)
            return model.step(tokens, state, memory)

    marked = torch.full_like(batch.tgt_in, 3)  # <unk>, which this model's argmax is made to avoid
    model.output_bias.data[3] = -1e9
    generator = torch.Generator().manual_seed(0)
    for _ in range(60):
        train.unroll(Spy(), batch.src, batch.src_lengths, marked, 0.25, generator=generator)
    inputs = torch.stack([f for k, f in enumerate(fed) if k % marked.shape[1] != 0])
    share = (inputs != 3).float().mean().item()
    assert share == pytest.approx(0.25, abs=0.03)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("choose", ["sample", "gumbel"])
def test_one_generator_serves_every_device(setting, choose):
    """The same coins and draws on the GPU as on the CPU, from a generator on the CPU."""
    model, batch = setting
    logits = []
    for device in ("cpu", "cuda"):
        model, batch = model.to(device), batch.to(device)
        given = (batch.src, batch.src_lengths, batch.tgt_in, 0.5, choose, 1.0)
        logits.append(train.unroll(model, *given, torch.Generator().manual_seed(0)).cpu())
    torch.testing.assert_close(*logits, atol=1e-3, rtol=1e-3)


def test_gradients_flow_through_the_gumbel_choice(setting, monkeypatch):
    """Cut off at the choice, the same numbers come out and another gradient goes back."""
    model, batch = setting
    pick = regimes._pick

    def outcome():
        model.zero_grad()
        generator = torch.Generator().manual_seed(0)
        logits = train.unroll(
            model, batch.src, batch.src_lengths, batch.tgt_in, 1.0, "gumbel", 1.0, generator
        )
        logits[:, 1:].pow(2).sum().backward()
        return logits.detach(), model.output_bias.grad.clone()

    logits, gradient = outcome()
    monkeypatch.setattr(regimes, "_pick", lambda *given: pick(*given).detach())
    cut_logits, cut_gradient = outcome()
    torch.testing.assert_close(cut_logits, logits)
    assert not torch.allclose(cut_gradient, gradient)


def test_inverse_sigmoid_decay():
    assert train.inverse_sigmoid_decay(0, 10.0) == pytest.approx(10 / 11)
    with pytest.raises(ValueError, match="k should be at least 1, but it is 0.5"):
        train.inverse_sigmoid_decay(0, 0.5)
    shares = [train.inverse_sigmoid_decay(i, 10.0) for i in range(0, 10_000, 50)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("share", "choose", "message"), [(1.5, "argmax", "1.5"), (0.5, "best", "best")])
def test_nonsense_is_named(setting, share, choose, message):
    model, batch = setting
    with pytest.raises(ValueError, match=message):
        train.unroll(model, batch.src, batch.src_lengths, batch.tgt_in, share, choose)
