"""Convert TeX formulas to MathML, which browsers render without scripts or fonts."""

from __future__ import annotations

import re
from html import escape

# TeX that docutils does not support, and supported replacements.
REWRITTEN = (
    (re.compile(r"\\texttt\b"), r"\\text"),
    # docutils takes the star for the operator's name, and does not look into the name.
    (re.compile(r"\\operatorname\s*\*?(?![a-zA-Z])"), r"\\mathrm"),
    (re.compile(r"\\dots\b"), r"\\ldots"),
    (re.compile(r"\\[bB]igg?[lrm]?(?![a-zA-Z])"), ""),
    (re.compile(r"\\[td]frac\b"), r"\\frac"),
    (re.compile(r"\\frac\s*(\d)\s*(\d)"), r"\\frac{\1}{\2}"),
    (re.compile(r"\\(begin|end)\{align\*?\}"), r"\\\1{aligned}"),
    # docutils attaches an index after an accent below the accent; an empty group takes the index
    # instead.
    (
        re.compile(r"(\\(?:hat|tilde|bar|vec|overrightarrow|overleftarrow))\s*(\{[^{}]*\}|[a-zA-Z])"),
        r"\1{\2}{}",
    ),
)
ELEMENTS = set(
    "math mrow mi mo mn ms mtext mspace msub msup msubsup munder mover munderover mfrac msqrt mroot "
    "mtable mtr mtd mstyle mpadded mphantom menclose".split()
)
ATTRIBUTES = set(
    "xmlns display stretchy accent accentunder movablelimits mathvariant form width height depth "
    "lspace rspace columnalign columnspacing rowspacing class linethickness scriptlevel displaystyle "
    "minsize maxsize separator fence notation mathcolor mathsize".split()
)
TAG = re.compile(r"</?(\w+)((?:\s+[\w:-]+=\"[^\"<>]*\")*)\s*/?>")
LONGEST = 4000


def mathml(tex: str, block: bool = False) -> str:
    """A formula as MathML, or as a ``<code>`` element with its TeX if it cannot be converted.

    The formula is untrusted. The result contains only allowed MathML elements and attributes and
    escaped text.
    """
    return _convert(tex, block) or f"<code>{escape(tex)}</code>"


def _convert(tex: str, block: bool) -> str:
    from docutils.utils.math.latex2mathml import tex2mathml

    if len(tex) > LONGEST:
        return ""
    for pattern, instead in REWRITTEN:
        tex = pattern.sub(instead, tex)
    try:
        made = tex2mathml(tex.strip(), as_block=block)
    except Exception:  # docutils raises many kinds of errors for formulas that it does not support
        return ""
    if made.count("<") != len(TAG.findall(made)):
        return ""
    for name, attributes in TAG.findall(made):
        used = set(re.findall(r"([\w:-]+)=", attributes))
        if name not in ELEMENTS or not used <= ATTRIBUTES:
            return ""
    return re.sub(r">\s+<", "><", made)
