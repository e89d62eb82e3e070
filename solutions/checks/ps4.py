"""The hidden checks of assignment 4, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

SIZE = "Is a size written into your code?"

WRONG = {
    "similarities": [
        (
            "not divided",
            """
def similarities(q, x):
    return q @ x.transpose(1, 2)
""",
            "root of D missing",
        ),
        (
            "divided by D",
            """
def similarities(q, x):
    return q @ x.transpose(1, 2) / q.shape[-1]
""",
            "Did you divide by D?",
        ),
        (
            "multiplied by the root",
            """
def similarities(q, x):
    return q @ x.transpose(1, 2) * q.shape[-1] ** 0.5
""",
            "multiply by the root",
        ),
        (
            "the root of the number of inputs",
            """
def similarities(q, x):
    return q @ x.transpose(1, 2) / x.shape[1] ** 0.5
""",
            "how many inputs there are",
        ),
        (
            "the root of the number of queries",
            """
def similarities(q, x):
    return q @ x.transpose(1, 2) / q.shape[1] ** 0.5
""",
            "how many queries there are",
        ),
        (
            "rows and columns swapped",
            """
def similarities(q, x):
    return x @ q.transpose(1, 2) / q.shape[-1] ** 0.5
""",
            "rows and columns swapped",
        ),
        (
            "a softmax on top",
            """
def similarities(q, x):
    return torch.softmax(q @ x.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1)
""",
            "apply a softmax",
        ),
        (
            "the cosine",
            """
def similarities(q, x):
    q = q / q.norm(dim=-1, keepdim=True)
    x = x / x.norm(dim=-1, keepdim=True)
    return q @ x.mT
""",
            "lengths of the vectors",
        ),
        (
            "no sum",
            """
def similarities(q, x):
    return q.unsqueeze(2) * x.unsqueeze(1) / q.shape[-1] ** 0.5
""",
            "sum over the D entries missing",
        ),
        (
            "pair by pair",
            """
def similarities(q, x):
    return (q * x).sum(-1) / q.shape[-1] ** 0.5
""",
            "each query meet one input only",
        ),
        (
            "the first sequence's queries",
            """
def similarities(q, x):
    return q[0] @ x.mT / q.shape[-1] ** 0.5
""",
            "queries of the first sequence",
        ),
        (
            "not turned",
            """
def similarities(q, x):
    return q @ x / q.shape[-1] ** 0.5
""",
            "must be turned first",
        ),
        (
            "all axes turned",
            """
def similarities(q, x):
    return q @ x.permute(2, 1, 0) / q.shape[-1] ** 0.5
""",
            "turns all three axes",
        ),
        (
            "the batch moved",
            """
def similarities(q, x):
    return q @ x.transpose(0, 1) / q.shape[-1] ** 0.5
""",
            "moves the batch",
        ),
        (
            "a width written in",
            """
def similarities(q, x):
    return torch.bmm(q, x.mT.reshape(-1, 5, x.shape[1])) / 5**0.5
""",
            "size written into your code",
        ),
        (
            "works only for a batch of more than one",
            """
def similarities(q, x):
    return (q @ x.mT / q.shape[-1] ** 0.5).squeeze()
""",
            "squeeze()",
        ),
        (
            "changed in place",
            """
def similarities(q, x):
    q /= q.shape[-1] ** 0.5
    return q @ x.mT
""",
            "changes its input q",
        ),
        (
            "cut off from the gradient",
            """
def similarities(q, x):
    return q @ x.detach().mT / q.shape[-1] ** 0.5
""",
            "no gradient reaches x",
        ),
        (
            "float32 inside",
            """
def similarities(q, x):
    return (q.float() @ x.float().mT / q.shape[-1] ** 0.5)
""",
            "float64",
        ),
    ],
    "attention": [
        (
            "not divided",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1)
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "root of D missing",
        ),
        (
            "divided by D",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1]
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "Did you divide by D?",
        ),
        (
            "multiplied by the root",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) * q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "multiply by the root",
        ),
        (
            "the root of the values' width",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / v.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "root of the values' width",
        ),
        (
            "the root of the number of keys",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / k.shape[-2] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "how many keys there are",
        ),
        (
            "divided after the softmax",
            """
def attention(q, k, v):
    a = torch.softmax(q @ k.transpose(-2, -1), dim=-1) / q.shape[-1] ** 0.5
    return a @ v, a
""",
            "divide after the softmax",
        ),
        (
            "softmax over the queries",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-2)
    return a @ v, a
""",
            "softmax over the queries",
        ),
        (
            "softmax over the batch",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=0)
    return a @ v, a
