"""The times that the first page promises follow from words and lines of code."""

from __future__ import annotations

import json
import re

import pytest

from seqcourse.cli import reading
from seqcourse.cli.root import find_root

BOOK = find_root() / "book"
CARD = ":::{grid-item-card} 5 · Attention\n:link: 05_attention\n:link-type: doc\nWhat it is.\n:::\n"


def cell(kind, text, **metadata):
    return {"cell_type": kind, "source": text.splitlines(keepends=True), "metadata": metadata}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Three short words.", 3),
        ("It doesn't matter: 1,000 times.", 5),
        ('<a id="sec-here"></a>\n## A title', 2),
        (":::{admonition} The question\n:class: question\nWhy not?\n:::", 2),
        (
            "1. Why?\n\n   :::{admonition} Answer\n   :class: dropdown\n   Never mind.\n   :::\n2. How?",
            4,
        ),
        ("Why?\n\n```{dropdown} Answer\nNever mind.\n```\n\nHow?", 2),
        ("See [the last chapter](13_image.ipynb) ([Lu, 2019](https://a.org/1)).", 6),
        ("The weight $a_{t,i}$ is small.", 5),
        ('So\n<a id="eq-x"></a>\n\n$$\na = b\n$$\n\nholds.', 2 + reading.WORDS_OF_A_FORMULA),
    ],
)
def test_words_are_what_a_reader_reads(text, count):
    assert reading.words(text) == count


def test_folded_code_does_not_count_and_captions_do():
    notebook = {
        "cells": [
            cell("markdown", "Two words."),
            cell("code", "a = 1\n\nprint(a)"),
            cell("code", "draw()", tags=["hide-input"]),
            cell("markdown", '<a id="fig-x"></a>**Figure 1.2.** Four of them'),
            cell("code", "viz.poll('x')", tags=["remove-input"]),
        ]
    }  # fmt: skip
    assert reading.count(notebook) == (7, 2)


def test_pages_of_one_chapter_are_added_and_rounded(tmp_path):
    prose = {"cells": [cell("markdown", "word " * 10 * reading.WORDS_A_MINUTE)]}
    code = {"cells": [cell("code", "x = 1\n" * 21 * reading.LINES_A_MINUTE)]}
    for name, notebook in (("05_a", prose), ("05b_c", code), ("06_d", prose)):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook))
    assert reading.chapters(tmp_path) == {"05": (10, 30), "06": (10, 10)}


def test_times_are_written_once_into_each_card():
    index = CARD + "\nA chapter takes 25 to 45 minutes.\n\n:::\n"
    first = reading.with_times(index, {"05": reading.Times(30, 70)})
    assert first.count("*30 minutes to read, 70 with the code.*\n:::") == 1
    assert "A chapter takes 30 to 30 minutes to read, 70 to 70 with the code." in first
    again = reading.with_times(first, {"05": reading.Times(35, 75)})
    assert again == first.replace("30", "35").replace("70", "75")


def test_the_first_page_is_honest():
    """A chapter that has grown or shrunk by more than a step: python -m seqcourse.cli.reading."""
    index, found = (BOOK / "index.md").read_text(encoding="utf-8"), reading.chapters(BOOK)
    card = r"^:link: (\d\d)_.*?^\*(\d+) minutes to read, (\d+) with the code\.\*$"
    said = re.findall(card, index, re.M | re.S)
    assert [number for number, *_ in said] == sorted(found)
    for number, prose, with_code in said:
        assert abs(int(prose) - found[number].prose) <= reading.STEP, number
        assert abs(int(with_code) - found[number].with_code) <= 2 * reading.STEP, number
