"""How a translation is chosen: the tree of a beam search, and words drawn, as an author calls them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from seqcourse.live.figure import bars_of, choice, figure, slider

NUCLEUS = 0.9  # the first setting of nucleus sampling
TREE = '<div class="sq-scroll sq-tree" tabindex="0" role="region" aria-label="The tree">'


def tree(model: str, label: str, examples: Sequence[str], beam: int = 3) -> Any:
    """A beam search as a tree that grows word by word; its settings can be chosen.

    These are the width, the length normalisation and a temperature, which divides the logits. Make the
    call the last line of its cell. With a kernel the settings are fixed.

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
        return Shown(f"<p>{html.escape(said)}</p>{TREE}{grown}</div>", said)

    controls = (
        slider("Width", "width", 1, 6, 1, beam)
        + slider("Length penalty", "alpha", 0, 2, 0.25, 1)
        + slider("Temperature", "temperature", 0.25, 2, 0.25, 1)
    )
    return figure("tree", {model: model}, label, examples, run, controls, eager="")


def sample(model: str, label: str, examples: Sequence[str], count: int = 5) -> Any:
    """Translations drawn word by word, with a temperature, top-k and nucleus sampling to choose.

    A click on a word shows the distribution that it was drawn from: what is kept, and what is cut. Make
    the call the last line of its cell. With a kernel the settings are fixed.

    Args:
        model: a translator of the zoo.
        label: what to type.
        examples: sentences; the first one's translations are in the page.
        count: how many translations to draw.

    Raises:
        CourseError: if there is no label or example.
    """
    import torch

    from seqcourse import decode, zoo
    from seqcourse.tokens import SOS
    from seqcourse.viz.html import Shown
    from seqcourse.zoo.system import NO_OUTPUT

    system = zoo.load(model)
    tokens = system.target.tokens

    def run(text: str) -> Shown:
        (source,) = system.sources([text])
        drawn = decode.sample(
            system.model,
            system.encode([source] * count),
            top_p=NUCLEUS,
            max_len=2 * len(source) + 10,
            generator=torch.Generator(system.device).manual_seed(0),
            forbid=NO_OUTPUT,
        )
        said = [system.text(system.target.decode(hypothesis.tokens)) for hypothesis in drawn]
        items = "".join(f"<li>{html.escape(one)}</li>" for one in said)
        memory = system.encode([source])
        first = torch.tensor([SOS], device=system.device)
        with torch.inference_mode():
            logits = system.model.step(first, system.model.start(memory), memory).logits
            logits = logits.index_fill(-1, torch.tensor(NO_OUTPUT, device=system.device), float("-inf"))
        kept = decode.filter_logits(logits, top_p=NUCLEUS)[0] > float("-inf")
        shares, ids = logits[0].softmax(-1).topk(8)
        rows = [
            (tokens[id_], share, "" if kept[id_] else "cut")
            for id_, share in zip(ids.tolist(), shares.tolist(), strict=True)
        ]
        below = bars_of("The first word, and what nucleus sampling keeps", rows)
        return Shown(f'<ol class="sq-drawn">{items}</ol>{below}', "; ".join(said))

    kept = {"0": "all words", **{str(k): str(k) for k in (1, 2, 3, 5, 10, 50)}}
    controls = (
        slider("Temperature", "temperature", 0.1, 2, 0.1, 1)
        + choice("Top-k", "k", kept)
        + slider("Nucleus p", "p", 0.05, 1, 0.05, NUCLEUS)
    )
    return figure("sample", {model: model}, label, examples, run, controls, count=count, eager="")


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
