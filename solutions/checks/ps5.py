"""The hidden checks of assignment 5, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

_PROJECTIONS = ["x", "w_in", "b_in", "w_out", "b_out"]
_MASK_HINT = "A mask is boolean: a comparison gives one, or .bool()."


def _polls(name: str, right: str, letters: str) -> list[tuple[str, str]]:
    """Every wrong letter, and what is no letter."""
    wrong = [(f"{letter} is not right", f'{name} = "{letter}"') for letter in letters if letter != right]
    return [
        *wrong,
        ("no answer", f"{name} = None"),
        ("all letters at once", f'{name} = "{letters}"'),
        ("a list of letters", f"{name} = {list(letters)}"),
        ("a letter that is no answer", f'{name} = "x"'),
    ]


def _changed(source: str, *changes: tuple[str, str]) -> str:
    """An answer with a few pieces put in the place of others."""
    for old, new in changes:
        if old not in source:
            raise ValueError(f"There is no {old!r} to change.")
        source = source.replace(old, new)
    return source


_MULTI_HEAD = """
def multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None):
    m = x if memory is None else memory
    (wq, wk, wv), (bq, bk, bv) = w_in.chunk(3), b_in.chunk(3)
    b, n, d = x.shape
    q, k, v = x @ wq.T + bq, m @ wk.T + bk, m @ wv.T + bv
    q = q.reshape(b, n, heads, d // heads).transpose(1, 2)
    k = k.reshape(b, -1, heads, d // heads).transpose(1, 2)
    v = v.reshape(b, -1, heads, d // heads).transpose(1, 2)
    e = q @ k.mT / (d // heads) ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1)
    y = (a @ v).transpose(1, 2).reshape(b, n, d)
    return y @ w_out.T + b_out, a
"""
_CACHED_STEP = """
def cached_step(x, past, w_in, b_in, w_out, b_out, heads):
    b, n, d = x.shape
    q, k, v = (x @ w_in.T + b_in).chunk(3, dim=-1)
    q = q.reshape(b, n, heads, d // heads).transpose(1, 2)
    k = k.reshape(b, n, heads, d // heads).transpose(1, 2)
    v = v.reshape(b, n, heads, d // heads).transpose(1, 2)
    keys = torch.cat([past[0], k], dim=2)
    values = torch.cat([past[1], v], dim=2)
    mask = torch.ones(n, keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - n)
    y, _ = functional.attention(q, keys, values, mask, need_weights=True)
    y = y.transpose(1, 2).reshape(b, n, d)
    return y @ w_out.T + b_out, [keys, values]
"""
_SPLIT = ["reshape(b, n, heads, d // heads).transpose(1, 2)", "reshape(b, heads, n, d // heads)"]
_SPLIT_ANY = [
    "reshape(b, -1, heads, d // heads).transpose(1, 2)",
    "reshape(b, heads, -1, d // heads)",
]
_MERGE = [".transpose(1, 2).reshape(b, n, d)", ".reshape(b, n, d)"]

WRONG = {
    "causal_mask": [
        (
            "the wrong way round, as in torch.nn.MultiheadAttention",
            """
def causal_mask(size, past=0):
    return torch.triu(torch.ones(size, past + size), diagonal=past + 1).bool()
""",
            "wrong way round",
        ),
        (
            "does not look at itself",
            """
def causal_mask(size, past=0):
    return torch.arange(past + size) < past + torch.arange(size)[:, None]
""",
            "not look at itself",
        ),
        (
            "one ahead",
            """
def causal_mask(size, past=0):
    return torch.ones(size, past + size).tril(diagonal=past + 1).bool()
""",
            "the one behind it",
        ),
        (
            "rows and columns swapped",
            """
def causal_mask(size, past=0):
    return (torch.arange(past + size)[:, None] <= past + torch.arange(size)).contiguous()
""",
            "rows and columns swapped",
        ),
        (
            "an upper triangle",
            """
def causal_mask(size, past=0):
    return torch.ones(size, past + size, dtype=torch.bool).triu(past)
""",
            "rows and columns swapped",
        ),
        (
            "no columns for the past",
            """
def causal_mask(size, past=0):
    return torch.ones(size, size, dtype=torch.bool).tril()
""",
            "columns of the past",
        ),
        (
            "rows for the past",
            """
def causal_mask(size, past=0):
    n = past + size
    return torch.tril(torch.ones(n, n)).bool()
""",
            "rows for the past",
        ),
        (
            "queries counted from the beginning of the text",
            """
def causal_mask(size, past=0):
    return torch.ones(size, past + size, dtype=torch.bool).tril()
""",
            "past + i",
        ),
        (
            "the past at the end",
            """
def causal_mask(size, past=0):
    new = torch.ones(size, size).tril()
    return torch.cat([new, torch.ones(size, past)], dim=1).bool()
""",
            "The past comes first",
        ),
        (
            "the past hidden",
            """
def causal_mask(size, past=0):
    mask = torch.zeros(size, past + size, dtype=torch.bool)
    for i in range(size):
        mask[i, past : past + i + 1] = True
    return mask
""",
            "past hidden",
        ),
        (
            "zeros and minus infinity",
            """
def causal_mask(size, past=0):
    return torch.triu(torch.full((size, past + size), float("-inf")), diagonal=past + 1)
""",
            "added to the scores",
        ),
        (
            "numbers in place of True and False",
            """
def causal_mask(size, past=0):
    return torch.tril(torch.ones(size, past + size), diagonal=past)
""",
            "dtype",
        ),
        (
            "everything allowed",
            """
def causal_mask(size, past=0):
    return torch.ones(size, past + size, dtype=torch.bool)
""",
            "see everything",
        ),
        (
            "past must be given",
            """
def causal_mask(size, past):
    return torch.ones(size, past + size, dtype=torch.bool).tril(past)
""",
            "arguments that the text lists",
        ),
        (
            "the package's own",
            """
def causal_mask(size, past=0):
    return functional.causal_mask(size, past)
""",
            "the thing to build here",
        ),
        (
            "no return",
            """
def causal_mask(size, past=0):
    mask = torch.ones(size, past + size, dtype=torch.bool).tril(past)
""",
            "return statement missing",
        ),
    ],
    "padding_mask": [
        (
            "the wrong way round",
            """
def padding_mask(lengths, size):
    return torch.arange(size)[None] >= lengths[:, None]
""",
            "wrong way round",
        ),
        (
            "one place too many",
            """
def padding_mask(lengths, size):
    return torch.arange(size)[None] <= lengths[:, None]
""",
            "one place too many",
        ),
        (
            "places counted from 1",
            """
def padding_mask(lengths, size):
    return torch.arange(1, size + 1)[None] < lengths[:, None]
""",
            "one place too few",
        ),
        (
            "as wide as the longest sentence",
            """
def padding_mask(lengths, size):
    return torch.arange(lengths.max())[None] < lengths[:, None]
""",
            "as wide as the longest",
        ),
        (
            "no second axis",
            """
def padding_mask(lengths, size):
    return torch.arange(size) < lengths
""",
            "lengths[:, None]",
        ),
        (
            "the batch comes last",
            """
def padding_mask(lengths, size):
    return torch.arange(size)[:, None] < lengths
""",
            "The batch comes first",
        ),
        (
            "padding in front",
            """
def padding_mask(lengths, size):
    return torch.arange(size) >= size - lengths[:, None]
""",
            "Padding stands behind",
        ),
        (
            "the last word only",
            """
def padding_mask(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        mask[b, n - 1] = n > 0
    return mask
""",
            "only the last real word",
        ),
        (
            "a column too many",
            """
def padding_mask(lengths, size):
    return torch.arange(size + 1) < lengths[:, None]
""",
            "How many columns",
        ),
        (
            "numbers in place of True and False",
            """
def padding_mask(lengths, size):
    mask = torch.zeros(len(lengths), size)
    for b, n in enumerate(lengths):
        mask[b, :n] = 1
    return mask
""",
            "dtype",
        ),
        (
            "the package's own",
            """
def padding_mask(lengths, size):
    return functional.length_mask(lengths, size)
""",
            "the thing to build here",
        ),
        (
            "no return",
            """
def padding_mask(lengths, size):
    torch.arange(size) < lengths[:, None]
""",
            "return statement missing",
        ),
    ],
    "combine": [
        (
            "or in place of and",
            """
def combine(padding, causal):
    return padding[:, None, None] | causal
""",
            "the leave of both",
        ),
        (
            "no axis for the heads",
            """
def combine(padding, causal):
    return padding[:, None] & causal
""",
            "axis for the heads missing",
        ),
        (
            "the heads in front of the batch",
            """
def combine(padding, causal):
    return (padding[:, None, :] & causal)[None]
""",
            "in front of the batch",
        ),
        (
            "the axis for the heads behind the queries",
            """
def combine(padding, causal):
    return (padding[:, None, :] & causal).unsqueeze(2)
""",
            "in the wrong place",
        ),
        (
            "the axis for the heads at the end",
            """
def combine(padding, causal):
    return (padding[:, None, :] & causal).unsqueeze(-1)
""",
            "in the wrong place",
        ),
        (
            "padding hides queries",
            """
def combine(padding, causal):
    return padding[:, None, :, None] & causal[None, None]
""",
            "hide queries (rows)?",
        ),
        (
            "padding hides queries and keys",
            """
def combine(padding, causal):
    n = causal.shape[0]
    rows = padding[:, -n:]
    return (rows[:, :, None] & padding[:, None, :] & causal)[:, None]
""",
            "hide queries (rows)",
        ),
        (
            "no axis at all",
            """
def combine(padding, causal):
    return padding & causal
""",
            "padding[:, None, None, :]",
        ),
        (
            "one axis only",
            """
def combine(padding, causal):
    return padding[:, None] & causal[None, None]
""",
            "in front of the batch",
        ),
        (
            "the wrong way round",
            """
def combine(padding, causal):
    return ~padding[:, None, None] | ~causal
""",
            "wrong way round",
        ),
        (
            "padding ignored",
            """
def combine(padding, causal):
    return causal[None, None].repeat(len(padding), 1, 1, 1)
""",
            "look at padding at all",
        ),
        (
            "the causal mask ignored",
            """
def combine(padding, causal):
    return padding[:, None, None].repeat(1, 1, len(causal), 1)
""",
            "look at the causal mask at all",
        ),
        (
            "the first sentence's padding for all",
            """
def combine(padding, causal):
    one = padding[0] & causal
    return one[None, None].repeat(len(padding), 1, 1, 1)
""",
            "padding of the first",
        ),
        (
            "changed in place",
            """
def combine(padding, causal):
    rows = []
    for one in padding:
        causal &= one
        rows.append(causal.clone())
    return torch.stack(rows)[:, None]
""",
            "changes its input causal",
        ),
        (
            "a product of numbers",
            """
def combine(padding, causal):
    return padding[:, None, None].float() * causal.float()
""",
            "dtype",
        ),
        (
            "no return",
            """
def combine(padding, causal):
    mask = padding[:, None, None] & causal
""",
            "return statement missing",
        ),
    ],
    "attention": [
        (
            "the package's softmax with its mask",
            """
def attention(q, k, v, mask=None):
    weights = functional.softmax(q @ k.mT / q.shape[-1] ** 0.5, mask=mask)
    return weights @ v, weights
""",
            "the thing to build here",
        ),
        (
            "no scaling",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "square root of D missing",
        ),
        (
            "divided by D",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1]
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "divide by D?",
        ),
        (
            "multiplied by the root",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT * q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "multiply by the square root",
        ),
        (
            "the root of the number of keys",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / k.shape[-2] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "root of the number of keys",
        ),
        (
            "softmax over the queries",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-2)
    return a @ v, a
""",
            "over the queries",
        ),
        (
            "softmax over axis 1",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=1)
    return a @ v, a
""",
            "over axis 1",
        ),
        (
            "the keys not transposed",
            """
def attention(q, k, v, mask=None):
    e = q @ k / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "last two axes swapped",
        ),
        (
            "the wrong axes transposed",
            """
def attention(q, k, v, mask=None):
    e = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "transpose(1, 2)",
        ),
        (
            "NaN where there is nothing",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "which is NaN",
        ),
        (
            "mask after the softmax",
            """
def attention(q, k, v, mask=None):
    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    if mask is not None:
        a = a * mask
    return a @ v, a
""",
            "mask after the softmax",
        ),
        (
            "mask after the softmax, divided again",
            """
def attention(q, k, v, mask=None):
    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    if mask is not None:
        a = a * mask
        a = a / a.sum(dim=-1, keepdim=True)
    return a @ v, a
""",
            "divide by the sum again",
        ),
        (
            "masked scores are 0",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e * mask
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "exp(0) is 1",
        ),
        (
            "a sign forgotten: 1e-9",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, 1e-9)
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "exp(0) is 1",
        ),
        (
            "a large negative number",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, -1e9)
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "large negative number",
        ),
        (
            "the wrong way round",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(mask, float("-inf"))
    a = torch.softmax(e, dim=-1)
    return a @ v, a
""",
            "wrong way round",
        ),
        (
            "the mask ignored",
            """
def attention(q, k, v, mask=None):
    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return a @ v, a
""",
            "look at the mask at all",
        ),
        (
            "no thought of None",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    a = torch.softmax(e.masked_fill(~mask, float("-inf")), dim=-1)
    a = a.masked_fill(~mask, 0.0)
    return a @ v, a
""",
            "if mask is not None",
        ),
        (
            "NaN removed from the outputs only",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1)
    return (a @ v).nan_to_num(0.0), a.nan_to_num(0.0)
""",
            "the gradient of v holds NaN",
        ),
        (
            "minus infinity added",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e + torch.zeros_like(e).masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
            "the gradient of q holds NaN",
        ),
        (
            "the weights first",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a, a @ v
""",
            "weights first",
        ),
        (
            "the outputs only",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    return torch.softmax(e, dim=-1).nan_to_num(0.0) @ v
""",
            "outputs only",
        ),
        (
            "PyTorch's own",
            """
def attention(q, k, v, mask=None):
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return y, y
""",
            "the thing to build here",
        ),
        (
            "the package's own",
            """
def attention(q, k, v, mask=None):
    from seqcourse import functional as F

    return F.attention(q, k, v, mask, need_weights=True)
""",
            "the thing to build here",
        ),
    ],
    "split_heads": [
        (
            "reshape without transpose",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, heads, n, d // heads)
""",
            "reshape without a transpose",
        ),
        (
            "no transpose",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, heads, d // heads)
""",
            "transpose missing",
        ),
        (
            "every H-th entry",
            """
def split_heads(x, heads):
    return torch.stack([x[..., h::heads] for h in range(heads)], dim=1)
""",
            "every H-th entry",
        ),
        (
            "the last two axes swapped",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, heads, d // heads).permute(0, 2, 3, 1)
""",
            "last two axes swapped",
        ),
        (
            "heads in front of the batch",
            """
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1))
""",
            "in front of the batch",
        ),
        (
            "batch and heads one axis",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    x = x.reshape(b, n, heads, d // heads).transpose(1, 2)
    return x.reshape(b * heads, n, d // heads)
""",
            "batch and heads one axis",
        ),
        (
            "the width of a head for their number",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, d // heads, heads).transpose(1, 2)
""",
            "a head for each entry",
        ),
        (
            "a width that is no whole number",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, heads, d / heads).transpose(1, 2)
""",
            "whole number",
        ),
        (
            "float32 inside",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    return x.float().reshape(b, n, heads, d // heads).transpose(1, 2)
""",
            "dtype",
        ),
        (
            "cut off from the gradient",
            """
def split_heads(x, heads):
    return torch.stack([piece.detach() for piece in x.chunk(heads, dim=-1)], dim=1)
""",
            "no gradient reaches x",
        ),
        (
            "a batch of one loses its axis",
            """
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1).squeeze(0)
""",
            "squeeze()",
        ),
        (
            "no return",
            """
def split_heads(x, heads):
    b, n, d = x.shape
    x.reshape(b, n, heads, d // heads).transpose(1, 2)
""",
            "return statement missing",
        ),
    ],
    "merge_heads": [
        (
            "reshape without transpose",
            """
def merge_heads(y):
    b, h, n, d = y.shape
    return y.reshape(b, n, h * d)
""",
            "reshape without a transpose",
        ),
        (
            "entries of the heads interleaved",
            """
def merge_heads(y):
    b, h, n, d = y.shape
    return y.permute(0, 2, 3, 1).reshape(b, n, h * d)
""",
            "interleaved",
        ),
        (
            "the pieces left apart",
            """
def merge_heads(y):
    return y.transpose(1, 2)
""",
            "still apart",
        ),
        (
            "the heads added up",
            """
def merge_heads(y):
    return y.sum(1)
""",
            "add the heads up",
        ),
        (
            "the mean of the heads",
            """
def merge_heads(y):
    return y.mean(1)
""",
            "average the heads",
        ),
        (
            "the heads below each other",
            """
def merge_heads(y):
    return torch.cat(y.unbind(dim=1), dim=1)
""",
            "below each other",
        ),
        (
            "the places side by side",
            """
def merge_heads(y):
    return y.flatten(2)
""",
            "places of a head side by side",
        ),
        (
            "time at the end",
            """
def merge_heads(y):
    return y.permute(0, 1, 3, 2).flatten(1, 2)
""",
            "time axis the last",
        ),
        (
            "view after transpose",
            """
def merge_heads(y):
    b, h, n, d = y.shape
    return y.transpose(1, 2).view(b, n, h * d)
""",
            "view cannot see a transposed tensor",
        ),
        (
            "cut off from the gradient",
            """
def merge_heads(y):
    return torch.cat([head.data for head in y.unbind(1)], dim=-1)
""",
            "no gradient reaches y",
        ),
        (
            "no return",
            """
def merge_heads(y):
    y.transpose(1, 2).flatten(2)
""",
            "return statement missing",
        ),
    ],
    "multi_head": [
        (name, _changed(_MULTI_HEAD, *changes), says)
        for name, says, *changes in (
            ("split without transpose", "split by reshape", _SPLIT, _SPLIT_ANY),
            ("merged without transpose", "merge by reshape", _MERGE),
            (
                "split and merged without transpose",
                "split and merge by reshape",
                _SPLIT,
                _SPLIT_ANY,
                _MERGE,
            ),
            (
                "every H-th entry",
                "every H-th entry",
                ("(b, n, heads, d // heads).transpose(1, 2)", "(b, n, -1, heads).permute(0, 3, 1, 2)"),
                (
                    "(b, -1, heads, d // heads).transpose(1, 2)",
                    "(b, m.shape[1], -1, heads).permute(0, 3, 1, 2)",
                ),
            ),
            (
                "queries of the memory",
                "queries made of the memory",
                ("x @ wq.T", "m @ wq.T"),
                ("(b, n, heads,", "(b, -1, heads,"),
                ("reshape(b, n, d)", "reshape(b, -1, d)"),
            ),
            ("memory ignored", "memory used at all", ("x if memory is None else memory", "x")),
            ("no thought of None", "memory may be None", ("x if memory is None else memory", "memory")),
            (
                "keys and values swapped",
                "wrong order",
                ("(wq, wk, wv), (bq, bk, bv)", "(wq, wv, wk), (bq, bv, bk)"),
            ),
            (
                "keys and queries swapped",
                "wrong order",
                ("(wq, wk, wv), (bq, bk, bv)", "(wk, wq, wv), (bk, bq, bv)"),
            ),
            (
                "matrices not transposed",
                "matrix not transposed",
                ("wq.T", "wq"),
                ("wk.T", "wk"),
                ("wv.T", "wv"),
            ),
            ("w_out not transposed", "w_out not transposed", ("w_out.T", "w_out")),
            (
                "no biases",
                "b_in missing",
                (" + bq", ""),
                (" + bk", ""),
                (" + bv", ""),
            ),
            ("no projection at the end", "w_out missing", ("y @ w_out.T + b_out", "y")),
            ("no bias at the end", "b_out missing", (" + b_out", "")),
            ("divided by the root of D", "whole width D", ("(d // heads) ** 0.5", "d ** 0.5")),
            ("no scaling", "root of D / H missing", (" / (d // heads) ** 0.5", "")),
            ("softmax over the queries", "over the queries", ("dim=-1)", "dim=-2)")),
            ("softmax over the heads", "over the heads", ("dim=-1)", "dim=1)")),
            (
                "mask ignored",
                "mask handed on",
                ("if mask is not None:", "if mask is not None and False:"),
            ),
            ("mask the wrong way round", "wrong way round", ("~mask", "mask")),
            (
                "mask after the softmax",
                "mask after the softmax",
                ('e = e.masked_fill(~mask, float("-inf"))', "pass"),
                ("torch.softmax(e, dim=-1)", "torch.softmax(e, dim=-1) * (1 if mask is None else mask)"),
            ),
            ("weights averaged", "averaged over the heads", ("b_out, a", "b_out, a.mean(dim=1)")),
            ("outputs only", "outputs only", ("b_out, a", "b_out")),
            ("weights first", "weights first", ("y @ w_out.T + b_out, a", "a, y @ w_out.T + b_out")),
            ("cut off from the gradient", "gradient", ("a @ v", "a.detach() @ v")),
            (
                "PyTorch's own",
                "the thing to build here",
                (
                    "    m = x",
                    "    torch.nn.functional.multi_head_attention_forward\n    m = x",
                ),
            ),
            (
                "the package's own",
                "the thing to build here",
                ("    m = x", "    from seqcourse.nn import MultiHeadAttention\n\n    m = x"),
                ("    b, n, d", "    MultiHeadAttention(len(w_out), heads)\n    b, n, d"),
            ),
        )
    ]
    + [
        (
            "None in place of the weights",
            """
def multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None):
    m = x if memory is None else memory
    (wq, wk, wv), (bq, bk, bv) = w_in.chunk(3), b_in.chunk(3)
    q, k, v = x @ wq.T + bq, m @ wk.T + bk, m @ wv.T + bv
    q, k, v = (split_heads(part, heads) for part in (q, k, v))
    y, a = functional.attention(q, k, v, mask)
    return merge_heads(y) @ w_out.T + b_out, a
""",
            "need_weights=True",
        ),
        (
            "one head as wide as all",
            """
def multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None):
    m = x if memory is None else memory
    (wq, wk, wv), (bq, bk, bv) = w_in.chunk(3), b_in.chunk(3)
    q, k, v = x @ wq.T + bq, m @ wk.T + bk, m @ wv.T + bv
    q, k, v = q[:, None], k[:, None], v[:, None]
    y, a = functional.attention(q, k, v, mask, need_weights=True)
    return y[:, 0] @ w_out.T + b_out, a
""",
            "one head only",
        ),
    ],
    "cached_step": [
        (name, _changed(_CACHED_STEP, *changes), says)
        for name, says, *changes in (
            ("the new ones look ahead", "look ahead", (".tril(keys.shape[2] - n)", "")),
            (
                "the mask does not know the past",
                "know of the past",
                (".tril(keys.shape[2] - n)", ".tril()"),
            ),
            (
                "a square mask",
                "know of the past",
                (
                    "mask = torch.ones(n, keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - n)",
                    "mask = functional.causal_mask(n)",
                ),
            ),
            (
                "new ones in front",
                "in front of the old ones",
                ("[past[0], k]", "[k, past[0]]"),
                ("[past[1], v]", "[v, past[1]]"),
            ),
            (
                "does not look at itself",
                "not look at itself",
                ("q, keys, values, mask", "q, past[0], past[1], mask[:, : past[0].shape[2]]"),
            ),
            (
                "does not look at the past",
                "past looked at",
                ("q, keys, values, mask", "q, k, v, functional.causal_mask(n)"),
            ),
            ("the cache as it was", "as it was", ("[keys, values]", "past")),
            ("the new ones only", "new keys and values only", ("[keys, values]", "[k, v]")),
            ("values first", "returned in the wrong order", ("[keys, values]", "[values, keys]")),
            (
                "the cache first",
                "cache first",
                ("y @ w_out.T + b_out, [keys, values]", "[keys, values], y @ w_out.T + b_out"),
            ),
            ("outputs only", "outputs only", ("b_out, [keys, values]", "b_out")),
            ("split without transpose", "split by reshape", _SPLIT),
            ("merged without transpose", "merge by reshape", _MERGE),
            ("no projection at the end", "at the end", ("y @ w_out.T + b_out", "y")),
            ("joined along the heads", "wrong axis", ("dim=2", "dim=1")),
            (
                "the cache lengthened in place",
                "changes its input past",
                (
                    "keys = torch.cat([past[0], k], dim=2)",
                    "past[0] = keys = torch.cat([past[0], k], dim=2)",
                ),
                (
                    "values = torch.cat([past[1], v], dim=2)",
                    "past[1] = values = torch.cat([past[1], v], dim=2)",
                ),
            ),
            (
                "cut off from the gradient",
                "no gradient reaches",
                ("(x @ w_in.T", "(x.detach() @ w_in.T"),
            ),
            (
                "the package's own",
                "the thing to build here",
                (
                    "    b, n, d",
                    "    from seqcourse import nn\n\n    nn.MultiHeadAttention(8, 2)\n    b, n, d",
                ),
            ),
        )
    ],
    "generate": [
        (
            "stops at token 2",
            """
def generate(step, prompt, count):
    text, new, cache = prompt, prompt, None
    for _ in range(count):
        logits, cache = step(new, cache)
        new = logits[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, new], dim=1)
        if (new == 2).all():
            break
    return text
""",
            "stop at token 2",
        ),
        (
            "padding after a token 2",
            """
def generate(step, prompt, count):
    text, new, cache = prompt, prompt, None
    ended = torch.zeros(len(prompt), 1, dtype=torch.bool)
    for _ in range(count):
        logits, cache = step(new, cache)
        new = logits[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, torch.where(ended, 0, new)], dim=1)
        ended = ended | (new == 2)
    return text
""",
            "stop at token 2",
        ),
        (
            "no cache handed on",
            """
def generate(step, prompt, count):
    text, new = prompt, prompt
    for _ in range(count):
        logits, _ = step(new, None)
        new = logits[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, new], dim=1)
    return text
""",
            "forget the ones before",
        ),
        (
            "the whole text fed into the cache",
            """
def generate(step, prompt, count):
    text, cache = prompt, None
    for _ in range(count):
        logits, cache = step(text, cache)
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return text
""",
            "everything stands in it twice",
        ),
        (
            "the prompt again and again",
            """
def generate(step, prompt, count):
    text, cache = prompt, None
    for _ in range(count):
        logits, cache = step(prompt, cache)
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return text
""",
            "prompt fed again and again",
        ),
        (
            "logits of the first place",
            """
def generate(step, prompt, count):
    written, cache = [prompt], None
    for _ in range(count):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, 0].argmax(dim=-1, keepdim=True))
    return torch.cat(written, dim=1)
