"""Systematic small changes of a reference solution: what a hidden check should notice.

Most operators are cosmic-ray's (arithmetic, comparisons, numbers, booleans, break and continue,
empty loops). Added are those that mistakes with tensors are made of: an operand, a call, a keyword or
a statement left out, a neighbour's function in place of the right one, a pair swapped, a slice off by
one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seqcourse.errors import CourseError


@dataclass(frozen=True)
class Mutant:
    """A solution with one thing changed.

    operator: what was done, such as "ReplaceBinaryOperator_Add_Sub".
    line: of the first changed line of the answer.
    text: that line afterwards, without its comment.
    """

    operator: str
    line: int
    text: str
    source: str

    @property
    def key(self) -> tuple[str, int, str]:
        """What SURVIVORS in solutions/checks/psN.py knows it by."""
        return self.operator, self.line, self.text


def mutants_of(solution: str) -> list[Mutant]:
    """All mutants of a solution cell: each compiles, differs from it and from every other.

    Docstrings, comments and annotations are left alone.
    """
    seen = {_meaning(ast.parse(solution))}
    found = []
    for change, source in [*_cosmic(solution), *_own(solution)]:
        try:
            meaning = _meaning(ast.parse(source))
            compile(source, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        if meaning not in seen:
            seen.add(meaning)
            found.append(_mutant(change, solution, source))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.operator, mutant.text))


def _mutant(change: str, solution: str, source: str) -> Mutant:
    old, new = solution.splitlines(), source.splitlines()
    pairs = enumerate(zip(old, new, strict=False), start=1)
    line = next((number for number, (a, b) in pairs if a != b), min(len(old), len(new)))
    text = new[line - 1].split("  #")[0].strip() if line <= len(new) else ""
    return Mutant(change, line, text, source)


class _Plain(ast.NodeTransformer):
    """Brings what means the same into one form: ~1 is -2, and a docstring is nothing."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        inner = node.operand
        sign = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.inv}.get(
            type(node.op)
        )
        if sign and isinstance(inner, ast.Constant) and type(inner.value) is int:
            return ast.Constant(sign(inner.value))
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


def _meaning(tree: ast.Module) -> str:
    return ast.dump(_Plain().visit(tree))


# --- cosmic-ray -------------------------------------------------------------------------------------

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Pow", "Mod")
_BITS = ("BitOr", "BitAnd", "BitXor")


def _wanted(name: str) -> bool:
    """Leave out what is random, and what stops with an error on any input (a shift of a tensor)."""
    kind, *parts = name.split("_")
    if kind == "ReplaceBinaryOperator":
        old, new = parts
        return (old in _ARITHMETIC and new in _ARITHMETIC[:5]) or (old in _BITS and new in _BITS)
    if kind == "ReplaceComparisonOperator":
        return not any(part.startswith("Is") for part in parts)
    return kind not in ("VariableReplacer", "VariableInserter", "ExceptionReplacer", "RemoveDecorator")


def _cosmic(solution: str) -> Iterator[tuple[str, str]]:
    try:
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.operators.provider import OperatorProvider
    except ImportError as error:
        raise CourseError(
            "Operator mutants are made with cosmic-ray, but it is not installed. "
            "Install it: pip install 'seqcourse[dev]'"
        ) from error
    provider = OperatorProvider()
    for name in filter(_wanted, provider):
        occurrence = 0
        while source := mutate_code(solution, provider[name](), occurrence):
            yield name, source
            occurrence += 1


# --- our own ----------------------------------------------------------------------------------------

