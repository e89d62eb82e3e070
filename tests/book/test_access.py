"""The rendered book for everyone: with a screen reader, in the dark, on a phone, on paper."""

from __future__ import annotations

import ast
import base64
import io
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from pypdf import PdfReader

from seqcourse.pages.access import mend, name_folds
from seqcourse.pages.figures import DARK, LEAST_TEXT, LIGHT, follow_theme, forms, least_width, widen
from seqcourse.viz.roles import OTHERS
from tests.sizes import nightly_but

from .conftest import PHONE, chapter_names, open_page, page_names
from .test_pages import LOOKED_AT

in_browser = pytest.mark.browser
WIDE = {"width": 1366, "height": 900}
CHAPTER = chapter_names()[4]
SHEETS = 30  # of that chapter on A4, with every answer open
# Beside the rules that axe always has: what Lighthouse asks for, too. Contrast is looked at by itself.
RULES = {"label-content-name-mismatch": {"enabled": True}, "color-contrast": {"enabled": False}}
CONTRAST = {"runOnly": ["color-contrast"]}

# All folded answers open; what stands open covers what is closed.
OPEN = """() => {
    for (const fold of document.querySelectorAll('article details'))
        fold.open = !fold.removeAttribute('name'); // of those with one name only one is open
    const folded = document.querySelectorAll('.toggle-hidden');
    folded.forEach(fold => fold.classList.remove('toggle-hidden')); }"""
# Contrast depends on ink, size and grounds: three nodes of each kind are left, for a tenth of the time.
FEW = """() => {
    const nodes = [...document.querySelectorAll('body, body *')], kinds = new Map(), count = {};
    for (const theme of ['light', 'dark']) {
        document.documentElement.dataset.theme = theme;
        const grounds = new Map();
        for (const node of nodes) {
            const style = getComputedStyle(node), under = grounds.get(node.parentElement) ?? '';
            const ground = [style.backgroundColor, style.backgroundImage, style.opacity].join();
            grounds.set(node, ground === 'rgba(0, 0, 0, 0),none,1' ? under : under + ground);
            const off = Boolean(node.closest(':disabled, [aria-disabled], [aria-hidden=true]'));
            const kind = [style.color, style.fontSize, style.fontWeight, grounds.get(node), off,
                node.checkVisibility({ visibilityProperty: true, opacityProperty: true })];
            kinds.set(node, (kinds.get(node) ?? '') + kind.join());
        }
    }
    const more = nodes.filter(node => (count[kinds.get(node)] = (count[kinds.get(node)] ?? 0) + 1) > 3);
    more.reverse().forEach(node => node.childElementCount || node.remove()); }"""

# What a reader of paper must not meet: boxes that cut, folded answers, things to press.
ON_PAPER = """() => ({
    ground: getComputedStyle(document.body).backgroundColor,
    cut: [...document.querySelectorAll('article pre')]
        .filter(box => box.offsetWidth && box.scrollWidth > box.clientWidth + 1).length,
    answers: [...document.querySelectorAll('.sq-poll details p')].map(answer => answer.offsetHeight),
    pressed: [...document.querySelectorAll('article :is(button, input, select, audio), .bd-sidebar')]
        .filter(control => control.offsetWidth).map(control => control.outerHTML.slice(0, 80))})"""


# Where the focus is, and whether it can be seen: an outline, or the theme's bar beside a link.
FOCUS = """() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    (window.reached ||= new Set()).add(at);
    return {
        name: at.outerHTML.slice(0, 80), page: at === document.body, left: Boolean(at.closest('footer')),
        submits: at.type === 'submit' && !at.matches('.sq-thing'),
        seen: box.width > 0 && (style.outlineStyle !== 'none' || style.boxShadow !== 'none')}}"""
UNREACHED = """figure => [
    ...figure.querySelectorAll('a[href], audio, button, input, select, [tabindex]')].filter(
    node => node.tabIndex >= 0 && !node.disabled && node.checkVisibility() && !reached.has(node))
    .map(node => node.outerHTML.slice(0, 120))"""
INSIDE = "figure => figure.contains(document.activeElement)"
ANSWERED = "figure => figure.answered && !figure.busy"


