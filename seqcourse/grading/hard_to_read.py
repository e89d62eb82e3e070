"""What an instructor should look at in a submission: code that is hard to read or hides what runs.

Forbidden functions are found by what runs (`seqcourse.check.watch`). This module finds what such a
record can miss, from names and attributes in the source. A remark is for a person and costs no points.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

LONGEST = 20_000  # characters of a cell that a person still reads

_COMPILED = "calls compiled code, which the record of what ran does not see"
_TEXT = "runs code from a text or finds it by name"
_TRACING = "can change how Python's calls are recorded"
_INSIDE = "reaches into Python's or PyTorch's internals"
_ELSEWHERE = "starts something that runs outside the record"
_ENCODED = "decodes text: what it says is not readable here"

_MODULES = {
    "ctypes": _COMPILED,
    "cffi": _COMPILED,
    "torch.jit": _COMPILED,
    "torch.utils.cpp_extension": _COMPILED,
    "importlib": _TEXT,
    "runpy": _TEXT,
    "inspect": _INSIDE,
    "gc": _INSIDE,
    "torch._C": _INSIDE,
    "torch.utils._python_dispatch": _TRACING,
    "torch.overrides": _TRACING,
    "seqcourse.check.watch": _TRACING,
    "threading": _ELSEWHERE,
    "_thread": _ELSEWHERE,
    "concurrent": _ELSEWHERE,
    "multiprocessing": _ELSEWHERE,
    "subprocess": _ELSEWHERE,
    "base64": _ENCODED,
    "codecs": _ENCODED,
    "marshal": _ENCODED,
    "zlib": _ENCODED,
}
_NAMES = {"exec": _TEXT, "eval": _TEXT, "compile": _TEXT, "__import__": _TEXT, "get_ipython": _TEXT}
_ATTRIBUTES = {
    "torch.jit": _COMPILED,
    "setprofile": _TRACING,
    "settrace": _TRACING,
    "_getframe": _INSIDE,
    "getsource": _INSIDE,
    "__code__": _INSIDE,
    "__globals__": _INSIDE,
    "__closure__": _INSIDE,
    "__subclasses__": _INSIDE,
    "sys.modules": _INSIDE,
    "torch._C": _INSIDE,
    "FunctionType": _INSIDE,
    "CodeType": _INSIDE,
    "check.watch": _TRACING,
    "os.fork": _ELSEWHERE,
    "os.system": _ELSEWHERE,
    "os.popen": _ELSEWHERE,
    "input_transformers_post": _TEXT,
    "input_transformers_cleanup": _TEXT,
    "ast_transformers": _TEXT,
}
_MAGIC = re.compile(r"^(%%(?:writefile|file|bash|sh|script|cython)|%(?:run|load|load_ext))\b", re.M)
_SHELL = re.compile(r"^([ \t]*)[%!?].*$", re.M)
_PATCHED = {"torch", "seqcourse", "sys", "builtins"}


def remarks(cells: Sequence[str]) -> list[str]:
    """One sentence for each thing to look at, each once.

    cells: the sources of a student's code cells. A cell that Python cannot parse does not run either.
    """
    found: dict[str, None] = {}
    libraries: dict[str, str] = {}  # what a name means: F -> torch.nn.functional
    for number, source in enumerate(cells, start=1):
        place = f"Code cell {number}"
        if len(source) > LONGEST:
            found[f"{place} has {len(source)} characters, more than anybody reads."] = None
        for magic in _MAGIC.findall(source):
            found[f"{place}: {magic} writes, loads or runs code beside the notebook."] = None
        for line, what, why in _marks(source, libraries):
            found[f"{place}, line {line}: {what} {why}."] = None
    return list(found)


def _marks(source: str, libraries: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """(line, what is written there, why to look at it) of every remarkable name."""
    for node in ast.walk(_parsed(source)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for full, name, meaning in _imported(node):
                libraries[name] = meaning
                why = next((_MODULES[part] for part in _beginnings(full) if part in _MODULES), "")
                if why:
                    yield line, full, why
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield line, node.id, _NAMES[node.id]
        elif isinstance(node, ast.Attribute):
            path = _path(node, libraries)
            *_, before, last = ["", *path.split(".")]
            why = _ATTRIBUTES.get(last) or _ATTRIBUTES.get(f"{before}.{last}")
            if why:
                yield line, path, why
            elif last == "__dict__" and path.removesuffix(".__dict__") in libraries.values():
                yield line, path, _INSIDE
            elif isinstance(node.ctx, ast.Store) and path.split(".")[0] in _PATCHED:
                if "backends" not in path:
                    yield line, path, "is replaced by something of the student's"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            given = [getattr(argument, "id", "") for argument in node.args]
            if node.func.id in ("vars", "setattr") and given and given[0] in libraries:
                yield line, f"{node.func.id}({given[0]})", _INSIDE
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            if getattr(node.value.func, "id", "") == "globals":
                yield line, "globals()", _TEXT


def _parsed(source: str) -> ast.AST:
    """The syntax tree of a cell without its magics; an empty one where Python cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(_SHELL.sub(r"\1pass", source[: 10 * LONGEST]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str, str]]:
    """What a statement imports: (full name, name in the notebook, what that name means)."""
    start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        full, first = f"{start}{alias.name}", alias.name.split(".")[0]
        yield (full, alias.asname, full) if alias.asname else (full, first, f"{start}{first}")


def _beginnings(full: str) -> Iterator[str]:
    """ "a", "a.b" and "a.b.c" of "a.b.c"."""
    parts = full.split(".")
    return (".".join(parts[: k + 1]) for k in range(len(parts)))


def _path(node: ast.expr, libraries: dict[str, str]) -> str:
    """ "torch.nn.functional.softmax" for F.softmax; what stands before the first dot may be unknown."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(libraries.get(node.id, node.id))
    return ".".join(reversed(parts))