""",
            "logits at the first place",
        ),
        (
            "only the last token of the prompt",
            """
def generate(step, prompt, count):
    text, cache = prompt, None
    for _ in range(count):
        logits, cache = step(text[:, -1:], cache)
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return text
""",
            "last token of the prompt read",
        ),
        (
            "the unlikeliest token",
            """
def generate(step, prompt, count):
    written, cache = [prompt], None
    for _ in range(count):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmin(dim=-1, keepdim=True))
    return torch.cat(written, dim=1)
""",
            "unlikeliest",
        ),
        (
            "without the prompt",
            """
def generate(step, prompt, count):
    written, cache = [prompt], None
    for _ in range(count):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    return torch.cat(written[1:], dim=1)
""",
            "prompt missing",
        ),
        (
            "one token too few",
            """
def generate(step, prompt, count):
    written, cache = [prompt], None
    for _ in range(count - 1):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    return torch.cat(written, dim=1)
""",
            "one token too few",
        ),
        (
            "one token too many",
            """
def generate(step, prompt, count):
    logits, cache = step(prompt, None)
    written = [prompt, logits[:, -1].argmax(dim=-1, keepdim=True)]
    for _ in range(count):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    return torch.cat(written, dim=1)
""",
            "one token too many",
        ),
        (
            "the last token of the prompt twice",
            """
