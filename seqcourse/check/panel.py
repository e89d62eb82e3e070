"""The panel of progress in a notebook, with a button that publishes a trained model as a page."""

from __future__ import annotations

import html
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from seqcourse.progress import PUBLISHED, current_notebook, panel


def progress() -> None:
    """Show how far one is, and a button to publish where the assignment trains a model to show."""
    panel()
    notebook = current_notebook()
    if notebook and notebook.stem in PUBLISHED:
        from IPython.display import display

        display(button(notebook))


def button(notebook: str | Path = "ps9.ipynb") -> Any:
    """A field for names and a button that runs `seqcourse publish` on the saved notebook."""
    import ipywidgets as widgets

    path = Path(notebook)
    names = widgets.Text(description="Names", placeholder="as you want to be named")
    make = widgets.Button(description="Publish", icon="share", tooltip="Make my model a page")
    told = widgets.HTML()

    def work(_: Any) -> None:
        make.disabled = True
        told.value = "Exporting the model of the saved notebook, then scoring it: about a minute …"
        try:
            told.value = html.escape(publish(path, names.value))
        finally:
            make.disabled = False

    make.on_click(work)
    return widgets.VBox([widgets.HBox([names, make]), told])


def publish(notebook: Path, names: str) -> str:
    """What `seqcourse publish` says, run beside the notebook in a process of its own."""
    command = [sys.executable, "-m", "seqcourse.cli", "publish", notebook.stem, f"--names={names}"]
    done = subprocess.run(
        command,
        cwd=notebook.resolve().parent,
        env={**os.environ, "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode == 0:
        return f"Beside your notebook: {' '.join(done.stdout.splitlines()[1:])}"
    last = (done.stderr.splitlines() or ["The command ended without a word."])[-1]
    return f"No page yet. {done.stderr.partition('seqcourse: ')[2].strip() or last}"