def answer_to_the_keyboard(page, figure) -> None:
    """Ask a live figure by Tab and Enter: it answers, says so, and every stop is reached and seen."""
    said = figure.locator("p[role=status]")
    before = said.text_content()
    figure.locator("form :is(input:not([type=hidden]), select, button)").first.focus()
    stops = []
    while figure.evaluate(INSIDE):
        stops.append(page.evaluate(FOCUS))
        assert len(stops) < 200, "the Tab key does not leave the figure"
        if stops[-1]["submits"] and not figure.evaluate(ANSWERED):
            page.keyboard.press("Enter")
            page.wait_for_function(ANSWERED, arg=figure.element_handle(), timeout=120_000)
            assert figure.evaluate(INSIDE), "the answer took the focus away"
            page.evaluate(FOCUS)
        page.keyboard.press("Tab")
    assert said.text_content() not in ("", before)
    assert [stop["name"] for stop in stops if not stop["seen"]] == []
    assert figure.evaluate(UNREACHED) == []


def wrong(page, theme: str, options: dict) -> set[tuple[str, ...]]:
    """What axe finds, with the width and the theme at which it found it."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_timeout(500)  # the theme looks at scroll boxes 300 ms after a change of size
    report = Axe().run(page, options={**options, "resultTypes": ["violations"]}).response["violations"]
    where = (str(page.viewport_size["width"]), theme)
    return {(*where, rule["id"], node["html"][:200]) for rule in report for node in rule["nodes"]}


@in_browser
@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[:1], page_names()))
def test_axe_finds_nothing_before_and_after_a_reader_touched_everything(chrome, address, name):
    page = open_page(chrome, f"{address}/{name}.html", viewport=WIDE).page
    found = wrong(page, "light", {"rules": RULES})
    for figure in page.locator("article [data-live]").all():
        answer_to_the_keyboard(page, figure)
    page.evaluate(OPEN)
    for size in (PHONE, WIDE):
        page.set_viewport_size(size)
        found |= wrong(page, "light", {"rules": RULES})
    page.evaluate(FEW)
    for theme in ("light", "dark"):
        found |= wrong(page, theme, CONTRAST)
    page.context.close()
    assert found == set()


# What is tinted by its weight, and the contrast of its ink with the tint of weights 0, 0.01 ... 1.
TINTED = """<div class="sq sq-card sq-mask"><button class="sq-cell"></button></div>
    <div class="sq sq-card sq-heads"><span class="sq-word"></span></div>
    <div class="sq sq-card sq-listen"><button class="sq-letter"></button></div>
    <div class="sq sq-card"><table class="sq-weights"><tr><td style="--w:0"></td></tr></table></div>
    <div class="sq sq-card sq-mask"><button class="sq-cell" aria-pressed="false"></button></div>"""
CONTRASTS = r"""theme => {
    document.documentElement.dataset.theme = theme;
    const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const luminance = colours => {
        for (pen.fillStyle of ['white', ...colours]) pen.fillRect(0, 0, 1, 1);
        const parts = [...pen.getImageData(0, 0, 1, 1).data].map(part => part / 255);
        const linear = part => part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92;
        const [r, g, b] = parts.map(linear);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const tinted = document.querySelectorAll('article > .sq :is(.sq-cell, .sq-word, .sq-letter, td)');
    return [...tinted].map(node => Array.from({ length: 101 }, (_, weight) => {
        node.style.setProperty('--w', weight / 100);
        const grounds = [];
        for (let at = node; at; at = at.parentElement)
            grounds.unshift(getComputedStyle(at).backgroundColor);
        const stripes = getComputedStyle(node).backgroundImage.match(/\b(?:rgba?|color)\([^()]*\)/);
        if (stripes) grounds.push(stripes[0]);
        const [ground, ink] = [grounds, [...grounds, getComputedStyle(node).color]].map(luminance);
        return (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05); })); }"""


@in_browser
def test_every_weight_can_be_read(chrome, address):
    page = open_page(chrome, f"{address}/{LOOKED_AT[-1]}.html").page
    add = "(article, shown) => article.insertAdjacentHTML('beforeend', shown)"
    page.locator("article").evaluate(add, TINTED)
    contrasts = [page.evaluate(CONTRASTS, theme) for theme in ("light", "dark")]
    page.context.close()
    assert [len(kinds) for kinds in contrasts] == [5, 5]
    for *plain, striped in contrasts:
        assert min(min(kind) for kind in (*plain, striped)) >= 4.5
        assert all(kind[0] > kind[50] > kind[100] for kind in plain)
        assert striped != plain[0]


@in_browser
def test_a_chapter_on_paper_and_its_switch_for_code(chrome, address):
    page = open_page(chrome, f"{address}/{CHAPTER}.html", viewport=WIDE, dark=True).page
    code = page.locator("article .cell_input")
    folded = page.locator("article details.hide .cell_input")
    assert 0 < folded.count() < code.count() and not folded.first.is_visible()
    page.get_by_role("button", name="show all code").click()
    assert folded.first.is_visible()
    page.reload()
    assert folded.first.is_visible()  # remembered
    page.get_by_role("button", name="hide all code").click()
    assert not any(code.nth(place).is_visible() for place in range(code.count()))
    page.get_by_role("button", name="main steps").click()
    assert (
        not folded.first.is_visible() and page.locator("article .cell > .cell_input").first.is_visible()
    )

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    paper = page.evaluate(ON_PAPER)
    assert paper["ground"] == "rgb(255, 255, 255)"
    assert paper["cut"] == 0 and paper["pressed"] == []
    assert paper["answers"] and all(paper["answers"])
    sheets = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
    assert 20 < len(sheets) <= SHEETS
    page.emulate_media(media="screen")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.context.close()


COPY = """place => {
    getSelection().selectAllChildren(place);
    const clipboardData = new DataTransfer();
    place.dispatchEvent(new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true }));
    return clipboardData.getData('text/plain') || getSelection().toString(); }"""
FORBIDDEN = """Object.defineProperty(window, 'localStorage', {
    get() { throw new DOMException('forbidden', 'SecurityError'); } })"""


@in_browser
@pytest.mark.parametrize("name", nightly_but((CHAPTER,), page_names()))
def test_figures_are_readable_on_a_phone_and_follow_the_theme(chrome, address, name):
    page = open_page(chrome, f"{address}/{name}.html", viewport=PHONE, dark=True).page
    figures = page.locator("article .seq-wide img").evaluate_all(
        """images => images.filter(image => image.offsetWidth).map(image => ({
            source: image.currentSrc || image.src, drawn: image.offsetWidth,
            both: image.closest('.seq-both') !== null,
            least: parseInt(image.closest('.seq-wide').style.getPropertyValue('--least')),
            ground: getComputedStyle(image).backgroundColor}))"""
    )
    assert [f for f in figures if f["drawn"] < f["least"] and not f["both"]] == []
    drawn = [figure for figure in figures if figure["source"].endswith(".svg")]
    assert drawn or name != CHAPTER
    stage = "rgb({}, {}, {})".format(*bytes.fromhex(OTHERS["stage"][1][1:]))
    assert {figure["ground"] for figure in drawn} <= {"rgba(0, 0, 0, 0)", stage}
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    page.context.close()


@in_browser
@pytest.mark.parametrize("name", nightly_but((CHAPTER,), chapter_names()))
def test_plots_have_a_form_for_phones_that_fits_with_labels_of_eleven_pixels(
    chrome, site, address, name
):
    page = open_page(chrome, f"{address}/{name}.html", viewport=PHONE).page
    shown = page.locator("article .seq-both picture").evaluate_all(
        """pictures => pictures.filter(each => each.getClientRects().length).map(each => ({
            file: each.querySelector('source').srcset, width: each.querySelector('img').offsetWidth,
            cut: each.closest('.seq-wide').matches('.seq-cut')}))"""
    )
    assert shown or name != CHAPTER
    assert not any(figure["cut"] for figure in shown)
    for figure in shown:
        if figure["file"].endswith("-narrow.svg"):
            svg = (site / "_images" / Path(figure["file"]).name).read_text(encoding="utf-8")
            # `least_width` asks for labels of LEAST_TEXT pixels.
            assert least_width(svg) * 10.9 / LEAST_TEXT <= figure["width"], figure["file"]
    page.context.close()


@pytest.mark.nightly
@in_browser
def test_a_copied_formula_is_its_tex_and_copied_code_is_code(chrome, address):
    page = open_page(chrome, f"{address}/{CHAPTER}.html").page

    def copied(place: str) -> str:
        return page.locator(place).first.evaluate(COPY)

    assert copied("article div.math:not(.admonition *)").startswith("$$c = \\frac{1}{T}")
    prose = copied("article p:has(.math)")
    assert "$" in prose and "\n\n" not in prose
    code = page.locator(".cell_input pre:visible").first
    assert copied(".cell_input pre:visible") == code.text_content().rstrip("\n")
    assert ast.parse(code.text_content())
    page.context.close()


@in_browser
def test_a_page_works_where_nothing_may_be_stored_and_without_any_script(chrome, address):
    seen = open_page(chrome, "about:blank", dark=True)
    page = seen.page
    page.add_init_script(FORBIDDEN)
    page.goto(f"{address}/{CHAPTER}.html")
    page.get_by_role("button", name="hide all code").click()
    assert page.locator("article .cell_input:visible").count() == 0
    page.emulate_media(media="print")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    page.context.close()
    context = chrome.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{CHAPTER}.html")
    assert page.locator("html").get_attribute("data-theme") == "light"
    context.close()


@in_browser
def test_the_tab_key_reaches_everything_and_the_focus_is_seen(chrome, address):
    page = open_page(chrome, f"{address}/{LOOKED_AT[0]}.html", viewport=WIDE).page
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to main content"
    stops = []
    while len(stops) < 300:
        stops.append(page.evaluate(FOCUS))
        page.keyboard.press("Tab")
        if stops[-1]["page"] or stops[-1]["left"]:
            break
    assert 30 < len(stops) < 300
    assert [stop["name"] for stop in stops[:-1] if not stop["seen"]] == []
    page.context.close()


def test_mending_names_what_has_no_name_and_changes_nothing_twice():
    page = (
        '<h1>A</h1><div class="cell_input"></div><summary aria-label="Toggle hidden content"><p>Show</p>'
        '<div role="list" class="citation-list"><div role="doc-biblioentry">X</div></div>'
        '<th scope="col"> </th><th class="head"><p>words</p></th>'
    )
    mended = mend(page)
    assert mend(mended) == mended
    assert "Toggle" not in mended and 'role="list' not in mended and "doc-biblioentry" not in mended
    assert "<td></td>" in mended and 'class="seq-code-switch' in mended


def test_arrows_of_the_contents_have_names():
    tree = name_folds(
        lambda: '<a href="#">5. Attention</a><details><summary><i></i></summary></details>'
    )
    assert '<summary aria-label="Pages of 5. Attention">' in tree()


def _drawn(with_map: bool, bare: bool = False) -> str:
    import io

    import matplotlib.pyplot as plt

    from seqcourse.viz.style import use_style

    use_style()
    figure, axes = plt.subplots(figsize=(9, 3))
    axes.set(xlabel="step", title="over")
    if with_map:
        axes.imshow([[0.0, 1.0]])
    axes.text(0.5, 0, "on a square", fontsize=8)
    if bare:
        axes.set_axis_off()
    else:
        axes.plot([0, 1], [0, 0])
    file = io.StringIO()
    figure.savefig(file, format="svg")
    plt.close(figure)
    return file.getvalue()


@pytest.mark.parametrize("with_map", [False, True], ids=["curves", "map"])
def test_ink_follows_the_theme_except_on_the_squares_of_a_map(with_map):
    drawn = _drawn(with_map)
    followed = follow_theme(drawn)
    assert follow_theme(followed) == followed
    assert all(colour in followed for colour in (LIGHT["ink"], DARK["ink"], "prefers-color-scheme"))
    assert "fill: #ffffff" in drawn and "fill: #ffffff" not in followed
    assert ("fill: #222832" in followed) == with_map  # the label that lies on the square


def test_the_title_of_a_picture_without_axes_follows_the_theme():
    followed = follow_theme(_drawn(with_map=True, bare=True))
    label, title = re.findall(r'<g id="text_\d+">.*?fill: ([^"]+)"', followed, re.S)
    assert (label, title) == (LIGHT["ink"], "var(--ink)")


def test_a_figure_is_as_wide_as_its_smallest_label_needs(tmp_path):
    path = tmp_path / "wide.svg"
    path.write_text(_drawn(with_map=False))
    least = least_width(path.read_text())
    assert least == pytest.approx(9 * 72 * 10 / 8, rel=0.05)  # labels of 8 points
    body = '<figure><img alt="" src="../_images/wide.svg"/></figure><img src="x.png" width="400">'
    wide = widen(body, {"wide.svg": path})
    assert f"--least:{least}px" in wide and "--least:300px" in wide
    assert widen(wide, {"wide.svg": path}) == wide


def test_a_figure_with_a_narrow_form_becomes_two_files(tmp_path):
    wide, narrow = _drawn(with_map=False).encode(), b"<svg>narrow</svg>"
    path = tmp_path / "a.svg"
    path.write_bytes(wide + b"<!--narrow " + base64.b64encode(narrow) + b"-->")
    assert forms(path.read_bytes()) == (wide, narrow)
    assert forms(wide) == (wide, None)
    body = widen('<img alt="" src="../_images/a.svg"/>', {"a.svg": path})
    assert 'media="screen and (max-width: 600px)" srcset="../_images/a-narrow.svg"' in body
    assert '<img alt="" src="../_images/a.svg"/></picture>' in body
