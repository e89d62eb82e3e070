"""Captioners: steps equal teacher forcing, looks sum to 1, beam search works, they learn."""

import numpy
import pytest
import torch

from seqcourse import CourseError, data, decode, models, train
from seqcourse import functional as F
from seqcourse.train.captioning import advantage
from tests.sizes import drawn, nightly_but

PLANS = {
    "fixed": lambda **o: models.FixedCaptioner(13, 8, 16, 12, size=16, **o),
    "soft": lambda **o: models.SoftCaptioner(13, 8, 16, 12, size=16, **o),
    "learned": lambda **o: models.SoftCaptioner(13, 8, 16, 12, size=16, first="learned", **o),
    "hard": lambda **o: models.HardCaptioner(13, 8, 16, 12, size=16, **o),
    "straight": lambda **o: models.HardCaptioner(13, 8, 16, 12, size=16, gradient="straight", **o),
    "transformer": lambda **o: models.TransformerCaptioner(13, 12, 2, 2, size=16, **o),
}
ATTENDING = [name for name in PLANS if name != "fixed"]


def make(name, **options):
    torch.manual_seed(1)
    return PLANS[name](**options).eval()


@pytest.fixture
def batch():
    rng = numpy.random.default_rng(0)
    pictures = rng.integers(0, 256, (3, 16, 16, 3), dtype=numpy.uint8)
    captions = [[list(rng.integers(4, 13, n))] for n in (5, 2, 4)]
    return next(iter(data.CaptionBatches(pictures, captions, batch_size=3, shuffle=False)))


@pytest.mark.parametrize("name", PLANS)
def test_steps_equal_teacher_forcing(name, batch):
    model = make(name)
    output = model(batch.src, None, batch.tgt_in)
    assert output.logits.shape == (3, 6, 13)
    memory = model.encode(batch.src)
    state = model.start(memory)
    for t in range(6):
        out = model.step(batch.tgt_in[:, t], state, memory)
        state = out.state
        torch.testing.assert_close(out.logits, output.logits[:, t])
        if name in ATTENDING:
            torch.testing.assert_close(out.weights, output.weights[:, t])
    assert (output.weights is None) == (name == "fixed")


@pytest.mark.parametrize("name", ATTENDING)
@pytest.mark.parametrize("training", [False, True])
def test_each_look_sums_to_one_over_the_grid(name, training, batch):
    model = make(name).train(training)
    weights = model(batch.src, None, batch.tgt_in).weights
    assert weights.shape == (3, 6, model.side**2) and model.side == 2
    assert (weights > 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 6))


@pytest.mark.parametrize("name", PLANS)
def test_a_word_depends_on_the_picture_and_earlier_words_and_never_on_later_ones(name, batch):
    model = make(name)
    before = model(batch.src, None, batch.tgt_in).logits
    changed = batch.tgt_in.clone()
    changed[0, 3] = 4 + (changed[0, 3] - 3) % 9
    after = model(batch.src, None, changed).logits
    torch.testing.assert_close(after[0, :3], before[0, :3])
    torch.testing.assert_close(after[1:], before[1:])
    assert not torch.allclose(after[0, 3], before[0, 3])
    other = model(255 - batch.src, None, batch.tgt_in).logits
    assert not torch.allclose(other[:, 0], before[:, 0])


@pytest.mark.parametrize("name", PLANS)
def test_beam_search_needs_to_know_nothing_new(name, batch):
    model = make(name)
    memory = model.encode(batch.src)
    found = decode.beam_search(model, memory, 3, max_len=7)
    greedy = decode.greedy(model, memory, max_len=7)
    assert len(found) == 3
    for row, (hypotheses, first) in enumerate(zip(found, greedy, strict=True)):
        best = hypotheses[0]
        alone = decode.beam_search(model, model.encode(batch.src[row : row + 1]), 3, max_len=7)[0][0]
        assert alone.tokens == best.tokens
        assert best.log_prob >= first.log_prob - 1e-5 or best.finished
        if name in ATTENDING and best.tokens:
            assert best.weights.shape == (len(best.tokens), 4)


def test_soft_attention_follows_the_equations(batch):
    """One step written out from the parameters."""
    model = make("soft")
    memory, score = model.encode(batch.src), model.attention.score
    s, cell = torch.randn(3, 16), torch.randn(3, 16)
    out = model.step(batch.tgt_in[:, 0], (s, cell), memory)
    e = torch.tanh((s @ score.w_s.T)[:, None] + memory.states @ score.w_h.T) @ score.v
    a = torch.softmax(e, -1)
    beta = torch.sigmoid(s @ model.gate.weight.T + model.gate.bias)
    c = beta * (a[..., None] * memory.states).sum(1)
    torch.testing.assert_close(out.weights, a)
    y = model.embedding[batch.tgt_in[:, 0]]
    lstm = torch.nn.LSTMCell(8 + 12, 16)
    lstm.load_state_dict(model.cell.state_dict())
    s1, cell1 = lstm(torch.cat([y, c], -1), (s, cell))
    torch.testing.assert_close(out.state, (s1, cell1))
    logits = (y + model.from_state(s1) + c @ model.from_context.weight.T) @ model.embedding.T
    torch.testing.assert_close(out.logits, logits + model.output_bias)


