r"""Text that every viewer of notebooks shows, and what the site makes of it.

JupyterLab, VS Code and Colab do not know the book's numbers. So the notebooks hold them as plain
links, and the site reads each as the role that makes its own link:

    [Figure 6.2](#fig-lookup)                   {numref}`fig-lookup`
    [(6.8)](#eq-qkv)                            {eq}`eq-qkv`
    [A soft dictionary](#sec-soft-dictionary)   {ref}`sec-soft-dictionary`
    [Cho et al. (2014a)](https://...)           {cite:t}`cho2014`
    ([Watson, 1964](https://...))               {cite:p}`watson1964`
    <a id="sec-here"></a>                       (sec-here)=
    $$\begin{equation*} ... \tag{6.8}           $$ ... $$ (eq-qkv)
    a cell <a id="fig-lookup"></a>**Figure 6.2.** Its caption.    the caption of the cell before

``make numbers`` writes the left column, from roles too, and brings every number up to date.
(JupyterLab numbers a formula itself, from 1, unless it stands in an ``equation*``.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FIGURES, EQUATIONS, SECTIONS = ("fig", "tab"), ("eq",), ("sec",)
ROLE = re.compile(r"\{(numref|eq|ref|cite:[tp])\}`([^`<]+)`")
LINK = re.compile(r"\[((?:[^\[\]\n]|\[[^\[\]\n]*\])+)\]\(([^()\s]+)\)")
CITED = re.compile(
    r"\((\[[^\[\]\n]+, \d{4}\w?\]\([^()\s]+\)(?:; \[[^\[\]\n]+, \d{4}\w?\]\([^()\s]+\))*)\)"
)
FORMULA = re.compile(r"^\$\$\n((?:(?!\$\$).)*?)\n\$\$(?: \(([\w-]+)\))?$", re.M | re.S)
PLAIN_FORMULA = re.compile(
    r'(?:(?P<before>^[^\n]*\S[^\n]*\n)?^<a id="(?P<name>eq[\w-]*)"></a>\n\n)?'
    r"^\$\$\\begin\{equation\*\}\n(?P<tex>(?:(?!\$\$).)*?)(?: \\tag\{[\d.]+\})?\n"
    r"\\end\{equation\*\}\$\$$",
    re.M | re.S,
)
TARGET = re.compile(r"^\(([\w-]+)\)=\n\n?(?=(#*) *(.*))", re.M)
ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>\n(?=#)', re.M)
CAPTION = re.compile(r'<a id="([\w-]+)"></a>\*\*Figure [\d.]+\.\*\* (.*)', re.S)
NUMBERED = re.compile(
    r"^ *[:`]{3,}\{(list-table|figure)\}[^\n]*\n(?: *:(?!name)[^\n]*\n)* *:name: ([\w-]+)$", re.M
)
JOIN = "\0"  # stands for: in the line before
WORDS = {"fig": "Figure", "tab": "Table"}


@dataclass
class Book:
    """What the links of all pages need: by label, its page and its text; by key, a source."""

    pages: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    sources: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # authors, year, address

    def keys(self) -> dict[str, str]:
        """The key of each source by its address."""
        return {address: key for key, (_, _, address) in self.sources.items()}


def as_roles(text: str, keys: dict[str, str]) -> str:
    """The plain text of a page, or of a cell, as the site reads it; ``keys`` by address."""

    def cited(found: re.Match) -> str:
        names = [keys.get(address) for _, address in LINK.findall(found[1])]
        return f"{{cite:p}}`{','.join(names)}`" if all(names) else found[0]

    def link(found: re.Match) -> str:
        said, (page, _, label) = found[1], found[2].partition("#")
        kind = re.match("[a-z]*", label)[0]
        if found[2] in keys and re.search(r" \(\d{4}\w?\)$", said):
            return f"{{cite:t}}`{keys[found[2]]}`"
        if page and not re.fullmatch(r"[\w-]+\.(ipynb|md)", page):  # not a page of the book
            return found[0]
        if kind in FIGURES and re.fullmatch(r"(Figure|Table) [\d.]+", said):
            return f"{{numref}}`{label}`"
        if kind in EQUATIONS and re.fullmatch(r"\([\d.]+\)", said):
            return f"{{eq}}`{label}`"
        if kind in SECTIONS and said[0].isupper():  # a title; other words stay
            return f"{{ref}}`{label}`"
        return f"[{said}](#{label})" if label else found[0]

    def formula(found: re.Match) -> str:
        before = f"{found['before']}\n" if found["before"] else ""
        return f"{before}$$\n{found['tex']}\n$$" + (f" ({found['name']})" if found["name"] else "")

    text = LINK.sub(link, CITED.sub(cited, text))
    return PLAIN_FORMULA.sub(formula, ANCHOR.sub(r"(\1)=\n\n", text))


def as_plain(text: str, book: Book, page: str) -> str:
    """What every viewer shows, from roles or from links whose numbers may be old.

    Raises KeyError: a role names a label or a source that the book does not have.
    """

    def role(found: re.Match) -> str:
        kind, names = found.groups()
        if not kind.startswith("cite"):
            return f"[{book.texts[names]}]({to(names)})"
        said = [book.sources[key] for key in names.split(",")]
        if kind == "cite:p":
            return f"({'; '.join(f'[{who}, {year}]({address})' for who, year, address in said)})"
        return ", ".join(f"[{who} ({year})]({address})" for who, year, address in said)

    def to(label: str) -> str:
        return f"#{label}" if book.pages[label] == page else f"{book.pages[label]}#{label}"

    def formula(found: re.Match) -> str:
        tex, name = found.groups()
        tag = f" \\tag{{{book.texts[name].strip('()')}}}" if name else ""
        made = f"$$\\begin{{equation*}}\n{tex}{tag}\n\\end{{equation*}}$$"
        if not name:
            return made
        # As the last line of the paragraph before it, the anchor takes no room.
        joined = re.search(r"^[^\s:$#|`>-].*\n\n\Z", text[: found.start()], re.M)
        return f'{JOIN if joined else ""}<a id="{name}"></a>\n\n{made}'

    def link(found: re.Match) -> str:
        label = found[2].removeprefix("#")
        return f"[{found[1]}]({to(label)})" if label in book.pages else found[0]

    text = as_roles(text, book.keys())
    made = FORMULA.sub(formula, text).replace(f"\n{JOIN}", "")
    made = TARGET.sub(r'<a id="\1"></a>\n', made)
    return ROLE.sub(role, LINK.sub(link, made))


def notebook_as_roles(notebook: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    """A notebook as the site reads it: captions where MyST-NB looks for them."""
    cells: list[dict[str, Any]] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            cells.append(cell | {"metadata": json.loads(json.dumps(cell["metadata"]))})
            continue
        text = as_roles("".join(cell["source"]), keys)
        caption = CAPTION.fullmatch(text)
        if caption and cells and cells[-1]["cell_type"] == "code":
            figure = {"caption": caption[2], "name": caption[1]}
            known = cells[-1]["metadata"].get("mystnb", {})
            cells[-1]["metadata"]["mystnb"] = {"figure": figure} | known
        else:
            cells.append(cell | {"source": text.splitlines(keepends=True)})
    return notebook | {"cells": cells}


def as_the_site_reads(notebook: dict[str, Any], root: Path) -> dict[str, Any]:
    """A notebook of the book in ``root`` as Jupyter Book gets it; a book without sources is fine."""
    path = root / "book" / "references.bib"
    sources = read_sources(path) if path.is_file() else {}
    return notebook_as_roles(notebook, Book(sources=sources).keys())


def notebook_as_plain(notebook: dict[str, Any], book: Book, page: str) -> dict[str, Any]:
    """A notebook whose captions are cells, with the book's numbers."""
    cells: list[dict[str, Any]] = []
    for cell in notebook_as_roles(notebook, book.keys())["cells"]:
        cells.append(cell)
        if cell["cell_type"] == "markdown":
            text = as_plain("".join(cell["source"]), book, page)
            cell["source"] = text.splitlines(keepends=True)
        elif figure := cell["metadata"].get("mystnb", {}).pop("figure", None):
            if not cell["metadata"]["mystnb"]:
                del cell["metadata"]["mystnb"]
            said = as_plain(figure["caption"], book, page)
            text = f'<a id="{figure["name"]}"></a>**{book.texts[figure["name"]]}.** {said}'
            made = {"cell_type": "markdown", "id": f"{cell['id']}-caption", "metadata": {}}
            cells.append(made | {"source": text.splitlines(keepends=True)})
    return notebook | {"cells": cells}


