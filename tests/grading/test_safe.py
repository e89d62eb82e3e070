"""Markdown and formulas of students: what stays, and that nothing that stays can do anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter
from nbformat import v4

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.pages.formulas import ELEMENTS, mathml
from cellgrader.pages.safe import LEFT_OUT, TAGS, MakeSafe, markdown, render
from cellgrader.processes.limited import limited
from tests.sizes import nightly_but

from .toy import ROOT

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)


class Elements(HTMLParser):
    """Every element of a page, with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.found.append((tag, dict(attributes)))

    handle_startendtag = handle_starttag


def assert_harmless(page: str) -> None:
    for tag, attributes in Elements(page).found:
        assert tag in TAGS | ELEMENTS, tag
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("id", "name", "srcset", "formaction")
            if name == "src":
                assert value.startswith(("data:image/png", "data:image/jpeg"))
            if name == "href":
                assert re.match(r"https?://|mailto:|#", value, re.I)


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("**bold** and `code`", "<strong>bold</strong> and <code>code</code>"),
        ("| a | b |\n|---|--:|\n| 1 | 2 |", "<td>1</td>"),
        ("[a page](https://example.org/x)", '<a href="https://example.org/x">a page</a>'),
        ("```python\nx = 1\n```", 'class="highlight"'),
        ("```ruby\nx = 1\n```", "<code>x = 1"),
        ("<b>1</b> <details><summary>s</summary>x</details>", "<summary>s</summary>"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)"),
        ("$x_1 < 2$", "<msub><mi>x</mi><mn>1</mn></msub>"),
        (r"\begin{align}a &= b\end{align}", "<mtable"),
    ],
)
def test_what_stays(source, kept):
    page = render(source)
    assert kept in page
    assert_harmless(page)


def test_an_attached_picture_stays_and_no_other():
    picture = {"a.png": {"image/png": "QUJD"}, "b.svg": {"image/svg+xml": "PHN2Zy8+"}}
    assert 'src="data:image/png;base64,QUJD"' in render("![a](attachment:a.png)", picture)
    for other in ("attachment:b.svg", "attachment:c.png", "https://example.org/x.png", "x.png"):
        page = render(f"![b]({other})", picture)
        assert "src=" not in page or 'src=""' in page
        assert_harmless(page)


PIECES = [
    *"<>\"'`$|!{}\\)",
    *("$$", "[", "](", "\n", "\n\n", " ", "word", "&lt;", "<!--", "-->", "<style>", "<math>"),
    *("<script>", "</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<a href="),
    *("javascript:alert(1)", "data:text/html,x", "\\text{", "\\begin{align}", "\\end{align}"),
    *("<details open ontoggle=alert(1)>", "<td style="),
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_nothing_that_stays_can_do_anything(parts):
    assert_harmless(render("".join(parts)))


def test_a_page_is_made_of_a_bounded_text():
    """The time of some texts grows with the square of their length: formulas that never end."""
    honest = [v4.new_markdown_cell("Because of this. " * 500) for _ in range(9)]
    hostile = [v4.new_markdown_cell("\\begin{a}" * 14_000) for _ in range(9)]
    code = [v4.new_code_cell("x = 1\n" * 100_000)]
    book, _ = MakeSafe().preprocess(v4.new_notebook(cells=[*honest, *code, *hostile]), {})
    kept = [cell.source for cell in book.cells]
    assert kept[:9] == [cell.source for cell in honest]
    assert all(len(text) < 101_000 and text.endswith(LEFT_OUT) for text in kept[9:])
    assert sum(map(len, kept[10:])) < bounds.ALL_MARKDOWN + 1_000
    assert render(kept[-1])


@pytest.mark.parametrize("unit", nightly_but([" \n"], [" \n", "\n", "a."]))
def test_a_page_keeps_no_lexer_busy(unit):
    """What a page shows of a student's code is coloured within the limit, whatever language it names.

    IPython's own lexer takes minutes for as many blank lines.
    """
    hostile = f"x = 1\n{unit * (15_000 // len(unit))}\ny = 1"
    fenced = f"```{{}}\n{hostile}\n```"
    texts = [v4.new_markdown_cell(fenced.format(name)) for name in ("ipython3", "ruby", "scala")]
    book = v4.new_notebook(cells=[v4.new_code_cell(hostile), *texts])
    book.metadata.language_info = {"name": "python", "pygments_lexer": "ipython3"}

    def page() -> str:
        safe, _ = MakeSafe().preprocess(book, {})
        return HTMLExporter(filters={"markdown2html": markdown}).from_notebook_node(safe)[0]

    made = limited("It", page)
    assert made.count("y") >= 4


# Assignment 9 has no formulas.
@pytest.mark.parametrize("name", [name for name in Course(ROOT).names() if name != "ps9"])
def test_every_formula_of_the_assignments_is_drawn(name):
    cells = notebooks.read(ROOT / "assignments" / name / f"{name}.ipynb")["cells"]
    text = "\n".join(notebooks.text(cell) for cell in cells if cell["cell_type"] == "markdown")
    formulas = [block or inline for block, inline in FORMULA.findall(text)]
    assert len(formulas) > 20
    assert [tex for tex in formulas if not mathml(tex).startswith("<math")] == []


@pytest.mark.parametrize(
    "tex", [r"\unknowncommand{x}", "x^", "{", "x" * 10_000, r"\href{javascript:x}{y}"]
)
def test_a_formula_that_cannot_be_drawn_is_shown_as_it_is(tex):
    made = mathml(tex)
    assert made.startswith(("<code>", "<math"))
    assert_harmless(made)


def test_an_accent_keeps_its_index():
    assert "<munder" not in mathml(r"\hat y_{t-1}")
    assert "<mover" in mathml(r"\hat y_{t-1}")


@pytest.mark.parametrize("star", ["", "*"])
def test_the_name_of_an_operator_is_upright(star):
    """TeX's star only moves the limits."""
    made = mathml(rf"\operatorname{star}{{softmax}}_j(x)")
    assert "softmax</mi>" in made and "*" not in made
    assert "\\," not in mathml(rf"\operatorname{star}{{arg\,max}}_x f")
