"""Draw the README's picture, where the course's model looks while it translates one sentence, and the
small pictures of the four parts on the book's first page.

Run it from the root of the repository: ``python book/make_cover.py``. It writes
``book/_static/attention.png`` and ``book/_static/parts/``. Every number in them is computed.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy
import torch
from PIL import Image

from seqcourse import data, viz, zoo

SENTENCE = "My little brother is reading a very interesting book."
TARGET = Path(__file__).parent / "_static" / "attention.png"
PARTS = Path(__file__).parent / "_static" / "parts"
THING = "drum"  # in the first scene of the test part
SIDE = 96  # of a small picture, in pixels


def squares(values: torch.Tensor) -> str:
    """A map as an SVG of squares, the largest value of each row in full colour."""
    rows, columns = values.shape
    step = SIDE / max(rows, columns)
    left, top = (SIDE - columns * step) / 2, (SIDE - rows * step) / 2
    shapes = [
        f'<rect x="{left + j * step + 0.5:.1f}" y="{top + i * step + 0.5:.1f}" width="{step - 1:.1f}" '
        f'height="{step - 1:.1f}" opacity="{0.08 + 0.92 * value:.2f}"/>'
        for i, row in enumerate(values / values.max(1, keepdim=True).values)
        for j, value in enumerate(row.tolist())
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" fill="#2a86c4">'
    return "\n".join([head, *shapes, "</svg>\n"])


def influence(length: int = 7) -> torch.Tensor:
    """How much each state of an untrained recurrent network depends on each input, (length, length)."""
    torch.manual_seed(0)
    network, inputs = torch.nn.RNN(8, 32), torch.randn(length, 1, 8, requires_grad=True)
    states, _ = network(inputs)
    return torch.stack(
        [
            torch.autograd.grad(state.norm(), inputs, retain_graph=True)[0].flatten(1).norm(dim=1)
            for state in states
        ]
    )


def parts() -> None:
    """A memory that fades, two alignments by two models, and the place of a thing in a picture."""
    PARTS.mkdir(exist_ok=True)
    bread = zoo.load("en-es-attention").translate(["we are eating bread"])[0].weights
    longer = zoo.load("en-es-transformer").translate([SENTENCE])[0].weights
    for number, values in ((1, influence()), (2, bread), (3, longer)):
        (PARTS / f"part-{number}.svg").write_text(squares(torch.as_tensor(values)), encoding="utf-8")
    scene = data.load_scenes("test", 1)[0].image
    told = zoo.load("captions-soft").caption([scene])[0]
    at = told.tokens.index(THING)
    share = 0.8 * numpy.kron(told.maps[at] / told.maps[at].max(), numpy.ones((8, 8)))[..., None]
    lit = scene * (1 - share) + numpy.array([237, 166, 28]) * share
    Image.fromarray(lit.astype("uint8")).resize((2 * SIDE, 2 * SIDE)).save(PARTS / "part-4.webp")
    print(f"{told.text}: where it looks for {THING!r}")


def main() -> None:
    """Translate the sentence with the checkpoint ``en-es-attention`` and draw its attention."""
    viz.use_style()
    found = zoo.load("en-es-attention").translate([SENTENCE])[0]
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    viz.alignment(found.weights, [*found.source, "<eos>"], found.target, ax=ax)
    figure.savefig(TARGET, dpi=160, facecolor="white")
    print(f"{SENTENCE} -> {found.text}; drawn in {TARGET.name}")
    parts()


if __name__ == "__main__":
    main()
