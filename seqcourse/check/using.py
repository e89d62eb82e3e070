"""Which things of a library an answer uses, and which of them are the answer itself.

Names are resolved as Python resolves them: what somebody wrote, a class `Attention` or a dictionary
`parameters`, is looked into or left in peace; what comes from a library goes by its full name there,
whatever it is called here.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy

from seqcourse.check.compare import Mistake
from seqcourse.check.discreet import is_discreet

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_BETWEEN = ("EXTENDED_ARG", "PUSH_NULL")  # steps between a module and its attribute
LIBRARIES = ("seqcourse", "torch")


def calls(function: Callable[..., Any]) -> numpy.ndarray:
    """What a function or class uses of libraries, as an array of strings.

    "torch.softmax" is PyTorch's; "?.softmax" is an attribute of an object that nothing is known of.
    Helpers and classes that stand beside the function are looked into as well.
    """
    home = getattr(function, "__module__", None)
    used, own, seen = set(), set(), set()
    waiting: list[tuple[Any, Mapping[str, Any]]] = [(function, {})]
    if home is None or home.split(".")[0] in LIBRARIES:  # the answer is one of theirs
        used.add(_path(function))
    while waiting:
        item, scope = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, types.CodeType):
            waiting += [(part, scope) for part in item.co_consts if isinstance(part, types.CodeType)]
            waiting += [(value, {}) for value in _globals(item, scope)]
            used |= set(_attributes(item, scope, home))
            own |= {step.argval for step in _named(item) if step.opname.startswith("STORE_")}
        elif isinstance(item, types.ModuleType) or not callable(item):
            pass
        elif getattr(item, "__module__", None) != home:
            used.add(_path(item))
        elif isinstance(item, types.FunctionType):
            waiting.append((item.__code__, item.__globals__))
        elif isinstance(item, type):
            own |= set(vars(item))
            parts = [getattr(part, "__func__", part) for part in vars(item).values()]
            waiting += [(part, {}) for part in (*parts, *item.__bases__)]
        else:
            waiting.append((type(item), {}))
    return numpy.array(sorted(used - {f"?.{name}" for name in own}), dtype=str)


def _path(value: Any) -> str:
    name = getattr(value, "__name__", type(value).__name__)
    return f"{getattr(value, '__module__', None) or '?'}.{name}"


def _named(code: types.CodeType) -> Iterator[dis.Instruction]:
    return (step for step in dis.get_instructions(code) if step.opcode in dis.hasname)


def _globals(code: types.CodeType, scope: Mapping[str, Any]) -> list[Any]:
    """What the names that stand beside a function mean to it."""
    names = (step.argval for step in _named(code) if step.opname in _GLOBAL)
    return [scope[name] for name in names if name in scope]


def _attributes(code: types.CodeType, scope: Mapping[str, Any], home: str | None) -> Iterator[str]:
    """The attributes that a function's code reads, and what it imports."""
    value, path = None, ""  # of what the step before read, where that is a library's module or class
    for step in dis.get_instructions(code):
        if step.opname in _GLOBAL:
            value = scope.get(step.argval)
            path = value.__name__ if isinstance(value, types.ModuleType) else _path(value)
        elif step.opname in _ATTRIBUTE and _is_library(value, home):
            value, path = getattr(value, step.argval, None), f"{path}.{step.argval}"
            yield path
        elif step.opname == "IMPORT_NAME":
            path = step.argval
        elif step.opname == "IMPORT_FROM":
            yield f"{path}.{step.argval}"
        elif step.opname not in _BETWEEN:
            value = None
            if step.opcode in dis.hasname and step.opname.startswith("LOAD_"):
                yield f"?.{step.argval}"


def _is_library(value: Any, home: str | None) -> bool:
    return isinstance(value, types.ModuleType) or (isinstance(value, type) and value.__module__ != home)


def forbid(name: str, used: Iterable[str], forbidden: Iterable[str]) -> None:
    """Raise Mistake when what an answer `used` holds something that is the answer itself."""
    forbidden = tuple(forbidden)
    for path in (str(word) for word in used):
        entry = next((entry for entry in forbidden if covers(entry, path)), None)
        if entry is not None:
            # A name that came from a student's process is told in our own words.
            told = entry if is_discreet() else path.removeprefix("?.")
            raise Mistake(
                f"{name} uses {told}, which is the thing to build here. "
                "Write it from matrix products and elementwise functions."
            )


def covers(entry: str, path: str) -> bool:
    """Whether a forbidden entry means the library name `path` ("?.softmax": of an unknown object)."""
    parts = path.split(".")
    *package, last = entry.split(".")
    if parts[0] == "?":  # a tensor's method, perhaps; hardly a function of the course's package
        return package[:1] != ["seqcourse"] and any(part in (last, f"{last}_") for part in parts[1:])
    if path == entry or path.startswith(f"{entry}."):
        return not parts[-1].isupper() or parts[-1] == last
    if package and parts[0] != package[0]:
        return False
    return any(_plain(part) == _plain(last) for part in parts[1:])


def _plain(word: str) -> str:
    return word.replace("_", "").lower()