def test_the_fixed_context_is_the_mean_of_the_grid(batch):
    model = make("fixed")
    memory = model.encode(batch.src)
    torch.testing.assert_close(memory.context, memory.states.mean(1))
    assert model.step(batch.tgt_in[:, 0], model.start(memory), memory).weights is None


def test_a_learned_first_state_knows_nothing_of_the_picture(batch):
    state = make("learned").start(make("learned").encode(batch.src))
    assert all(torch.equal(part[0], part[1]) for part in state)
    s, _ = make("soft").start(make("soft").encode(batch.src))
    assert not torch.allclose(s[0], s[1])


def test_the_best_place_is_taken_in_evaluation_and_drawn_in_training(batch):
    model = make("hard", soft=0.0)
    memory = model.encode(batch.src)
    s = torch.randn(3, 16)
    context, weights, drawn = model.look(s, memory)
    best = memory.states[torch.arange(3), weights.argmax(-1)]
    torch.testing.assert_close(context, torch.sigmoid(model.gate(s)) * best)
    assert drawn is None
    model.train()
    seen = torch.zeros(4)
    grid = memory.states[:1].expand(4000, -1, -1)
    many = models.Memory(grid, memory.mask[:1].expand(4000, -1))
    many.keys = model.attention.keys(many.states)
    _, weights, drawn = model.look(s[:1].expand(4000, -1), many)
    for place in range(4):
        seen[place] = (drawn - weights[0, place].log()).abs().lt(1e-5).float().mean()
    torch.testing.assert_close(seen, weights[0], atol=0.03, rtol=0)


def test_reinforce_gives_the_expected_gradient():
    """On one step with four places: the mean over many draws equals the exact derivative."""
    torch.manual_seed(0)
    logits, gain = torch.randn(4, requires_grad=True), torch.tensor([0.3, -1.2, 0.8, 2.0])
    a = torch.softmax(logits, 0)
    (exact,) = torch.autograd.grad((a * gain).sum(), logits)
    places = F.gumbel_max(logits.detach().expand(200_000, 4))
    log_p = torch.log_softmax(logits, 0)[places]
    (drawn,) = torch.autograd.grad(((gain[places] - gain.mean()) * log_p).mean(), logits)
    torch.testing.assert_close(drawn, exact, atol=0.01, rtol=0)


@pytest.mark.parametrize(("name", "learns"), [("hard", True), ("straight", True)])
def test_hard_attention_teaches_its_score(name, learns, batch):
    """A gradient arrives at the score though the place was drawn, and none does without the trick."""
    model = make(name, soft=0.0).train()
    train.captioning_loss(model, batch).backward()
    assert (model.attention.score.v.grad.abs().sum() > 0) == learns
    if name == "hard":
        model.zero_grad()
        train.captioning_loss(model, batch, reinforce=0).backward()
        grad = model.attention.score.v.grad
        assert grad is None or grad.abs().sum() == 0


def test_straight_through_goes_back_as_soft_attention_does(batch):
    """Same weights, same sensitivity of the context to the scores."""
    model = make("straight", soft=0.0)
    memory, s = model.encode(batch.src), torch.randn(3, 16)
    soft = models.SoftCaptioner.look(model, s, memory)[0]
    hard = model.look(s, memory)[0]
    assert not torch.allclose(soft, hard)
    v = model.attention.score.v
    (one,) = torch.autograd.grad(soft.sum(), v, retain_graph=True)
    (other,) = torch.autograd.grad(hard.sum(), v)
    torch.testing.assert_close(one, other)


def test_doubly_stochastic_equals_the_formula():
    a = torch.softmax(torch.randn(2, 3, 4), -1)
    real = torch.tensor([[True, True, True], [True, False, False]])
    by_hand = 0.0
    for b in range(2):
        for i in range(4):
            by_hand += (1 - sum(a[b, t, i].item() for t in range(3) if real[b, t])) ** 2
    assert F.doubly_stochastic(a, real).item() == pytest.approx(by_hand / 2, abs=1e-5)
    even = torch.full((1, 4, 4), 0.25)
    assert F.doubly_stochastic(even, torch.ones(1, 4, dtype=torch.bool)).item() == pytest.approx(0)
    with pytest.raises(ValueError, match="one sign per step"):
        F.doubly_stochastic(a, real[:, :2])


