"""What a reader meets of a chapter's code: its steps, one mark for what draws a figure, no guards."""

from __future__ import annotations

import html
import re

import pytest
from bs4 import BeautifulSoup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Token

from seqcourse.pages.code import with_few_colours, with_lines, without_guards
from tests.sizes import nightly_but

from .conftest import PHONE, chapter_names, open_page

CELL = """\
found = measure()
assert found < 3  # the sentence below says so
for name in found:
    print(name)
    assert name in known, (
        "and over several lines")
for each in found:
    assert each > 0
assert torch.allclose(found, by_hand)
y = 1"""
KEPT = """\
found = measure()
for name in found:
    print(name)
assert torch.allclose(found, by_hand)
y = 1"""


def test_guards_are_left_out_and_what_shows_that_two_ways_agree_stays():
    assert without_guards(CELL) == KEPT
    assert without_guards(KEPT) == KEPT
    assert without_guards("%matplotlib inline\nassert x") == "%matplotlib inline\nassert x"


LISTING = '<div class="{}highlight-x notranslate"><div class="highlight"><pre><span></span>{}\n</pre>'
# Lines of code that are seen: how far in they begin, and how far in they go on, in columns.
BROKEN = """() => [...document.querySelectorAll('article .seq-typed')]
    .filter(line => line.checkVisibility()).map(line => {
        const range = document.createRange();
        range.selectNodeContents(line);
        const lefts = [...range.getClientRects()].filter(box => box.width > 1);
        const tops = lefts.map(box => Math.round(box.top));
        const after = lefts.filter((_, k) => tops[k] > tops[0] + 4).map(box => box.left);
        const indent = line.textContent.match(/^ */)[0].length;
        const column = parseFloat(getComputedStyle(line).fontSize) * 0.6;
        const begins = line.parentElement.getBoundingClientRect().left;
        return { text: line.textContent, broken: after.length > 0, indent: Math.min(indent, 16),
            further: (Math.min(...after) - begins) / column }; })"""
CUT = """() => [...document.querySelectorAll('article pre')].filter(box => box.checkVisibility() &&
    box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box, '::after').content === 'none')
    .map(box => box.textContent.slice(0, 60))"""

# Of columns that end within the padding at their right: whether they are cut, without and with the sign.
SIGN = """box => {
    box.style.width = `${box.scrollWidth - 6}px`;
    return [false, true].map(sign => {
        box.classList.toggle('seq-cut', sign);
        return box.scrollWidth > box.clientWidth + 1; }); }"""


def test_lines_know_how_far_in_they_begin_and_columns_stay_whole():
    code = with_lines(LISTING.format("", 'a:\n\n    <span class="k">b</span>'))
    assert BeautifulSoup(code, "lxml").get_text() == "a:\n\n    b\n"
    assert code.count('class="seq-typed"') == 3 and 'style="--in:4"' in code
    columns = with_lines(LISTING.format("output stream ", "a   1\nbb  2"))
    assert 'class="seq-columns"' in columns and "a   1\nbb  2\n</pre>" in columns
    assert "seq-" not in with_lines(LISTING.format("output stream ", "loss: 3\n   done"))


STYLES = ("a11y-high-contrast-light", "a11y-high-contrast-dark")


def worn(code: str) -> list[tuple[str, list[dict]]]:
    """The letters of highlighted code, each with its looks in both styles."""
    tokens = {name: token for token, name in STANDARD_TYPES.items()}
    of = [get_style_by_name(style).style_for_token for style in STYLES]
    return [
        (letter, [look(tokens[part.parent.get("class", [""])[0]]) for look in of])
        for part in BeautifulSoup(code, "html.parser").find_all(string=True)
        for letter in part
        if letter.strip()
    ]


def test_code_in_fewer_elements_has_the_same_text_and_colours():
    source = CELL + '\nz = f"{y} {-3}" if not None else -3'
    code = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
    fewer = with_few_colours(code, STYLES)
    assert html.unescape(re.sub("<[^>]*>", "", fewer)) == f"{source}\n"
    assert worn(fewer) == worn(code)
    assert fewer.count("<span") < 0.6 * code.count("<span")
    assert with_few_colours(fewer, STYLES) == fewer and with_few_colours(code, ()) == code


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_most_words_have_the_colour_of_the_style_of_the_code(chrome, address, dark):
    page = open_page(chrome, f"{address}/{chapter_names()[0]}.html", dark=dark).page
    code = page.locator("article pre.seq-code").first
    colour = code.evaluate("code => getComputedStyle(code).color")
    look = get_style_by_name(STYLES[dark]).style_for_token(Token.Name)
    assert colour == "rgb({}, {}, {})".format(*bytes.fromhex(look["color"]))
    page.context.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    "size",
    [PHONE, pytest.param(PHONE | {"width": 1366}, marks=pytest.mark.nightly)],
    ids=["phone", "screen"],
)
@pytest.mark.parametrize("name", nightly_but(chapter_names()[4:5], chapter_names()))
def test_code_keeps_its_indentation_and_nothing_is_cut_without_a_sign(chrome, address, name, size):
    page = open_page(chrome, f"{address}/{name}.html", viewport=size).page
    page.evaluate("() => new Promise(requestAnimationFrame)")
    lines = [line for line in page.evaluate(BROKEN) if line["broken"]]
    assert lines or size != PHONE
    assert [line for line in lines if line["further"] < line["indent"] + 1] == []
    assert page.evaluate(CUT) == []
    page.context.close()


@pytest.mark.browser
def test_a_sign_that_something_is_cut_does_not_undo_its_reason(chrome, address):
    page = open_page(chrome, f"{address}/{chapter_names()[0]}.html", viewport=PHONE).page
    columns = page.locator("article pre.seq-columns")
    without, signed = columns.first.evaluate(SIGN)
    assert without == signed
    page.context.close()
