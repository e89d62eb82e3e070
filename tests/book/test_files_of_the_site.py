"""The built pages as files: each chapter ran once, nothing from other hosts, no link into nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from jupyter_cache import get_cache

from seqcourse.cli.execute import for_the_cache
from seqcourse.pages import plain
from seqcourse.pages.code import without_guards

from .conftest import ROOT, SITE, chapter_names, page_names

# Tags and attributes through which a page loads something by itself.
LOADING = {
    "script": ["src"],
    "img": ["src", "srcset"],
    "iframe": ["src"],
    "source": ["src"],
    "video": ["src"],
    "audio": ["src"],
    "embed": ["src"],
    "object": ["data"],
    "use": ["href"],
}
LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "preconnect", "dns-prefetch"}
IN_STYLES = re.compile(r"""(?:@import\s+|url\()\s*['"]?((?:https?:)?//[^'")\s]+)""")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def is_foreign(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def foreign_resources(soup: BeautifulSoup) -> list[str]:
    """The addresses on other hosts from which an HTML page would load something."""
    found = []
    for node in soup.find_all([*LOADING, "link", "style"]):  # all at once: a page has many tags
        found += [node[a] for a in LOADING.get(node.name, ()) if is_foreign(node.get(a, ""))]
        if node.name == "link" and LOADING_LINKS & set(node.get("rel", [])):
            found += [node["href"]] if is_foreign(node.get("href", "")) else []
        if node.name == "style":
            found += IN_STYLES.findall(COMMENT.sub("", node.text))
    return found


def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, BeautifulSoup]:
    """The pages of the book, each read once for all tests."""
    return {path: parsed(path) for path in site.rglob("*.html") if "_static" not in path.parts}


def test_the_search_for_foreign_resources_finds_them():
    page = """<link rel="stylesheet" href="https://a.example/x.css"><img src="//b.example/y.png">
      <a href="https://c.example">fine</a><style>@import "https://d.example/z.css";</style>
      <script src="../_static/own.js"></script>"""
    found = foreign_resources(BeautifulSoup(page, "html.parser"))
    hosts = [urlsplit(address).netloc for address in found]
    assert sorted(hosts) == ["a.example", "b.example", "d.example"]


def test_no_page_loads_from_another_host(site, pages):
    found = {}
    for path in site.rglob("*.html"):
        if foreign := foreign_resources(pages[path] if path in pages else parsed(path)):
            found[path.relative_to(site).as_posix()] = foreign
    assert found == {}


def test_no_style_sheet_loads_from_another_host(site):
    found = {}
    for path in site.rglob("*.css"):
        text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        if foreign := IN_STYLES.findall(text):
            found[path.relative_to(site).as_posix()] = foreign
    assert found == {}


def test_every_page_of_the_contents_is_built(site):
    missing = [name for name in page_names() if not (site / f"{name}.html").is_file()]
    assert missing == []


def test_links_inside_the_book_lead_somewhere(site, pages):
    anchors = {
        path.resolve(): {node["id"] for node in soup.find_all(id=True)} for path, soup in pages.items()
    }
    broken = []
    for path, soup in pages.items():
        for link in soup.find_all("a", href=True):
            parts = urlsplit(link["href"])
            if parts.scheme or parts.netloc:
                continue
            there = path.parent / unquote(parts.path) if parts.path else path
            where = f"{path.relative_to(site)}: {link['href']}"
            if not there.is_file():
                broken.append(where)
            elif parts.fragment and there.suffix == ".html":
                known = anchors.get(there.resolve(), set())
                if unquote(parts.fragment) not in known:
                    broken.append(where)
    assert broken == []


def test_no_id_stands_twice_on_a_page(pages):
    twice = {}
    for path, soup in pages.items():
        seen: set[str] = set()
        article = soup.find("article") or soup
        for node in article.find_all(id=True):
            if node["id"] in seen:
                twice.setdefault(path.name, []).append(node["id"])
            seen.add(node["id"])
    assert twice == {}


@pytest.mark.parametrize("name", chapter_names())
def test_every_chapter_has_polls_that_tell_why(site, pages, name):
    polls = pages[site / f"{name}.html"].select(".sq-poll")
    assert polls, "every chapter has a poll"
    for poll in polls:
        options = poll.select("details")
        assert poll.find(True)["class"] == ["sq-question"], "what is asked comes first"
        assert len(options) >= 2 and len(poll.select("details.sq-is-right")) == 1
        assert all(len(option.p.get_text(strip=True)) > 20 for option in options)
        assert not any(option.has_attr("open") for option in options)


@pytest.mark.parametrize("name", chapter_names())
def test_every_chapter_has_something_to_touch(site, pages, name):
    kinds = ".sq-explore, .sq-mask, .sq-heads, .sq-vectors, .sq-listen, .sq-drawing .sq-bar, [data-live]"
    assert pages[site / f"{name}.html"].select(kinds)


def test_pages_hold_no_kernel_widgets(pages):
    kept = "application/vnd.jupyter.widget-state+json"
    with_widgets = [path.name for path, soup in pages.items() if soup.find("script", type=kept)]
    assert with_widgets == [], "a page has no kernel: use viz.explore, viz.poll or viz.type_in"


def test_the_code_of_a_poll_is_not_on_the_site(pages):
    with_code = [
        path.name
        for path, soup in pages.items()
        if re.search(r"viz\.(poll|predict|by_hand|inventory)\(", soup.get_text())
    ]
    assert with_code == [], "tag the cell remove-input"


def test_one_switch_for_all_code_stands_above_it(pages):
    for path, soup in pages.items():
        code, switches = soup.select(".cell_input"), soup.select(".seq-code-switch")
        assert len(switches) == bool(code), path.name
        assert not code or switches[0] in code[0].find_all_previous("div"), path.name


def test_no_page_loads_a_script_that_draws_icons(pages):
    icons = re.compile("fontawesome")
    with_script = [path.name for path, soup in pages.items() if soup.find("script", src=icons)]
    assert with_script == [], "the style sheets bring the icons as a font"


def test_vendored_scripts_come_with_their_licences():
    vendor = Path(__file__).resolve().parents[2] / "book" / "_static" / "vendor"
    readme = (vendor / "README.md").read_text(encoding="utf-8")
    for folder in ("requirejs", "@jupyter-widgets/html-manager"):
        assert (vendor / folder / "LICENSE").stat().st_size > 500
        assert folder in readme
    assert sum(path.stat().st_size for path in vendor.rglob("*") if path.is_file()) < 8_000_000


@pytest.mark.parametrize("name", chapter_names())
def test_no_chapter_ran_again_for_its_page(site, name):
    """What Jupyter Book ran by itself would be newer in the cache than what it was given."""
    cache, path = get_cache(str(SITE.parent / ".jupyter_cache")), ROOT / f"{name}.ipynb"
    notebook = for_the_cache(nbformat.read(path, as_version=4), ROOT)
    records = [record for record in cache.list_cache_records() if record.uri == str(path)]
    newest = max(records, key=lambda record: record.created)
    assert newest.hashkey == cache.create_hashed_notebook(notebook)[1]


@pytest.mark.parametrize("name", chapter_names())
def test_a_chapter_shows_its_steps_without_guards_or_a_stack_of_marks(site, pages, name):
    soup = pages[site / f"{name}.html"]
    sources = [each.get_text() for each in soup.select("article .cell_input pre")]
    assert sources and all(without_guards(source) == source.strip("\n") for source in sources)
    assert soup.select("article details.hide"), "what draws the figures is folded"
    for cell in soup.select("article div.cell:has(> details.hide)"):
        follows = cell.find_next_sibling()
        alone = cell.select_one(":scope > .cell_output") is None
        assert not (alone and follows is not None and follows.select_one(":scope > details.hide"))


def test_figures_tables_and_formulas_have_the_numbers_of_the_text(site, pages):
    """They are those that the pages' texts hold for every other viewer."""
    book, found = plain.read_book(ROOT), {}
    for name in page_names():
        page = pages[site / f"{name}.html"]
        for link in page.select(".eqno a.headerlink, figcaption a.headerlink, caption a.headerlink"):
            number = link.find_parent(class_="eqno") or link.find_parent(
                ["figcaption", "caption"]
            ).select_one(".caption-number")
            found[link["href"].removeprefix("#").removeprefix("equation-")] = number.text.strip(" #\n")
    numbered = {label: text for label, text in book.texts.items() if not label.startswith("sec")}
    numbered = {label: text for label, text in numbered.items() if text[0] == "(" or text[-1].isdigit()}
    assert len(numbered) > 200
    assert {label: found.get(label) for label in numbered} == numbered
