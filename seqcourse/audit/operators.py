"""Mutation operators: small changes to a reference solution that a hidden check should notice.

Most operators are cosmic-ray's (arithmetic, comparisons, numbers, booleans, break and continue, empty
loops). The others here imitate typical mistakes with tensors: drop an operand, call, argument or
statement; call a similar function; swap a pair; shift a slice by one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cellgrader.notebook.nodes import replace_node, unchanged_nodes
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class Mutant:
    """A solution with one thing changed.

    operator: the operator's name, such as "ReplaceBinaryOperator_Add_Sub".
    line: number of the first changed line.
    text: that line after the change, without its comment.
    """

    operator: str
    line: int
    text: str
    source: str

    @property
    def key(self) -> tuple[str, int, str]:
        """The mutant's key in SURVIVORS of solutions/checks/psN.py."""
        return self.operator, self.line, self.text


def mutants_of(solution: str) -> list[Mutant]:
    """All distinct mutants of a solution cell that compile.

    Docstrings, comments and annotations are not changed.
    """
    seen = {_normalized(ast.parse(solution))}
    found = []
    for change, source in [*_cosmic_ray_mutants(solution), *_own_mutants(solution)]:
        try:
            meaning = _normalized(ast.parse(source))
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


class _Normalizer(ast.NodeTransformer):
    """Normalises equivalent code: folds signs into integers (~1 to -2) and drops docstrings."""

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


def _normalized(tree: ast.Module) -> str:
    return ast.dump(_Normalizer().visit(tree))


# --- cosmic-ray -------------------------------------------------------------------------------------

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Pow", "Mod")
_BITS = ("BitOr", "BitAnd", "BitXor")


def _is_useful(name: str) -> bool:
    """Exclude random operators, and operators whose mutants always raise (such as shifting a tensor)."""
    kind, *parts = name.split("_")
    if kind == "ReplaceBinaryOperator":
        old, new = parts
        return (old in _ARITHMETIC and new in _ARITHMETIC[:5]) or (old in _BITS and new in _BITS)
    if kind == "ReplaceComparisonOperator":
        return not any(part.startswith("Is") for part in parts)
    return kind not in ("VariableReplacer", "VariableInserter", "ExceptionReplacer", "RemoveDecorator")


def _cosmic_ray_mutants(solution: str) -> Iterator[tuple[str, str]]:
    try:
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.operators.provider import OperatorProvider
    except ImportError as error:
        raise CourseError(
            "Operator mutants are made with cosmic-ray, but it is not installed. "
            "Install it: pip install 'seqcourse[dev]'"
        ) from error
    provider = OperatorProvider()
    for name in filter(_is_useful, provider):
        occurrence = 0
        while source := mutate_code(solution, provider[name](), occurrence):
            yield name, source
            occurrence += 1


# --- our own ----------------------------------------------------------------------------------------

# Functions and methods that are easily confused.
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


def _own_mutants(solution: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(solution)
    skipped = {id(node) for node in unchanged_nodes(tree)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for name, change in CHANGES.items():
            for new in change(node):
                yield name, replace_node(solution, node, new)


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
    """x[a:b] -> x[a + 1:b], x[a:b - 1], ... (cosmic-ray's NumberReplacer changes numbers)."""
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
