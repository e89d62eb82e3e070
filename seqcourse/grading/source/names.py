"""What the names in a student's cells stand for, told from the source alone.

The cells are read in their order like Python would run them: a later `def softmax` takes the place
of an earlier `from torch import softmax`. Where that cannot be told (branches, loops, a function's
local names) a name may stand for several things.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from seqcourse.grading.source.cells import python_of
from seqcourse.grading.source.folding import Budget, Folder, NotConstant

DEEPEST = 60  # how many evaluations inside each other
# How many in all for one exercise; an honest notebook needs about a thousand.
MOST = 100_000


@dataclass(frozen=True)
class Path:
    """Something of a library, by its full name; "?.softmax" is an attribute of who knows what."""

    name: str


@dataclass(frozen=True)
class Const:
    """A number, a string or a list of such."""

    value: Any = field(hash=False)


@dataclass(eq=False)
class Code:
    """A function, lambda or class of the student's; its body sees `scope`, its defaults `at`."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    scope: Scope
    at: Scope


@dataclass(frozen=True)
class Instance:
    """An object of a class of the student's."""

    of: Code


@dataclass(frozen=True)
class Members:
    """The dictionary of an object, vars(torch), or (of None) globals()."""

    of: Path | None
    get: bool = False  # its method get, not yet called


@dataclass(frozen=True)
class Getter:
    """operator.attrgetter("softmax"), not yet called."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Opaque:
    """Anything else."""


OPAQUE = Opaque()
Value = Path | Const | Code | Instance | Members | Getter | Opaque


@dataclass(eq=False)
class Binding:
    """One way how a name got its value.

    values: what it is; without, the value of `expr` in `scope`.
    expr: the expression behind it, to be looked into when somebody reaches the name.
    line: of its cell.
    """

    line: int
    values: list[Value] | None = None
    expr: ast.expr | None = None
    scope: Scope | None = None


@dataclass(eq=False)
class Scope:
    """The names of the notebook, of a function's body or of a class's."""

    parent: Scope | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)  # modules imported with *
    live: Scope | None = None  # the notebook's own names, for a snapshot of them
    owner: Code | None = None  # the class of a class's body

    def now(self) -> Scope:
        """The notebook's names as they are at this moment."""
        if self.parent is not None:
            return self
        return Scope(names=dict(self.names), stars=list(self.stars), live=self.live or self)

    def bind(self, name: str, binding: Binding, *, weak: bool = False) -> None:
        """Give a name a value; a weak one may not have happened, so the old ones stay."""
        self.names[name] = [*(self.names.get(name, []) if weak else []), binding]