""",
            "softmax over the batch",
        ),
        (
            "one sum for everything",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.exp(e) / torch.exp(e).sum()
    return a @ v, a
""",
            "sum over more than one row",
        ),
        (
            "no softmax",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return e @ v, e
""",
            "without a softmax",
        ),
        (
            "two softmaxes",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    a = a.softmax(-1)
    return a @ v, a
""",
            "softmax applied twice",
        ),
        (
            "the keys are summed",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ k, a
""",
            "keys summed in place of the values",
        ),
        (
            "the values are compared",
            """
def attention(q, k, v):
    e = q @ v.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = e.softmax(-1)
    return a @ v, a
""",
            "values compared in place of the keys",
        ),
        (
            "keys and values swapped",
            """
def attention(q, k, v):
    e = q @ v.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = e.softmax(-1)
    return a @ k, a
""",
            "values compared in place of the keys",
        ),
        (
            "the weights first",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a, a @ v
""",
            "return the weights first",
        ),
        (
            "the outputs only",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ v
""",
            "outputs only",
        ),
        (
            "the weights only",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a
""",
            "weights only",
        ),
        (
            "raw similarities returned",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ v, e
""",
            "raw similarities in place",
        ),
        (
            "the best value",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    best = torch.zeros_like(a).scatter(-1, a.argmax(-1, keepdim=True), 1.0)
    return best @ v, a
""",
            "highest weight",
        ),
        (
            "all axes turned",
            """
def attention(q, k, v):
    e = q @ k.permute(*range(k.dim())[::-1]) / q.shape[-1] ** 0.5
    a = e.softmax(-1)
    return a @ v, a
""",
            "turns all axes",
        ),
        (
            "for three axes",
            """
def attention(q, k, v):
    e = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "exactly three axes",
        ),
        (
            "bmm",
            """
def attention(q, k, v):
    e = torch.bmm(q, k.transpose(-2, -1)) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return torch.bmm(a, v), a
""",
            "torch.bmm takes exactly three axes",
        ),
        (
            "no maximum subtracted",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = e.exp() / e.exp().sum(-1, keepdim=True)
    return a @ v, a
""",
            "Does exp() overflow",
        ),
        (
            "one maximum for all",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    p = torch.exp(e - e.max())
    a = p / p.sum(dim=-1, keepdim=True)
    return a @ v, a
""",
            "subtract one maximum for all",
        ),
        (
            "works only for a batch of more than one",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return (a @ v).squeeze(), a.squeeze()
""",
            "squeeze()",
        ),
        (
            "changed in place",
            """
def attention(q, k, v):
    q /= q.shape[-1] ** 0.5
    a = (q @ k.mT).softmax(-1)
    return a @ v, a
""",
            "changes its input q",
        ),
        (
            "cut off from the gradient",
            """
def attention(q, k, v):
    e = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1)
    return a.detach() @ v, a
""",
            "gradient of q is not",
        ),
        (
            "the package's own",
            """
def attention(q, k, v):
    return functional.attention(q, k, v, need_weights=True)
""",
            "the thing to build here",
        ),
        (
            "PyTorch's own",
            """
def attention(q, k, v):
    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v), a
""",
            "the thing to build here",
        ),
    ],
    "cross_attention": [
        (
            "the keys come from z",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, z @ w_k, x @ w_v, need_weights=True)
""",
            "Does z meet w_k",
        ),
        (
            "keys and values come from z",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, z @ w_k, z @ w_v, need_weights=True)
""",
            "Does z meet w_k",
        ),
        (
            "the values come from z",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x @ w_k, z @ w_v, need_weights=True)
""",
            "Does z meet w_v",
        ),
        (
            "the queries come from x",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(x @ w_q, x @ w_k, x @ w_v, need_weights=True)
""",
            "Does x meet w_q",
        ),
        (
            "z and x swapped",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(x @ w_q, z @ w_k, z @ w_v, need_weights=True)
""",
            "Does x meet w_q",
        ),
        (
            "the matrices are transposed",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q.T, x @ w_k.T, x @ w_v.T, need_weights=True)
""",
            "matrices transposed",
        ),
        (
            "products the wrong way round",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(w_q @ z, w_k @ x, w_v @ x, need_weights=True)
""",
            "product the wrong way round",
        ),
        (
            "values not projected",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x @ w_k, x, need_weights=True)
""",
            "values x itself",
        ),
        (
            "keys not projected",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x, x @ w_v, need_weights=True)
""",
            "keys x itself",
        ),
        (
            "queries not projected",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z, x @ w_k, x @ w_v, need_weights=True)
""",
            "queries z itself",
        ),
        (
            "the keys are summed",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x @ w_k, x @ w_k, need_weights=True)
""",
            "keys summed in place",
        ),
        (
            "w_k and w_v swapped",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x @ w_v, x @ w_k, need_weights=True)
""",
            "w_k and w_v swapped",
        ),
        (
            "w_q and w_k swapped",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_k, x @ w_q, x @ w_v, need_weights=True)
""",
            "Does z meet w_k",
        ),
        (
            "not divided",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = z @ w_q, x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / 1, dim=-1)
    return a @ v, a
""",
            "root of D_Q missing",
        ),
        (
            "the root of D_Z",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = z @ w_q, x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / z.shape[-1] ** 0.5, dim=-1)
    return a @ v, a
""",
            "root of D_Z",
        ),
        (
            "the root of D_X",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = z @ w_q, x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / x.shape[-1] ** 0.5, dim=-1)
    return a @ v, a
""",
            "root of D_X",
        ),
        (
            "the root of D_V",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = z @ w_q, x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / w_v.shape[1] ** 0.5, dim=-1)
    return a @ v, a
""",
            "root of D_V",
        ),
        (
            "divided by D_Q",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = z @ w_q, x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / w_q.shape[1], dim=-1)
    return a @ v, a
""",
            "divide by D_Q",
        ),
        (
            "softmax over the queries",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = z @ w_q, x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / w_q.shape[1] ** 0.5, dim=1)
    return a @ v, a
""",
            "softmax over the queries",
        ),
        (
            "the weights first",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    y, a = functional.attention(z @ w_q, x @ w_k, x @ w_v, need_weights=True)
    return a, y
""",
            "return the weights first",
        ),
        (
            "the weights are not asked for",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x @ w_k, x @ w_v)
