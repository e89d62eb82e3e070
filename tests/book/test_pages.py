"""The rendered book as a reader meets it: in a browser, wide and narrow, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from matplotlib.colors import to_hex

from seqcourse.viz.roles import ROLES, TINTS
from tests.sizes import nightly_but

from .conftest import DESKTOP, PHONE, chapter_names, page_names
from .test_weights import weight

pytestmark = pytest.mark.browser
PAGES = page_names()
CHAPTERS = chapter_names()
# The first page, the chapter with the most formulas and controls, the one with the most pictures, and a
# page of tables. `make test` opens every page once, and some of these four in every other way, too.
LOOKED_AT = (
    "book/index",
    "book/05_attention_in_the_decoder",
    "book/13_image_captioning",
    "book/appendix_benchmarks",
)


# Pictures load when they come near; here all at once.
FIGURES = """async () => {
    const images = [...document.querySelectorAll('article img')];
    images.forEach(image => { image.loading = 'eager'; });
    await Promise.allSettled(images.map(image => image.decode()));
    return images.map(image => ({
    source: image.currentSrc.slice(0, 120),
    alternative: image.alt,
    drawn: image.complete && image.naturalWidth > 0 && image.naturalHeight > 0})); }"""

COMING = """images => images.filter(image => image.getClientRects().length)
    .map(image => image.src).filter(address => address.startsWith('http'))"""
LATE = "images => images.filter(image => image.loading === 'lazy').map(image => image.src)"

# Formulas inside something folded or not chosen have no size; all others must have one.
FORMULAS = """() => [...document.querySelectorAll('article .math')].map(formula => {
    const box = formula.getBoundingClientRect();
    return {
        text: formula.textContent.slice(0, 80),
        drawn: Boolean(formula.querySelector('math')),
        wrong: Boolean(formula.querySelector('merror')),
        hidden: formula.getClientRects().length === 0 || Boolean(formula.closest('.toggle-hidden')),
        area: box.width * box.height}})"""

# What is wider than its place: formulas, tables, pictures, code. A box that scrolls says so: with a
# scrollbar, or on a phone, which may hide those, with a sentence. A formula neither scrolls nor stops
# the Tab key.
WIDE = """async () => {
    // boxes learn a frame later that they have a new size
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    const seen = node => node.getClientRects().length && !node.closest('.toggle-hidden, [hidden]');
    const says = box => ['auto', 'scroll'].includes(getComputedStyle(box).overflowX) &&
        (innerWidth > 600 && box.offsetHeight > box.clientHeight + 4 ||
            getComputedStyle(box, '::after').content !== 'none');
    const found = [...document.querySelectorAll('article .math')].filter(formula =>
        formula.tabIndex >= 0 || formula.querySelector('[tabindex]') ||
        formula.scrollWidth > formula.clientWidth + 1);
    for (const node of document.querySelectorAll('article :is(.math, table, img, svg, video, pre)')) {
        if (!seen(node) || node.closest('.katex')) continue;
        const parts = node.matches('.math') ? [...node.querySelectorAll('.katex-base')] : [node];
        const boxes = parts.map(part => part.getBoundingClientRect()).filter(box => box.width);
        const left = Math.min(...boxes.map(box => box.left)) + 1.5;
        const right = Math.max(...boxes.map(box => box.right)) - 1.5;
        for (let up = node.parentElement; up.tagName !== 'MAIN'; up = up.parentElement) {
            const place = up.getBoundingClientRect();
            if (getComputedStyle(up).display === 'inline') continue;
            if (left < place.left || right > place.right) {
                if (!says(up)) found.push(node);
                break;
            }
        }
    }
    return found.map(node => `${node.tagName} ${node.id} ${node.textContent.trim().slice(0, 80)}`); }"""

# Links followed one after the other: a heading comes to rest below the header, within 140 pixels, or as
# near as the end of the page lets it.
MISSED = """async sections => {
    const missed = {}, header = document.querySelector('.bd-header-article').getBoundingClientRect();
    for (const id of sections) {
        location.hash = '';
        location.hash = id;
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        const heading = document.getElementById(id).querySelector('h1, h2, h3, h4');
        const { top } = heading.getBoundingClientRect();
        const left = document.documentElement.scrollHeight - innerHeight - scrollY;
        if (top < header.height - 2 || top > 140 && left > 2) missed[id] = Math.round(top);
    }
    return missed; }"""

LOOKS = """() => ({
    theme: document.documentElement.dataset.theme,
    logos: [...document.querySelectorAll('.logo__image')].filter(logo => logo.offsetWidth).length})"""

ICONS = """() => [...document.querySelectorAll('i[class*="fa-"]')].map(icon => ({
    name: icon.className,
    sign: getComputedStyle(icon, '::before').content,
    font: getComputedStyle(icon, '::before').fontFamily}))"""

SHIFTS = """() => new Promise(done => {
    let sum = 0;
    const seen = new PerformanceObserver(list => list.getEntries().forEach(shift => sum += shift.value));
    seen.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(sum), 500); })"""

TOO_WIDE = """() => {
    const room = document.documentElement.clientWidth;
    const clipped = node => {
        for (let up = node; up && up !== document.body; up = up.parentElement)
            if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(up).overflowX))
                return true;
        return false; };
    return [...document.querySelectorAll('article *')]
        .filter(node => node.getBoundingClientRect().right > room + 1 && !clipped(node))
        .map(node => `${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 60)}`)
        .slice(0, 5)}"""


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_without_errors_and_only_from_here(view, name):
    seen = view(name)
    assert seen.troubles == []
    assert seen.foreign() == []
    assert seen.page.title().strip()
    assert seen.page.locator("article h1").count() == 1


@pytest.mark.parametrize("name", PAGES)
def test_page_is_light(site, view, name):
    """Right after the test that opened the page: nobody has touched or scrolled it."""
    page = view(name).page
    loaded = {url for url in view(name).requests if url.startswith("http")}
    to_the_end = loaded | set(page.locator("article img").evaluate_all(COMING))
    for urls, most in ((loaded, 160_000 if name == PAGES[0] else 300_000), (to_the_end, 500_000)):
        sizes = {url: weight(site, url) for url in urls}
        heaviest = sorted(sizes.items(), key=lambda pair: -pair[1])
        named = ", ".join(f"{urlsplit(url).path} {size:,}" for url, size in heaviest[:12])
        assert sum(sizes.values()) <= most, named


@pytest.mark.parametrize("name", PAGES)
def test_mathematics_is_drawn(view, name):
    seen = view(name)
    formulas = seen.page.evaluate(FORMULAS)
    assert [formula for formula in formulas if not formula["drawn"]] == []
    assert [formula for formula in formulas if formula["wrong"]] == []
    flat = [formula for formula in formulas if not formula["hidden"] and formula["area"] < 1]
    assert flat == []


def wide(page, *sizes: dict) -> dict[int, list[str]]:
    """What is wider than its place, by the width of the window in which it is."""
    found = {}
    try:
        for size in sizes:
            page.set_viewport_size(size)
            if there := page.evaluate(WIDE):
                found[size["width"]] = there
    finally:
        page.set_viewport_size(DESKTOP)
    return found


@pytest.mark.parametrize("name", nightly_but(LOOKED_AT, PAGES))
def test_nothing_is_wider_than_its_place_on_a_phone(view, name):
    assert wide(view(name).page, PHONE) == {}


@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[1:2], PAGES))
def test_nothing_is_wider_than_its_place_on_a_screen(view, name):
    assert wide(view(name).page, *({**DESKTOP, "width": width} for width in (1366, 1200))) == {}


@pytest.mark.nightly
def test_a_formula_that_does_not_give_way_is_found(visit):
    page = visit("book/05_attention_in_the_decoder", viewport=PHONE).page
    assert page.evaluate(WIDE) == []
    page.add_style_tag(content=".seq-formula .katex { font-size: 3em }")
    assert any("equation-eq-aer" in found for found in page.evaluate(WIDE))


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_has_formulas_and_figures(view, name):
    page = view(name).page
    assert page.locator("article .math").count() > 5
    assert page.locator("article :is(img, .sq-drawing)").count() > 1


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_there_and_described(view, name):
    figures = view(name).page.evaluate(FIGURES)
    assert [figure["source"] for figure in figures if not figure["drawn"]] == []
    assert [figure["source"] for figure in figures if not figure["alternative"].strip()] == []


@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[1:2], PAGES))
def test_nothing_is_wider_than_a_phone(visit, name):
    page = visit(name, viewport=PHONE).page
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(TOO_WIDE) == []
    tables = page.locator("article .seq-cut > table:has(thead)")
    heads = tables.evaluate_all("tables => tables.map(table => table.rows[0].cells[0].innerText)")
    assert not any(heads), "a table that has a name for its first column becomes a list"
    lists = page.locator("article table.seq-stack")
    assert lists.count() or name != LOOKED_AT[-1]
    cells = lists.locator("tr:last-child > td + td")
    names = cells.evaluate_all("cells => cells.map(c => c.querySelector('.seq-name')?.innerText)")
    assert all(names)


def test_a_picture_opens_large_by_tap_and_by_keyboard_and_the_focus_returns(visit):
    page = visit(LOOKED_AT[1], viewport=PHONE).page
    link = page.locator("article a.seq-large:visible").last
    shown = link.locator("img").bounding_box()["width"]
    link.click()
    room = page.locator("dialog.seq-room")
    assert room.bounding_box() == {"x": 0, "y": 0, **PHONE}
    assert room.locator("img").bounding_box()["width"] > max(shown, 1.5 * PHONE["width"])
    room.get_by_role("button", name="Close").click()
    room.wait_for(state="detached")  # what is closed is told a moment later
    link.focus()
    page.keyboard.press("Enter")
    assert room.get_attribute("aria-label") == link.locator("img").get_attribute("alt") != ""
    assert link.get_attribute("aria-label") is None, "it would hide what the picture shows"
    page.keyboard.press("Escape")
    room.wait_for(state="detached")
    assert "seq-large" in page.evaluate("document.activeElement.className")


def landings(context, address: str, sections: list[str]) -> dict[str, float]:
    """Sections whose heading a link brings nowhere near the top, by how far it lies from there."""
    missed = {}
    for section in sections:
        page = context.new_page()
        page.goto(f"{address}#{section}", wait_until="load")
        page.evaluate("() => document.fonts.ready.then(() => null)")
        missed |= page.evaluate(MISSED, [section])
        page.close()
    return missed


@pytest.mark.parametrize("size", [DESKTOP | {"width": 1366}, PHONE], ids=["screen", "phone"])
@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[:1], PAGES))
def test_links_land_at_their_section(visit, chrome, address, name, size):
    page = visit(name, viewport=size).page
    sections = page.locator("article section[id]").evaluate_all("parts => parts.map(part => part.id)")
    assert page.evaluate(MISSED, sections) == {}, "links of the page itself"
    if name in LOOKED_AT[:2]:  # from other pages: three of these, at night every one of every page
        sections = [sections[0], sections[len(sections) // 2], sections[-1]]
    for cache in ("cold", "warm"):
        context = page.context if cache == "warm" else chrome.new_context(viewport=size)
        assert landings(context, page.url.split("#")[0], sections) == {}, cache
        if cache == "cold":
            context.close()


@pytest.mark.parametrize("name", [PAGES[0], *CHAPTERS[-1:]])
def test_page_works_from_a_folder(visit, site, name):
    seen = visit(name, base=site.as_uri())
    assert seen.troubles == []
    assert seen.foreign() == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in seen.requests)
    formulas = seen.page.evaluate(FORMULAS)
    assert [formula for formula in formulas if not formula["drawn"]] == []


def moves(opened: Callable[[], object], most: float) -> list[float]:
    """How much a page moved while it came, until it moved less, in four visits at most.

    On a busy machine a style may come late, and the first lines are painted before the scroll bar, which
    takes its room from all of them: that is seen in a few of a hundred visits.
    """
    shifts = []
    while len(shifts) < 4 and (not shifts or min(shifts) >= most):
        shifts.append(opened().evaluate(SHIFTS))
    return shifts


def test_first_page_leads_to_the_book(visit):
    def opened() -> object:
        page = visit(PAGES[-1]).page
        page.goto(page.url.replace(PAGES[-1], "index"))
        page.wait_for_url(f"**/{PAGES[0]}.html")
        assert page.locator("article h1").count() == 1
        return page

    assert min(moves(opened, 0.02)) < 0.02, "something moved while the page came"


def test_search_finds_a_word(visit):
    page = visit("search").page
    page.goto(f"{page.url}?q=attention")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").evaluate_all("links => links.map(l => l.href)")
    assert any("/book/" in link for link in found)
    page.locator("#search-results li a").first.click()
    page.wait_for_url("**/book/**")


@pytest.mark.nightly
def test_search_says_when_there_is_nothing(visit):
    page = visit("search").page
    page.goto(f"{page.url}?q=xyzzyplugh")
    page.wait_for_function("() => document.querySelector('#search-results')?.innerText.trim()")
    assert page.locator("#search-results li a").count() == 0


@pytest.mark.parametrize(
    "dark", [pytest.param(False, marks=pytest.mark.nightly), True], ids=["light", "dark"]
)
def test_colours_are_right_before_any_script_arrives(visit, dark):
    system, other = ("dark", "light") if dark else ("light", "dark")
    page = visit(PAGES[0], dark=dark, scripts=False).page
    assert page.evaluate(LOOKS) == {"theme": system, "logos": 1}
    # as the theme's switch stores it; under "auto" the last theme may be out of date
    for mode, expected in ((other, other), ("auto", system)):
        page.evaluate("mode => Object.assign(localStorage, mode)", {"mode": mode, "theme": other})
        page.reload()
        assert page.evaluate(LOOKS) == {"theme": expected, "logos": 1}


# The colour of query, key and output in the drawings' legends, and in the widget with arrows.
ROLE_COLOURS = """() => {
    const of = (place, what) => getComputedStyle(document.querySelector(`article ${place}`))[what];
    const dots = { q: '.sq-of-query .sq-dot', k: '.sq-of-key .sq-dot', y: '.sq-dot.sq-of-output' };
    return Object.entries(dots).map(([role, dot]) => [role,
        of(`.sq-drawing .sq-legend .r-${role} i`, 'borderTopColor'),
        of(`.sq-vectors ${dot}`, 'fill')]); }"""


@pytest.mark.parametrize(
    "dark", [pytest.param(False, marks=pytest.mark.nightly), True], ids=["light", "dark"]
)
def test_a_role_has_one_colour_in_drawings_and_widgets(visit, dark):
    page = visit("book/06_the_attention_layer", dark=dark).page
    for role, drawing, widget in page.evaluate(ROLE_COLOURS):
        expected = ROLES[role].dark[1] if dark else ROLES[role].light[1]
        assert to_hex([int(n) / 255 for n in re.findall(r"\d+", drawing)]) == expected, role
        assert drawing == widget, role
    weight = "getComputedStyle(document.querySelector('article .sq')).getPropertyValue('--sq-tint')"
    assert page.evaluate(weight) == TINTS["tint"][dark]


# Letters in a line of each longer paragraph (its last line does not count), the widest box of code, and
# how many faces of the text are there.
LINES = """() => {
    const long = [...document.querySelectorAll('article section > p')].filter(
        p => p.innerText.length > 250 && !p.querySelector('.katex'));
    const letters = p => {
        const lines = [], high = parseFloat(getComputedStyle(p).lineHeight), range = new Range();
        const texts = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
        while (texts.nextNode())
            for (let k = 0; k < texts.currentNode.length; k++) {
                range.setStart(texts.currentNode, k);
                range.setEnd(texts.currentNode, k + 1);
                const { bottom } = range.getBoundingClientRect();
                const line = Math.floor((bottom - p.getBoundingClientRect().top - 1) / high);
                lines[line] = (lines[line] ?? 0) + 1;
            }
        return lines.slice(0, -1).reduce((a, b) => a + b) / (lines.length - 1); };
    const code = [...document.querySelectorAll('article .cell_input')].map(box => box.offsetWidth);
    const faces = [...document.fonts].filter(face => face.family.includes('Literata'));
    return [long.map(letters).sort((a, b) => a - b), Math.max(...code),
        faces.filter(face => face.status === 'loaded').length]; }"""


def test_text_has_a_measure_of_its_own_and_code_more_room(visit):
    page = visit(CHAPTERS[4], viewport={"width": 1600, "height": 900}).page
    letters, code, faces = page.evaluate(LINES)
    assert len(letters) > 5 and 66 <= letters[len(letters) // 2] <= 74
    assert 780 <= code <= 862 and faces >= 2


@pytest.mark.parametrize("size", [{"width": 1366, "height": 900}, PHONE], ids=["screen", "phone"])
@pytest.mark.parametrize("name", nightly_but(PAGES[:1], [PAGES[0], CHAPTERS[4]]))
def test_nothing_moves_while_a_page_loads(visit, name, size):
    assert min(moves(lambda: visit(name, viewport=size).page, 0.01)) < 0.01


def test_the_bar_says_the_section_and_what_is_left_to_read(visit):
    page = visit(CHAPTERS[4]).page
    minutes = []
    for k in (1, 4, 8):
        title = page.locator(f".bd-article > section > section:nth-of-type({k}) > h2")
        number = title.locator(".section-number").inner_text().strip()
        title.evaluate("title => title.scrollIntoView()")
        place = page.locator(".seq-place", has_text=number)
        place.wait_for()
        minutes.append(int(re.search(r"(\d+) min of text left", place.inner_text())[1]))
    assert 5 < minutes[0] < 60 and minutes == sorted(minutes, reverse=True) and minutes[-1] < minutes[0]


def test_a_second_page_has_a_number_of_its_own(visit):
    page = visit("book/05b_variants_of_attention").page
    numbers = [each.strip() for each in page.locator(":is(h1, h2) > .section-number").all_inner_texts()]
    assert numbers == ["5b.", *(f"5b.{k}." for k in range(1, len(numbers)))] and len(numbers) > 5
    contents = page.locator(".bd-links").text_content()
    assert "5b. Variants of attention" in contents and "5. Attention in the decoder" in contents
    assert "6. The attention layer" in contents
    page = visit("book/machine_room").page
    assert page.locator(".bd-article h1").is_visible()
    assert page.locator(":is(h1, h2) > .section-number").count() == 0


def test_icons_are_drawn_by_a_font(view):
    seen = view(CHAPTERS[0])
    icons = seen.page.evaluate(ICONS)
    assert icons
    lost = [icon for icon in icons if icon["sign"] == "none" or "Font Awesome" not in icon["font"]]
    assert lost == []
    assert any("fa-solid" in url for url in seen.requests)


def test_dark_mode_toggles_and_stays(visit):
    page = visit(PAGES[0]).page

    def shown() -> tuple[str, str]:
        theme = page.evaluate("() => document.documentElement.dataset.theme")
        return theme, page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    before = shown()
    button = page.locator("button.theme-switch-button:visible").first
    for _ in range(3):  # light, dark, as the system has it: the order is the theme's
        if shown()[0] != before[0]:
            break
        button.click()
    after = shown()
    assert {before[0], after[0]} == {"light", "dark"}
    assert before[1] != after[1]
    page.goto(page.url.replace(PAGES[0], PAGES[1]))
    assert shown() == after


@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[2:3], CHAPTERS))
def test_pictures_stand_on_a_light_card_in_dark_mode(visit, name):
    page = visit(name, dark=True).page
    # (A picture of clothes has a ground of its own.)
    backgrounds = page.locator('article figure img:not([src$=".svg"], .sq-photo)').evaluate_all(
        "images => images.map(image => getComputedStyle(image).backgroundColor)"
    )
    assert set(backgrounds) <= {"rgb(255, 255, 255)"}


@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[1:2], CHAPTERS))
def test_choices_change_the_picture(visit, name):
    page = visit(name).page
    boxes = page.locator(".sq-explore")
    for number in range(boxes.count()):
        box = boxes.nth(number)
        for place in range(box.locator("[data-sq-choice]").count()):
            control = box.locator("[data-sq-choice]").nth(place)
            before = box.locator(".sq-frame:visible").get_attribute("data-key")
            now = control.evaluate("c => c.tagName === 'SELECT' ? c.selectedIndex : +c.value")
            other = "0" if now else "1"
            if control.evaluate("c => c.tagName") == "SELECT":
                control.focus()  # as whoever chooses does
                control.select_option(value=other)
            else:
                control.fill(other)
            frames = box.locator(".sq-frame:visible")
            assert frames.count() == 1
            assert frames.get_attribute("data-key") != before
            pictures = frames.locator("img")
            assert pictures.evaluate_all(LATE) == [], "a touch fetches what the other values show"


@pytest.mark.parametrize("name", nightly_but(LOOKED_AT[1:2], CHAPTERS))
def test_polls_tell_why(visit, name):
    options = visit(name).page.locator(".sq-poll details")
    assert options.count() > 0
    for place in range(options.count()):
        reason = options.nth(place).locator("p")
        assert not reason.is_visible()
        options.nth(place).locator("summary").click()
        assert reason.is_visible()


def test_a_model_runs_in_a_page_from_the_folder(site, chrome):
    """Without a server: what a reader sees who unpacks the site and opens a chapter."""
    context = chrome.new_context(offline=True)
    page = context.new_page()
    page.goto((site / "book" / "02_encoder_decoder.html").as_uri())
    live = page.locator("[data-live=translate]")
    before = live.locator(".sq-live").text_content()
    live.get_by_role("textbox").fill("the red house is big")
    live.get_by_role("button", name="Run").click()
    live.get_by_text("la casa rojo es grande.").first.wait_for(timeout=120_000)
    after = live.locator(".sq-live").text_content()
    context.close()
    assert "la casa rojo es grande." in after and "la casa" not in before
