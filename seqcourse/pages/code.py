"""Code that a reader need not meet: one quiet mark for what draws a figure, and no guards.

Folded cells often stand in a row: one defines a drawing, the next one shows it. On the page they are
one fold above the figure. An assert that holds a sentence to its numbers is for whoever changes the
notebook, so the page leaves it out; one that shows that two computations agree stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

AGREE = {"allclose", "equal", "isclose", "array_equal"}  # functions that compare computations


def without_guards(source: str) -> str:
    """The code of a cell without the asserts that only hold a sentence to its numbers."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a cell with IPython's own commands
        return source
    lines = source.splitlines()
    for guard in _guards(body):
        lines[guard.lineno - 1 : guard.end_lineno] = [None] * (guard.end_lineno - guard.lineno + 1)
    kept = "\n".join(line for line in lines if line is not None)
    return re.sub(r"\n{4,}", "\n\n\n", kept).strip("\n")


def _guards(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that go: guards, and blocks in which nothing else happens."""
    for statement in body:
        block = isinstance(statement, ast.For | ast.With | ast.If)
        inner = statement.body if block else []
        goes = list(_guards(inner))
        whole = inner and len(goes) == len(inner) and not getattr(statement, "orelse", [])
        if whole or (isinstance(statement, ast.Assert) and not _shows(statement)):
            yield statement
        else:
            # A block keeps one statement at least.
            yield from goes if len(goes) < len(inner) else ()


def _shows(statement: ast.Assert) -> bool:
    names = (getattr(each, "attr", getattr(each, "id", "")) for each in ast.walk(statement.test))
    return not AGREE.isdisjoint(names)


class QuietCode(SphinxPostTransform):
    """Leave the guards out, then put folded cells that follow each other into one fold."""

    default_priority = 198  # just before MyST-NB folds the cells
    formats = ("html",)

    def run(self, **options: Any) -> None:
        for block in list(self.document.findall(_is_code)):
            text = without_guards(block.astext())
            block.rawsource, block.children = text, []
            block += nodes.Text(text)
        for cell in list(self.document.findall(_is_folded)):
            place = cell.parent.index(cell)
            follows = cell.parent[place + 1] if place + 1 < len(cell.parent) else None
            if len(cell) == 1 and follows is not None and _is_folded(follows):
                cell.parent.remove(cell)
                follows[0] = nodes.container("", cell[0], follows[0], nb_element="cell_code_source")


def _is_code(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.literal_block)
        and isinstance(node.parent, nodes.container)
        and node.parent.get("nb_element") == "cell_code_source"
    )


def _is_folded(node: nodes.Node) -> bool:
    """Whether it is a cell whose code, and nothing else, is folded away."""
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and node.get("hide_mode") == "input"
        and bool(node.children)
        and node[0].get("nb_element") == "cell_code_source"
    )


def setup(app: Any) -> None:
    """Called by `seqcourse.pages`."""
    app.add_post_transform(QuietCode)
