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


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_padded_texts_go_on_from_their_last_character(kind):
    torch.manual_seed(0)
    model = models.CharLM(11, 6, 8, kind=kind, num_layers=2).eval()
    tokens = torch.randint(4, 11, (3, 7))
    lengths = torch.tensor([7, 4, 1])
    padded = tokens.masked_fill(torch.arange(7) >= lengths[:, None], 0)
    said, state = model.run(padded, lengths=lengths)
    following = model.step(torch.tensor([5, 6, 7]), state).logits
    for row, length in enumerate(lengths):
        alone, after = model.run(tokens[row : row + 1, :length])
        torch.testing.assert_close(said.logits[row, :length], alone.logits[0])
        expected = model.step(torch.tensor([5 + row]), after).logits[0]
        torch.testing.assert_close(following[row], expected)
    torch.testing.assert_close(model(padded).logits[1, :4], said.logits[1, :4])


@pytest.mark.parametrize(
    ("tokens", "lengths", "message"),
    [
        ([[5, 6, 7], [5, 6, 0]], None, "padded: <pad>.*Give lengths="),
        ([[5, 6, 7], [0, 5, 6]], None, "padded: <pad>.*padding on the right"),
        ([[5, 6, 7], [0, 5, 6]], [3, 2], "padding goes on the right"),
        ([[5, 6, 7], [5, 6, 0]], [3, 4], "between 1 and the padded length 3"),
    ],
)
def test_padding_that_no_length_tells_of_is_refused(tokens, lengths, message):
    lengths = None if lengths is None else torch.tensor(lengths)
    with pytest.raises(ValueError, match=message):
        models.CharLM(11, 6, 8).run(torch.tensor(tokens), lengths=lengths)
