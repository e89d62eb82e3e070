"""The hidden checks of assignment 3, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

WRONG = {
    "context": [
        (
            "the mean in place of the sum",
            """
def context(weights, h):
    return (weights.unsqueeze(-1) * h).mean(1)
""",
            "divide by T",
        ),
        (
            "the state with the highest weight",
            """
def context(weights, h):
    best = weights.argmax(dim=1)
    return torch.stack([h[b, i] for b, i in enumerate(best)])
""",
            "highest weight",
        ),
        (
            "the plain average",
            """
def context(weights, h):
    return h.mean(dim=1)
""",
            "plain average",
        ),
        (
            "summed over the entries",
            """
def context(weights, h):
    return (weights[:, :, None] * h).sum(-1)
""",
            "over the entries of the states",
        ),
        (
            "summed over the batch",
            """
def context(weights, h):
    return (weights[:, :, None] * h).sum(0)
""",
            "over the batch",
        ),
        (
            "no sum",
            """
def context(weights, h):
    return weights[:, :, None] * h
""",
            "sum over the positions missing",
        ),
        (
            "no third axis for the weights",
            """
def context(weights, h):
    return (weights * h).sum(dim=1)
""",
            "weights[..., None]",
        ),
        (
            "every row of weights meets every sequence",
            """
def context(weights, h):
    return weights @ h
""",
            "keeps them apart",
        ),
        (
            "an axis too many",
            """
def context(weights, h):
    return weights[:, None] @ h
""",
            "axis of size 1 too many",
        ),
        (
            "works only for a batch of more than one",
            """
def context(weights, h):
    return (weights[:, None] @ h).squeeze()
""",
            "squeeze()",
        ),
        (
            "the states are changed in place",
            """
def context(weights, h):
    h *= weights[:, :, None]
    return h.sum(dim=1)
""",
            "changes its input h",
        ),
        (
            "float32 inside",
            """
def context(weights, h):
    c = torch.zeros(h.shape[0], h.shape[2])
    for i in range(h.shape[1]):
        c = c + (weights[:, i, None] * h[:, i]).float()
    return c
""",
            "float64",
        ),
        (
            "cut off from the gradient",
            """
def context(weights, h):
    return (weights.detach()[..., None] * h).sum(1)
""",
            "no gradient reaches weights",
        ),
        (
            "the package's own",
            """
def context(weights, h):
    return functional.weighted_sum(weights, h)
""",
            "the thing to build here",
        ),
        (
            "no return",
            """
def context(weights, h):
    c = (weights[..., None] * h).sum(1)
""",
            "return statement missing",
        ),
    ],
    "softmax": [
        (
            "over the batch",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.max(dim=0, keepdim=True).values)
    return e / e.sum(dim=0, keepdim=True)
""",
            "over the batch",
        ),
        (
            "over everything",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.max())
    return e / e.sum()
""",
            "sum over the whole batch",
        ),
        (
            "no keepdim in the maximum",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.max(dim=-1).values)
    return e / e.sum(dim=-1, keepdim=True)
""",
            "keepdim=True missing",
        ),
        (
            "no keepdim in the sum",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1)
""",
            "keepdim=True missing",
        ),
        (
            "max gives a pair",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)
""",
            "pair of values and places",
        ),
        (
            "not divided by the sum",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))
""",
            "divide by the sum",
        ),
        (
            "no maximum subtracted",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)
""",
            "subtract the largest score",
        ),
        (
            "one maximum for the whole batch",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)
""",
            "largest score of the whole batch",
        ),
        (
            "the maximum over the batch",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.max(dim=0).values)
    return e / e.sum(dim=-1, keepdim=True)
""",
            "maximum taken over the batch",
        ),
        (
            "the mask is not used",
            """
def softmax(scores, mask=None):
    m = scores.amax(dim=-1, keepdim=True)
    nothing = m == float("-inf")
    e = torch.exp(scores - torch.where(nothing, torch.zeros_like(m), m))
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(nothing, torch.ones_like(total), total)
""",
            "look at the mask at all",
        ),
        (
            "masked after the softmax",
            """
def softmax(scores, mask=None):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights if mask is None else weights * mask
""",
            "mask after the softmax",
        ),
        (
            "0 in place of minus infinity",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores * mask
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)
""",
            "set masked scores to 0",
        ),
        (
            "the mask the wrong way round",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    m = scores.amax(dim=-1, keepdim=True)
    nothing = m == float("-inf")
    e = torch.exp(scores - torch.where(nothing, torch.zeros_like(m), m))
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(nothing, torch.ones_like(total), total)
""",
            "wrong way round",
        ),
        (
            "masked after the softmax and rescaled",
            """
def softmax(scores, mask=None):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights
""",
            "maximum taken before the mask",
        ),
        (
            "a row with nothing gives NaN",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)
