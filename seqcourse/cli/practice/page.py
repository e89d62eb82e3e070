"""The questions about public code as a page of the book: a directive that makes them as it is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from seqcourse.cli.practice.items import PracticeQuestion
from seqcourse.viz.html import STYLE
from seqcourse.viz.poll import static_form


def card(item: PracticeQuestion) -> str:
    """A question as a poll of the book is shown; a browser keeps no answer to it."""
    whys = item.whys or [item.why] * len(item.options)
    options = dict(zip(item.options, whys, strict=True))
    return static_form(item.words, options, item.options[item.right]).body


class Practice(SphinxDirective):
    """Each piece of code with the numbers of its lines, its chapter, and the questions about it."""

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        from seqcourse.cli.practice.public import asked

        for path in Path(__file__).parent.glob("*.py"):
            self.env.note_dependency(str(path))
        sections: list[nodes.Node] = [nodes.raw("", STYLE, format="html")]
        for code, items in asked():
            self.env.note_dependency(code.file)
            name = code.exercise.name
            section = nodes.section(ids=[f"practice-{nodes.make_id(name)}"], names=[name])
            section += nodes.title("", "", nodes.literal(text=name))
            link = addnodes.pending_xref(
                "", nodes.inline(), refdomain="std", reftype="doc", reftarget=code.page,
                refdoc=self.env.docname, refexplicit=False, refwarn=True,
            )  # fmt: skip
            uses = nodes.Text(f". {code.uses}" if code.uses else ".")
            section += nodes.paragraph("", "Explained in ", link, uses)
            section += nodes.literal_block(code.source, code.source, language="python", linenos=True)
            section += nodes.raw("", "\n".join(map(card, items)), format="html")
            sections.append(section)
        return sections


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("practice", Practice)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
