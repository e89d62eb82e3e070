"""One style sheet for the whole book, with the rules that its pages need.

The theme and the extensions bring ten sheets, of which a page uses a tenth; notebooks bring the same
`<style>` with every output. All become one file named by its own content. A rule stays if each
class, id and tag in its selector stands in a page, in a script, or in `ADDED`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

import tinycss2

# What bootstrap.js adds. It is not searched for words: it names all that it could do in some book.
ADDED = set(
    """show showing hide hiding fade active disabled collapse collapsing scrolled open
    tooltip tooltip-inner tooltip-arrow bs-tooltip-auto bs-tooltip-top bs-tooltip-bottom
    bs-tooltip-start bs-tooltip-end dropdown-menu dropdown-item dropdown-toggle""".split()
)
NOT_SEARCHED = ("bootstrap.js", "fontawesome.js", "sections.js")
ANY_OF = ("is", "where", "matches", "-webkit-any", "has")  # one of their alternatives has to be there
MARK = "<!-- the style sheet -->"
CELL = re.compile(r"cell\.[0-9a-f]+\.css$")
LINK = re.compile(r'<link\b[^>]*\brel="stylesheet"[^>]*>\s*')
IN_BODY = re.compile(r"<script\b.*?</script>|<style\b[^>]*>(.*?)</style>\s*", re.S)
IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"')]+)["']?\)?\s*;""")
ADDRESS = re.compile(r"""url\(\s*["']?(?!data:|[#/]|[a-z]+:)([^"')]+?)["']?\s*\)""")
PROPERTY = re.compile(r"""(?<=[{;])\s*(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|\([^()]*\)|[^;{}"'])*;?""")
NAMES = re.compile(r'\b(?:class|id)="([^"]*)"')
TAGS = re.compile(r"<([a-z][a-z0-9-]*)")
WORDS = re.compile(r"[A-Za-z_][\w-]*")


def gather(page: str, folder: Path) -> tuple[str, list[str]]:
    """Take the style sheets out of a page: its HTML with a mark for one link, and their names.

    The names are relative to the site's static files. A `<style>` of the body becomes a file in
    ``folder``. The link names in `data-of` what it stands for, so that a page that an incremental build
    leaves as it was says it again.
    """
    sheets: list[str] = []

    def style(found: re.Match[str]) -> str:
        if found[1] is None:  # a script, which may hold the text of a style
            return found[0]
        name = f"cell.{hashlib.sha256(found[1].encode()).hexdigest()[:12]}.css"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(found[1], encoding="utf-8")
        sheets.append(f"{folder.name}/{name}")
        return ""

    middle = page.find("</head>")  # the first page of the site only leads on, and has none
    head, body = page[: max(middle, 0)], page[max(middle, 0) :]
    links = list(LINK.finditer(head))
    if not links:
        return page, []
    for found in links:
        if made := re.search(r'data-of="([^"]*)"', found[0]):
            sheets += made[1].split()
        elif address := re.search(r'href="(?:[^"]*/)?_static/([^"?]+)', found[0]):
            sheets.append(address[1])
    first = links[0].start()
    head = head[:first] + MARK + LINK.sub("", head[first:])
    return head + IN_BODY.sub(style, body), list(dict.fromkeys(sheets))


def put_back(page: str, address: str, sheets: Iterable[str]) -> str:
    """A gathered page with the link to its sheet."""
    link = f'<link rel="stylesheet" href="{address}" data-of="{" ".join(sheets)}">\n'
    return page.replace(MARK, link, 1)


def in_order(lists: Iterable[list[str]]) -> list[str]:
    """All sheets of all pages: those of the head as every page has them, then those of cells.

    What a cell brings is for its own output alone; what more pages have is the more general.
    """
    after: dict[str, set[str]] = {}
    pages_with: Counter[str] = Counter()
    for sheets in lists:
        of_head = [name for name in sheets if not CELL.search(name)]
        pages_with.update(name for name in sheets if CELL.search(name))
        for earlier, later in zip([None, *of_head], of_head, strict=False):
            after.setdefault(later, set()).update([earlier] if earlier else [])
    of_cells = sorted(pages_with, key=lambda name: (-pages_with[name], name))
    return [*TopologicalSorter(after).static_order(), *of_cells]


