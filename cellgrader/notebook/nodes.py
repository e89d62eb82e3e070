"""Change one node of a source, and leave all else as it was typed."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def unchanged_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes of docstrings and annotations."""
    for node in ast.walk(tree):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node)
        for part in filter(None, parts):
            yield from ast.walk(part)


def replace_node(solution: str, node: ast.AST, new: str) -> str:
    """The source with a node's text replaced."""
    lines = solution.splitlines(keepends=True)
    start = len("".join(lines[: node.lineno - 1]).encode()) + node.col_offset
    end = len("".join(lines[: node.end_lineno - 1]).encode()) + node.end_col_offset
    data = solution.encode()
    return (data[:start] + new.encode() + data[end:]).decode()
