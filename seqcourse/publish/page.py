"""The page of one's own model: one HTML file with the model, its runtime and what is known of it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import lzma
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

from seqcourse.errors import CourseError
from seqcourse.live import figure, sheet
from seqcourse.publish import export
from seqcourse.publish.contract import LONGEST, PIXELS, SENTENCES, WORDS, Contract, contract, settle
from seqcourse.publish.score import score
from seqcourse.publish.system import PublishedSystem, of_space, own_system
from seqcourse.tokens import SOS, SPECIALS
from seqcourse.viz.html import STYLE, image_tag

FILES, ORT = Path(__file__).parent / "page_files", Path(__file__).parent / "ort"
SCRIPTS = {
    "translator": ("text", "show"),
    "captioner": ("show", "scenes", "looks", "compose"),
    "speller": ("text", "show"),
}
TITLES = {
    "translator": "English to Spanish",
    "captioner": "What is in the picture?",
    "speller": "How is it said?",
}
LABELS = {
    "translator": "An English sentence",
    "captioner": "A scene to compose",
    "speller": "An English word",
}
# The runtime's compose.js knows the second.
VIEWS = {"translator": "translate", "captioner": "caption", "speller": "pronounce"}
NOTHING = "(no word)"
SCENE = {"ground": "plain", "things": [["camel", 13, 32, 24], ["pink flamingo", 51, 34, 24]]}
HELD_OUT = 200


def publish(notebook: Path, out: Path, names: str = "", title: str = "", count: int = HELD_OUT) -> str:
    """Write the page of a notebook's trained system.

    Args:
        notebook: psN.ipynb with the checkpoint beside it.
        out: where the page goes.
        names: of its authors, as they want to be named.
        title: the page's heading; one of the task without.
        count: held-out sentences or scenes for the score; 0 leaves it out.

    Returns:
        What was written, in a sentence or two.

    Raises:
        CourseError: see ``own_system``, ``contract`` and ``export``; or another file is in the place.
    """
    if out.exists() and not _is_page(out):
        raise CourseError(
            f"{out.name} is there, and was not written by `seqcourse publish` (a notebook exported as "
            f"HTML, perhaps): move it, or choose another --out."
        )
    system = own_system(notebook)
    made = contract(system)
    traced = export.program(made, system.name)
    graph = export.onnx(traced, made, system.name)
    settle(made, system)
    reached = score(system, count)
    text = whole(system, made, graph, {"names": names, "title": title, "score": reached})
    out.parent.mkdir(parents=True, exist_ok=True)
    beside = out.with_name(f".{out.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(out)
    said = f"{len(text) / 1e6:.1f} MB. {agreement(made)}"
    return f"{said} {reached}." if reached else said


def _is_page(path: Path) -> bool:
    """Whether a file is such a page, which a new one may replace."""
    return path.is_file() and b'id="own-facts"' in path.read_bytes()


def ready(space: Mapping[str, Any], notebook: str | Path = "ps9.ipynb") -> None:
    """Say whether this notebook's model can become a page; a quick training's file is enough.

    Raises:
        CourseError: it cannot; the sentence names the line.
    """
    system = of_space(space, Path(notebook))
    made = contract(system)
    export.program(made, system.name)
    settle(made, system)
    print(f"Your model can become a page. {agreement(made)}")


def agreement(made: Contract) -> str:
    """How the page's decoding compares with the student's own."""
    long = ""
    if made.sizes:
        reads = f"reads at most {made.sizes[0]} words and signs and " if made.source else ""
        long = (
            f" It {reads}writes at most {made.sizes[1] - 1}: a loop over words has one length in a page."
        )
    if made.agree == made.tried:
        return f"On {made.tried} of {made.tried} inputs greedy decoding says what your own does.{long}"
    return (
        f"The page decodes greedily: on {made.agree} of {made.tried} inputs it says what your own "
        f"function does.{long}"
    )


def whole(system: PublishedSystem, made: Contract, graph: bytes, told: Mapping[str, str]) -> str:
    """The page as text."""
    title = told["title"] or TITLES[system.task]
    parts = {
        "TITLE": html.escape(title),
        "STYLE": _styles(),
        "NAMES": f'<p class="own-names">{html.escape(told["names"])}</p>' if told["names"] else "",
        "FIGURE": _figure(system, made),
        "ABOUT": _about(system, made, told["score"]),
        "FACTS": _json(_facts(made)),
        "SHEET": sheet.script() if system.task == "captioner" else "",
        "SCRIPTS": "\n".join(_file("runtime", f"{name}.js") for name in SCRIPTS[system.task]),
        "START": _file("page.js"),
        "LICENCE": (ORT / "LICENSE").read_text(encoding="utf-8").strip(),
        "ORT": runtime(),
        "WASM": _packed(lzma.decompress((ORT / "ort-wasm-simd-threaded.wasm.xz").read_bytes())),
        "MODEL": _packed(graph),
    }
    frame = (FILES / "page.html").read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], frame)


def _packed(data: bytes) -> str:
    """As a browser unpacks it: gzip, in base64."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _styles() -> str:
    """The book's style sheets, then the page's own."""
    return STYLE[len("<style>") : -len("</style>")] + _file("runtime", "live.css") + _file("page.css")


def _file(*names: str) -> str:
    folder = figure.RUNTIME if names[0] == "runtime" else FILES
    return (folder / names[-1]).read_text(encoding="utf-8")


@cache
def runtime() -> str:
    """ONNX Runtime Web as the body of a function: a module inside a page cannot be imported."""
    text = (ORT / "ort.wasm.bundle.min.mjs").read_text(encoding="utf-8")
    found = re.search(r"export\{([^}]*)\};?\s*(//# sourceMappingURL=.*\s*)?$", text)
    if found is None or "</script" in text:
        raise CourseError("ort.wasm.bundle.min.mjs should end with its exports, but does not.")
    names = (re.split(r"\s+as\s+", pair.strip()) for pair in found[1].split(","))
    bound = ",".join(f"{name[-1]}:{name[0]}" for name in names)
    return f"{text[: found.start()]};return {{{bound}}};"


