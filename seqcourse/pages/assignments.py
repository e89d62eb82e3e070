"""Links to an assignment's notebook are downloads, and open it on services that run notebooks.

A page has ordinary links, ``[ps1](../assignments/ps1/ps1.ipynb)``, which work in JupyterLab too. MyST
takes them for links to pages, of which there are none. Here they become downloads: Sphinx copies the
file, the students' version, into the site. Where the repository's address is known, links to services
that run the notebook follow.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

from seqcourse.pages.addresses import launch

FOLDER = "assignments/"


class Downloads(SphinxTransform):
    """Links to notebooks below `FOLDER` become downloads."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Called by docutils."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link.get("refdomain") != "doc" or not link["reftarget"].startswith(FOLDER):
                continue
            path = f"{link['reftarget']}.ipynb"
            download = addnodes.download_reference(
                "", "", *link.children, reftarget=f"/{path}", refdoc=link["refdoc"], reftype="download"
            )
            link.replace_self([download, *self._services(path)])

    def _services(self, path: str) -> list[nodes.Node]:
        """The words " (open in Colab or Binder)" with links; nothing without a repository."""
        found = launch(self.config.book_repository, path, self.config.book_branch, self.config.book_hub)
        said: list[nodes.Node] = []
        for name, address in found.items():
            said.append(nodes.Text(" or " if said else " (open in "))
            said.append(nodes.reference("", name, refuri=address, internal=False))
        return [*said, nodes.Text(")")] if said else []


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(Downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