""",
            "-inf - (-inf)",
        ),
        (
            "a large negative number",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)
""",
            "spreads the weight evenly",
        ),
        (
            "minus infinity added, nan_to_num at the end",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, float("-inf"))
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return (e / e.sum(dim=-1, keepdim=True)).nan_to_num(0.0)
""",
            "their scores is NaN",
        ),
        (
            "the scores are changed in place",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores.masked_fill_(~mask, float("-inf"))
    m = scores.amax(dim=-1, keepdim=True)
    nothing = m == float("-inf")
    e = torch.exp(scores - torch.where(nothing, torch.zeros_like(m), m))
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(nothing, torch.ones_like(total), total)
""",
            "changes its input scores",
        ),
        (
            "only for a batch of more than one",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    m = scores.amax(dim=-1, keepdim=True)
    nothing = m == float("-inf")
    e = torch.exp(scores - torch.where(nothing, torch.zeros_like(m), m))
    total = e.sum(dim=-1, keepdim=True)
    return (e / torch.where(nothing, torch.ones_like(total), total)).squeeze()
""",
            "squeeze()",
        ),
        (
            "cut off from the gradient",
            """
def softmax(scores, mask=None):
    scores = scores.detach()
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    m = scores.amax(dim=-1, keepdim=True)
    nothing = m == float("-inf")
    e = torch.exp(scores - torch.where(nothing, torch.zeros_like(m), m))
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(nothing, torch.ones_like(total), total)
""",
            "no gradient reaches scores",
        ),
        (
            "PyTorch's softmax",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1)
""",
            "the thing to build here",
        ),
        (
            "the package's softmax",
            """
def softmax(scores, mask=None):
    return functional.softmax(scores, mask=mask)
""",
            "the thing to build here",
        ),
    ],
    "general_score": [
        (
            "w is not used",
            """
def general_score(s, h, w=None):
    return (h * s[:, None]).sum(-1)
""",
            "use w at all",
        ),
        (
            "w is transposed",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w
    return (h * s[:, None]).sum(-1)
""",
            "W the wrong way round",
        ),
        (
            "w is always used",
            """
def general_score(s, h, w=None):
    return ((s @ w.T)[:, None] * h).sum(-1)
""",
            "if w is None",
        ),
        (
            "divided by the root of the width",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return (h * s[:, None]).sum(-1) / h.shape[-1] ** 0.5
""",
            "root of the width",
        ),
        (
            "the mean of the products",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return (h * s[:, None]).mean(-1)
""",
            "mean of the products",
        ),
        (
            "the cosine",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return torch.nn.functional.cosine_similarity(h, s[:, None], dim=-1)
""",
            "lengths of the vectors",
        ),
        (
            "a softmax on top",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return torch.softmax((h * s[:, None]).sum(-1), dim=-1)
""",
            "apply a softmax",
        ),
        (
            "no sum",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return h * s[:, None]
""",
            "sum over the entries missing",
        ),
        (
            "summed over the positions",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return (h * s[:, None]).sum(1)
""",
            "sum over the positions",
        ),
        (
            "all decoder states meet all sequences",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return h @ s.T
""",
            "states of every sequence",
        ),
        (
            "no axis for the positions",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return (h * s).sum(-1)
""",
            "s[:, None]",
        ),
        (
            "a product of three and two axes",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return h @ s
""",
            "h @ s[:, :, None]",
        ),
        (
            "an axis too many",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return h @ s[:, :, None]
""",
            "axis of size 1 too many",
        ),
        (
            "works only for a batch of more than one",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return (h @ s[:, :, None]).squeeze()
""",
            "squeeze()",
        ),
        (
            "the decoder state of the first sequence",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return h @ s[0]
""",
            "first decoder state",
        ),
        (
            "the encoder states are changed in place",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    h *= s[:, None]
    return h.sum(-1)
""",
            "changes its input h",
        ),
        (
            "the package's own",
            """
def general_score(s, h, w=None):
    if w is not None:
        s = s @ w.T
    return functional.dot_score(s, h)
""",
            "the thing to build here",
        ),
    ],
    "additive_score": [
        (
            "no tanh",
            """
def additive_score(s, h, w_s, w_h, v):
    return ((s @ w_s.T)[:, None] + h @ w_h.T) @ v
""",
            "tanh missing",
        ),
        (
            "the tanh outside",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh(((s @ w_s.T)[:, None] + h @ w_h.T) @ v)
""",
            "tanh outside",
        ),
        (
            "a tanh of each part",
            """
def additive_score(s, h, w_s, w_h, v):
    return (torch.tanh(s @ w_s.T)[:, None] + torch.tanh(h @ w_h.T)) @ v
""",
            "tanh of each part",
        ),
        (
            "a sigmoid",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.sigmoid((s @ w_s.T)[:, None] + h @ w_h.T) @ v
""",
            "sigmoid in place",
        ),
        (
            "a relu",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.relu((s @ w_s.T)[:, None] + h @ w_h.T) @ v
""",
            "relu in place",
        ),
        (
            "v is forgotten",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh((s @ w_s.T)[:, None] + h @ w_h.T).sum(-1)
""",
            "forget v",
        ),
        (
            "the sum over the hidden units is missing",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh((s @ w_s.T)[:, None] + h @ w_h.T) * v
""",
            "D_A entries missing",
        ),
        (
            "the matrices are swapped",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh((s @ w_h.T)[:, None] + h @ w_s.T) @ v
""",
            "swap the matrices",
        ),
        (
            "the matrices are not transposed",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh((s @ w_s)[:, None] + h @ w_h) @ v
""",
            "transpose the matrices",
        ),
        (
            "no axis for the positions",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh(s @ w_s.T + h @ w_h.T) @ v
""",
            "needs an axis for the positions",
        ),
        (
            "the decoder state is forgotten",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh(h @ w_h.T) @ v
""",
            "decoder state s missing",
        ),
        (
            "a softmax on top",
            """
def additive_score(s, h, w_s, w_h, v):
    e = torch.tanh((s @ w_s.T)[:, None] + h @ w_h.T) @ v
    return torch.softmax(e, dim=-1)
""",
            "apply a softmax",
        ),
        (
            "works only for a batch of more than one",
            """
def additive_score(s, h, w_s, w_h, v):
    return (torch.tanh((s @ w_s.T)[:, None] + h @ w_h.T) @ v[:, None]).squeeze()
""",
            "squeeze()",
        ),
        (
            "the first decoder state for all",
            """
def additive_score(s, h, w_s, w_h, v):
    return torch.tanh(w_s @ s[0] + h @ w_h.T) @ v
""",
            "decoder state of the first one",
        ),
        (
            "the number of hidden units is written in",
            """
def additive_score(s, h, w_s, w_h, v):
    from_s = (s @ w_s.T).reshape(-1, 1, 6)
    return torch.tanh(from_s + (h @ w_h.T)) @ v
""",
            "size written into your code",
        ),
        (
            "the package's own",
            """
def additive_score(s, h, w_s, w_h, v):
    return functional.additive_score(s, h, w_s, w_h, v)
""",
            "the thing to build here",
        ),
        (
            "cut off from the gradient",
            """
def additive_score(s, h, w_s, w_h, v):
    with torch.no_grad():
        from_s = (s @ w_s.T)[:, None]
    return torch.tanh(from_s + h @ w_h.T) @ v
""",
            "no gradient reaches s.",
        ),
    ],
    "mlp_score": [
        (
            "the wrong order of concatenation",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([s[:, None].expand(-1, h.shape[1], -1), h], dim=-1)
    return torch.relu(both @ w1.T + b1) @ w2 + b2
""",
            "order [s; h]",
        ),
        (
            "no hidden bias",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.relu(both @ w1.T) @ w2 + b2
""",
            "hidden layer, b1",
        ),
        (
            "no output bias",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.relu(both @ w1.T + b1) @ w2
""",
            "output, b2",
        ),
        (
            "no biases",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.relu(both @ w1.T) @ w2
""",
            "both biases",
        ),
        (
            "no relu",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return (both @ w1.T + b1) @ w2 + b2
""",
            "relu missing",
        ),
        (
            "tanh in place of relu",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.tanh(both @ w1.T + b1) @ w2 + b2
""",
            "use tanh",
        ),
        (
            "a second relu at the end",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.relu(torch.relu(both @ w1.T + b1) @ w2 + b2)
""",
            "relu at the end? A score",
        ),
        (
            "the relu at the end only",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.relu((both @ w1.T + b1) @ w2 + b2)
""",
            "belongs to the hidden layer",
        ),
        (
            "two and three axes",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s], dim=-1)
    return torch.relu(both @ w1.T + b1) @ w2 + b2
""",
            "repeated for every position",
        ),
        (
            "one position only",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s.unsqueeze(1)], dim=-1)
    return torch.relu(both @ w1.T + b1) @ w2 + b2
