"""The hidden checks of assignment 1, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

WRONG = {
    "rnn_step": [
        (
            "the bias of the hidden part is forgotten",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T)
""",
            "bias of the hidden part",
        ),
        (
            "no bias at all",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()))
""",
            "both biases",
        ),
        (
            "no tanh",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return x @ w_ih.T + b_ih + h @ w_hh.T + b_hh
""",
            "forget the tanh",
        ),
        (
            "a sigmoid in place of the tanh",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.sigmoid(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
""",
            "sigmoid in place of the tanh",
        ),
        (
            "w_hh is not transposed",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh + b_hh)
""",
            "transpose w_hh",
        ),
        (
            "the matrices are not transposed",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih + b_ih + h @ w_hh + b_hh)
""",
            "transpose w_ih",
        ),
        (
            "the matrix stands first, as in the equation",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)
""",
            "put the matrix first",
        ),
        (
            "the state is changed in place",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    new = h @ w_hh.T
    h *= 0
    h += torch.tanh(new + b_hh + x @ w_ih.T + b_ih)
    return h
""",
            "changes its input h",
        ),
        (
            "works only for a batch of more than one",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).squeeze()
""",
            "squeeze()",
        ),
        (
            "float32 inside",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    new = torch.zeros(h.shape)
    for row in range(len(x)):
        new[row] = torch.tanh(w_ih @ x[row] + b_ih + w_hh @ h[row] + b_hh)
    return new
""",
            "float64",
        ),
        (
            "cut off from the gradient",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h.detach() @ w_hh.T + b_hh)
""",
            "no gradient reaches h",
        ),
        (
            "PyTorch's own cell",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)
""",
            "the thing to build here",
        ),
        (
            "the package's own step",
            """