def test_the_loss_is_the_sum_of_its_parts(batch):
    model = make("soft")
    out, real = model(batch.src, None, batch.tgt_in), batch.tgt_out != data.PAD
    words = F.sequence_loss(out.logits, batch.tgt_out)
    torch.testing.assert_close(train.captioning_loss(model, batch), words)
    even = F.doubly_stochastic(out.weights, real) * 3 / batch.tokens
    torch.testing.assert_close(train.captioning_loss(model, batch, doubly=0.5), words + 0.5 * even)
    fixed = make("fixed")
    alone = train.captioning_loss(fixed, batch)
    torch.testing.assert_close(train.captioning_loss(fixed, batch, doubly=0.5), alone)


def test_the_advantage_is_against_the_others():
    """Two captions, one step: each one's baseline is the other's log-probability."""
    logits = torch.log(torch.tensor([[[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25]]]))
    gain = advantage(logits, torch.tensor([[1], [1]]))
    log2 = torch.log(torch.tensor(2.0)).item()
    torch.testing.assert_close(gain, torch.tensor([[-log2], [log2]]))
    assert advantage(logits, torch.tensor([[1], [0]])).abs().sum() == 0  # nobody to compare with


@pytest.mark.slow
@pytest.mark.parametrize("name", nightly_but([drawn(PLANS)], PLANS))
def test_it_learns_what_is_where(name):
    """A bright square in one of four corners: after seconds each captioner names the corner."""
    pictures = numpy.zeros((64, 16, 16, 3), dtype=numpy.uint8)
    for i in range(64):
        row, column = divmod(i % 4, 2)
        pictures[i, 8 * row + 1 : 8 * row + 7, 8 * column + 1 : 8 * column + 7, i % 3] = 255
    captions = [[[4 + i % 4, 8 + i % 3]] for i in range(64)]
    batches = data.CaptionBatches(pictures, captions, batch_size=32)
    model = make(name)
    config = train.TrainingConfig(epochs=60, learning_rate=5e-3)
    train.Trainer(model, train.captioning_loss, config).fit(batches)
    found = decode.greedy(model, model.encode(data.to_tensor(pictures)), max_len=4)
    right = sum(h.tokens == ids[0] for h, ids in zip(found, captions, strict=True))
    assert right >= 40, right  # of 64; by chance 5


def test_batches_hold_pictures_with_their_own_captions():
    pictures = numpy.arange(5, dtype=numpy.uint8)[:, None, None, None] * numpy.ones(
        (1, 8, 8, 3), dtype=numpy.uint8
    )
    captions = [[[10 + i], [20 + i, 30]] for i in range(5)]
    batches = data.CaptionBatches(pictures, captions, batch_size=2)
    seen, second = [], 0
    for epoch in range(6):
        batches.set_epoch(epoch)
        rows = []
        for batch in batches:
            for picture, target, row in zip(batch.src, batch.tgt_out, batch.index.tolist(), strict=True):
                assert picture.float().mean() == row
                assert target[0] in (10 + row, 20 + row)
                second += int(target[0] == 20 + row)
                rows.append(row)
        assert sorted(rows) == list(range(5))
        seen.append(tuple(rows))
    assert len(batches) == 3 and len(set(seen)) > 1 and 0 < second < 30
    with pytest.raises(CourseError, match="picture 1 has none"):
        data.CaptionBatches(pictures[:2], [[[4]], []])
    with pytest.raises(CourseError, match="5 pictures, 4 lists"):
        data.CaptionBatches(pictures, captions[:4])
    with pytest.raises(CourseError, match="of type uint8"):
        data.to_tensor(pictures / 2)


def test_options_and_shapes_are_checked(batch):
    with pytest.raises(ValueError, match="reinforce, straight"):
        models.HardCaptioner(13, 8, 16, 12, gradient="none")
    with pytest.raises(ValueError, match="mean, learned"):
        models.SoftCaptioner(13, 8, 16, 12, first="zeros")
    with pytest.raises(ValueError, match="a share between 0 and 1, but it is 2"):
        models.HardCaptioner(13, 8, 16, 12, soft=2)
    with pytest.raises(ValueError, match="sides that 8 divides, but they are 30 pixels"):
        models.FixedCaptioner(13, 8, 16, 12, size=30)
    with pytest.raises(ValueError, match=r"\(B, 3, 16, 16\), colours first"):
        make("soft").encode(batch.src.permute(0, 2, 3, 1))


def test_pictures_as_numbers_or_as_bytes(batch):
    model = make("soft")
    torch.testing.assert_close(model.encode(batch.src).states, model.encode(batch.src / 255).states)