def generate(step, prompt, count):
    _, cache = step(prompt, None)
    text = prompt
    for _ in range(count):
        logits, cache = step(text[:, -1:], cache)
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return text
""",
            "fed twice",
        ),
        (
            "everything computed anew",
            """
def generate(step, prompt, count):
    text = prompt
    for _ in range(count):
        logits, _ = step(text, None)
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return text
""",
            "read anew for each token",
        ),
        (
            "one call too many",
            """
def generate(step, prompt, count):
    logits, cache = step(prompt, None)
    text = prompt
    for _ in range(count):
        new = logits[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, new], dim=1)
        logits, cache = step(new, cache)
    return text
""",
            "One call too many",
        ),
        (
            "the prompt token by token",
            """
def generate(step, prompt, count):
    cache = None
    for t in range(prompt.shape[1]):
        logits, cache = step(prompt[:, t : t + 1], cache)
    text = prompt
    for number in range(count):
        new = logits[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, new], dim=1)
        if number < count - 1:
            logits, cache = step(new, cache)
    return text
""",
            "read token by token",
        ),
        (
            "no return",
            """
def generate(step, prompt, count):
    written, cache = [prompt], None
    for _ in range(count):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    torch.cat(written, dim=1)
""",
            "return statement missing",
        ),
    ],
    "poll_1": _polls("poll_1", "a", "abc"),
    "poll_2": _polls("poll_2", "d", "abcd"),
    "poll_3": _polls("poll_3", "b", "abc"),
    "poll_4": _polls("poll_4", "c", "abc"),
}

RIGHT = {
    "causal_mask": [
        (
            "tril with a diagonal",
            """
