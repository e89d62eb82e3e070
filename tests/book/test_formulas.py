"""Formulas become HTML and MathML when a page is made, without a script in the page."""

from __future__ import annotations

import io
import multiprocessing
import re
import shutil

import pytest
from bs4 import BeautifulSoup, SoupStrainer
from sphinx.application import Sphinx

from seqcourse.pages.formulas import style_sheet, with_names
from seqcourse.pages.tex import KATEX, FormulaError, display, katex, split

from .conftest import page_names

CONF = """
extensions = ["myst_parser", "seqcourse.pages.formulas"]
myst_enable_extensions = ["amsmath", "dollarmath"]
numfig = True
"""
PAGE = r"""# A page

Inside a line: $a_i \le 1$. Equation {eq}`eq-two` has two rows.

$$
\begin{aligned} a &= b + c && \text{first} \\ d &= e \end{aligned}
$$ (eq-two)

$$
x = 1 \\ y = \frac{2 \qquad 3}{4}, \qquad z = 5
$$

\begin{align}
  u &= v \\
  w &= t
\end{align}

| $W_Q$ | query $q$ |
|---|---|
| $1$ | 2 |

<p>In an output: <span class="math notranslate nohighlight">\(p &lt; q\)</span>.</p>
"""


def build(folder, page: str) -> tuple[str, str]:
    """A page of a plain site, and what Sphinx complained about."""
    source, out = folder / "source", folder / "out"
    source.mkdir()
    (source / "conf.py").write_text(CONF)
    (source / "index.md").write_text(page)
    (source / "words.md").write_text("---\norphan: true\n---\n# Words\n\nNo formula here.\n")
    complaints = io.StringIO()
    Sphinx(source, source, out, folder / "trees", "html", status=None, warning=complaints).build()
    return (out / "index.html").read_text(encoding="utf-8"), complaints.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[BeautifulSoup, object]:
    folder = tmp_path_factory.mktemp("formulas")
    page, complaints = build(folder, PAGE)
    assert complaints == ""
    return BeautifulSoup(page, "html.parser"), folder / "out"


def sources(soup: BeautifulSoup) -> list[str]:
    return [note.text for note in soup.find_all("annotation", encoding="application/x-tex")]


def test_every_formula_is_drawn_and_can_be_read_aloud(made):
    soup, _ = made
    formulas = soup.select(".math")
    assert len(formulas) == 8
    for formula in formulas:
        assert len(formula.select("math")) == 1
        assert formula.select(".katex-html[aria-hidden]")
    assert r"a_i \le 1" in sources(soup)


def test_a_formula_in_an_output_is_rendered_too(made):
    soup, _ = made
    assert "p < q" in sources(soup)
    assert "\\(" not in soup.get_text()


def test_equations_keep_their_numbers_and_links(made):
    soup, _ = made
    assert soup.select_one("#equation-eq-two .eqno").text.startswith("(1)")
    assert soup.select_one('a[href="#equation-eq-two"] .eqno, a[href="#equation-eq-two"]')


def test_rows_and_pieces_can_go_below_each_other(made):
    soup, _ = made
    grid = soup.select_one("#equation-eq-two .seq-grid")
    assert [len(line.select(".seq-cell")) for line in grid.select(".seq-line")] == [4, 2]
    assert [len(line.select(".seq-pair")) for line in grid.select(".seq-line")] == [2, 1]
    pieces = [formula for formula in soup.select("div.math") if "x = 1" in str(formula)]
    assert [len(row.select(".seq-piece")) for row in pieces[0].select(".seq-row")] == [1, 2]


def test_a_header_that_is_a_formula_has_a_name(made):
    soup, _ = made
    headers = soup.select("th")
    assert headers[0].select_one("math")["aria-label"] == "W_Q"
    assert not headers[1].select_one("math").has_attr("aria-label"), "its words are its name"


def test_only_pages_with_formulas_load_the_sheet(made):
    soup, out = made
    assert soup.find("link", href=lambda address: address.startswith("_static/katex/formulas.css"))
    assert not soup.find("script", src=lambda address: "mathjax" in (address or "").lower())
    assert "katex" not in (out / "words.html").read_text(encoding="utf-8")
    assert (out / "_static" / "katex" / "fonts" / "KaTeX_Main-Regular.woff").is_file()


def test_an_unknown_command_is_an_error_that_names_page_and_formula(tmp_path):
    page, complaints = build(tmp_path, "# A page\n\nThis is $a \\nonsense b$.\n")
    assert "index.md" in complaints and "ERROR" in complaints
    assert r"a \nonsense b" in complaints and r"Undefined control sequence: \nonsense" in complaints
    assert r"<code>a \nonsense b</code>" in page


def test_a_forked_process_has_an_engine_of_its_own():
    """Sphinx writes pages in several processes where it is told to."""
    katex("a")  # the engine of this process
    child = multiprocessing.get_context("fork").Process(target=katex, args=("b",))
    child.start()
    child.join(300)
    assert child.exitcode == 0


