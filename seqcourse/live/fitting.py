"""A live figure: two captions, and which of some pictures each of them fits."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy

from seqcourse.errors import CourseError
from seqcourse.live.figure import frame, percent, png, style, text_field
from seqcourse.live.scenes import Placed
from seqcourse.tokens import SOS

MOST = 24  # words of a caption that a captioner reads; runtime/pictures.js has it, too
KEYS = {"text": "First caption", "other": "Second caption"}
TITLE = "Each caption's shares of the pictures, and below each its {}"


def fit(model: str, label: str, scenes: Sequence[Sequence[Placed]], captions: Sequence[str]) -> Any:
    r"""Two captions to type, and the probability of each picture given each caption.

    .. math:: P(x_k \mid y) = P(y \mid x_k) / \sum_j P(y \mid x_j)

    Every picture is equally likely beforehand; :math:`P(y \mid x)` comes from a captioner that reads the
    caption word by word (Bayes' rule), or is the exponential of the score of a pair of encoders, as in
    its loss. Make the call the last line of its cell.

    Args:
        model: a captioner or a ``ScenePair`` of the zoo.
        label: what the figure is for.
        scenes: the things of each picture, see ``data.arrange``.
        captions: at least two; the shares of the first two are in the page, the others are to try.

    Raises:
        CourseError: if there is no label, fewer than two pictures or captions, or a caption that the
            model cannot read.
    """
    from seqcourse import data, zoo
    from seqcourse.viz.html import Shown, has_widgets, new_id

    if not label.strip() or min(len(scenes), len(captions)) < 2:
        raise CourseError("This live figure needs a label, two pictures and two captions.")
    system, made = zoo.load(model), [data.arrange(things) for things in scenes]

    def run(texts: Sequence[str]) -> Shown:
        return _answer(system, made, texts)

    if has_widgets():
        return _form(run, captions)
    name = new_id("live", f"fit{label}{scenes}")
    fields = "".join(
        text_field(name, title, text, key=key)
        for (key, title), text in zip(KEYS.items(), captions, strict=False)
    )
    first = run(captions[:2])
    return frame(name, "fit", {model: "the model"}, label, fields, first, examples=captions[2:])


def words_of(system: Any, text: str) -> list[str]:
    """The words of a caption.

    Raises:
        CourseError: if the model cannot read it.
    """
    words = text.lower().rstrip(" .").split()
    if not any(letter.isalnum() for letter in text):
        raise CourseError("Write a caption with at least one word.")
    strange = next((word for word in words if word not in system.target), None)
    if strange is not None:
        raise CourseError(
            f'The model does not know the word "{strange}". It knows a, an, two, three, four; and, '
            "next to, left of, right of, above, below; and the things of its training, with their "
            "colours."
        )
    most = system.model.longest - 1 if _is_pair(system) else MOST
    if len(words) > most:
        raise CourseError(f"This model reads at most {most} words; these are {len(words)}.")
    return words


def fits(
    system: Any, pictures: Sequence[numpy.ndarray], texts: Sequence[str]
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The score of each caption with each picture, and the shares, both (captions, pictures).

    A captioner's score is the log-probability per word, <eos> included; a pair's its scaled cosine. The
    shares of a caption sum to 1.
    """
    import torch

    from seqcourse import data, decode

    images = data.to_tensor(numpy.stack(pictures)).to(system.device)
    if _is_pair(system):
        ids = [[SOS, *system.target.encode(words_of(system, text), eos=False)] for text in texts]
        tokens, many = data.pad(ids)
        with torch.inference_mode():
            scores = system.model(images, tokens.to(system.device), many).T.cpu()
        return scores.numpy(), scores.softmax(-1).numpy()
    with torch.inference_mode():
        memory = system.model.encode(images)
    totals, lengths = [], []
    for text in texts:
        ids = system.target.encode(words_of(system, text), eos=False)
        totals.append(decode.score(system.model, memory, [ids] * len(pictures)))
        lengths.append(len(ids) + 1)
    log_probs = torch.stack(totals)
    return (log_probs / torch.tensor(lengths)[:, None]).numpy(), log_probs.softmax(-1).numpy()


def _answer(system: Any, scenes: Sequence[Any], texts: Sequence[str]) -> Any:
    """The pictures, and below them the shares of each caption; the same as runtime/fitting.js makes."""
    from seqcourse.viz.html import Shown

    title = TITLE.format("score" if _is_pair(system) else "log-probability per word")
    scored, shares = fits(system, [scene.image for scene in scenes], texts)
    head = "".join(
        f'<th scope="col"><img class="sq-photo" data-inside src="{png(scene.image)}" width="64" '
        f'height="64" alt="{html.escape(scene.caption)}">picture {number}</th>'
        for number, scene in enumerate(scenes, start=1)
    )
    body, said = "", []
    for text, logs, row in zip(texts, scored, shares, strict=True):
        best = int(row.argmax())
        cells = "".join(_cell(row[k], logs[k], k == best) for k in range(len(scenes)))
        body += (
            f'<tbody><tr><th scope="rowgroup" colspan="{len(scenes)}">{html.escape(text)}</th></tr>'
            f"<tr>{cells}</tr></tbody>"
        )
        said.append(f"{text!r} fits picture {best + 1} best ({percent(row[best])})")
    return Shown(
        f'<table class="sq-fits"><caption>{title}</caption><thead><tr>{head}</tr></thead>{body}</table>',
        "; ".join(said),
    )


def _is_pair(system: Any) -> bool:
    return hasattr(system.model, "see")


def _cell(share: float, score: float, is_best: bool) -> str:
    """A share as a bar, marked if it is the caption's largest, and the score."""
    value, mark = f"{score:.2f}".replace("-", "\u2212"), ' class="sq-best"' if is_best else ""
    note = f"best, {value}" if is_best else value
    return f'<td{mark} style="--w:{share:.3f}">{html.escape(percent(share))} <small>{note}</small></td>'


def _form(run: Any, captions: Sequence[str]) -> Any:
    """Two boxes of ipywidgets, and PyTorch's answer below them."""
    import ipywidgets as widgets

    from seqcourse.viz.html import STYLE

    boxes = [
        widgets.Text(value=text, description=title, continuous_update=False)
        for title, text in zip(KEYS.values(), captions, strict=False)
    ]
    shown = widgets.HTML()

    def update(_change: Any = None) -> None:
        try:
            body = run([box.value for box in boxes]).body
        except CourseError as error:
            body = f'<p class="sq-answer">{html.escape(str(error))}</p>'
        shown.value = f'{STYLE}{style()}<div class="sq"><div class="sq-live">{body}</div></div>'

    update()
    for box in boxes:
        box.style.description_width = "initial"
        box.layout = widgets.Layout(width="auto", flex="1 1 20rem")
        box.observe(update, names="value")
    wrap = widgets.Layout(flex_flow="row wrap")
    return widgets.VBox([widgets.HBox(boxes, layout=wrap), shown])
