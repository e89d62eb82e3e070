"""The machine room: a Transformer that stands open from what it reads to what it expects next."""

from __future__ import annotations

import html
import json
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.live.figure import bars_of, figure, png
from seqcourse.live.page import maps_of_heads, small_maps
from seqcourse.live.scenes import looks
from seqcourse.tokens import SOS, SPECIALS

# What a room's stops are called in an address, and the file that holds them.
TRANSLATOR, ROW = ("stop", "room.toml"), ("induction", "room_of_a_row.toml")
MOST_THINGS = 4  # of a scene that is typed; how they are placed, runtime/room.js knows, too
OTHER = "she drinks red wine"  # a sentence to take a state from
LONGEST_ROW = 64
CLOSED = (  # how large the model is
    '<p class="sq-room-closed">“Open the machine” loads the model ({}). '
    "Then you can look into every part of it and switch parts off.</p>"
)


@cache
def _tour(file: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))


def stops(kind: tuple[str, str] = TRANSLATOR) -> list[dict[str, Any]]:
    """The stops of the tour: a question with options, what is then done, and one sentence why."""
    return [{"changes": [], "look": None, **stop} for stop in _tour(kind[1])["stop"]]


def room(model: str, label: str, examples: Sequence[str], tour: bool = True) -> Any:
    """A Transformer with its lid off: every number can be asked where it comes from.

    Make the call the last line of its cell. In a page parts can be switched off, exchanged, moved and
    replaced, and a tour leads through the machine. With a kernel the answer, the next word's bars and
    the maps of all heads are shown, but nothing is operated.

    Args:
        model: of the zoo: a translator that is a Transformer with sinusoidal positions and pre-norm, a
            GPT of attention alone with rotary positions, which reads a row of symbols, or a Transformer
            that captions a scene.
        label: what to type.
        examples: sentences, rows, or things from left to right; the first one's answer is in the page.
        tour: with the stops, which only one page of a book can have for each kind; a captioner has none.

    Raises:
        CourseError: if there is no label or example, or the model is a GPT of another kind.
    """
    from seqcourse import zoo
    from seqcourse.live.pack import size_of
    from seqcourse.viz.html import Shown, has_widgets

    recipe, system = zoo.recipe(model), zoo.load(model)
    sees, is_row = recipe.model == "TransformerCaptioner", recipe.model == "GPT"
    if is_row and (recipe.sizes.get("hidden"), recipe.sizes.get("positions")) != (0, "rotary"):
        raise CourseError(
            f"{model} has no machine room: a GPT in one has hidden=0 and positions='rotary'."
        )
    kind, tour = ROW if is_row else TRANSLATOR, tour and not sees
    answer = _read_row if is_row else _captioned if sees else _translated

    def run(text: str) -> Shown:
        said, bars, maps = answer(system, text, has_widgets())
        return Shown(bars + (maps or (_questions(kind) if tour else "")), said)

    key, file = kind
    given = {
        "kind": "row" if is_row else "picture" if sees else "sentence",
        "stops": json.dumps(stops(kind) if tour else [], ensure_ascii=False),
        "tour": _tour(file)["leads"],
        "button": "Open the machine",
        "then": "Run",  # what the button says once it is open
        "stop": key,
        "opens": f"{key}-|room=",  # what in an address, behind the "#", opens the machine
        "other": (examples[1:] or examples)[0] if (is_row or sees) and examples else OTHER,
    }
    draws = f'<button type="button" data-shuffle="{"".join(system.source.tokens[len(SPECIALS) :])}">'
    controls = (f"{draws}A new row</button>" if is_row else "") + CLOSED.format(size_of(model))
    title = "Two layers of attention" if is_row else "The Transformer"
    return figure("room", {model: title}, label, examples, run, controls, **given)


def scene(text: str) -> Any:
    """A scene of things that are named from left to right, with commas between them.

    Raises:
        CourseError: if a thing is unknown, or there are more than four.
    """
    from seqcourse import data
    from seqcourse.live.sheet import SIZE, things

    names = [" ".join(name.split()) for name in text.lower().split(",")]
    if len(names) > MOST_THINGS or not set(names) <= set(things()):
        some = ", ".join(list(things())[:3])
        raise CourseError(
            f"Write at least one and at most {MOST_THINGS} things with commas, such as {some}."
        )
    side = min(28, 56 / len(names))
    return data.arrange(
        [(name, SIZE * (k + 0.5) / len(names), 38, side) for k, name in enumerate(names)]
    )