""",
            "expand(-1, T, -1)",
        ),
        (
            "w1 is not transposed",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.relu(both @ w1 + b1) @ w2 + b2
""",
            "transpose w1",
        ),
        (
            "a softmax on top",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return torch.softmax(torch.relu(both @ w1.T + b1) @ w2 + b2, dim=-1)
""",
            "apply a softmax",
        ),
        (
            "the first decoder state for all",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s[0].expand(len(h), h.shape[1], -1)], dim=-1)
    return torch.relu(both @ w1.T + b1) @ w2 + b2
""",
            "decoder state of the first one",
        ),
        (
            "the package's own",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    return functional.mlp_score(s, h, w1, b1, w2, b2)
""",
            "the thing to build here",
        ),
    ],
    "attend": [
        (
            "padding is attended to",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h), dim=-1)
    return context(weights, h), weights
""",
            "padding get a weight",
        ),
        (
            "masked after the softmax",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h), dim=-1) * mask
    return context(weights, h), weights
""",
            "mask after the softmax",
        ),
        (
            "0 in place of minus infinity",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h) * mask, dim=-1)
    return context(weights, h), weights
""",
            "padding to 0",
        ),
        (
            "the mask the wrong way round",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h).masked_fill(mask, float("-inf")), dim=-1)
    return context(weights, h), weights
