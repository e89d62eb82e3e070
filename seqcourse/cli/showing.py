"""``seqcourse publish`` and ``seqcourse eject``: a student's own work as a page and as a file."""

from __future__ import annotations

from pathlib import Path

from seqcourse.cli.root import find_notebook, shown, tell
from seqcourse.errors import CourseError


def publish_model(name: str, names: str, title: str, out: Path | None, sentences: int) -> None:
    """Write the page of an assignment's trained model, and say what is in it."""
    from seqcourse.publish import publish

    notebook = find_notebook(name)
    page = out or Path(f"{name}.html")
    print("Exporting the model, then scoring it: about a minute.", flush=True)
    said = publish(notebook, page, names, title, sentences)
    tell(f"{shown(page)}: {said}")
    print("Open it in a browser, put it on any web server, or hand the file on.")


def eject_parts(out: Path | None) -> None:
    """Write the student's own parts as one file, run it for some steps, and say how to go on."""
    from seqcourse.publish.eject import eject, tried

    target = out or Path("own_transformer.py")
    if target.exists():
        raise CourseError(f"{shown(target)} is there already: choose another --out, or move it.")
    beside = find_notebook("ps6").parent
    lines = eject(beside.parent if beside.name == "ps6" else beside, target)
    first, last = tried(target)
    tell(
        f"{shown(target)}: {lines} lines that need only PyTorch. In 30 steps its loss went from "
        f"{first:.2f} to {last:.2f}. Run it: python {shown(target)}"
    )
