"""Light pages: what leaves the HTML, what stays of the style sheets, and that twice is as once."""

from __future__ import annotations

import base64
import gzip
import html
import io
import re
import string
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from fontTools.ttLib import TTFont
from PIL import Image, ImageChops

from seqcourse.pages import frames, light, scripts, sheets
from seqcourse.pages.tex import KATEX

TEXT = (".html", ".css", ".js", ".svg", ".json")
TEXT_FACES = 60_000  # bytes, of three faces
HTML_BYTES = 150_000  # gzipped; a chapter's text, code and drawings


def weight(site: Path, address: str) -> int:
    """The bytes of a file of the site as a host sends it: text as gzip."""
    content = (site / unquote(urlsplit(address).path).lstrip("/")).read_bytes()
    return len(gzip.compress(content)) if Path(urlsplit(address).path).suffix in TEXT else len(content)


def png(width: int = 64) -> bytes:
    """A picture that no palette makes small."""
    made = io.BytesIO()
    Image.linear_gradient("L").resize((width, 48)).convert("RGB").save(
        made, format="png", compress_level=0
    )
    return made.getvalue()


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    """A page as a theme and a notebook make it, with its static files."""
    static = tmp_path / "_static"
    (static / "theme").mkdir(parents=True)
    (static / "theme" / "a.css").write_text(
        '@import "../imported.css";.used{color:red}.unused{color:blue}'
        ".b{background:url(../x.png)}@media print{.unused{top:0}}"
    )
    (static / "imported.css").write_text(".b{color:gold}")
    (static / "b.css").write_text(":root{--kept:1px;--lost:2px}p.used:not(.unused){top:var(--kept)}")
    (static / "own.js").write_text("node.classList.add('later')")
    (static / "c.css").write_text(".later{left:0}")
    (static / "documentation_options.js").write_text("const DOCUMENTATION_OPTIONS = {};")
    data = base64.b64encode(png()).decode()
    frame = f'<img src="data:image/png;base64,{data}" alt="a width" width="64" height="48">'
    (tmp_path / "page.html").write_text(
        '<html><head><link rel="stylesheet" href="_static/theme/a.css?v=1">'
        '<link href="_static/b.css" rel="stylesheet"><link rel="stylesheet" href="_static/c.css">'
        '<script src="_static/documentation_options.js?v=1"></script>'
        '<script src="_static/own.js"></script><script src="searchindex.js"></script></head>'
        '<body><p class="used b">Text</p><style>.sq{top:1px}</style><style>.sq{top:1px}</style>'
        f'<div class="sq sq-explore"><div class="sq-frame">{frame}</div>'
        '<script>text.replace(/<style>.*?<\\/style>/, "")</script></div>'
        '<audio controls preload="auto"><source src="data:audio/wav;base64,'
        f'{base64.b64encode(bytes(4000)).decode()}"></audio></body></html>'
    )
    return tmp_path


def test_a_page_becomes_light_and_stays_so(small_site):
    light.lighten(small_site)
    page = (small_site / "page.html").read_text()
    assert "data:" not in page and len(sheets.LINK.findall(page)) == 1
    assert page.count("<style>") == 1 and r"/<style>.*?<\/style>/" in page, "a script keeps its text"
    assert re.search(
        r'<img src="_static/light/\w+\.webp" alt="a width" width="64".* loading="lazy">', page
    )
    assert '<audio controls preload="none">' in page
    assert "<script>const DOCUMENTATION_OPTIONS" in page and '<script defer src="_static/own.js' in page
    assert "searchindex" not in page
    files = {path: path.read_bytes() for path in sorted(small_site.rglob("*")) if path.is_file()}
    light.lighten(small_site)
    assert files == {path: path.read_bytes() for path in sorted(small_site.rglob("*")) if path.is_file()}


def test_a_sheet_that_changes_reaches_a_page_that_was_light_already(small_site):
    light.lighten(small_site)
    (small_site / "_static" / "c.css").write_text(".later{left:7px}")
    light.lighten(small_site)
    (sheet,) = (small_site / "_static" / "light").glob("sheet.*.css")
    assert sheet.name in (small_site / "page.html").read_text() and "7px" in sheet.read_text()


