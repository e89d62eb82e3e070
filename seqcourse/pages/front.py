"""What search engines, previews of links and lost readers get: descriptions, a sitemap, a page for 404.

Two directives say how to cite the book (from its CITATION.cff) and how to report an error in it.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from seqcourse.pages import cards
from seqcourse.pages.prose import prose, tidy

FILES = Path(__file__).parent / "front_files"
PICTURES = "pictures"  # below the site's _static: what a preview of a link shows
LONGEST = 200  # characters of a description
WRONG = "If a sentence, a number or a figure is wrong, "
INK, PAPER = "#16324a", "#ffffff"
# The course's mark: how dark each square of an alignment of four words to three is.
MARK = ((1.0, 0.7, 0.1, 0.1), (0.1, 0.3, 1.0, 0.2), (0.1, 0.1, 0.3, 1.0))


def description(doctree: nodes.document) -> str:
    """A page's own description, else the question that it asks, else its first paragraph."""
    for meta in doctree.findall(nodes.meta):
        if meta.get("name") == "description":
            return meta["content"]
    boxes = [box for box in doctree.findall(nodes.admonition) if "question" in box["classes"]]
    for parent in [*boxes[:1], *doctree.findall(nodes.section)]:
        for child in parent.children:
            if isinstance(child, nodes.paragraph):
                return shortened(tidy(prose(child)))
    return ""


def shortened(text: str, longest: int = LONGEST) -> str:
    """Whole sentences of a text as far as they fit, else (or if that is very little) its beginning."""
    kept = ""
    for sentence in re.findall(r".+?[.!?](?=\s|$)|.+$", text):
        if len(kept) + len(sentence) > longest:
            break
        kept += sentence
    if len(kept) < min(len(text), longest) / 3:
        return textwrap.shorten(text, longest, placeholder=" …")
    return kept.strip()


def tags(properties: dict[str, str]) -> str:
    """Meta tags for a head; what has no value is left out."""
    lines = []
    for key, value in properties.items():
        kind = "property" if key.startswith("og:") else "name"
        if value:
            lines.append(f'<meta {kind}="{key}" content="{html.escape(value)}">')
    return "\n".join(lines) + "\n"


def sitemap(addresses: list[str]) -> str:
    """The pages of a site, for search engines."""
    urls = "".join(f"  <url><loc>{html.escape(address)}</loc></url>\n" for address in addresses)
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    return f'{head}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'


def draw(title: str, said: str, book: str, path: Path) -> None:
    """The picture of a page that goes with a link to it: 1200 by 630 pixels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), facecolor=PAPER)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 1200), ylim=(630, 0))
    ax.axis("off")
    for row, values in enumerate(MARK):
        for column, value in enumerate(values):
            place = (80 + 62 * column, 70 + 54 * row)
            ax.add_patch(_square(place, value))
    ink = {"color": INK, "parse_math": False}  # a dollar is a dollar
    ax.text(80, 320, textwrap.fill(title, 30), fontsize=46, weight="bold", va="center", **ink)
    ax.text(80, 415, textwrap.fill(said, 66), fontsize=22, va="top", linespacing=1.4, **ink)
    ax.text(1120, 110, book, fontsize=24, ha="right", va="center", **ink)
    figure.savefig(path, dpi=100)


def _square(place: tuple[int, int], value: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(place, 54, 46, color="#0072b2", alpha=value, linewidth=0)


class HowToCite(SphinxDirective):
    """The book's entry for a list of references, in words and for BibTeX, from CITATION.cff."""

    def run(self) -> list[nodes.Node]:
        """Called by docutils."""
        path = Path(self.env.app.confdir) / "CITATION.cff"
        self.env.note_dependency(str(path))
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        authors = " and ".join(_author(author) for author in found["authors"])
        year, title = str(found.get("date-released", ""))[:4], found["title"]
        address = self.config.book_site or self.config.book_repository
        version = found["version"]
        where = f" {address}" if address else ""
        said = f"{authors}. {title}, version {version}. {year or 'Not released yet'}.{where}"
        fields = {"title": title, "author": authors, "year": year, "version": version, "url": address}
        lines = [f"  {key:7} = {{{value}}}," for key, value in fields.items() if value]
        entry = "\n".join(["@misc{seqcourse,", *lines, "}"])
        return [nodes.paragraph("", said), nodes.literal_block(entry, entry, language="bibtex")]


