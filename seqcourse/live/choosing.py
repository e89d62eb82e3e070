"""How a translation is chosen: the tree of a beam search, as an author calls it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from seqcourse.live.figure import figure, slider


def tree(model: str, label: str, examples: Sequence[str], beam: int = 3) -> Any:
    """A beam search as a tree, with its width and its length normalisation to choose.

    Make the call the last line of its cell. With a kernel the width is fixed.

    Args:
        model: a translator of the zoo.
        label: what to type.
        examples: sentences; the first one's tree is in the page.
        beam: beam width.

    Raises:
        CourseError: if there is no label or example.
    """
    from seqcourse import decode, zoo
    from seqcourse.viz.html import Shown
    from seqcourse.zoo.system import NO_OUTPUT

    system = zoo.load(model)

    def run(text: str) -> Shown:
        trace: list[list[Any]] = []
        (source,) = system.sources([text])
        limit = 2 * len(source) + 10
        memory = system.encode([source])
        ((best, *_),) = decode.beam_search(
            system.model, memory, beam, max_len=limit, forbid=NO_OUTPUT, trace=trace
        )
        said = system.text(system.target.decode(best.tokens))
        grown = _branch(system.target.tokens, trace, 0, None)
        return Shown(f'<p>{html.escape(said)}</p><div class="sq-scroll sq-tree">{grown}</div>', said)

    controls = slider("Width", "width", 1, 6, 1, beam) + slider("Length penalty", "alpha", 0, 2, 0.25, 1)
    return figure("tree", {model: model}, label, examples, run, controls)


def _branch(tokens: Sequence[str], trace: Sequence[Sequence[Any]], step: int, parent: int | None) -> str:
    """The nodes that continue one node, as a list; the same as the view in runtime/choosing.js makes."""
    items = ""
    for number, node in enumerate(trace[step] if step < len(trace) else ()):
        if node.parent == parent:
            kind = "best" if node.best else "kept" if node.kept else "pruned"
            value = f"{node.log_prob:.2f}".replace("-", "\u2212")
            further = _branch(tokens, trace, step + 1, number)
            word = html.escape(tokens[node.token])
            items += f'<li><span class="{kind}">{word}<small>{value}</small></span>{further}</li>'
    return f"<ul>{items}</ul>" if items else ""