def _captioned(system: Any, text: str, with_maps: bool) -> tuple[str, str, str]:
    """What a captioner writes of a scene, with the scene, the bars of its first word, and its maps."""
    import torch

    found = system.caption([(shown := scene(text)).image], beam=1)[0]
    with torch.inference_mode():
        pixels = torch.as_tensor(shown.image).permute(2, 0, 1)[None].to(system.device)
        logits = system.model(pixels, None, torch.tensor([[SOS]], device=system.device)).logits[0, -1]
    said = (
        f'<img class="sq-photo" src="{png(shown.image)}" width="64" height="64" '
        f'alt="{html.escape(text)}">'
        f"<p>It writes, word by word the likeliest: <b>{html.escape(found.text)}</b></p>"
    )
    bars = bars_of("The first word", _likeliest(system, logits))
    return found.text, said + bars, looks(found.tokens, found.maps) if with_maps else ""


def _translated(system: Any, text: str, with_maps: bool) -> tuple[str, str, str]:
    """What a translator writes, the bars of its first word, the maps of its heads."""
    found = system.translate([text], beam=1)[0]
    said = f"<p>It writes, word by word the likeliest: <b>{html.escape(found.text)}</b></p>"
    bars = bars_of("The first word", next_words(system, found.source))
    return found.text, said + bars, maps_of_heads(system, found) if with_maps else ""


def _read_row(system: Any, text: str, with_maps: bool) -> tuple[str, str, str]:
    """The symbol that a model expects behind a row, the bars, the maps of its heads."""
    import torch

    tokens = "".join(text.split())
    known = system.source.tokens[len(SPECIALS) :]
    if not 1 <= len(tokens) <= LONGEST_ROW or not set(tokens) <= set(known):
        raise CourseError(
            f"Write at least one and at most {LONGEST_ROW} of the symbols {''.join(known)}."
        )
    ids = torch.tensor([system.source.encode(list(tokens), eos=False)], device=system.device)
    with torch.inference_mode():
        rows = _likeliest(system, system.model(ids).logits[0, -1])
        layers = system.model.maps(ids)[0].cpu()
    maps = "".join(small_maps("Layer", number, heads) for number, heads in enumerate(layers, start=1))
    said = f"<p>Behind this row it expects: <b>{html.escape(rows[0][0])}</b></p>"
    shown = f'<div class="sq-all-heads">{maps}</div>' if with_maps else ""
    return rows[0][0], said + bars_of("The next symbol", rows), shown


def next_words(
    system: Any, source: Sequence[str], written: Sequence[str] = (), count: int = 5
) -> list[tuple[str, float, str]]:
    """The likeliest words after some that are written, as rows of :func:`bars_of`."""
    import torch

    from seqcourse import data

    ids, lengths = data.pad([system.source.encode(source)])
    fed = torch.tensor([[SOS, *system.target.encode(written, eos=False)]])
    with torch.inference_mode():
        logits = system.model(*(x.to(system.device) for x in (ids, lengths, fed))).logits[0, -1]
    return _likeliest(system, logits, count)


def _likeliest(system: Any, logits: Any, count: int = 5) -> list[tuple[str, float, str]]:
    best = logits.softmax(-1).topk(count)
    words = [system.target.tokens[k] for k in best.indices.tolist()]
    return [(word, share, "") for word, share in zip(words, best.values.tolist(), strict=True)]


def _questions(kind: tuple[str, str]) -> str:
    """The tour's questions and their answers, for those who have no script."""
    key, rows = kind[0], ""
    for number, stop in enumerate(stops(kind), start=1):
        answer = f"{stop['options'][stop['answer']]}. {stop['because']}"
        title, question = (html.escape(stop[part]) for part in ("title", "question"))
        rows += (
            f'<li id="{key}-{number}"><b>{title}.</b> {question}'
            f"<details><summary>Answer</summary><p>{html.escape(answer)}</p></details></li>"
        )
    return f'<p class="sq-note">The stops of the tour:</p><ol class="sq-room-told">{rows}</ol>'