""",
            "need_weights=True",
        ),
        (
            "the outputs only",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x @ w_k, x @ w_v)[0]
""",
            "outputs only",
        ),
        (
            "a size written in",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q, k, v = (z @ w_q).reshape(-1, 3, 6), x @ w_k, x @ w_v
    a = torch.softmax(q @ k.mT / 6**0.5, dim=-1)
    return a @ v, a
""",
            "size written into your code",
        ),
        (
            "drops the batch",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    y, a = functional.attention(z @ w_q, x @ w_k, x @ w_v, need_weights=True)
    return y.squeeze(0), a.squeeze(0)
""",
            "squeeze()",
        ),
        (
            "cut off from the gradient",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return functional.attention(z @ w_q, x.detach() @ w_k, x @ w_v, need_weights=True)
""",
            "gradient",
        ),
        (
            "PyTorch's module",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    layer = torch.nn.MultiheadAttention(w_q.shape[1], 1, batch_first=True)
    return layer(z @ w_q, x @ w_k, x @ w_v)
""",
            "the thing to build here",
        ),
    ],
    "SelfAttention": [
        (
            "with biases",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q)
        self.w_k = nn.Linear(d_x, d_q)
        self.w_v = nn.Linear(d_x, d_v)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "have a bias that it should not",
        ),
        (
            "super is forgotten",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "super().__init__() comes first",
        ),
        (
            "other names",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.q = nn.Linear(d_x, d_q, bias=False)
        self.k = nn.Linear(d_x, d_q, bias=False)
        self.v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        return functional.attention(q, k, v)[0]
""",
            "these parameters, with these names",
        ),
        (
            "values as wide as queries",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_q, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "these parameters, with these names",
        ),
        (
            "widths swapped",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_q, d_x, bias=False)
        self.w_k = nn.Linear(d_q, d_x, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "these parameters, with these names",
        ),
        (
            "matrices, no layers",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Parameter(torch.randn(d_x, d_q))
        self.w_k = nn.Parameter(torch.randn(d_x, d_q))
        self.w_v = nn.Parameter(torch.randn(d_x, d_v))

    def forward(self, x):
        q, k, v = x @ self.w_q, x @ self.w_k, x @ self.w_v
        return functional.attention(q, k, v)[0]
""",
            "these parameters, with these names",
        ),
        (
            "an output layer too many",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)
        self.w_o = nn.Linear(d_v, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "more parameters than it should",
        ),
        (
            "not divided",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k.mT / 1, dim=-1)
        return a @ v
""",
            "root of D_Q missing",
        ),
        (
            "divided by D_Q",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k.mT / q.shape[-1], dim=-1)
        return a @ v
""",
            "divide by D_Q",
        ),
        (
            "the root of D_X",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k.mT / x.shape[-1] ** 0.5, dim=-1)
        return a @ v
""",
            "root of D_X",
        ),
        (
            "the root of D_V",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k.mT / v.shape[-1] ** 0.5, dim=-1)
        return a @ v
""",
            "root of D_V",
        ),
        (
            "softmax over the queries",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=1)
        return a @ v
""",
            "softmax over the queries",
        ),
        (
            "softmax over the batch",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=0)
        return a @ v
""",
            "softmax over the batch",
        ),
        (
            "no softmax",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return q @ k.mT / q.shape[-1] ** 0.5 @ v
""",
            "softmax missing",
        ),
        (
            "values not projected",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), x
        return functional.attention(q, k, v)[0]
""",
            "values x itself",
        ),
        (
            "the keys are summed",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, k)[0]
""",
            "keys summed in place",
        ),
        (
            "queries meet queries",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, q, v)[0]
""",
            "queries compared with themselves",
        ),
        (
            "keys meet keys",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(k, k, v)[0]
""",
            "keys compared with themselves",
        ),
        (
            "queries and keys swapped",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(k, q, v)[0]
""",
            "queries and keys swapped",
        ),
        (
            "the weights too",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v, need_weights=True)
""",
            "return the weights too",
        ),
        (
            "the weights in place of the outputs",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v, need_weights=True)[1]
""",
            "outputs",
        ),
        (
            "looks back only",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v, causal=True)[0]
""",
            "see only itself and those before",
        ),
        (
            "the mean of the outputs",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0].mean(1)
""",
            "outputs averaged",
        ),
        (
            "the pair is not taken apart",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)
""",
            "return the weights too",
        ),
        (
            "one batch mixed",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        a = torch.softmax(q @ k[0].T / q.shape[-1] ** 0.5, dim=-1)
        return a @ v
""",
            "numbers are not",
        ),
        (
            "drops the batch",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0].squeeze(0)
