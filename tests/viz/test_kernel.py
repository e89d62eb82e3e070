"""The same cells in a real kernel: widgets for a reader, plain HTML for the page."""

from __future__ import annotations

import pytest

from cellgrader.sockets import private_sockets
from tests.sizes import nightly_but

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
jupyter_client = pytest.importorskip("jupyter_client")

CELLS = [
    "import matplotlib.pyplot as plt\nfrom seqcourse import viz\nviz.use_style('png')",
    "viz.bars({'a': 1.0}, ylabel='value');",
    "plt.imshow([[0, 1]])\nplt.show()",
    "viz.explore(lambda n: viz.bars({'a': n}, ylabel='value'), alt='A bar of {n}.', n=[1, 2, 3])",
    "viz.ask('Q?', {'a': 'x', 'b': 'y'}, answer='a')",
    "viz.type_in(str.upper, 'A text', ['one'])",
    "viz.predict('05-race')",
    "viz.predict('08-leak')",
    "plt.get_fignums()",
]


def outputs() -> list[list]:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    kernel = jupyter_client.AsyncKernelManager(kernel_name="python3", **private_sockets())
    nbclient.NotebookClient(notebook, km=kernel, timeout=300).execute(cleanup_kc=True)
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.parametrize("static", nightly_but([""], ["", "1"]))  # static: every page of the book
def test_cells_show_once_and_in_the_form_that_fits(monkeypatch, static):
    monkeypatch.setenv("SEQCOURSE_STATIC", static)
    _, chart, picture, *touched, left_open = outputs()
    for (shown,), kinds in ((chart, ["image/svg+xml"]), (picture, ["image/png"])):
        assert [kind for kind in shown.data if kind.startswith("image/")] == kinds
    for shown in touched:
        assert len(shown) == 1
        assert ("application/vnd.jupyter.widget-view+json" in shown[0].data) is (not static)
        assert ("text/html" in shown[0].data) is bool(static)
    assert left_open[0].data["text/plain"] == "[]"
