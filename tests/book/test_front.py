"""Descriptions, sitemap, the page for 404, and all that follows from the two addresses of the book."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from PIL import Image

from cellgrader.class_settings import read_settings
from cellgrader.errors import CourseError
from seqcourse.pages import addresses, browser, cards, front, your_class

ROOT = Path(__file__).resolve().parents[2]
CONF = """
project = "Short"
html_title = "A short course"
extensions = ["myst_nb", "sphinx_book_theme"]
extensions += [f"seqcourse.pages.{part}" for part in ("addresses", "assignments", "front", "search")]
html_theme = "sphinx_book_theme"
nb_execution_mode = "off"
myst_enable_extensions = ["colon_fence", "dollarmath"]
exclude_patterns = ["assignments", "solutions"]
"""
INDEX = """# A short course

:::{admonition} The question
What is asked?
:::

The *first* sentence of the course is about $x$ and attention. The second says more.

See the [assignment](assignments/ps1/ps1.ipynb).

```{how-to-cite}
```

```{report-an-error}
```

```{toctree}
book/one
```
"""
ONE = "# Masking\n\nA mask hides places, so that no word sees what is to come.\n\n## Look back\n\nNo.\n"


def build(folder: Path, **environment: str) -> Path:
    """A short book in a folder, built in a process of its own; returns the folder of its pages."""
    (folder / "assignments" / "ps1").mkdir(parents=True)
    (folder / "book").mkdir()
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(INDEX)
    (folder / "book" / "one.md").write_text(ONE)
    shutil.copy(ROOT / "CITATION.cff", folder)
    shutil.copy(ROOT / "assignments/ps1/ps1.ipynb", folder / "assignments/ps1/ps1.ipynb")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(folder), str(folder / "html")]
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **environment}
    subprocess.run(command, env=variables, cwd=folder, check=True, timeout=120)
    return folder / "html"


def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def properties(page: BeautifulSoup) -> dict[str, str]:
    return {
        tag.get("name") or tag.get("property", ""): tag.get("content") for tag in page.select("meta")
    }


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return build(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def addressed(tmp_path_factory):
    return build(
        tmp_path_factory.mktemp("addressed"),
        BOOK_SITE="https://example.org/course",
        BOOK_REPOSITORY="git@github.com:someone/course.git",
        BOOK_HUB="https://hub.example.org",
    )


def test_without_addresses_nothing_needs_one(bare):
    page = soup(bare / "index.html")
    said = properties(page)
    assert said["description"] == (
        "The first sentence of the course is about x and attention. The second says more."
    )
    assert said["og:title"] == "A short course" and said["og:description"] == said["description"]
    assert {"og:url", "og:image", "twitter:card"}.isdisjoint(said)
    assert page.select_one("link[rel=canonical]") is None
    assert not (bare / "sitemap.xml").exists()
    assert (bare / "robots.txt").read_text() == "User-agent: *\nAllow: /\n"
    links = [link["href"] for link in page.select("a[href]")]
    assert not any(word in link for link in links for word in ("colab", "binder", "issues"))
    assert "tell whoever gave you this book" in page.text


def test_with_addresses_everything_has_one(addressed):
    page = soup(addressed / "book" / "one.html")
    said = properties(page)
    assert said["description"] == "A mask hides places, so that no word sees what is to come."
    assert said["og:title"] == "Masking"
    assert said["og:url"] == "https://example.org/course/book/one.html"
    assert page.select_one("link[rel=canonical]")["href"] == said["og:url"]
    picture = addressed / said["og:image"].removeprefix("https://example.org/course/")
    assert picture.read_bytes()[:4] == b"\x89PNG" and picture.stat().st_size < 100_000
    assert said["og:url"] in (addressed / "sitemap.xml").read_text()
    assert "Sitemap: https://example.org/course/sitemap.xml" in (addressed / "robots.txt").read_text()
    links = {link["href"] for link in soup(addressed / "index.html").select("a[href]")}
    assert (
        "See the assignment (open in JupyterHub or Colab or Binder)."
        in soup(addressed / "index.html").text
    )
    repository = "https://github.com/someone/course"
    notebook = "assignments/ps1/ps1.ipynb"
    assert repository in links and f"{repository}/issues/new" in links
    assert f"https://colab.research.google.com/github/someone/course/blob/main/{notebook}" in links
    assert f"https://mybinder.org/v2/gh/someone/course/main?urlpath=lab/tree/{notebook}" in links
    pull = "https://hub.example.org/hub/user-redirect/git-pull?repo=https%3A//github.com/someone/course"
    assert f"{pull}&urlpath=lab/tree/course/{notebook}&branch=main" in links
    assert any(
        link.startswith(f"{repository}/issues/new?") for link in links
    )  # the theme's, for the page


def test_the_page_for_404_works_at_any_depth(bare, addressed):
    for folder, base in ((bare, "/"), (addressed, "https://example.org/course/")):
        page = soup(folder / "404.html")
        assert page.select_one("base")["href"] == base
        first = page.select_one("head base, head link[rel=stylesheet]")
        assert first.name == "base"  # before anything that it is for
        assert page.select_one("article form.bd-search")["action"] == "search.html"
        assert page.select_one("article a[href]")["href"] == "index.html"


def test_a_page_is_described_by_itself_its_question_or_its_first_paragraph():
    words = nodes.paragraph("", "A first paragraph.")
    assert front.description(nodes.section("", words, ids=["one"])) == "A first paragraph."
    asked = nodes.admonition("", nodes.title("", "The question"), nodes.paragraph("", "Why?"))
    asked["classes"].append("question")
    both = nodes.section("", asked, words, ids=["one"])
    assert front.description(both) == "Why?"
    own = nodes.meta("", name="description", content="Said by the author.")
    assert front.description(nodes.section("", own, both, ids=["two"])) == "Said by the author."


DRAWING = """<div class="sq-drawing" aria-label="{}"><p>said</p><svg class="wide" viewBox="0 0 9 4">
<rect width="9" height="4" fill="{}"/></svg><svg class="narrow"></svg></div>"""


@pytest.mark.browser
def test_the_picture_of_a_chapter_is_its_drawing(tmp_path, chrome):
    page, plain = tmp_path / "one.html", tmp_path / "two.html"
    page.write_text(DRAWING.format("A mask", "#ff0000") + DRAWING.format("Two heads", "#00ff00"))
    plain.write_text("No drawing.")
    pictures = {path: path.with_suffix(".png") for path in (page, plain)}
    if browser.installed_browser() is None:
        pytest.skip("Chromium is here only as Playwright's")
    cards.draw_all(pictures, {page: "All heads", plain: "Nothing"}, "A course")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.html", "one.png", "two.html"]
    with Image.open(pictures[page]) as drawn:
        colours = [colour for _, colour in drawn.convert("RGB").getcolors()]
        assert drawn.size == (1200, 630) and (0, 255, 0) in colours and (255, 0, 0) not in colours


def test_citation_and_download(bare):
    page = soup(bare / "index.html")
    assert "title   = {seqcourse: an interactive course on sequence models}" in page.text
    link = page.select_one("a.download, a[download]")
    assert (bare / link["href"]).read_bytes() == (ROOT / "assignments/ps1/ps1.ipynb").read_bytes()


@pytest.mark.parametrize(
    ("address", "web"),
    [
        ("https://github.com/someone/course.git", "https://github.com/someone/course"),
        ("git@gitlab.com:group/part/course.git", "https://gitlab.com/group/part/course"),
        ("https://user:secret@github.com/someone/course", "https://github.com/someone/course"),
        ("ssh://git@github.com/someone/course.git", "https://github.com/someone/course"),
        ("/srv/git/course.git", None),
        ("https://git.example.org/someone/course", None),
        ("https://github.com/someone", None),
        ("", None),
    ],
)
def test_addresses_of_repositories(address, web):
    assert addresses.repository(address) == web


def test_the_setting_goes_before_the_remote(tmp_path):
    assert addresses.find_repository(tmp_path, {}) is None
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "git@github.com:someone/course.git"], check=True)
    assert addresses.find_repository(tmp_path, {}) == "https://github.com/someone/course"
    mine = 'repository = "https://github.com/my/class"\nbook = "https://my.example/book"\n'
    (tmp_path / "course.toml").write_text(mine)
    assert addresses.find_repository(tmp_path, {}) == "https://github.com/my/class"
    assert addresses.find_site(tmp_path, {}) == "https://my.example/book/"
    other = {"BOOK_REPOSITORY": "https://gitlab.com/else/where", "BOOK_SITE": "http://localhost:8000/"}
    assert addresses.find_repository(tmp_path, other) == "https://gitlab.com/else/where"
    assert addresses.find_site(tmp_path, other) == "http://localhost:8000/"


def test_the_pages_carry_the_title_and_the_links_of_a_class(tmp_path):
    assert your_class.footer(read_settings(tmp_path)) == ""
    (tmp_path / "course.toml").write_text(
        'title = "R & D"\nterm = "Spring 2027"\n[links]\nOld = ""\n"Ask" = "https://a.example/?x=1&y=2"\n'
    )
    assert your_class.footer(read_settings(tmp_path)) == (
        '<p>R &amp; D · Spring 2027 · <a href="https://a.example/?x=1&amp;y=2">Ask</a></p>\n'
    )
    theme = {"logo": {"text": "seqcourse", "alt_text": ""}, "extra_footer": "<p>Text</p>"}
    config = SimpleNamespace(project="", html_title="", html_theme_options=theme)
    your_class._settle(SimpleNamespace(confdir=tmp_path), config)
    assert config.html_title == config.project == theme["logo"]["text"] == "R & D"
    assert theme["logo"]["alt_text"] == "" and theme["extra_footer"].endswith("Ask</a></p>\n<p>Text</p>")


def test_wrong_settings_are_sentences(tmp_path):
    with pytest.raises(CourseError, match=r"such as https://github\.com/owner/name, but it is 'here'"):
        addresses.find_repository(tmp_path, {"BOOK_REPOSITORY": "here"})
    with pytest.raises(
        CourseError, match=r"BOOK_SITE should be the address of the pages.*'example\.org'"
    ):
        addresses.find_site(tmp_path, {"BOOK_SITE": "example.org"})
    (tmp_path / "course.toml").write_text('repository = "https://example.org/mine"\n')
    with pytest.raises(CourseError, match=r"course\.toml, line 1: repository should be the address"):
        addresses.find_repository(tmp_path, {})
    with pytest.raises(CourseError, match=r"BOOK_HUB should be the address of a JupyterHub.*'hub'"):
        addresses.find_hub({"BOOK_HUB": "hub"})


def test_a_notebook_opens_on_the_classs_hub_as_the_themes_button_opens_it():
    """The addresses as nbgitpuller reads them; the folder in a home is called like the repository."""
    found = addresses.launch("https://git.example.org/a/b", "book/one.ipynb", "main", "https://hub.org/")
    asked = parse_qs(urlsplit(found.pop("JupyterHub")).query)
    assert found == {}
    assert asked == {
        "repo": ["https://git.example.org/a/b"], "urlpath": ["lab/tree/b/book/one.ipynb"],
        "branch": ["main"],
    }  # fmt: skip


def test_descriptions_are_whole_sentences_if_they_fit():
    assert front.shortened("One. Two is longer.", 8) == "One."
    assert front.shortened("A sentence that goes on and on", 16) == "A sentence …"


def test_the_site_has_every_assignment_as_students_get_it_and_no_solution(site):
    found = {path.name: path.read_bytes() for path in (site / "_downloads").rglob("*.ipynb")}
    given = {path.name: path.read_bytes() for path in (ROOT / "assignments").rglob("ps*.ipynb")}
    assert given and found == given
    names = {path.relative_to(site / "_sources").as_posix() for path in site.glob("_sources/**/*.ipynb")}
    assert all(name.startswith("book/") for name in names)
    first = soup(site / "book" / "index.html")
    assert {Path(link["href"]).name for link in first.select("a.download, a[download]")} == set(given)