""",
            "wrong way round",
        ),
        (
            "the softmax over the batch",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h).masked_fill(~mask, float("-inf")), dim=0)
    return context(weights, h), weights
""",
            "over the batch",
        ),
        (
            "the results swapped",
            """
def attend(score, s, h, mask):
    weights = softmax(score(s, h), mask)
    return weights, context(weights, h)
""",
            "weights first",
        ),
        (
            "the context only",
            """
def attend(score, s, h, mask):
    return context(softmax(score(s, h), mask), h)
""",
            "context only",
        ),
        (
            "raw scores returned",
            """
def attend(score, s, h, mask):
    e = score(s, h).masked_fill(~mask, float("-inf"))
    return context(torch.softmax(e, dim=-1), h), e
""",
            "raw scores in place",
        ),
        (
            "no softmax",
            """
def attend(score, s, h, mask):
    weights = score(s, h) * mask
    return context(weights, h), weights
""",
            "softmax missing",
        ),
        (
            "the state with the highest weight",
            """
def attend(score, s, h, mask):
    weights = softmax(score(s, h), mask)
    return h[torch.arange(len(h)), weights.argmax(-1)], weights
""",
            "highest weight",
        ),
        (
            "the mean in place of the sum",
            """
def attend(score, s, h, mask):
    weights = softmax(score(s, h), mask)
    return (weights[..., None] * h).mean(1), weights
""",
            "divide by T",
        ),
        (
            "score called the wrong way round",
            """
def attend(score, s, h, mask):
    weights = softmax(score(h, s), mask)
    return context(weights, h), weights
""",
            "score(s, h)",
        ),
        (
            "an exponential that overflows",
            """
def attend(score, s, h, mask):
    e = torch.exp(score(s, h).masked_fill(~mask, float("-inf")))
    weights = e / e.sum(dim=-1, keepdim=True)
    return context(weights, h), weights
""",
            "exp() overflow",
        ),
        (
            "the states masked, not the weights",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h), dim=-1)
    return context(weights, h * mask[..., None]), weights
""",
            "mask the states",
        ),
        (
            "the states of padding set to zero",
            """
def attend(score, s, h, mask):
    weights = torch.softmax(score(s, h * mask[..., None]), dim=-1)
    return context(weights, h), weights
""",
            "states of padding to zero",
        ),
        (
            "the encoder states changed in place",
            """
def attend(score, s, h, mask):
    h *= mask[..., None]
    weights = softmax(score(s, h), mask)
    return context(weights, h), weights
""",
            "changes its input h",
        ),
    ],
    "decoder_step": [
        (
            "context before word in the cell",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([c, y], dim=-1), s)
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "input [c; y]",
        ),
        (
            "another order before the readout",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([c, s, y], dim=-1)), s, weights
""",
            "in front of the readout [c; s; y]",
        ),
        (
            "the word before the context in the readout",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, y, c], dim=-1)), s, weights
""",
            "in front of the readout [s; y; c]",
        ),
        (
            "the readout gets the old state",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    new = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, c, y], dim=-1)), new, weights
""",
            "get the old state",
        ),
        (
            "attends again with the new state",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    c, weights = attend(s, h, mask)
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "attend a second time",
        ),
        (
            "weights of the new state",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, _ = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    _, weights = attend(s, h, mask)
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "weights those of the new state",
        ),
        (
            "the old state returned",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    new = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([new, c, y], dim=-1)), s, weights
""",
            "return the old state",
        ),
        (
            "the results in another order",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return s, readout(torch.cat([s, c, y], dim=-1)), weights
""",
            "order of the results",
        ),
        (
            "no weights returned",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, c, y], dim=-1)), s
""",
            "weights missing",
        ),
        (
            "a softmax of the logits",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return torch.softmax(readout(torch.cat([s, c, y], dim=-1)), dim=-1), s, weights
""",
            "apply a softmax",
        ),
        (
            "the score uses the new state",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    s = cell(y, s)
    c, weights = attend(s, h, mask)
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "cell get the word only",
        ),
        (
            "the readout gets the state only",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(s), s, weights
""",
            "readout get the state only",
        ),
        (
            "the readout does not get the word",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, c], dim=-1)), s, weights
""",
            "two parts only",
        ),
        (
            "state and input of the cell swapped",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s = cell(s, torch.cat([y, c], dim=-1))
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "cell(x, s)",
        ),
        (
            "attend's pair not taken apart",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, c, y], dim=-1)), s, c
""",
            "returns a pair",
        ),
        (
            "the mask is not handed on",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    everything = torch.ones(h.shape[:2], dtype=torch.bool)
    c, weights = attend(s, h, everything)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "mask handed on",
        ),
        (
            "the old state overwritten in place",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    c, weights = attend(s, h, mask)
    s.copy_(cell(torch.cat([y, c], dim=-1), s.clone()))
    return readout(torch.cat([s, c, y], dim=-1)), s, weights
""",
            "changes its input s",
        ),
    ],
    "local_weights": [
        (
            "sigma is the whole width",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * width**2))
