"""Render students' notebooks as pages that run no student code and load nothing.

nbconvert makes both pages that show students' work: formgrader's and the feedback. nbgrader_config.py
adds ``MakeSafe``, which reduces a notebook to text and images, and ``markdown``, which sanitises HTML
and renders formulas without scripts.
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

from cellgrader import bounds
from cellgrader.notebook.shown_outputs import BASE64
from cellgrader.pages.formulas import mathml
from cellgrader.printable import printable
from cellgrader.profile import program

if TYPE_CHECKING:
    from bleach.sanitizer import Cleaner

TAGS = {
    "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "b", "i", "del", "sub", "sup",
    "code", "pre", "kbd", "blockquote", "ul", "ol", "li", "dl", "dt", "dd", "a", "img", "span", "div",
    "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption",
}  # fmt: skip
PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*")
# In HTML, a picture that is attached to the cell.
ATTACHED = re.compile(r"""(\bsrc\s*=\s*["'])(attachment:[^"'<>]{1,300})(["'])""")
# A picture as it comes out of the cleaner, and the words that stand for it.
IMAGE = re.compile(r"""<img((?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))*)\s*/?>""")
WORDS = re.compile(r"""\salt=(?:"([^"]*)"|'([^']*)')""")
ADDRESS = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
# pygments' CSS classes. Other classes could trigger formgrader's scripts.
COLOURS = re.compile(r"highlight|[a-z]{1,2}\d?")
ALIGNED = re.compile(r"text-align:\s*(left|right|center);?")
# nbgrader's templates insert a grade_id into attributes without escaping.
NAME = re.compile(r"[\w.\-]+")
PICTURES = ("image/png", "image/jpeg")
KINDS = {"markdown", "code"}
MARKS = (
    "grade", "grade_id", "locked", "points", "schema_version", "solution", "task", "cell_type",
    "checksum", "score", "comment",
)  # fmt: skip
# IPython's lexer takes a minute for some kilobytes of dots or blank lines; Python's for the latter only.
PYTHON = {"name": "python", "pygments_lexer": "python"}
BLANK_LINES, KEPT_LINES = re.compile(r"\n(?:[^\S\n]*\n){4,}"), "\n\n\n\n"
NOTE = "For whoever grades: "
NOT_SHOWN = "a picture that this page does not have: "
LEFT_OUT = "\n\n[The rest of this cell is in the notebook: it is too long for a page.]"
# What would reverse or hide text beside it; colours stay.
HIDES = re.compile(
    r"\x1b(?!\[[\d;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Resources that formgrader's template inserts without escaping.
TOLD = ("student", "first_name", "last_name", "notebook_path")


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, with formulas as MathML and no error for a missing image."""

    def __init__(self, formulas: dict[str, str], **options: Any) -> None:
        super().__init__(escape=False, exclude_anchor_links=True, **options)
        self.formulas = formulas

    def _placeholder(self, drawn: str) -> str:
        """Store rendered MathML; return a placeholder word that survives sanitising."""
        word = f"formula{secrets.token_hex(16)}"
        self.formulas[word] = drawn
        return word

    def block_math(self, body: str) -> str:
        return f"<div>{self._placeholder(mathml(body, block=True))}</div>"

    def inline_math(self, body: str) -> str:
        return self._placeholder(mathml(body))

    def multiline_math(self, text: str) -> str:
        return f"<div>{self._placeholder(mathml(text.strip().strip('$'), block=True))}</div>"

    def latex_environment(self, name: str, body: str) -> str:
        tex = rf"\begin{{{name}}}{body}\end{{{name}}}"
        return f"<div>{self._placeholder(mathml(tex, block=True))}</div>"

    def block_code(self, code: str, info: str | None = None) -> str:
        """Python in colours, everything else without: some lexers take minutes for the wrong text."""
        named = (info or "").split()
        python = named and named[0].lower() in ("python", "python3", "py", "ipython", "ipython3")
        return super().block_code(code, PYTHON["name"] if python else None)

    def _embed_image_or_attachment(self, src: str) -> str:
        if not src.startswith("attachment:"):
            return src
        attached = self.attachments.get(src.removeprefix("attachment:"), {})
        kind = next((kind for kind in PICTURES if kind in attached), None)
        return f"data:{kind};base64,{attached[kind]}" if kind else ""

    def block_html(self, html: str) -> str:
        return super().block_html(self._with_attachments(html))

    def inline_html(self, html: str) -> str:
        return super().inline_html(self._with_attachments(html))

    def _with_attachments(self, html: str) -> str:
        return ATTACHED.sub(
            lambda found: f"{found[1]}{self._embed_image_or_attachment(found[2])}{found[3]}", html
        )


@pass_context
def markdown(context: Any, source: str) -> str:
    """Replaces nbconvert's filter markdown2html."""
    attachments = context.get("cell", {}).get("attachments", {})
    return render(source, dict(attachments))


def render(source: str, attachments: dict | None = None) -> str:
    """Convert Markdown to HTML that runs and loads nothing.

    Unsafe HTML is escaped or removed. Links stay, because they load nothing until someone clicks.
    """
    formulas: dict[str, str] = {}
    renderer = _Renderer(formulas, attachments=attachments or {})
    made = _cleaner().clean(MarkdownWithMath(renderer=renderer).render(HIDES.sub("?", source)))
    made = IMAGE.sub(_shown_or_named, made)
    # Attributes with placeholders were dropped, so the remaining placeholders are in text.
    return re.sub(r"formula[0-9a-f]{32}", lambda found: formulas.get(found.group(), ""), made)


def _shown_or_named(image: re.Match) -> str:
    """A picture; if the page does not have it, words that say so to whoever looks for it."""
    if ' src="data:' in image[1]:
        return image[0]
    named = WORDS.search(image[1])
    return f"<em>[{NOT_SHOWN}{(named and (named[1] or named[2])) or 'it has no name'}]</em>"


@cache
def _cleaner() -> Cleaner:
    from bleach.css_sanitizer import CSSSanitizer
    from bleach.sanitizer import Cleaner

    return Cleaner(
        tags=TAGS,
        attributes=_is_allowed,
        protocols={"http", "https", "mailto", "data"},
        css_sanitizer=CSSSanitizer(allowed_css_properties=["text-align"]),
        strip_comments=True,
    )


def _is_allowed(tag: str, name: str, value: str) -> bool:
    """Whether an attribute is allowed."""
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
    """Reduces a notebook to what a page needs, and its outputs to text and images."""

    enabled = True

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        ours = nb.metadata.get(program(), {})
        nb.metadata.clear()
        nb.metadata.update({"language_info": dict(PYTHON), program(): ours})
        nb.cells = [_safe_cell(cell) for cell in nb.cells if cell.cell_type in KINDS]
        left = bounds.ALL_MARKDOWN
        for cell in nb.cells:
            notes = cell.metadata.pop("notes")
            # Some texts take time that grows with the square of their length.
            text = cell.cell_type == "markdown"
            cell.source = BLANK_LINES.sub(KEPT_LINES, cell.source)
            most = min(left, bounds.MARKDOWN) if text else bounds.CODE
            if len(cell.source) > most:
                cell.source = f"{cell.source[:most]}{LEFT_OUT}"
            left -= min(most, len(cell.source)) if text else 0
            for note in notes:
                cell.source += f"\n\n{'**' if text else '# '}{NOTE}{note}{'**' if text else ''}"
        for name in TOLD:
            if isinstance(resources.get(name), str):
                resources[name] = escape(printable(resources[name]))
        return nb, resources


def _safe_cell(cell: Any) -> Any:
    mark = cell.metadata.get("nbgrader", {})
    notes = cell.metadata.get(program(), {}).get("notes", [])
    cell.metadata.clear()
    cell.metadata.notes = notes
    cell.source = HIDES.sub("?", cell.source)
    if NAME.fullmatch(str(mark.get("grade_id", ""))):
        cell.metadata.nbgrader = {key: mark[key] for key in MARKS if key in mark}
    if cell.cell_type == "code":
        count = cell.get("execution_count")
        cell.execution_count = count if isinstance(count, int) else None
        cell.outputs = [safe for output in cell.outputs if (safe := _safe_output(output))]
    return cell


def _safe_output(output: Any) -> Any:
    """An output reduced to text and images, or None if nothing is left."""
    from nbformat.v4 import new_output

    if output.output_type == "stream":
        name = "stderr" if output.name == "stderr" else "stdout"
        return new_output("stream", name=name, text=HIDES.sub("?", str(output.text)))
    if output.output_type == "error":
        name, why, *lines = (
            HIDES.sub("?", str(text)) for text in (output.ename, output.evalue, *output.traceback)
        )
        return new_output("error", ename=name, evalue=why, traceback=lines)
    data = {
        kind: content if kind in PICTURES else HIDES.sub("?", content)
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
