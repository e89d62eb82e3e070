"""Code that a reader need not meet: one quiet mark for what draws a figure, and no guards.

Folded cells often stand in a row: one defines a drawing, the next one shows it. On the page they are
one fold above the figure. An assert that holds a sentence to its numbers is for whoever changes the
notebook, so the page leaves it out; one that shows that two computations agree stays.

A line that is longer than the screen goes on below, further in than it began (`course.css`). What was
printed in columns must not break: it keeps its lines, and scrolls.

A page has thousands of words of code. Only those that have a colour of their own are elements, and
neighbours of one colour are one: a slow phone has to place every element.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

LISTING = re.compile(
    r'(?P<before><div class="(?P<of>[^"]*highlight-[^"]*)">\s*<div class="highlight">)'
    r"<pre>(?:<span></span>)?(?P<text>.*?)</pre>",
    re.S,
)
TAG = re.compile(r"<[^>]*>")
TOKEN = re.compile(r'<span class="(\w+)">([^<]*)</span>')
NEIGHBOURS = re.compile(r'<span class="(\w+)">([^<]*)</span>((?: *<span class="\1">[^<]*</span>)+)')
STYLES = ("pygments_light_style", "pygments_dark_style")  # options of the theme
COLUMNS = re.compile(r"\S {2,}\S")
DEEPEST = 16  # columns: further in, a phone would have no room
AGREE = {"allclose", "equal", "isclose", "array_equal"}  # functions that compare computations


def without_guards(source: str) -> str:
    """The code of a cell without what only holds a sentence or a prediction to its numbers."""
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
        guard = isinstance(statement, ast.Assert) and not _shows(statement)
        if whole or guard or ast.unparse(statement).startswith("viz.predicted("):
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


@lru_cache
def looks(styles: tuple[str, ...]) -> dict[str, str]:
    """For each class of a token one that looks the same in all styles, "" for what looks like text."""
    from pygments.styles import get_style_by_name
    from pygments.token import STANDARD_TYPES

    of = [get_style_by_name(style).style_for_token for style in styles]
    names: dict[str, list[str]] = {}
    for token, name in STANDARD_TYPES.items():
        names.setdefault(repr([look(token) for look in of]), []).append(name)
    return {name: min(alike, key=len) for alike in names.values() for name in alike}


def with_few_colours(code: str, styles: tuple[str, ...]) -> str:
    """Highlighted code in as few elements as its colours need.

    >>> with_few_colours('<span class="kc">None</span> <span class="n">a</span>', ("default", "default"))
    '<span class="k">None</span> a'
    """
    same = looks(styles)

    def token(found: re.Match[str]) -> str:
        name = same.get(found[1], found[1])
        return f'<span class="{name}">{found[2]}</span>' if name else found[2]

    def joined(found: re.Match[str]) -> str:
        more = TOKEN.sub(lambda other: other[2], found[3])
        return f'<span class="{found[1]}">{found[2]}{more}</span>'

    return NEIGHBOURS.sub(joined, TOKEN.sub(token, code)) if styles else code


def with_lines(body: str, styles: tuple[str, ...] = ()) -> str:
    """The HTML of a page where each line of code is an element that knows how far in it begins.

    ``styles`` are those of Pygments that colour it.
    """

    def listing(found: re.Match[str]) -> str:
        text = with_few_colours(found["text"].removesuffix("\n"), styles)
        lines = text.split("\n")
        if found["of"].startswith("output"):
            in_columns = sum(bool(COLUMNS.search(TAG.sub("", line))) for line in lines) > 1
            kind = ' class="seq-columns"' if in_columns else ""
            return f"{found['before']}<pre{kind}>{text}\n</pre>"
        return f'{found["before"]}<pre class="seq-code">{"".join(map(_line, lines))}</pre>'

    return LISTING.sub(listing, body)


def _line(line: str) -> str:
    plain = TAG.sub("", line)
    further = min(len(plain) - len(plain.lstrip()), DEEPEST)
    style = f' style="--in:{further}"' if further else ""
    return f'<span class="seq-typed"{style}>{line}\n</span>'


def _page(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if context.get("body"):
        options = app.config.html_theme_options
        styles = tuple(options[name] for name in STYLES if name in options)
        context["body"] = with_lines(context["body"], styles)


def setup(app: Any) -> None:
    """Called by `seqcourse.pages`."""
    app.add_post_transform(QuietCode)
    app.connect("html-page-context", _page)
