"""No function has more than eight parameters, except where its kind asks for more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 8
# Kinds with more, by module and name.
KINDS = {
    ("seqcourse/check/ps*", "*_arguments"): "makes inputs: a card names the options of its cases",
    ("seqcourse/check/ps*", "reference_*"): "the right answer: the assignment names its parameters",
    ("seqcourse/cli/commands/*", "*"): "a command: its parameters are the options that a user types",
    ("seqcourse/models/*", "__init__"): "builds a model, as nn.Transformer does",
    ("seqcourse/nn/*", "__init__"): "builds a layer, as nn.TransformerDecoderLayer does",
}
# Searches and drawings, each with options that chapters use.
NAMED = {"beam_search", "sample", "heatmap", "curves", "arrow"}


def signatures(path: Path) -> Iterator[tuple[str, int]]:
    """Every function with the number of its parameters, `self` not counted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield node.name, len(given) - (bool(given) and given[0].arg in ("self", "cls"))


def test_no_function_has_more_than_eight_parameters():
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for folder in ("seqcourse", "cellgrader", "solutions")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, count in signatures(path)
        if count > MOST
    }
    of_a_kind = {
        one for one in found if any(fnmatch(one[0], p) and fnmatch(one[1], n) for p, n in KINDS)
    }
    left = found - of_a_kind
    assert {name for _, name in left} == NAMED, sorted(left)
    for where, name in KINDS:
        assert any(fnmatch(p, where) and fnmatch(n, name) for p, n in of_a_kind), f"nobody needs {where}"
