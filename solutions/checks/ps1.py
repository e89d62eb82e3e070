"""Answers that test the checks of assignment 1: (name of the mistake, source, what must be said)."""

from __future__ import annotations

WRONG = {
    "rnn_step": [
        (
            "the bias of the hidden part is forgotten",
            '''
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T)
''',
            "bias of the hidden part",
        ),
        (
            "the matrices are not transposed",
            '''
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih + b_ih + h @ w_hh + b_hh)
''',
            "transpose w_ih",
        ),
    ],
}

RIGHT = {
    "rnn_step": [
        (
            "einsum",
            '''
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    from_x = torch.einsum("bd,hd->bh", x, w_ih)
    from_h = torch.einsum("bk,hk->bh", h, w_hh)
    return (from_x + from_h + b_ih + b_hh).tanh()
''',
        ),
    ],
}