class Names:
    """The names of a notebook after some cells, and what expressions come to."""

    def __init__(self, cells: Sequence[str]):
        from seqcourse.grading.source.binding import Binder

        self.top = Scope()
        self.stored: dict[str, list[Binding]] = {}  # attributes set on a library's objects, by name
        self.alive: list[ast.Module] = []
        self.computed: list[Binding] = []  # whose values were found since `forget`
        self.says_global = any("global" in cell for cell in cells)
        self.budget = Budget()
        self._inside: dict[int, Scope] = {}
        self._codes: dict[int, Code] = {}
        self._busy: set[int] = set()
        self._depth = self._steps = 0
        for tree in python_of(cells):
            self.alive.append(tree)
            Binder(self, self.top).run(tree.body)
        self.computed.clear()

    def forget(self) -> None:
        """Undo what was found about functions' local names since the cells were read."""
        for binding in self.computed:
            binding.values = None
        self.computed.clear()
        self._steps = 0

    def code(self, node: Any, scope: Scope) -> Code:
        """The Code of a def, a lambda or a class statement that stands in a scope."""
        if id(node) not in self._codes:
            sees = scope
            while sees.owner is not None and sees.parent is not None:  # methods do not see the class
                sees = sees.parent
            self._codes[id(node)] = Code(node, sees.live or sees, scope)
        return self._codes[id(node)]

    def inside(self, code: Code) -> Scope:
        """The scope of a function's or a class's body."""
        from seqcourse.grading.source.binding import Binder

        key = id(code.node)
        if key not in self._inside:
            is_class = isinstance(code.node, ast.ClassDef)
            scope = Scope(parent=code.at if is_class else code.scope, owner=code if is_class else None)
            self._inside[key] = scope
            Binder(self, scope, weak=not is_class).enter(code)
        return self._inside[key]

    def bindings(self, name: str, scope: Scope) -> list[Binding]:
        """How a name that is read in a scope got its value; nothing for a builtin."""
        where: Scope | None = scope
        while where is not None:
            if name in where.names:
                return where.names[name]
            if where.stars:
                module = [Path(f"{star}.{name}") for star in where.stars]
                if not hasattr(builtins, name):
                    return [Binding(0, list(module))]
            where = where.parent
        return []

    def look_up(self, name: str, scope: Scope) -> list[Value]:
        """What a name may stand for."""
        found = self.bindings(name, scope)
        if found:
            return [value for binding in found for value in self.of(binding)]
        if name in ("__builtins__", "__builtin__"):
            return [Path("builtins")]
        return [Path(f"builtins.{name}")] if hasattr(builtins, name) else [OPAQUE]

    def of(self, binding: Binding) -> list[Value]:
        """The values of a binding."""
        if binding.values is None:
            if id(binding) in self._busy:
                return [OPAQUE]
            self._busy.add(id(binding))
            self.computed.append(binding)
            try:
                binding.values = self.values(binding.expr, binding.scope)
            finally:
                self._busy.discard(id(binding))
        return binding.values

    def values(self, node: ast.expr | None, scope: Scope | None) -> list[Value]:
        """What an expression may come to in a scope; at most a few things.

        Raises:
            RecursionError: too much was looked at; a source can be made to take for ever.
        """
        self._count()
        handler = getattr(self, f"_{type(node).__name__}", None)
        if self._depth >= DEEPEST:
            return [OPAQUE]
        self._depth += 1
        try:
            found = handler(node, scope) if handler else self._folded(node, scope)
        finally:
            self._depth -= 1
        return found[:32] or [OPAQUE]

    def _count(self) -> None:
        self._steps += 1
        if self._steps > MOST:
            raise RecursionError("more to follow than any honest notebook has")

    def strings(self, node: ast.expr, scope: Scope) -> list[str]:
        """The texts that an expression may come to; nothing when it cannot be told."""
        found = [v.value for v in self.values(node, scope) if isinstance(v, Const)]
        return [text for text in found if isinstance(text, str)]

    def path(self, node: ast.expr, scope: Scope) -> str:
        """The library name that an expression stands for, or ""."""
        found = [value.name for value in self.values(node, scope) if isinstance(value, Path)]
        return found[0] if found else ""

    def constants(self, node: ast.expr, scope: Scope) -> Any:
        """The value of a pure expression. Raises NotConstant."""

        def constant(name: ast.Name) -> Any:
            found = self.look_up(name.id, scope)
            if len(found) == 1 and isinstance(found[0], Const):
                return found[0].value
            raise NotConstant

        return Folder(constant, lambda callee: self.path(callee, scope), self.budget).fold(node)

    def _folded(self, node: Any, scope: Scope) -> list[Value]:
        try:
            return [Const(self.constants(node, scope))]
        except NotConstant:
            return [OPAQUE]

    def _Name(self, node: ast.Name, scope: Scope) -> list[Value]:
        return self.look_up(node.id, scope)

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> list[Value]:
        return [self.code(node, scope)]

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> list[Value]:
        return self.values(node.body, scope) + self.values(node.orelse, scope)

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> list[Value]:
        return [value for part in node.values for value in self.values(part, scope)]

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> list[Value]:
        return self.values(node.value, scope)

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> list[Value]:
        bases = self.values(node.value, scope)
        return [value for base in bases for value in self.attribute(base, node.attr)]

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> list[Value]:
        found = []
        for base in self.values(node.value, scope):
            if base == Path("sys.modules"):
                found += [Path(text) for text in self.strings(node.slice, scope)]
            elif isinstance(base, Members) or base == Path("builtins"):
                for text in self.strings(node.slice, scope):
                    found += self.member(base, text)
        return found or self._folded(node, scope)

    def member(self, base: Value, name: str) -> list[Value]:
        """What a dictionary of an object holds under a name."""
        if isinstance(base, Members):
            return self.look_up(name, self.top) if base.of is None else self.attribute(base.of, name)
        return self.attribute(base, name)

    def attribute(self, base: Value, name: str) -> list[Value]:
        """What an attribute of something may be."""
        self._count()
        if name in ("user_ns", "user_global_ns"):  # IPython's names of the notebook's names
            return [Members(None)]
        if isinstance(base, Path):
            if name == "__dict__":
                return [Members(None if base.name == "__main__" else base)]
            if base.name == "__main__":
                return self.look_up(name, self.top)
            if name in ("__getattribute__", "__getattr__"):
                return [Members(base, get=True)]
            set_here = self.stored_as(name)
            return [Path(f"{base.name}.{name}"), *set_here]
        if isinstance(base, Members) and name in ("get", "__getitem__", "pop", "setdefault"):
            return [Members(base.of, get=True)]
        if isinstance(base, (Code, Instance)):
            own = self.own(base if isinstance(base, Code) else base.of, name)
            if own:
                return own
        return [Path(f"?.{name}"), *self.stored_as(name)]

    def stored_as(self, name: str) -> list[Value]:
        """What the notebook stored under this attribute name in a library's objects."""
        return [value for binding in self.stored.get(name, []) for value in self.of(binding)]

    def own(self, code: Code, name: str, depth: int = 0) -> list[Value]:
        """An attribute that a student's class (or a base of it) has from its own source."""
        if not isinstance(code.node, ast.ClassDef) or depth > 8:
            return [value for b in self.kept(code).get(name, []) for value in self.of(b)]
        body = self.inside(code)
        for part in code.node.body:  # a method may set it: self.x = ...
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.inside(self.code(part, body))
        found = [*body.names.get(name, []), *self.kept(code).get(name, [])]
        if found:
            return [value for binding in found for value in self.of(binding)]
        for base in code.node.bases:
            for value in self.values(base, code.at):
                if isinstance(value, Code) and (inherited := self.own(value, name, depth + 1)):
                    return inherited
        return []

    def kept(self, code: Code) -> dict[str, list[Binding]]:
        """The attributes that are set on a student's object: self.x = ..., answer.x = ..."""
        return code.__dict__.setdefault("attributes", {})

    def returned(self, code: Code) -> list[Value]:
        """What a student's function may return, whatever it is given."""
        if id(code) in self._busy:
            return []
        self._busy.add(id(code))
        try:
            body = [code.node.body] if isinstance(code.node, ast.Lambda) else code.node.body
            if not isinstance(code.node, ast.Lambda):
                body = [n.value for n in walk_here(body) if isinstance(n, ast.Return) and n.value]
            return [value for end in body[:8] for value in self.values(end, self.inside(code))][:8]
        finally:
            self._busy.discard(id(code))

    def _Call(self, node: ast.Call, scope: Scope) -> list[Value]:
        from seqcourse.grading.source.calls import called

        found: list[Value] = []
        for function in self.values(node.func, scope):
            found += called(self, function, node, scope)
        if found and any(value != OPAQUE for value in found):
            return found
        return self._folded(node, scope)


def walk_here(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes below, but not the bodies of functions, lambdas and classes."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
