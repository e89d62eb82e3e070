"""What an instructor should look at in a submission: code that is hard to read or hides what runs.

Forbidden functions are found by what runs. This module finds what such a
record can miss, from names and attributes in the source. A remark is for a person and costs no points.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from cellgrader.profile import program, the_course

LONGEST = 20_000  # characters of a cell that a person still reads

_COMPILED = "calls compiled code, which the record of what ran does not see"
_TEXT = "runs code from a text or finds it by name"
_TRACING = "can change how Python's calls are recorded"
_INSIDE = "reaches into Python's or PyTorch's internals"
_ELSEWHERE = "starts something that runs outside the record"
_PATCHES = "puts other functions in the place of a library's"
_CHECKS = "is a part of the checks, which no answer needs"
_FILE = "finds the file of a library"
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
    "unittest.mock": _PATCHES,
    "torch.library": _COMPILED,
    "torch.fx": _COMPILED,
    "torch.export": _COMPILED,
    "numba": _COMPILED,
    "pkgutil": _TEXT,
    "linecache": _INSIDE,
    "operator.attrgetter": _TEXT,
    "operator.methodcaller": _TEXT,
    "types.FunctionType": _INSIDE,
    "traceback": _INSIDE,
    "asyncio": _ELSEWHERE,
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
    "torch.library": _COMPILED,
    "torch.fx": _COMPILED,
    "torch.export": _COMPILED,
    "torch.overrides": _TRACING,
    "torch._dynamo": _COMPILED,
    "utils.cpp_extension": _COMPILED,
    "utils._python_dispatch": _TRACING,
    "unittest.mock": _PATCHES,
    "setprofile": _TRACING,
    "settrace": _TRACING,
    "_getframe": _INSIDE,
    "getsource": _INSIDE,
    "__code__": _INSIDE,
    "__globals__": _INSIDE,
    "__closure__": _INSIDE,
    "__subclasses__": _INSIDE,
    "__file__": _FILE,
    "__path__": _FILE,
    "__spec__": _FILE,
    "__loader__": _FILE,
    "__wrapped__": _INSIDE,
    "__builtins__": _INSIDE,
    "__getattribute__": _TEXT,
    "f_back": _INSIDE,
    "f_locals": _INSIDE,
    "f_globals": _INSIDE,
    "tb_frame": _INSIDE,
    "gi_frame": _INSIDE,
    "addaudithook": _TRACING,
    "sys.modules": _INSIDE,
    "torch._C": _INSIDE,
    "FunctionType": _INSIDE,
    "CodeType": _INSIDE,
    "os.fork": _ELSEWHERE,
    "os.forkpty": _ELSEWHERE,
    "os.posix_spawn": _ELSEWHERE,
    "os.system": _ELSEWHERE,
    "os.popen": _ELSEWHERE,
    "input_transformers_post": _TEXT,
    "input_transformers_cleanup": _TEXT,
    "ast_transformers": _TEXT,
}
_MAGIC = re.compile(r"^(%%(?:writefile|file|bash|sh|script|cython)|%(?:run|load|load_ext))\b", re.M)
_SHELL = re.compile(r"^([ \t]*)[%!?].*$", re.M)
_PATCHED = {"torch", "sys", "builtins", "cellgrader"}


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
    nodes = list(ast.walk(_parsed(source)))
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            libraries |= {name: meaning for _, name, meaning in _imported(node)}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if _is_of_a_library(meaning := _path(node.value, libraries), libraries):
                libraries[node.targets[0].id] = meaning
    for node in nodes:
        yield from (
            (getattr(node, "lineno", 0), what, why) for what, why in _looks(node, libraries) if why
        )


def _looks(node: ast.AST, libraries: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(what is written, why to look at it, or "") for what one node of a syntax tree names."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((full, _why(full)) for full, *_ in _imported(node))
    elif isinstance(node, ast.Name):
        yield node.id, _NAMES.get(node.id, "")
    elif isinstance(node, ast.Attribute):
        path = _path(node, libraries)
        yield path, _why(path)
        if node.attr == "__dict__" and _is_of_a_library(path, libraries):
            yield path, _INSIDE
        elif (
            isinstance(node.ctx, ast.Store)
            and path.split(".")[0] in _PATCHED | {program()}
            and "backends" not in path
        ):
            yield path, "is replaced by something of the student's"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        path = _path(node.args[0], libraries)
        if node.func.id in ("vars", "setattr") and _is_of_a_library(path, libraries):
            yield f"{node.func.id}({path})", _INSIDE
        elif node.func.id == "getattr" and len(node.args) > 1:
            name = _text(node.args[1])
            found = f"{path}.{name}"
            by_name = name is None and _is_of_a_library(path, libraries)
            yield (f"getattr({path})", _TEXT) if by_name else (found, _why(found))
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        if getattr(node.value.func, "id", "") == "globals":
            yield "globals()", _TEXT


def _why(path: str) -> str:
    """Why to look at a name such as torch.nn.functional.softmax, or ""."""
    parts = ["", *path.split(".")]
    known = (_MODULES[part] for part in _beginnings(path) if part in _MODULES)
    checks = parts[1:3] == the_course().checks.split(".") and (
        len(parts) > 5 or parts[3:4] and _is_inner(parts[3])
    )
    return next(known, _ATTRIBUTES.get(parts[-1]) or _ATTRIBUTES.get(".".join(parts[-2:]), "")) or (
        _CHECKS if checks else ""
    )


def _is_inner(part: str) -> bool:
    """Whether a part of the checks is none that a notebook calls."""
    return not re.fullmatch(the_course().open_checks, part)


def _is_of_a_library(path: str, libraries: Mapping[str, str]) -> bool:
    roots = {meaning.split(".")[0] for meaning in libraries.values()} | _PATCHED | {program()}
    return path.split(".")[0] in roots


def _text(node: ast.expr) -> str | None:
    """A text that is written out, also in parts: "j" + "it"; None for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None or right is None else left + right
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


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


def _path(node: ast.expr, libraries: Mapping[str, str]) -> str:
    """ "torch.nn.functional.softmax" for F.softmax; what stands before the first dot may be unknown."""
    parts = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif _is_getattr(node) and (name := _text(node.args[1])) is not None:
            parts.append(name)
            node = node.args[0]
        else:
            break
    if isinstance(node, ast.Name):
        parts.append(libraries.get(node.id, node.id))
    return ".".join(reversed(parts))


def _is_getattr(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1
    )
