"""Numbers and sources in the pages' texts: what every viewer of notebooks shows, and the site reads."""

from __future__ import annotations

import json
import re

import pytest

from seqcourse.pages import plain

from .finding import ROOT, notebooks, read, text

SOURCES = {
    "cho2014": ("Cho et al.", "2014a", "https://a.org/1"),
    "watson1964": ("Watson", "1964", "https://a.org/2"),
}
BOOK = plain.Book(
    pages={"fig-look": "a.ipynb", "eq-qkv": "a.ipynb", "sec-here": "b.ipynb"},
    texts={"fig-look": "Figure 6.2", "eq-qkv": "(6.8)", "sec-here": "What if $T = 1000$?"},
    sources=SOURCES,
)
PAIRS = [
    ("See {numref}`fig-look`.", "See [Figure 6.2](#fig-look)."),
    ("this is {eq}`eq-qkv` for", "this is [(6.8)](#eq-qkv) for"),
    ("see {ref}`sec-here`", "see [What if $T = 1000$?](b.ipynb#sec-here)"),
    ("see [below](#sec-here)", "see [below](b.ipynb#sec-here)"),
    ("as {cite:t}`cho2014` do", "as [Cho et al. (2014a)](https://a.org/1) do"),
    (
        "so {cite:p}`cho2014,watson1964`.",
        "so ([Cho et al., 2014a](https://a.org/1); [Watson, 1964](https://a.org/2)).",
    ),
    ("(sec-here)=\n\n## What if", '<a id="sec-here"></a>\n## What if'),
    (
        "Words:\n\n$$\na\n= b\n$$ (eq-qkv)\n\nand\n\n$$\nc\n$$",
        'Words:\n<a id="eq-qkv"></a>\n\n$$\\begin{equation*}\na\n= b \\tag{6.8}\n\\end{equation*}$$'
        "\n\nand\n\n$$\\begin{equation*}\nc\n\\end{equation*}$$",
    ),
    (
        "$$\na\n$$\n\n$$\nb\n$$ (eq-qkv)",
        "$$\\begin{equation*}\na\n\\end{equation*}$$\n\n"
        '<a id="eq-qkv"></a>\n\n$$\\begin{equation*}\nb \\tag{6.8}\n\\end{equation*}$$',
    ),
    ("[code](https://b.org/x) and [a page](b.ipynb)", "[code](https://b.org/x) and [a page](b.ipynb)"),
]
RAW = re.compile(r"\{(?:numref|eq|ref|doc|cite:?\w?)\}`|^\([\w-]+\)=|\$\$ *\([\w-]+\)", re.M)


@pytest.mark.parametrize(("roles", "shown"), PAIRS)
def test_roles_become_plain_text_and_the_site_reads_roles_again(roles, shown):
    assert plain.as_plain(roles, BOOK, "a.ipynb") == shown
    assert plain.as_roles(shown, BOOK.keys()) == roles


def test_old_numbers_are_renewed():
    old = (
        'See [Figure 9.9](#fig-look), [(1.1)](#eq-qkv), [Old title](#sec-here).\n<a id="eq-qkv"></a>\n\n'
    )
    old += "$$\\begin{equation*}\na \\tag{1.1}\n\\end{equation*}$$"
    new = plain.as_plain(old, BOOK, "b.ipynb")
    assert new.startswith("See [Figure 6.2](a.ipynb#fig-look), [(6.8)](a.ipynb#eq-qkv), [What if")
    assert r"\tag{6.8}" in new and "1.1" not in new


def test_a_caption_is_a_cell_after_its_figure_and_the_site_finds_it_in_the_metadata():
    figure = {"figure": {"caption": "It *rises*, see {eq}`eq-qkv`.", "name": "fig-look"}}
    drawn = {"cell_type": "code", "id": "x", "metadata": {"mystnb": figure}, "source": ["draw()"]}
    shown = plain.notebook_as_plain({"cells": [drawn]}, BOOK, "a.ipynb")
    code, caption = shown["cells"]
    assert code["metadata"] == {} and caption["id"] == "x-caption"
    assert "".join(caption["source"]) == (
        '<a id="fig-look"></a>**Figure 6.2.** It *rises*, see [(6.8)](#eq-qkv).'
    )
    assert plain.notebook_as_roles(shown, BOOK.keys()) == {"cells": [drawn]}


@pytest.fixture(scope="module")
def as_it_is():
    """The numbers of the book, of all its pages."""
    return plain.read_book(ROOT)


@pytest.mark.parametrize("path", [path for _, path in plain.pages(ROOT)], ids=lambda path: path.stem)
def test_the_numbers_in_the_text_are_those_of_the_book(path, as_it_is):
    assert path.read_text(encoding="utf-8") == plain.renewed(path, as_it_is), "make numbers"


@pytest.mark.parametrize("name", notebooks("book", "solutions", "assignments"))
def test_nothing_is_written_for_the_site_alone(name):
    for cell in read(name)["cells"]:
        if cell["cell_type"] == "markdown":
            assert not (found := RAW.search(text(cell))), f"{cell['id']}: {found.group()}"
        assert "figure" not in cell["metadata"].get("mystnb", {}), f"{cell['id']}: make numbers"


def test_a_notebook_is_written_as_it_is_stored():
    path = ROOT / "book/08_masking.ipynb"
    stored = path.read_text(encoding="utf-8")
    assert json.dumps(json.loads(stored), indent=1, ensure_ascii=False) + "\n" == stored