def words_of(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Every class, id and tag of the pages, and every word of the scripts."""
    words = set(ADDED)
    for page in pages:
        words.update(TAGS.findall(page))
        for names in NAMES.findall(page):
            words.update(names.split())
        for script in re.findall(r"<script\b[^>]*>(.*?)</script>", page, re.S):
            words.update(WORDS.findall(script))
    for script in scripts:
        words.update(WORDS.findall(script))
    return words


def read(static: Path, name: str) -> str:
    """A sheet whose addresses are relative to ``static``, with the sheets that it imports."""
    here = dirname(name)
    # The pieces are text, address of an import, text, address ...
    pieces = IMPORT.split((static / name).read_text(encoding="utf-8"))
    pieces[1::2] = [read(static, normpath(join(here, imported))) for imported in pieces[1::2]]
    pieces[::2] = [
        ADDRESS.sub(lambda found: f'url("{normpath(join(here, found[1]))}")', text)
        for text in pieces[::2]
    ]
    return "".join(pieces)


def purge(css: str, words: set[str], values: str = "") -> str:
    """The rules that can apply where only ``words`` occur; ``values`` is more text with `var(...)`."""
    rules = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    kept = _rules(rules, words)
    fewer = _used_properties(kept, values)
    while fewer != kept:  # a property that only an unused property used
        kept, fewer = fewer, _used_properties(fewer, values)
    kept = re.sub(
        r"@keyframes ([\w-]+)\{(?:[^{}]|\{[^{}]*\})*\}",
        lambda f: f[0] if kept.count(f[1]) > 1 else "",
        kept,
    )
    return re.sub(r"[^{}]+\{\s*\}", "", kept)


def _used_properties(css: str, values: str) -> str:
    """The sheet without the custom properties that nothing reads."""
    used = set(re.findall(r"""--[\w-]+(?=\s*[,)"'])""", css + values))
    return PROPERTY.sub(lambda found: found[0] if found[1] in used else "", css)


def _rules(rules: list[Any], words: set[str]) -> str:
    made = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [part for part in _split(rule.prelude) if _possible(part, words)]
            if selectors:
                text = ",".join(tinycss2.serialize(part).strip() for part in selectors)
                made.append(f"{text}{{{_squeezed(rule.content)}}}")
        elif rule.type == "at-rule":
            name, prelude = rule.lower_at_keyword, tinycss2.serialize(rule.prelude).strip()
            if rule.content is None:
                if name != "charset":
                    made.append(f"@{name} {prelude};")
            elif name in ("media", "supports", "layer", "container"):
                inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
                if text := _rules(inner, words):
                    made.append(f"@{name} {prelude}{{{text}}}")
            else:
                made.append(f"@{name} {prelude}{{{_squeezed(rule.content)}}}")
    return "\n".join(made)


def _squeezed(content: list[Any]) -> str:
    """The inside of a rule without comments and needless white space."""
    text = tinycss2.serialize([part for part in content if part.type != "comment"])
    text = re.sub(
        r"""("[^"]*"|'[^']*')|\s*\n\s*|;\s+(?=\S)""",
        lambda f: f[1] or (";" if ";" in f[0] else " "),
        text,
    )
    return text.strip().removesuffix(";")


def _split(prelude: list[Any]) -> list[list[Any]]:
    """The selectors of a list of selectors."""
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        elif token.type != "comment":
            parts[-1].append(token)
    return parts


def _possible(selector: list[Any], words: set[str]) -> bool:
    """Whether everything that a selector asks for occurs; what it excludes does not matter."""
    before = ""
    for token in selector:
        if token.type == "hash" and token.value not in words:
            return False
        if token.type == "ident" and before != ":":
            name = token.value if before == "." else token.value.lower()
            if name not in words:
                return False
        if token.type == "function" and token.lower_name in ANY_OF:
            if not any(_possible(part, words) for part in _split(token.arguments)):
                return False
        before = token.value if token.type == "literal" else ""
    return True


def scripts_of(static: Path) -> list[str]:
    """The text of the scripts that may add a class; vendored libraries are not among them."""
    paths = [path for path in static.rglob("*.js") if path.name not in NOT_SEARCHED]
    inside = [
        path
        for path in paths
        if not {"vendor", "locales", "models"} & set(path.relative_to(static).parts)
    ]
    return [path.read_text(encoding="utf-8") for path in inside]


def write(folder: Path, css: str) -> str:
    """Write the sheet under its own hash; its name. Addresses in it become relative to ``folder``."""
    css = ADDRESS.sub(lambda found: f'url("{normpath(join("..", found[1]))}")', css)
    name = f"sheet.{hashlib.sha256(css.encode()).hexdigest()[:12]}.css"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(css, encoding="utf-8")
    return name