# Functions and methods that are taken for each other.
_NEIGHBOURS = {
    "tanh": ("sigmoid",),
    "sigmoid": ("tanh",),
    "relu": ("tanh",),
    "argmax": ("argmin",),
    "amax": ("amin",),
    "max": ("min",),
    "sum": ("mean",),
    "mean": ("sum",),
    "softmax": ("log_softmax",),
    "log_softmax": ("softmax",),
    "any": ("all",),
    "all": ("any",),
    "exp": ("log",),
    "log": ("exp",),
    "zeros_like": ("ones_like",),
    "ones_like": ("zeros_like",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "sorted": ("list",),
}


def _own(solution: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(solution)
    skipped = {id(node) for node in _left_alone(tree)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for name, change in CHANGES.items():
            for new in change(node):
                yield name, _with(solution, node, new)


def _left_alone(tree: ast.Module) -> Iterator[ast.AST]:
    """Docstrings and annotations, with all that is in them."""
    for node in ast.walk(tree):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node)
        for part in filter(None, parts):
            yield from ast.walk(part)


def _with(solution: str, node: ast.AST, new: str) -> str:
    """The source with a node's text replaced."""
    lines = solution.splitlines(keepends=True)
    start = len("".join(lines[: node.lineno - 1]).encode()) + node.col_offset
    end = len("".join(lines[: node.end_lineno - 1]).encode()) + node.end_col_offset
    data = solution.encode()
    return (data[:start] + new.encode() + data[end:]).decode()


def _drop_operand(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BinOp):
        yield from (f"({ast.unparse(node.left)})", f"({ast.unparse(node.right)})")


def _drop_call(node: ast.AST) -> Iterator[str]:
    """torch.tanh(x) -> x; x.masked_fill(mask, value) -> x; any other call -> its first argument."""
    if not isinstance(node, ast.Call):
        return
    method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).split(".")[0]
    if isinstance(node.func, ast.Attribute) and method not in ("torch", "functional", "math"):
        yield f"({ast.unparse(node.func.value)})"
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield f"({ast.unparse(node.args[0])})"


def _choose_branch(node: ast.AST) -> Iterator[str]:
    """torch.where(c, a, b) -> a, b; a if c else b -> a, b."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.where" and len(node.args) == 3:
        yield from (f"({ast.unparse(argument)})" for argument in node.args[1:])
    if isinstance(node, ast.IfExp):
        yield from (f"({ast.unparse(node.body)})", f"({ast.unparse(node.orelse)})")


def _drop_attribute(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield ast.unparse(node.value)


def _drop_argument(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        function = ast.unparse(node.func)
        parts = [ast.unparse(part) for part in [*node.args, *node.keywords]]
        for place in range(len(parts)):
            if place or node.keywords or len(parts) > 1:
                yield f"{function}({', '.join(parts[:place] + parts[place + 1 :])})"


def _drop_statement(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Break, ast.Continue)):
        yield "pass"


def _neighbour(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        last = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        text = ast.unparse(node)
        function = ast.unparse(node.func)
        for other in _NEIGHBOURS.get(last, ()):
            yield function[: -len(last)] + other + text[len(function) :]


def _swap_pair(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        parts = [ast.unparse(part) for part in node.elts]
        left, right = ("[", "]") if isinstance(node, ast.List) else ("(", ")")
        for k in range(len(parts) - 1):
            swapped = [*parts[:k], parts[k + 1], parts[k], *parts[k + 2 :]]
            yield f"{left}{', '.join(swapped)}{right}"


def _slice_bound(node: ast.AST) -> Iterator[str]:
    """x[a:b] -> x[a + 1:b], x[a:b - 1], ...; a number is cosmic-ray's NumberReplacer's."""
    if isinstance(node, ast.Slice):
        lower, upper = (None if part is None else ast.unparse(part) for part in (node.lower, node.upper))
        for sign in ("+", "-"):
            if upper is not None:
                yield f"{lower or ''} : ({upper}) {sign} 1"
            if lower is not None:
                yield f"({lower}) {sign} 1 : {upper or ''}"
        if lower is not None:
            yield f": {upper or ''}"
        if upper is not None:
            yield f"{lower or ''} :"


CHANGES: dict[str, Callable[[ast.AST], Iterator[str]]] = {
    "DropOperand": _drop_operand,
    "DropCall": _drop_call,
    "ChooseBranch": _choose_branch,
    "DropAttribute": _drop_attribute,
    "DropArgument": _drop_argument,
    "DropStatement": _drop_statement,
    "Neighbour": _neighbour,
    "SwapPair": _swap_pair,
    "SliceBound": _slice_bound,
}
