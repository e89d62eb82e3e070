"""Sphinx extension: pages with live figures get the runtime, and the site the models that they name."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqcourse.live.figure import RUNTIME

FOLDER = "live"  # below the site's _static


def write_runtime(folder: Path) -> None:
    """The scripts and the style sheet that every live figure shares, into a folder."""
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for path in sorted(RUNTIME.iterdir()):
        shutil.copy(path, folder / path.name)


def write_models(folder: Path, names: Iterable[str]) -> None:
    """The scripts of models, into the folder of the runtime."""
    from seqcourse.live.pack import scripts

    for name in names:
        for number, script in enumerate(scripts(name)):
            (folder / "models" / f"{name}.{number}.js").write_text(script, encoding="utf-8")


def named_models(page: str) -> set[str]:
    """The models that a page's live figures name."""
    found = re.findall(r'data-live="[^"]*" data-models="([^"]*)"', page)
    return {name for models in found for name in json.loads(html.unescape(models))}


def _begin(app: Any) -> None:
    if app.builder.format == "html":
        write_runtime(Path(app.outdir) / "_static" / FOLDER)


def _page(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    if named_models(context.get("body", "")):
        app.add_js_file(f"{FOLDER}/start.js", loading_method="defer")
        app.add_css_file(f"{FOLDER}/live.css")


def _finish(app: Any, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    pages = (path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html"))
    names = set().union(*map(named_models, pages))
    write_models(Path(app.outdir) / "_static" / FOLDER, sorted(names))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _begin)
    app.connect("html-page-context", _page)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
