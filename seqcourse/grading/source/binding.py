"""Which names the statements of a cell, a function or a class bind, and to what."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from seqcourse.grading.source.cells import RUNS_PYTHON, parsed
from seqcourse.grading.source.folding import NotConstant
from seqcourse.grading.source.names import (
    OPAQUE,
    Binding,
    Code,
    Const,
    Instance,
    Members,
    Names,
    Path,
    Scope,
    Value,
    walk_here,
)

# Calls that run a string as code, by the name they resolve to or by their last name.
RUNS = {"builtins.exec", "builtins.eval"}
RUNS_METHOD = {"run_cell", "ex", "ev", "run_line_magic", "run_cell_magic", "magic"}


def code_in(names: Names, call: ast.Call, scope: Scope) -> list[ast.Module]:
    """What a call of exec, eval, run_cell, %time ... runs, where its text can be told."""
    function, args = call.func, call.args
    resolved = {value.name for value in names.values(function, scope) if isinstance(value, Path)}
    last = function.attr if isinstance(function, ast.Attribute) else ""
    if last in ("run_line_magic", "run_cell_magic"):
        magic = names.strings(args[0], scope) if args else []
        args = args[-1:] if set(magic) <= RUNS_PYTHON else []
    elif not resolved & RUNS and last not in RUNS_METHOD:
        return []
    texts = names.strings(args[0], scope) if args else []
    trees = [tree for tree in map(parsed, map(str.strip, texts)) if tree is not None]
    names.alive += trees  # nodes are told apart by their id
    return trees


class Binder:
    """Walks statements in order and binds what they bind in a scope.

    weak: whether every binding may or may not have happened (the body of a function is read this
    way, without following its order).
    """

    def __init__(self, names: Names, scope: Scope, *, weak: bool = False):
        self.names, self.scope, self.weak = names, scope, weak
        self.outside: set[str] = set()  # declared global or nonlocal

    def enter(self, code: Code) -> None:
        """Bind the parameters and then all names of the body of a function or class."""
        node = code.node
        if isinstance(node, ast.ClassDef):
            self.run(node.body)
            return
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip(reversed(plain), reversed(arguments.defaults), strict=False))
        defaults |= dict(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
        owner = code.at.owner
        everything = [*plain, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for place, argument in enumerate(filter(None, everything)):
            values: list[Value] = [OPAQUE]
            if place == 0 and owner is not None and argument in plain:
                values = [Instance(owner)]
            self.put(argument.arg, Binding(node.lineno, values))
            if defaults.get(argument) is not None:
                default = defaults[argument]
                self.put(argument.arg, Binding(node.lineno, expr=default, scope=code.at))
        if isinstance(node, ast.Lambda):
            self.expressions([node.body])
        else:
            self.run(node.body)

    def put(self, name: str, binding: Binding, weak: bool | None = None) -> None:
        """Bind one name here, or where `global` says."""
        scope = self.names.top if name in self.outside else self.scope
        weak = self.weak if weak is None else weak
        scope.bind(name, binding, weak=weak or scope is not self.scope)

    def run(self, body: Sequence[ast.stmt], weak: bool | None = None) -> None:
        """Bind what these statements bind, one after the other."""
        kept, self.weak = self.weak, self.weak if weak is None else self.weak or weak
        for statement in body:
            self.statement(statement)
        self.weak = kept

    def statement(self, node: ast.stmt) -> None:
        """Bind what one statement binds."""
        line = node.lineno
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            at = self.scope.now()
            self.put(node.name, Binding(line, [self.names.code(node, at)]))
            self.far_away(node)
            return
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            self.outside |= set(node.names) if isinstance(node, ast.Global) else set()
        elif isinstance(node, ast.Import):
            for alias in node.names:
                full = alias.name if alias.asname else alias.name.split(".")[0]
                self.put(alias.asname or full, Binding(line, [Path(full)]))
        elif isinstance(node, ast.ImportFrom):
            self.import_from(node)
        elif isinstance(node, ast.Assign):
            self.expressions([node.value])
            for target in node.targets:
                self.assign(target, node.value, line)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.expressions([node.value])
            self.assign(node.target, node.value, line)
        elif isinstance(node, ast.AugAssign):
            self.assign(node.target, node.value, line, weak=True)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name) and not self.weak:
                    self.scope.names.pop(target.id, None)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.expressions([node.iter])
            self.loop(node.target, node.iter, line)
            self.run([*node.body, *node.orelse], weak=True)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.expressions([item.context_expr])
                if item.optional_vars is not None:
                    self.unknown(item.optional_vars, item.context_expr, line)
            self.run(node.body)
        else:
            self.compound(node)

    def compound(self, node: ast.stmt) -> None:
        """Branches, loops, tries, matches, and statements that are one expression."""
        if isinstance(node, ast.Expr):
            self.effect(node.value)
        fields = [value for _, value in ast.iter_fields(node)]
        self.expressions([value for value in fields if isinstance(value, ast.expr)])
        for part in [item for value in fields if isinstance(value, list) for item in value]:
            if isinstance(part, ast.stmt):
                self.run([part], weak=True)
            elif isinstance(part, (ast.ExceptHandler, ast.match_case)):
                for inner in walk_here([getattr(part, "pattern", None) or ast.Pass()]):
                    if name := getattr(inner, "name", None) or getattr(inner, "rest", None):
                        self.put(name, Binding(node.lineno, [OPAQUE], node.subject, self.scope.now()))
                if isinstance(part, ast.ExceptHandler) and part.name:
                    self.put(part.name, Binding(node.lineno, [OPAQUE]))
                self.run(part.body, weak=True)

    def import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name != "*":
                full = f"{module}.{alias.name}"
                self.put(alias.asname or alias.name, Binding(node.lineno, [Path(full)]))
                continue
            self.scope.stars.append(module)
            if module.split(".")[0] in ("torch", "seqcourse"):  # may hide names bound before
                for name in list(self.scope.names):
                    self.put(name, Binding(node.lineno, [Path(f"{module}.{name}")]), weak=True)

    def assign(self, target: ast.expr, value: ast.expr, line: int, weak: bool | None = None) -> None:
        """Bind a target of an assignment to what stands right of it."""
        if isinstance(target, ast.Name):
            scope = self.scope.now()
            binding = Binding(line, expr=value, scope=scope)
            if scope is not self.scope:  # in the notebook: the names as they are now
                self.names.of(binding)
            self.put(target.id, binding, weak)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            starred = any(isinstance(part, ast.Starred) for part in [*target.elts, *parts])
            if len(parts) == len(target.elts) and not starred:
                for part, item in zip(target.elts, parts, strict=True):
                    self.assign(part, item, line, weak)
            else:
                self.loop(target, value, line)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(target.value, target.attr, value, line)
        elif isinstance(target, ast.Subscript):
            for base in self.names.values(target.value, self.scope):
                if base == Members(None):
                    for name in self.names.strings(target.slice, self.scope):
                        self.set_global(name, value, line)
            self.touched(target.value, value, line)
        else:
            self.unknown(target, value, line)

    def set_global(self, name: str, value: ast.expr, line: int) -> None:
        self.names.top.bind(name, Binding(line, expr=value, scope=self.scope.now()), weak=True)

    def set_attribute(self, owner: ast.expr, name: str, value: ast.expr, line: int) -> None:
        """owner.name = value: on a student's own object, or in a library for everybody."""
        binding = Binding(line, expr=value, scope=self.scope.now())
        for base in self.names.values(owner, self.scope):
            if base == Path("__main__"):
                self.set_global(name, value, line)
            elif isinstance(base, (Code, Instance)):
                code = base if isinstance(base, Code) else base.of
                self.names.kept(code).setdefault(name, []).append(binding)
            elif isinstance(base, Path) and not base.name.startswith("?"):
                self.names.stored.setdefault(name, []).append(binding)
        self.touched(owner, value, line)

    def touched(self, owner: ast.expr, value: ast.expr, line: int) -> None:
        """What is put into a list, a dict or an object is reached with its name."""
        while isinstance(owner, (ast.Attribute, ast.Subscript)):
            owner = owner.value
        if isinstance(owner, ast.Name) and self.scope.names.get(owner.id):
            first = self.scope.names[owner.id][0]
            if isinstance(first.values and first.values[0], Path):
                return  # a library: `stored` knows
            self.put(owner.id, Binding(line, [], value, self.scope.now()), weak=True)

    def unknown(self, target: ast.expr, value: ast.expr, line: int) -> None:
        """Bind every name in a target to something that cannot be told."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.put(node.id, Binding(line, [OPAQUE], value, self.scope.now()))

    def loop(self, target: ast.expr, value: ast.expr, line: int) -> None:
        """Bind a target to the entries of something, where those are constants."""
        try:
            items = self.names.constants(value, self.scope)
            values: list[Value] = [Const(item) for item in list(items)[:32]]
        except (NotConstant, TypeError):
            values = []
        if isinstance(target, ast.Name) and values:
            self.put(target.id, Binding(line, values))
        elif isinstance(target, ast.Name) and isinstance(value, (ast.Tuple, ast.List)):
            for item in value.elts:
                self.put(target.id, Binding(line, expr=item, scope=self.scope.now()), weak=True)
        else:
            self.unknown(target, value, line)

    def expressions(self, nodes: Sequence[ast.expr]) -> None:
        """Bind what walruses and comprehensions inside expressions bind."""
        for node in walk_here(nodes):
            if isinstance(node, ast.NamedExpr):
                self.assign(node.target, node.value, node.lineno)
            elif isinstance(node, ast.comprehension) and self.scope.parent is not None:
                outer = [n for n in ast.walk(node.target) if isinstance(n, ast.Name)]
                known = {n.id: self.names.bindings(n.id, self.scope) for n in outer}
                self.loop(node.target, node.iter, node.iter.lineno)
                for name, before in known.items():
                    self.scope.names[name] = [*self.scope.names[name], *before]
            elif isinstance(node, ast.Call) and self.scope.parent is not None:
                self.effect(node)

    def effect(self, node: ast.expr) -> None:
        """A call that stands alone: exec, setattr, globals().update, list.append."""
        if not isinstance(node, ast.Call):
            return
        for tree in code_in(self.names, node, self.scope):
            self.run(tree.body, weak=self.scope.parent is not None)
        path = self.names.path(node.func, self.scope)
        if path == "builtins.setattr" and len(node.args) == 3:
            for name in self.names.strings(node.args[1], self.scope):
                self.set_attribute(node.args[0], name, node.args[2], node.lineno)
        elif isinstance(node.func, ast.Attribute):
            for base in self.names.values(node.func.value, self.scope):
                if base == Members(None) and node.func.attr in ("__setitem__", "setdefault"):
                    for name in self.names.strings(node.args[0], self.scope) if node.args[1:] else []:
                        self.set_global(name, node.args[1], node.lineno)
                elif base == Members(None) and node.func.attr == "update":
                    self.update(node)
            if node.func.attr == "push":  # get_ipython().push({...})
                self.update(node)
            for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
                self.touched(node.func.value, value, node.lineno)

    def update(self, node: ast.Call) -> None:
        """globals().update(...)"""
        for keyword in node.keywords:
            if keyword.arg:
                self.set_global(keyword.arg, keyword.value, node.lineno)
        for argument in node.args:
            if isinstance(argument, ast.Dict):
                for key, value in zip(argument.keys, argument.values, strict=True):
                    for name in self.names.strings(key, self.scope) if key else []:
                        self.set_global(name, value, node.lineno)

    def far_away(self, node: ast.AST) -> None:
        """What a function binds outside itself when it is called: global names."""
        if not self.names.says_global or isinstance(node, ast.ClassDef):
            return
        if any(isinstance(part, ast.Global) for part in ast.walk(node)):
            self.names.inside(self.names.code(node, self.scope.now()))