""",
            "bell too wide",
        ),
        (
            "sigma is not squared",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2)))
""",
            "sigma not squared",
        ),
        (
            "no factor 2",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-((distance / (width / 2)) ** 2))
""",
            "factor 2 missing",
        ),
        (
            "no minus",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(distance**2 / (2 * (width / 2) ** 2))
""",
            "minus in the exponent",
        ),
        (
            "no bell",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights
""",
            "bell missing",
        ),
        (
            "rescaled after the bell",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    weights = weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
""",
            "rescale the weights",
        ),
        (
            "no window",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "outside the window",
        ),
        (
            "the window after the softmax",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask) * (distance.abs() <= width)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "window applied after the softmax",
        ),
        (
            "the edges left out",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() < width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "edges of the window",
        ),
        (
            "positions from 1",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(1, scores.shape[1] + 1) - centre[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "positions from 1",
        ),
        (
            "the centre rounded",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre.round()[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "round the centre",
        ),
        (
            "the centre cut down",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre.long()[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance.to(scores.dtype) ** 2) / (2 * (width / 2) ** 2))
""",
            "cut the centre down",
        ),
        (
            "padding inside the window",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=distance.abs() <= width)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "padding inside the window",
        ),
        (
            "real or inside",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    weights = functional.softmax(scores, mask=mask | (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "outside the window",
        ),
        (
            "a window of padding gives NaN",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    inside = mask & (distance.abs() <= width)
    weights = torch.softmax(scores.masked_fill(~inside, float("-inf")), dim=-1)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "nothing but padding gives NaN",
        ),
        (
            "scores outside set to 0",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    inside = mask & (distance.abs() <= width)
    weights = torch.softmax(scores * inside, dim=-1)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "outside the window to 0",
        ),
        (
            "no axis for the positions",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "centre[:, None]",
        ),
        (
            "the mask changed in place",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    mask &= distance.abs() <= width
    weights = functional.softmax(scores, mask=mask)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "changes its input mask",
        ),
        (
            "the package's window",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    inside = mask & functional.window_mask(centre, width, scores.shape[1])
    weights = functional.softmax(scores, mask=inside)
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "the thing to build here",
        ),
        (
            "cut off from the gradient",
            """
def local_weights(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre.detach()[:, None]
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
""",
            "no gradient reaches centre",
        ),
    ],
    "links": [
        (
            "target before source",
            """
def links(weights, length):
    best = weights.argmax(dim=1).tolist()
    return {(t, i) for t, i in enumerate(best) if i < length}
""",
            "(target, source)",
        ),
        (
            "the largest weight among the words",
            """
def links(weights, length):
    best = weights[:, :length].argmax(dim=1).tolist()
    return {(i, t) for t, i in enumerate(best)}
""",
            "rests on <eos>",
        ),
        (
            "links to <eos>",
            """
def links(weights, length):
    best = weights.argmax(dim=1).tolist()
    return {(i, t) for t, i in enumerate(best)}
""",
            "link to <eos>",
        ),
        (
            "one column too many",
            """
def links(weights, length):
    best = weights.argmax(dim=1).tolist()
    return {(i, t) for t, i in enumerate(best) if i <= length}
""",
            "column number `length`",
        ),
        (
            "every source word chooses",
            """
def links(weights, length):
    best = weights.argmax(dim=0).tolist()
    return {(i, best[i]) for i in range(length)}
""",
            "source word choose",
        ),
        (
            "all weights above one half",
            """
def links(weights, length):
    return {(i, t) for t in range(len(weights)) for i in range(length) if weights[t, i] > 0.5}
""",
            "above one half",
        ),
        (
            "counted from 1",
            """
def links(weights, length):
    best = weights.argmax(dim=1).tolist()
    return {(i + 1, t + 1) for t, i in enumerate(best) if i < length}
""",
            "count from 1",
        ),
        (
            "a list",
            """
def links(weights, length):
    best = weights.argmax(dim=1).tolist()
    return [(i, t) for t, i in enumerate(best) if i < length]
""",
            "set of pairs is asked for",
        ),
        (
            "tensors in the pairs",
            """
def links(weights, length):
    best = weights.argmax(dim=1)
    return {(i, t) for t, i in enumerate(best) if i < length}
""",
            "plain whole numbers",
        ),
        (
            "one row late",
            """
def links(weights, length):
    best = weights.argmax(dim=1).tolist()
    return {(i, t - 1) for t, i in enumerate(best) if i < length and t > 0}
""",
            "word before",
        ),
        (
            "the package's own",
            """
def links(weights, length):
    from seqcourse.metrics import links_from_weights

    return links_from_weights(weights, source_length=length)
""",
            "the thing to build here",
        ),
    ],
    "alignment_error_rate": [
        (
            "the share of right links",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) + len(a & p) for a, s, p in rows)
    total = sum(len(a) + len(s) for a, s, p in rows)
    return right / total
""",
            "share of right links",
        ),
        (
            "the mean of the rates",
            """
def alignment_error_rate(predicted, sure, possible):
    rates = []
    for a, s, p in zip(predicted, sure, possible):
        rates.append(1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))
    return sum(rates) / len(rates)
""",
            "mean of the sentences",
        ),
        (
            "returns inside the loop",
            """
def alignment_error_rate(predicted, sure, possible):
    for a, s, p in zip(predicted, sure, possible):
        return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))
""",
            "first sentence only",
        ),
        (
            "the possible links under the fraction",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) + len(a & p) for a, s, p in rows)
    total = sum(len(a) + len(p) for a, s, p in rows)
    return 1 - right / total
""",
            "|A| + |P| under",
        ),
        (
            "the union under the fraction",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) + len(a & p) for a, s, p in rows)
    total = sum(len(a | s) for a, s, p in rows)
    return 1 - right / total
""",
            "in A or S",
        ),
        (
            "possible without sure",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) + len(a & (p - s)) for a, s, p in rows)
    total = sum(len(a) + len(s) for a, s, p in rows)
    return 1 - right / total