""",
            "squeeze()",
        ),
        (
            "changed in place",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        x -= x.mean(-1, keepdim=True)
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "changes its input x",
        ),
        (
            "cut off from the gradient",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x).detach(), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "no gradient reaches w_k.weight",
        ),
        (
            "new layers at every call",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        w_v = nn.Linear(x.shape[-1], self.w_v.out_features, bias=False).to(x)
        q, k, v = self.w_q(x), self.w_k(x), w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "numbers are not",
        ),
        (
            "PyTorch's module",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)
        self.inner = nn.MultiheadAttention(d_q, 1)

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        return functional.attention(q, k, v)[0]
""",
            "the thing to build here",
        ),
    ],
    "equivariance_gap": [
        (
            "the outputs are not permuted",
            """
def equivariance_gap(layer, x, permutations):
    gap = 0.0
    for p in permutations:
        difference = layer(x[:, p]) - layer(x)
        gap = max(gap, difference.abs().max().item())
    return gap
""",
            "no difference at all",
        ),
        (
            "permuted once more",
            """
def equivariance_gap(layer, x, permutations):
    gap = 0.0
    for p in permutations:
        difference = layer(x[:, p])[:, p] - layer(x)
        gap = max(gap, difference.abs().max().item())
    return gap
""",
            "move opposite ways",
        ),
        (
            "the outputs moved the other way",
            """
def equivariance_gap(layer, x, permutations):
    gap = 0.0
    for p in permutations:
        difference = layer(x[:, p]) - layer(x)[:, p.argsort()]
        gap = max(gap, difference.abs().max().item())
    return gap
""",
            "move opposite ways",
        ),
        (
            "the inverse on both sides",
            """
def equivariance_gap(layer, x, permutations):
    permutations = permutations.argsort(dim=1)
    gap = 0.0
    for p in permutations:
        difference = layer(x[:, p]) - layer(x)[:, p]
        gap = max(gap, difference.abs().max().item())
    return gap
""",
            "inverse permutation on both sides",
        ),
        (
            "the batch is permuted",
            """
def equivariance_gap(layer, x, permutations):
    gap = 0.0
    for p in permutations:
        difference = layer(x[p]) - layer(x)[p]
        gap = max(gap, difference.abs().max().item())
    return gap
""",
            "permute the first axis",
        ),
        (
            "the entries are permuted",
            """
def equivariance_gap(layer, x, permutations):
    gap = 0.0
    for p in permutations:
        difference = layer(x[:, :, p]) - layer(x)[:, :, p]
        gap = max(gap, difference.abs().max().item())
    return gap
""",
            "permute the entries",
        ),
        (
            "no absolute value",
            """
def equivariance_gap(layer, x, permutations):
    return max((layer(x[:, p]) - layer(x)[:, p]).max().item() for p in permutations)
""",
            "absolute value missing",
        ),
        (
            "the mean of the differences",
            """
def equivariance_gap(layer, x, permutations):
    return max((layer(x[:, p]) - layer(x)[:, p]).abs().mean().item() for p in permutations)
""",
            "mean of the differences",
        ),
        (
            "the mean of everything",
            """
def equivariance_gap(layer, x, permutations):
    gaps = [(layer(x[:, p]) - layer(x)[:, p]).abs().mean() for p in permutations]
    return sum(gaps) / len(gaps)
""",
            "mean of all differences",
        ),
        (
            "the mean over the permutations",
            """
def equivariance_gap(layer, x, permutations):
    gaps = [(layer(x[:, p]) - layer(x)[:, p]).abs().max() for p in permutations]
    return sum(gaps) / len(gaps)
""",
            "mean over the permutations",
        ),
        (
            "the smallest",
            """
def equivariance_gap(layer, x, permutations):
    return min((layer(x[:, p]) - layer(x)[:, p]).abs().max().item() for p in permutations)
""",
            "smallest over the permutations",
        ),
        (
            "everything added up",
            """
def equivariance_gap(layer, x, permutations):
    return sum((layer(x[:, p]) - layer(x)[:, p]).abs().sum() for p in permutations)
""",
            "differences added up",
        ),
        (
            "the gaps added up",
            """
def equivariance_gap(layer, x, permutations):
    return sum((layer(x[:, p]) - layer(x)[:, p]).abs().max() for p in permutations)
""",
            "gaps of the permutations added up",
        ),
        (
            "the norm",
            """
def equivariance_gap(layer, x, permutations):
    return max((layer(x[:, p]) - layer(x)[:, p]).norm() for p in permutations)
""",
            "length of the difference",
        ),
        (
            "the square",
            """
def equivariance_gap(layer, x, permutations):
    return max(((layer(x[:, p]) - layer(x)[:, p]) ** 2).max() for p in permutations)
""",
            "square of the difference",
        ),
        (
            "a return in the loop",
            """
def equivariance_gap(layer, x, permutations):
    for p in permutations:
        return (layer(x[:, p]) - layer(x)[:, p]).abs().max()
""",
            "return inside the loop",
        ),
        (
            "the last one counts",
            """
def equivariance_gap(layer, x, permutations):
    for p in permutations:
        gap = (layer(x[:, p]) - layer(x)[:, p]).abs().max()
    return gap
""",
            "only the last permutation",
        ),
        (
            "one number per permutation",
            """
def equivariance_gap(layer, x, permutations):
    return torch.stack([(layer(x[:, p]) - layer(x)[:, p]).abs().max() for p in permutations])
""",
            "a gap for every permutation",
        ),
        (
            "only the first sequence",
            """
def equivariance_gap(layer, x, permutations):
    x = x[:1]
    return max((layer(x[:, p]) - layer(x)[:, p]).abs().max() for p in permutations)
""",
            "only the first sequence",
        ),
        (
            "all permutations at once",
            """
def equivariance_gap(layer, x, permutations):
    p = permutations
    return (layer(x[:, p]) - layer(x)[:, p]).abs().max()
""",
            "one permutation per row",
        ),
        (
            "whether, not how far",
            """
def equivariance_gap(layer, x, permutations):
    return all(torch.allclose(layer(x[:, p]), layer(x)[:, p]) for p in permutations)
""",
            "How far, not whether",
        ),
        (
            "the layer is not used",
            """
def equivariance_gap(layer, x, permutations):
    return max((x[:, p] - x).abs().max().item() for p in permutations)
""",
            "layer used at all",
        ),
        (
            "changed in place",
            """
def equivariance_gap(layer, x, permutations):
    y, gap = layer(x), 0.0
    for p in permutations:
        z = x.clone()
        x[:] = x[:, p]
        gap = max(gap, (layer(x) - layer(z)[:, p]).abs().max().item())
    return gap
""",
            "changes its input x",
        ),
    ],
    "positional_encoding": [
        (
            "sines in front, cosines behind",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :width]
""",
            "sines in front and all cosines behind",
        ),
        (
            "sines and cosines swapped",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.cos()
    p[:, 1::2] = angles[:, : width // 2].sin()
    return p
""",
            "sines and cosines swapped",
        ),
        (
            "i in place of 2i",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / 2 / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "2 of the exponent missing",
        ),
        (
            "each column its own frequency",
            """
def positional_encoding(positions, width):
    columns = torch.arange(width, dtype=positions.dtype)
    p = positions[:, None] * 10000.0 ** (-columns / width)
    return torch.where(columns % 2 == 0, p.sin(), p.cos())
""",
            "each column have its own frequency",
        ),
        (
            "i is the column",
            """
def positional_encoding(positions, width):
    i = torch.arange(width, dtype=positions.dtype)
    p = positions[:, None] / 10000.0 ** (2 * i / width)
    return torch.where(i % 2 == 0, p.sin(), p.cos())
""",
            "i the number of the column",
        ),
        (
            "the 2 twice",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-2 * pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "factor 2 there twice",
        ),
        (
            "no minus",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "minus in the exponent missing",
        ),
        (
            "1000",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 1000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "base of the frequencies",
        ),
        (
            "positions counted anew",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = torch.arange(len(positions)).to(positions)[:, None] * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "count the positions from 0",
        ),
        (
            "positions from 1",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = (positions[:, None] + 1) * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "count the positions from 1",
        ),
        (
            "positions as whole numbers",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions.long()[:, None] * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "positions rounded",
        ),
        (
            "an odd width cut from a wider one",
            """
def positional_encoding(positions, width):
    wide = width + width % 2
    pairs = torch.arange(0, wide, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / wide)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]
""",
            "frequency of the last column",
        ),
        (
            "as many cosines as sines",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles.cos()
    return p
""",
            "last column is a sine without its cosine",
        ),
        (
            "a column too many",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
""",
            "column too many",
        ),
        (
            "rows and columns swapped",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p.T
""",
            "rows and columns swapped",
        ),
        (
            "no second axis",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "need a second axis",
        ),
        (
            "float32",
            """
def positional_encoding(positions, width):
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    p = torch.zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "float64",
        ),
        (
            "numbers in a list",
            """
def positional_encoding(positions, width):
    rows = []
    for t in positions.tolist():
        angles = [t / 10000 ** (2 * (i // 2) / width) for i in range(width)]
        rows.append([torch.tensor(a).sin().item() for a in angles])
    return rows
""",
            "expected a tensor",
        ),
        (
            "the package's own",
            """
def positional_encoding(positions, width):
    return functional.sinusoidal_encoding(positions, width + width % 2)[:, :width]
""",
            "the thing to build here",
        ),
        (
            "changed in place",
            """
def positional_encoding(positions, width):
    positions -= positions[0].clone()
    pairs = torch.arange(0, width, 2, dtype=positions.dtype)
    angles = positions[:, None] * 10000.0 ** (-pairs / width)
    p = positions.new_zeros(len(positions), width)
    p[:, 0::2] = angles.sin()
    p[:, 1::2] = angles[:, : width // 2].cos()
    return p
""",
            "changes its input positions",
        ),
    ],
    "shift_matrix": [
        (
            "the other way",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, -s, s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "move the other way",
        ),
        (
            "no minus",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "without its minus",
        ),
        (
            "two minuses",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, -s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "both sines have a minus",
        ),
        (
            "sines and cosines swapped",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([s, c, -c, s], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "sines and cosines swapped",
        ),
        (
            "sines in front, cosines behind",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    c, s = torch.diag(c), torch.diag(s)
    return torch.cat([torch.cat([c, s], dim=1), torch.cat([-s, c], dim=1)])
""",
            "sines in front and cosines behind",
        ),
        (
            "one angle for all",
            """
def shift_matrix(tau, width):
    omega = torch.ones(width // 2, dtype=torch.float64)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "same angle",
        ),
        (
            "without tau",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega), torch.sin(omega)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "tau used at all",
        ),
        (
            "i in place of 2i",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(width // 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "2 of the exponent missing",
        ),
        (
            "the 2 twice",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-2 * torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "factor 2 there twice",
        ),
        (
            "no minus in the exponent",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "minus in the exponent missing",
        ),
        (
            "tau as a whole number",
            """
def shift_matrix(tau, width):
    tau = int(tau)
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "tau rounded",
        ),
        (
            "no way back",
            """
def shift_matrix(tau, width):
    tau = abs(tau)
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "sign of tau lost",
        ),
        (
            "block i in row i",
            """
def shift_matrix(tau, width):
    m = torch.zeros(width, width, dtype=torch.float64)
    for i in range(width // 2):
        angle = torch.tensor(tau / 10000 ** (2 * i / width), dtype=torch.float64)
        c, s = angle.cos(), angle.sin()
        m[i, i], m[i, i + 1], m[i + 1, i], m[i + 1, i + 1] = c, s, -s, c
    return m
""",
            "block i begin in row i",
        ),
        (
            "cosines alone",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.diag(c.repeat_interleave(2))
""",
            "sines missing",
        ),
        (
            "one block",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return blocks[0]
""",
            "first block only",
        ),
        (
            "a list of blocks",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return blocks
""",
            "list of the blocks",
        ),
        (
            "torch.cos of a number",
            """
def shift_matrix(tau, width):
    m = torch.zeros(width, width, dtype=torch.float64)
    for i in range(0, width, 2):
        a = tau / 10000 ** (i / width)
        m[i, i] = m[i + 1, i + 1] = torch.cos(a)
        m[i, i + 1], m[i + 1, i] = torch.sin(a), -torch.sin(a)
    return m
""",
            "math.cos takes a number",
        ),
        (
            "float32",
            """
def shift_matrix(tau, width):
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    c, s = torch.cos(omega * tau), torch.sin(omega * tau)
    blocks = torch.stack([c, s, -s, c], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
""",
            "dtype=torch.float64",
        ),
        (
            "the package's own",
            """
def shift_matrix(tau, width):
    return functional.shift_matrix(tau, width)
""",
            "the thing to build here",
        ),
    ],
    "local_attention": [
        (
            "no window",
            """
def local_attention(q, k, v, width):
    return functional.attention(q, k, v, need_weights=True)
""",
            "a window at all",
        ),
        (
            "the edge left out",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, off.abs() < width, need_weights=True)
""",
            "edge of the window left out",
        ),
        (
            "as wide as width in all",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, off.abs() <= width // 2, need_weights=True)
""",
            "as wide as `width` in all",
        ),
        (
            "as wide as width in all, a real half",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, off.abs() <= width / 2, need_weights=True)
""",
            "as wide as `width` in all",
        ),
        (
            "back only",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, (off <= 0) & (off >= -width), need_weights=True)
""",
            "look back only",
        ),
        (
            "ahead only",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, (off >= 0) & (off <= width), need_weights=True)
""",
            "look ahead only",
        ),
        (
            "no limit back",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, off <= width, need_weights=True)
""",
            "look back without a limit",
        ),
        (
            "no limit ahead",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, off >= -width, need_weights=True)
""",
            "look ahead without a limit",
        ),
        (
            "a slice too short",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, (off >= -width) & (off < width), need_weights=True)
""",
            "less far ahead than back",
        ),
        (
            "blocks",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    block = i // max(width, 1)
    return functional.attention(q, k, v, block[:, None] == block, need_weights=True)
""",
            "cut into blocks",
        ),
        (
            "the wrong way round",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, off.abs() > width, need_weights=True)
""",
            "window the wrong way round",
        ),
        (
            "not itself",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    off = i[None, :] - i[:, None]
    return functional.attention(q, k, v, (off.abs() <= width) & (off != 0), need_weights=True)
""",
            "query's own",
        ),
        (
            "masked after the softmax",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1) * near
    return a @ v, a
