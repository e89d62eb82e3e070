"""The spellers: whole pass equals single steps, padding and company change nothing, letters attend."""

import pytest
import torch

from seqcourse import decode, models

MADE = {
    "lstm": lambda: models.Speller(9, input_size=5, listen_size=6, spell_size=8, embed_size=4),
    "transformer": lambda: models.TransformerSpeller(9, 8, 2, 2, input_size=5, listen_size=6),
}


def made(kind):
    torch.manual_seed(0)
    model = MADE[kind]().double().eval()
    model.set_scale(torch.randn(50, 5, dtype=torch.float64) * 3 + 2)
    return model


@pytest.fixture(params=MADE)
def any_speller(request):
    return made(request.param)


@pytest.fixture
def speller():
    return made("lstm")


LENGTHS = torch.tensor([11, 4, 7])


def frames(size=11):
    torch.manual_seed(1)
    return torch.randn(3, size, 5, dtype=torch.float64)


def test_a_whole_pass_equals_single_steps(any_speller):
    letters = torch.tensor([[1, 4, 5, 6], [1, 7, 8, 4], [1, 4, 4, 4]])
    out = any_speller(frames(), LENGTHS, letters)
    assert out.logits.shape == (3, 4, 9) and out.weights.shape == (3, 4, 3)
    memory = any_speller.encode(frames(), LENGTHS)
    state = any_speller.start(memory)
    for t, letter in enumerate(letters.unbind(1)):
        step = any_speller.step(letter, state, memory)
        state = step.state
        torch.testing.assert_close(step.logits, out.logits[:, t])
        torch.testing.assert_close(step.weights, out.weights[:, t])


def test_the_equations(speller):
    """One step by hand, from the docstring's equations, with the inputs shifted and scaled."""
    x = frames()[:1, :4]
    memory = speller.encode(x, torch.tensor([4]))
    scaled = (x - speller.mean) / speller.std
    h = speller.pyramid(speller.bottom(scaled)[0])[0]
    torch.testing.assert_close(memory.states, h)
    letter = torch.tensor([3])
    zeros = torch.zeros(1, 8, dtype=torch.float64)
    look = torch.zeros(1, 12, dtype=torch.float64)
    s, _ = speller.cell(torch.cat([speller.embedding[letter], look], 1), (zeros, zeros))
    scores = speller.attention.score(s, h)
    look = (torch.softmax(scores, 1)[..., None] * h).sum(1)
    logits = speller.out(torch.tanh(speller.readout(torch.cat([s, look], 1))))
    torch.testing.assert_close(speller.step(letter, speller.start(memory), memory).logits, logits)


def test_padding_and_company_change_nothing(any_speller):
    letters = torch.tensor([[1, 4, 5], [1, 7, 8], [1, 4, 4]])
    together = any_speller(frames(), LENGTHS, letters)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = any_speller(
            frames()[row : row + 1, :length], LENGTHS[row : row + 1], letters[row : row + 1]
        )
        torch.testing.assert_close(alone.logits[0], together.logits[row])
        states = alone.weights.shape[2]
        assert not together.weights[row, :, states:].any()
        torch.testing.assert_close(together.weights[row].sum(1), torch.ones(3, dtype=torch.float64))


def test_every_parameter_learns(any_speller):
    any_speller.train()
    any_speller(frames(), LENGTHS, torch.tensor([[1, 4, 5]] * 3)).logits.square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in any_speller.parameters())


def test_beam_search_drives_it_and_one_path_is_greedy(any_speller):
    memory = any_speller.encode(frames(), LENGTHS)
    one = decode.beam_search(any_speller, memory, 1, max_len=6)
    greedy = decode.greedy(any_speller, memory, max_len=6)
    assert [h[0].tokens for h in one] == [h.tokens for h in greedy]
    five = decode.beam_search(any_speller, memory, 5, 3, max_len=6)
    assert all(len(found) == 3 and found[0].score >= found[1].score for found in five)


def test_the_scale_is_stored_and_a_still_coefficient_divides_by_no_zero():
    model = models.Speller(9, input_size=2)
    model.set_scale(torch.tensor([[1.0, 7.0], [3.0, 7.0]]))
    assert model.state_dict()["mean"].tolist() == [2, 7]
    assert model.encode(torch.full((1, 3, 2), 7.0), torch.tensor([3])).states.isfinite().all()


def test_what_does_not_fit_is_named(speller):
    with pytest.raises(ValueError, match="score should be one of.*'nearest'"):
        models.Speller(9, score="nearest")
    with pytest.raises(ValueError, match="one length for each of the 3 sequences"):
        speller.encode(frames(), torch.tensor([3]))


def test_both_hear_the_same():
    """The listener is one: with its weights copied, the Transformer's memory is a projection of it."""
    recurrent, other = made("lstm"), made("transformer")
    other.listener.load_state_dict(
        {k: v for k, v in recurrent.state_dict().items() if k in other.listener.state_dict()}
    )
    heard = recurrent.encode(frames(), LENGTHS)
    torch.testing.assert_close(other.encode(frames(), LENGTHS).states, other.into(heard.states))