def read_book(root: Path) -> Book:
    """Number the figures, tables, formulas and sections of all pages, as the site will."""
    book = Book(sources=read_sources(root / "book" / "references.bib"))
    counts: dict[tuple[str, str], int] = {}
    for chapter, path in pages(root):
        text = _text(path, book.keys())
        labels = [(found.start(), found[2], "") for found in NUMBERED.finditer(text)]
        labels += [(found.start(), found[2], "") for found in FORMULA.finditer(text) if found[2]]
        labels += [(found.start(), found[1], found[3]) for found in TARGET.finditer(text)]
        for _, label, title in sorted(labels):
            book.pages[label] = path.name
            kind = re.match("[a-z]*", label)[0]
            if title:
                book.texts[label] = title
                continue
            counts[kind, chapter] = counts.get((kind, chapter), 0) + 1
            number = f"{chapter}.{counts[kind, chapter]}" if chapter else str(counts[kind, chapter])
            book.texts[label] = f"({number})" if kind in EQUATIONS else f"{WORDS[kind]} {number}"
    return book


def pages(root: Path) -> Iterator[tuple[str, Path]]:
    """Every page with the number of its chapter, "" if it has none, in the order of the contents."""
    import yaml

    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    number = 0
    entries = [("", contents["root"])]
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            number += bool(part.get("numbered"))
            own = str(number) if part.get("numbered") else ""
            entries += [(own, page["file"]) for page in (chapter, *chapter.get("sections", ()))]
    for own, name in entries:
        yield own, next(p for p in (root / f"{name}.ipynb", root / f"{name}.md") if p.is_file())


