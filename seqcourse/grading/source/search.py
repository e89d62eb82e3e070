"""Following what an answer reaches, from name to name."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seqcourse.grading.source.binding import RUNS, RUNS_METHOD, code_in
from seqcourse.grading.source.calls import HANDLERS
from seqcourse.grading.source.names import (
    Binding,
    Code,
    Const,
    Getter,
    Instance,
    Members,
    Names,
    Path,
    Scope,
    Value,
)

UNREADABLE = "cannot be read"
MOST_CALLS = 8  # of one helper whose arguments are followed into it

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


@dataclass(frozen=True)
class _Place:
    """Where code stands: in which helper, and in an expression of a cell (not in a function)."""

    helper: str = ""
    data: bool = False
    line: int = 0  # of a call of exec around it


class Search:
    """Follows what an answer reaches, over all cells.

    names: the notebook's names.
    matches: whether the name of something in a library, or "?.softmax", is a forbidden one.
    """

    def __init__(self, names: Names, matches: Callable[[str], bool]):
        self.names, self.matches, self.answer = names, matches, ""
        self.found: dict[str, Use] = {}
        self.waiting: deque[tuple[list[ast.AST], Scope, _Place]] = deque()
        self.seen: set[tuple[int, int]] = set()
        self.calls: dict[int, int] = {}
        self.handed: list[tuple[Scope, str, list[Binding]]] = []  # what `hand_over` bound, to undo it
        self.unclear: list[tuple[ast.Call | ast.Subscript, Scope, _Place]] = []

    def of(self, answer: str) -> list[Use]:
        """All uses."""
        try:
            return self._of(answer)
        finally:
            for scope, name, before in reversed(self.handed):
                scope.names[name] = before
            self.names.forget()

    def _of(self, answer: str) -> list[Use]:
        self.answer = answer
        self.reach(answer, self.names.top, _Place(), answer)
        while self.waiting:
            nodes, scope, place = self.waiting.popleft()
            for node in nodes:
                self.visit(node, scope, place)
        for node, scope, place in self.unclear:
            if self.is_hidden(node, scope):
                self.add(Use(_text(node), UNREADABLE, place.line or node.lineno))
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
            if self.matches(path):
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
            self.unclear.append((node, scope, place))
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
            if isinstance(function, Code):
                self.hand_over(function, node, scope)
        self.unclear.append((node, scope, place))
        # In a cell, not in a function: the result is data, made when the cell ran.
        return place.data and any(
            isinstance(f, Path) and f.name.split(".")[-1][:1].islower() for f in functions
        )

    def hand_over(self, code: Code, node: ast.Call, scope: Scope) -> None:
        """Bind a helper's parameters to what a call gives them, where that is a function or a name."""
        if isinstance(code.node, ast.ClassDef) or self.calls.get(id(code.node), 0) >= MOST_CALLS:
            return
        parameters = [*code.node.args.posonlyargs, *code.node.args.args]
        if isinstance(node.func, ast.Attribute) and code.at.owner is not None:
            bases = self.names.values(node.func.value, scope)
            parameters = parameters[any(isinstance(base, Instance) for base in bases) :]
        given = {p.arg: value for p, value in zip(parameters, node.args, strict=False)}
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        inside, told = self.names.inside(code), False
        for name, value in given.items():
            values = [v for v in self.names.values(value, scope) if isinstance(v, (Const, Path, Code))]
            if values and name in inside.names:
                self.handed.append((inside, name, inside.names[name]))
                inside.bind(name, Binding(node.lineno, values), weak=True)
                told = True
        if told:
            self.calls[id(code.node)] = self.calls.get(id(code.node), 0) + 1
            self.seen.discard((id(code.node), id(code.at)))

    def is_hidden(self, node: ast.Call | ast.Subscript, scope: Scope) -> bool:
        """Whether a call or a subscript reaches something that the source does not tell."""
        if isinstance(node, ast.Call):
            return any(self.hides(f, node, scope) for f in self.names.values(node.func, scope))
        bases = self.names.values(node.value, scope)
        untold = not self.names.strings(node.slice, scope)
        return untold and any(isinstance(base, Members) for base in bases)

    def hides(self, function: Value, node: ast.Call, scope: Scope) -> bool:
        """Whether a call of this function reaches something that the source does not tell."""
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