from seqcourse.functional import rnn_step
""",
            "the thing to build here",
        ),
        (
            "no return",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    h = torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
""",
            "return statement missing",
        ),
    ],
    "training_pairs": [
        (
            "the targets are the inputs",
            """
def training_pairs(ids, length):
    rows = (len(ids) - 1) // length
    inputs = ids[: rows * length].reshape(rows, length)
    return inputs, inputs
""",
            "one place later in the text",
        ),
        (
            "the two are swapped",
            """
def training_pairs(ids, length):
    rows = (len(ids) - 1) // length
    cut = rows * length
    return ids[1 : cut + 1].reshape(rows, length), ids[:cut].reshape(rows, length)
""",
            "swap the two",
        ),
        (
            "shifted inside each row",
            """
def training_pairs(ids, length):
    rows = (len(ids) - 1) // length
    inputs = ids[: rows * length].reshape(rows, length)
    return inputs, torch.cat([inputs[:, 1:], inputs[:, :1]], dim=1)
""",
            "first of the same row",
        ),
        (
            "the text closed to a ring",
            """
def training_pairs(ids, length):
    rows = len(ids) // length
    following = torch.roll(ids, -1)
    cut = rows * length
    return ids[:cut].reshape(rows, length), following[:cut].reshape(rows, length)
""",
            "torch.roll",
        ),
        (
            "one row too many at the end",
            """
def training_pairs(ids, length):
    rows = len(ids) // length
    inputs = ids[: rows * length].reshape(rows, length)
    targets = ids[1 : rows * length + 1].reshape(rows, length)
    return inputs, targets
""",
            "after the end of the text",
        ),
        (
            "overlapping rows",
            """
def training_pairs(ids, length):
    starts = range(len(ids) - length)
    inputs = torch.stack([ids[s : s + length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + length + 1] for s in starts])
    return inputs, targets
""",
            "rows overlap",
        ),
        (
            "the text runs down the columns",
            """
def training_pairs(ids, length):
    rows = (len(ids) - 1) // length
    cut = rows * length
    return ids[:cut].reshape(length, rows).T, ids[1 : cut + 1].reshape(length, rows).T
""",
            "down the columns",
        ),
        (
            "the last full row is lost",
            """
def training_pairs(ids, length):
    rows = (len(ids) - 2) // length
    cut = rows * length
    return ids[:cut].reshape(rows, length), ids[1 : cut + 1].reshape(rows, length)
""",
            "the number of rows",
        ),
    ],
    "lstm_step": [
        (
            "gate order i, f, o, g",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, o, g = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "gate order",
        ),
        (
            "gate order f, i, g, o",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    f, i, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "gate order f, i, g, o",
        ),
        (
            "the bias of the hidden part is forgotten",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + h @ w_hh.T + b_ih).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "bias of the hidden part",
        ),
        (
            "a sigmoid for everything",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    parts = torch.sigmoid(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
    i, f, g, o = parts.chunk(4, dim=1)
    c = f * c + i * g
    return o * torch.tanh(c), c
""",
            "sigmoid for the candidate",
        ),
        (
            "the cell state is not squashed",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * c, c
""",
            "tanh around the cell state",
        ),
        (
            "h from the old cell state",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), new
""",
            "old cell state",
        ),
        (
            "h alone is returned",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c)
""",
            "return h only",
        ),
        (
            "the pair is returned the other way round",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return c, torch.sigmoid(o) * torch.tanh(c)
""",
            "The pair is (h, c)",
        ),
        (
            "the state is taken apart the other way round",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    c, h = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "take c for h",
        ),
        (
            "the cell state is changed in place",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)
    c *= torch.sigmoid(f)
    c += torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "changes its input state",
        ),
        (
            "cut along the batch",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "along the batch",
        ),
        (
            "the size of the state is written in",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).split(5, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
            "size written into your code",
        ),
        (
            "PyTorch's own cell",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    cell = torch.nn.LSTMCell(x.shape[1], state[0].shape[1], dtype=x.dtype)
    weights = (w_ih, w_hh, b_ih, b_hh)
    for parameter, value in zip(cell.parameters(), weights):
        parameter.data = value
    return cell(x, state)
""",
            "the thing to build here",
        ),
    ],
    "forward": [
        (
            "time stands first",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    return torch.stack(states), h
""",
            "torch.stack(states, dim=1)",
        ),
        (
            "the state is not handed on",
            """
def forward(step, x, h, lengths=None):
    states = [step(x[:, t], h) for t in range(x.shape[1])]
    return torch.stack(states, dim=1), states[-1]
""",
            "first state h",
        ),
        (
            "the first state is among the outputs",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        states.append(h)
        h = step(x[:, t], h)
    return torch.stack(states, dim=1), h
""",
            "state before the first step",
        ),
        (
            "no last state",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    return torch.stack(states, dim=1)
""",
            "return the states only",
        ),
        (
            "the lengths are not used",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    return torch.stack(states, dim=1), h
""",
            "look at lengths at all",
        ),
        (
            "the last state is taken from the padding",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    outputs = torch.stack(states, dim=1)
    if lengths is not None:
        outputs = outputs * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    return outputs, outputs[:, -1]
""",
            "from the padding",
        ),
        (
            "the state runs on through the padding",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    outputs = torch.stack(states, dim=1)
    if lengths is not None:
        outputs = outputs * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    return outputs, h
""",
            "run on through the padding",
        ),
        (
            "the last state repeated in the outputs",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        new = step(x[:, t], h)
        h = new if lengths is None else torch.where((t < lengths)[:, None], new, h)
        states.append(h)
    return torch.stack(states, dim=1), h
""",
            "repeated last state",
        ),
        (
            "one step too long",
            """
def forward(step, x, h, lengths=None):
    states = []
    for t in range(x.shape[1]):
        new = step(x[:, t], h)
        real = torch.ones(len(x), 1) if lengths is None else (t <= lengths)[:, None]
        real = real.to(x.dtype)
        h = real * new + (1 - real) * h
        states.append(real * new)
    return torch.stack(states, dim=1), h
""",
            "one step too long",
        ),
        (
            "outputs in float32",
            """
def forward(step, x, h, lengths=None):
    outputs = torch.zeros(x.shape[0], x.shape[1], h.shape[1])
    for t in range(x.shape[1]):
        new = step(x[:, t], h)
        h = new if lengths is None else torch.where((t < lengths)[:, None], new, h)
        real = slice(None) if lengths is None else t < lengths
        outputs[real, t] = new[real].float()
    return outputs, h
""",
            "float64",
        ),
    ],
    "draw": [
        (
            "multiplies by the temperature",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits * temperature, dim=-1)
    return torch.multinomial(p, 1, generator=generator)[:, 0]
""",
            "multiply by the temperature",
        ),
        (
            "the temperature comes after the softmax",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits, dim=-1) / temperature
    return torch.multinomial(p, 1, generator=generator)[:, 0]
""",
            "after the softmax",
        ),
        (
            "the likeliest entry",
            """
def draw(logits, temperature=1.0, generator=None):
    return torch.softmax(logits / temperature, dim=-1).argmax(dim=-1)
""",
            "argmax",
        ),
        (
            "softmax over the batch",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits / temperature, dim=0)
    return torch.multinomial(p, 1, generator=generator)[:, 0]
""",
            "over the batch",
        ),
        (
            "no softmax",
            """
def draw(logits, temperature=1.0, generator=None):
    return torch.multinomial(logits / temperature, 1, generator=generator)[:, 0]
""",
            "softmax missing",
        ),
        (
            "one column too many",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits / temperature, dim=-1)
    return torch.multinomial(p, 1, generator=generator)