""",
            "mask after the softmax",
        ),
        (
            "0 in place of minus infinity",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e * near, dim=-1)
    return a @ v, a
""",
            "exp(0) is 1",
        ),
        (
            "masked after, then divided",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e, dim=-1) * near
    a = a / a.sum(dim=-1, keepdim=True)
    return a @ v, a
""",
            "sum after masking the softmax",
        ),
        (
            "softmax over the queries",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=1)
    return a @ v, a
""",
            "softmax over the queries",
        ),
        (
            "not divided",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a @ v, a
""",
            "root of D missing",
        ),
        (
            "divided by D",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1]
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a @ v, a
""",
            "Did you divide by D?",
        ),
        (
            "the weights first",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a, a @ v
""",
            "return the weights first",
        ),
        (
            "the weights are not asked for",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    return functional.attention(q, k, v, near)
""",
            "need_weights=True",
        ),
        (
            "the outputs only",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a @ v
""",
            "outputs only",
        ),
        (
            "a length written in",
            """
def local_attention(q, k, v, width):
    i = torch.arange(8)
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a @ v, a
""",
            "size written into your code",
        ),
        (
            "drops the batch",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return (a @ v).squeeze(0), a.squeeze(0)
""",
            "squeeze()",
        ),
        (
            "changed in place",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    q /= q.shape[-1] ** 0.5
    e = q @ k.mT
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a @ v, a
""",
            "changes its input q",
        ),
        (
            "the package's window",
            """
def local_attention(q, k, v, width):
    near = functional.window_mask(torch.arange(q.shape[1]), width, q.shape[1])
    return functional.attention(q, k, v, near, need_weights=True)
""",
            "the thing to build here",
        ),
    ],
    "poll_1": [
        ("the wrong letter a", 'poll_1 = "a"'),
        ("the wrong letter c", 'poll_1 = "c"'),
        ("no answer", "poll_1 = None"),
        ("all letters at once", 'poll_1 = "abc"'),
        ("a list of letters", 'poll_1 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_1 = "x"'),
    ],
    "poll_2": [
        ("the wrong letter a", 'poll_2 = "a"'),
        ("the wrong letter b", 'poll_2 = "b"'),
        ("no answer", "poll_2 = None"),
        ("all letters at once", 'poll_2 = "abc"'),
        ("a list of letters", 'poll_2 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_2 = "x"'),
    ],
    "poll_3": [
        ("the wrong letter b", 'poll_3 = "b"'),
        ("the wrong letter c", 'poll_3 = "c"'),
        ("the wrong letter d", 'poll_3 = "d"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abcd"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c", "d"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
    ],
}

RIGHT = {
    "similarities": [
        (
            "einsum",
            """
def similarities(q, x):
    return torch.einsum("bid,bjd->bij", q, x) / q.size(2) ** 0.5
""",
        ),
        (
            "the queries divided first",
            """
def similarities(q, x):
    b, n, d = q.shape
    return torch.bmm(q * d**-0.5, x.permute(0, 2, 1))
""",
        ),
        (
            "query by query",
            """
def similarities(q, x):
    rows = [(x * q[:, i : i + 1]).sum(-1) for i in range(q.shape[1])]
    return torch.stack(rows, dim=1) / torch.tensor(q.shape[-1], dtype=q.dtype).sqrt()
""",
        ),
    ],
    "attention": [
        (
            "einsum",
            """
def attention(q, k, v):
    e = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    weights = e.softmax(-1)
    return torch.einsum("...ij,...jd->...id", weights, v), weights
""",
        ),
        (
            "the softmax by hand",
            """
def attention(q, k, v):
    e = (q / q.shape[-1] ** 0.5) @ k.mT
    p = torch.exp(e - e.amax(dim=-1, keepdim=True))
    a = p / p.sum(dim=-1, keepdim=True)
    return torch.matmul(a, v), a
""",
        ),
        (
            "query by query, a list as result",
            """
def attention(q, k, v):
    outputs, rows = [], []
    for i in range(q.shape[-2]):
        e = (k * q[..., i : i + 1, :]).sum(-1) / q.shape[-1] ** 0.5
        a = torch.exp(e - torch.logsumexp(e, dim=-1, keepdim=True))
        rows.append(a)
        outputs.append((a.unsqueeze(-1) * v).sum(-2))
    return [torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)]