def causal_mask(size, past=0):
    return torch.ones(size, past + size, dtype=torch.bool).tril(past)
""",
        ),
        (
            "loops",
            """
def causal_mask(size, past=0):
    rows = [[j <= past + i for j in range(past + size)] for i in range(size)]
    return torch.tensor(rows)
""",
        ),
        (
            "the past beside a square",
            """
def causal_mask(size, past=0):
    square = ~torch.triu(torch.ones(size, size), diagonal=1).bool()
    return torch.hstack([square.new_ones(size, past), square])
""",
        ),
    ],
    "padding_mask": [
        (
            "a loop over sentences",
            """
def padding_mask(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, n in enumerate(lengths):
        mask[b, :n] = True
    return mask
""",
        ),
        (
            "unsqueeze and expand",
            """
def padding_mask(lengths, size):
    places = torch.arange(size).expand(lengths.shape[0], size)
    return lengths.unsqueeze(1) > places
""",
        ),
        (
            "a table of Python",
            """
def padding_mask(lengths, size):
    return torch.tensor([[t < n for t in range(size)] for n in lengths.tolist()])
""",
        ),
    ],
    "combine": [
        (
            "logical_and",
            """
def combine(padding, causal):
    return torch.logical_and(padding[:, None, None], causal[None, None])
""",
        ),
        (
            "a loop over sentences",
            """
def combine(padding, causal):
    return torch.stack([(row & causal).unsqueeze(0) for row in padding])
""",
        ),
        (
            "a product of truth values",
            """
def combine(padding, causal):
    b, m = padding.shape
    return padding.view(b, 1, 1, m) * causal.view(1, 1, -1, m)
""",
        ),
    ],
    "attention": [
        (
            "a class of its own named Attention",
            """
class Attention:
    def __init__(self, mask):
        self.attention = {"mask": mask}

    def softmax(self, scores):
        mask = self.attention["mask"]
        if mask is None:
            return scores.softmax(dim=-1)
        return scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)


