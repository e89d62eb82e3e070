"""The character model: all at once equals one by one; the state carries on."""

import pytest
import torch

from seqcourse import models


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_steps_equal_the_whole(kind):
    torch.manual_seed(0)
    model = models.CharLM(11, 6, 8, kind=kind, num_layers=2).eval()
    tokens = torch.randint(4, 11, (3, 7))
    whole = model(tokens).logits
    state = model.start(batch_size=3)
    for t in range(7):
        out = model.step(tokens[:, t], state)
        state = out.state
        torch.testing.assert_close(out.logits, whole[:, t])
    first, carried = model.run(tokens[:, :3])
    second, _ = model.run(tokens[:, 3:], carried)
    torch.testing.assert_close(torch.cat([first.logits, second.logits], 1), whole)


def test_it_never_looks_ahead():
    model = models.CharLM(11, 6, 8).eval()
    tokens = torch.randint(4, 11, (2, 6))
    changed = tokens.clone()
    changed[:, 3] = 4 + (changed[:, 3] - 3) % 7
    before, after = model(tokens).logits, model(changed).logits
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])
