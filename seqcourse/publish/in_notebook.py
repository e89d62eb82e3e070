"""The button of assignment 9: makes the page from the notebook that is open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.publish.page import publish
from seqcourse.viz.html import inline


def button(notebook: str | Path = "ps9.ipynb") -> Any:
    """A field for names and a button that writes the page beside the saved notebook."""
    import ipywidgets as widgets

    path = Path(notebook)
    names = widgets.Text(description="Names", placeholder="as you want to be named")
    make = widgets.Button(description="Make my page", icon="share")
    told = widgets.HTML()

    def work(_: Any) -> None:
        make.disabled, told.value = True, "Exporting the model, then scoring it: about a minute …"
        page = path.with_suffix(".html")
        try:
            said = publish(path, page, names.value)
            told.value = f"<b>{inline(page.name)}</b> is beside your notebook: {inline(said)}"
        except CourseError as error:
            told.value = f"<b>No page yet.</b> {inline(str(error))}"
        except Exception as error:
            told.value = f"<b>No page yet.</b> {inline(f'{type(error).__name__}: {error}')}"
            raise
        finally:
            make.disabled = False

    make.on_click(work)
    return widgets.VBox([widgets.HBox([names, make]), told])
