"""A picture of clothes, chosen or drawn: what a Vision Transformer sees in it, and where it looked."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from seqcourse.errors import CourseError
from seqcourse.live.figure import frame, png, slider, style

if TYPE_CHECKING:
    from seqcourse.viz.html import Shown

ROW = 7  # patches in a row


def see(model: str, label: str, examples: Sequence[int]) -> Any:
    """A picture to choose or to draw, the probability of each kind, and the rollout of attention.

    Make the call the last line of its cell. With a kernel one types the number of a test picture.

    Args:
        model: a Vision Transformer of the zoo for Fashion-MNIST.
        label: what the pictures are.
        examples: numbers of test pictures; the first one's answer is in the page.

    Raises:
        CourseError: if there is no label or example, or no such picture.
    """
    from seqcourse import viz, zoo
    from seqcourse.viz.html import Shown, has_widgets, new_id

    if not label.strip() or not examples:
        raise CourseError("A live figure needs a label and an example.")
    system = zoo.load(model)
    pictures = [picture(number) for number in examples]
    if not has_widgets():
        first, name = _answer(system, pictures[0][0]), new_id("live", f"clothes{label}{examples}")
        models = {model: "the Vision Transformer"}
        return frame(name, "clothes", models, label, _controls(label, pictures), first)

    def run(text: str) -> Shown:
        found = _answer(system, picture(text)[0])
        return Shown(style() + found.body, found.text)

    return viz.type_in(run, f"{label}: a number from 0 to 999", [str(number) for number in examples])


def picture(number: int | str) -> tuple[numpy.ndarray, str]:
    """A test picture by its number, and its kind.

    Raises:
        CourseError: if it is no number of a picture.
    """
    from seqcourse import data

    test = data.load_fashion("test")
    if not str(number).strip().isdecimal() or int(number) >= len(test):
        raise CourseError(f"Write the number of a test picture, 0 to {len(test) - 1}, not {number!r}.")
    return test.images[int(number)], data.CLOTHES[test.labels[int(number)]]


def verdict(system: Any, image: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Log-probabilities of the kinds, (10,), and the rollout from the patches to the class token, (49,).

    The rollout's shares of the patches sum to 1.
    """
    import torch

    from seqcourse import data
    from seqcourse import functional as F

    x = data.image_tensor(image[None]).to(system.device)
    with torch.inference_mode():
        log_probs = system.model(x)[0].log_softmax(-1)
        rollout = F.attention_rollout(system.model.maps(x))[0, 0, 1:]
    return log_probs.cpu().numpy(), (rollout / rollout.sum()).cpu().numpy()


def _answer(system: Any, image: numpy.ndarray) -> Shown:
    """What the figure shows, as runtime/drawing.js changes it."""
    from seqcourse import data
    from seqcourse.viz.html import Shown

    log_probs, rollout = verdict(system, image)
    shares = numpy.exp(log_probs)
    veil = "".join(f'<i style="--w:{share / rollout.max():.3f}"></i>' for share in rollout)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(kind)}</th><td style="--w:{share:.3f}">{share:.2f}</td></tr>'
        for kind, share in zip(data.CLOTHES, shares, strict=True)
    )
    best = data.CLOTHES[int(shares.argmax())]
    body = (
        f'<div class="sq-clothes"><figure><span class="sq-canvas">{_image(image, "The picture")}</span>'
        f"<figcaption>the picture</figcaption></figure>"
        f'<figure><span class="sq-rollout" role="img" aria-label="The rollout over the picture" '
        f'style="--n:{ROW};background-image:url({png(image)})">{veil}</span>'
        f"<figcaption>the rollout</figcaption></figure>"
        f'<table class="sq-shares"><caption>Probability of each kind</caption><tbody>{rows}</tbody>'
        f"</table></div>"
    )
    return Shown(body, best)


def _controls(label: str, pictures: Sequence[tuple[numpy.ndarray, str]]) -> str:
    """Pictures to choose, and what to draw with."""
    buttons = "".join(
        f'<button type="button" data-picture>{_image(image, kind)}</button>' for image, kind in pictures
    )
    return (
        f'<span class="sq-pictures" role="group" aria-label="{html.escape(label)}">{buttons}</span>'
        f"{slider('Brush', 'brush', 1, 8, 1, 3)}{slider('Grey', 'shade', 0, 255, 15, 210)}"
        f'<input type="hidden" name="strokes" value="0"><button type="button" data-clear>Clear</button>'
    )


def _image(image: numpy.ndarray, alt: str) -> str:
    return (
        f'<img class="sq-photo dark-light" data-inside src="{png(image)}" alt="{alt}" '
        f'width="28" height="28">'
    )
