"""A student's own outputs, of the cells that are not run again when work is graded.

Whoever grades a written answer by hand looks at the figures it speaks of. They are data that anybody
could have typed: so text and pictures are kept, as much of them as of a cell that is run, and a line
before them says whose they are.
"""

from __future__ import annotations

import re
from typing import Any

from seqcourse.grading.cells import clean, joined

# Cells that only show something are not run again when work is graded, nor are self-checks.
NOT_RUN = {"show", "check"}
# Kinds of output that can be looked at without running anything of the student's in a browser.
SAFE = ("text/plain", "image/png", "image/jpeg")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
# Characters of output that one cell keeps; each output counts some more for its frame.
MOST_KEPT, FRAME = 1_000_000, 50
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
        if size > MOST_KEPT:
            kept.append(_stream(LEFT_OUT))
            break
        kept.append(made)
    return [_stream(OWN), *kept] if kept else []


def _cleaned(output: dict) -> dict[str, Any]:
    """An output as text or pictures. An error becomes text: what failed elsewhere is no error here."""
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
