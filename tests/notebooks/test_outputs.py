"""The plugin that keeps what nbval saw for the pages of the book."""

from __future__ import annotations

from types import SimpleNamespace

import nbformat.v4 as v4
import pytest

from .outputs import with_outputs

PRINTED = [v4.new_output("stream", text="1\n")]


def file(*outputs: list | None, cells: int) -> SimpleNamespace:
    """A notebook of so many cells as nbval leaves it; the first of them gave these outputs."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell("1"), v4.new_markdown_cell("words")])
    notebook.cells += [v4.new_code_cell(str(number)) for number in range(1, cells)]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = SimpleNamespace(nb=notebook, session=SimpleNamespace(items=[]))
    found.session.items = [
        SimpleNamespace(parent=found, cell=cell, test_outputs=given)
        for cell, given in zip(code, outputs, strict=False)
    ]
    return found


def test_every_cell_gets_what_it_printed():
    ran = file(PRINTED, [], cells=2)
    assert with_outputs(ran)
    assert [cell.get("outputs") for cell in ran.nb.cells] == [PRINTED, None, []]


@pytest.mark.parametrize(
    "ran",
    [
        file(PRINTED, cells=2),
        file(PRINTED, None, cells=2),
        file(PRINTED, [v4.new_output("error", ename="E", evalue="e", traceback=[])], cells=2),
    ],
    ids=["only one cell was chosen", "one did not run", "one failed"],
)
def test_a_notebook_that_did_not_run_to_its_end_is_not_kept(ran):
    assert not with_outputs(ran)