def _json(facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _finite(numbers: list[float]) -> list[float | None]:
    """Numbers as JSON has them: it knows neither -inf, where code forbids a word, nor NaN."""
    return [round(x, 6) if math.isfinite(x) else None for x in numbers]


def _facts(made: Contract) -> dict[str, Any]:
    """What the page's script needs to know, with an example that it computes again."""
    dice = torch.Generator().manual_seed(0)
    picture = torch.randint(256, (1, 3, PIXELS, PIXELS), generator=dice, dtype=torch.uint8)
    what = (
        made.read(WORDS[0] if made.task == "speller" else SENTENCES[0])
        if made.source
        else picture.float() / 255
    )
    written = [SOS, *made.greedy(what)[:3]]
    with torch.inference_mode():
        last = made.module(*made.given(what), made.wrote(written))[0][0, len(written) - 1]
    example = {"read": what if made.source else picture.permute(0, 2, 3, 1).flatten().tolist()}
    return {
        "task": made.task,
        "label": LABELS[made.task],
        "specials": len(SPECIALS),
        "source": list(made.source.tokens) if made.source else [],
        "target": list(made.target.tokens),
        "sizes": made.sizes,
        "longest": LONGEST,
        "stops": made.stops,
        "ends": made.ends,
        "example": {**example, "written": written, "last": _finite(last.tolist())},
    }


def _figure(system: PublishedSystem, made: Contract) -> str:
    """The form, with the first answer, which is also what is printed."""
    if system.task == "captioner":
        return _scene(made)
    texts = WORDS if system.task == "speller" else SENTENCES
    (first,) = system.say([texts[0]])
    field = (
        f'<label for="own-text">{LABELS[system.task]}</label> <input id="own-text" name="text" '
        f'value="{html.escape(texts[0])}" maxlength="300" autocomplete="off" spellcheck="false">'
    )
    tried = "".join(f'<button type="button">{html.escape(each)}</button>' for each in texts[2:5])
    examples = f'<p class="sq-examples">Or try {tried}</p>'
    button = VIEWS[system.task].capitalize()
    return _card(system.task, field, button, examples, f"<p>{html.escape(first or NOTHING)}</p>")


def _card(task: str, fields: str, button: str, examples: str, first: str, data: str = "") -> str:
    return (
        f'<div class="sq sq-card" id="own" role="group" aria-label="{LABELS[task]}" '
        f'data-live="{VIEWS[task]}" data-models="{{&quot;own&quot;: &quot;own&quot;}}" {data}>'
        f'<form class="sq-controls" id="own-form">'
        f'{fields} <button type="submit">{button}</button>{examples}</form>'
        f'<p role="status" aria-live="polite">One moment: the model is unpacked …</p>'
        f'<div class="sq-live">{first}</div></div>'
    )


def _scene(made: Contract) -> str:
    """A scene to compose and its first caption."""
    from seqcourse import data

    things = [tuple(thing) for thing in SCENE["things"]]
    scene = data.arrange(things, background=sheet.grounds()[SCENE["ground"]])
    picture = torch.tensor(scene.image).permute(2, 0, 1)[None].float() / 255
    said, source = made.text(made.greedy(picture)), figure.png(scene.image)
    stage = (
        f'<div class="sq-stage"><img class="sq-photo" src="{source}" width="64" height="64" '
        f'alt="A scene with a camel and a pink flamingo"></div>'
        f'<div class="sq-answers"><p class="sq-told">{html.escape(said or NOTHING)}</p></div>'
    )
    data_scene = f'data-scene="{html.escape(json.dumps(SCENE))}"'
    return _card("captioner", "", "Move the things", "", stage, data_scene)


def _about(system: PublishedSystem, made: Contract, reached: str) -> str:
    """The score, the size and the learning curve."""
    numbers = sum(each.numel() for each in made.module.parameters())
    rows = [("Score", reached)] if reached else []
    rows.append(("Numbers in the model", f"{numbers:,}"))
    if minutes := system.notes.get("minutes"):
        rows.append(("Training", f"{minutes} minutes"))
    if system.is_quick:
        rows.append(("State", "a trial: the long training has not run yet"))
    table = "".join(
        f'<tr><th scope="row">{name}</th><td>{html.escape(value)}</td></tr>' for name, value in rows
    )
    return f'<div class="sq"><table>{table}</table>{_curve(system.notes.get("losses", ""))}</div>'


def _curve(stored: str) -> str:
    """The learning curve of the losses that the notes hold: [steps, [mean, mean, ...]]; "" without."""
    try:
        steps, means = json.loads(stored)
        steps, means = int(steps), [float(each) for each in means]
    except (ValueError, TypeError, OverflowError):
        return ""
    if len(means) < 2:
        return ""
    import matplotlib.pyplot as plt

    from seqcourse import viz

    at: Sequence[float] = [steps * (k + 1) / len(means) for k in range(len(means))]
    with plt.rc_context():
        viz.use_style()
        viz.curves({"training loss": means}, x=at, xlabel="step", ylabel="loss", markers=False)
        drawn = plt.gcf()
        alt = f"Training loss over {steps:,} steps: from {means[0]:.2f} to {means[-1]:.2f}"
        drawn.set_size_inches(4.6, 2.6)  # readable on a phone, where it shrinks little
        shown = image_tag(drawn, alt)
        plt.close(drawn)
    return f"<figure>{shown}<figcaption>{alt}.</figcaption></figure>"
