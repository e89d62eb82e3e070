"""Live figures as an author calls them: a form with a kernel, a part of a page without one."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqcourse.errors import CourseError
from seqcourse.tokens import MASK, SOS

if TYPE_CHECKING:
    from seqcourse.viz.html import Shown

# The kinds of `models.Maps`: what a reader calls them, and the names of their parameters.
_ATTENTIONS = {"cross": "Decoder, source", "decoder": "Decoder, own words", "encoder": "Encoder"}
_NAMES = {
    "cross": "decoder.{}.cross_attention",
    "decoder": "decoder.{}.self_attention",
    "encoder": "encoder.{}.self_attention",
}
RUNTIME = Path(__file__).parent / "runtime"


def translate(models: Mapping[str, str], label: str, examples: Sequence[str], beam: int = 5) -> Any:
    """A sentence to type, its translation by each model, and where each looks at every word.

    Make the call the last line of its cell.

    Args:
        models: translators of the zoo and what a reader calls them, ``{"en-es-fixed": "Without
            attention"}``; several stand one below the other.
        label: what to type.
        examples: sentences; the first one's translations are in the page.
        beam: beam width.

    Raises:
        CourseError: if there is no model, label or example, or a model does not translate.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    systems = {name: zoo.load(name) for name in models}

    def run(text: str) -> Shown:
        found = {name: system.translate([text], beam=beam)[0] for name, system in systems.items()}
        parts = [_section(models[name], one) for name, one in found.items()]
        return Shown("".join(parts), "; ".join(one.text for one in found.values()))

    return _figure("translate", models, label, examples, run, width=beam)


def heads(model: str, label: str, examples: Sequence[str]) -> Any:
    """Every head of a Transformer translator on a sentence; a click switches a head off.

    Make the call the last line of its cell. With a kernel the maps are shown, but not switched.

    Args:
        model: a translator of the zoo that is a Transformer.
        label: what to type.
        examples: sentences; the first one's maps are in the page.

    Raises:
        CourseError: if there is no label or example.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    system = zoo.load(model)

    def run(text: str) -> Shown:
        found = system.translate([text])[0]
        return Shown(f"<p>{html.escape(found.text)}</p>{_all_heads(system, found)}", found.text)

    return _figure("heads", {model: model}, label, examples, run)


def _all_heads(system: Any, found: Any) -> str:
    """A row of small maps for each attention; the same as the view in runtime/views.js makes."""
    import torch

    from seqcourse import data

    ids, lengths = data.pad([system.source.encode(found.source)])
    written = torch.tensor([[SOS, *system.target.encode(found.target, eos=False)[:-1]]])
    with torch.inference_mode():
        maps = system.model.maps(*(x.to(system.device) for x in (ids, lengths, written)))
    rows = ""
    for kind, title in _ATTENTIONS.items():
        for layer, in_layer in enumerate(getattr(maps, kind)[0].cpu(), start=1):
            buttons = ""
            for head, weights in enumerate(in_layer, start=1):
                cells = "".join(f'<i style="--w:{w:.2f}"></i>' for w in weights.flatten().tolist())
                name = f"{_NAMES[kind].format(layer - 1)}.{head - 1}"
                buttons += (
                    f'<button type="button" data-head="{name}" aria-pressed="true" disabled '
                    f'aria-label="{title}, layer {layer}, head {head}, on"><span class="sq-small" '
                    f'style="--n:{weights.shape[1]}" aria-hidden="true">{cells}</span></button>'
                )
            rows += f"<span>{title}, layer {layer}</span><span>{buttons}</span>"
    return f'<div class="sq-all-heads">{rows}</div>'


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

    controls = _range("Width", "width", 1, 6, 1, beam) + _range("Length penalty", "alpha", 0, 2, 0.25, 1)
    return _figure("tree", {model: model}, label, examples, run, controls)


def _branch(tokens: Sequence[str], trace: Sequence[Sequence[Any]], step: int, parent: int | None) -> str:
    """The nodes that continue one node, as a list; the same as the view in runtime/views.js makes."""
    items = ""
    for number, node in enumerate(trace[step] if step < len(trace) else ()):
        if node.parent == parent:
            kind = "best" if node.best else "kept" if node.kept else "pruned"
            value = f"{node.log_prob:.2f}".replace("-", "\u2212")
            further = _branch(tokens, trace, step + 1, number)
            word = html.escape(tokens[node.token])
            items += f'<li><span class="{kind}">{word}<small>{value}</small></span>{further}</li>'
    return f"<ul>{items}</ul>" if items else ""


def _range(label: str, name: str, low: float, high: float, step: float, value: float) -> str:
    return (
        f'<label class="sq-control">{label} <input type="range" name="{name}" min="{low}" max="{high}" '
        f'step="{step}" value="{value}"><output>{value}</output></label>'
    )


def write(
    models: Mapping[str, str],
    label: str,
    examples: Sequence[str],
    length: int = 150,
    cache: bool = False,
) -> Any:
    """The beginning of a text to type, and how each language model goes on, with a temperature.

    Make the call the last line of its cell.

    Args:
        models: models of characters, as in :func:`translate`.
        label: what to type.
        examples: beginnings; the first one's continuation is in the page.
        length: characters to write.
        cache: offer to switch the key-value cache off.

    Raises:
        CourseError: if there is no model, label or example, or a model does not write.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    systems = {name: zoo.load(name) for name in models}

    def run(text: str) -> Shown:
        parts, said = [], []
        for name, system in systems.items():
            begun = len(system.text(system.tokens(text)))
            said.append(system.generate(text, length, 0.8)[begun:])
            parts.append(
                f'<section><p class="sq-note">{html.escape(models[name])}</p>'
                f'<p class="sq-text"><strong>{html.escape(text)}</strong>{html.escape(said[-1])}</p>'
                f"</section>"
            )
        return Shown("".join(parts), "; ".join(said))

    controls = _range("Temperature", "temperature", 0, 1.6, 0.1, 0.8)
    if cache:
        controls += (
            '<label class="sq-control"><input type="checkbox" name="cache" checked> keep keys and '
            "values</label>"
        )
    return _figure("write", models, label, examples, run, controls, length=length)


def fill(models: Mapping[str, str], label: str, examples: Sequence[str]) -> Any:
    """A text with blanks, ``___``, and the words that BERT finds likeliest for each.

    Make the call the last line of its cell.

    Args:
        models: models that fill masks, as in :func:`translate`.
        label: what to type.
        examples: texts with blanks; the first one's words are in the page.

    Raises:
        CourseError: if there is no model, label or example, or a model does not fill blanks.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    systems = {name: zoo.load(name) for name in models}

    def run(text: str) -> Shown:
        parts, best = [], []
        for name, system in systems.items():
            parts.append(f'<p class="sq-note">{html.escape(models[name])}</p>')
            for number, found in enumerate(system.fill(re.sub("_{2,}", MASK, text)), start=1):
                words, shares = zip(*found, strict=True)
                parts.append(map_of(["probability"], words, [shares], f"Blank {number}"))
                best.append(words[0])
        return Shown("".join(parts), ", ".join(best))

    return _figure("fill", models, label, examples, run)


def _figure(
    view: str,
    models: Mapping[str, str],
    label: str,
    examples: Sequence[str],
    run: Callable[[str], Shown],
    controls: str = "",
    **options: Any,
) -> Any:
    """With a kernel a form that shows ``run(text)``; without one a part of a page for a view."""
    from seqcourse import viz
    from seqcourse.viz.html import Shown, has_widgets

    if not models or not label.strip() or not examples:
        raise CourseError("A live figure needs at least one model, a label and an example.")
    if not has_widgets():
        return _part_of_a_page(view, models, label, examples, run(examples[0]), controls, **options)
    style = f"<style>{(RUNTIME / 'live.css').read_text(encoding='utf-8')}</style>"
    return viz.type_in(lambda text: Shown(style + run(text).body, text), label, examples)


def _section(title: str, found: Any) -> str:
    """A translation and its map; the same as the view in runtime/views.js makes."""
    weights = found.weights
    map_ = (
        ""
        if weights is None
        else map_of(found.target, [*found.source, "<eos>"], weights, "Where it looks")
    )
    said = html.escape(title), html.escape(found.text)
    return f'<section><p class="sq-note">{said[0]}</p><p>{said[1]}</p>{map_}</section>'


def map_of(rows: Sequence[str], columns: Sequence[str], weights: Any, caption: str) -> str:
    """Weights as a table: the larger a weight, the darker its cell. Below 0.005 a cell is empty."""
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in columns)
    body = ""
    for word, row in zip(rows, weights, strict=True):
        cells = "".join(
            f'<td style="--w:{w:.3f}">{"" if w < 0.005 else f"{w:.2f}"}</td>' for w in map(float, row)
        )
        body += f'<tr><th scope="row">{html.escape(word)}</th>{cells}</tr>'
    return (
        f'<div class="sq-scroll"><table class="sq-weights"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _part_of_a_page(
    view: str,
    models: Mapping[str, str],
    label: str,
    examples: Sequence[str],
    first: Shown,
    controls: str = "",
    **options: Any,
) -> Shown:
    """The first example, and a hidden form that the page's script shows."""
    from seqcourse.live.pack import size_of
    from seqcourse.viz.html import Shown, new_id

    name = new_id("live", view + label + "".join(examples))
    size = f"{sum(map(size_of, models)) / 1e6:.1f} MB"
    data = {
        "live": view,
        "models": json.dumps(dict(models), ensure_ascii=False),
        "size": size,
        **options,
    }
    given = " ".join(f'data-{key}="{html.escape(str(value))}"' for key, value in data.items())
    choices = "".join(f'<option value="{html.escape(text)}">' for text in examples)
    body = (
        f'<div class="sq sq-card" id="{name}" role="group" aria-label="{html.escape(label)}" {given}>'
        f'<form class="sq-controls" hidden><label for="{name}-text">{html.escape(label)}</label>'
        f'<input id="{name}-text" name="text" list="{name}-examples" autocomplete="off" lang="en" '
        f'maxlength="400" value="{html.escape(examples[0])}">'
        f'<datalist id="{name}-examples">{choices}</datalist>{controls}'
        f'<button type="submit">Run</button></form>'
        f'<progress max="1" value="0" hidden aria-label="Loading the model"></progress>'
        f'<p role="status"></p><div class="sq-live">{first.body}</div></div>'
    )
    return Shown(body, f"{label}: {examples[0]!r} becomes {first.text}")
