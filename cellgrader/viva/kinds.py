"""The kinds of change: each function yields (kind, the node, what takes its place) for one node."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

AXIS, TRANSPOSED, SCALE, SIGN, ORDER = "axis", "transposition", "scale", "sign", "order"
MASK, OFF_BY_ONE, SUBSCRIPT, FUNCTION, CALL = "mask", "off by one", "subscript", "function", "call"
New = Iterator[tuple[str, ast.expr, ast.expr]]

# Functions with an axis as an argument, and what an axis becomes.
_WITH_AXIS = set(
    "softmax log_softmax sum mean amax amin max min argmax argmin cumsum logsumexp unsqueeze squeeze "
    "cat stack norm std var unbind flip chunk split flatten all any prod sort topk gather select "
    "index_select size repeat_interleave one_hot".split()
)
_OTHER_AXIS = {-1: -2, -2: -1, -3: -2, 0: 1, 1: 0, 2: 1, 3: 2}
# Functions that are easily confused.
_NEIGHBOURS = {
    "tanh": "sigmoid", "sigmoid": "tanh", "relu": "tanh", "argmax": "argmin", "amax": "amin",
    "max": "min", "min": "max", "sum": "mean", "mean": "sum", "softmax": "log_softmax",
    "log_softmax": "softmax", "any": "all", "all": "any", "zeros_like": "ones_like",
    "ones_like": "zeros_like", "zeros": "ones", "ones": "zeros", "new_zeros": "new_ones",
    "new_ones": "new_zeros", "sorted": "list", "square": "abs", "sin": "cos", "cos": "sin",
    "append": "extend", "log": "log2", "unsqueeze": "squeeze",
}  # fmt: skip
_NEEDED = {"__init__", "size", "items", "values", "keys"}
_TURNING = {"transpose", "swapaxes", "permute", "t", "flip"}
_SWAPPED_OPERATORS: dict[type, tuple[type, str]] = {
    ast.Eq: (ast.NotEq, MASK),
    ast.NotEq: (ast.Eq, MASK),
    ast.Lt: (ast.LtE, OFF_BY_ONE),
    ast.LtE: (ast.Lt, OFF_BY_ONE),
    ast.Gt: (ast.GtE, OFF_BY_ONE),
    ast.GtE: (ast.Gt, OFF_BY_ONE),
}


def _called(node: ast.AST) -> str:
    """The last name of what is called, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _whole(node: ast.AST) -> int | None:
    """The whole number that is written there."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def _with(node: ast.expr, **fields: object) -> ast.expr:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _axis(node: ast.expr) -> New:
    name = _called(node)
    if isinstance(node, ast.Call):
        places = [word.value for word in node.keywords if word.arg in ("dim", "axis", "start_dim")]
        if name in _WITH_AXIS and node.args and not places:
            places = [node.args[-1]]
        for place in places:
            number = _whole(place)
            if number in _OTHER_AXIS:
                yield AXIS, place, ast.Constant(_OTHER_AXIS[number])
        for word in node.keywords:
            if word.arg == "keepdim" and getattr(word.value, "value", None) is True:
                yield AXIS, word.value, ast.Constant(False)
    if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
        number = _whole(node.slice)
        if number in _OTHER_AXIS:
            yield AXIS, node.slice, ast.Constant(_OTHER_AXIS[number])


def _transposed(node: ast.expr) -> New:
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield TRANSPOSED, node, node.value
    if _called(node) in _TURNING and isinstance(node.func, ast.Attribute):
        inner = node.func.value
        if not (isinstance(inner, ast.Name) and inner.id == "torch"):
            yield TRANSPOSED, node, inner
    if _called(node) in ("reshape", "view") and len(node.args) > 2:
        args = list(node.args)
        args[-2:] = args[:-3:-1]
        yield ORDER, node, _with(node, args=args)


def _scale(node: ast.expr) -> New:
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            yield SCALE, node, _with(node, op=ast.Mult())
            yield SCALE, node, node.left
        if isinstance(node.op, ast.Mult):
            yield SCALE, node, node.left
            yield SCALE, node, node.right
        if isinstance(node.op, ast.Pow):
            yield SCALE, node, node.left
    if _called(node) in ("sqrt", "rsqrt", "square"):
        inner = node.args[0] if node.args else getattr(node.func, "value", None)
        if inner is not None:
            yield SCALE, node, inner
    for word in getattr(node, "keywords", ()):
        if word.arg in ("correction", "unbiased") and isinstance(word.value, ast.Constant):
            yield SCALE, word.value, ast.Constant(not word.value.value)


def _sign(node: ast.expr) -> New:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        if _whole(node.right) is not None:
            yield OFF_BY_ONE, node, node.left
        else:
            other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield SIGN, node, _with(node, op=other)
            yield SCALE, node, node.left
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _whole(node) is None:
        yield SIGN, node, node.operand


def _order(node: ast.expr) -> New:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Sub, ast.Div)):
        if _whole(node.left) is None and _whole(node.right) is None:
            yield ORDER, node, _with(node, left=node.right, right=node.left)
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        if 2 <= len(node.elts) <= 4 and any(_whole(part) is None for part in node.elts):
            yield ORDER, node, _with(node, elts=_exchanged(node.elts))
    if isinstance(node, ast.Call) and _called(node) not in ("einsum", "range", "isinstance"):
        plain = [part for part in node.args[:2] if isinstance(part, (ast.Name, ast.Attribute, ast.Call))]
        if len(plain) == 2:
            yield ORDER, node, _with(node, args=_exchanged(node.args))


def _exchanged(parts: Sequence[ast.expr]) -> list[ast.expr]:
    return [parts[1], parts[0], *parts[2:]]


def _mask(node: ast.expr) -> New:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
        yield MASK, node, node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SWAPPED_OPERATORS:
        other, kind = _SWAPPED_OPERATORS[type(node.ops[0])]
        yield kind, node, _with(node, ops=[other()])
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        other = ast.BitOr() if isinstance(node.op, ast.BitAnd) else ast.BitAnd()
        yield MASK, node, _with(node, op=other)
    name = _called(node)
    if name == "masked_fill" and len(node.args) == 2 and isinstance(node.func, ast.Attribute):
        yield MASK, node, node.func.value
        mask = node.args[0]
        if not isinstance(mask, ast.UnaryOp):
            yield MASK, mask, ast.UnaryOp(ast.Invert(), mask)
    if name == "where" and len(node.args) == 3:
        condition, first, second = node.args
        yield MASK, node, _with(node, args=[condition, second, first])
    if name in ("tril", "triu"):
        yield MASK, node, _renamed(node, "triu" if name == "tril" else "tril")


def _renamed(node: ast.Call, name: str) -> ast.expr:
    field = "attr" if isinstance(node.func, ast.Attribute) else "id"
    return _with(node, func=_with(node.func, **{field: name}))


def _off_by_one(node: ast.expr) -> New:
    if isinstance(node, ast.Call):
        for word in node.keywords:
            if word.arg in ("diagonal", "offset", "past") and _whole(word.value) is not None:
                yield OFF_BY_ONE, word.value, ast.Constant(_whole(word.value) + 1)
        name = _called(node)
        if name in ("tril", "triu") and not node.keywords and len(node.args) < 2:
            yield OFF_BY_ONE, node, _with(node, keywords=[ast.keyword("diagonal", ast.Constant(1))])
        if name in ("range", "arange") and len(node.args) == 1:
            one = ast.Constant(1)
            yield OFF_BY_ONE, node, _with(node, args=[ast.BinOp(node.args[0], ast.Sub(), one)])
            yield OFF_BY_ONE, node, _with(node, args=[one, node.args[0]])
        if name == "range" and len(node.args) > 1 and _whole(node.args[0]) is not None:
            yield OFF_BY_ONE, node.args[0], ast.Constant(_whole(node.args[0]) + 1)
    if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") != "shape":
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for place, part in enumerate(parts):
            for new in _bounds(part):
                inner = [*parts[:place], new, *parts[place + 1 :]]
                index = _with(node.slice, elts=inner) if isinstance(node.slice, ast.Tuple) else new
                yield OFF_BY_ONE, node, _with(node, slice=index)


def _bounds(part: ast.expr) -> Iterator[ast.expr]:
    """Slices and indices one further, or at the other end."""
    if isinstance(part, ast.Slice):
        for name in ("lower", "upper"):
            bound = getattr(part, name)
            if bound is None:
                continue
            number = _whole(bound)
            new = (
                ast.BinOp(bound, ast.Add(), ast.Constant(1))
                if number is None
                else ast.Constant(number + 1)
                if number != -1
                else None
            )
            yield _with(part, **{name: new})
    elif _whole(part) in (0, -1):
        yield ast.Constant(-1 - _whole(part))


def _subscript(node: ast.expr) -> New:
    """Another output of an einsum: its last two letters exchanged, or the last one summed."""
    if _called(node) != "einsum" or not node.args:
        return
    text = getattr(node.args[0], "value", None)
    if not isinstance(text, str) or "->" not in text:
        return
    if len(node.args) == 3:
        yield ORDER, node, _with(node, args=[node.args[0], node.args[2], node.args[1]])
    before, _, after = text.partition("->")
    letters = after.rstrip()
    if len(letters) > 1 and letters[-2:].isalpha():
        yield SUBSCRIPT, node.args[0], ast.Constant(f"{before}->{letters[:-2]}{letters[:-3:-1]}")
        yield SUBSCRIPT, node.args[0], ast.Constant(f"{before}->{letters[:-1]}")


def _function(node: ast.expr) -> New:
    name = _called(node)
    if name in _NEIGHBOURS:
        yield FUNCTION, node, _renamed(node, _NEIGHBOURS[name])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        if any(getattr(part, "value", 0) is None for part in node.slice.elts):
            yield AXIS, node, node.value


def _call(node: ast.expr) -> New:
    """A method that is not called, such as contiguous() or clone()."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        plain = not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "math"))
        if plain and not node.args and node.func.attr not in _NEEDED:
            yield CALL, node, node.func.value


CHANGES: tuple[Callable[[ast.expr], New], ...] = (
    _axis,
    _transposed,
    _scale,
    _sign,
    _order,
    _mask,
    _off_by_one,
    _subscript,
    _function,
    _call,
)
