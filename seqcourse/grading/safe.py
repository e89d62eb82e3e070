"""Students' work as a page that runs nothing of theirs and asks nobody for anything.

Both pages on which people read what students wrote, the formgrader's and the feedback, are made by
nbconvert. nbgrader_config.py gives it ``MakeSafe``, which leaves only text and pictures of a
notebook, and ``markdown``, which leaves only the harmless of its HTML and draws formulas without a
script.
"""

from __future__ import annotations

import re
import secrets
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor

from seqcourse.grading.formulas import mathml
from seqcourse.grading.own import BASE64

if TYPE_CHECKING:
    from bleach.sanitizer import Cleaner

TAGS = {
    "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "b", "i", "del", "sub", "sup",
    "code", "pre", "kbd", "blockquote", "ul", "ol", "li", "dl", "dt", "dd", "a", "img", "span", "div",
    "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption",
}  # fmt: skip
PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*")
ADDRESS = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
# pygments' names for the parts of a program; no name that a page's own script looks for.
COLOURS = re.compile(r"highlight|[a-z]{1,2}\d?")
ALIGNED = re.compile(r"text-align:\s*(left|right|center);?")
# A grade_id stands in attributes of nbgrader's templates as it is.
NAME = re.compile(r"[\w.\-]+")
PICTURES = ("image/png", "image/jpeg")
KINDS = {"markdown", "code"}
MARKS = (
    "grade", "grade_id", "locked", "points", "schema_version", "solution", "task", "cell_type",
    "checksum", "score", "comment",
)  # fmt: skip
PYTHON = {"name": "python", "pygments_lexer": "ipython3"}
# What of the resources the formgrader's template writes into its page as it is.
TOLD = ("student", "first_name", "last_name", "notebook_path")


class _Renderer(IPythonRenderer):
    """nbconvert's, with formulas drawn and no error for a picture that is not there."""

    def __init__(self, formulas: dict[str, str], **options: Any) -> None:
        super().__init__(escape=False, exclude_anchor_links=True, **options)
        self.formulas = formulas

    def _keep(self, drawn: str) -> str:
        """A word that stands for a formula while the page is cleaned."""
        word = f"formula{secrets.token_hex(16)}"
        self.formulas[word] = drawn
        return word

    def block_math(self, body: str) -> str:
        return f"<div>{self._keep(mathml(body, block=True))}</div>"

    def inline_math(self, body: str) -> str:
        return self._keep(mathml(body))

    def multiline_math(self, text: str) -> str:
        return f"<div>{self._keep(mathml(text.strip().strip('$'), block=True))}</div>"

    def latex_environment(self, name: str, body: str) -> str:
        tex = rf"\begin{{{name}}}{body}\end{{{name}}}"
        return f"<div>{self._keep(mathml(tex, block=True))}</div>"

    def block_mermaidjs(self, code: str) -> str:
        return f"<pre>{escape(code)}</pre>"

    def _embed_image_or_attachment(self, src: str) -> str:
        if not src.startswith("attachment:"):
            return src
        attached = self.attachments.get(src.removeprefix("attachment:"), {})
        kind = next((kind for kind in PICTURES if kind in attached), None)
        return f"data:{kind};base64,{attached[kind]}" if kind else ""


@pass_context
def markdown(context: Any, source: str) -> str:
    """What stands in place of nbconvert's filter markdown2html."""
    attachments = context.get("cell", {}).get("attachments", {})
    return render(source, dict(attachments))


def render(source: str, attachments: dict | None = None) -> str:
    """Markdown as HTML that runs nothing and loads nothing.

    HTML that is not harmless is shown as it was typed, or left out. A link stays one: it leads
    somewhere only when somebody clicks on it.
    """
    formulas: dict[str, str] = {}
    renderer = _Renderer(formulas, attachments=attachments or {})
    made = _cleaner().clean(MarkdownWithMath(renderer=renderer).render(source))
    # An attribute with such a word was dropped, so here each stands in text, where an element may be.
    return re.sub(r"formula[0-9a-f]{32}", lambda found: formulas.get(found.group(), ""), made)


@cache
def _cleaner() -> Cleaner:
    from bleach.css_sanitizer import CSSSanitizer
    from bleach.sanitizer import Cleaner

    return Cleaner(
        tags=TAGS,
        attributes=_may_stay,
        protocols={"http", "https", "mailto", "data"},
        css_sanitizer=CSSSanitizer(allowed_css_properties=["text-align"]),
        strip_comments=True,
    )


def _may_stay(tag: str, name: str, value: str) -> bool:
    """Whether an attribute may stay on the page."""
    if re.search(r"formula[0-9a-f]{32}", value):
        return False
    if tag == "img":
        return name in ("alt", "title") or (name == "src" and bool(PICTURE.fullmatch(value)))
    if tag == "a":
        return name == "title" or (name == "href" and bool(ADDRESS.match(value)))
    if name == "class":
        return tag in ("span", "div") and bool(COLOURS.fullmatch(value))
    if name == "style":
        return tag in ("td", "th") and bool(ALIGNED.fullmatch(value))
    return tag == "details" and name == "open"


class MakeSafe(Preprocessor):
    """Leaves of a notebook what a page needs, and of its outputs text and pictures."""

    enabled = True

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        told = nb.metadata.get("seqcourse", {})
        nb.metadata.clear()
        nb.metadata.update(language_info=dict(PYTHON), seqcourse=told)
        nb.cells = [_safe_cell(cell) for cell in nb.cells if cell.cell_type in KINDS]
        for name in TOLD:
            if isinstance(resources.get(name), str):
                resources[name] = escape(resources[name])
        return nb, resources


def _safe_cell(cell: Any) -> Any:
    mark = cell.metadata.get("nbgrader", {})
    cell.metadata.clear()
    if NAME.fullmatch(str(mark.get("grade_id", ""))):
        cell.metadata.nbgrader = {key: mark[key] for key in MARKS if key in mark}
    if cell.cell_type == "code":
        count = cell.get("execution_count")
        cell.execution_count = count if isinstance(count, int) else None
        cell.outputs = [safe for output in cell.outputs if (safe := _safe_output(output))]
    return cell


def _safe_output(output: Any) -> Any:
    """An output that is text or a picture; None for any other."""
    from nbformat.v4 import new_output

    if output.output_type == "stream":
        name = "stderr" if output.name == "stderr" else "stdout"
        return new_output("stream", name=name, text=str(output.text))
    if output.output_type == "error":
        lines = [str(line) for line in output.traceback]
        return new_output("error", ename=str(output.ename), evalue=str(output.evalue), traceback=lines)
    data = {
        kind: content
        for kind, content in output.get("data", {}).items()
        if isinstance(content, str)
        and (kind == "text/plain" or (kind in PICTURES and BASE64.fullmatch(content)))
    }
    if not data:
        return None
    made = new_output(output.output_type, data=data)
    if made.output_type == "execute_result":
        made.execution_count = None
    return made