def _author(author: dict[str, str]) -> str:
    name = author.get("name") or f"{author.get('given-names', '')} {author.get('family-names', '')}"
    return name.strip()


class ReportAnError(SphinxDirective):
    """Where to say that something in the book is wrong."""

    def run(self) -> list[nodes.Node]:
        """Called by docutils."""
        address = self.config.book_repository
        if not address:
            return [
                nodes.paragraph("", f"{WRONG}tell whoever gave you this book, and name the section.")
            ]
        issues = "/-/issues/new" if "gitlab" in address else "/issues/new"
        link = nodes.reference("", "open an issue", refuri=f"{address}{issues}")
        after = " and name the section. The repository button above each page leads there, too."
        return [nodes.paragraph("", "", nodes.Text(WRONG), link, nodes.Text(after))]


# --- Sphinx ------------------------------------------------------------------------------------


def _picture(pagename: str) -> str:
    return f"{pagename.replace('/', '-')}.png"


def _head(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Descriptions of a page, for search engines and for previews of links to it."""
    site, book = app.config.book_site, app.config.html_title
    if pagename == "404":
        context["base"] = site or "/"
    if doctree is None:
        return
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title", ""))) or book
    said = description(doctree) or f"{title}: a page of {app.config.project}."
    picture = ""
    if site:
        name = _picture(pagename)
        folder = Path(app.outdir) / "_static" / PICTURES
        folder.mkdir(parents=True, exist_ok=True)
        draw(title, said, app.config.project, folder / name)
        picture = f"{site}_static/{PICTURES}/{name}"
    known = 'name="description"' in context.get("metatags", "")
    context["metatags"] = context.get("metatags", "") + tags(
        {
            "description": "" if known else said,
            "og:title": title,
            "og:description": said,
            "og:type": "article",
            "og:site_name": book,
            "og:url": context.get("pageurl") or "",
            "og:image": picture,
            "twitter:card": "summary_large_image" if picture else "",
        }
    )


def _lost(app: Any) -> Iterator[tuple[str, dict, str]]:
    """The page that a server shows for an address at which there is nothing."""
    if app.builder.name == "html":
        yield "404", {"title": "Not found", "root": app.config.root_doc}, "404.html"


def _finish(app: Any, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    site, folder = app.config.book_site, Path(app.outdir)
    robots = "User-agent: *\nAllow: /\n"
    if site:
        files = {app.builder.get_outfilename(name): name for name in sorted(app.env.found_docs)}
        made = {
            Path(file): folder / "_static" / PICTURES / _picture(name) for file, name in files.items()
        }
        titles = {Path(file): app.env.titles[name].astext() for file, name in files.items()}
        cards.draw_all(made, titles, app.config.project)
        robots += f"Sitemap: {site}sitemap.xml\n"
        pages = [f"{site}{app.builder.get_target_uri(name)}" for name in sorted(app.env.found_docs)]
        (folder / "sitemap.xml").write_text(sitemap(pages), encoding="utf-8")
    else:
        (folder / "sitemap.xml").unlink(missing_ok=True)
    (folder / "robots.txt").write_text(robots, encoding="utf-8")


def _templates(app: Any, config: Any) -> None:
    config.templates_path.append(str(FILES))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("how-to-cite", HowToCite)
    app.add_directive("report-an-error", ReportAnError)
    app.connect("config-inited", _templates)
    app.connect("html-page-context", _head)
    app.connect("html-collect-pages", _lost)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
