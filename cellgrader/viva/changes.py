"""Change one thing in an answer: an axis, a scale, an order, a sign, a mask, a bound, a line.

The source is a student's: call `changes` and `marked` through `cellgrader.processes.limited`.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cellgrader.notebook.nodes import replace_node, unchanged_nodes
from cellgrader.viva.kinds import CHANGES

# Changes of one answer that are tried, and expressions whose shapes are looked at.
MOST, MOST_MARKED = 36, 40
LONGEST = 60  # characters of an expression that is asked about
DROPPED = "dropped line"
_PASSED = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass)
_SHAPED = (ast.BinOp, ast.Call, ast.Attribute, ast.Subscript)


@dataclass(frozen=True)
class Change:
    """One change of an answer.

    kind: what was changed, a word of `cellgrader.viva.kinds`.
    start, end: the first and last line of the statement that was changed; lines count from 1.
    line: the line that differs.     reads: how it reads now; "" if it was deleted.
    source: the whole cell after the change.
    """

    kind: str
    start: int
    end: int
    line: int
    reads: str
    source: str


@dataclass(frozen=True)
class Marked:
    """A cell in which expressions report their shapes: its source, and (line, text) of each one."""

    source: str
    places: tuple[tuple[int, str], ...]


def changes(source: str, seed: int) -> list[Change]:
    """Distinct changes of a cell's functions and classes: at most MOST, of every kind by turns.

    Raises:
        SyntaxError, ValueError: the cell is no Python code.
    """
    tree = ast.parse(source)
    kept = {id(node) for node in ast.walk(tree) if isinstance(node, ast.expr)}
    found: dict[str, Change] = {}
    for statement in _statements(tree):
        for kind, node, new in _of_statement(statement):
            texts = ["pass"] if new is None else _texts(source, kept, node, new)
            change = _made(source, statement, kind, node, texts)
            if change:
                found.setdefault(ast.dump(ast.parse(change.source)), change)
    found.pop(ast.dump(tree), None)
    return _some(list(found.values()), seed)


def marked(source: str, name: str) -> Marked:
    """The cell with every expression worth asking about wrapped in a call of `name`."""
    tree = ast.parse(source)
    places: list[tuple[int, str]] = []
    chosen: dict[int, int] = {}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for statement in _statements(tree):
        for node in _expressions(statement):
            text = ast.get_source_segment(source, node) or ""
            fits = (
                isinstance(node, _SHAPED)
                and id(node) not in called
                and 3 < len(text) <= LONGEST
                and "\n" not in text
            )
            if fits and len(places) < MOST_MARKED and (node.lineno, text) not in places:
                chosen[id(node)] = len(places)
                places.append((node.lineno, text))
    wrapped = ast.fix_missing_locations(_Wrapper(name, chosen).visit(tree))
    return Marked(ast.unparse(wrapped), tuple(places))


class _Wrapper(ast.NodeTransformer):
    def __init__(self, name: str, chosen: dict[int, int]) -> None:
        self.name, self.chosen = name, chosen

    def visit(self, node: ast.AST) -> ast.AST:
        key = self.chosen.get(id(node))
        node = self.generic_visit(node)
        if key is None:
            return node
        return ast.Call(ast.Name(self.name, ast.Load()), [ast.Constant(key), node], [])


def _some(found: Sequence[Change], seed: int) -> list[Change]:
    queues: dict[str, list[Change]] = {}
    for change in random.Random(seed).sample(found, len(found)):
        queues.setdefault(change.kind, []).append(change)
    chosen: list[Change] = []
    while len(chosen) < MOST and any(queues.values()):
        chosen += [queue.pop() for queue in queues.values() if queue]
    return sorted(chosen[:MOST], key=lambda change: (change.line, change.kind, change.reads))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements inside the functions and classes of a cell."""
    for outer in tree.body:
        if isinstance(outer, (ast.FunctionDef, ast.ClassDef)):
            inner = (node for node in ast.walk(outer) if isinstance(node, ast.stmt))
            yield from (node for node in inner if node is not outer and not isinstance(node, _PASSED))


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of the statements inside it."""
    skipped = {id(node) for node in unchanged_nodes(ast.Module([statement], []))}
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.JoinedStr)) or id(child) in skipped:
                continue
            if isinstance(child, ast.expr) and isinstance(getattr(child, "ctx", ast.Load()), ast.Load):
                yield child
            waiting.append(child)


def _of_statement(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, ast.expr | None]]:
    """(kind, node, what takes its place) for every change; None for a line that is deleted."""
    if _may_go(statement):
        yield DROPPED, statement, None
    for node in _expressions(statement):
        for change in CHANGES:
            yield from change(node)


def _may_go(statement: ast.stmt) -> bool:
    """Whether a cell can run without this statement: it changes a value that was there before."""
    if statement.lineno != statement.end_lineno:
        return False
    if isinstance(statement, ast.Assign):
        read = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
        return all(
            isinstance(target, ast.Subscript) or isinstance(target, ast.Name) and target.id in read
            for target in statement.targets
        )
    called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return isinstance(statement, ast.AugAssign) or called and "super" not in ast.unparse(statement)


def _texts(source: str, kept: set[int], node: ast.AST, new: ast.expr) -> list[str]:
    """What takes the node's place as text, from the best to read to the safest.

    kept: the expressions of the cell, whose text stays as the student wrote it.
    """
    holes: dict[str, str] = {}

    def with_holes(part: ast.AST) -> ast.AST:
        if id(part) in kept:
            name = f"HOLE_{len(holes)}_"
            holes[name] = ast.get_source_segment(source, part) or ast.unparse(part)
            return ast.Name(name, ast.Load())
        part = copy.copy(part)
        for field, value in ast.iter_fields(part):
            if isinstance(value, list):
                setattr(part, field, [with_holes(one) for one in value])
            elif isinstance(value, (ast.expr, ast.keyword)):
                setattr(part, field, with_holes(value))
        return part

    text = ast.unparse(with_holes(new))
    for name, segment in holes.items():
        text = text.replace(name, segment)
    bare = [text[1:-1]] if isinstance(new, ast.Tuple) else []
    if isinstance(new, ast.Constant) and isinstance(new.value, str):
        quote = (ast.get_source_segment(source, node) or "'")[0]
        bare = [f"{quote}{new.value}{quote}"]
    return [*bare, text, ast.unparse(new), f"({ast.unparse(new)})"]


def _made(
    source: str, statement: ast.stmt, kind: str, node: ast.AST, texts: Sequence[str]
) -> Change | None:
    """The change; None if its source cannot be compiled, or if it is on several lines."""
    sources = [replace_node(source, node, text) for text in texts]
    try:
        meant = ast.dump(ast.parse(sources[-1]))
        compile(sources[-1], "changed", "exec")
    except (SyntaxError, ValueError):
        return None
    made = next(text for text in sources if _reads(text) == meant)
    old, lines = source.splitlines(), made.splitlines()
    differ = [number for number, (a, b) in enumerate(zip(old, lines, strict=False)) if a != b]
    if len(differ) != 1 or len(old) != len(lines):
        return None
    line = differ[0]
    start, end = statement.lineno, statement.end_lineno or statement.lineno
    if getattr(statement, "body", None):
        end = max(start, statement.body[0].lineno - 1)
    reads = "" if isinstance(node, ast.stmt) else lines[line].split("  #")[0].strip()
    return Change(kind, start, end, line + 1, reads, made)


def _reads(source: str) -> str:
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return ""


def squeezed(words: str) -> str:
    """Words without spaces, for comparing."""
    return "".join(words.split())