def attention(q, k, v, mask=None):
    weights = Attention(mask).softmax(q @ k.mT / q.shape[-1] ** 0.5)
    return weights @ v, weights
""",
        ),
        (
            "masked_fill and nan_to_num on the weights",
            """
def attention(q, k, v, mask=None):
    e = torch.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        e = e.masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, dim=-1).nan_to_num(0.0)
    return a @ v, a
""",
        ),
        (
            "the softmax by hand",
            """
def attention(q, k, v, mask=None):
    e = (q / q.shape[-1] ** 0.5) @ k.mT
    allowed = torch.ones_like(e, dtype=torch.bool) if mask is None else mask.expand_as(e)
    top = e.masked_fill(~allowed, -1e30).amax(dim=-1, keepdim=True)
    a = torch.where(allowed, e - top, float("-inf")).exp()
    total = a.sum(dim=-1, keepdim=True)
    a = a / torch.where(total > 0, total, torch.ones_like(total))
    return a @ v, a
""",
        ),
        (
            "a large negative number, then the mask again",
            """
def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, -1e30), dim=-1) * mask
    return weights @ v, weights
""",
        ),
        (
            "empty rows may look at everything, and are cleared",
            """
def attention(q, k, v, mask=None):
    e = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        a = e.softmax(-1)
    else:
        some = mask.any(dim=-1, keepdim=True)
        a = e.masked_fill(~(mask | ~some), float("-inf")).softmax(-1) * some
    return [a @ v, a]
