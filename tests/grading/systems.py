"""A small stand-in for assignment 9: a translator that looks words up in the table of its checkpoint.

The table is counted from sentences of the hidden split's own grammar, so a system is right without
training. What a student writes is one answer cell.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy
from safetensors.numpy import save_file

from cellgrader.course.folders import Course
from seqcourse.capstone.split import words
from seqcourse.check.cards.load import load_checks

from .toy import ROOT, code

RIGHT = """
import json

TASK = "translator"


class Table:
    def __init__(self, tensors, notes):
        self.spanish = json.loads(notes["es"])
        best = tensors["table"].float().argmax(1).tolist()
        self.of = dict(zip(json.loads(notes["en"]), best))


def load(tensors, notes):
    return Table(tensors, notes)


def one(model, sentence):
    found = [model.of.get(word) for word in sentence.lower().rstrip("?.").split()]
    return " ".join(model.spanish[place] for place in found if place is not None) + "."


def translate(model, sentences):
    return [one(model, sentence) for sentence in sentences]
"""
SMALL = """
from dataclasses import replace

CHECKS = [replace(CHECKS[0], sentences=60, scenes=8)]
"""


def notebook(source: str) -> dict:
    """A notebook with this answer, the grade cell of the system, and a written report."""
    flags = {"grade": False, "solution": True, "locked": False, "task": False}
    graded = {"grade": True, "solution": False, "locked": True, "task": False, "points": 20}
    tests = (
        "# The system: 20 points.\n### BEGIN HIDDEN TESTS\nfrom seqcourse.check import verdict\n\n"
        "verdict.here('ps9', 'system-grade', globals())\n### END HIDDEN TESTS"
    )
    written = {"grade": True, "solution": True, "locked": False, "task": False, "points": 10}
    mark = {"grade_id": "report", "schema_version": 3, "cell_type": "markdown", **written}
    begin, end = "### BEGIN SOLUTION", "### END SOLUTION"
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Your system"},
        code("system", f"{begin}\n{source.strip()}\n{end}", "system", flags),
        code("system-grade", tests, "system-grade", graded),
        {"cell_type": "markdown", "id": "report", "metadata": {"nbgrader": mark}, "source": "Mine."},
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def make_course(root: Path) -> Course:
    """A course whose only assignment is ps9, with the real hidden check on a small split."""
    folder = root / "solutions" / "ps9"
    folder.mkdir(parents=True)
    (folder / "ps9.ipynb").write_text(json.dumps(notebook(RIGHT), indent=1))
    checks = root / "solutions" / "checks"
    (checks / "ps9").mkdir(parents=True)
    real = (ROOT / "solutions" / "checks" / "ps9.py").read_text(encoding="utf-8")
    (checks / "ps9.py").write_text(real + SMALL, encoding="utf-8")
    for file in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / file, root)
    table(checks / "ps9" / "ps9.safetensors")
    return Course(root)


def table(path: Path) -> None:
    """Write the right checkpoint: how often an English and a Spanish word are in the same sentence."""
    pairs = [
        (words(english), words(spanish[-1]))
        for english, spanish in islice(load_checks(ROOT, "ps9").CHECKS[0].draw(1), 3000)
    ]
    sides = [sorted({word for pair in pairs for word in pair[side]}) for side in (0, 1)]
    numbers = [{word: place for place, word in enumerate(side)} for side in sides]
    both = numpy.zeros([len(side) for side in sides], dtype=numpy.float32)
    for english, spanish in pairs:
        for word in set(english):
            for other in set(spanish):
                both[numbers[0][word], numbers[1][other]] += 1
    alone = [
        numpy.array([sum(word in pair[side] for pair in pairs) for word in sides[side]])
        for side in (0, 1)
    ]
    score = 2 * both / (alone[0][:, None] + alone[1])  # Dice's
    notes = {"en": json.dumps(sides[0]), "es": json.dumps(sides[1]), "minutes": "0.1"}
    save_file({"table": score.astype(numpy.float16)}, path, metadata=notes)


__all__ = ["RIGHT", "make_course", "notebook", "replace", "table"]