""",
        ),
    ],
    "cross_attention": [
        (
            "the student's own attention",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    return attention(z @ w_q, x @ w_k, x @ w_v)
""",
        ),
        (
            "values projected at the end",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    q = torch.nn.functional.linear(z, w_q.T)
    e = torch.einsum("bid,bjd->bij", q, x @ w_k) * w_q.size(1) ** -0.5
    weights = e.softmax(dim=2)
    return (weights @ x) @ w_v, weights
""",
        ),
        (
            "one matrix between z and x",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    e = z @ (w_q @ w_k.T) @ x.transpose(1, 2) / w_k.shape[1] ** 0.5
    a = torch.exp(e - e.max(dim=-1, keepdim=True).values)
    a = a / a.sum(dim=-1, keepdim=True)
    return torch.bmm(a, x @ w_v), a
""",
        ),
        (
            "sequence by sequence",
            """
def cross_attention(z, x, w_q, w_k, w_v):
    found = [functional.attention(a @ w_q, b @ w_k, b @ w_v, need_weights=True) for a, b in zip(z, x)]
    return torch.stack([y for y, _ in found]), torch.stack([a for _, a in found])
""",
        ),
    ],
    "SelfAttention": [
        (
            "the student's own attention",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        y, _ = attention(self.w_q(x), self.w_k(x), self.w_v(x))
        return y
""",
        ),
        (
            "by hand",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        e = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x))
        weights = (e / self.w_q.out_features**0.5).softmax(dim=-1)
        return torch.einsum("bij,bjd->bid", weights, self.w_v(x))
""",
        ),
        (
            "cross-attention with itself",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        weights = (layer.weight.T for layer in (self.w_q, self.w_k, self.w_v))
        return cross_attention(x, x, *weights)[0]
""",
        ),
        (
            "sequence by sequence",
            """
class SelfAttention(nn.Module):
    def __init__(self, d_x, d_q, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_x, d_q, bias=False)
        self.w_k = nn.Linear(d_x, d_q, bias=False)
        self.w_v = nn.Linear(d_x, d_v, bias=False)

    def forward(self, x):
        return torch.stack([self.one(each) for each in x])

    def one(self, x):
        e = self.w_q(x) @ self.w_k(x).T
        return self.w_v((e * self.w_k.weight.shape[0] ** -0.5).softmax(1) @ x)
""",
        ),
    ],
    "equivariance_gap": [
        (
            "the permutation undone",
            """
def equivariance_gap(layer, x, permutations):
    y = layer(x)
    gaps = [(layer(x[:, p])[:, p.argsort()] - y).abs().max() for p in permutations]
    return torch.stack(gaps).max()
""",
        ),
        (
            "gather and a running maximum",
            """
def equivariance_gap(layer, x, permutations):
    largest = x.new_zeros(())
    for p in permutations:
        left = layer(torch.index_select(x, 1, p))
        right = torch.index_select(layer(x), 1, p)
        largest = torch.maximum(largest, (left - right).abs().max())
    return float(largest)
""",
        ),
        (
            "loops over the positions",
            """
def equivariance_gap(layer, x, permutations):
    y, gap = layer(x), 0.0
    for p in permutations.tolist():
        moved = layer(torch.stack([x[:, i] for i in p], dim=1))
        for place, i in enumerate(p):
            gap = max(gap, float((moved[:, place] - y[:, i]).abs().max()))
    return gap
""",
        ),
        (
            "permutation matrices",
            """
def equivariance_gap(layer, x, permutations):
    n, gaps = x.shape[1], []
    for p in permutations:
        m = torch.eye(n, dtype=x.dtype)[p]
        gaps.append(torch.linalg.vector_norm(layer(m @ x) - m @ layer(x), ord=float("inf")))
    return max(gaps)
""",
        ),
    ],
    "positional_encoding": [
        (
            "loops and math",
            """
import math


def positional_encoding(positions, width):
    p = torch.zeros(len(positions), width, dtype=positions.dtype)
    for row, t in enumerate(positions.tolist()):
        for i in range(0, width, 2):
            angle = t / 10000 ** (i / width)
            p[row, i] = math.sin(angle)
            if i + 1 < width:
                p[row, i + 1] = math.cos(angle)
    return p
""",
        ),
        (
            "a wave for each column, the cosine as a shifted sine",
            """
def positional_encoding(positions, width):
    column = torch.arange(width)
    omega = torch.exp(-(column // 2 * 2) / width * torch.log(torch.tensor(10000.0)))
    return torch.sin(positions.unsqueeze(1) * omega + (column % 2) * torch.pi / 2)
""",
        ),
        (
            "stacked and cut off",
            """
def positional_encoding(positions, width):
    half = (width + 1) // 2
    omega = 1 / 10000.0 ** (2 * torch.arange(half) / width)
    angles = torch.outer(positions, omega.to(positions.dtype))
    return torch.stack((angles.sin(), angles.cos()), dim=2).reshape(len(positions), -1)[:, :width]
""",
        ),
    ],
    "shift_matrix": [
        (
            "loops and math",
            """
import math


def shift_matrix(tau, width):
    m = torch.zeros(width, width, dtype=torch.float64)
    for i in range(0, width, 2):
        angle = tau / 10000 ** (i / width)
        m[i, i] = m[i + 1, i + 1] = math.cos(angle)
        m[i, i + 1] = math.sin(angle)
        m[i + 1, i] = -math.sin(angle)
    return m
""",
        ),
        (
            "diagonals, in single precision until the end",
            """
def shift_matrix(tau, width):
    omega = 10000 ** (-torch.arange(0, width, 2) / width)
    c = torch.cos(tau * omega).repeat_interleave(2)
    s = torch.stack([torch.sin(tau * omega), torch.zeros(width // 2)], dim=1).flatten()[:-1]
    return (torch.diag(c) + torch.diag(s, 1) - torch.diag(s, -1)).double()
""",
        ),
        (
            "solved for, from many positions",
            """
def shift_matrix(tau, width):
    t = torch.linspace(0, 60000, 4001, dtype=torch.float64)
    i = torch.arange(width)

    def encode(t):
        angles = t[:, None] / 10000.0 ** ((i // 2 * 2) / width).double()
        return torch.where(i % 2 == 0, angles.sin(), angles.cos())

    return torch.linalg.lstsq(encode(t), encode(t + tau)).solution.T
""",
        ),
        (
            "the power of a matrix of small turns",
            """
def shift_matrix(tau, width):
    omega = torch.tensor([10000 ** (-i / width) for i in range(0, width, 2)], dtype=torch.float64)
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(tau * torch.kron(torch.diag(omega), turn))
""",
        ),
    ],
    "local_attention": [
        (
            "by hand",
            """
def local_attention(q, k, v, width):
    i = torch.arange(q.shape[1])
    near = (i[:, None] - i).abs() <= width
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~near, float("-inf")), dim=-1)
    return a @ v, a
""",
        ),
        (
            "query by query over a slice",
            """
def local_attention(q, k, v, width):
    n = q.shape[1]
    outputs, weights = [], []
    for i in range(n):
        low, high = max(0, i - width), min(n, i + width + 1)
        y, a = functional.attention(q[:, i : i + 1], k[:, low:high], v[:, low:high], need_weights=True)
        outputs.append(y)
        weights.append(torch.nn.functional.pad(a, (low, n - high)))
    return torch.cat(outputs, dim=1), torch.cat(weights, dim=1)
""",
        ),
        (
            "two triangles",
            """
def local_attention(q, k, v, width):
    ones = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool)
    near = ones.tril(width) & ones.triu(-width)
    e = torch.where(near, q @ k.transpose(1, 2) / q.size(-1) ** 0.5, -torch.inf)
    a = e.softmax(-1)
    return [torch.bmm(a, v), a]
""",
        ),
    ],
}

# Operator mutants of the reference solutions that may keep every point: what was changed, in which
# line of the answer, what it reads then, and why nobody need lose a point for it.
SURVIVORS = {
    "equivariance_gap": [
        (
            "DropCall",
            4,
            "return max(((layer(x[:, p]) - y[:, p]).abs().max()) for p in permutations)",
            "a tensor without axes is a number too",
        ),
    ],
    "positional_encoding": [
        (
            "DropArgument",
            3,
            "exponents = torch.arange(0, width, 2) / width",
            "frequencies in single precision are good enough",
        ),
    ],
    "local_attention": [
        (
            "DropArgument",
            3,
            "places = torch.arange(q.shape[1])",
            "the checks run on the CPU",
        ),
    ],
}
