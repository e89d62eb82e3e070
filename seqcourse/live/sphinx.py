"""Sphinx extension: pages with live figures get the runtime, and the site the models that they name.

A page that is no notebook has a live figure by a directive, with the name of a translator, what a reader
calls it, and sentences to choose from::

    ```{live-translate} en-es-attention
    :title: What the model writes
    :label: An English sentence

    we are eating bread
    the red house is big
    ```
"""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from seqcourse.errors import CourseError
from seqcourse.live.figure import RUNTIME

FOLDER = "live"  # below the site's _static


def write_runtime(folder: Path) -> None:
    """The scripts and the style sheet that every live figure shares, into a folder."""
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for path in sorted(RUNTIME.iterdir()):
        shutil.copyfile(path, folder / path.name)  # an installed file may be read-only


def write_models(folder: Path, names: Iterable[str]) -> None:
    """The scripts of models, and of what scenes are composed of, into the folder of the runtime."""
    from seqcourse.live import sheet
    from seqcourse.live.pack import looks_at_scenes, scripts

    names = list(names)
    if any(map(looks_at_scenes, names)):
        (folder / "models" / "things.js").write_text(sheet.script(), encoding="utf-8")
    for name in names:
        for number, script in enumerate(scripts(name)):
            (folder / "models" / f"{name}.{number}.js").write_text(script, encoding="utf-8")


def named_models(page: str) -> set[str]:
    """The models that a page's live figures name."""
    found = re.findall(r'data-live="[^"]*" data-models="([^"]*)"', page)
    return {name for models in found for name in json.loads(html.unescape(models))}


def own_styles(page: str) -> list[str]:
    """The style sheets of those live figures of a page that have one of their own."""
    kinds = sorted(set(re.findall(r'data-live="([^"]*)"', page)))
    return [f"{kind}.css" for kind in kinds if (RUNTIME / f"{kind}.css").is_file()]


def _places(app: Any, doctree: nodes.document) -> None:
    """A stop of a figure can be linked as a section can, by [stop 8](machine_room.ipynb#stop-8)."""
    page = app.env.docname
    for raw in doctree.findall(nodes.raw):
        if "data-live=" not in (text := raw.astext()):
            continue
        for name in re.findall(r'<li id="([^"]+)"', text):
            app.env.domains["std"].labels[name] = (page, name, name.replace("-", " "))
            app.env.domains["std"].anonlabels[name] = (page, name)
            slugs = app.env.metadata[page].setdefault("myst_slugs", {})
            slugs[name] = (raw.line or 0, name, name.replace("-", " "))


class LiveTranslate(SphinxDirective):
    """The same figure as ``live.translate`` in a cell; its first answer is computed with the site."""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012 - as docutils wants it
        "title": directives.unchanged_required,
        "label": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Called by docutils."""
        from seqcourse.live.page import translate
        from seqcourse.zoo import storage

        (name,) = self.arguments
        examples = [line.strip() for line in self.content if line.strip()]
        try:
            shown = translate(
                {name: self.options.get("title", name)}, self.options.get("label", ""), examples
            )
        except CourseError as error:
            raise self.error(str(error)) from error
        for path in (storage.FILES / name).iterdir():  # made anew when the checkpoint is
            self.env.note_dependency(str(path))
        return [nodes.raw("", shown._repr_html_(), format="html")]


def _begin(app: Any) -> None:
    if app.builder.format == "html":
        write_runtime(Path(app.outdir) / "_static" / FOLDER)


def _page(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    if named_models(context.get("body", "")):
        app.add_js_file(f"{FOLDER}/start.js", loading_method="defer")
        app.add_css_file(f"{FOLDER}/live.css")
        for name in own_styles(context["body"]):
            app.add_css_file(f"{FOLDER}/{name}")


def _finish(app: Any, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    pages = (path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html"))
    names = set().union(*map(named_models, pages))
    write_models(Path(app.outdir) / "_static" / FOLDER, sorted(names))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("live-translate", LiveTranslate)
    app.connect("builder-inited", _begin)
    app.connect("doctree-read", _places)
    app.connect("html-page-context", _page)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
