"""What calls of getattr, import_module, attrgetter and their like come to."""

from __future__ import annotations

import ast
from collections.abc import Callable

from seqcourse.grading.source.names import (
    OPAQUE,
    Code,
    Getter,
    Instance,
    Members,
    Names,
    Path,
    Scope,
    Value,
)

Handler = Callable[[Names, ast.Call, Scope], list[Value]]


def _at(call: ast.Call, place: int, name: str = "") -> ast.expr | None:
    if place < len(call.args):
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if name and keyword.arg == name), None)


def _getattr(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    if len(call.args) < 2:
        return [OPAQUE]
    bases = names.values(call.args[0], scope)
    texts = names.strings(call.args[1], scope)
    found = [value for text in texts for base in bases for value in dotted(names, base, text)]
    if len(call.args) == 3:
        found += names.values(call.args[2], scope)
    return found


def dotted(names: Names, base: Value, text: str) -> list[Value]:
    """An attribute of an attribute: "nn.functional.softmax" of torch."""
    bases = [base]
    for part in text.split("."):
        bases = [value for each in bases for value in names.attribute(each, part)][:16]
    return bases


def _import(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    texts = names.strings(call.args[0], scope) if call.args else []
    whole = _at(call, 3, "fromlist") is not None
    return [Path(text if whole else text.split(".")[0]) for text in texts]


def _import_module(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    where = _at(call, 0, "name")
    return [Path(text.replace(":", ".")) for text in (names.strings(where, scope) if where else [])]


def _members(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    if not call.args:
        return [Members(None)]
    bases = names.values(call.args[0], scope)
    return [value for base in bases for value in names.attribute(base, "__dict__")]


def _globals(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    return [Members(None)]


def _getter(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    texts = [text for argument in call.args for text in names.strings(argument, scope)]
    return [Getter(tuple(texts))]


def _method_caller(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    texts = names.strings(call.args[0], scope) if call.args else []
    return [Path(f"?.{text}") for text in texts]


def _first(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    return names.values(call.args[0], scope) if call.args else []


def _eval(names: Names, call: ast.Call, scope: Scope) -> list[Value]:
    from seqcourse.grading.source.binding import code_in

    found: list[Value] = []
    for tree in code_in(names, call, scope):
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            found += names.values(tree.body[0].value, scope)
    return found


HANDLERS: dict[str, Handler] = {
    "builtins.getattr": _getattr,
    "inspect.getattr_static": _getattr,
    "builtins.object.__getattribute__": _getattr,
    "builtins.type.__getattribute__": _getattr,
    "builtins.__import__": _import,
    "importlib.__import__": _import,
    "importlib.import_module": _import_module,
    "pydoc.locate": _import_module,
    "pkgutil.resolve_name": _import_module,
    "importlib.reload": _first,
    "builtins.vars": _members,
    "builtins.globals": _globals,
    "builtins.locals": _globals,
    "operator.attrgetter": _getter,
    "operator.methodcaller": _method_caller,
    "functools.partial": _first,
    "functools.lru_cache": _first,
    "functools.cache": _first,
    "builtins.staticmethod": _first,
    "builtins.eval": _eval,
    "builtins.compile": _first,
}


def called(names: Names, function: Value, call: ast.Call, scope: Scope) -> list[Value]:
    """What a call of `function` may give."""
    if isinstance(function, Path):
        handler = HANDLERS.get(function.name)
        return handler(names, call, scope) if handler else []
    if isinstance(function, Code) and isinstance(function.node, ast.ClassDef):
        return [Instance(function)]
    if isinstance(function, Code):
        return names.returned(function)
    if isinstance(function, Members) and function.get and call.args:
        texts = names.strings(call.args[0], scope)
        return [value for text in texts for value in names.member(Members(function.of), text)]
    if isinstance(function, Getter) and call.args:
        bases = names.values(call.args[0], scope)
        return [v for text in function.names for base in bases for v in dotted(names, base, text)]
    return []