@pytest.mark.parametrize(
    ("tex", "separators", "parts"),
    [
        (r"a, \qquad b", [r"\qquad"], ["a,", "b"]),
        (r"\frac{a \qquad b}{c}", [r"\qquad"], [r"\frac{a \qquad b}{c}"]),
        (r"\left( a & b \right) & c", ["&"], [r"\left( a & b \right)", "c"]),
        (r"a \\[0.4em] b", [r"\\"], ["a", "b"]),
        (r"\begin{cases} a \\ b \end{cases} \\ c", [r"\\"], [r"\begin{cases} a \\ b \end{cases}", "c"]),
        (r"a \& b \{ & c", ["&"], [r"a \& b \{", "c"]),
    ],
)
def test_a_formula_is_split_only_at_its_outermost_level(tex, separators, parts):
    assert split(tex, *separators) == parts


def test_what_latex_would_not_read_is_refused():
    for tex in (r"\frac{a}", r"{a", r"a_b_c", "é"):
        with pytest.raises(FormulaError):
            katex(tex)
        with pytest.raises(FormulaError):
            display(tex)


def test_a_name_is_given_only_where_one_is_missing():
    formula = f'<span class="math">{katex("h_{t-1}")}</span>'
    assert 'aria-label="h_t-1"' in with_names(f"<summary>{formula}</summary>")
    assert "aria-label" not in with_names(f"<summary>Why {formula}?</summary>")
    assert "aria-label" not in with_names(f"<td>{formula}</td>")


def test_the_sheet_names_only_fonts_that_are_there():
    named = re.findall(r"url\(([^)]*)\)", style_sheet())
    assert len(named) > 10
    assert all((KATEX / name).is_file() for name in named)


# What is alone above or below the line, what is not, what is higher than the line, groups.
FORMULAS = (
    r"h_t",
    r"h_{t-1} = x'",
    r"W_{hh}^\top x_i^2 + e^{-x_i}",
    r"\frac{a_1^2}{\sqrt{d_k}}",
    r"\sum_{i=1}^n \alpha_{t,i} \left( \frac{1}{2} \right)^3",
    r"\hat{y}_{t} \in \mathbb{R}^{d_{\text{model}}} \quad {a + b}_c",
    r"\begin{bmatrix} a_1 & b \\ c & d^2 \end{bmatrix}_{ij}",
    r"\displaystyle \prod_{k} \underbrace{p(y_k \mid y_{<k})}_{\text{one step}}",
    r"\operatorname{softmax}(QK^\top)_{ij}, \overline{f_a}",
)
# Where each mark and each formula lies, and how many elements that takes.
LAID_OUT = """async () => {
    await document.fonts.ready;
    return [...document.querySelectorAll('div')].map(block => ({
        elements: block.querySelectorAll('.katex-html *').length,
        places: [...block.querySelectorAll('.katex-html, .katex-html :not(:has(*))')]
            .filter(each => each.textContent.replace('\u200b', '').trim()).map(each => {
                const marks = document.createRange();
                marks.selectNodeContents(each);
                const measured = each.matches('.katex-html') ? each : marks;
                const { x, y, width, height } = measured.getBoundingClientRect();
                return [x, y - block.getBoundingClientRect().top, width, height]; })})); }"""


@pytest.mark.browser
def test_in_fewer_elements_every_mark_is_where_katex_puts_it(chrome, tmp_path):
    shutil.copytree(KATEX / "fonts", tmp_path / "fonts")
    ours = "".join(f"<div>{katex(tex)}</div>" for tex in FORMULAS)
    document = f"<!doctype html><meta charset='utf-8'><style>{style_sheet()}</style>{ours}"
    (tmp_path / "ours.html").write_text(document, encoding="utf-8")
    page = chrome.new_page()
    page.goto((tmp_path / "ours.html").as_uri())
    found = page.evaluate(LAID_OUT)
    page.add_script_tag(path=KATEX / "katex.min.js")
    page.evaluate(
        "all => document.querySelectorAll('div').forEach((block, k) => katex.render(all[k], block))",
        list(FORMULAS),
    )
    expected = page.evaluate(LAID_OUT)
    page.close()
    for tex, one, other in zip(FORMULAS, found, expected, strict=True):
        assert len(one["places"]) == len(other["places"]) > 1, tex
        for place, right in zip(one["places"], other["places"], strict=True):
            assert place == pytest.approx(right, abs=0.5), tex
    assert sum(one["elements"] for one in found) < 0.8 * sum(one["elements"] for one in expected)


# How many children MathML asks for; browsers draw an element with more or fewer as an error.
CHILDREN = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "munder": 2,
    "mover": 2,
    "msubsup": 3,
    "munderover": 3,
}


def miscounted(page: str) -> list[str]:
    """The sources of the formulas in which an element has the wrong number of children."""
    found = []
    formulas = BeautifulSoup(page, "html.parser", parse_only=SoupStrainer("math"))
    for formula in formulas.find_all("math"):
        for element in formula.find_all(CHILDREN):
            if len(element.find_all(recursive=False)) != CHILDREN[element.name]:
                found.append(formula.find("annotation").text)
    return found


def test_a_formula_with_too_many_children_is_found():
    assert miscounted(katex(r"n_{\max}", output="mathml")) == [r"n_{\max}"]
    assert miscounted(katex(r"n_\text{max} = \sqrt{\frac{a_1^2}{b}}", output="mathml")) == []


@pytest.mark.browser
@pytest.mark.parametrize("name", page_names())
def test_every_formula_of_a_page_has_the_children_that_mathml_asks_for(site, name):
    assert miscounted((site / f"{name}.html").read_text(encoding="utf-8")) == []
