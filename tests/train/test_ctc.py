"""The loss of CTC against all paths, one by one, and the model that learns from it."""

import math
from itertools import product

import pytest
import torch

from seqcourse import data, decode, models, train
from seqcourse.data import EOS, PAD, SOS, SpokenBatch


class Says(torch.nn.Module):
    """A model that gives the same distributions whatever it hears, two frames to a state."""

    def __init__(self, logits):
        super().__init__()
        self.logits = torch.nn.Parameter(logits)

    def forward(self, src, src_lengths):
        return self.logits, (src_lengths + 1) // 2


def batch(texts, frames):
    rows = [torch.tensor([*text, EOS]) for text in texts]
    out = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    into = torch.cat([torch.full((len(texts), 1), SOS), out[:, :-1]], 1)
    return SpokenBatch(torch.zeros(len(texts), max(frames), 3), torch.tensor(frames), into, out)


def test_it_sums_over_every_path_that_writes_the_text():
    torch.manual_seed(0)
    logits = torch.randn(2, 5, 7, dtype=torch.float64)
    texts, states = ([5, 5], [6]), (5, 3)
    chances = logits.softmax(-1)
    total = 0.0
    for k, (text, count) in enumerate(zip(texts, states, strict=True)):
        paths = product(range(7), repeat=count)
        right = [path for path in paths if decode.collapse(path) == text]
        assert len(right) > 3
        total += math.log(
            sum(math.prod(chances[k, u, s].item() for u, s in enumerate(path)) for path in right)
        )
    loss = train.ctc_loss(Says(logits), batch(texts, [10, 5]))
    assert loss.item() == pytest.approx(-total / 3, rel=1e-5)


def test_a_text_that_is_too_long_for_its_states_counts_nothing():
    model = Says(torch.randn(2, 3, 7))
    loss = train.ctc_loss(model, batch(([5, 5, 6], [5]), [5, 6]))  # five, five, six needs a fourth state
    alone = train.ctc_loss(Says(model.logits[1:].detach()), batch(([5],), [6]))
    assert loss.item() == pytest.approx(alone.item() / 4)
    loss.backward()
    assert model.logits.grad.isfinite().all() and not model.logits.grad[0].any()


@pytest.fixture
def speller():
    torch.manual_seed(0)
    model = models.CTCSpeller(9, input_size=5, listen_size=6).double().eval()
    model.set_scale(torch.randn(50, 5, dtype=torch.float64) * 3 + 2)
    return model


def test_padding_and_company_change_nothing(speller):
    torch.manual_seed(1)
    frames, lengths = torch.randn(3, 11, 5, dtype=torch.float64), torch.tensor([11, 4, 7])
    logits, states = speller(frames, lengths)
    assert states.tolist() == [6, 2, 4]
    for row, (length, count) in enumerate(zip(lengths.tolist(), states.tolist(), strict=True)):
        alone, _ = speller(frames[row : row + 1, :length], lengths[row : row + 1])
        torch.testing.assert_close(alone[0], logits[row, :count])


def test_it_learns_when_to_write():
    """Two strings by heart: the blank between, and a letter twice."""
    torch.manual_seed(0)
    frames, lengths = data.pad_frames(torch.randn(2, 16, 5).numpy())
    spoken = batch(([5, 6, 6], [7, 5]), [16, 16])
    spoken = SpokenBatch(frames, lengths, spoken.tgt_in, spoken.tgt_out)
    model = models.CTCSpeller(9, input_size=5, listen_size=16)
    model.set_scale(frames.flatten(0, 1))
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(120):
        optimizer.zero_grad()
        train.ctc_loss(model, spoken).backward()
        optimizer.step()
    with torch.no_grad():
        assert decode.best_path(*model(frames, lengths)) == [[5, 6, 6], [7, 5]]
