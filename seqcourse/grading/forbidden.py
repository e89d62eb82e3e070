"""Which functions an answer uses, read from the source: an exercise can forbid its own answer.

A forbidden entry is

- a last name, "softmax": any function, method or class of that name, wherever it comes from, in its
  usual spellings (torch.softmax, x.softmax(...), F.softmax, torch.nn.Softmax, torch._softmax);
- a dotted name, "torch.nn.MultiheadAttention": the same, but of this library only; or a whole module,
  "torch.nn.functional": everything below it;
- a package, "seqcourse": everything in it except its constants (data.PAD).

Only what the answer reaches counts: its own body and the helpers, classes and aliases that it names,
over all cells. What a student wrote is no offence, whatever its name.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from seqcourse.grading.source.binding import RUNS, RUNS_METHOD, code_in
from seqcourse.grading.source.calls import HANDLERS
from seqcourse.grading.source.names import (
    Code,
    Getter,
    Instance,
    Members,
    Names,
    Path,
    Scope,
    Value,
)

UNREADABLE = "cannot be read"
# The reference answers stand in the checks: never part of an answer, whatever the exercise.
ALWAYS = ("seqcourse.check", "seqcourse.grading")

# Calls that could reach anything, when what they are given is not written there.
_GETS = {name for name, handler in HANDLERS.items() if handler.__name__ == "_getattr"}
_BY_NAME = {"operator.attrgetter", "operator.methodcaller", "importlib.import_module", "pydoc.locate"}
_BY_NAME |= {"builtins.__import__", "importlib.__import__", "pkgutil.resolve_name"}
_HIDES = {"pickle.loads", "marshal.loads", "types.FunctionType", "types.CodeType", "sys._getframe"}
_HIDES |= {"inspect.getmembers", "gc.get_objects", "gc.get_referrers", "torch.load"}


@dataclass(frozen=True)
class Use:
    """One use of a forbidden name.

    name: what is used: "torch.softmax"; for a construct that hides what it uses, its text.
    how: "" where the name itself is written, else in a few words ("under the name s"), or UNREADABLE.
    line: of the cell it stands in.
    """

    name: str
    how: str
    line: int

    @property
    def readable(self) -> bool:
        """Whether it is known what is used."""
        return self.how != UNREADABLE


def uses(source_cells: Sequence[str], answer: str, forbidden: Iterable[str]) -> list[Use]:
    """The forbidden names that an answer uses, each once, nearest to the answer first.

    source_cells: the code cells in the order they ran, up to where the answer is called: a later
        definition takes the place of an earlier one.
    answer: the name of the function or class.
    forbidden: entries as in this module's first lines; `ALWAYS` is added.

    Constructs that reach into a library or run code by a text that is not written there come as
    uses that are not `readable`. getattr(self, name) on a student's own object is none.
    """
    try:
        return _Search(_read(tuple(source_cells)), (*forbidden, *ALWAYS)).of(answer)
    except RecursionError:
        return [Use(answer, UNREADABLE, 1)]


@lru_cache(maxsize=4)
def _read(cells: tuple[str, ...]) -> Names:
    return Names(cells)


def sentence(use: Use, answer: str) -> str:
    """What the student is told."""
    if not use.readable:
        return (
            f"{answer} holds {use.name} (line {use.line} of the cell): what it uses is known only when "
            f"it runs, and this exercise forbids some functions. Write the name itself."
        )
    where = ", ".join(filter(None, [use.how, f"line {use.line} of the cell"]))
    return f"{answer} uses {use.name} ({where}), which is the thing to build here."


def covers(entry: str, path: str) -> bool:
    """Whether a forbidden entry means the library name `path` ("?.softmax": of an unknown object)."""
    parts = path.split(".")
    *package, last = entry.split(".")
    if parts[0] == "?":
        return any(part in (last, f"{last}_") for part in parts[1:])
    if path == entry or path.startswith(f"{entry}."):
        return not parts[-1].isupper() or parts[-1] == last
    if package and parts[0] != package[0]:
        return False
    return any(_plain(part) == _plain(last) for part in parts[1:])


def _plain(word: str) -> str:
    return word.replace("_", "").lower()


@dataclass(frozen=True)
class _Place:
    """Where code stands: in which helper, and in an expression of a cell (not in a function)."""

    helper: str = ""
    data: bool = False
    line: int = 0  # of a call of exec around it


class _Search:
    """Follows what an answer reaches."""

    def __init__(self, names: Names, forbidden: tuple[str, ...]):
        self.names, self.forbidden, self.answer = names, forbidden, ""
        self.found: dict[str, Use] = {}
        self.waiting: deque[tuple[list[ast.AST], Scope, _Place]] = deque()
        self.seen: set[tuple[int, int]] = set()

    def of(self, answer: str) -> list[Use]:
        """All uses."""
        self.answer = answer
        self.reach(answer, self.names.top, _Place(), answer)
        while self.waiting:
            nodes, scope, place = self.waiting.popleft()
            for node in nodes:
                self.visit(node, scope, place)
        return list(self.found.values())

    def reach(self, name: str, scope: Scope, place: _Place, answer: str = "") -> None:
        """Look later into what stands behind a name."""
        for binding in self.names.bindings(name, scope):
            for value in self.names.of(binding):
                if answer and isinstance(value, Path):
                    self.check(value, ast.Name(name, lineno=max(1, binding.line)), place)
                    if value.name.startswith("seqcourse."):
                        self.add(Use(value.name, f"under the name {name}", max(1, binding.line)))
                self.enter(value, name)
            if binding.expr is not None and binding.scope is not None and binding.scope.parent is None:
                label = "" if answer else name
                self.later([binding.expr], binding.scope, _Place(label, data=not answer))

    def enter(self, value: Value, name: str) -> None:
        """Look later into a student's function or class."""
        code = value.of if isinstance(value, Instance) else value
        if isinstance(code, Code):
            name = getattr(code.node, "name", name)
            name = "" if name == self.answer else name
            self.later([code.node], code.at, _Place(name))
            for kept in self.names.kept(code).values():
                for binding in kept:
                    self.later([binding.expr], binding.scope, _Place(name))

    def later(self, nodes: list[ast.AST | None], scope: Scope | None, place: _Place) -> None:
        for node in nodes:
            if node is not None and scope is not None and (id(node), id(scope)) not in self.seen:
                self.seen.add((id(node), id(scope)))
                self.waiting.append(([node], scope, place))

    def add(self, use: Use) -> None:
        self.found.setdefault(use.name, use)

    def check(self, value: Value, node: ast.AST, place: _Place) -> bool:
        """Write down a value that is forbidden."""
        paths = [value.name] if isinstance(value, Path) else []
        if isinstance(value, Getter):
            paths = [f"?.{text}" for text in value.names]
        for path in paths:
            if any(covers(entry, path) for entry in self.forbidden):
                name = path.removeprefix("?.")
                line = place.line or node.lineno
                self.add(Use(name, _how(name, node, place.helper), line))
                return True
        return False

    def visit(self, node: ast.AST, scope: Scope, place: _Place) -> None:
        """Look at one node and everything below it."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            self.function(node, scope, place)
            return
        if isinstance(node, ast.AnnAssign):
            children: list[ast.AST | None] = [node.target, node.value]
        else:
            children = list(ast.iter_child_nodes(node))
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and _is_load(node):
            if self.expression(node, scope, place):
                return
        elif isinstance(node, ast.Call) and self.call(node, scope, place):
            children = [*node.args, *(keyword.value for keyword in node.keywords)]
        for child in children:
            if child is not None:
                self.visit(child, scope, place)

    def function(self, node: ast.AST, scope: Scope, place: _Place) -> None:
        """A def, a lambda or a class: what runs where it is defined, then its body in its own scope."""
        inner = _Place(place.helper, line=place.line)
        for outer in _outside(node):
            self.visit(outer, scope, inner)
        code = self.names.code(node, scope)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for statement in body:
            self.visit(statement, self.names.inside(code), inner)

    def expression(self, node: ast.expr, scope: Scope, place: _Place) -> bool:
        """A name, attribute or subscript; True when it is an offence that needs no second look."""
        values = self.names.values(node, scope)
        if isinstance(node, ast.Name):
            self.reach(node.id, scope, place)
        offence = False
        for value in values:
            offence |= self.check(value, node, place)
            self.enter(value, getattr(node, "id", ""))
        if isinstance(node, ast.Attribute):
            for binding in self.names.stored.get(node.attr, []):
                self.later([binding.expr], binding.scope, _Place(node.attr))
        if isinstance(node, ast.Subscript):
            for base in self.names.values(node.value, scope):
                if isinstance(base, Members) and not self.names.strings(node.slice, scope):
                    self.unreadable(node, place)
        return offence

    def call(self, node: ast.Call, scope: Scope, place: _Place) -> bool:
        """A call; True when its function needs no look of its own."""
        for tree in code_in(self.names, node, scope):
            line = _Place(place.helper, line=place.line or node.lineno)
            for statement in tree.body:
                self.visit(statement, scope, line)
        for value in self.names.values(node, scope):
            self.check(value, node, place)
            self.enter(value, "")
        functions = self.names.values(node.func, scope)
        for function in functions:
            if self.hides(function, node, scope):
                self.unreadable(node, place)
        # In a cell, not in a function: the result is data, made when the cell ran.
        return place.data and any(
            isinstance(f, Path) and f.name.split(".")[-1][:1].islower() for f in functions
        )

    def hides(self, function: Value, node: ast.Call, scope: Scope) -> bool:
        """Whether a call reaches something that the source does not tell."""
        if isinstance(function, Members):
            return function.get and bool(node.args) and not self.names.strings(node.args[0], scope)
        if not isinstance(function, Path):
            return False
        told = any(self.names.strings(argument, scope) for argument in node.args[:1])
        last = function.name.split(".")[-1]
        if function.name in RUNS or (function.name == f"?.{last}" and last in RUNS_METHOD):
            return not told
        if function.name in _BY_NAME:
            return not told
        if function.name in _HIDES:
            return True
        if function.name not in _GETS or len(node.args) < 2 or self.names.strings(node.args[1], scope):
            return False
        own = (Code, Instance)
        return not all(isinstance(base, own) for base in self.names.values(node.args[0], scope))

    def unreadable(self, node: ast.AST, place: _Place) -> None:
        self.add(Use(_text(node), UNREADABLE, place.line or node.lineno))


def _is_load(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a definition that run where it stands; annotations are left out."""
    yield from getattr(node, "decorator_list", [])
    if isinstance(node, ast.ClassDef):
        yield from [*node.bases, *(keyword.value for keyword in node.keywords)]
    else:
        yield from [*node.args.defaults, *filter(None, node.args.kw_defaults)]


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _how(name: str, node: ast.AST, helper: str) -> str:
    inside = f"in {helper}" if helper else ""
    text = _text(node)
    if isinstance(node, ast.Name):
        way = "" if text == name else f"under the name {text}"
    else:
        way = "" if text == name else f"as {text}"
    return ", ".join(filter(None, [inside, way]))
