"""Which scripts a page gets, and when: in their order, after the page is read, and none in vain."""

from __future__ import annotations

import re
from pathlib import Path

SCRIPT = re.compile(r'<script\b([^>]*)\bsrc="([^"]+)"([^>]*)></script>[ \t]*\n?')
PRELOAD = re.compile(r'<link\b[^>]*\brel="preload"[^>]*\bas="script"[^>]*>\s*')
ONCE = re.compile(r"<script data-once>.*?</script>\n?", re.S)  # comes with every output of a kind
OPTIONS = "documentation_options.js"
SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
# What a page has to hold for a script to have anything to do.
NEEDS = {
    "again.js": "data-asked|seq-again",
    "clipboard.min.js": 'class="highlight',
    "copybutton.js": 'class="highlight',
    "togglebutton.js": "dropdown|toggle|hide-",
    "design-tabs.js": "sd-tab-set",
    "require.js": "jupyter.widget",
    "widgets.js": "jupyter.widget",
    "embed-amd.js": "jupyter.widget",
}
# The theme measures every scroll box as soon as the page is there, and again at each change of a live
# figure. That lays out a long page whole; `reading.js` looks at a box when it comes near.
THEME = "scripts/pydata-sphinx-theme.js"
MEASURES = re.compile(
    r'"complete"===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)'
)


def without_measuring(static: Path) -> None:
    """Take that out of the theme's script."""
    file = static / THEME
    if file.is_file():
        text = file.read_text(encoding="utf-8")
        if (less := MEASURES.sub("0", text)) != text:
            file.write_text(less, encoding="utf-8")


def without_repeats(page: str) -> str:
    """The page's HTML with each script that is marked so in its first place only."""
    seen: set[str] = set()

    def kept(found: re.Match[str]) -> str:
        again = found[0].strip() in seen
        seen.add(found[0].strip())
        return "" if again else found[0]

    return ONCE.sub(kept, page)


def defer(page: str, static: Path) -> str:
    """The page's HTML with the scripts that it needs, each run when the page is there.

    Sphinx's options stand inside the page, because scripts inside the page change them.
    """
    # Without any script the theme has no colours, not even of code, unless the page names some.
    page = page.replace('data-theme="auto"', 'data-theme="light"', 1)
    article = page[page.find("<body") :]
    searches = 'id="search-results"' in article

    def changed(found: re.Match[str]) -> str:
        name = found[2].split("?")[0].rsplit("/", 1)[-1]
        if name == OPTIONS:
            return f"<script>{(static / OPTIONS).read_text(encoding='utf-8').strip()}</script>\n"
        if name in SEARCH and not searches:
            return ""
        if name in NEEDS and not re.search(NEEDS[name], article):
            return ""
        if re.search(r"\b(?:defer|async)\b", found[1] + found[3]):
            return found[0]
        return found[0].replace("<script", "<script defer", 1)

    return SCRIPT.sub(changed, PRELOAD.sub("", without_repeats(page)))
