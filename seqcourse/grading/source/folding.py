"""What a pure expression over literals comes to, without running any of a student's code.

`"soft" + "max"`, `"".join(map(chr, codes))`, `b64decode(b"...").decode()`: an interpreter of a few
harmless functions and methods, with limits on size and steps. Everything else is NotConstant.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import operator
import re
import urllib.parse
from collections.abc import Callable
from typing import Any

LONGEST = 20_000  # characters or entries of any value on the way
STEPS = 300_000  # nodes looked at and entries handled for one notebook

_PLAIN = (str, bytes, int, float, bool, type(None), list, tuple, dict, slice)
_CODECS = {"rot13", "rot_13", "hex", "hex_codec", "base64", "base64_codec", "utf-8", "utf8", "ascii"}
_WIDE = re.compile(r"\d{4}")  # a width in a format that would make a very long string


class NotConstant(Exception):
    """The expression cannot be told without running code."""


def _decode(value: Any, encoding: str = "utf-8") -> Any:
    if str(encoding).lower() not in _CODECS:
        raise NotConstant
    return codecs.decode(value, encoding)


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > LONGEST:
        raise NotConstant
    return list(numbers)


# By the name that a call resolves to. `map` and `filter` take one of these as their function.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "builtins.chr": chr,
    "builtins.ord": ord,
    "builtins.str": str,
    "builtins.int": int,
    "builtins.len": len,
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.dict": dict,
    "builtins.sorted": sorted,
    "builtins.min": min,
    "builtins.max": max,
    "builtins.range": _range,
    "builtins.reversed": lambda value: list(reversed(value)),
    "builtins.zip": lambda *values: list(zip(*values, strict=False)),
    "builtins.enumerate": lambda value, start=0: list(enumerate(value, start)),
    "builtins.bytes": lambda value=b"", *rest: bytes(_listed(value), *rest),
    "builtins.bytearray": lambda value=b"", *rest: bytes(_listed(value), *rest),
    "builtins.bytes.fromhex": bytes.fromhex,
    "builtins.bytearray.fromhex": bytes.fromhex,
    "builtins.str.maketrans": str.maketrans,
    "operator.add": operator.add,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.a2b_hex,
    "binascii.a2b_base64": binascii.a2b_base64,
    "codecs.decode": _decode,
    "codecs.encode": _decode,  # rot13 is its own inverse; the other codecs refuse the wrong type
    "urllib.parse.unquote": urllib.parse.unquote,
} | {
    f"base64.{name}": getattr(base64, name)
    for name in ("b64decode", "standard_b64decode", "urlsafe_b64decode", "b32decode", "b16decode")
    + ("b85decode", "a85decode")
}

METHODS = set(
    "join format lower upper title capitalize swapcase casefold replace strip lstrip rstrip split "
    "rsplit partition rpartition removeprefix removesuffix decode encode translate hex get index "
    "startswith endswith keys values items copy".split()
)

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}


def _listed(value: Any) -> Any:
    """What bytes() may be made of: a number would mean that many zeros."""
    if isinstance(value, int):
        raise NotConstant
    return value


def _size(value: Any) -> int:
    """How many characters and entries a value holds, those of its entries included."""
    if isinstance(value, (str, bytes)):
        total = len(value)
    elif isinstance(value, (list, tuple, dict)):
        total = 1
        for item in value if not isinstance(value, dict) else [*value, *value.values()]:
            total += _size(item)
            if total > LONGEST:
                raise NotConstant
    else:
        if not isinstance(value, _PLAIN) or (isinstance(value, int) and value.bit_length() > 64):
            raise NotConstant
        total = 1
    if total > LONGEST:
        raise NotConstant
    return total


class Budget:
    """Counts the work that folding the expressions of one notebook takes."""

    left = STEPS

    def take(self, work: int) -> None:
        """Raise NotConstant when nothing is left."""
        self.left -= work
        if self.left < 0:
            raise NotConstant


class Folder:
    """Folds one expression.

    constant: the value of a name of the student's; raises NotConstant.
    path: the library name that a function expression stands for ("builtins.chr"), or "".
    """

    def __init__(
        self, constant: Callable[[ast.Name], Any], path: Callable[[ast.expr], str], budget: Budget
    ):
        self.constant, self.path, self.budget = constant, path, budget
        self.local: dict[str, Any] = {}

    def fold(self, node: ast.expr | None) -> Any:
        """The value of an expression. Raises NotConstant."""
        self.budget.take(1)
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is None:
            raise NotConstant
        try:
            value = handler(node)
            self.budget.take(_size(value))
            return value
        except NotConstant:
            raise
        except Exception as error:  # the expression itself would raise, or a value does not fit
            raise NotConstant from error

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        return self.local[node.id] if node.id in self.local else self.constant(node)

    def _Tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self._items(node.elts))

    def _List(self, node: ast.List) -> list:
        return self._items(node.elts)

    def _Set(self, node: ast.Set) -> list:
        return self._items(node.elts)

    def _items(self, nodes: list[ast.expr]) -> list:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.fold(node.value)
            else:
                found.append(self.fold(node))
        return found

    def _Dict(self, node: ast.Dict) -> dict:
        pairs = zip(node.keys, node.values, strict=True)
        return {self.fold(key): self.fold(value) for key, value in pairs}

    def _Slice(self, node: ast.Slice) -> slice:
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.fold(part) for part in parts))

    def _Subscript(self, node: ast.Subscript) -> Any:
        return self.fold(node.value)[self.fold(node.slice)]

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.fold(node.operand)
        if isinstance(node.op, ast.USub):
            return -value
        return not value if isinstance(node.op, ast.Not) else _refuse()

    def _BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.fold(node.left), self.fold(node.right)
        if isinstance(node.op, ast.Mult):
            times = [value for value in (left, right) if isinstance(value, int)]
            if len(times) == 1 and times[0] * len(right if left is times[0] else left) > LONGEST:
                raise NotConstant
        if isinstance(node.op, ast.Mod) and isinstance(left, (str, bytes)):
            _narrow(str(left), right if isinstance(right, tuple) else (right,))
        return OPERATORS.get(type(node.op), _refuse)(left, right)

    def _IfExp(self, node: ast.IfExp) -> Any:
        return self.fold(node.body if self.fold(node.test) else node.orelse)

    def _Compare(self, node: ast.Compare) -> bool:
        left, (right,) = self.fold(node.left), map(self.fold, node.comparators)
        signs = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.Gt: operator.gt}
        return signs[type(node.ops[0])](left, right)

    def _JoinedStr(self, node: ast.JoinedStr) -> str:
        return "".join(self.fold(part) for part in node.values)

    def _FormattedValue(self, node: ast.FormattedValue) -> str:
        shape = "" if node.format_spec is None else self.fold(node.format_spec)
        value = self.fold(node.value)
        if node.conversion == ord("r"):
            value = repr(value)
        return _refuse() if _WIDE.search(shape) else format(value, shape)

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> list:
        (loop,) = node.generators
        kept, found = dict(self.local), []
        for item in self.fold(loop.iter):
            self._bind(loop.target, item)
            if all(self.fold(test) for test in loop.ifs):
                found.append(self.fold(node.elt))
        self.local = kept
        return found

    _GeneratorExp = _ListComp

    def _bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.local[target.id] = value
        elif isinstance(target, ast.Tuple):
            for part, item in zip(target.elts, value, strict=True):
                self._bind(part, item)
        else:
            raise NotConstant

    def _Call(self, node: ast.Call) -> Any:
        path = self.path(node.func)
        if path == "builtins.map":
            function = FUNCTIONS.get(self.path(node.args[0])) or self._called(node.args[0])
            return [function(item) for item in self.fold(node.args[1])]
        args = self._items(node.args)
        named = {keyword.arg: self.fold(keyword.value) for keyword in node.keywords if keyword.arg}
        if path in FUNCTIONS:
            return FUNCTIONS[path](*args, **named)
        for kind in (str, bytes):  # str.join("", words)
            if path.startswith(f"builtins.{kind.__name__}."):
                return self._method(args[0], path.rsplit(".", 1)[1], args[1:], named)
        if not isinstance(node.func, ast.Attribute):
            raise NotConstant
        return self._method(self.fold(node.func.value), node.func.attr, args, named)

    def _called(self, node: ast.expr) -> Callable[[Any], Any]:
        """A lambda with one argument, as the function of map."""
        if not isinstance(node, ast.Lambda) or len(node.args.args) != 1:
            raise NotConstant

        def function(value: Any) -> Any:
            kept, self.local = self.local, {**self.local, node.args.args[0].arg: value}
            try:
                return self.fold(node.body)
            finally:
                self.local = kept

        return function

    def _method(self, value: Any, name: str, args: list, named: dict) -> Any:
        if name not in METHODS or not isinstance(value, (str, bytes, list, tuple, dict)):
            raise NotConstant
        if name == "join":
            words = list(args[0])
            if sum(map(len, words)) + len(value) * len(words) > LONGEST:
                raise NotConstant
            args = [words]
        if name == "replace" and (len(value) + 1) * (len(args[1]) + 1) > LONGEST:
            raise NotConstant
        if name == "format":
            _narrow(value, (*args, *named.values()))
        if name in ("decode", "encode") and args and str(args[0]).lower() not in _CODECS:
            raise NotConstant
        found = getattr(value, name)(*args, **named)
        return list(found) if name in ("keys", "values", "items") else found


def _narrow(shape: str, values: tuple) -> None:
    """Refuse a format that could ask for a very long string."""
    if _WIDE.search(shape) or any(isinstance(value, int) and value > 9999 for value in values):
        raise NotConstant


def _refuse(*_: Any) -> Any:
    raise NotConstant
