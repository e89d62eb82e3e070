"""Runs KaTeX: reads formulas as lines of JSON, writes HTML as lines of JSON, until there are no more.

`seqcourse.pages.tex` starts this file as a program of its own, because Sphinx may fork, and a
JavaScript engine does not survive that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# `strict` refuses what only KaTeX understands, so that JupyterLab shows the same formula.
# A line does not end at the bar of a condition.
RENDER = r"""function render(tex, options) {
    const macros = {'\\mid': '\\mathrel{\\vert}\\nobreak'};
    const made = () => katex.__renderToDomTree(tex, {strict: 'error', macros, ...options});
    try { return [fewer(made()).toMarkup(), null]; }
    catch (error) { return [null, error.rawMessage || error.message]; }
}"""
# KaTeX puts every exponent into a table of its own, and a strut even where the line is higher. A page
# has hundreds of both, and a slow phone has to place each of their elements. Every mark stays where it
# is (tests/book/test_formulas.py) where a lone exponent or subscript is a raised or lowered span
# (`seq-script`), and where groups without a style and struts within a line are left out. (A line of
# KaTeX_Main is 0.915 em high and 0.285 em deep.)
FEWER = r"""
const of = (node, name) => node.classes?.includes(name);
const plain = node => of(node, 'mord') && node.classes.every(name => /^(mord|mtight)$/.test(name))
    && node.children && !Object.keys(node.style).length && !Object.keys(node.attributes).length;
const lists = node => of(node, 'vlist') || node.children?.some(lists);
function fewer(node) {
    node.children?.forEach(fewer);
    const list = of(node, 'msupsub') && node.children[0].children[0].children[0].children;
    if (list?.length === 1 && !lists(list[0])) {
        const [strut, script] = list[0].children, {top, ...sides} = list[0].style;
        const up = -parseFloat(top) - parseFloat(strut.style.height);
        node.classes.push('seq-script');
        node.style = {verticalAlign: up.toFixed(4) + 'em', ...sides};
        node.children = [script];
    }
    if (['katex-base', 'katex-sizing', 'mord'].some(name => of(node, name)) && node.children)
        node.children = node.children.filter(inside => !needless(inside))
            .flatMap(inside => plain(inside) ? inside.children : [inside]);
    return node;
}
function needless(node) {
    if (!of(node, 'katex-strut')) return false;
    const down = -parseFloat(node.style.verticalAlign || 0);
    return down < 0.26 && parseFloat(node.style.height) - down < 0.86;
}"""


def main() -> None:
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    engine.eval((Path(__file__).parent / "katex" / "katex.min.js").read_text(encoding="utf-8"))
    engine.eval(FEWER)
    engine.eval(RENDER)
    for line in sys.stdin:
        tex, options = json.loads(line)
        call = f"JSON.stringify(render({json.dumps(tex)}, {json.dumps(options)}))"
        print(json.dumps(json.loads(engine.eval(call))), flush=True)


if __name__ == "__main__":
    main()
