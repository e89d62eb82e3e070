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
    try { return [katex.renderToString(tex, {strict: 'error', macros, ...options}), null]; }
    catch (error) { return [null, error.rawMessage || error.message]; }
}"""


def main() -> None:
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    engine.eval((Path(__file__).parent / "katex" / "katex.min.js").read_text(encoding="utf-8"))
    engine.eval(RENDER)
    for line in sys.stdin:
        tex, options = json.loads(line)
        call = f"JSON.stringify(render({json.dumps(tex)}, {json.dumps(options)}))"
        print(json.dumps(json.loads(engine.eval(call))), flush=True)


if __name__ == "__main__":
    main()