def test_the_sheet_holds_what_pages_and_scripts_use(small_site):
    light.lighten(small_site)
    (sheet,) = (small_site / "_static" / "light").glob("sheet.*.css")
    css = sheet.read_text()
    assert ".used" in css and ".later" in css and ".sq{top:1px}" in css and "--kept" in css
    assert ".unused{" not in css and "--lost" not in css and "print" not in css
    assert 'url("../x.png")' in css and "@import" not in css
    order = [css.index(part) for part in ("color:gold", "color:red", "var(--kept)", ".later", ".sq{")]
    assert order == sorted(order)


def test_a_script_that_comes_with_every_output_stays_once():
    one, other = "<script data-once>\na()</script>", "<script data-once>\nb()</script>"
    page = f"<body>{one}<p>1</p>{one}\n{other}{one}<script>a()</script></body>"
    once = f"<body>{one}<p>1</p>{other}<script>a()</script></body>"
    assert scripts.without_repeats(page) == scripts.without_repeats(once) == once


@pytest.mark.parametrize(
    ("selector", "stays"),
    [
        (".a", True),
        (".x", False),
        ("a.x", False),
        (".a:is(.x, .b)", True),
        (".a:where(.x, #y)", False),
        ("html:not(.x) .a::before", True),
        (".a:has(> .x)", False),
        ("[data-theme=dark] .a:hover", True),
        ("tr:nth-child(2n) .a", True),
        (".a, .x", True),
    ],
)
def test_a_rule_stays_where_everything_it_asks_for_occurs(selector, stays):
    kept = sheets.purge(f"{selector}{{top:0}}", {"a", "b", "html", "tr"})
    assert bool(kept) == stays and ".x{" not in kept


def test_a_picture_is_the_same_dot_for_dot():
    made = frames.as_webp(png())
    assert len(made) < len(png())
    with Image.open(io.BytesIO(made)) as after, Image.open(io.BytesIO(png())) as before:
        assert ImageChops.difference(after.convert("RGB"), before).getbbox() is None


def test_the_search_page_keeps_its_scripts(tmp_path):
    page = '<head><script src="_static/searchtools.js"></script></head><body><div id="search-results">'
    assert '<script defer src="_static/searchtools.js">' in scripts.defer(page, tmp_path)


def test_fonts_hold_every_sign_of_the_pages(site):
    (made,) = (site / "_static" / "light").glob("KaTeX_Main-Regular.*.woff")
    text = "".join(path.read_text(encoding="utf-8") for path in light.pages_of(site))
    with TTFont(KATEX / "fonts" / "KaTeX_Main-Regular.woff") as full, TTFont(made) as small:
        wanted = set(full.getBestCmap()) & set(map(ord, html.unescape(text)))
        assert wanted and wanted <= set(small.getBestCmap())
    assert made.stat().st_size < 20_000


def test_the_face_of_the_text_stands_inside_the_sheet_with_every_letter(site):
    (sheet,) = (site / "_static" / "light").glob("sheet.*.css")
    faces = re.findall(r"data:font/woff;base64,([^\")]+)", sheet.read_text(encoding="utf-8"))
    made = list(map(base64.b64decode, faces))
    assert len(made) == 3 and sum(map(len, made)) < TEXT_FACES
    text = "".join(path.read_text(encoding="utf-8") for path in light.pages_of(site))
    for content in made:
        with TTFont(io.BytesIO(content)) as face:
            assert set(map(ord, string.printable)) & set(map(ord, text)) - set(range(32)) <= set(
                face.getBestCmap()
            )
            assert "GPOS" in face, "no kerning"


def test_the_theme_does_not_measure_the_whole_page(site):
    theme = (site / "_static" / scripts.THEME).read_text(encoding="utf-8")
    assert "scrollWidth" in theme, "another version: look what it does to a long page"
    assert 'addEventListener("load"' not in theme


def test_no_page_of_the_book_holds_files_or_several_sheets(site):
    for path in light.pages_of(site):
        page = path.read_text(encoding="utf-8")
        if path.parent.name != "book":
            continue
        inside = [
            found[0][:60] for found in frames.DATA.finditer(page) if len(found[4]) > 2 * frames.SMALLEST
        ]
        assert inside == [], path.name
        assert len(sheets.LINK.findall(page)) == 1, path.name
        assert len(gzip.compress(page.encode())) < HTML_BYTES, path.name
