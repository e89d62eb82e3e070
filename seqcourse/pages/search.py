"""Search that finds sections: their titles, keywords and prose in one script, ranked in the page.

Sphinx's own search finds pages, weighs a word in a menu like one in a title, and fetches every page
for its summary, which a browser refuses in a folder on disk. Here the prose of every section is written
into a script, without formulas, and of code only the functions that it calls; `rank.js` ranks the
sections and `results.js` shows them. A section that an entry of the glossary refers to has the entry's
terms as keywords, so the glossary decides where a term is explained.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from seqcourse.pages.prose import prose, tidy

FILES = Path(__file__).parent / "search_files"
CALLED = re.compile(r"([a-z_]\w{2,})\(")
FOLDER = "search"  # below the site's _static
KEPT = "sections.json"  # below the doctrees: what pages that are not built again hold


@dataclass
class Section:
    """A piece of a page that a link can lead to."""

    anchor: str
    title: str
    text: str
    within: list[str] = field(default_factory=list)  # titles of the page and the sections around it
    keywords: list[str] = field(default_factory=list)
    code: str = ""  # the names of the functions that its code calls
    entry: bool = False  # of the glossary


@dataclass
class Page:
    """The sections of one page, and what leads to them.

    `places` names for every target in the page the section that it stands in; `terms` are the
    glossary's, each with the address that it refers to.
    """

    sections: list[Section]
    places: dict[str, str] = field(default_factory=dict)
    terms: list[tuple[str, str]] = field(default_factory=list)


def read(doctree: nodes.document, numbers: dict[str, tuple[int, ...]]) -> Page:
    """The sections of a page; `numbers` are Sphinx's, by "#" and anchor."""
    found = Page([])
    titles: dict[nodes.Node, list[str]] = {}  # from the page's to its own
    for section in doctree.findall(nodes.section):
        anchor = section["ids"][0]
        number = ".".join(map(str, numbers.get(f"#{anchor}" if titles else "") or ()))
        name = tidy(prose(section.next_node(nodes.title)))
        dot = "." if number and "." not in number else ""  # after a chapter's number
        title = f"{number}{dot} {name}".strip()
        text = " ".join(prose(child) for child in section if not isinstance(child, nodes.title))
        within = titles.get(section.parent, [])
        titles[section] = [*within, title]
        found.sections.append(Section(anchor, title, tidy(text), within, code=_called(section)))
        for node in section.findall(nodes.Element):  # inner sections come later, and have the last word
            found.places |= dict.fromkeys(node.get("ids", ()), anchor)
        found.sections += _entries(section, titles[section], found.terms)
    return found


def _called(section: nodes.section) -> str:
    """The functions that the code of a section calls, each once."""
    children = (child for child in section if not isinstance(child, nodes.section))
    blocks = (block for child in children for block in child.findall(nodes.literal_block))
    return " ".join(sorted({name for block in blocks for name in CALLED.findall(block.astext())}))


def _entries(
    section: nodes.section, within: list[str], terms: list[tuple[str, str]]
) -> Iterator[Section]:
    """The entries of a section's glossary; what they refer to goes to `terms`."""
    lists = (child for child in section if isinstance(child, addnodes.glossary))
    for item in (item for each in lists for item in each.findall(nodes.definition_list_item)):
        heads = [term for term in item.children if isinstance(term, nodes.term)]
        name = tidy(" ".join(map(prose, heads)))
        text = tidy(prose(item.next_node(nodes.definition)))
        links = [
            link["refuri"] for link in item.findall(nodes.reference) if "#" in link.get("refuri", "")
        ]
        terms += [(name, link) for link in links]
        yield Section(heads[0]["ids"][0], name, text, within, entry=True)


def with_keywords(pages: dict[str, Page]) -> dict[str, Page]:
    """The same pages: each section that the glossary refers to knows for which terms."""
    sections = {(name, s.anchor): s for name, page in pages.items() for s in page.sections}
    for section in sections.values():
        section.keywords = []
    for name, page in pages.items():
        for term, link in page.terms:
            target, _, anchor = link.partition("#")
            target = (Path(name).parent / target.removesuffix(".html")).as_posix() if target else name
            if target in pages and anchor in pages[target].places:
                sections[target, pages[target].places[anchor]].keywords.append(term)
    return pages


def script(pages: dict[str, Page], weights: dict[str, float]) -> str:
    """The script that hands all sections to the search page; `weights` of pages are 1 if not given."""
    sections = [
        {"page": name, **{key: value for key, value in asdict(section).items() if value}}
        for name, page in sorted(pages.items())
        for section in page.sections
    ]
    data = json.dumps([sections, weights], ensure_ascii=False, separators=(",", ":"))
    return f"seqsearch.show(...{data});\n"


# --- Sphinx ------------------------------------------------------------------------------------


def _known(app: Any) -> dict[str, Page]:
    """The pages that earlier builds have left, as far as they still exist."""
    path = Path(app.doctreedir) / KEPT
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Page([Section(**s) for s in page["sections"]], page["places"], page["terms"])
        for name, page in kept.items()
        if name in app.env.found_docs
    }


def _collect(app: Any, doctree: nodes.document, docname: str) -> None:
    if app.builder.format != "html":
        return
    if not hasattr(app, "seq_sections"):
        app.seq_sections = _known(app)
    app.seq_sections[docname] = read(doctree, app.env.toc_secnumbers.get(docname, {}))


def _write(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Beside the search page, which Sphinx makes after all others: what it loads."""
    if pagename != "search":
        return
    pages = getattr(app, "seq_sections", None) or _known(app)
    kept = json.dumps({name: asdict(page) for name, page in pages.items()})
    (Path(app.doctreedir) / KEPT).write_text(kept, encoding="utf-8")
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    texts = {path.name: path.read_text(encoding="utf-8") for path in FILES.glob("*.[jc]s*")}
    texts["sections.js"] = script(with_keywords(pages), app.config.search_page_weights)
    addresses = context["search_files"] = {}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        version = hashlib.sha256(text.encode()).hexdigest()[:8]
        addresses[name] = f"_static/{FOLDER}/{name}?v={version}"


def _templates(app: Any, config: Any) -> None:
    config.templates_path.append(str(FILES))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("search_page_weights", {}, "html", dict)
    app.connect("config-inited", _templates)
    app.connect("doctree-resolved", _collect)
    app.connect("html-page-context", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