def _text(path: Path, keys: dict[str, str]) -> str:
    """A page's text with roles; a figure that a cell draws stands there as a directive."""
    if path.suffix == ".md":
        return as_roles(path.read_text(encoding="utf-8"), keys)
    parts = []
    for cell in notebook_as_roles(json.loads(path.read_text(encoding="utf-8")), keys)["cells"]:
        figure = cell["metadata"].get("mystnb", {}).get("figure")
        if cell["cell_type"] == "markdown":
            parts.append("".join(cell["source"]))
        elif figure:
            parts.append(f":::{{figure}}\n:name: {figure['name']}\n:::")
    return "\n\n".join(parts)


def read_sources(path: Path) -> dict[str, tuple[str, str, str]]:
    """Authors, year and address of what a file of BibTeX lists, by key."""
    from pybtex.database import parse_file

    found = {}
    for key, entry in parse_file(str(path)).entries.items():
        names = [
            " ".join([*person.prelast_names, *person.last_names]) for person in entry.persons["author"]
        ]
        names = [re.sub(r"[{}]", "", name) for name in names]
        who = (
            names[0]
            if len(names) == 1
            else " and ".join(names)
            if len(names) == 2
            else f"{names[0]} et al."
        )
        found[key] = who, entry.fields["year"], entry.fields["url"]
    return found


def renewed(path: Path, book: Book) -> str:
    """What a page's file should hold."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return as_plain(text, book, path.name)
    notebook = notebook_as_plain(json.loads(text), book, path.name)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    keys: dict[str, str] = {}

    def read(app: Any, name: str, content: list[str]) -> None:
        if app.env.doc2path(name).endswith(".ipynb"):
            notebook = notebook_as_roles(json.loads(content[0]), keys)
            content[0] = json.dumps(notebook, ensure_ascii=False)
        else:
            content[0] = as_roles(content[0], keys)

    def settle(app: Any, config: Any) -> None:
        for name in config["bibtex_bibfiles"] if "bibtex_bibfiles" in config else ():
            keys.update(Book(sources=read_sources(Path(app.confdir) / name)).keys())

    app.connect("config-inited", settle)
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main() -> None:
    """Write the numbers of the book into its pages, for ``make numbers``."""
    root = Path(__file__).resolve().parents[2]
    book = read_book(root)
    for _, path in pages(root):
        path.write_text(renewed(path, book), encoding="utf-8")


if __name__ == "__main__":
    main()
