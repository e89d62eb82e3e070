"""Sphinx extension: when a build is finished, its pages are made light.

Frames and sounds leave the HTML (`frames`), the style sheets become one (`sheets`) with the signs that
the book uses (`fonts`), and scripts load late or not at all (`scripts`). A second run over a page
changes nothing, because an incremental build leaves old pages as they are.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from seqcourse.pages import fonts, frames, scripts, sheets

FOLDER = "light"  # below the site's _static


def lighten(site: Path) -> None:
    """Make every page of a built site light, and remove what no page needs any more."""
    static = site / "_static"
    folder = static / FOLDER
    before = {path: path.read_text(encoding="utf-8") for path in pages_of(site)}
    pages = {path: frames.take_out(page, path, folder) for path, page in before.items()}
    pages = {path: scripts.defer(page, static) for path, page in pages.items()}
    pages = one_sheet(pages, static, folder)
    for path, page in pages.items():
        if page != before[path]:
            path.write_text(page, encoding="utf-8")
    scripts.without_measuring(static)
    clear(folder, "".join(pages.values()))


def one_sheet(pages: dict[Path, str], static: Path, folder: Path) -> dict[Path, str]:
    """The pages with one style sheet that holds what they need of theirs."""
    gathered = {path: sheets.gather(page, folder) for path, page in pages.items()}
    names = sheets.in_order(of for _, of in gathered.values())
    css = "\n".join(sheets.read(static, name) for name in names)
    words = sheets.words_of(pages.values(), sheets.scripts_of(static))
    css = sheets.purge(css, words, "".join(pages.values()))
    css = fonts.subset(css, pages.values(), static, folder)
    name = sheets.write(folder, css)
    done = {}
    for path, (page, of) in gathered.items():
        near = os.path.relpath(folder, path.parent).replace(os.sep, "/")
        done[path] = sheets.put_back(page, f"{near}/{name}", of)
    return done


def pages_of(site: Path) -> list[Path]:
    """The HTML files of a site, without those that a theme keeps among its static files."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)


def clear(folder: Path, text: str) -> None:
    """Remove the files of a folder that neither a text names nor a style sheet that it names."""
    names = re.compile(rf"{FOLDER}/([\w.-]+)")
    named = set(names.findall(text))
    for sheet in folder.glob("sheet.*.css"):
        if sheet.name in named:
            named.update(names.findall(sheet.read_text(encoding="utf-8")))
    for path in folder.glob("*"):
        if path.name not in named:
            path.unlink()


def _finish(app: Any, error: Exception | None) -> None:
    if not error and app.builder.format == "html":
        lighten(Path(app.outdir))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", _finish, priority=900)  # after all that writes into pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