""",
        ),
    ],
    "split_heads": [
        (
            "chunk and stack",
            """
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)
""",
        ),
        (
            "unflatten and permute",
            """
def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).permute(0, 2, 1, 3)
""",
        ),
        (
            "slices",
            """
def split_heads(x, heads):
    d = x.shape[-1] // heads
    pieces = [x[:, :, h * d : (h + 1) * d].unsqueeze(1) for h in range(heads)]
    return torch.cat(pieces, dim=1)
""",
        ),
    ],
    "merge_heads": [
        (
            "unbind and cat",
            """
def merge_heads(y):
    return torch.cat(y.unbind(dim=1), dim=-1)
""",
        ),
        (
            "contiguous and view",
            """
def merge_heads(y):
    b, h, n, d = y.shape
    return y.permute(0, 2, 1, 3).contiguous().view(b, n, h * d)
""",
        ),
        (
            "swapaxes and reshape",
            """
def merge_heads(y):
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)
""",
        ),
    ],
    "multi_head": [
        ("by hand", _MULTI_HEAD),
        (
            "head by head",
            """
def multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None):
    if memory is None:
        memory = x
    d = x.shape[-1]
    size = d // heads
    found, maps = [], []
    for h in range(heads):
        rows = slice(h * size, (h + 1) * size)
        q = x @ w_in[:d][rows].T + b_in[:d][rows]
        k = memory @ w_in[d : 2 * d][rows].T + b_in[d : 2 * d][rows]
        v = memory @ w_in[2 * d :][rows].T + b_in[2 * d :][rows]
        scores = q @ k.transpose(1, 2) / size**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.expand(len(x), -1, -1, -1)[:, 0], float("-inf"))\
                if mask.dim() == 4 else scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        found.append(weights @ v)
        maps.append(weights)
    return torch.cat(found, dim=-1) @ w_out.T + b_out, torch.stack(maps, dim=1)
