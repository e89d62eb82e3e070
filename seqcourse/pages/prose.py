"""What a page says in words, without code and TeX: for the search and for descriptions."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes

NO_PROSE = (nodes.literal_block, nodes.doctest_block, nodes.raw, nodes.Invisible, addnodes.glossary)

_SIGNS = {
    r"\times": "×", r"\cdot": "·", r"\le": "≤", r"\ge": "≥", r"\to": "→", r"\top": "ᵀ", r"\infty": "∞",
    r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\lambda": "λ", r"\sigma": "σ", r"\tau": "τ",
}  # fmt: skip
_COMMAND = re.compile(r"\\[A-Za-z]+")
_ROOT = re.compile(r"\\sqrt\{?(\w+)\}?")
_WRAPPED = re.compile(r"\\(?:text|mathrm|operatorname|mathbf)\{([^{}]*)\}")


def formula(tex: str) -> str:
    """A short formula as plain signs; an ellipsis for all that TeX is needed for."""
    text = _WRAPPED.sub(r"\1", _ROOT.sub(r"√\1", tex))
    text = _COMMAND.sub(lambda found: _SIGNS.get(found[0], found[0]), text)
    text = text.replace("_", "").replace("{", "").replace("}", "")
    return "…" if re.search(r"[\\^&]", text) or len(text) > 24 else text.strip()


def prose(node: nodes.Node) -> str:
    """What a node says in words: without code, raw HTML, a glossary's entries and the sections in it."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, nodes.math):
        return formula(node.astext())
    if isinstance(node, nodes.math_block):
        return " … "
    if isinstance(node, (*NO_PROSE, nodes.section)):
        return ""
    said = "".join(map(prose, node.children))
    return said if isinstance(node, nodes.Inline) else f" {said} "


def tidy(text: str) -> str:
    """Without double spaces, and without a space before a sign that ends something."""
    return re.sub(r" (?=[.,;:!?)])", "", " ".join(text.split()))
