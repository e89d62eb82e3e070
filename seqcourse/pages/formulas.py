"""Formulas are rendered when the book is built: a page needs no script to show them.

Sphinx hands over the formulas that it knows. Those in the HTML of cells' outputs (polls, tables) it
never sees; they are found in the finished page. The style sheet and its fonts come with pages that
have a formula.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from typing import Any

from seqcourse.pages.tex import KATEX, FormulaError, display, katex

FOLDER = "katex"  # below the site's _static
SHEET = "formulas.css"
CLASSES = "math notranslate nohighlight"
# What the package's own views write for $...$: `seqcourse.viz.html.inline`.
IN_OUTPUTS = re.compile(rf'<span class="{CLASSES}">\\\((.*?)\\\)</span>', re.S)
OTHER_FORMATS = re.compile(r'url\([^)]*\) format\("woff2"\),|,url\([^)]*\) format\("truetype"\)')
# A name is needed by these, and a formula alone does not give them one.
NAMED = re.compile(r"<(th|summary|h[1-6])\b[^>]*>((?:(?!</\1>).)*?class=\"katex.*?)</\1>", re.S)


def _shown(tex: str, node: Any, make: Any) -> str:
    """A formula as HTML; one that KaTeX cannot read is an error of its page, and shown as its source."""
    from sphinx.util.logging import getLogger

    try:
        return make(tex)
    except FormulaError as error:
        getLogger(__name__).error("%s", error, location=node)
        return f"<code>{html.escape(tex)}</code>"


def _inline(translator: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    shown = _shown(node.astext(), node, katex)
    translator.body.append(f"{translator.starttag(node, 'span', '', CLASS=CLASSES)}{shown}</span>")
    raise SkipNode


def _displayed(translator: Any, node: Any) -> None:
    from docutils.nodes import SkipNode
    from sphinx.util.math import get_node_equation_number

    translator.body.append(translator.starttag(node, "div", CLASS=CLASSES))
    translator.body.append(_shown(node.astext(), node, display))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise SkipNode


def in_outputs(page: str, body: str) -> str:
    """The HTML of a page with the formulas of its cells' outputs rendered."""

    def render(found: re.Match) -> str:
        return f'<span class="{CLASSES}">{_shown(html.unescape(found[1]), page, katex)}</span>'

    return IN_OUTPUTS.sub(render, body)


def with_names(body: str) -> str:
    """The HTML of a page where headings, headers and summaries of one formula have a name."""
    from bs4 import BeautifulSoup

    def name(found: re.Match) -> str:
        content = BeautifulSoup(found[2], "html.parser")
        said = " ".join(note.text for note in content.find_all("annotation"))
        for part in content.select(".math, .headerlink"):
            part.extract()
        if content.get_text(strip=True):
            return found[0]
        return found[0].replace("<math ", f'<math aria-label="{html.escape(spoken(said))}" ', 1)

    return NAMED.sub(name, body)


def spoken(tex: str) -> str:
    r"""A short formula as one would type it.

    >>> spoken(r"\mathbf{h}_{t-1} \alpha")
    'h_t-1 alpha'
    """
    plain = re.sub(r"\\(math\w+|text\w*|operatorname|left|right|[,;:! ])", " ", tex)
    return " ".join(re.sub(r"[\\{}]", "", plain).split())


def style_sheet() -> str:
    """KaTeX's style sheet, with fonts in one format that every browser reads, and the course's own."""
    katex_css = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    one_format = OTHER_FORMATS.sub("", katex_css)
    return one_format + (Path(__file__).parent / SHEET).read_text(encoding="utf-8")


def _begin(app: Any) -> None:
    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / FOLDER
        shutil.copytree(KATEX / "fonts", folder / "fonts", dirs_exist_ok=True)
        (folder / SHEET).write_text(style_sheet(), encoding="utf-8")


def _page(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    body = context.get("body", "")
    if app.builder.format != "html" or 'class="math' not in body:
        return
    context["body"] = with_names(in_outputs(pagename, body))
    app.add_css_file(f"{FOLDER}/{SHEET}")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx, which prefers a renderer of formulas that is added to its own."""
    app.add_html_math_renderer("katex", (_inline, None), (_displayed, None))
    app.connect("builder-inited", _begin)
    app.connect("html-page-context", _page, priority=100)  # others read the finished body
    return {"parallel_read_safe": True, "parallel_write_safe": True}
