"""The student's outputs of cells that grading does not run.

A person who grades a written answer needs the figures that it discusses. These outputs are untrusted:
only text and images are kept, up to the size limit of a cell that is run, and a line above them says
that they are the student's.
"""

from __future__ import annotations

import re
from typing import Any

from cellgrader import bounds
from cellgrader.notebook.cells import clean, joined

# Tags of cells that grading does not run: cells that only display something, and self-checks.
NOT_RUN = {"show", "check"}
# MIME types that a browser displays without running code.
SAFE = ("text/plain", "image/png", "image/jpeg")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
# Each output counts as this many characters more.
FRAME = 50
LEFT_OUT = "\n[the rest of this output was left out]\n"
OWN = "[As the student handed it in: this cell was not run again.]\n"


def own_outputs(sent: object) -> list[dict[str, Any]]:
    """The outputs of a cell in a submission, cleaned and marked as the student's own."""
    kept, size = [], 0
    for output in sent if isinstance(sent, list) else ():
        made = _cleaned(output) if isinstance(output, dict) else {}
        content = made.get("data") or {"text": made.get("text", "")}
        if not any(content.values()):
            continue
        size += sum(map(len, content.values())) + FRAME
        if size > bounds.OUTPUT:
            kept.append(_stream(LEFT_OUT))
            break
        kept.append(made)
    return [_stream(OWN), *kept] if kept else []


def _cleaned(output: dict) -> dict[str, Any]:
    """An output reduced to text or images. An error becomes text: it did not happen in this run."""
    kind, data = output.get("output_type"), output.get("data")
    if kind == "stream":
        return _stream(joined(output.get("text")))
    if kind == "error":
        lines = output.get("traceback")
        lines = lines if isinstance(lines, list) else []
        return _stream("\n".join(line for line in lines if isinstance(line, str)))
    found = {key: joined(data.get(key)) for key in SAFE} if isinstance(data, dict) else {}
    shown = {
        key: clean(content)
        for key, content in found.items()
        if key == "text/plain" or BASE64.fullmatch(content)
    }
    return {"output_type": "display_data", "data": shown, "metadata": {}}


def _stream(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": clean(text)}