""",
            "leave out the sure ones",
        ),
        (
            "only the sure links",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) for a, s, p in rows)
    total = sum(len(a) + len(s) for a, s, p in rows)
    return 1 - right / total
""",
            "|A & P| missing",
        ),
        (
            "sure links twice",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) + len(a & s) for a, s, p in rows)
    total = sum(len(a) + len(s) for a, s, p in rows)
    return 1 - right / total
""",
            "|A & S| counted twice",
        ),
        (
            "possible links twice",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & p) + len(a & p) for a, s, p in rows)
    total = sum(len(a) + len(s) for a, s, p in rows)
    return 1 - right / total
""",
            "|A & P| counted twice",
        ),
        (
            "the lists taken for sets",
            """
def alignment_error_rate(predicted, sure, possible):
    right = len(predicted & sure) + len(predicted & possible)
    return 1 - right / (len(predicted) + len(sure))
""",
            "one set per sentence",
        ),
        (
            "the sets changed in place",
            """
def alignment_error_rate(predicted, sure, possible):
    right = total = 0
    for a, s, p in zip(predicted, sure, possible):
        total += len(a) + len(s)
        right += len(a & s)
        a &= p
        right += len(a)
    return 1 - right / total
""",
            "changes its input",
        ),
        (
            "the package's own",
            """
def alignment_error_rate(predicted, sure, possible):
    from seqcourse import metrics

    return metrics.alignment_error_rate(predicted, sure, possible).aer
""",
            "the thing to build here",
        ),
        (
            "no return",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    right = sum(len(a & s) + len(a & p) for a, s, p in rows)
    total = sum(len(a) + len(s) for a, s, p in rows)
    print(1 - right / total)
""",
            "return statement missing",
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
        ("the wrong letter", 'poll_3 = "a"'),
        ("another wrong letter", 'poll_3 = "c"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abcd"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c", "d"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
    ],
}

RIGHT = {
    "context": [
        (
            "einsum",
            """
def context(weights, h):
    return torch.einsum("bt,btd->bd", weights, h)
""",
        ),
        (
            "a matrix product",
            """
def context(weights, h):
    return (weights[:, None, :] @ h)[:, 0]
""",
        ),
        (
            "loops",
            """
def context(weights, h):
    c = torch.zeros_like(h[:, 0])
    for i in range(h.shape[1]):
        c = c + weights[:, i : i + 1] * h[:, i]
    return c
""",
        ),
    ],
    "softmax": [
        (
            "masked_fill, nan_to_num at the end",
            """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return (e / e.sum(dim=-1, keepdim=True)).nan_to_num(0.0)
""",
        ),
        (
            "multiplied by the mask between exponential and division",
            """
def softmax(scores, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    low = scores.masked_fill(~mask, -1e30).amax(dim=-1, keepdim=True)
    low = torch.where(mask.any(dim=-1, keepdim=True), low, torch.zeros_like(low))
    e = torch.exp((scores - low).masked_fill(~mask, float("-inf")))
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)
""",
        ),
        (
            "row by row",
            """
def softmax(scores, mask=None):
    rows = []
    for b in range(len(scores)):
        row = torch.zeros_like(scores[b])
        may = slice(None) if mask is None else mask[b]
        chosen = scores[b][may]
        if len(chosen):
            e = torch.exp(chosen - chosen.max())
            row = row.clone()
            row[may] = e / e.sum()
        rows.append(row)
    return torch.stack(rows)
""",
        ),
        (
            "through the logarithm of the sum",
            """
def softmax(scores, mask=None):
    if mask is not None:
        may = mask | ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~may, float("-inf"))
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return weights if mask is None else weights * mask
""",
        ),
    ],
    "general_score": [
        (
            "einsum",
            """
def general_score(s, h, w=None):
    if w is None:
        return torch.einsum("bd,btd->bt", s, h)
    return torch.einsum("bs,hs,bth->bt", s, w, h)
