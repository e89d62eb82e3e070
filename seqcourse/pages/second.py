"""Second pages are numbered by their file's name: 05b_variants_of_attention is 5b, its sections 5b.1 ff.

Sphinx counts a page below a chapter as one more section of it: 5.16, after the chapter's fifteen. A page
below a chapter whose name has no such number has none here.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

NAME = re.compile(r"0*(\d+[b-z])_")


def number(docname: str) -> str:
    """The number that a page's name gives it, such as 5b; "" for none."""
    found = NAME.match(docname.rpartition("/")[2])
    return found[1] if found else ""


def _renumber(app: Any, env: Any) -> list[str]:
    """Give the pages below chapters their own numbers, after Sphinx has counted."""
    for docname, found in env.toc_secnumbers.items():
        if len(found.get("", ())) < 2:
            continue
        name, section = number(docname), 0
        for entry in env.tocs[docname].findall(addnodes.compact_paragraph):
            link, depth = entry[0], _depth(entry)
            section += depth == 2
            said = {1: (name,), 2: (name, section)}.get(depth) if name else None
            found[link["anchorname"]] = said or ()
            link["secnumber"] = said
        env.titles[docname]["secnumber"] = (name,) if name else None
    return []


def _depth(node: nodes.Node) -> int:
    """How many lists of a page's contents an entry stands in: 1 for the page itself."""
    depth = 0
    while node := node.parent:
        depth += isinstance(node, nodes.bullet_list)
    return depth


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("env-get-updated", _renumber, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