""",
            "axis of size 1 too many",
        ),
        (
            "works only for a batch of more than one",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits / temperature, dim=-1)
    return torch.multinomial(p, 1, generator=generator).squeeze()
""",
            "squeeze()",
        ),
        (
            "the generator is forgotten",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits / temperature, dim=-1)
    return torch.multinomial(p, 1)[:, 0]
""",
            "pass the generator on",
        ),
        (
            "a seed inside",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits / temperature, dim=-1)
    return torch.multinomial(p, 1, generator=torch.Generator().manual_seed(0))[:, 0]
""",
            "a seed fixed inside",
        ),
        (
            "exp without a maximum subtracted",
            """
def draw(logits, temperature=1.0, generator=None):
    scores = torch.exp(logits / temperature)
    p = scores / scores.sum(dim=-1, keepdim=True)
    return torch.multinomial(p, 1, generator=generator)[:, 0]
""",
            "overflow",
        ),
        (
            "every row from the first row's probabilities",
            """
def draw(logits, temperature=1.0, generator=None):
    p = torch.softmax(logits / temperature, dim=-1)[0]
    return torch.multinomial(p, len(logits), replacement=True, generator=generator)
""",
            "from its own probabilities",
        ),
        (
            "the logits are changed in place",
            """
def draw(logits, temperature=1.0, generator=None):
    logits /= temperature
    return torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=generator)[:, 0]
""",
            "changes its input logits",
        ),
    ],
    "continue_text": [
        (
            "the last prompt character is fed twice",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, state = step(prompt[:, t], state)
    token = prompt[:, -1]
    written = []
    for _ in range(length):
        logits, state = step(token, state)
        token = choose(logits)
        written.append(token)
    return torch.stack(written, dim=1)
""",
            "twice",
        ),
        (
            "only the last prompt character is read",
            """
def continue_text(step, state, prompt, length, choose):
    token = prompt[:, -1]
    written = []
    for _ in range(length):
        logits, state = step(token, state)
        token = choose(logits)
        written.append(token)
    return torch.stack(written, dim=1)
""",
            "only the last character of the prompt",
        ),
        (
            "the state is not handed on",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, _ = step(prompt[:, t], state)
    written = [choose(logits)]
    for _ in range(length - 1):
        logits, _ = step(written[-1], state)
        written.append(choose(logits))
    return torch.stack(written, dim=1)
""",
            "start from the first state",
        ),
        (
            "the prompt's last character is fed for ever",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, state = step(prompt[:, t], state)
    written = [choose(logits)]
    for _ in range(length - 1):
        logits, state = step(prompt[:, -1], state)
        written.append(choose(logits))
    return torch.stack(written, dim=1)
""",
            "Feed the newest choice",
        ),
        (
            "the prompt is part of the result",
            """
def continue_text(step, state, prompt, length, choose):
    tokens = [prompt[:, t] for t in range(prompt.shape[1])]
    for token in tokens:
        logits, state = step(token, state)
    for _ in range(length):
        tokens.append(choose(logits))
        logits, state = step(tokens[-1], state)
    return torch.stack(tokens, dim=1)
""",
            "hold the prompt",
        ),
        (
            "the first new character is lost",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, state = step(prompt[:, t], state)
    token = choose(logits)
    written = []
    for _ in range(length):
        logits, state = step(token, state)
        token = choose(logits)
        written.append(token)
    return torch.stack(written, dim=1)
""",
            "first new character missing",
        ),
        (
            "one character too many",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, state = step(prompt[:, t], state)
    written = [choose(logits)]
    for _ in range(length):
        logits, state = step(written[-1], state)
        written.append(choose(logits))
    return torch.stack(written, dim=1)
""",
            "one character too many",
        ),
        (
            "time stands first",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, state = step(prompt[:, t], state)
    written = [choose(logits)]
    for _ in range(length - 1):
        logits, state = step(written[-1], state)
        written.append(choose(logits))
    return torch.stack(written)
""",
            "torch.stack(written, dim=1)",
        ),
        (
            "greedy whatever choose says",
            """
def continue_text(step, state, prompt, length, choose):
    for t in range(prompt.shape[1]):
        logits, state = step(prompt[:, t], state)
    written = [logits.argmax(dim=-1)]
    for _ in range(length - 1):
        logits, state = step(written[-1], state)
        written.append(logits.argmax(dim=-1))
    return torch.stack(written, dim=1)
""",
            "use choose",
        ),
    ],
    "gradient_norms": [
        (
            "with respect to the inputs",
            """
def gradient_norms(step, x, h):
    x = x.detach().clone().requires_grad_()
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
    return torch.autograd.grad(h.sum(), x)[0].norm(dim=-1)
""",
            "with respect to the inputs",
        ),
        (
            "the states before the steps",
            """
def gradient_norms(step, x, h):
    states = [h.detach().clone().requires_grad_()]
    for t in range(x.shape[1]):
        states.append(step(x[:, t], states[-1]))
    gradients = torch.autograd.grad(states[-1].sum(), states[:-1])
    return torch.stack(gradients, dim=1).norm(dim=-1)
""",
            "one step early",
        ),
        (
            "backwards in time",
            """
def gradient_norms(step, x, h):
    h = h.detach().clone().requires_grad_()
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    gradients = torch.autograd.grad(h.sum(), states[::-1])
    return torch.stack(gradients, dim=1).norm(dim=-1)
""",
            "wrong way round",
        ),
        (
            "no square root",
            """
def gradient_norms(step, x, h):
    h = h.detach().clone().requires_grad_()
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    gradients = torch.autograd.grad(h.sum(), states)
    return (torch.stack(gradients, dim=1) ** 2).sum(-1)
""",
            "square root missing",
        ),
        (
            "all states are summed",
            """
def gradient_norms(step, x, h):
    h = h.detach().clone().requires_grad_()
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    gradients = torch.autograd.grad(torch.stack(states).sum(), states)
    return torch.stack(gradients, dim=1).norm(dim=-1)
""",
            "sum all states",
        ),
        (
            "one norm for the whole batch",
            """
def gradient_norms(step, x, h):
    h = h.detach().clone().requires_grad_()
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    gradients = torch.autograd.grad(h.sum(), states)
    return torch.stack([gradient.norm() for gradient in gradients])
""",
            "over the whole batch",
        ),
        (
            "a detach at every step",
            """
def gradient_norms(step, x, h):
    norms = []
    states = [h]
    for t in range(x.shape[1]):
        states.append(step(x[:, t], states[-1]))
    for t in range(1, x.shape[1]):
        before = states[t].detach().requires_grad_()
        after = step(x[:, t], before)
        norms.append(torch.autograd.grad(after.sum(), before)[0].norm(dim=-1))
    norms.append(torch.ones_like(h).norm(dim=-1))
    return torch.stack(norms, dim=1)
""",
            "over one step only",
        ),
        (
            "no retain_grad",
            """
def gradient_norms(step, x, h):
    h = h.detach().clone().requires_grad_()
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    h.sum().backward()
    return torch.stack([state.grad.norm(dim=-1) for state in states], dim=1)
""",
            "retain_grad()",
        ),
        (
            "nothing asks for a gradient",
            """
def gradient_norms(step, x, h):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    gradients = torch.autograd.grad(h.sum(), states)
    return torch.stack(gradients, dim=1).norm(dim=-1)
""",
            "asks for a gradient",
        ),
        (
            "requires_grad is switched on for the caller's tensor",
            """
def gradient_norms(step, x, h):
    h.requires_grad_()
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    gradients = torch.autograd.grad(h.sum(), states)
    return torch.stack(gradients, dim=1).norm(dim=-1)
""",
            "requires_grad on",
        ),
    ],
    "poll_1": [
        ("the wrong letter", 'poll_1 = "a"'),
        ("another wrong letter", 'poll_1 = "b"'),
        ("no answer", "poll_1 = None"),
        ("all letters at once", 'poll_1 = "abc"'),
        ("a list of letters", 'poll_1 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_1 = "x"'),
    ],
    "poll_2": [
        ("the wrong letter", 'poll_2 = "b"'),
        ("another wrong letter", 'poll_2 = "c"'),
        ("no answer", "poll_2 = None"),
        ("all letters at once", 'poll_2 = "abc"'),
        ("a list of letters", 'poll_2 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_2 = "x"'),
    ],
    "poll_3": [
        ("the wrong letter", 'poll_3 = "c"'),
        ("another wrong letter", 'poll_3 = "a"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abc"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
    ],
}