""",
        ),
        (
            "W on the side of the encoder",
            """
def general_score(s, h, w=None):
    keys = h if w is None else h @ w
    return torch.bmm(keys, s.unsqueeze(2)).squeeze(2)
""",
        ),
        (
            "a helper called dot_score",
            """
def dot_score(s, h):
    return torch.stack([h[b] @ s[b] for b in range(len(s))])


def general_score(s, h, w=None):
    return dot_score(s if w is None else torch.nn.functional.linear(s, w), h)
""",
        ),
    ],
    "additive_score": [
        (
            "both states side by side",
            """
def additive_score(s, h, w_s, w_h, v):
    w = torch.cat([w_h, w_s], dim=1)
    both = torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)
    return (both @ w.T).tanh() @ v
""",
        ),
        (
            "a loop over the positions",
            """
def additive_score(s, h, w_s, w_h, v):
    e = [torch.tanh(s @ w_s.T + h[:, i] @ w_h.T) @ v for i in range(h.shape[1])]
    return torch.stack(e, dim=1)
""",
        ),
        (
            "einsum",
            """
def additive_score(s, h, w_s, w_h, v):
    hidden = torch.einsum("bs,as->ba", s, w_s).unsqueeze(1) + torch.einsum("bth,ah->bta", h, w_h)
    return torch.einsum("bta,a->bt", torch.tanh(hidden), v)
""",
        ),
    ],
    "mlp_score": [
        (
            "the matrix cut in two",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    d = h.shape[-1]
    hidden = h @ w1[:, :d].T + (s @ w1[:, d:].T)[:, None] + b1
    return hidden.clamp(min=0) @ w2 + b2
""",
        ),
        (
            "a loop and repeat",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    linear = torch.nn.functional.linear
    e = []
    for h_i in h.unbind(dim=1):
        hidden = torch.nn.functional.relu(linear(torch.cat([h_i, s], dim=1), w1, b1))
        e.append(linear(hidden, w2[None], b2))
    return torch.cat(e, dim=1)
""",
        ),
        (
            "einsum",
            """
def mlp_score(s, h, w1, b1, w2, b2):
    both = torch.cat([h, s.unsqueeze(1).repeat(1, h.shape[1], 1)], dim=-1)
    hidden = torch.relu(torch.einsum("bti,ai->bta", both, w1) + b1)
    return torch.einsum("bta,a->bt", hidden, w2) + b2
""",
        ),
    ],
    "attend": [
        (
            "a class of its own named Attention",
            """
class Attention:
    def __init__(self, score):
        self.score = score

    def __call__(self, s, h, mask):
        weights = softmax(self.score(s, h), mask)
        return context(weights, h), weights


def attend(score, s, h, mask):
    return Attention(score)(s, h, mask)
""",
        ),
        (
            "the student's own functions",
            """
def attend(score, s, h, mask):
    weights = softmax(score(s, h), mask)
    return context(weights, h), weights
""",
        ),
        (
            "PyTorch's softmax and einsum",
            """
def attend(score, s, h, mask):
    weights = score(s, h).masked_fill(~mask, float("-inf")).softmax(-1)
    return torch.einsum("bt,btd->bd", weights, h), weights
""",
        ),
        (
            "a loop over the batch, a list as result",
            """
def attend(score, s, h, mask):
    contexts, rows = [], []
    for e, states, real in zip(score(s, h), h, mask):
        n = int(real.sum())
        a = torch.cat([torch.softmax(e[:n], dim=0), e.new_zeros(len(e) - n)])
        contexts.append(a @ states)
        rows.append(a)
    return [torch.stack(contexts), torch.stack(rows)]
""",
        ),
    ],
    "decoder_step": [
        (
            "other names, hstack",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    seen, a = attend(s, h, mask)
    new = cell(torch.hstack((y, seen)), s)
    logits = readout(torch.hstack((new, seen, y)))
    return logits, new, a
""",
        ),
        (
            "row by row",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    rows = []
    for b in range(len(y)):
        one = slice(b, b + 1)
        c, weights = attend(s[one], h[one], mask[one])
        new = cell(torch.cat([y[one], c], 1), s[one])
        rows.append((readout(torch.cat([new, c, y[one]], 1)), new, weights))
    return tuple(torch.cat(parts) for parts in zip(*rows))
""",
        ),
        (
            "parts by number, a list as result",
            """
def decoder_step(y, s, h, mask, attend, cell, readout):
    found = attend(s, h, mask)
    new = cell(torch.cat((y, found[0]), dim=-1), s)
    return [readout(torch.cat((new, found[0], y), dim=-1)), new, found[1]]
""",
        ),
    ],
    "local_weights": [
        (
            "the student's own softmax",
            """
def local_weights(scores, centre, width, mask):
    p, size = centre.unsqueeze(1), scores.shape[1]
    places = torch.arange(size, dtype=scores.dtype).expand(len(scores), size)
    inside = (places >= p - width) & (places <= p + width) & mask
    bell = torch.exp(-2 * ((places - p) / width) ** 2)
    return softmax(scores, inside) * bell
""",
        ),
        (
            "a loop",
            """
def local_weights(scores, centre, width, mask):
    rows = []
    for e, p, real in zip(scores, centre, mask):
        places = torch.arange(len(e))
        inside = real & ((places - p).abs() <= width)
        row = torch.zeros_like(e)
        if inside.any():
            row = row.masked_scatter(inside, torch.softmax(e[inside], dim=0))
        rows.append(row * torch.exp(-((places - p) ** 2) / (0.5 * width**2)))
    return torch.stack(rows)
""",
        ),
        (
            "the softmax by hand",
            """
def local_weights(scores, centre, width, mask):
    off = torch.arange(scores.shape[1], dtype=scores.dtype)[None] - centre[:, None]
    inside = (mask & (off >= -width) & (off <= width)).to(scores.dtype)
    low = torch.where(inside > 0, scores, torch.full_like(scores, -1e30)).amax(1, keepdim=True)
    e = torch.exp(torch.where(inside > 0, scores - low, torch.zeros_like(scores))) * inside
    bell = torch.exp(-0.5 * (off / (width / 2)) ** 2)
    return e / e.sum(1, keepdim=True).clamp(min=1e-30) * bell
""",
        ),
    ],
    "links": [
        (
            "loops and max",
            """
def links(weights, length):
    found = set()
    for t, row in enumerate(weights.tolist()):
        i = row.index(max(row))
        if i < length:
            found.add((i, t))
    return found
""",
        ),
        (
            "NumPy, a frozen set",
            """
def links(weights, length):
    best = weights.numpy().argmax(axis=1)
    return frozenset((i, t) for t, i in enumerate(best) if i < length)
""",
        ),
        (
            "pairs filtered",
            """
def links(weights, length):
    places = torch.max(weights, dim=1).indices.tolist()
    return set(filter(lambda pair: pair[0] < length, zip(places, range(len(places)))))
""",
        ),
    ],
    "alignment_error_rate": [
        (
            "one line",
            """
def alignment_error_rate(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible))
    wrong = sum(len(a - s) + len(s - a) - len((a & p) - s) for a, s, p in rows)
    return wrong / sum(len(a) + len(s) for a, s, _ in rows)
