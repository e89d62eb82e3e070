"""Draw the README's picture: where the course's model looks while it translates one sentence.

Run it from the root of the repository: ``python book/make_cover.py``. It writes
``book/_static/attention.png``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from seqcourse import viz, zoo

SENTENCE = "My little brother is reading a very interesting book."
TARGET = Path(__file__).parent / "_static" / "attention.png"


def main() -> None:
    """Translate the sentence with the checkpoint ``en-es-attention`` and draw its attention."""
    viz.use_style()
    found = zoo.load("en-es-attention").translate([SENTENCE])[0]
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    viz.alignment(found.weights, [*found.source, "<eos>"], found.target, ax=ax)
    figure.savefig(TARGET, dpi=160, facecolor="white")
    print(f"{SENTENCE} -> {found.text}; drawn in {TARGET.name}")


if __name__ == "__main__":
    main()