""",
        ),
        (
            "einsum and the student's own attention",
            """
def multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None):
    source = x if memory is None else memory
    w = w_in.reshape(3, heads, -1, x.shape[-1])
    b = b_in.reshape(3, 1, heads, 1, -1)
    q, k, v = (
        torch.einsum("bnd,hkd->bhnk", s, w[i]) + b[i] for i, s in enumerate((x, source, source))
    )
    y, weights = attention(q, k, v, mask)
    y = torch.einsum("bhnk,ohk->bno", y, w_out.reshape(len(w_out), heads, -1))
    return y + b_out, weights
""",
        ),
    ],
    "cached_step": [
        ("by hand", _CACHED_STEP),
        (
            "one vector after the other",
            """
def cached_step(x, past, w_in, b_in, w_out, b_out, heads):
    keys, values = past
    found = []
    for one in x.split(1, dim=1):
        parts = torch.nn.functional.linear(one, w_in, b_in).chunk(3, dim=-1)
        q, k, v = (split_heads(part, heads) for part in parts)
        keys, values = torch.cat([keys, k], dim=-2), torch.cat([values, v], dim=-2)
        found.append(merge_heads(functional.attention(q, keys, values)[0]))
    return torch.nn.functional.linear(torch.cat(found, dim=1), w_out, b_out), (keys, values)