""",
        ),
        (
            "a tensor as result, loops over links",
            """
def alignment_error_rate(predicted, sure, possible):
    good, every = 0, 0
    for a, s, p in zip(predicted, sure, possible):
        for link in a:
            good += (link in s) + (link in p)
        every += len(a) + len(s)
    return torch.tensor(1 - good / every, dtype=torch.float64)
""",
        ),
        (
            "the links of all sentences in three sets",
            """
def alignment_error_rate(predicted, sure, possible):
    def numbered(sets):
        return {(k, *link) for k, links in enumerate(sets) for link in links}

    a, s, p = map(numbered, (predicted, sure, possible))
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))
""",
        ),
    ],
}


# Operator mutants of the reference solutions that may keep every point: what was changed, in which
# line of the answer, what it reads then, and why nobody need lose a point for it.
SURVIVORS = {
    "softmax": [
        (
            "DropCall",
            5,
            "highest = (scores.amax(dim=-1, keepdim=True))",
            "the weights do not depend on the number subtracted, so its gradient adds nothing",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            5,
            "highest = scores.amax(dim=+1, keepdim=True).detach()",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "ReplaceComparisonOperator_Eq_LtE",
            6,
            'nothing = highest <= float("-inf")',
            "nothing is smaller than minus infinity",
        ),
        (
            "NumberReplacer",
            7,
            "exponentials = (scores - highest.masked_fill(nothing, -1.0)).exp()",
            "a row with nothing is exp(-inf) = 0, whatever is subtracted or divides it",
        ),
        (
            "NumberReplacer",
            7,
            "exponentials = (scores - highest.masked_fill(nothing, 1.0)).exp()",
            "a row with nothing is exp(-inf) = 0, whatever is subtracted or divides it",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            8,
            "total = exponentials.sum(dim=+1, keepdim=True)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "NumberReplacer",
            9,
            "return exponentials / total.masked_fill(nothing, 2.0)",
            "a row with nothing is exp(-inf) = 0, whatever is subtracted or divides it",
        ),
    ],
    "decoder_step": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "s = cell(torch.cat([y, c], dim=+1), s)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            5,
            "return readout(torch.cat([s, c, y], dim=+1)), s, weights",
            "the tensor has two axes: the last one is number 1",
        ),
    ],
    "alignment_error_rate": [
        (
            "DropArgument",
            4,
            "for a, s, p in zip(predicted, sure, possible):",
            "the three lists have the same length in every call",
        ),
        (
            "ReplaceTrueWithFalse",
            4,
            "for a, s, p in zip(predicted, sure, possible, strict=False):",
            "the three lists have the same length in every call",
        ),
    ],
}
