"""Pages that everyone can read: mends what the theme and the parsers write wrongly for screen readers.

Also brings `reading.js` (scroll boxes, the switch for code, light paper) onto every page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SWITCH = """<div class="seq-code-switch pst-js-only" role="group" aria-label="Code on this page">
<span aria-hidden="true">Code</span>
<button type="button" data-code="main" aria-pressed="true">main steps</button>
<button type="button" data-code="all" aria-pressed="false">show all code</button>
<button type="button" data-code="none" aria-pressed="false">hide all code</button>
</div>"""


def mend(body: str) -> str:
    """The HTML of an article, readable by a screen reader; mending twice changes nothing."""
    # A label hides the visible word "code" from those who speak to their computer.
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    # The roles of the bibliography are out of date, and its list holds what a list may not hold.
    body = body.replace(' role="doc-biblioentry"', "")
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    # A header without a word heads nothing.
    body = re.sub(r"<th\b[^>]*>(?:\s|<p>|</p>)*</th>", "<td></td>", body)
    if 'class="cell_input' in body and "seq-code-switch" not in body:
        body = body.replace("</h1>", f"</h1>\n{SWITCH}", 1)
    return body


def name_folds(tree: Callable[..., Any]) -> Callable[..., str]:
    """The theme's list of pages with a name for every arrow that unfolds a chapter."""

    def named(*arguments: Any, **options: Any) -> str:
        return re.sub(
            r"(<a\b[^>]*>([^<]*)</a><details[^>]*><summary)>",
            lambda found: f'{found.group(1)} aria-label="Pages of {found.group(2).strip()}">',
            str(tree(*arguments, **options)),
        )

    return named


def _mend_page(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if context.get("body"):
        context["body"] = mend(context["body"])
    if "generate_toctree_html" in context:
        context["generate_toctree_html"] = name_folds(context["generate_toctree_html"])


def setup(app: Any) -> None:
    """Called by `seqcourse.pages`."""
    app.connect("html-page-context", _mend_page, priority=900)  # after the theme and the formulas
    app.add_js_file("reading.js", loading_method="defer")
