"""Live figures as an author calls them: translations with maps, texts that go on, blanks, classes."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from seqcourse.live.bands import bands_of
from seqcourse.live.figure import bars_of, choice, figure, map_of, slider
from seqcourse.tokens import EOS, MASK, SOS

# The kinds of `models.Maps`: what a reader calls them, and the names of their parameters.
_ATTENTIONS = {"cross": "Decoder, source", "decoder": "Decoder, own words", "encoder": "Encoder"}


def translate(
    models: Mapping[str, str], label: str, examples: Sequence[str], beam: int = 5, bands: bool = False
) -> Any:
    """A sentence to type, its translation by each model, and where each looks at every word.

    Make the call the last line of its cell.

    Args:
        models: translators of the zoo and what a reader calls them, ``{"en-es-fixed": "Without
            attention"}``; several stand one below the other, and what not all write is marked.
        label: what to type.
        examples: sentences; the first one's translations are in the page.
        beam: beam width.
        bands: draw the weights as bands between the words instead of as a table.

    Raises:
        CourseError: if there is no model, label or example, or a model does not translate.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    systems = {name: zoo.load(name) for name in models}

    def run(text: str) -> Shown:
        found = {name: system.translate([text], beam=beam)[0] for name, system in systems.items()}
        texts = [one.text for one in found.values()]
        parts = [_section(models[name], one, bands, texts) for name, one in found.items()]
        side = f'<div class="sq-side">{"".join(parts)}</div>'
        return Shown(side, "; ".join(texts))

    return figure("bands" if bands else "translate", models, label, examples, run, width=beam)


def maps_of_heads(system: Any, found: Any) -> str:
    """A row of small maps for each attention of a Transformer, a map for each head."""
    import torch

    from seqcourse import data

    ids, lengths = data.pad([system.source.encode(found.source)])
    written = torch.tensor([[SOS, *system.target.encode(found.target, eos=False)[:-1]]])
    with torch.inference_mode():
        maps = system.model.maps(*(x.to(system.device) for x in (ids, lengths, written)))
    rows = ""
    for kind, title in _ATTENTIONS.items():
        for layer, in_layer in enumerate(getattr(maps, kind)[0].cpu(), start=1):
            rows += small_maps(f"{title}, layer", layer, in_layer)
    return f'<div class="sq-all-heads">{rows}</div>'


def small_maps(title: str, layer: int, maps: Any) -> str:
    """The name of a layer, and a small map for each of its heads, (H, N, M)."""
    small = ""
    for head, weights in enumerate(maps, start=1):
        cells = "".join(f'<i style="--w:{w:.2f}"></i>' for w in weights.flatten().tolist())
        small += (
            f'<span class="sq-small" role="img" style="--n:{weights.shape[1]}" '
            f'aria-label="{title} {layer}, head {head}">{cells}</span>'
        )
    return f"<span>{title} {layer}</span><span>{small}</span>"


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
        cache: offer to switch the key-value cache off, or to run with and without it side by side.

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
        return Shown(f'<div class="sq-side">{"".join(parts)}</div>', "; ".join(said))

    controls = slider("Temperature", "temperature", 0, 1.6, 0.1, 0.8)
    if cache:
        both = {
            "both": "both ways, side by side",
            "kept": "kept",
            "anew": "read anew for each character",
        }
        controls += choice("Keys and values", "cache", both)
    return figure("write", models, label, examples, run, controls, length=length)


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

    return figure("fill", models, label, examples, run)


def cells(model: str, label: str, examples: Sequence[str], entry: int) -> Any:
    """A text to type, each character coloured by one entry of an LSTM's cell state behind it.

    Make the call the last line of its cell. With a kernel the entry is the given one.

    Args:
        model: an LSTM of the zoo that reads characters.
        label: what to type.
        examples: texts; the first one is in the page.
        entry: which entry is shown first, counted from 0.

    Raises:
        CourseError: if there is no label or example, or no such entry.
    """
    import torch

    from seqcourse import zoo
    from seqcourse.errors import CourseError
    from seqcourse.viz.html import Shown

    system = zoo.load(model)
    size = system.model.start(batch_size=1)[1].shape[-1]
    if not 0 <= entry < size:
        raise CourseError(
            f"The cell state of {model} has entries 0 to {size - 1}, but entry is {entry}."
        )

    def run(text: str) -> Shown:
        if not text:
            raise CourseError("Write at least one character.")
        ids = system.target.encode(list(text), eos=False)
        state, values = system.model.start(batch_size=1), []
        with torch.inference_mode():
            for number in ids:
                state = system.model.step(torch.tensor([number], device=system.device), state).state
                values.append(state[1].flatten()[entry].item())
        largest = max(map(abs, values)) or 1.0
        letters = "".join(
            f'<span{" class=sq-low" if value < 0 else ""} style="--w:{abs(value) / largest:.2f}">'
            f"{html.escape(letter)}</span>"
            for letter, value in zip(text, values, strict=True)
        )
        body = (
            f'<p class="sq-heard">{html.escape(text)}</p>'
            f'<p class="sq-text sq-cells" aria-hidden="true">{letters}</p>'
        )
        return Shown(body, f"entry {entry} between {min(values):.1f} and {max(values):.1f}")

    controls = slider("Entry of the cell state", "entry", 0, size - 1, 1, entry)
    return figure("cells", {model: "The LSTM"}, label, examples, run, controls)


def merge(model: str, label: str, examples: Sequence[str]) -> Any:
    """A text to type, cut into pieces of words; in a page a slider undoes the joining of pairs.

    Make the call the last line of its cell. With a kernel the pieces are those of all pairs.

    Args:
        model: a model of the zoo that reads pieces of words.
        label: what to type.
        examples: texts; the first one is in the page.

    Raises:
        CourseError: if there is no label or example, or the model reads no pieces of words.
    """
    from seqcourse import data, zoo
    from seqcourse.errors import CourseError
    from seqcourse.viz.html import Shown

    vocabulary = zoo.load(model).source
    if not isinstance(vocabulary, data.SubwordVocabulary):
        raise CourseError(f"A model that reads pieces of words is needed, but {model} does not.")
    count = len(vocabulary.merges)

    def run(text: str) -> Shown:
        pieces = vocabulary.tokenize(text)
        shown = "".join(f"<span>{html.escape(piece)}</span> " for piece in pieces)
        return Shown(f'<p class="sq-pieces">{shown}</p>', " ".join(pieces))

    controls = slider("Pairs joined", "merges", 0, count, 1, count)
    return figure("merge", {model: "The pieces"}, label, examples, run, controls)


def classify(
    model: str,
    layer: Any,
    classes: Sequence[str],
    title: str,
    label: str,
    examples: Sequence[str],
    longest: int = 96,
) -> Any:
    """A passage to type, and the probability of each class by one layer on a GPT of the zoo.

    Make the call the last line of its cell. The layer's numbers are in the page.

    Args:
        model: a GPT of the zoo.
        layer: ``torch.nn.Linear`` from the state of a text's last token, <eos>, to the classes.
        classes: what a reader calls them.
        title: says what the probabilities are of.
        label: what to type.
        examples: passages; the first one's probabilities are in the page.
        longest: the most tokens to read.

    Raises:
        CourseError: if there is no label or example.
    """
    import torch

    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    system = zoo.load(model)
    rows = torch.cat([layer.weight, layer.bias[:, None]], 1).detach().cpu()

    def run(text: str) -> Shown:
        ids = [*system.source.encode(text.lower(), eos=False)[: longest - 1], EOS]
        with torch.inference_mode():
            state = system.model.states(torch.tensor([ids], device=system.device))[0, -1].cpu()
            shares = (rows[:, :-1] @ state + rows[:, -1]).softmax(-1).tolist()
        found = [(name, share, "") for name, share in zip(classes, shares, strict=True)]
        best, share, _ = max(found, key=lambda one: one[1])
        return Shown(bars_of(title, found), f"{best} ({share:.2f})")

    options = {
        "classes": json.dumps(list(classes)),
        "layer": json.dumps([[round(number, 5) for number in row] for row in rows.tolist()]),
        "longest": longest,
    }
    return figure("classify", {model: title}, label, examples, run, **options)


def _section(title: str, found: Any, bands: bool, texts: Sequence[str]) -> str:
    """A translation and its map; the same as the view in runtime/translating.js makes.

    Marked are the words that not all of ``texts`` have.
    """
    read, map_ = [*found.source, "<eos>"], ""
    if found.weights is not None and len(found.target):
        map_ = (
            bands_of(read, found.target, found.weights)
            if bands
            else map_of(found.target, read, found.weights, "Where it looks")
        )
    common = set.intersection(*(set(text.split(" ")) for text in texts))
    words = ((word, html.escape(word)) for word in found.text.split(" "))
    said = " ".join(shown if word in common else f"<mark>{shown}</mark>" for word, shown in words)
    return f'<section><p class="sq-note">{html.escape(title)}</p><p>{said}</p>{map_}</section>'