RIGHT = {
    "rnn_step": [
        (
            "einsum",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    from_x = torch.einsum("bd,hd->bh", x, w_ih)
    from_h = torch.einsum("bk,hk->bh", h, w_hh)
    return (from_x + from_h + b_ih + b_hh).tanh()
""",
        ),
        (
            "one product of x and h side by side",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    both = torch.cat([x, h], dim=1)
    w = torch.cat([w_ih, w_hh], dim=1)
    return torch.tanh(both @ w.T + (b_ih + b_hh))
""",
        ),
        (
            "a loop over the batch",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    rows = [w_ih @ x[k] + b_ih + w_hh @ h[k] + b_hh for k in range(len(x))]
    return torch.tanh(torch.stack(rows))
""",
        ),
        (
            "linear, with a warning on the way",
            """
def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    import warnings

    warnings.warn("look out")
    linear = torch.nn.functional.linear
    return torch.tanh(linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh))
""",
        ),
    ],
    "training_pairs": [
        (
            "a loop",
            """
def training_pairs(ids, length):
    inputs, targets = [], []
    start = 0
    while start + length < len(ids):
        inputs.append(ids[start : start + length])
        targets.append(ids[start + 1 : start + length + 1])
        start += length
    return torch.stack(inputs), torch.stack(targets)
""",
        ),
        (
            "unfold",
            """
def training_pairs(ids, length):
    windows = ids.unfold(0, length + 1, length)
    return windows[:, :-1], windows[:, 1:]
""",
        ),
        (
            "places counted out",
            """
def training_pairs(ids, length):
    starts = torch.arange(0, len(ids) - length, length)
    places = starts[:, None] + torch.arange(length)
    return ids[places], ids[places + 1]
""",
        ),
    ],
    "lstm_step": [
        (
            "four products",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    size = h.shape[1]

    def part(k):
        rows = slice(k * size, (k + 1) * size)
        return x @ w_ih[rows].T + h @ w_hh[rows].T + b_ih[rows] + b_hh[rows]

    i, f, o = (torch.sigmoid(part(k)) for k in (0, 1, 3))
    c = f * c + i * torch.tanh(part(2))
    return o * torch.tanh(c), c
""",
        ),
        (
            "einsum and a list as result",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    parts = torch.einsum("bd,gd->bg", x, w_ih) + torch.einsum("bh,gh->bg", h, w_hh) + b_ih + b_hh
    i, f, g, o = parts.reshape(len(x), 4, -1).unbind(dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return [o.sigmoid() * c.tanh(), c]
""",
        ),
        (
            "a loop over the batch",
            """
def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    hs, cs = [], []
    for x_row, h_row, c_row in zip(x, *state):
        gates = (w_ih @ x_row + w_hh @ h_row + b_ih + b_hh).reshape(4, -1)
        i, f, o = torch.sigmoid(gates[[0, 1, 3]])
        cs.append(f * c_row + i * torch.tanh(gates[2]))
        hs.append(o * torch.tanh(cs[-1]))
    return torch.stack(hs), torch.stack(cs)
""",
        ),
    ],
    "forward": [
        (
            "multiplied by a mask",
            """
def forward(step, x, h, lengths=None):
    b, steps, _ = x.shape
    lengths = torch.full((b,), steps) if lengths is None else lengths
    outputs = []
    for t in range(steps):
        real = (t < lengths).to(x.dtype).unsqueeze(1)
        new = step(x[:, t, :], h)
        h = real * new + (1 - real) * h
        outputs.append(real * new)
    return torch.stack(outputs, 1), h
""",
        ),
        (
            "gather at the end",
            """
def forward(step, x, h, lengths=None):
    outputs = []
    for x_t in x.unbind(dim=1):
        h = step(x_t, h)
        outputs.append(h.unsqueeze(1))
    outputs = torch.cat(outputs, dim=1)
    if lengths is None:
        return outputs, h
    last = outputs[torch.arange(len(x)), lengths - 1]
    behind = torch.arange(x.shape[1])[None] >= lengths[:, None]
    return outputs.masked_fill(behind[..., None], 0.0), last
""",
        ),
        (
            "rows cut off and padded again",
            """
def forward(step, x, h, lengths=None):
    states = [h]
    for t in range(x.shape[1]):
        states.append(step(x[:, t], states[-1]))
    outputs = torch.stack(states[1:]).transpose(0, 1)
    if lengths is None:
        return outputs, states[-1]
    ends = [int(n) for n in lengths]
    rows = [row * (torch.arange(len(row)) < n)[:, None] for row, n in zip(outputs, ends)]
    return torch.stack(rows), torch.stack([row[n - 1] for row, n in zip(outputs, ends)])
""",
        ),
    ],
    "draw": [
        (
            "Gumbel noise",
            """
def draw(logits, temperature=1.0, generator=None):
    u = torch.rand(logits.shape, generator=generator, dtype=torch.float64)
    return (logits / temperature - torch.log(-torch.log(u))).argmax(dim=-1)
""",
        ),
        (
            "the inverse of the cumulative sum",
            """
def draw(logits, temperature=1.0, generator=None):
    scores = (logits - logits.max(dim=-1, keepdim=True).values) / temperature
    p = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    u = torch.rand((len(p), 1), generator=generator, dtype=p.dtype)
    return (p.cumsum(dim=-1) < u).sum(dim=-1).clamp(max=p.shape[-1] - 1)
""",
        ),
        (
            "row by row, float32 inside",
            """
def draw(logits, temperature=1.0, generator=None):
    drawn = []
    for row in logits.float():
        p = torch.nn.functional.softmax(row / temperature, dim=0)
        drawn.append(torch.multinomial(p, 1, generator=generator))
    return torch.cat(drawn)
""",
        ),
    ],
    "continue_text": [
        (
            "one loop",
            """
def continue_text(step, state, prompt, length, choose):
    size = prompt.shape[1]
    tokens = prompt
    for t in range(size + length - 1):
        logits, state = step(tokens[:, t], state)
        if t >= size - 1:
            tokens = torch.cat([tokens, choose(logits)[:, None]], dim=1)
    return tokens[:, size:]
""",
        ),
        (
            "a tensor filled in",
            """
def continue_text(step, state, prompt, length, choose):
    new = torch.zeros(len(prompt), length, dtype=prompt.dtype)
    for token in prompt.T:
        logits, state = step(token, state)
    for k in range(length):
        new[:, k] = choose(logits)
        logits, state = step(new[:, k], state)
    return new
""",
        ),
        (
            "a queue of what is to be read",
            """
def continue_text(step, state, prompt, length, choose):
    waiting, written = list(prompt.unbind(1)), []
    while len(written) < length:
        logits, state = step(waiting.pop(0), state)
        if not waiting:
            written.append(choose(logits))
            waiting.append(written[-1])
    return torch.stack(written, 1)
""",
        ),
    ],
    "gradient_norms": [
        (
            "backward and retain_grad",
            """
def gradient_norms(step, x, h):
    h = h.clone().detach()
    h.requires_grad = True
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        h.retain_grad()
        states.append(h)
    states[-1].sum().backward()
    return torch.stack([s.grad.pow(2).sum(-1).sqrt() for s in states], dim=1)
""",
        ),
        (
            "the chain rule by hand",
            """
def gradient_norms(step, x, h):
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h.detach())
    back = torch.ones_like(states[-1])
    norms = [back.norm(dim=-1)]
    for t in range(x.shape[1] - 1, 0, -1):
        before = states[t - 1].clone().requires_grad_()
        (back,) = torch.autograd.grad(step(x[:, t], before), before, grad_outputs=back)
        norms.insert(0, back.norm(dim=-1))
    return torch.stack(norms, dim=1)
""",
        ),
        (
            "one backward pass for each state",
            """
def gradient_norms(step, x, h):
    states = [h + torch.zeros_like(h, requires_grad=True)]
    for t in range(x.shape[1]):
        states.append(step(x[:, t], states[-1]))
    total = states[-1].sum()
    norms = [torch.autograd.grad(total, s, retain_graph=True)[0].norm(dim=1) for s in states[1:]]
    return torch.stack(norms, dim=1)
""",
        ),
    ],
}


# Operator mutants of the reference solutions that may keep every point: what was changed, in which
# line of the answer, what it reads then, and why nobody need lose a point for it.
SURVIVORS = {
    "lstm_step": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            5,
            "i, f, g, o = parts.chunk(4, dim=+1)",
            "the tensor has two axes: the last one is number 1",
        )
    ],
    "draw": [
        (
            "NumberReplacer",
            1,
            "def draw(logits, temperature= 0.0, generator=None):",
            "the assignment gives the signature, and every call names the temperature",
        ),
        (
            "NumberReplacer",
            1,
            "def draw(logits, temperature= 2.0, generator=None):",
            "the assignment gives the signature, and every call names the temperature",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            3,
            "probabilities = torch.softmax(logits / temperature, dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "NumberReplacer",
            4,
            "return torch.multinomial(probabilities, 1, generator=generator)[:, -1]",
            "one column was drawn: the last is the first",
        ),
        (
            "NumberReplacer",
            4,
            "return torch.multinomial(probabilities, 2, generator=generator)[:, 0]",
            "the first of two drawn without putting back has the same chances",
        ),
    ],
    "continue_text": [
        (
            "ReplaceComparisonOperator_Lt_NotEq",
            6,
            "while len(written) != length:",
            "the list grows by one word at a time, so it meets the length",
        )
    ],
    "gradient_norms": [
        (
            "DropCall",
            3,
            "h = (h).clone().requires_grad_()",
            "the state asks for no gradient and is not changed: either makes a new leaf",
        ),
        (
            "DropCall",
            3,
            "h = (h.detach()).requires_grad_()",
            "the state asks for no gradient and is not changed: either makes a new leaf",
        ),
    ],
}