""",
        ),
        (
            "the package's causal attention",
            """
def cached_step(x, past, w_in, b_in, w_out, b_out, heads):
    new = (x @ w_in.T + b_in).unflatten(-1, (3, heads, -1))
    q, k, v = new.permute(2, 0, 3, 1, 4)
    longer = [torch.cat(pair, dim=2) for pair in zip(past, (k, v))]
    y = functional.attention(q, *longer, causal=True)[0]
    return y.transpose(1, 2).flatten(2) @ w_out.T + b_out, longer
""",
        ),
    ],
    "generate": [
        (
            "with a seed and the package's padding id",
            """
import seqcourse


def generate(step, prompt, count):
    seqcourse.seed_everything(0)
    written = torch.full((len(prompt), count), seqcourse.data.PAD)
    new, cache = prompt, None
    for t in range(count):
        logits, cache = step(new, cache)
        new = written[:, t : t + 1] = logits[:, -1:].argmax(dim=-1)
    return torch.cat([prompt, written], dim=1)
""",
        ),
        (
            "the first call in front of the loop",
            """
def generate(step, prompt, count):
    logits, cache = step(prompt, None)
    text = torch.cat([prompt, logits[:, -1].argmax(-1)[:, None]], dim=1)
    for _ in range(count - 1):
        logits, cache = step(text[:, -1:], cache)
        text = torch.cat([text, logits[:, -1].argmax(-1)[:, None]], dim=1)
    return text
""",
        ),
        (
            "written into a tensor that is long enough",
            """
def generate(step, prompt, count):
    b, p = prompt.shape
    text = torch.zeros(b, p + count, dtype=prompt.dtype)
    text[:, :p] = prompt
    cache, read = None, 0
    for t in range(p, p + count):
        logits, cache = step(text[:, read:t].clone(), cache)
        read = t
        text[:, t] = logits.argmax(dim=2)[:, -1]
    return text
""",
        ),
        (
            "recursion",
            """
def generate(step, prompt, count):
    def more(new, cache, left):
        if left == 0:
            return [new]
        logits, longer = step(new, cache)
        return [new, *more(logits[:, -1:].max(dim=-1).indices, longer, left - 1)]

    return torch.hstack(more(prompt, None, count))
""",
        ),
    ],
}


# Operator mutants of the reference solutions that may keep every point: what was changed, in which
# line of the answer, what it reads then, and why nobody need lose a point for it.
SURVIVORS = {
    "multi_head": [
        (
            "DropArgument",
            6,
            "for source, w, b in zip(sources, w_in.chunk(3), b_in.chunk(3))",
            "there are three of each in every call",
        ),
        (
            "ReplaceTrueWithFalse",
            6,
            "for source, w, b in zip(sources, w_in.chunk(3), b_in.chunk(3), strict=False)",
            "there are three of each in every call",
        ),
    ],
    "cached_step": [
        (
            "NumberReplacer",
            5,
            "mask = functional.causal_mask(x.shape[1], past[ -1].shape[2])",
            "the cache holds as many values as keys",
        ),
        (
            "NumberReplacer",
            5,
            "mask = functional.causal_mask(x.shape[1], past[ 1].shape[2])",
            "the cache holds as many values as keys",
        ),
    ],
    "generate": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            6,
            "written.append(logits[:, -1].argmax(dim=+1, keepdim=True))",
            "the logits at one place have two axes: the last one is number 1",
        ),
    ],
}
